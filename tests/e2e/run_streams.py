#!/usr/bin/python3
# timeout: 300
"""What a command under stray run gets is what it would get without it; stray is never in between."""
import os
import re
import resource
import select
import signal
import subprocess
import tempfile

from e2e import PATIENCE, STRAY, alive, main, until
from launched import Running, clean, run
from recorded import state

MEGABYTE = bytes(range(256)) * 4096


def both_ways(s, *args, cmd, data, **kw):
    """A command with pipes, stdin given to it: exit status, stdout and stderr."""
    argv = [STRAY, "run", "-q", "--state-dir", s.path, *args, "--", *cmd]
    done = subprocess.run(argv, input=data, capture_output=True, timeout=60, **kw)
    return done.returncode, done.stdout, done.stderr


# --- data

def a_megabyte_of_any_bytes_goes_through_both_ways():
    with state() as s:
        assert both_ways(s, cmd=["cat"], data=MEGABYTE) == (0, MEGABYTE, b"")
        assert both_ways(s, cmd=["sh", "-c", "cat >&2; exit 3"], data=MEGABYTE) == \
            (3, b"", MEGABYTE)
        assert both_ways(s, cmd=["sh", "-c", "cat; echo $?; cat"], data=b"")[1] == b"0\n"


def a_file_as_stdin_is_read_from_where_it_stood():
    with state() as s, tempfile.TemporaryFile() as f:
        f.write(b"first\nsecond\nthird\n")
        f.flush()
        os.lseek(f.fileno(), 6, os.SEEK_SET)
        assert run(s, stdin=f, sh="read a; echo $a", status=0).out == "second\n"
        # dash reads byte by byte what is no terminal: the next one goes on there
        assert run(s, stdin=f, cmd=["cat"], status=0).out == "third\n"


def a_closed_stream_is_closed_and_nothing_else_takes_its_number():
    script = 'for i in 0 1 2; do [ -e /proc/$$/fd/$i ] && echo "$i is open" >&9; done; exit 7'
    for closed in ("0", "1", "2", "0 1", "0 1 2"):
        with state() as s, tempfile.NamedTemporaryFile() as said:
            closing = " ".join(f"{i}{'<' if i == '0' else '>'}&-" for i in closed.split())
            done = subprocess.run(["sh", "-c", f'exec 9>"$1"; shift; exec "$@" {closing}', "sh",
                                   said.name, STRAY, "run", "--state-dir", s.path, "--", "sh", "-c",
                                   script], stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=60)
            assert done.returncode == 7 and done.stdout == done.stderr == b"", (closed, done)
            want = [f"{i} is open" for i in range(3) if str(i) not in closed]
            assert said.read().decode().splitlines() == want, closed
            s("verify")


def other_descriptors_are_inherited_and_stray_adds_none():
    with state() as s, tempfile.TemporaryFile() as f:
        fd = f.fileno()
        numbers = "ls /proc/self/fd | sort -n"
        plain = subprocess.run(["sh", "-c", numbers], pass_fds=[fd], capture_output=True, text=True)
        done = run(s, sh=f"echo through >&{fd}; {numbers}", pass_fds=[fd], status=0)
        assert done.out == plain.stdout, (done.out, plain.stdout)
        f.seek(0)
        assert f.read() == b"through\n"
        given = {d["fd"]: d["what"] for d in s.record(done.id)["inherited"]["descriptors"]}
        assert set(given) == {0, 1, 2, fd} and given[0] == "/dev/null", given


# --- ends of pipes

def read_to_the_end(fd):
    data = b""
    while True:
        assert select.select([fd], [], [], PATIENCE)[0], "no end of the pipe"
        more = os.read(fd, 65536)
        if not more:
            return data
        data += more


