#!/usr/bin/python3
# timeout: 120
"""A process that does not let itself be read (unreadable.py) holds up nobody for long."""
import contextlib
import os
import subprocess
import sys
import tempfile
import time

import launched
from e2e import STRAY, Skip, alive, main, state_dir, stray, until
from recorded import State

HERE = os.path.dirname(os.path.abspath(__file__))
LIVES = 20  # seconds: the longest that anything may wait for it
LATE = 8    # that one command may take; what hangs is given up after 2


def command(folder):
    """What is one, in a mount namespace of its own."""
    if not os.path.exists("/dev/fuse") or os.geteuid() != 0:
        raise Skip("needs root and /dev/fuse")
    return ["unshare", "-m", sys.executable, os.path.join(HERE, "unreadable.py"), folder,
            str(LIVES)]


def is_locked(pid):
    """Its first thread waits for the lock, uninterruptibly."""
    with open(f"/proc/{pid}/stat", encoding="latin-1") as f:
        return f.read().rpartition(")")[2].split()[0] == "D"


@contextlib.contextmanager
def unreadable():
    with tempfile.TemporaryDirectory() as folder:
        p = subprocess.Popen(command(folder), stdout=subprocess.PIPE, text=True,
                             start_new_session=True)
        try:
            pid = int(p.stdout.readline() or 0)
            if not pid:
                raise Skip("no file system of one's own can be mounted")
            until(lambda: is_locked(pid))
            yield pid
        finally:
            p.stdout.close()
            os.killpg(p.pid, 9)
            p.wait()


def took(what):
    start = time.monotonic()
    what()
    return time.monotonic() - start


def a_member_that_cannot_be_read_is_ended_at_the_deadline():
    with state_dir() as path, tempfile.TemporaryDirectory() as folder:
        s = State(path)
        done = launched.run(s, "-t", "1s", "-k", "1s", cmd=command(folder), status=124)
        assert not alive(int(done.out)), done.err
        assert done.result["state"] == "ended", done.result
        assert 1 < done.result["elapsed_seconds"] < LATE, done.result
        assert "does not let itself be read" in done.err, done.err
        events = [e["event"] for e in s.events(done.id, "runner_lost", "run_closed")]
        assert events == ["runner_lost", "run_closed"], events


def a_leftover_that_cannot_be_read_is_said_and_lives_until_stray_is_told():
    with state_dir() as path, tempfile.TemporaryDirectory() as folder:
        left = ["sh", "-c", '"$@" & sleep 2', "sh", *command(folder)]
        p = subprocess.Popen([STRAY, "run", "--state-dir", path, "--", *left],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        member = int(p.stdout.readline())
        said = p.stderr.readline()
        assert "does not let itself be read" in said and "a signal to stray ends" in said, said
        assert alive(member)
        p.terminate()
        p.communicate(timeout=LATE)
        assert p.returncode == 128 + 15, p.returncode
        until(lambda: not alive(member))


def one_that_came_meanwhile_holds_up_no_end():
    with state_dir() as path:
        p = subprocess.Popen([STRAY, "run", "--state-dir", path, "-t", "2", "-k", "0.1", "--id",
                              "r", "--", "sleep", "30"], stderr=subprocess.PIPE, text=True)
        s = State(path)
        until(lambda: os.path.exists(s.of("r")) and s.events("r", "started"))
        with unreadable():
            seconds = took(lambda: p.wait(timeout=LATE))
            assert p.returncode == 124 and seconds < 4, (p.returncode, seconds)
        said = p.stderr.read()
        assert "whether they are members is not known" in said, said
        events = [e["event"] for e in s.events("r", "runner_lost", "signal_sent", "run_closed")]
        assert events == ["signal_sent", "run_closed"], events


def one_that_is_no_member_holds_up_no_command():
    with state_dir() as path, unreadable() as pid:
        for args in (["run", "-q", "--state-dir", path, "--", "true"], ["list"], ["why", pid]):
            seconds = took(lambda a=args: stray(*a, status=0))
            assert seconds < LATE, (args, seconds)


def what_is_not_read_of_it_is_said():
    with unreadable() as pid:
        out = stray("why", pid, status=0).stdout
        assert "not readable (ETIMEDOUT)" in out, out


def it_can_be_ended():
    with state_dir() as path, unreadable() as pid:
        assert took(lambda: stray("end", "--state-dir", path, "--grace", "0", pid, status=0)) < LATE
        until(lambda: not alive(pid))


main([
    a_member_that_cannot_be_read_is_ended_at_the_deadline,
    a_leftover_that_cannot_be_read_is_said_and_lives_until_stray_is_told,
    one_that_came_meanwhile_holds_up_no_end,
    one_that_is_no_member_holds_up_no_command,
    what_is_not_read_of_it_is_said,
    it_can_be_ended,
])
