#!/usr/bin/python3
# timeout: 400
"""How a run under stray run is ended: in which order, by whom, and what is told of it."""
import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from e2e import (PATIENCE, STRAY, Code, Skip, alive, as_root, end_identity, main, start_of,
                 state_dir, traced, until, works)
from faults import stopped_holder
from launched import Running, argv_of, children_of, gone, run
from recorded import State, state

NOBODY = 65534
# Ignores TERM, and says when it does; lives for a minute at most.
STUBBORN = "trap '' TERM INT HUP QUIT; echo $$; sleep 30; sleep 30"


def active(s):
    """The id of the one run that is active, as soon as it is."""
    return until(lambda: [r["run_id"] for r in s.json("runs")["runs"]
                          if r["state"] == "active"])[0]


def names(events):
    return [e["event"] for e in events]


# --- the order

def place(events, event, **members):
    """Where in the journal an event of that name with these members is, once."""
    found = [i for i, e in enumerate(events) if e["event"] == event and
             all(e.get(k) == v for k, v in members.items())]
    assert len(found) == 1, (event, members, names(events))
    return found[0]


def the_journal_alone_shows_the_order_in_which_a_deadline_ends_a_run():
    with state() as s:
        done = run(s, "-t", "0.5", "-k", "0.5", sh=STUBBORN, status=124)
        events = s.events(done.id)
        order = [place(events, "run_opened"),
                 place(events, "deadline_expired"),
                 place(events, "snapshot", what="before"),
                 place(events, "signal_intent", signal="TERM"),
                 place(events, "signal_sent", signal="TERM"),
                 place(events, "signal_intent", signal="KILL"),
                 place(events, "signal_sent", signal="KILL"),
                 place(events, "snapshot", what="after"),
                 place(events, "run_closed", state="ended")]
        assert order == sorted(order), names(events)
        assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
        clocks = [e["mono_ns"] for e in events]
        assert clocks == sorted(clocks)
        assert not any(e.get("durable") is False for e in events), "the disk was not that slow"
        pids = {p["pid"] for p in done.result["signals"][0]["to"]}
        assert int(done.out) in pids
        for i in order[3:7]:
            assert {t["pid"] for t in events[i]["to"]} == pids, events[i]
        assert all(t["result"] == "sent" for t in events[order[4]]["to"])
        grace = events[order[5]]["mono_ns"] - events[order[3]]["mono_ns"]
        assert 0.5e9 <= grace < 10e9, grace
        expired = events[order[1]]
        assert expired["over_mono_ns"] <= expired["mono_ns"]
        late = expired["over_mono_ns"] - s.last(done.id, "started")["mono_ns"]
        assert 0.3e9 < late <= 0.5e9, late  # the journal is up to 0.1 s behind what members do
        deaths = [e for e in events if e["event"] == "exited" and e["process"]["pid"] in pids]
        assert deaths and all(e["signal"] == "KILL" for e in deaths if "signal" in e), deaths
        assert s.heads(done.id)[-1]["head"] == [e for e in events if e["event"] == "run_closed"][
            0]["hash"], "the ledger has its last head"
        s("verify")


def what_is_asked_after_the_expiry_is_refused_and_before_it_was_accepted():
    with state() as s:
        with Running(s, "-t", "1.5", "-k", "1.5", sh=STUBBORN) as at:
            pid, = at.read_pids(1)
            name = active(s)
            answers = []

            def ask():
                answers.append((s("check", name, "--action=push", status=None).returncode,
                                alive(pid)))
                return len(answers) > 4 and at.process.poll() is not None

            until(ask)
        expired = s.last(name, "deadline_expired")
        accepted, refused = s.events(name, "action_accepted"), s.events(name, "action_refused")
        assert accepted and refused, names(s.events(name))
        assert max(e["mono_ns"] for e in accepted) < expired["mono_ns"]
        assert max(e["seq"] for e in accepted) < expired["seq"] < min(e["seq"] for e in refused)
        assert (1, True) in answers, "it was refused only when it was dead"
        assert [code for code, _ in answers] == [0] * len(accepted) + [1] * len(refused)
        s("verify")