def a_pipe_ends_when_the_command_has_closed_it():
    with state() as s:
        r, w = os.pipe()
        with Running(s, "-t", "60", pass_fds=[w], sh=f"echo out; echo fd >&{w}; exec >&- {w}>&-; "
                     "read x; exit 4", stdin=subprocess.PIPE) as at:
            os.close(w)
            assert read_to_the_end(r) == b"fd\n"
            assert read_to_the_end(at.process.stdout.fileno()) == b"out\n"
            os.close(r)
            assert at.process.poll() is None, "the command goes on"
            at.process.stdin.close()
            assert at.process.wait(PATIENCE) == 4


def whoever_writes_to_the_command_learns_that_it_reads_no_more():
    with state() as s:
        with Running(s, "-t", "60", sh="exec <&-; echo closed; sleep 50",
                     stdin=subprocess.PIPE, text=False) as at:
            assert at.process.stdout.readline() == b"closed\n"
            try:
                for _ in range(10):
                    os.write(at.process.stdin.fileno(), bytes(65536))
                raise AssertionError("somebody else holds the reading end")
            except BrokenPipeError:
                pass


def stray_ends_though_a_kept_process_holds_the_pipe():
    with state() as s:
        with Running(s, "--leftover=keep", sh="sleep 50 & echo $!") as at:
            pid, = at.read_pids(1)
            assert at.process.wait(PATIENCE) == 0
            assert alive(pid) and not select.select([at.process.stdout], [], [], 0)[0]
            clean(s, at.result["run_id"])
            assert at.process.stdout.read() == ""


def that_nobody_reads_what_stray_says_ends_nothing():
    with state() as s:
        r, w = os.pipe()
        with Running(s, "-v", stderr=w, stdin=subprocess.PIPE,
                     sh="read x; setsid sleep 50 & echo $!") as at:
            os.close(w)
            os.read(r, 1)
            os.close(r)
            at.process.stdin.close()
            pid, = at.read_pids(1)
            assert at.process.wait(PATIENCE) == 123 and alive(pid)
            assert at.result["state"] == "leftover" and not s.events(at.result["run_id"],
                                                                     "runner_lost")


# --- what is inherited

# Of /proc/self/status: what a process gets from who starts it.
INHERITED = re.compile(r"^(Umask|Uid|Gid|Groups|SigPnd|ShdPnd|SigBlk|SigIgn|SigCgt|Cap\w+|NoNewPrivs|"
                       r"Seccomp|Seccomp_filters|Cpus_allowed|Mems_allowed|THP_enabled):.*$", re.M)


def an_unusual_caller():
    os.umask(0o027)
    os.nice(3)
    for what, limits in ((resource.RLIMIT_NOFILE, (64, 128)), (resource.RLIMIT_CORE, (0, 0)),
                         (resource.RLIMIT_STACK, (1 << 22, 1 << 23)),
                         (resource.RLIMIT_CPU, (500, 600))):
        resource.setrlimit(what, limits)
    signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGUSR2, signal.SIGTERM, signal.SIGCHLD,
                                                signal.SIGWINCH, signal.SIGRTMIN + 3})
    for sig in (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGCHLD):
        signal.signal(sig, signal.SIG_IGN)


def by(argv, **kw):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          restore_signals=False, timeout=60, **kw)
    assert done.returncode == 0, done
    return done.stdout


def the_command_gets_what_its_caller_has():
    with state() as s, tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o755)
        env = {"PATH": os.environ["PATH"], "A": "1", "EMPTY": "", "ODD": "a\nb=c", "LC_ALL": "C",
               "STRAY_RUN_ID": "of-an-outer-run"}
        n = 0
        for caller in (None, an_unusual_caller):
            kw = {"preexec_fn": caller, "cwd": d, "env": env}
            for cmd in (["cat", "/proc/self/status"], ["cat", "/proc/self/limits"], ["env", "-0"],
                        ["readlink", "/proc/self/cwd"], ["cat", "/proc/self/oom_score_adj"],
                        ["cut", "-d ", "-f19", "/proc/self/stat"]):
                n += 1
                plain = by(cmd, **kw)
                under = by([STRAY, "run", "--id", f"r{n}", "--state-dir", s.path, "--", *cmd], **kw)
                if cmd[-1].endswith("status"):
                    plain, under = ([m[0] for m in INHERITED.finditer(t)] for t in (plain, under))
                    assert len(plain) > 12, plain
                if cmd[0] == "env":
                    plain, under = (sorted(t.split("\0")) for t in (plain, under))
                    plain = [x.replace("of-an-outer-run", f"r{n}") for x in plain]
                    mark = f"STRAY_RUN_MARK={s.record(f'r{n}')['mark']}"
                    under.remove(mark)
                assert under == plain, (cmd, caller, under, plain)


