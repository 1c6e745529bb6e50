#!/usr/bin/python3
# timeout: 400
"""stray run by its contract: options, exit statuses, the result, what is recorded."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from e2e import (EXECED, STRAY, Code, Made, Skip, alive, as_root, end_identity, main, start_of,
                 state_dir, stray, until)
from launched import Running, argv_of, clean, gone, pids_of, run
from recorded import State, state

NOBODY = 65534
FILLER = "x" * 64


# --- exit statuses

# A script, options, and what stray exits with.
STATUSES = [
    ("exit 0", [], 0),
    ("exit 7", [], 7),
    ("exit 255", [], 255),
    ("kill -KILL $$", [], 128 + 9),
    ("kill -TERM $$", [], 128 + 15),
    ("sleep 60", ["-t", "0.2"], 124),
    ("trap '' TERM; sleep 60; sleep 60", ["-t", "200ms", "-k", "0.2"], 124),
    ("sleep 60 &", [], 123),
    ("sleep 60 & exit 5", [], 5),
    ("sleep 60 &", ["--leftover=keep"], 0),
    ("sleep 60 &", ["--leftover=end"], 0),
    ("sleep 60 & exit 5", ["--leftover=end"], 5),
    ("sleep 60 &", ["--preserve-status"], 0),
    ("trap 'exit 9' TERM; sleep 60 & wait", ["-t", "0.3", "--preserve-status"], 9),
    ("exec sleep 60", ["-t", "0.2", "--preserve-status"], 128 + 15),
    ("trap '' TERM; sleep 60; sleep 60", ["-t", "0.2", "-k", "0", "--preserve-status"], 128 + 9),
]


def the_status_is_the_commands_own_or_says_what_happened():
    with state() as s:
        for script, options, status in STATUSES:
            done = run(s, *options, sh=script, status=status)
            assert done.result["status"] == status, done.result
            clean(s, done.id)
        s("verify")


def what_cannot_be_executed_is_126_or_127_and_nothing_is_left_of_it():
    with state() as s, tempfile.TemporaryDirectory() as d:
        plain, broken = os.path.join(d, "plain"), os.path.join(d, "broken")
        for path, text in ((plain, "#!/bin/sh\n"), (broken, "#!/no/such/interpreter\n")):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        os.chmod(broken, 0o755)
        for cmd, status in (("no-such-command", 127), ("/no/such/file", 127), ("", 127),
                            (plain, 126), (d, 126), (broken, 127)):
            done = run(s, cmd=[cmd], status=status)
            assert done.err.startswith("stray: ") and done.err.count("\n") == 1, done.err
            assert done.result is None
        assert not [r for r in s.json("runs")["runs"] if r["state"] == "active"]


def a_script_without_an_interpreter_is_run_by_sh():
    with state() as s, tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "script")
        with open(path, "w", encoding="utf-8") as f:
            f.write('echo "$1"; exit 3\n')
        os.chmod(path, 0o755)
        assert run(s, cmd=[path, "one two"], status=3).out == "one two\n"


# What is no command line: options, and a word of what is said.
TROUBLE = [
    (["--no-such-option"], "--no-such-option"),
    (["-Z"], "-Z"),
    (["-t", "soon"], "-t"),
    (["-t", "-1"], "-t"),
    (["-t", ""], "-t"),
    (["-t", "ms"], "-t"),
    (["-k", "5 s"], "-k"),
    (["--settle=never"], "--settle"),
    (["--leftover=kill"], "--leftover"),
    (["--leftover"], "--leftover"),
    (["--detach=maybe"], "--detach"),
    (["--capture=bpf"], "not yet"),
    (["--capture=all"], "--capture"),
    (["--cut-at-expiry"], "not yet"),
    (["--keep=comm=sh"], "--keep"),
    (["--keep=exe=bin/sh"], "--keep"),
    (["--keep=args="], "--keep"),
    (["--journal-max=many"], "--journal-max"),
    (["--journal-max=1X"], "--journal-max"),
    (["--journal-max=99999999999T"], "--journal-max"),
    (["--die-with-parent=0"], "--die-with-parent"),
    (["--die-with-parent=me"], "--die-with-parent"),
    (["--id="], "--id"),
    (["--id=.x"], "--id"),
    (["--id=a/b"], "--id"),
    (["--id=" + "x" * 65], "--id"),
    (["--json=/no/such/directory/file"], "/no/such"),
    (["--dead", "3"], "--deadline"),
    (["--state-dir="], "--state-dir"),
    (["--source=replay:/etc/passwd"], "--source"),
]


def trouble_is_125_one_line_and_nothing_is_started_or_recorded():
    with state() as s, tempfile.TemporaryDirectory() as d:
        mark = os.path.join(d, "started")
        for options, word in TROUBLE:
            done = stray("run", "--state-dir", s.path, *options, "--", "touch", mark)
            assert done.returncode == 125, (options, done)
            assert word in done.stderr and done.stderr.startswith("stray: "), (options, done)
            assert done.stderr.count("\n") == 1 and done.stdout == "", (options, done)
            assert not os.path.exists(mark), options
        done = stray("run", "--state-dir", s.path, status=125)
        assert "no command" in done.stderr
        assert not os.path.exists(os.path.join(s.path, "runs")), os.listdir(s.path)


def options_end_where_the_command_begins():
    with state() as s:
        done = stray("run", "--state-dir", s.path, "echo", "-t", "x", "--json", status=0)
        assert done.stdout == "-t x --json\n" and "schema" not in done.stderr, done
        done = stray("run", "--state-dir", s.path, "--", "printf", "%s,", "--", "-q", status=0)
        assert done.stdout == "--,-q,", done


# --- ids

def a_run_has_the_id_that_it_was_given_or_one_of_its_own():
    with state() as s:
        done = run(s, cmd=["true"], status=0)
        assert re.fullmatch("run-[0-9a-f]{8}", done.id), done.id
        for name in ("a", "0", "Build-7._x", "x" * 64):
            assert run(s, "--id", name, cmd=["true"], status=0).id == name
            assert s.record(name)["run_id"] == name


def an_id_that_exists_is_refused_and_its_run_is_untouched():
    with state() as s, tempfile.TemporaryDirectory() as d:
        run(s, "--id=build", cmd=["true"], status=0)
        before = s.events("build")
        mark = os.path.join(d, "started")
        done = run(s, "--id=build", cmd=["touch", mark], status=125)
        assert "build" in done.err and "already" in done.err, done.err
        assert not os.path.exists(mark) and s.events("build") == before
        # one that only begins the same is another
        run(s, "--id=build-2", cmd=["true"], status=0)
        run(s, "--id=buil", cmd=["true"], status=0)
        assert s.json("check", "build", status=1)["run_id"] == "build"


# --- the deadline and the grace

def a_duration_is_written_as_for_timeout():
    with state() as s:
        for text in ("0.3", ".3", "0.3s", "300ms", "0.005m", "0.0001h"):
            started = time.monotonic()
            run(s, "-t", text, cmd=["sleep", "60"], status=124)
            assert 0.25 < time.monotonic() - started < 30, text
        for text in ("0", "0s", "30", "30s", "5m", "1h", "2d"):
            run(s, "-t", text, cmd=["true"], status=0)
        run(s, "--deadline=0.2", cmd=["sleep", "60"], status=124)


def without_a_deadline_nothing_is_ended():
    with state() as s:
        assert run(s, "-t", "0", cmd=["sleep", "1"], status=0).result["state"] == "finished"
        assert s.record(run(s, cmd=["true"]).id)["deadline_at"] is None


def signals_of(done):
    return [sent["name"] for sent in done.result["signals"]]


def the_grace_lets_it_end_by_itself_and_is_over_when_it_has():
    with state() as s:
        started = time.monotonic()
        done = run(s, "-t", "1", "-k", "40", status=124,
                   sh=f"trap 'sleep 0.4; echo cleaned; exit 0' TERM; sleep 60 & {EXECED}; wait")
        assert done.out == "cleaned\n" and signals_of(done) == ["TERM"], done
        assert time.monotonic() - started < 30


def after_the_grace_it_is_killed():
    with state() as s:
        done = run(s, "-t", "0.3", "-k", "0.5", status=124,
                   sh="trap '' TERM; echo $$; sleep 60; sleep 60")
        assert signals_of(done)[0] == "TERM" and signals_of(done)[-1] == "KILL", done.result
        assert gone([int(done.out)]) and done.result["state"] == "ended"
        assert done.result["elapsed_seconds"] >= 0.8, done.result


def no_grace_is_a_kill_right_after_the_term():
    with state() as s:
        for script in ("trap '' TERM; sleep 60; sleep 60", "trap 'sleep 9' TERM; sleep 60 & wait"):
            started = time.monotonic()
            done = run(s, "-t", "0.3", "-k", "0", sh=script, status=124)
            assert signals_of(done)[0] == "TERM" and signals_of(done)[-1] == "KILL", done.result
            assert time.monotonic() - started < 8, script


def the_record_has_the_deadline_and_the_grace():
    with state() as s:
        done = run(s, "-t", "1h", "-k", "1500ms", cmd=["true"], status=0)
        record = s.record(done.id)
        assert record["grace_ns"] == 1500000000 and record["deadline_at"] > record["started_at"]


# --- leftovers

def the_three_checks_of_a_plain_before_and_after_harness():
    with state() as s:
        for cmd in (["true"], ["sleep", "0"]):
            out = run(s, cmd=cmd, status=0).result
            assert out["added_processes"] == [], out
            assert out["exit_code"] == 0 and out["state"] == "finished", out
            # on a busy host another may end just then, but not each time
            until(lambda: run(s, cmd=cmd, status=0).result["removed_processes"] == [])
        done = run(s, sh=f"sleep 120 & {EXECED}", status=123)
        left = done.result["added_processes"]
        assert [p["cmdline"] for p in left] == ["sleep 120"], left
        assert left[0]["args"] == ["sleep", "120"] and left[0]["exe"].endswith("/sleep"), left
        assert "sleep 120" in done.err and "left 1 alive" in done.err, done.err
        clean(s, done.id)
        assert gone(pids_of(left))
        done = run(s, "--leftover=end", sh="sleep 120 & echo $!", status=0)
        assert gone([int(done.out)]) and done.result["added_processes"] == [], done.result


def a_leftover_is_told_by_who_it_is_and_how_it_got_away():
    with state() as s:
        done = run(s, sh=f"sleep 60 & {EXECED}; setsid sleep 61 & {EXECED}; sleep 0.5",
                   status=123)
        by = {p["args"][1]: p for p in done.result["added_processes"]}
        assert set(by) == {"60", "61"}, done.result
        assert by["60"]["classes"] == ["left"] and "fork" in by["60"]["evidence"], by["60"]
        assert "detached" in by["61"]["classes"] and "S" in by["61"]["flags"], by["61"]
        for p in by.values():
            assert p["run_id"] == done.id and start_of(p["pid"]) == p["start_ticks"], p
        story = s.json("runs")["runs"][0]
        assert story["state"] == "leftover" and story["alive"] == 2, story
        told = {e["process"]["pid"] for e in s.events(done.id, "leftover")}
        assert told == set(pids_of(by.values())) and s.last(done.id, "run_closed")["alive"] == 2
        clean(s, done.id)
        assert s.last(done.id, "run_closed")["state"] == "ended"


def leftovers_to_be_kept_are_left_and_not_spoken_of():
    with state() as s:
        done = run(s, "--leftover=keep", sh="sleep 60 &", status=0)
        assert done.err == "" and len(done.result["added_processes"]) == 1, done
        assert done.result["state"] == "leftover"
        clean(s, done.id)


def a_leftover_that_ignores_the_term_is_ended_too():
    with state() as s:
        done = run(s, "--leftover=end", "-k", "0.3", status=0,
                   sh="(trap '' TERM; sleep 60; sleep 60) & echo $!; setsid sleep 61 & echo $!")
        assert gone(map(int, done.out.split())) and done.result["state"] == "ended", done.result


def members_get_a_moment_to_finish_and_no_longer():
    with state() as s:
        run(s, "--settle=30s", sh="sleep 1 &", status=0)
        started = time.monotonic()
        done = run(s, "--settle=0", sh="sleep 60 &", status=123)
        clean(s, done.id)
        done = run(s, sh="sleep 60 &", status=123)
        clean(s, done.id)
        done = run(s, "--settle=1200ms", sh="sleep 60 &", status=123)
        clean(s, done.id)
        assert 1.2 < time.monotonic() - started < 30
        started = time.monotonic()
        run(s, "--settle=30s", cmd=["true"], status=0)
        assert time.monotonic() - started < 20, "nobody was alive, and it waited"


def the_deadline_goes_on_while_members_get_their_moment():
    with state() as s:
        done = run(s, "-t", "0.5", "--settle=50s", sh="sleep 60 & echo $!", status=124)
        assert gone([int(done.out)]), done


# --- rules

def what_a_rule_keeps_is_spared_and_recorded_with_the_rule():
    exe = os.path.realpath("/bin/sleep")
    for rule, other in ((f"exe={exe}", "exe=/no/such"), ("args=sleep 60", "args=sleep 61")):
        with state() as s:
            done = run(s, "--keep", rule, sh=f"sleep 60 & {EXECED}", status=0)
            kept = s.last(done.id, "kept")
            assert kept["rule"] == rule, kept
            assert kept["process"]["pid"] == done.result["added_processes"][0]["pid"]
            assert not s.events(done.id, "leftover") and "1 kept by rule" in done.err, done.err
            clean(s, done.id)
            done = run(s, f"--keep={other}", sh=f"sleep 60 & {EXECED}", status=123)
            assert not s.events(done.id, "kept")
            clean(s, done.id)


def with_leftovers_to_be_ended_only_what_a_rule_keeps_lives():
    with state() as s:
        done = run(s, "--leftover=end", "--keep=args=sleep 60", "--keep=args=no such", status=0,
                   sh=f"sleep 60 & echo $!; {EXECED}; sleep 61 & echo $!; {EXECED}")
        kept, ended = map(int, done.out.split())
        assert alive(kept) and gone([ended])
        assert pids_of(done.result["added_processes"]) == [kept], done.result
        assert done.result["survivors"] == [] and done.result["state"] == "leftover", done.result
        assert s.last(done.id, "kept")["process"]["pid"] == kept
        assert not s.events(done.id, "survivor")
        hit = {t["pid"] for e in s.events(done.id, "signal_intent") for t in e["to"]}
        assert hit == {ended}, hit
        clean(s, done.id)


# Four hundred that a rule keeps, and as many that none does.
MANY_LEFT = """
import subprocess
left = [subprocess.Popen(["sleep", str(60 + i % 2)], stdout=subprocess.DEVNULL) for i in range(800)]
print(*(p.pid for p in left))
"""


def of_many_leftovers_all_live_that_a_rule_keeps():
    for grace in ("0", "0.5"):
        with state() as s:
            done = run(s, "--leftover=end", "-k", grace, "--keep=args=sleep 60", status=0,
                       cmd=["python3", "-c", MANY_LEFT])
            pids = list(map(int, done.out.split()))
            assert all(map(alive, pids[::2])) and gone(pids[1::2]), (grace, done.err)
            assert {e["process"]["pid"] for e in s.events(done.id, "kept")} == set(pids[::2])
            assert done.result["counts"]["kept_by_rule"] == 400, done.result["counts"]
            clean(s, done.id)


# It tells the other, which does not end either, that there was a TERM.
KEPT_THAT_FORKS = """
import os, signal, subprocess, sys, time
KEPT = "import os, signal, time; signal.alarm(60); " \\
    "signal.pthread_sigmask(signal.SIG_BLOCK, [10]); print(os.getpid(), flush=True); " \\
    "signal.sigwait([10]); pid = os.fork() or signal.alarm(60); " \\
    "pid and print(pid, flush=True); time.sleep(60)"