def what_happened_in_the_grace_is_counted():
    with state() as s:
        done = run(s, "-t", "0.5", "-k", "2", status=124,
                   sh="trap 'for i in 1 2 3; do /bin/true; done' TERM; sleep 30 & wait; "
                      "trap '' TERM; sleep 30; sleep 30")
        if "netlink" not in done.result["coverage"]["sources"]:
            return
        counts = s.last(done.id, "signal_intent")["in_grace"]
        assert counts["forked"] >= 4 and counts["execed"] >= 4 and counts["exited"] >= 4, counts


# --- what is ended

# Each leaves one behind that prints its PID, in a way of its own.
ESCAPES = {
    "in the background": "sh -c 'echo $$; exec sleep 60' &",
    "by nohup": "nohup sh -c 'echo $$; exec sleep 60' 2>/dev/null &",
    "by setsid": "setsid sh -c 'echo $$; exec sleep 60' &",
    "by two forks and setsid": "(setsid sh -c '(sh -c \"echo \\$\\$; exec sleep 60\" &)' &);",
    "in a pipeline": "sleep 61 | sh -c 'echo $$; exec sleep 60' | cat &",
    "stopped": "sh -c 'echo $$; kill -STOP $$; sleep 60' &",
    "ignoring the TERM": "sh -c 'trap \"\" TERM; echo $$; sleep 60; sleep 60' &",
    "without its environment": "env -i /usr/bin/setsid /bin/sh -c 'echo $$; exec /bin/sleep 60' &",
}


def whatever_a_member_did_it_is_gone_after_the_deadline():
    with state() as s:
        for how, script in ESCAPES.items():
            with Running(s, "-q", "-t", "1.5", "-k", "0.3", sh=script + " sleep 62; sleep 62") as at:
                line = at.process.stdout.readline()
                assert line, (how, at.process.stderr.read())
                pid = int(line)
                assert start_of(pid), how
                at.end(status=124)
                assert not alive(pid), how
                assert at.result["state"] == "ended" and not at.result["survivors"], at.result


# So many that a descriptor for each cannot be had.
MANY = """
import subprocess
made = [subprocess.Popen(["sleep", "30"]) for _ in range(70)]
print(*(m.pid for m in made), flush=True)
made[0].wait()
"""


def few_descriptors_end_as_many_processes_as_many_do():
    with state() as s:
        for soft, hard, grace in ((26, 26, "0.2"), (40, 40, "0.2"), (64, 64, "0.2"),
                                  (40, 4096, "0.2"), (26, 26, "0"), (40, 40, "0"), (64, 64, "0")):
            def few(soft=soft, hard=hard):
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

            with Running(s, "-q", "-k", grace, cmd=["python3", "-c", MANY], preexec_fn=few) as at:
                pids = list(map(int, at.process.stdout.readline().split()))
                assert len(pids) == 70, (soft, pids)
                at.process.terminate()
                at.end(status=128 + signal.SIGTERM)
                assert not any(map(alive, pids)), soft
                assert at.result["state"] == "ended" and not at.result["survivors"], at.result
                assert {t["pid"] for t in at.result["signals"][0]["to"]} >= set(pids)


# A cgroup of the user's own, where /proc shows a user no others: CMD is what another may not see.
HIDES = """
d=$1; shift
mount -t proc -o hidepid=2 proc /proc && mkdir "$d" && chown -R {user} "$d" || exit 77
echo 0 >"$d/cgroup.procs" || exit 77
exec setpriv --reuid {user} --regid {user} --clear-groups "$@"
"""


def a_number_that_changed_hands_before_the_end_is_its_holders_of_then():
    """No events in a PID namespace: who has it is another than the last reading saw, and without
    a mark in its environment, unless nobody has it at that moment, or one who is known."""
    again = ("trap '' TERM; while :; do echo 4999 > /proc/sys/kernel/ns_last_pid; "
             "env -i sleep 0.05 & wait; done")
    as_root()
    if not works("unshare", "--pid", "--fork", "--mount-proc", "true"):
        raise Skip("no PID namespace of its own")
    with state() as s:
        for run_id in (f"r{i}" for i in range(30)):
            # members are read each tenth of a second
            argv = argv_of(s, f"--id={run_id}", "-t", "0.75", "--grace=0", sh=again)
            done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", *argv], timeout=60,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            assert done.returncode == 124, done
            if s.record(run_id)["containment"]["kind"] != "cgroup":
                raise Skip("no cgroup can be made")
            with open(s.of(run_id, "before.json"), encoding="utf-8") as f:
                before = {(p["pid"], p["start_ticks"]) for p in json.load(f)["processes"]}
            told = {(x["pid"], x["start_ticks"]) for e in s.events(run_id, "started", "forked")
                    for x in [e.get("child", e["process"])]}
            sent = {(x["pid"], x["start_ticks"]) for x in s.events(run_id, "signal_sent")[0]["to"]}
            assert sent == before, (sent, before)
            if [pid for pid, _ in before - told] == [5000]:
                return
        raise AssertionError((before, told))