def its_name_and_arguments_are_as_given():
    with state() as s:
        out = run(s, cmd=["sh", "-c", 'printf "%s|" "$0" "$@"', "", "a b", "-x", "", "--", "\u00fc"],
                  status=0).out
        assert out == "|a b|-x||--|\u00fc|", out
        out = run(s, text=False, cmd=["sh", "-c", 'printf "%s|" "$@"', "sh",
                                      os.fsdecode(b"\xff\xfe")], status=0).out
        assert out == b"\xff\xfe|", out
        out = run(s, cmd=["cat", "/proc/self/cmdline"], status=0).out
        assert out == "cat\0/proc/self/cmdline\0", out


def off_a_terminal_it_leads_a_session_and_stray_is_its_callers():
    with state() as s:
        with Running(s, sh="ps -o pid=,pgid=,sid= -p $$; read x", stdin=subprocess.PIPE) as at:
            pid, pgid, sid = map(int, at.process.stdout.readline().split())
            assert pid == pgid == sid, (pid, pgid, sid)
            assert os.getsid(at.pid) == os.getsid(0)
            until(lambda: s.json("runs")["runs"])
            record = s.record(s.json("runs")["runs"][0]["run_id"])
            warden = record["warden"]["pid"]
            # or an executor's killpg() would take it with the front
            assert os.getsid(warden) == os.getsid(0) and os.getpgid(warden) == warden
            streams = [os.readlink(f"/proc/{warden}/fd/{i}") for i in range(3)]
            assert streams == ["/dev/null"] * 3, streams


def signals_for_the_command_are_passed_on():
    with state() as s:
        with Running(s, "-t", "60", sh="trap 'echo USR1' USR1; trap 'echo USR2; exit 6' USR2; "
                     "echo ready; while :; do sleep 0.1; done") as at:
            assert at.process.stdout.readline() == "ready\n"
            at.process.send_signal(signal.SIGUSR1)
            assert at.process.stdout.readline() == "USR1\n"
            at.process.send_signal(signal.SIGUSR2)
            out, _ = at.end(status=6)
            assert out == "USR2\n"
        with Running(s, "-t", "60", cmd=["sleep", "50"]) as at:
            until(lambda: s.json("runs")["runs"][0]["state"] == "active")
            at.process.send_signal(signal.SIGUSR1)
            at.end(status=128 + signal.SIGUSR1)
            assert at.result["signal"] == "USR1", at.result


main([
    a_megabyte_of_any_bytes_goes_through_both_ways,
    a_file_as_stdin_is_read_from_where_it_stood,
    a_closed_stream_is_closed_and_nothing_else_takes_its_number,
    other_descriptors_are_inherited_and_stray_adds_none,
    a_pipe_ends_when_the_command_has_closed_it,
    whoever_writes_to_the_command_learns_that_it_reads_no_more,
    stray_ends_though_a_kept_process_holds_the_pipe,
    that_nobody_reads_what_stray_says_ends_nothing,
    the_command_gets_what_its_caller_has,
    its_name_and_arguments_are_as_given,
    off_a_terminal_it_leads_a_session_and_stray_is_its_callers,
    signals_for_the_command_are_passed_on,
])
