"""What the end-to-end tests share: TAP, the program under test, and situations.

A test is a function named after what it shows; situations are made by mkproc
(tests/helpers) or by a few lines of Python, each bounded by alarm(2), and
killed by identity when the test is over, failed or not.
"""
import atexit
import contextlib
import functools
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

TOP = os.environ.get("abs_top_srcdir", os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("abs_top_builddir", ".")


def open_folder():
    """One that other users reach too, until this program ends."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    os.chmod(folder, 0o755)
    return folder


def for_everybody(program):
    """A copy in reach of all, wherever the build directory is (/root is closed)."""
    return shutil.copy(program, open_folder())


STRAY = for_everybody(os.environ.get("STRAY", os.path.join(BUILD, "stray")))
MKPROC = os.path.abspath(os.environ.get("MKPROC", os.path.join(BUILD, "mkproc")))
LIFE = 60  # seconds that anything made here lives at most
PATIENCE = 15
# In a shell's script: its last child is no copy of the shell any more, but what it was to be.
EXECED = "while [ /proc/$!/exe -ef /proc/$$/exe ]; do :; done"
PLACE = open_folder()  # where situations are: what other tests leave elsewhere is no part of them


class Skip(Exception):
    """This test cannot run here: why."""


@functools.cache
def works(*argv):
    """Whether that command can be used here at all."""
    return shutil.which(argv[0]) and subprocess.run(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, timeout=30).returncode == 0


def traced(*options):
    """What a command line begins with to be followed by strace, with all that it makes."""
    if not works("strace", "-f", "-o", "/dev/null", "true"):
        raise Skip("no strace that may trace")
    # who is traced cannot be looked through for leaks (check-asan)
    quiet = ["env", "ASAN_OPTIONS=detect_leaks=0"] if "ASAN_OPTIONS" in os.environ else []
    return [*quiet, "strace", "-f", "-qq", "--signal=none", *options]


class Made:
    """A situation by mkproc: made["child"] is a PID; one name may come more than once."""

    def __init__(self, *shape, user=None, env=None, mark=None, cwd=None):
        argv = [MKPROC, "--session", "--life", str(LIFE), *map(str, shape)]
        self.pids = []
        full = dict(os.environ, **(env or {}))
        if mark:
            full[mark[0]] = mark[1]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=full, user=user, group=user,
                                        extra_groups=[] if user else None,
                                        cwd=cwd or PLACE)
        for line in self.process.stdout:
            words = line.split()
            if words == ["READY"]:
                return
            self.pids.append((words[0], int(words[1])))
        status = self.process.wait()
        raise Skip(f"mkproc {shape[0]}: exit {status}") if status == 77 else AssertionError(
            f"mkproc {shape}: exit {status}")

    def __getitem__(self, name):
        return self.all(name)[0]

    def all(self, name):
        return [pid for n, pid in self.pids if n == name]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def start_of(pid):
    """The start time of a process in ticks, or None."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            return int(f.read().rsplit(b")", 1)[1].split()[19])
    except (FileNotFoundError, ProcessLookupError):
        return None


def alive(pid):
    """Alive, and no zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            return f.read().rsplit(b")", 1)[1].split()[0] not in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def end_identity(pid, start):
    """Kills one that a test started, if it lives, and waits for its end."""
    with contextlib.suppress(ProcessLookupError), os.fdopen(os.pidfd_open(pid)) as fd:
        if start_of(pid) == start:
            signal.pidfd_send_signal(fd.fileno(), signal.SIGKILL)
            assert select.select([fd], [], [], PATIENCE)[0], f"{pid} does not end"


def until(what, patience=PATIENCE):
    """Waits until what() is true; returns its value."""
    end = time.monotonic() + patience
    while True:
        value = what()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.02)


class Code:
    """A process that runs a piece of Python; it prints PIDs to tell of, then "READY"."""

    def __init__(self, code, *args, **kw):
        prelude = f"import os,signal,sys,time;signal.alarm({LIFE})\n"
        self.process = subprocess.Popen([sys.executable, "-c", prelude + code, *map(str, args)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True, cwd=PLACE, **kw)
        self.pids = []
        for line in self.process.stdout:
            if line.strip() == "READY":
                break
            self.pids.append(int(line))
        self.kept = {pid: start_of(pid) for pid in self.pids + [self.process.pid]}

    @property
    def pid(self):
        return self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for pid, start in self.kept.items():
            if start is not None and start_of(pid) == start:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@contextlib.contextmanager
def state_dir(user=None):
    with tempfile.TemporaryDirectory() as d:
        if user is not None:
            os.chown(d, user, user)
        yield os.path.join(d, "state")


def stray(*args, user=None, status=None, env=None, timeout=60, text=True):
    """Runs stray; with status, asserts it.  As user, if given (and we are root)."""
    kw = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
    done = subprocess.run([STRAY, *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=timeout, env=dict(os.environ, **(env or {})), text=text, **kw)
    if status is not None and done.returncode != status:
        raise AssertionError(f"stray {args}: exit {done.returncode}, not {status}\n"
                             f"{done.stdout}\n{done.stderr}")
    return done


def stray_json(*args, **kw):
    done = stray(*args, "--json", text=False, **kw)
    return json.loads(done.stdout.decode("utf-8", "strict"))


def listed(*args, **kw):
    """The processes of `stray list`, by PID."""
    found = {}
    for session in stray_json("list", *args, status=0, **kw)["sessions"]:
        for group in session["groups"]:
            for p in group["processes"]:
                assert p["pid"] not in found, f"{p['pid']} is listed twice"
                found[p["pid"]] = dict(p, session=session, group=group)
    return found


def why(pid, **kw):
    return stray_json("why", pid, status=0, **kw)["items"][0]


def end(target, *args, status=0, **kw):
    """`stray end` with a short grace, in a state directory of its own."""
    with state_dir(kw.get("user")) as d:
        done = stray("end", "--json", "-k", "1", "--state-dir", d, *args, target, status=status,
                     **kw)
        out = json.loads(done.stdout) if done.stdout else None
        return out, done.stderr


def installed(target, folder):
    """The files that a target of the build's Makefile installs into folder."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    subprocess.run(["make", "-s", "-C", BUILD, target, f"DESTDIR={folder}"], env=env, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=60)
    return [os.path.join(at, f) for at, _, files in os.walk(folder) for f in files]


def in_own_mount_namespace():
    """Whether what follows is in one: where it can be, the program starts itself again there."""
    if os.environ.get("E2E_OWN_MOUNTS"):
        return True
    if os.geteuid() == 0:  # and waits, as its folders are to go with it
        sys.exit(subprocess.run(["unshare", "-m", sys.executable, *sys.argv], check=False,
                                env=dict(os.environ, E2E_OWN_MOUNTS="1")).returncode)
    return False


def main(tests):
    """Runs the tests, printing TAP."""
    print(f"1..{len(tests)}")
    failed = 0
    for n, test in enumerate(tests, 1):
        name = test.__name__.replace("_", " ")
        try:
            test()
            print(f"ok {n} - {name}", flush=True)
        except Skip as why_not:
            print(f"ok {n} - {name} # SKIP {why_not}", flush=True)
        except Exception:  # a test's failure is its report
            failed = 1
            print(f"not ok {n} - {name}", flush=True)
            for line in traceback.format_exc().splitlines():
                print(f"# {line[:400]}", flush=True)
    sys.exit(failed)


def as_root():
    if os.geteuid():
        raise Skip("needs root")