def who_cannot_be_seen_is_ended_with_the_rest_and_else_not_said_to_be_gone():
    as_root()
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        root = next((line.split()[4] for line in f if " - cgroup2 " in line), None)
    if not root:
        raise Skip("no cgroup v2")
    with state_dir(NOBODY) as path, tempfile.TemporaryDirectory() as d:
        s = State(path)
        os.chmod(d, 0o755)
        other = shutil.copy(shutil.which("sleep"), d)
        os.chmod(other, 0o4755)
        group = os.path.join(root, f"stray-test-{os.getpid()}")

        def hidden(*args, sleep):
            done = subprocess.run(["unshare", "--mount", "sh", "-c", HIDES.format(user=NOBODY), "sh",
                                   group, *argv_of(s, *args, cmd=["sh", "-c", f"{other} 5 & {sleep}"])],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, timeout=30, check=False)
            until(lambda: removed(group))
            if done.returncode == 77:
                raise Skip("no proc to mount, or no cgroup to be made")
            return done

        done = hidden("--id=beside", "--leftover=report", sleep="sleep 3 & sleep 0.3")
        assert done.returncode == 123 and "ELSE IT LEFT COULD NOT BE READ" in done.stderr, done
        closed = s.last("beside", "run_closed")
        assert closed["state"] == "leftover" and closed["alive"] == 1, closed
        assert "hidepid" in closed["unread"], closed
        assert f" {s.last('beside', 'leftover')['process']['pid']} " in done.stderr, done
        done = hidden("--id=report", "--leftover=report", sleep="sleep 0.3")
        assert done.returncode == 123 and "COULD NOT BE READ" in done.stderr, done
        closed = s.last("report", "run_closed")
        assert closed["state"] == "leftover" and "hidepid" in closed["unread"], closed
        assert "who was alive when the run was over could not be read" in s(
            "export", "report", user=NOBODY).stdout
        for args, sleep, status in ((["-t", "0.5", "-k", "0.2"], "sleep 5", 124),
                                    (["-t", "0.5", "-k", "0"], "sleep 5", 124),
                                    (["--leftover=end", "-k", "0.2"], "sleep 0.3", 0)):
            run_id = f"r{status}{args[-1]}"
            began = time.monotonic()
            done = hidden("--id", run_id, *args, sleep=sleep)
            assert time.monotonic() - began < 4, "it was waited for"
            assert done.returncode == status and "COULD NOT BE READ" not in done.stderr, done
            assert s.last(run_id, "run_closed")["state"] == "ended", s.last(run_id, "run_closed")
            assert s.events(run_id, "signal_intent")[-1]["signal"] == "KILL", "told first"
            s("verify", run_id, user=NOBODY)
            s("export", run_id, user=NOBODY)
        # seen at first
        hidden("--id=sudo", "-t", "2", "-k", "0.2",
               sleep=f"(sleep 0.5; exec {other} 6) & echo $! >{path}/pid; sleep 7")
        with open(f"{path}/pid", encoding="utf-8") as f:
            pid = int(f.read())
        assert pid in {e["child"]["pid"] for e in s.events("sudo", "forked")}, "it was seen"
        over = s.last("sudo", "deadline_expired")["mono_ns"]
        exited = [e for e in s.events("sudo", "exited") if e["process"]["pid"] == pid]
        assert all(e["mono_ns"] > over for e in exited), exited


def where_there_is_no_room_to_end_them_in_steps_all_are_ended_at_once():
    as_root()  # in a cgroup
    strace = traced("-o", "/dev/null", "-e", "trace=epoll_create1",
                    "-e", "inject=epoll_create1:error=EMFILE")
    with state() as s:
        argv = argv_of(s, "--id=r", "-t", "0.5", "-k", "0", sh="sleep 60 & echo $!; sleep 60")
        done = subprocess.run(strace + argv, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=30, check=False)
        if s.record("r")["containment"]["kind"] != "cgroup":
            raise Skip("no cgroup can be made")
        assert done.returncode == 124 and not alive(int(done.stdout)), done
        intent, = s.events("r", "signal_intent")
        assert intent["signal"] == "KILL" and int(done.stdout) in {t["pid"] for t in intent["to"]}
        assert s.last("r", "run_closed")["state"] == "ended", done


