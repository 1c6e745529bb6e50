#!/usr/bin/python3
# timeout: 400
"""What public reports of leftovers describe, under `stray run`: ended at the deadline, or named.

The cases that a deadline ends are all at work at the same time, each in a run of its own, once as
they are and once in a user namespace.
"""
import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from e2e import EXECED, LIFE, MKPROC, Skip, alive, as_root, end_identity, main, start_of, until
from marked import Launched, assert_gone, members_of_runs, new_id
from recorded import frozen, state

DEADLINE = 12
PRELUDE = f"import os, signal, subprocess, sys, time; signal.alarm({LIFE})\n"
SLEEP = f"exec sleep {LIFE}"


def sh(script):
    return lambda folder: ["sh", "-c", script.replace("$D", folder)]


def python(code):
    return lambda folder: [sys.executable, "-c", PRELUDE + code, folder]


def made(*shape):
    """A situation by mkproc, whose maker is gone: it could not end anything."""
    words = " ".join([MKPROC, "--life", str(LIFE), "--leave", *map(str, shape)])
    return sh(f"{words} </dev/null >/dev/null; {SLEEP}")


class Case:
    """What a report describes: a command, how many members to wait for, and what is checked of the
    result; pids: files of the folder with PIDs of those who do not carry the mark."""

    def __init__(self, title, command, members, check=None, pids=(), needs=(), may_lack=None):
        self.title, self.command, self.members, self.check = title, command, members, check
        self.pids, self.needs, self.may_lack = pids, needs, may_lack


def detached(result, run):
    assert result["detached"], result
    assert "detached by setsid" in run.said


def killed(result, run):
    assert "KILL" in [s["name"] for s in result["signals"]]


NAIVE_RUNNER = """
d = sys.argv[1]
p = subprocess.Popen(["bash", "-c", f"mkfifo {d}/f; (while sleep 1; do echo tick; done) >{d}/f & "
                      f"cat {d}/f & wait"], stdout=subprocess.PIPE)
time.sleep(0.7)
p.kill()  # the shell alone
time.sleep(60)
"""

TERM_ORPHANS_LEAF = """
leaf = "import os, signal, time; signal.alarm(60); os.setpgid(0, 0); signal.signal(15, 1); time.sleep(60)"
mid = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', %r]).wait()" % leaf
subprocess.Popen([sys.executable, "-c", mid]).wait()
"""

# Each generation lives 20 ms and leads a session of its own.
HOPPER = """
import POSIX; $end = time + 60;
while (time < $end) { exit 0 if fork; POSIX::setsid(); select undef, undef, undef, 0.02 }
""".replace("import POSIX", "use POSIX ()").replace("\n", " ")

EOF_IGNORER = """
if not os.fork():
    subprocess.Popen(["sh", "-c", "sh -c 'sleep 60; :' & wait"], stdin=subprocess.PIPE,
                     stdout=subprocess.PIPE)
    os._exit(0)  # the client goes, its server stays
time.sleep(60)
"""

IDLE_PARENT = """
kids = [subprocess.Popen(["sleep", "60"]) for _ in range(2)]
time.sleep(60)
"""

SIXTY = "setsid sh -c 'cd {0} && exec sleep 60' </dev/null >/dev/null 2>&1 & "

