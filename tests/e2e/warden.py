#!/usr/bin/python3
# timeout: 240
"""The warden of a run that is running: who asks it, who ends it, who slips past its unit."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

from e2e import LIFE, STRAY, Code, Skip, alive, end_identity, main, start_of, state_dir, stray, until
from recorded import State

PY = sys.executable


class Run:
    """A `stray run` that goes on beside the test."""

    def __init__(self, state, *args):
        self.recorded = State(state)
        self.state, self.args = state, args

    def __enter__(self):
        self.process = subprocess.Popen([STRAY, "run", "--id", "r", "--state-dir", self.state,
                                         *self.args], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until(lambda: self.named("execed"), 30)
        return self

    def named(self, *names):
        with contextlib.suppress(FileNotFoundError):
            return self.recorded.events("r", *names)
        return []

    def over(self):
        out, err = self.process.communicate(timeout=LIFE)
        return self.process.returncode, out, err

    def __exit__(self, *exc):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.stdout.close()
        self.process.stderr.close()
        self.process.wait()


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="latin-1") as f:
        return sum(map(int, f.read().rpartition(")")[2].split()[11:13]))


def members(run):
    """Every process that the run's journal knows of, by identity."""
    found = [(e["process"]["pid"], e["process"]["start_ticks"]) for e in run.named("started")]
    return found + [(e["child"]["pid"], e["child"]["start_ticks"]) for e in run.named("forked")]


def none_alive(run):
    return not [1 for pid, start in members(run) if start_of(pid) == start and alive(pid)]


def what_is_asked_is_answered_in_its_place_in_the_journal():
    with state_dir() as d, Run(d, "-t", "2s", "-k", "0.1s", "--", "sleep", str(LIFE)) as run:
        assert stray("check", "r", "--action", "push --token=abc", "--state-dir", d,
                     status=0).stdout == "r: active\n"
        until(lambda: run.named("deadline_expired"))
        assert stray("check", "r", "--state-dir", d, status=1).stdout != "r: active\n"
        assert run.over()[0] == 124
        said = run.named("action_accepted", "deadline_expired", "action_refused")
        assert [e["event"] for e in said] == ["action_accepted", "deadline_expired",
                                              "action_refused"], said
        assert said[0]["action"] == "push --token=***", said[0]
        stray("verify", "r", "--state-dir", d, status=0)


def no_acceptance_follows_the_expiry_whoever_asks_how_often():
    asking = f"""
import subprocess
n = 0
while subprocess.run([{STRAY!r}, "check", "r", "--state-dir", sys.argv[1]],
                     stdout=subprocess.DEVNULL).returncode == 0:
    n += 1
print(n); print("READY", flush=True)
"""
    with state_dir() as d, Run(d, "-t", "4s", "-k", "0", "--", "sleep", str(LIFE)) as run:
        with contextlib.ExitStack() as stack:
            askers = [subprocess.Popen([PY, "-c", "import sys\n" + asking, d],
                                       stdout=subprocess.PIPE, text=True) for _ in range(4)]
            for a in askers:
                stack.enter_context(a)
            assert run.over()[0] == 124
            assert sum(int(a.communicate(timeout=30)[0].split()[0]) for a in askers) > 0
        said = run.named("action_accepted", "deadline_expired", "action_refused")
        expiry = [e["event"] for e in said].index("deadline_expired")
        assert {e["event"] for e in said[:expiry]} == {"action_accepted"}
        assert {e["event"] for e in said[expiry + 1:]} == {"action_refused"}
        assert len(said) - expiry - 1 >= 4


def an_end_from_outside_is_one_end():
    with state_dir() as d, Run(d, "--", "sh", "-c", f"setsid sleep {LIFE} & sleep {LIFE}") as run:
        until(lambda: len(members(run)) == 3)
        out = json.loads(stray("end", "--json", "-k", "1", "run:r", "--state-dir", d,
                               status=0).stdout)
        assert len(out["gone"]) == 3 and not out["survivors"], out
        status, _, err = run.over()
        assert status == 128 + signal.SIGTERM and "ended by process" in err, err
        names = [e["event"] for e in run.named("end_requested", "run_closed")]
        assert names == ["end_requested", "run_closed"], names
        assert len(run.named("exited")) == 3 and none_alive(run)