def removed(group):
    """Whether a cgroup is gone, with what is below, once nobody is in it."""
    with contextlib.suppress(OSError):
        for inner in os.scandir(group):
            if inner.is_dir():
                os.rmdir(inner.path)
        os.rmdir(group)
    return not os.path.exists(group)


REFORKS = """
import sys
for _ in range(6):
    if not os.fork():
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.alarm(30)
        while True:
            if os.fork():
                time.sleep(0.01); os._exit(0)
            signal.alarm(30); os.setsid()
time.sleep(60)
"""


def those_that_fork_each_other_again_are_ended_too():
    with state() as s:
        code = f"import os,signal,time;signal.alarm(30)\n{REFORKS}"
        for grace in ("0", "0.5"):
            done = run(s, "-q", "-t", "1", "-k", grace, cmd=[sys.executable, "-c", code], status=124)
            assert done.result["state"] == "ended" and not done.result["survivors"], done.result
            assert s.json("runs")["runs"][0]["alive"] == 0


@contextlib.contextmanager
def freezer():
    """A cgroup (v1) whose members, while they are frozen, no KILL ends."""
    as_root()
    path = f"/sys/fs/cgroup/freezer/stray-test-{os.getpid()}"
    try:
        os.mkdir(path)
    except OSError as why:
        raise Skip(f"no freezer (cgroup v1) here: {why.strerror}") from None
    try:
        yield path
    finally:
        with open(f"{path}/freezer.state", "w", encoding="ascii") as f:
            f.write("THAWED")

        def empty():
            with open(f"{path}/cgroup.procs", encoding="ascii") as f:
                return not f.read()
        until(empty)
        os.rmdir(path)


def what_no_kill_ends_is_named_with_the_reason_and_is_no_success():
    with state() as s, freezer() as at:
        done = run(s, "-t", "1", "-k", "0.3", status=124,
                   sh=f"sh -c 'echo $$; echo $$ > {at}/cgroup.procs; exec sleep 60' & sleep 0.4; "
                      f"echo FROZEN > {at}/freezer.state; exec sleep 61")
        pid = int(done.out)
        assert alive(pid) and done.result["state"] == "survived", done.result
        assert [(x["pid"], x["why"]) for x in done.result["survivors"]] == [(pid, "frozen")]
        assert [p["pid"] for p in done.result["added_processes"]] == [pid], done.result
        assert f"still alive: {pid}" in done.err and "1 ALIVE" in done.err, done.err
        events = s.events(done.id)
        order = [place(events, "snapshot", what="after"), place(events, "survivor", why="frozen"),
                 place(events, "run_closed", state="survived", alive=1)]
        assert order == sorted(order) and events[order[1]]["process"]["pid"] == pid
        assert s.json("runs")["runs"][0]["state"] == "survived"
        s("verify")


# --- signals to stray

def a_signal_to_stray_ends_the_run_and_is_its_status():
    with state() as s:
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            with Running(s, sh="setsid sleep 60 & echo $!; trap 'echo cleaned; exit 9' TERM; "
                         "sleep 60 & wait") as at:
                pid, = at.read_pids(1)
                name = active(s)
                at.process.send_signal(sig)
                out, _ = at.end(status=128 + sig)
                assert out == "cleaned\n" and not alive(pid), (sig, out)
                asked = s.last(name, "end_requested")
                assert asked["signal"] == sig.name[3:] and asked["cause"] == "signal", asked
                assert asked["by"]["pid"] == at.pid
                assert at.result["state"] == "ended" and at.result["exit_code"] == 9, at.result


def a_second_signal_kills_at_once():
    with state() as s:
        for second in (signal.SIGTERM, signal.SIGINT):
            with Running(s, "-k", "50", sh=STUBBORN) as at:
                pid, = at.read_pids(1)
                started = time.monotonic()
                at.process.send_signal(signal.SIGINT)
                if second == signal.SIGTERM:  # so that both wait to be read: at once
                    at.process.send_signal(signal.SIGTERM)
                else:
                    until(lambda: s.json("runs")["runs"][0]["state"] == "ending")
                    at.process.send_signal(second)
                at.end(timeout=20)
                assert time.monotonic() - started < 15 and not alive(pid)
                sent = [x["name"] for x in at.result["signals"]]
                assert sent[0] == "TERM" and sent[-1] == "KILL", sent