CASES = [
    Case("a runner that kills its shell only", python(NAIVE_RUNNER), 3),
    Case("a child in the caller's group", made("orphan"), 2),
    Case("a child that called setsid", sh(f"setsid sleep {LIFE} & {SLEEP}"), 2, detached),
    Case("a group whose leader is gone", made("leader-gone", 2), 3),
    Case("a TERM-ignorer that the TERM makes an orphan", python(TERM_ORPHANS_LEAF), 3, killed),
    Case("a chain that forks and exits in one session", made("hopper"), 1),
    Case("a chain of sessions that forks and exits",
         lambda folder: ["sh", "-c", 'perl -e "$1" & ' + SLEEP, "sh", HOPPER], 1, detached),
    Case("a server that ignores the end of its input", python(EOF_IGNORER), 4),
    Case("a finished session whose parent lives", python(IDLE_PARENT), 3),
    Case("an orphan of a subreaper in the run", made("subreaper"), 3),
    Case("ssh-agents, whose environment is closed",
         sh(f"for i in 1 2 3; do eval $(ssh-agent -s -a $D/agent.$i) >/dev/null; "
            f"echo $SSH_AGENT_PID >$D/pid.$i; done; {SLEEP}"), 1, detached,
         ["pid.1", "pid.2", "pid.3"], ["ssh-agent"]),
    Case("a session without its environment",
         sh(f"env -i /usr/bin/setsid /bin/sh -c 'echo $$ >$D/pid; exec /bin/sleep {LIFE}' & "
            f"{SLEEP}"), 1, detached, ["pid"]),
    Case("a session whose terminal is closed", made("pty-leader-gone"), 2),
    Case("forty daemons of one command, half with a deleted directory",
         sh("mkdir $D/here $D/gone; for i in $(seq 20); do " + SIXTY.format("$D/here") +
            SIXTY.format("$D/gone") + f"done; sleep 0.5; rmdir $D/gone; {SLEEP}"), 41, detached),
    Case("a stopped group with a TERM pending",
         sh(f"sleep {LIFE} & kill -STOP $!; while ! grep -q '^State:.T' /proc/$!/status; do :; done; "
            f"kill -TERM $!; {SLEEP}"), 2),
    Case("a parent in D for its vfork child", made("vfork"), 3),
    Case("zombies whose parent never waits", made("zombie"), 2),
    Case("a PID namespace whose first process never reaps", made("pidns"), 3,
         may_lack="no PID namespace can be made here"),
    Case("a process whose first thread is gone", made("thread-left"), 1),
    Case("six sessions that fork each other again", made("ring", 6), 6, detached),
    Case("a child of a TERM, in a session of its own", made("term-reforks"), 2),
    Case("a storm of short lives", made("fork-storm", 3000), 1),
]


class Running:
    """A case at work."""

    def __init__(self, case, at, n):
        missing = [tool for tool in case.needs if not shutil.which(tool)]
        if missing:
            raise Skip(f"no {' '.join(missing)}")
        self.case, self.at = case, at
        self.folder = os.path.join(at.folder, str(n))
        os.mkdir(self.folder)
        self.run = at.stack.enter_context(Launched(
            at.state, *case.command(self.folder), run=new_id("case"), wrap=at.wrap,
            options=["-t", DEADLINE, "-k", "0.3"]))

    def is_made(self, now):
        """Whether all are there, who are noted then; now: who is, of all runs."""
        self.run.seen.update(now[self.run.run])
        made = len(now[self.run.run]) >= self.case.members and all(
            os.path.exists(f"{self.folder}/{p}") and os.path.getsize(f"{self.folder}/{p}")
            for p in self.case.pids)
        if made:
            self.note_others()
        return made

    def note_others(self):
        self.others = {}
        for name in self.case.pids:
            with open(f"{self.folder}/{name}", encoding="utf-8") as f:
                pid = int(f.read())
            self.others[pid] = start_of(pid)
            self.at.stack.callback(end_identity, pid, self.others[pid])

    def finish(self):
        result = self.run.finish(124)
        assert result["state"] == "ended" and result["survivors"] == [], result
        # the newest of those that never stay the same are members whom nobody could read before
        assert_gone(self.run.seen)
        assert self.run.members() == {}, self.run.members()
        assert not any(alive(pid) and start_of(pid) == start
                       for pid, start in self.others.items())
        if self.case.check:
            self.case.check(result, self.run)


class At:
    """All cases, in this user namespace or in another."""

    def __init__(self, stack, wrap):
        self.stack, self.wrap = stack, wrap
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.chmod(self.folder, 0o755)
        self.state = stack.enter_context(state())

    @functools.cached_property
    def running(self):
        made_of = {}
        for n, case in enumerate(CASES):
            try:
                made_of[case.title] = Running(case, self, n)
            except Exception as why:  # it is for its own test to fail
                made_of[case.title] = why
        waiting = {title for title, running in made_of.items() if isinstance(running, Running)}
        while waiting:  # each until it is made, or its own deadline is over
            over = {title for title in waiting if made_of[title].run.process.poll() is not None}
            now = members_of_runs()
            waiting -= {title for title in waiting if made_of[title].is_made(now)}
            for title in over & waiting:
                at = made_of[title]
                made_of[title] = Skip(at.case.may_lack) if at.case.may_lack else (
                    AssertionError(f"only {at.run.seen}: {at.run.said}"))
            waiting -= over
        return made_of

    def test(self, case):
        if self.wrap and subprocess.run([*self.wrap, "true"], stdin=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL).returncode:
            raise Skip("no user namespace can be made here")
        running = self.running[case.title]
        if isinstance(running, Exception):
            raise running
        running.finish()


