"""Commands under `stray run`, as who started it sees them."""
import contextlib
import json
import os
import signal
import subprocess
import tempfile
import types

from e2e import PATIENCE, STRAY, alive, end_identity, start_of, until


def argv_of(s, *args, sh=None, cmd=None, result=None):
    """The command line: args are options; sh is a script, cmd a list."""
    argv = [STRAY, "run", "--state-dir", s.path, *map(str, args)]
    if result:
        argv.append(f"--json={result}")
    return argv + ["--"] + (["sh", "-c", sh] if sh is not None else list(cmd))


def read_result(path):
    with contextlib.suppress(OSError), open(path, encoding="utf-8") as f:
        text = f.read()
        return json.loads(text) if text else None


def run(s, *args, sh=None, cmd=None, status=None, timeout=60, text=True, **kw):
    """Runs it to its end: status, stdout, stderr, and the result (None: there is none)."""
    with contextlib.ExitStack() as at:
        # files, as what is left behind holds them, and a pipe would be waited for
        f, out, err = (at.enter_context(tempfile.NamedTemporaryFile()) for _ in range(3))
        argv = argv_of(s, *args, sh=sh, cmd=cmd, result=f.name)
        code = subprocess.run(argv, timeout=timeout, **{"stdin": subprocess.DEVNULL, "stdout": out,
                                                        "stderr": err, **kw}).returncode
        result = read_result(f.name)
        out, err = (x.seek(0) or x.read() for x in (out, err))
    # which of a busy host's services went meanwhile is no test's business
    err = b"".join(line for line in err.splitlines(True) if b": went while it ran" not in line)
    if text:
        out, err = out.decode(), err.decode()
    if status is not None and code != status:
        raise AssertionError(f"{args} -- {sh or cmd}: exit {code}, not {status}\n"
                             f"{result}\n{out}\n{err}")
    return types.SimpleNamespace(status=code, out=out, err=err, result=result,
                                 id=result and result["run_id"])


class Running:
    """One that goes on: in `with` it is killed in the end, and what it left with it."""

    def __init__(self, s, *args, sh=None, cmd=None, **kw):
        self.s = s
        self.file = tempfile.NamedTemporaryFile()
        kw = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
              "text": True, **kw}
        self.process = subprocess.Popen(
            argv_of(s, *args, sh=sh, cmd=cmd, result=self.file.name), **kw)
        self.seen = {}

    @property
    def pid(self):
        return self.process.pid

    @property
    def result(self):
        return read_result(self.file.name)

    def read_pids(self, n):
        """The first n lines that it prints, each a PID."""
        pids = [int(self.process.stdout.readline()) for _ in range(n)]
        self.seen.update({pid: start_of(pid) for pid in pids})
        return pids

    def end(self, status=None, timeout=60):
        """Waits until stray ends: stdout and stderr."""
        out, err = self.process.communicate(timeout=timeout)
        if status is not None:
            assert self.process.returncode == status, (self.process.returncode, out, err)
        return out, err

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        for pid, start in self.seen.items():
            if start is not None:
                end_identity(pid, start)
        self.file.close()


def clean(s, run_id):
    """Ends what a run that was reported left."""
    s("end", f"run:{run_id}", "-k", "0", status=None)


def gone(pids):
    """All are gone, as soon as their parents have noticed."""
    until(lambda: not any(map(alive, pids)))
    return True


def pids_of(processes):
    return [p["pid"] for p in processes]


def children_of(pid):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as f:
            if int(f.read().rsplit(b")", 1)[1].split()[1]) == pid:
                found.append(int(name))
    return found