kept = subprocess.Popen([sys.executable, "-c", KEPT, "keeper"])
time.sleep(0.5)
if not os.fork():
    signal.signal(signal.SIGTERM, lambda *_: os.kill(kept.pid, 10))
    signal.alarm(60)
    while True:
        time.sleep(1)
"""


def whom_a_kept_leftover_forks_during_the_grace_is_kept_too():
    with state() as s:
        done = run(s, "--leftover=end", "-k", "1", "--keep=args=(60) keeper", status=0,
                   cmd=["python3", "-c", KEPT_THAT_FORKS])
        kept, forked = map(int, done.out.split())
        assert alive(kept) and alive(forked), done
        assert {e["process"]["pid"] for e in s.events(done.id, "kept")} == {kept, forked}
        assert done.result["survivors"] == [], done.result
        clean(s, done.id)


def of_whom_it_cannot_be_read_whether_a_rule_keeps_it_is_not_ended_and_named():
    as_root()
    with state_dir(NOBODY) as path, tempfile.TemporaryDirectory() as d:
        s = State(path)
        os.chmod(d, 0o755)
        other = shutil.copy(shutil.which("sleep"), d)
        os.chmod(other, 0o4755)  # its /proc/PID/exe is root's alone to read
        argv = argv_of(s, "--id=r", "--leftover=end", "-k", "0.2", "--keep=exe=/no/such",
                       sh=f"{other} 30 2>/dev/null & sleep 31 & {EXECED}")
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=30, check=False,
                              user=NOBODY, group=NOBODY, extra_groups=[])
        assert done.returncode == 123 and "whether a rule keeps it could not be read" in done.stderr
        left, = s.events("r", "leftover")
        hit = {t["pid"] for e in s.events("r", "signal_intent") for t in e["to"]}
        assert hit and left["process"]["pid"] not in hit, (left, hit)
        assert str(left["process"]["pid"]) in done.stderr, done
        assert s.last("r", "run_closed")["state"] == "survived"
        end_identity(left["process"]["pid"], left["process"]["start_ticks"])


def a_rule_spares_nothing_from_a_deadline():
    with state() as s:
        done = run(s, "-t", "0.5", "--keep=args=sleep", sh="sleep 60 & echo $!; wait", status=124)
        assert gone([int(done.out)]) and not s.events(done.id, "kept")


# --- the result

NAMES = {"schema", "run_id", "exit_code", "signal", "status", "elapsed_seconds", "state",
         "containment", "cannot_hold", "added_processes", "removed_processes",
         "restarted_processes", "survivors", "signals", "detached", "detach_denied", "handed_off",
         "counts", "coverage", "record_lost", "other_added", "other_removed"}


def the_result_goes_to_a_file_or_to_stderr_and_never_to_stdout():
    with state() as s, tempfile.TemporaryDirectory() as d:
        done = stray("run", "--state-dir", s.path, "--json", "--", "echo", "mine", status=0)
        result = [line for line in done.stderr.splitlines() if line.startswith("{")]
        assert done.stdout == "mine\n" and set(json.loads(result[0])) == NAMES, done.stderr
        path = os.path.join(d, "result")
        with open(path, "w", encoding="utf-8") as f:
            f.write("what an older run left there" * 1000)
        done = stray("run", "--state-dir", s.path, f"--json={path}", "--", "echo", "mine", status=0)
        assert done.stdout == "mine\n" and "schema" not in done.stderr, done
        with open(path, encoding="utf-8") as f:
            assert set(json.load(f)) == NAMES


def the_result_says_how_the_command_ended():
    with state() as s:
        for script, options, want in (
                ("exit 3", [], (3, None, "finished")),
                ("kill -USR1 $$", [], (None, "USR1", "finished")),
                ("sleep 60 &", ["--leftover=end"], (0, None, "ended")),
                ("exec sleep 60", ["-t", "0.2"], (None, "TERM", "ended")),
                ("trap '' TERM; sleep 60; sleep 60", ["-t", "0.2", "-k", "0"],
                 (None, "KILL", "ended"))):
            out = run(s, *options, sh=script).result
            assert (out["exit_code"], out["signal"], out["state"]) == want, out


def elapsed_is_the_time_of_the_command():
    with state() as s:
        out = run(s, "--settle=3s", sh="sleep 2 & sleep 0.5", status=0).result
        assert 0.5 <= out["elapsed_seconds"] < 2, out


def counts_and_coverage_say_what_was_seen():
    with state() as s:
        out = run(s, sh="for i in 1 2 3 4 5; do /bin/true; done", status=0).result
        if "netlink" not in out["coverage"]["sources"]:
            raise Skip(out["coverage"]["no_events"])
        assert out["coverage"]["events_lost"] == 0 and out["coverage"]["no_events"] is None, out
        assert out["counts"]["forked"] == 5 and out["counts"]["execed"] == 6, out["counts"]
        assert out["counts"]["exited"] == 6, out["counts"]


def a_detach_is_named_even_where_it_exits_with_0():
    with state() as s:
        done = run(s, sh="setsid sleep 0.4; exit 0", status=0)
        if "netlink" not in done.result["coverage"]["sources"]:
            raise Skip(done.result["coverage"]["no_events"])
        assert "detached" in done.err and "sleep" in done.err, done.err
        assert [d["comm"] for d in done.result["detached"]] == ["sleep"], done.result
        assert done.result["detached"][0]["alive"] is False
        assert s.events(done.id, "setsid")


def work_that_was_handed_off_is_named():
    with state() as s, tempfile.TemporaryDirectory() as d:
        client = os.path.join(d, "docker")
        with open(client, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\nsleep 0.5\n")
        os.chmod(client, 0o755)
        done = run(s, sh=f"{client} run --token=geheim image; exit 0", status=0)
        if "netlink" not in done.result["coverage"]["sources"]:
            raise Skip(done.result["coverage"]["no_events"])
        assert "handed off" in done.err and "docker" in done.err, done.err
        told = s.last(done.id, "handed_off")
        assert told["comm"] == "docker" and "run" in told["args"], told
        assert [h["comm"] for h in done.result["handed_off"]] == ["docker"], done.result
        assert "geheim" not in json.dumps([told, done.result])


# --- the rest of the host

def on_a_large_host_each_that_went_is_known():
    # two threads look before the command starts: one at the lower PIDs, one at the higher
    with state() as s, Made("many", 600) as made:
        first, *_, last = sorted(made.all("idle"))
        time.sleep(11)  # old is what has been there for ten seconds
        out = run(s, sh=f"kill -9 {first} {last}", status=0).result
    removed = {p["pid"] for p in out["removed_processes"]}
    assert {first, last} <= removed and not removed & set(made.all("idle")) - {first, last}, removed


OLD = """
import subprocess
old = [subprocess.Popen(["sleep", n]) for n in ("71", "72", "73")]
for p in old:
    print(p.pid)
