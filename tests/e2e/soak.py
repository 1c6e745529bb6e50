#!/usr/bin/python3
# timeout: 240
"""A stray that lives long uses no more than it needs, however long, whatever goes on beside it.

Bounds are some ten times what was measured, and none counts what the rest of the host does: where a
busy host may add to a number, what it did is counted too.
"""
import contextlib
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time

from e2e import MKPROC, PATIENCE, STRAY, Skip, alive, main, state_dir, until
from recorded import State

PY = sys.executable
TICKS = os.sysconf("SC_CLK_TCK")


class Run:
    """A `stray run` that goes on beside the test; what it is told to run ends with it."""

    def __init__(self, state, *args):
        self.state = State(state)
        self.argv = [STRAY, "run", "--id", "r", "--state-dir", state, *map(str, args)]

    def __enter__(self):
        stdin, self.open = os.pipe()
        self.front = subprocess.Popen(self.argv, stdin=stdin, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, text=True)
        os.close(stdin)
        until(lambda: self.named("started"), 30)
        return self

    def named(self, *names):
        with contextlib.suppress(FileNotFoundError):
            return self.state.events("r", *names)
        return []

    @property
    def warden(self):
        return self.state.record("r")["warden"]["pid"]

    @property
    def root(self):
        return self.state.record("r")["root"]["pid"]

    def over(self, patience=60):
        err = self.front.communicate(timeout=patience)[1]
        return self.front.returncode, err

    def __exit__(self, *exc):
        if self.front.poll() is None:
            self.front.terminate()
            try:
                self.front.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                self.front.kill()
        os.close(self.open)
        self.front.stderr.close()
        self.front.wait()


def cpu(pid):
    """Ticks of CPU time that it has taken so far."""
    with open(f"/proc/{pid}/stat", encoding="latin-1") as f:
        return sum(map(int, f.read().rpartition(")")[2].split()[11:13]))


def wakes(pid):
    """How often its threads have waited for something so far."""
    n = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="latin-1") as f:
            n += int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", f.read(), re.M)[1])
    return n


def forks():
    """How many processes and threads the host has made so far."""
    with open("/proc/stat", encoding="latin-1") as f:
        return int(re.search(r"^processes (\d+)", f.read(), re.M)[1])


def rests(pid, share=0.1, seconds=1):
    """Takes less than that share of a CPU."""
    before = cpu(pid)
    time.sleep(seconds)
    took = cpu(pid) - before
    assert took < share * seconds * TICKS, f"{took} ticks of CPU in {seconds} s"


# --- the warden of a run

def a_warden_wakes_for_its_looks_and_for_what_happens():
    with state_dir() as d, Run(d, "--", "sleep", "60") as run:
        pid = run.warden
        for _ in range(60):
            woke, made = wakes(pid), forks()
            time.sleep(0.3)
            woke, made = wakes(pid) - woke, forks() - made
            if made == 0:  # nobody made a process, some may have ended: it looked three times
                assert woke < 40, f"{woke} wakes in 0.3 s"  # 60: it drains by the clock
                return
        raise Skip("this host makes processes without a pause")


def the_deadline_is_kept_while_members_fork_without_a_pause():
    with state_dir() as d, Run(d, "-t", "1", "-k", "0", "--", MKPROC, "--life", "20",
                               "fork-race", "6") as run:
        status, err = run.over()
        assert status == 124, (status, err)
        over = run.named("deadline_expired")[0]["over_mono_ns"]
        late = (run.named("signal_sent")[0]["mono_ns"] - over) / 1e9
        assert late < 4, f"TERM came {late:.1f} s after the deadline"


def the_deadline_is_kept_while_a_member_tries_to_detach_without_a_pause():
    code = ("import os,signal\nsignal.alarm(20)\nfor i in range(3): os.fork()\n"
            "while True:\n try: os.setsid()\n except OSError: pass")
    with state_dir() as d, Run(d, "-t", "1", "-k", "0", "--detach=deny", "--journal-max=64k", "--",
                               PY, "-c", code) as run:
        status, err = run.over()
        assert status == 124, (status, err)
        over = run.named("deadline_expired")[0]["over_mono_ns"]
        late = (run.named("signal_sent")[0]["mono_ns"] - over) / 1e9
        assert late < 4, f"TERM came {late:.1f} s after the deadline"
        if not run.named("detach_denied"):
            raise Skip("an outer filter listens here: no try is told")
        size = os.path.getsize(run.state.of("r"))
        assert size < 512 << 10, f"a journal of {size} bytes for what is denied again and again"