def the_first_signal_during_the_grace_of_a_deadline_does_not_cut_it_short():
    with state() as s:
        with Running(s, "-t", "0.5", "-k", "3", sh="trap 'sleep 1; echo cleaned; exit 0' TERM; "
                     "echo $$; sleep 60 & wait") as at:
            at.read_pids(1)
            until(lambda: s.json("runs")["runs"][0]["state"] == "expired")
            at.process.send_signal(signal.SIGTERM)
            out, _ = at.end(status=124)
            assert out == "cleaned\n", out


def an_ignored_hangup_stays_ignored():
    with state() as s:
        with Running(s, "-t", "60", sh="echo $$; read x; exit 3", stdin=subprocess.PIPE,
                     preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as at:
            at.read_pids(1)
            at.process.send_signal(signal.SIGHUP)
            time.sleep(0.5)
            assert at.process.poll() is None
            at.process.stdin.write("\n")
            at.end(status=3)


# --- who dies

def a_front_that_is_killed_ends_its_run_and_that_is_recorded():
    with state() as s:
        with Running(s, "-k", "0.3", sh=f"setsid sleep 60 & echo $!; {STUBBORN}") as at:
            pids = at.read_pids(2)
            name = active(s)
            record = s.record(name)
            at.process.kill()
            at.process.wait()
            assert gone(pids)
            until(lambda: s.events(name, "run_closed"))
            events = s.events(name)
            order = [place(events, "runner_lost"), place(events, "end_requested"),
                     place(events, "signal_intent", signal="TERM"), place(events, "run_closed")]
            assert order == sorted(order), names(events)
            lost = events[order[0]]
            assert lost["process"] == record["front"] and lost["role"] == "front", lost
            assert events[order[3]]["state"] == "ended"
            warden = record["warden"]
            until(lambda: start_of(warden["pid"]) != warden["start_ticks"])
            s("verify")


def a_front_that_is_killed_before_the_command_began_leaves_nothing():
    with state() as s, tempfile.TemporaryDirectory() as d:
        for n in range(8):
            mark = os.path.join(d, str(n))
            with Running(s, cmd=["sh", "-c", f"touch {mark}; exec sleep 60"]) as at:
                time.sleep(0.01 * n)
                at.process.kill()
                at.process.wait()
                until(lambda: not [r for r in s.json("runs")["runs"]
                                   if r["state"] not in ("ended", "finished")])
        for r in s.json("runs")["runs"]:
            assert r["alive"] == 0, r


def a_front_that_is_killed_while_its_run_is_recorded_leaves_no_open_record():
    slow = traced("-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e",
                  "inject=fsync,fdatasync:delay_enter=300000")
    with state() as s, tempfile.TemporaryDirectory() as d:
        with subprocess.Popen([*slow, *argv_of(s, "--id=r", cmd=["touch", f"{d}/ran"])],
                              stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as at:
            until(lambda: os.path.exists(s.of("r", "run.json")))
            record = s.record("r")
            end_identity(record["front"]["pid"], record["front"]["start_ticks"])
            at.wait(PATIENCE)
        closed = s.last("r", "run_closed")
        assert closed["state"] == "finished" and "never ran" in closed["error"], closed
        assert not os.path.exists(f"{d}/ran") and not s.events("r", "started")


def a_warden_that_is_killed_is_noticed_by_the_front_which_ends_the_run():
    with state() as s:
        with Running(s, "-k", "0.3", sh=f"setsid sleep 60 & echo $!; {STUBBORN}") as at:
            pids = at.read_pids(2)
            name = active(s)
            warden = s.record(name)["warden"]
            end_identity(warden["pid"], warden["start_ticks"])
            _, err = at.end(status=128 + 9)
            assert not any(map(alive, pids)) and "warden" in err, err
            lost = s.last(name, "runner_lost")
            assert lost["process"] == warden and lost["role"] == "warden", lost
            assert s.last(name, "run_closed")["state"] == at.result["state"] == "ended"
            assert at.result["added_processes"] is None, "only the warden could know"
            s("verify")


def kill_warden(s, run):
    warden = s.record(run)["warden"]
    end_identity(warden["pid"], warden["start_ticks"])


def a_second_signal_kills_at_once_also_where_the_warden_was_killed():
    with state() as s:
        with Running(s, "--id=r", "-k", "50", sh=STUBBORN) as at:
            pid, = at.read_pids(1)
            kill_warden(s, "r")
            until(lambda: s.events("r", "signal_intent"))
            started = time.monotonic()
            at.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            assert alive(pid), "the first ends a run that is being ended already"
            at.process.send_signal(signal.SIGINT)
            at.end(status=128 + 9, timeout=20)
            assert time.monotonic() - started < 15 and not alive(pid)


def what_could_not_be_recorded_of_a_run_without_a_warden_is_said():
    with state() as s:
        with Running(s, "--id=r", "-k", "0.3", sh=STUBBORN) as at:
            pid, = at.read_pids(1)
            until(lambda: os.path.exists(s.of("r")) and s.events("r", "execed"))
            with stopped_holder(s.of("r")):
                kill_warden(s, "r")
                _, err = at.end(status=128 + 9)
            assert not alive(pid) and "RECORD IS NOT WHOLE" in err and "lock" in err, err
            assert "lock" in at.result["record_lost"], at.result


def warden_of(front):
    return until(lambda: [p for p in children_of(front)
                          if os.getpgid(p) == p and os.getsid(p) == os.getsid(0)])[0]


def a_warden_without_a_record_is_missed_too():
    with state() as s:
        with Running(s, "--no-record", "-k", "0.3", sh=STUBBORN) as at:
            pid, = at.read_pids(1)
            warden = warden_of(at.pid)
            end_identity(warden, start_of(warden))
            at.end(status=128 + 9)
            assert not alive(pid)


def the_death_of_a_parent_ends_the_run():
    with state() as s:
        for option in ("--die-with-parent", "--die-with-parent=%d"):
            code = """
import subprocess
option = sys.argv[3].replace("%d", str(os.getpid()))
p = subprocess.Popen([sys.argv[1], "run", "-k", "0.2", "--state-dir", sys.argv[2], option, "--",
                      "sh", "-c", "echo $$ > %s.pid; exec sleep 60" % sys.argv[2]])
while not os.path.exists(sys.argv[2] + ".pid") or not open(sys.argv[2] + ".pid").read():
    time.sleep(0.01)
print(p.pid)
print("READY", flush=True)
time.sleep(60)
"""
            with Code(code, STRAY, s.path, option) as parent:
                with open(s.path + ".pid", encoding="utf-8") as f:
                    pid = int(f.read())
                os.unlink(s.path + ".pid")
                front = parent.pids[0]
                name = active(s)
                assert alive(pid) and alive(front)
                parent.process.kill()
                parent.process.wait()
                assert gone([pid, front])
                assert s.last(name, "end_requested")["cause"] == "parent_died"
                assert s.last(name, "run_closed")["state"] == "ended"
                s("runs", "--prune", "--older-than=0")


def a_parent_that_is_dead_already_lets_nothing_start():
    with state() as s, tempfile.TemporaryDirectory() as d:
        mark = os.path.join(d, "started")
        with subprocess.Popen(["true"]) as dead:
            dead.wait()
        done = run(s, f"--die-with-parent={dead.pid}", cmd=["touch", mark], status=125)
        assert "--die-with-parent" in done.err and not os.path.exists(mark), done
        # dies in whatever moment of the start: the command is never there when it is over
        for n in range(8):
            script = ('"$@" & sleep ' + str(0.02 * n))
            subprocess.run(["sh", "-c", script, "sh", STRAY, "run", "-k0", "--die-with-parent",
                            "--state-dir", s.path, "--", "sleep", "60"], check=True,
                           stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # whose parent had died before it could look has another one, which lives
        until(lambda: all(r["alive"] == 0 or r["record"]["requested_by"]["ancestors"] == []
                          for r in s.json("runs")["runs"]))
        for r in s.json("runs")["runs"]:
            s("end", f"run:{r['run_id']}", "-k0", status=None)


# --- a run in a run

def a_run_in_a_run_is_ended_by_itself_and_by_the_outer_one():
    with state() as s:
        inner = f"{STRAY} run --state-dir {s.path} --id=inner"
        done = run(s, "--id=outer", status=5,
                   sh=f"{inner} -t 0.5 -- sh -c 'setsid sleep 60 & echo $!; sleep 60'; "
                      "[ $? = 124 ] && echo $STRAY_RUN_ID && exit 5")
        pid, outer = done.out.split()
        assert not alive(int(pid)) and outer == "outer"
        assert s.record("inner")["parent_run"] == "outer" and s.record("outer")[
            "parent_run"] is None
        assert s.last("inner", "run_closed")["state"] == "ended"
        assert s.last("outer", "run_closed")["state"] == "finished"
        s("runs", "--prune", "--older-than=0")
        with Running(s, "--id=outer", "-t", "1.5", "-k", "0.5",
                     sh=f"{inner} --leftover=keep -- sh -c 'setsid sleep 60 & echo $!; "
                        f"exec sleep 60' & {STUBBORN}") as at:
            pids = at.read_pids(2)
            at.end(status=124)
            assert gone(pids) and at.result["state"] == "ended", at.result
            assert s.last("outer", "run_closed")["state"] == "ended"
        until(lambda: not any(r["alive"] for r in s.json("runs")["runs"]))


def an_inner_run_that_ends_leaves_the_outer_one_alone():
    with state() as s:
        with Running(s, "--id=outer", stdin=subprocess.PIPE,
                     sh=f"sleep 60 & echo $!; {STRAY} run --state-dir {s.path} --id=inner "
                        "--leftover=end -- sh -c 'sleep 61 & echo $!'; read x") as at:
            pids = at.read_pids(2)
            until(lambda: s.events("inner", "run_closed"))
            assert alive(pids[0]) and gone(pids[1:])
            assert s.json("check", "outer")["may_act"]
            at.process.stdin.write("\n")
            at.process.stdin.flush()
            assert at.process.wait(PATIENCE) == 123 and alive(pids[0])


# --- --on-expire

def what_is_to_be_revoked_is_revoked_when_the_expiry_is_on_disk_and_before_the_term():
    with state() as s, tempfile.TemporaryDirectory() as d:
        helper = (f"echo $STRAY_EXPIRED_RUN > {d}/revoked; cp {s.path}/runs/$STRAY_EXPIRED_RUN/"
                  f"journal.jsonl {d}/; {STRAY} check --state-dir {s.path} $STRAY_EXPIRED_RUN; "
                  f"echo $? >> {d}/revoked; env >> {d}/revoked")
        done = run(s, "-t", "0.5", "-k", "1", "--on-expire", helper, status=124,
                   sh=f"trap 'test -s {d}/revoked && echo revoked; exit 0' TERM; sleep 60 & wait")
        assert done.out == "revoked\n", (done.out, done.err)
        with open(f"{d}/revoked", encoding="utf-8") as f:
            said = f.read().splitlines()
        assert said[:2] == [done.id, "1"] and f"STRAY_RUN_ID={done.id}" not in said, said
        with open(f"{d}/journal.jsonl", encoding="utf-8") as f:
            seen = f.read()
        assert '"event":"deadline_expired"' in seen and "signal_intent" not in seen
        s("verify")


def a_helper_that_hangs_holds_up_the_term_for_two_seconds_and_ends():
    with state() as s, tempfile.TemporaryDirectory() as d:
        started = time.monotonic()
        done = run(s, "-t", "0.3", "-k", "0.3", "--on-expire",
                   f"echo $$ > {d}/helper; sleep 61 & echo $! >> {d}/helper; sleep 60; sleep 60",
                   sh="echo $$; exec sleep 60", status=124)
        assert 2 < time.monotonic() - started < 20 and "--on-expire" in done.err, done.err
        with open(f"{d}/helper", encoding="utf-8") as f:
            helpers = list(map(int, f))
        assert len(helpers) == 2 and gone(helpers + [int(done.out)]), helpers
        hit = {t["pid"] for e in s.events(done.id, "signal_intent") for t in e["to"]}
        assert hit == {int(done.out)}, "the helper is no member"


def a_helper_that_gets_no_session_of_its_own_ends_too():
    with state() as s, tempfile.TemporaryDirectory() as d:
        inner = (f"{STRAY} run --state-dir {s.path} --id=inner -t 0.3 -k 0.3 --on-expire "
                 f"'sleep 60 & echo $! $$ > {d}/helper; sleep 60; :' -- sleep 60")
        done = run(s, "--detach=deny", sh=f"{inner}; [ $? = 124 ]", status=0)
        assert "it was killed" in done.err, done.err
        with open(f"{d}/helper", encoding="utf-8") as f:
            assert gone(map(int, f.read().split()))


def what_a_helper_leaves_ends_with_it_and_is_no_member():
    with state() as s, tempfile.TemporaryDirectory() as d:
        done = run(s, "-t", "0.3", "-k", "0.3", "--on-expire", f"sleep 60 & echo $! > {d}/helper",
                   sh="echo $$; exec sleep 60", status=124)
        with open(f"{d}/helper", encoding="utf-8") as f:
            assert gone([int(f.read())])
        told = {e.get("child", e["process"])["pid"] for e in s.events(done.id, "forked", "started")}
        assert told == {int(done.out)}, told
        assert done.err.count("\n") == 1, done.err


def a_helper_that_fails_is_told_of():
    with state() as s:
        for helper, said in (("exit 3", "status 3"), ("kill -KILL $$", "signal 9"),
                             ("no-such-command", "status 127")):
            done = run(s, "-t", "0.2", "--on-expire", helper, cmd=["sleep", "60"], status=124)
            assert "--on-expire" in done.err and said in done.err, (helper, done.err)
        done = run(s, "-t", "0.2", "--on-expire", "exit 0", cmd=["sleep", "60"], status=124)
        assert "--on-expire" not in done.err
        done = run(s, "-t", "50", "--on-expire", "exit 3", cmd=["true"], status=0)
        assert done.err == ""


def a_second_signal_does_not_wait_for_the_helper():
    with state() as s, tempfile.TemporaryDirectory() as d:
        with Running(s, "-t", "0.3", "-k", "50", "--on-expire", f"touch {d}/on; sleep 60",
                     sh=STUBBORN) as at:
            pid, = at.read_pids(1)
            until(lambda: os.path.exists(f"{d}/on"))
            at.process.send_signal(signal.SIGTERM)
            at.process.send_signal(signal.SIGINT)
            at.end(status=124, timeout=20)
            assert not alive(pid)


main([
    the_journal_alone_shows_the_order_in_which_a_deadline_ends_a_run,
    what_is_asked_after_the_expiry_is_refused_and_before_it_was_accepted,
    what_happened_in_the_grace_is_counted,
    whatever_a_member_did_it_is_gone_after_the_deadline,
    few_descriptors_end_as_many_processes_as_many_do,
    a_number_that_changed_hands_before_the_end_is_its_holders_of_then,
    who_cannot_be_seen_is_ended_with_the_rest_and_else_not_said_to_be_gone,
    where_there_is_no_room_to_end_them_in_steps_all_are_ended_at_once,
    those_that_fork_each_other_again_are_ended_too,
    what_no_kill_ends_is_named_with_the_reason_and_is_no_success,
    a_signal_to_stray_ends_the_run_and_is_its_status,
    a_second_signal_kills_at_once,
    the_first_signal_during_the_grace_of_a_deadline_does_not_cut_it_short,
    an_ignored_hangup_stays_ignored,
    a_front_that_is_killed_ends_its_run_and_that_is_recorded,
    a_front_that_is_killed_before_the_command_began_leaves_nothing,
    a_front_that_is_killed_while_its_run_is_recorded_leaves_no_open_record,
    a_warden_that_is_killed_is_noticed_by_the_front_which_ends_the_run,
    a_second_signal_kills_at_once_also_where_the_warden_was_killed,
    what_could_not_be_recorded_of_a_run_without_a_warden_is_said,
    a_warden_without_a_record_is_missed_too,
    the_death_of_a_parent_ends_the_run,
    a_parent_that_is_dead_already_lets_nothing_start,
    a_run_in_a_run_is_ended_by_itself_and_by_the_outer_one,
    an_inner_run_that_ends_leaves_the_outer_one_alone,
    what_is_to_be_revoked_is_revoked_when_the_expiry_is_on_disk_and_before_the_term,
    a_helper_that_hangs_holds_up_the_term_for_two_seconds_and_ends,
    a_helper_that_gets_no_session_of_its_own_ends_too,
    what_a_helper_leaves_ends_with_it_and_is_no_member,
    a_helper_that_fails_is_told_of,
    a_second_signal_does_not_wait_for_the_helper,
])