print("READY", flush=True)
sys.stdin.readline()
"""


def what_was_old_and_went_stands_out_and_what_came_again_is_restarted():
    # zombies are gone to the result; their parent, which never reaps, ends with the test
    with state() as s, Code(OLD) as made:
        stopped, again, stays = made.pids
        time.sleep(11)  # old is what has been there for ten seconds
        with Running(s, stdin=subprocess.PIPE, sh=f"echo up; read x; kill {stopped}") as r:
            assert r.process.stdout.readline() == "up\n"  # the host was looked at before
            place = os.readlink(f"/proc/{again}/cwd")
            os.kill(again, signal.SIGTERM)
            with subprocess.Popen(["sleep", "72"], cwd=place) as fresh:
                try:
                    r.end(status=0, timeout=60)
                    out = r.result
                finally:
                    fresh.kill()
    removed = {p["pid"]: p for p in out["removed_processes"]}
    assert stopped in removed, (made.pids, sorted(removed))
    assert stays not in removed and again not in removed, (made.pids, sorted(removed))
    assert removed[stopped]["ended_by"] == "unknown" and "unit" in removed[stopped], removed
    assert removed[stopped]["args"] == ["sleep", "71"]
    pairs = [(p["before"]["pid"], p["after"]["pid"]) for p in out["restarted_processes"]]
    assert (again, fresh.pid) in pairs, out["restarted_processes"]
    assert out["added_processes"] == [], out


# --- saying

def quiet_says_nothing_of_its_own():
    with state() as s:
        done = run(s, "-q", sh="setsid sleep 60 & echo mine >&2; sleep 0.3", status=123)
        assert done.err == "mine\n", done.err
        clean(s, done.id)


def verbose_says_what_holds_it_what_that_cannot_hold_and_how_events_are_caught():
    with state() as s:
        done = run(s, "-v", cmd=["true"], status=0)
        record = s.record(done.id)
        lines = done.err.splitlines()
        assert all(line.startswith("stray: ") for line in lines), lines
        assert done.id in lines[0], lines
        kind = record["containment"]["kind"]
        assert kind == done.result["containment"] and kind in done.err, done.err
        assert record["containment"]["cannot_hold"] in done.err, done.err
        if kind == "cgroup":
            assert record["containment"]["path"] in done.err, done.err
        want = "netlink" if "netlink" in done.result["coverage"]["sources"] else "no events"
        assert want in done.err, done.err
        done = run(s, "-v", "--capture=none", cmd=["true"], status=0)
        assert "no events" in done.err and "--capture=none" in done.err, done.err


# --- the record

def a_run_can_do_without_a_record():
    with state() as s:
        done = run(s, "--no-record", "-t", "0.3", sh="sleep 60 & sleep 60", status=124)
        assert done.result["state"] == "ended" and not os.path.exists(s.path), done.result
        done = run(s, "--no-record", sh="sleep 3 &", status=123)
        assert "stray end" not in done.err, "there is no run to be named"
        assert gone(pids_of(done.result["added_processes"]))


def who_answers_for_it_and_what_it_is_are_in_the_record_before_it_begins():
    with state() as s, tempfile.TemporaryDirectory() as d:
        done = run(s, "--approved-by", "the night shift, --token=geheim", cwd=d, status=0,
                   sh='cat "$1"/runs/$STRAY_RUN_ID/run.json # --password=geheim "$1"'
                      .replace('"$1"', s.path))
        record = json.loads(done.out)
        assert record == s.record(done.id), "it was written to since"
        assert record["how"] == "launched" and record["schema"] == "stray.record/1"
        assert record["approved_by"].startswith("the night shift"), record["approved_by"]
        assert record["args"][:2] == ["sh", "-c"] and record["cwd"] == os.path.realpath(d)
        assert "geheim" not in json.dumps(record), record
        assert record["front"]["pid"] != record["warden"]["pid"]
        assert record["requested_by"]["process"]["pid"] == os.getpid(), record["requested_by"]
        assert record["owns"] == ["pgid", "sid"] and record["root"]["pid"] == record["pgid"]
        assert os.path.basename(record["exe"]) in ("sh", "dash", "bash"), record["exe"]
        assert os.stat(s.of(done.id)).st_mode & 0o777 == 0o600


def process_events_beyond_a_size_are_counted_and_states_are_written():
    with state() as s:
        done = run(s, "--journal-max=4k", sh="for i in $(seq 60); do /bin/true; done", status=0)
        out = done.result
        if "netlink" not in out["coverage"]["sources"]:
            raise Skip(out["coverage"]["no_events"])
        written = len(s.events(done.id, "forked", "execed", "exited", "reparented"))
        closed = s.last(done.id, "run_closed")
        assert out["counts"]["events_counted"] == closed["events_counted"] > 100, closed
        told = out["counts"]["forked"] + out["counts"]["execed"] + out["counts"]["exited"]
        assert told == 61 + 62 + 62, out["counts"]  # and seq
        assert 0 < written < 30 and written + closed["events_counted"] >= told, (written, closed)
        assert os.path.getsize(s.of(done.id)) < 16384
        done = run(s, "--journal-max=0", sh="for i in $(seq 60); do /bin/true; done", status=0)
        assert done.result["counts"]["events_counted"] == 0
        assert len(s.events(done.id, "exited")) == 62
        s("verify")


# --- how events are caught

def without_events_members_are_found_by_looking():
    with state() as s:
        done = run(s, "--capture=none", "-t", "1", status=124,
                   sh="setsid sleep 60 & echo $!; (sleep 61 & echo $!); wait; sleep 60")
        assert gone(map(int, done.out.split()))
        out = done.result
        assert out["coverage"]["sources"] == ["proc"] and out["coverage"]["no_events"], out
        assert out["state"] == "ended"
        done = run(s, "--capture=none", sh="sleep 60 & sleep 0.3", status=123)
        assert [p["cmdline"] for p in done.result["added_processes"]] == ["sleep 60"], done.result
        clean(s, done.id)


def with_events_it_starts_only_where_there_are_any():
    with state() as s:
        done = run(s, "--capture=netlink", cmd=["true"])
        if done.status == 125:
            assert "--capture=netlink" in done.err and done.result is None, done.err
            raise Skip(done.err)
        assert done.status == 0 and "netlink" in done.result["coverage"]["sources"]
    try:
        subprocess.run(["unshare", "-Urn", "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        raise Skip("no network namespace to be had") from None
    with tempfile.TemporaryDirectory() as d:
        argv = ["unshare", "-Urn", sys.executable, "-c",
                "import os,sys; os.execv(sys.argv[1], sys.argv[1:])"]
        done = subprocess.run([*argv, STRAY, "run",
                               "--state-dir", os.path.join(d, "s"), "--capture=netlink", "--",
                               "touch", os.path.join(d, "mark")], capture_output=True, text=True)
        assert done.returncode == 125 and "--capture=netlink" in done.stderr, done
        assert not os.path.exists(os.path.join(d, "mark"))


main([
    the_status_is_the_commands_own_or_says_what_happened,
    what_cannot_be_executed_is_126_or_127_and_nothing_is_left_of_it,
    a_script_without_an_interpreter_is_run_by_sh,
    trouble_is_125_one_line_and_nothing_is_started_or_recorded,
    options_end_where_the_command_begins,
    a_run_has_the_id_that_it_was_given_or_one_of_its_own,
    an_id_that_exists_is_refused_and_its_run_is_untouched,
    a_duration_is_written_as_for_timeout,
    without_a_deadline_nothing_is_ended,
    the_grace_lets_it_end_by_itself_and_is_over_when_it_has,
    after_the_grace_it_is_killed,
    no_grace_is_a_kill_right_after_the_term,
    the_record_has_the_deadline_and_the_grace,
    the_three_checks_of_a_plain_before_and_after_harness,
    a_leftover_is_told_by_who_it_is_and_how_it_got_away,
    leftovers_to_be_kept_are_left_and_not_spoken_of,
    a_leftover_that_ignores_the_term_is_ended_too,
    members_get_a_moment_to_finish_and_no_longer,
    the_deadline_goes_on_while_members_get_their_moment,
    what_a_rule_keeps_is_spared_and_recorded_with_the_rule,
    with_leftovers_to_be_ended_only_what_a_rule_keeps_lives,
    of_many_leftovers_all_live_that_a_rule_keeps,
    whom_a_kept_leftover_forks_during_the_grace_is_kept_too,
    of_whom_it_cannot_be_read_whether_a_rule_keeps_it_is_not_ended_and_named,
    a_rule_spares_nothing_from_a_deadline,
    the_result_goes_to_a_file_or_to_stderr_and_never_to_stdout,
    the_result_says_how_the_command_ended,
    elapsed_is_the_time_of_the_command,
    counts_and_coverage_say_what_was_seen,
    a_detach_is_named_even_where_it_exits_with_0,
    work_that_was_handed_off_is_named,
    on_a_large_host_each_that_went_is_known,
    what_was_old_and_went_stands_out_and_what_came_again_is_restarted,
    quiet_says_nothing_of_its_own,
    verbose_says_what_holds_it_what_that_cannot_hold_and_how_events_are_caught,
    a_run_can_do_without_a_record,
    who_answers_for_it_and_what_it_is_are_in_the_record_before_it_begins,
    process_events_beyond_a_size_are_counted_and_states_are_written,
    without_events_members_are_found_by_looking,
    with_events_it_starts_only_where_there_are_any,
])