def a_warden_of_many_members_takes_little():
    for capture in ("auto", "none"):
        with state_dir() as d, Run(d, f"--capture={capture}", "-k", "0", "--", MKPROC, "--life",
                                   "30", "many", "600") as run:
            time.sleep(2)  # all of them are there, and were looked at
            rests(run.warden, 0.25, 2)


def a_warden_rests_when_its_empty_cgroup_was_removed():
    with state_dir() as d, Run(d, "-t", "6", "-k", "0", "--", "sleep", "30") as run:
        record = run.state.record("r")
        if record["containment"]["kind"] != "cgroup":
            raise Skip("no cgroup here")
        path = until(lambda: cgroup_of(run.root), 5)
        parent = os.path.dirname(path)
        with open(os.path.join(parent, "cgroup.procs"), "w", encoding="ascii") as f:
            f.write(str(run.root))
        os.rmdir(path)
        rests(run.warden)
        root = run.root
        assert run.over()[0] == 124 and not alive(root)


def cgroup_of(pid):
    """Where the v2 cgroup of a process is mounted."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        mounts = [line.split() for line in f if " - cgroup2 " in line]
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as f:
        path = next(line.rstrip("\n")[3:] for line in f if line.startswith("0::"))
    if not mounts:
        return None
    root, at = mounts[0][3:5]
    return at + (path if root == "/" else path[len(root):])


# --- stray watch --batch

@contextlib.contextmanager
def watched(*args, **kw):
    """An adopted process, and `stray watch --batch` of it."""
    with state_dir() as d, contextlib.ExitStack() as after:
        state = State(d)
        root = subprocess.Popen([PY, "-c", "import signal,time;signal.alarm(60);time.sleep(60)"],
                                stdin=subprocess.DEVNULL, start_new_session=True)
        after.callback(root.wait)
        after.callback(root.kill)
        state("adopt", root.pid, "--id", "w")
        batch = subprocess.Popen([STRAY, "watch", "--batch", "w", "-d", "5", "--state-dir", d,
                                  *args], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, **kw)
        after.callback(batch.stderr.close)
        after.callback(batch.wait)
        after.callback(batch.kill)
        until(lambda: state.events("w", "watch_started"))
        yield state, batch


def who_reads_the_events_may_go_and_the_watch_ends():
    with watched(stdout=subprocess.PIPE) as (state, batch):
        batch.stdout.close()
        batch.wait(PATIENCE)
        assert state.last("w", "watch_stopped")["reason"] == "asked"


def who_reads_the_events_may_be_slow_and_the_run_is_watched():
    out, into = os.pipe()
    fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 4096)
    with watched("--json", stdout=into) as (state, batch), os.fdopen(out, "rb") as reader:
        os.close(into)
        for i in range(20):
            state("note", "w", f"{i} " + 1000 * "x")
        rests(batch.pid)
        os.kill(state.record("w")["root"]["pid"], signal.SIGKILL)
        until(lambda: state.events("w", "exited"))
        told = reader.read().splitlines()
        batch.wait(PATIENCE)
        assert [json.loads(line)["seq"] for line in told] == [
            e["seq"] for e in state.events("w") if e["seq"] >= json.loads(told[0])["seq"]]
        assert json.loads(told[-1])["event"] == state.events("w")[-1]["event"]


def a_watch_that_nobody_reads_ends_when_it_is_told_to():
    out, into = os.pipe()
    fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 4096)
    with watched("--json", stdout=into) as (state, batch), os.fdopen(out, "rb"):
        os.close(into)
        for i in range(10):
            state("note", "w", f"{i} " + 1000 * "x")
        time.sleep(1)  # it has seen them, and filled the pipe
        batch.terminate()
        batch.wait(PATIENCE)
        assert state.last("w", "watch_stopped")["reason"] == "signal"


main([
    a_warden_wakes_for_its_looks_and_for_what_happens,
    the_deadline_is_kept_while_members_fork_without_a_pause,
    the_deadline_is_kept_while_a_member_tries_to_detach_without_a_pause,
    a_warden_of_many_members_takes_little,
    a_warden_rests_when_its_empty_cgroup_was_removed,
    who_reads_the_events_may_go_and_the_watch_ends,
    who_reads_the_events_may_be_slow_and_the_run_is_watched,
    a_watch_that_nobody_reads_ends_when_it_is_told_to,
])