# --- one by one: what is not about a deadline

def what_a_silent_child_keeps_open_is_named_and_nobody_waits_for_it():
    with state() as s:
        began = time.monotonic()
        with Launched(s, "sh", "-c", f"sleep {LIFE} </dev/null >/dev/null & echo $!; {EXECED}",
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            pid = int(run.process.stdout.readline())
            start = start_of(pid)
            assert run.process.wait(20) == 123
            assert time.monotonic() - began < 10
            said = os.read(run.process.stderr.fileno(), 65536).decode()
            assert f"{pid}" in said and "keeps stderr open" in said, said
            with open(run.file, encoding="utf-8") as f:
                result = json.load(f)
            assert result["exit_code"] == 0 and result["state"] == "leftover"
            assert [p["pid"] for p in result["added_processes"]] == [pid]
            end_identity(pid, start)


DAEMON_AND_WATCHER = """
setsid perl -MIO::Socket::UNIX -e '
    alarm 60; my $s = IO::Socket::UNIX->new(Local => "$ENV{D}/socket", Listen => 1) or die;
    open my $f, ">", "$ENV{D}/server"; print $f $$; close $f; sleep 60' </dev/null >/dev/null 2>&1 &
setsid sh -c 'echo $$ >$D/watcher; exec sleep 60' </dev/null >/dev/null 2>&1 &
while ! [ -s $D/server ] || ! [ -s $D/watcher ]; do sleep 0.05; done
"""


def a_daemon_that_is_to_be_kept_is_kept_by_rule_and_its_neighbour_ended():
    for options, status, kept in (([], 123, {"server", "watcher"}),
                                  (["--leftover=end", "--keep=args=Listen => 1"], 0, {"server"}),
                                  (["--leftover=end"], 0, set())):
        with state() as s, tempfile.TemporaryDirectory() as d:
            with Launched(s, "sh", "-c", DAEMON_AND_WATCHER, options=["-k", "0.2", *options],
                          env=dict(os.environ, D=d)) as run:
                result = run.finish(status)
                pids = {name: int(open(f"{d}/{name}").read()) for name in ("server", "watcher")}
                assert {n for n, pid in pids.items() if alive(pid)} == kept, (options, result)
                run.members()
                if not options:
                    assert all(str(pid) in run.said for pid in pids.values()), run.said
                    assert {p["pid"] for p in result["added_processes"]} == set(pids.values())
                if len(kept) == 1:
                    assert [e["process"]["pid"] for e in run.events("kept")] == [pids["server"]]


def an_end_that_comes_at_any_moment_of_the_start_hits_the_run_alone():
    # whoever signals a group before it is one hits the launcher's own
    with state() as s:
        sentinel = subprocess.Popen(["sleep", str(LIFE)], process_group=0)
        try:
            for n in range(12):
                with Launched(s, "sh", "-c", f"sleep {LIFE} & {SLEEP}", options=["-k", "0"],
                              process_group=sentinel.pid) as run:
                    time.sleep(n * 0.004)
                    run.process.terminate()
                    run.process.wait(20)
                    assert run.members() == {}
                    assert sentinel.poll() is None, f"hit after {n * 4} ms"
        finally:
            sentinel.kill()
            sentinel.wait()


def a_member_that_detaches_late_is_still_a_member():
    with state() as s:
        code = PRELUDE + "time.sleep(0.6)\nos.setsid() if not os.fork() else None\ntime.sleep(60)"
        with Launched(s, sys.executable, "-c", code, options=["-t", "4", "-k", "0"]) as run:
            run.await_members("python3", "python3")
            result = run.finish(124)
            assert len(result["detached"]) == 1 and result["survivors"] == []
            assert_gone(run.seen)


def the_end_of_a_thread_that_started_stray_ends_nothing():
    with state() as s, contextlib.ExitStack() as stack:
        runs = []

        def start():
            runs.append(stack.enter_context(Launched(
                s, "sleep", "1.5", options=["--die-with-parent"])))

        thread = threading.Thread(target=start)
        thread.start()
        thread.join()
        assert runs[0].finish(0)["state"] == "finished"


def a_death_that_is_not_the_tools_is_recorded_as_such():
    code = PRELUDE + """
import ctypes, threading
def start():
    p = os.fork()
    if not p:
        ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
        os.write(w, b"x"); time.sleep(60)
    os.read(r, 1)
    print(p, flush=True)
r, w = os.pipe()
t = threading.Thread(target=start); t.start(); t.join()
os.wait()
"""
    with state() as s, Launched(s, sys.executable, "-c", code, stdout=subprocess.PIPE) as run:
        pid = int(run.process.stdout.readline())
        run.process.wait(20)
        result = json.load(open(run.file, encoding="utf-8"))
        assert result["state"] == "finished" and result["signals"] == []
        if "netlink" in result["coverage"]["sources"]:
            assert [e["signal"] for e in run.events("exited") if e["process"]["pid"] == pid] == [
                "KILL"]
        assert run.events("signal_intent") == []


def a_daemon_that_was_there_before_is_left_alone():
    with state() as s:
        line = ["sleep", "60.25"]
        before = subprocess.Popen(line, start_new_session=True)
        try:
            with Launched(s, "sh", "-c", f"setsid {' '.join(line)} & {SLEEP}",
                          options=["-t", "4", "-k", "0"]) as run:
                run.await_members("sleep", "sleep")
                result = run.finish(124)
                assert_gone(run.seen)
                touched = {t["pid"] for sent in result["signals"] for t in sent["to"]}
                assert before.pid not in touched and before.poll() is None
        finally:
            before.kill()
            before.wait()


def a_frozen_member_is_left_and_named():
    as_root()
    mounts = [line.split() for line in open("/proc/self/mountinfo", encoding="utf-8")]
    mount = next((m[4] for m in mounts if m[m.index("-") + 1] == "cgroup"
                  and "freezer" in m[-1].split(",")), None)
    if not mount:
        raise Skip("no v1 freezer is mounted")
    path = f"{mount}/test-{os.getpid()}"
    os.mkdir(path)
    try:
        with state() as s, Launched(
                s, "sh", "-c", f"sleep {LIFE} & {EXECED}; echo $! >{path}/cgroup.procs; "
                f"echo FROZEN >{path}/freezer.state; {SLEEP}", options=["-t", "4", "-k", "0"]) as run:
            members = run.await_members("sleep", "sleep")
            result = run.finish(124)
            left = {p: m for p, m in members.items() if alive(p)}
            assert len(left) == 1 and result["state"] == "survived", result
            assert [(p["pid"], p["why"]) for p in result["survivors"]] == [(*left, "frozen")]
            assert f"still alive: {list(left)[0]} " in run.said and "frozen" in run.said
            assert [e["why"] for e in run.events("survivor")] == ["frozen"]
            with open(f"{path}/freezer.state", "w", encoding="utf-8") as f:
                f.write("THAWED")
            until(lambda: not any(map(alive, left)))
    finally:
        with open(f"{path}/freezer.state", "w", encoding="utf-8") as f:
            f.write("THAWED")
        until(lambda: not open(f"{path}/cgroup.procs", encoding="utf-8").read())
        os.rmdir(path)


ANOTHERS = f"#include <unistd.h>\nint main(void) {{ return setuid(0) || alarm({LIFE}) || pause(); }}\n"


def a_member_that_may_not_be_signalled_is_left_and_named():
    as_root()
    with state() as s, tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o755)
        program = f"{d}/becomes-root"
        done = subprocess.run(["gcc", "-x", "c", "-o", program, "-"], input=ANOTHERS, text=True,
                              capture_output=True)
        assert done.returncode == 0, done.stderr
        os.chmod(program, 0o4755)
        os.chown(os.path.dirname(s.path), 65534, 65534)
        with Launched(s, "sh", "-c", f"{program} & {SLEEP}", options=["-t", "4", "-k", "0.2"],
                      user=65534) as run:
            members = run.await_members("becomes-root", "sleep")
            pid = next(p for p, m in members.items() if m.comm == "becomes-root")
            until(lambda: os.stat(f"/proc/{pid}").st_uid == 0)
            result = run.finish(124)
            assert alive(pid), result
            assert result["state"] == "survived", result
            assert [(p["pid"], p["why"]) for p in result["survivors"]] == [(pid, "not_permitted")]
            assert f"still alive: {pid} " in run.said
            assert [p["pid"] for p in result["added_processes"]] == [pid]


