"""A command under `stray run`, and who of it is there: told by this test's own look at /proc."""
import collections
import contextlib
import itertools
import json
import os
import subprocess
import tempfile

from e2e import PATIENCE, STRAY, alive, end_identity, start_of, until

NUMBERS = itertools.count()
Member = collections.namedtuple("Member", "start pgid sid ppid comm")


def stat_of(pid):
    """Fields of /proc/PID/stat behind the name, and the name; None where it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            head, tail = f.read().rsplit(b")", 1)
    except (FileNotFoundError, ProcessLookupError):
        return None
    return tail.split(), head.split(b"(", 1)[1].decode("utf-8", "replace")


def members_of_runs():
    """Who carries the mark of a run in the environment and lives: by run, by PID."""
    found = collections.defaultdict(dict)
    for name in filter(str.isdigit, os.listdir("/proc")):
        pid = int(name)
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                marks = [x for x in f.read().split(b"\0") if x.startswith(b"STRAY_RUN_ID=")]
        except OSError:
            continue
        stat = marks and stat_of(pid)
        if stat and stat[0][0] not in (b"Z", b"X"):
            fields, comm = stat
            found[marks[0].split(b"=")[1].decode()][pid] = Member(
                int(fields[19]), int(fields[2]), int(fields[3]), int(fields[1]), comm)
    return found


def new_id(about):
    """Of a run: no other test's, for who carries its mark is not this one's to end."""
    return f"{about}-{os.getpid()}-{next(NUMBERS)}"


def group_lives(pgid):
    for name in filter(str.isdigit, os.listdir("/proc")):
        stat = stat_of(name)
        if stat and stat[0][0] not in (b"Z", b"X") and int(stat[0][2]) == pgid:
            return True
    return False


def assert_gone(members):
    """Neither they nor their groups exist."""
    for pid, m in members.items():
        assert not (alive(pid) and start_of(pid) == m.start), f"{pid} {m.comm} is alive"
    for pgid in {m.pgid for m in members.values()}:
        assert not group_lives(pgid), f"group {pgid} has members"


class Launched:
    """`stray run` of a command: its result and its journal are of the state directory s."""

    def __init__(self, s, *command, run=None, options=(), wrap=(), user=None, **kw):
        self.state, self.run = s, run or new_id("run")
        self.file = os.path.join(os.path.dirname(s.path), f"{self.run}.json")
        if user is not None:
            kw.update(user=user, group=user, extra_groups=[])
        # a file, not a pipe: who is left may keep it open
        self.stderr = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        kw = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": self.stderr,
              **kw}
        argv = [*wrap, STRAY, "run", "-v", f"--json={self.file}", "--id", self.run,
                "--state-dir", s.path, *map(str, options), "--", *map(str, command)]
        self.process = subprocess.Popen(argv, **kw)
        self.seen = {}

    @property
    def said(self):
        self.stderr.seek(0)
        return self.stderr.read()

    def members(self):
        """Who of it is there; also remembered in self.seen, with what is last known of each."""
        now = members_of_runs()[self.run]
        self.seen.update(now)
        return now

    def await_members(self, *comms):
        """Waits until some of these names are members; all who are then."""

        def there():
            assert self.process.poll() is None, f"it ended: {self.said}"
            now = self.members()
            left = [m.comm for m in now.values()]
            return now if all(c in left and (left.remove(c) or True) for c in comms) else None

        return until(there, 3 * PATIENCE)

    def await_file(self, path):
        until(lambda: os.path.exists(path) or self.process.poll() is not None, 3 * PATIENCE)
        assert os.path.exists(path), f"it ended: {self.said}"

    def finish(self, status=None):
        """Waits for the end of stray; the result."""
        self.process.wait(4 * PATIENCE)
        if status is not None:
            assert self.process.returncode == status, f"{self.process.returncode}: {self.said}"
        with open(self.file, encoding="utf-8") as f:
            return json.load(f)

    def events(self, *names):
        return self.state.events(self.run, *names)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.process.poll() is None:
            self.process.terminate()  # the orderly way; the second goes to KILL at once
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(PATIENCE)
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdout, self.process.stderr, self.stderr):
            if stream:
                stream.close()
        self.members()
        for pid, m in self.seen.items():
            end_identity(pid, m.start)