def the_warden_ends_it_after_its_ender(undo):
    """Undone once it has sent the first signal; returns the ender."""
    with state_dir() as d, Run(d, "-k", "0.2s", "--", "sh", "-c",
                               f"trap '' TERM; sleep {LIFE} & sleep {LIFE}") as run:
        until(lambda: len(members(run)) == 3)
        ender = subprocess.Popen([STRAY, "end", "-k", str(LIFE), "run:r", "--state-dir", d],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        try:
            until(lambda: run.named("signal_sent"))
            undo(ender)
            assert run.over()[0] == 128 + signal.SIGTERM
            asked = run.named("end_requested")
            assert len(asked) == 2 and asked[1]["cause"] == "ender_died", asked
            assert none_alive(run) and run.named("run_closed")[-1]["state"] == "ended"
        finally:
            ender.send_signal(signal.SIGCONT)
            if undo == stop:  # it goes on, finds nobody, and its record holds
                ender.wait(30)
                stray("verify", "--state-dir", d, "r", status=0)
            ender.kill()
            ender.wait()


def stop(process):
    process.send_signal(signal.SIGSTOP)


def where_who_ends_it_dies_the_warden_goes_on():
    the_warden_ends_it_after_its_ender(subprocess.Popen.kill)


def where_who_ends_it_is_stopped_the_warden_goes_on():
    the_warden_ends_it_after_its_ender(stop)


@contextlib.contextmanager
def patient_ender(run):
    """Another stray that ends it, and gives it a minute between TERM and KILL."""
    ender = subprocess.Popen([STRAY, "end", "-k", str(LIFE), "run:r", "--state-dir", run.state],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: run.named("signal_sent"))
        yield ender
    finally:
        ender.kill()
        ender.communicate()


STUBBORN = ("--", "sh", "-c", f"trap '' TERM; sleep {LIFE} & sleep {LIFE}")


def ended_once(run, ender, status):
    """None is alive, who was ending it learns so, and one of both closes the run."""
    assert run.over()[0] == status and none_alive(run)
    ender.wait(30)
    closed = run.named("run_closed")
    assert [e["state"] for e in closed] == ["ended"], closed
    stray("verify", "--state-dir", run.state, "r", status=0)


def where_who_ends_it_is_interrupted_the_warden_goes_on():
    with state_dir() as d, Run(d, "-k", "0.2s", *STUBBORN) as run, patient_ender(run) as ender:
        ender.send_signal(signal.SIGINT)
        err = ender.communicate(timeout=30)[1]
        assert "its warden goes on" in err, err
        ended_once(run, ender, 128 + signal.SIGTERM)
        assert run.named("end_requested")[1]["cause"] == "ender_died"


def a_deadline_does_not_wait_for_who_ends_it():
    with state_dir() as d, Run(d, "-t", "3s", "-k", "0.2s", *STUBBORN) as run, \
            patient_ender(run) as ender:
        ended_once(run, ender, 124)
        assert ender.returncode == 0
        said = run.named("end_requested", "deadline_expired", "run_closed")
        assert [e["event"] for e in said] == ["end_requested", "deadline_expired", "run_closed"]
        late = said[1]["mono_ns"] - said[1]["over_mono_ns"]
        assert late < 1e9, late
        assert stray("export", "r", "--state-dir", d, status=0).stdout


def a_second_signal_kills_at_once_whoever_ends_it():
    with state_dir() as d, Run(d, "-k", f"{LIFE}s", *STUBBORN) as run, \
            patient_ender(run) as ender:
        run.process.terminate()
        until(lambda: len(run.named("end_requested")) == 2)
        run.process.terminate()
        ended_once(run, ender, 128 + signal.SIGTERM)
        assert run.named("end_requested")[1]["cause"] == "signal"


def a_front_that_is_killed_while_it_is_ended_is_missed():
    with state_dir() as d, Run(d, "-k", "0.2s", *STUBBORN) as run, patient_ender(run) as ender:
        run.process.kill()
        until(lambda: run.named("run_closed"))
        ended_once(run, ender, -signal.SIGKILL)
        assert run.named("runner_lost")[0]["role"] == "front"


def a_parent_that_dies_while_it_is_ended_is_missed():
    with state_dir() as d, Code("print('READY', flush=True); time.sleep(60)") as parent, \
            Run(d, f"--die-with-parent={parent.pid}", "-k", "0.2s", *STUBBORN) as run, \
            patient_ender(run) as ender:
        parent.process.kill()
        ended_once(run, ender, 128 + signal.SIGTERM)
        assert run.named("end_requested")[1]["cause"] == "parent_died"


# Speaks with the warden as `stray check` does, then as `stray end`: what it is answered.
VISITOR = """
import socket, struct, sys, time
def said(kind, size):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(sys.argv[1] + "/runs/r/warden.sock")
        s.send(struct.pack("=i", ord(kind)).ljust(size, b"\\0"))
        answer = s.recv(1 << 16)
        return chr(answer[0]) if answer else ""
size = next(n for n in range(800, 1 << 14, 4) if said("c", n) == "s")
print(said("e", size) or "refused", flush=True)
time.sleep(60)
"""


def a_member_does_not_take_over_the_end_of_its_run():
    with state_dir() as d, Run(d, "-t", "3s", "-k", "0.2s", "--", PY, "-c", VISITOR, d) as run:
        assert run.over()[:2] == (124, "refused\n")
        said = run.named("deadline_expired", "end_requested")
        assert [e["event"] for e in said] == ["deadline_expired"], said


def the_socket_goes_with_the_warden_and_strangers_are_turned_away():
    with state_dir() as d, Run(d, "--", "sleep", str(LIFE)) as run:
        sock = os.path.join(d, "runs", "r", "warden.sock")
        assert os.stat(sock).st_mode & 0o777 == 0o600
        if os.geteuid() == 0:
            os.chmod(d, 0o755)
        run.process.send_signal(signal.SIGINT)
        assert run.over()[0] == 128 + signal.SIGINT
        assert not os.path.exists(sock)


def nobody_detaches_where_that_is_denied_and_each_try_is_told():
    code = "import os\ntry: os.setsid()\nexcept PermissionError: print('no', flush=True)\n" \
           "try: os.setpgid(0, 0)\nexcept PermissionError: print('no', flush=True)"
    with state_dir() as d, Run(d, "--detach=deny", "--json", "--", PY, "-c", code) as run:
        status, out, err = run.over()
        assert status == 0 and out == "no\nno\n", (status, out, err)
        assert [e["call"] for e in run.named("detach_denied")] == ["setsid", "setpgid"]
        result = json.loads(err.splitlines()[-1])
        assert result["counts"]["detach_denied"] == 2 and len(result["detach_denied"]) == 1
        assert re.search(r"not let go: \d+ python3\S* tried to detach", err), err


def a_run_in_a_run_that_denies_still_works():
    with state_dir() as d, Run(d, "--detach=deny", "--", STRAY, "run", "--detach=deny", "--id",
                               "inner", "--state-dir", d, "--", "sh", "-c",
                               "setsid sleep 1 || exit 7") as run:
        status, _, err = run.over()
        assert status == 7, (status, err)


SERVICE = """
import socket, subprocess
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(1)
print(os.getpid()); print("READY", flush=True)
c, _ = s.accept()
env = dict(e.split("=", 1) for e in c.recv(1 << 20).decode().split("\\0") if "=" in e)
p = subprocess.Popen(["sleep", "60"], env=env, start_new_session=True)
c.send(str(p.pid).encode())
p.wait()
time.sleep(60)
"""
CLIENT = """
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.send("\\0".join(f"{k}={v}" for k, v in os.environ.items()).encode())
print(s.recv(99).decode(), flush=True)
time.sleep(float(sys.argv[2]))
"""


def what_a_service_starts_with_the_runs_mark_is_ended_with_the_run():
    with state_dir() as d:
        os.mkdir(d)
        path = os.path.join(d, "service")
        with Code(SERVICE, path) as service, \
                Run(os.path.join(d, "state"), "-t", "2s", "-k", "0.2s", "--json", "--", PY, "-c",
                    CLIENT, path, str(LIFE)) as run:
            status, out, err = run.over()
            job = int(out)
            assert status == 124 and not alive(job) and alive(service.pid), (status, err)
            told = [e for e in run.named("started") if e["process"]["pid"] == job]
            assert told and "mark" in told[0]["evidence"], told


def what_a_service_started_and_is_left_is_named_as_handed_off():
    with state_dir() as d:
        os.mkdir(d)
        path = os.path.join(d, "service")
        with Code(SERVICE, path), Run(os.path.join(d, "state"), "--json", "--", PY, "-c", CLIENT,
                                      path, "0.3") as run:
            status, out, err = run.over()
            left = {p["pid"]: p for p in json.loads(err.splitlines()[-1])["added_processes"]}
            end_identity(int(out), left[int(out)]["start_ticks"])
            assert status == 123 and "handed_off" in left[int(out)]["classes"], (status, left)


def who_leaves_the_cgroup_is_told_and_ended_all_the_same(grace="0.2s", n=1):
    if os.geteuid() != 0:
        raise Skip("needs root")
    script = f"for i in {' '.join(map(str, range(n)))}; do sleep {LIFE} & done; wait"
    with state_dir() as d, Run(d, "-k", grace, "--", "sh", "-c", script) as run:
        unit = run.recorded.record("r")["containment"]
        if unit["kind"] != "cgroup":
            raise Skip("no cgroup can be made here")
        with open("/proc/self/mountinfo", encoding="utf-8") as f:
            root = next(line.split()[4] for line in f if " - cgroup2 " in line)
        until(lambda: len(members(run)) == n + 1)
        pid = run.named("forked")[-1]["child"]["pid"]
        with open(os.path.join(root, "cgroup.procs"), "w", encoding="ascii") as f:
            f.write(str(pid))
        told = until(lambda: run.named("left_cgroup"))
        assert told[0]["process"]["pid"] == pid and told[0]["to"] == "/", told
        run.process.terminate()
        assert run.over()[0] == 128 + signal.SIGTERM
        assert none_alive(run)


def who_leaves_the_cgroup_is_told_among_hundreds_too():
    who_leaves_the_cgroup_is_told_and_ended_all_the_same(n=300)


def who_leaves_a_cgroup_that_is_halted_is_ended_too():
    who_leaves_the_cgroup_is_told_and_ended_all_the_same("0")


def a_warden_that_waits_takes_no_time():
    with state_dir() as d, Run(d, "--", "sleep", "3") as run:
        pid = run.recorded.record("r")["warden"]["pid"]
        before = cpu_ticks(pid)
        time.sleep(1)
        took = cpu_ticks(pid) - before
        assert took < os.sysconf("SC_CLK_TCK") / 10, f"{took} ticks of CPU in a second"
        assert run.over()[0] == 0


main([
    what_is_asked_is_answered_in_its_place_in_the_journal,
    no_acceptance_follows_the_expiry_whoever_asks_how_often,
    an_end_from_outside_is_one_end,
    where_who_ends_it_dies_the_warden_goes_on,
    where_who_ends_it_is_stopped_the_warden_goes_on,
    where_who_ends_it_is_interrupted_the_warden_goes_on,
    a_deadline_does_not_wait_for_who_ends_it,
    a_second_signal_kills_at_once_whoever_ends_it,
    a_front_that_is_killed_while_it_is_ended_is_missed,
    a_parent_that_dies_while_it_is_ended_is_missed,
    a_member_does_not_take_over_the_end_of_its_run,
    the_socket_goes_with_the_warden_and_strangers_are_turned_away,
    nobody_detaches_where_that_is_denied_and_each_try_is_told,
    a_run_in_a_run_that_denies_still_works,
    what_a_service_starts_with_the_runs_mark_is_ended_with_the_run,
    what_a_service_started_and_is_left_is_named_as_handed_off,
    who_leaves_the_cgroup_is_told_and_ended_all_the_same,
    who_leaves_the_cgroup_is_told_among_hundreds_too,
    who_leaves_a_cgroup_that_is_halted_is_ended_too,
    a_warden_that_waits_takes_no_time,
])