def what_a_process_calls_itself_does_no_harm_to_a_screen_or_a_file():
    name = b"a\x1b[31m) R 1\n\xff\xe2\x80\xae"
    with state() as s, Launched(
            s, "sh", "-c", f"{MKPROC} --life {LIFE} --leave named {name[:15].hex()} "
            f"{name.hex()} </dev/null >/dev/null") as run:
        run.finish(123)
        run.stderr.seek(0)
        said = run.stderr.buffer.read()
        run.members()
        assert b"\x1b" not in said and b"\xff" not in said and b"\xe2\x80\xae" not in said
        with open(run.file, "rb") as f:
            result = json.loads(f.read().decode("utf-8", "strict"))
        assert len(result["added_processes"]) == 1
        s("verify", run.run)


def secrets_in_arguments_are_in_no_result_record_or_line():
    secret = "Zx81kqWvTr22"
    with state() as s, Launched(
            s, "sh", "-c", f"exec sh -c 'sleep {LIFE}; :' helper --token={secret}") as run:
        run.await_members("sh", "sleep")
        run.process.terminate()
        run.finish()
        texts = [run.said, open(run.file, encoding="utf-8").read()]
        for name in os.listdir(s.of(run.run, "")):
            with contextlib.suppress(IsADirectoryError, OSError):
                texts.append(open(s.of(run.run, name), encoding="utf-8").read())
        assert len(texts) > 4 and not any(secret in text for text in texts)


def a_run_whose_warden_is_stopped_may_not_act_beyond_its_deadline():
    with state() as s, Launched(s, "sleep", str(LIFE), options=["-t", "4", "-k", "0"]) as run:
        run.await_members("sleep")
        s("check", run.run, status=0)
        warden = s.record(run.run)["warden"]
        assert start_of(warden["pid"]) == warden["start_ticks"]
        os.kill(warden["pid"], signal.SIGSTOP)
        try:
            until(lambda: frozen(warden["pid"]))
            until(lambda: s("check", run.run, status=None).returncode == 1)
            assert s.last(run.run, "action_refused")["state"] == "expired"
        finally:
            os.kill(warden["pid"], signal.SIGCONT)
        assert run.finish(124)["state"] == "ended"
        s("verify", run.run)


def tests_of(at, where):
    def named(case):
        def test():
            at.test(case)
        test.__name__ = f"{case.title}: ended at the deadline{where}"
        return test
    return [named(case) for case in CASES]


with contextlib.ExitStack() as STACK:
    main([
        *tests_of(At(STACK, []), ""),
        *tests_of(At(STACK, ["unshare", "-Ur"]), ", in a user namespace"),
        what_a_silent_child_keeps_open_is_named_and_nobody_waits_for_it,
        a_daemon_that_is_to_be_kept_is_kept_by_rule_and_its_neighbour_ended,
        an_end_that_comes_at_any_moment_of_the_start_hits_the_run_alone,
        a_member_that_detaches_late_is_still_a_member,
        the_end_of_a_thread_that_started_stray_ends_nothing,
        a_death_that_is_not_the_tools_is_recorded_as_such,
        a_daemon_that_was_there_before_is_left_alone,
        a_frozen_member_is_left_and_named,
        a_member_that_may_not_be_signalled_is_left_and_named,
        what_a_process_calls_itself_does_no_harm_to_a_screen_or_a_file,
        secrets_in_arguments_are_in_no_result_record_or_line,
        a_run_whose_warden_is_stopped_may_not_act_beyond_its_deadline,
    ])
