#!/usr/bin/python3
# timeout: 300
"""The command line's contract: statuses, one line of error, terminals, interruptions."""
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unicodedata

from e2e import LIFE, STRAY, Made, alive, end, main, state_dir, stray, until

COMMANDS = ["list", "why", "snap", "diff", "end", "freeze", "thaw"]


def trouble(*args, says=None, **kw):
    """Exit 2, nothing on stdout, one line on stderr."""
    done = stray(*args, status=2, **kw)
    assert done.stdout == "", done.stdout
    assert done.stderr.startswith("stray: ") and done.stderr.count("\n") == 1, done.stderr
    if says:
        assert says in done.stderr, done.stderr
    return done.stderr


def on_terminal(*args, columns=80, env=None):
    """Runs stray on a terminal of its own; returns its bytes."""
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(dict({"TERM": "xterm", "LC_ALL": "C.UTF-8"}, **(env or {})))
        signal.alarm(60)
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execv(STRAY, [STRAY, *map(str, args)])
    out = b""
    while True:
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        out += more
    os.close(fd)
    os.waitpid(pid, 0)
    return out.replace(b"\r\n", b"\n")


ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def wrong_options_are_one_line_and_exit_2():
    for c in COMMANDS:
        trouble(c, "--nonsense", says=f"see stray {c} --help")
        trouble(c, "-Z", says="unknown option")
        trouble(c, "--color", says="needs a value")
        trouble(c, "--color=purple", says="auto, always or never")
        trouble(c, "--state-dir=", says="--state-dir")
        trouble(c, "--json=3", says="takes no value")
        trouble(c, "--unmask", says="only on a terminal")
    trouble("end", "--only=everything", "999999", says="--only")
    trouble("end", "--signal=NONE", "999999", says="--signal")
    trouble("end", "-k", "soon", "999999", says="--grace")
    trouble("end", "1", "2", says="one TARGET")


def the_beginning_of_a_long_option_is_not_taken_for_it():
    for c in COMMANDS:
        for cut in [["--jso"], ["--colo=never"], ["--colo", "never"], ["--hel"], ["--vers"]]:
            trouble(c, *cut, says=f"unknown option '{cut[0]}': is --")
    trouble("list", "--sus", says="unknown option '--sus': is --suspects meant?")
    trouble("watch", "--delay", "5", "--reado", says="is --readonly meant?")
    stray("list", "--color", "never", "--suspects", "--color=never", status=0)


def help_of_each_command_shows_its_options_and_an_example():
    for c in COMMANDS:
        text = stray(c, "--help", status=0).stdout
        assert text.startswith(f"usage: stray {c}") and f"example: stray {c}" in text, text
        assert "--state-dir=DIR" in text
    assert "--grace=DUR" in stray("end", "--help", status=0).stdout


def a_word_that_is_no_command_is_not_taken_for_a_target():
    for word in ["recorder", "cut", "lsit"]:
        trouble(word, says=f"{word}: no command, or not yet in this version")
        trouble(word, "--help", says=word)


def end_without_a_target_exits_2_and_names_the_candidates():
    with Made("reparented", env={"AGENT": "cli-candidate"}) as made:
        for c in ["end", "freeze", "thaw"]:
            done = stray(c, status=2)
            first, *groups = done.stderr.splitlines()
            assert first.startswith(f"stray: {c}: a TARGET is needed") and done.stdout == ""
            assert len(groups) <= 11 and all(g.startswith("  ") for g in groups), groups
            group = os.getpgid(made["child"])
            assert f"  pgid:{group} " in done.stderr or len(groups) == 11, done.stderr


def a_dead_number_that_lives_on_as_a_group_or_session_is_said():
    with Made("leader-gone", 1) as made:
        gone = made["leader"]
        for c in ["list", "why"]:
            trouble(c, gone, says=f"pgid:{gone}")
        trouble("end", "--dry-run", gone, says=f"pgid:{gone}")
    trouble("list", f"{os.getpid()}@1", says="is another process now")


def only_members_is_not_offered_where_it_would_hit_nobody():
    for target in ["1", "sid:0", "pgid:0", os.getpid()]:
        for only in [[], ["--only=members"]]:
            assert "spares" not in trouble("end", "--dry-run", *only, target)


def a_dry_run_with_json_is_json():
    with Made("group", 1) as made:
        out = json.loads(stray("end", "--dry-run", "--json", f"pgid:{made['leader']}", status=0).stdout)
        assert {p["pid"] for p in out["would_hit"]} == {made["leader"], made["member"]}
        assert out["schema"] == "stray.end/1" and out["signals"] == [] and out["record"] is None


def json_of_an_end_tells_every_signal_that_was_sent():
    with Made("ignore-term") as made:
        pid = made.pids[0][1]
        out, _ = end(pid)
        names = [s["name"] for s in out["signals"]]
        assert names[0] == "TERM" and names[-1] == "KILL", names
        assert all(s["to"][0]["pid"] == pid for s in out["signals"])


def closed_descriptors_are_not_taken_by_files():
    for c in [["list"], ["snap"], ["why", os.getpid()], ["list", "--json"]]:
        code = "import os,sys;os.closerange(0,3);os.execv(sys.argv[1],sys.argv[1:])"
        done = subprocess.run(["python3", "-c", code, STRAY, *map(str, c)])
        assert done.returncode == 2, (c, done.returncode)
    with Made("ignore-term") as made, state_dir() as d:
        code = "import os,sys;os.closerange(0,3);os.execv(sys.argv[1],sys.argv[1:])"
        done = subprocess.run(["python3", "-c", code, STRAY, "end", "-k", "0", "--state-dir", d,
                               str(made.pids[0][1])])
        acts = os.listdir(f"{d}/acts")
        for name in ["intent.json", "before.json", "after.json", "diff.json"]:
            json.load(open(f"{d}/acts/{acts[0]}/{name}"))
        assert not alive(made.pids[0][1]) and done.returncode == 2


def what_cannot_be_printed_is_trouble():
    for c in [["list"], ["list", "--json"], ["snap"], ["why", "--json", os.getpid()], ["--help"]]:
        with open("/dev/full", "w") as full:
            done = subprocess.run([STRAY, *map(str, c)], stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, (c, done)


def too_few_descriptors_or_too_little_memory_is_an_error_and_no_shorter_list():
    for c in [["list", "--json"], ["snap"], ["why", os.getpid()]]:
        for limit in ["--nofile=4", "--nofile=6", "--nofile=8"]:
            done = subprocess.run(["prlimit", limit, STRAY, *map(str, c)], capture_output=True, text=True)
            assert done.returncode == 2 and done.stdout == "", (c, limit, done)
            assert "Too many open files" in done.stderr and done.stderr.count("\n") == 1, done.stderr
        done = subprocess.run(["prlimit", "--nofile=20", STRAY, *map(str, c)], capture_output=True)
        assert done.returncode == 0, done
        if "ASAN_OPTIONS" in os.environ:  # whose shadow is larger than any limit
            continue
        done = subprocess.run(["prlimit", "--as=8000000", STRAY, *map(str, c)], capture_output=True, text=True)
        assert done.returncode in (2, 127) and "no process at all" not in done.stderr, done


def no_line_is_wider_than_the_terminal_and_no_colour_leaves_it():
    with Made("leader-gone", 1, env={"AGENT": "cli-width"}) as made, tempfile.TemporaryDirectory() as d:
        before = f"{d}/before.json"
        stray("snap", "-o", before, status=0)
        for columns in [1, 20, 80]:
            for c in [["list"], ["list", "--suspects"], ["why", made["member"]], ["diff", before],
                      ["end", "--dry-run", f"pgid:{made['leader']}"], ["end"]]:
                text = on_terminal(*c, columns=columns).decode()
                for line in ESCAPES.sub("", text).splitlines():
                    if not line.startswith("stray: "):
                        assert len(line) <= columns, (c, columns, line)
    for c in [["list"], ["list", "--suspects"], ["why", os.getpid()]]:
        assert "\x1b" not in stray(*c, status=0).stdout


def cells(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def why_folds_what_is_wider_than_the_terminal_and_loses_nothing():
    name = "t\u00e9st \u6e2c\u8a66" * 12 + "\x1b[31m\u202e" * 9 + "e\u0301" * 40 + "-end"
    with subprocess.Popen([name, str(LIFE)], executable="/bin/sleep") as sleeper:
        try:
            whole = stray("why", sleeper.pid, status=0, env={"LC_ALL": "C.UTF-8"}).stdout
            said = next(line for line in whole.splitlines() if line.startswith("process"))
            for columns in [12, 30, 80, 200]:
                text = on_terminal("why", sleeper.pid, columns=columns).decode()
                lines = ESCAPES.sub("", text).splitlines()
                assert max(map(cells, lines)) <= columns, (columns, lines)
                until_state = lines[:next(i for i, s in enumerate(lines) if s.startswith("state"))]
                assert "".join("".join(until_state).split()) == "".join(said.split()), until_state
                assert columns < 30 or all(s.startswith(" " * 11) for s in until_state[1:])
                assert columns < 30 or not any(re.search(r"\\(x.?|u.{0,3})$", s) for s in lines)
        finally:
            sleeper.kill()


def colour_follows_the_option_then_no_color_then_the_terminal():
    with Made("reparented"):
        c = ["list", "--suspects"]
        assert b"\x1b[33m" in on_terminal(*c)
        assert b"\x1b" not in on_terminal(*c, env={"NO_COLOR": "1"})
        assert b"\x1b[33m" in on_terminal(*c, env={"NO_COLOR": ""})
        assert b"\x1b[33m" in on_terminal(*c, "--color=always", env={"NO_COLOR": "1"})
        assert b"\x1b" not in on_terminal(*c, "--color=never")
        assert b"\x1b" not in on_terminal(*c, env={"TERM": "dumb"})
        assert "\x1b[33m" in stray(*c, "--color=always", status=0).stdout


def cwd_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None


def what_was_forked_away_at_the_term_is_named_and_no_success():
    for args, status in [((), 1), (("--include-possible",), 0)]:
        with tempfile.TemporaryDirectory() as d, Made("term-reforks", cwd=d) as made:
            out, _ = end(made["child"], *args, status=status)
            left = [int(p) for p in os.listdir("/proc") if p.isdigit() and cwd_of(p) == d
                    and int(p) not in (made.process.pid, made["child"])]
            assert [p["pid"] for p in out["appeared"]] == left, (out, left)
            assert bool(left) == (status == 1)
            assert all(p["why"] == "possible_member" for p in out["appeared"])


def interrupted(made_pid, sig, *args):
    with state_dir() as d:
        p = subprocess.Popen([STRAY, "end", "--json", "-k", "20", "--state-dir", d, *args, str(made_pid)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until(lambda: os.path.isdir(f"{d}/acts") and any(
            os.path.exists(f"{d}/acts/{a}/before.json") for a in os.listdir(f"{d}/acts")))
        time.sleep(0.3)
        p.send_signal(sig)
        out, said = p.communicate(timeout=15)
        record = [os.listdir(f"{d}/acts/{a}") for a in os.listdir(f"{d}/acts")][0]
        return p.returncode, json.loads(out), said, record


def an_interrupted_end_says_what_was_sent_and_who_is_alive():
    for sig in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
        with Made("ignore-term") as made:
            pid = made.pids[0][1]
            status, out, said, record = interrupted(pid, sig)
            assert status == 1 and out["interrupted"] and alive(pid)
            assert [s["name"] for s in out["signals"]] == ["TERM"], out["signals"]
            assert [p["pid"] for p in out["survivors"]] == [pid]
            assert signal.Signals(sig).name[3:] in said and said.count("\n") == 1, said
            assert "record.md" in record


if __name__ == "__main__":
    main([
        wrong_options_are_one_line_and_exit_2,
        the_beginning_of_a_long_option_is_not_taken_for_it,
        help_of_each_command_shows_its_options_and_an_example,
        a_word_that_is_no_command_is_not_taken_for_a_target,
        end_without_a_target_exits_2_and_names_the_candidates,
        a_dead_number_that_lives_on_as_a_group_or_session_is_said,
        only_members_is_not_offered_where_it_would_hit_nobody,
        a_dry_run_with_json_is_json,
        json_of_an_end_tells_every_signal_that_was_sent,
        closed_descriptors_are_not_taken_by_files,
        what_cannot_be_printed_is_trouble,
        too_few_descriptors_or_too_little_memory_is_an_error_and_no_shorter_list,
        no_line_is_wider_than_the_terminal_and_no_colour_leaves_it,
        why_folds_what_is_wider_than_the_terminal_and_loses_nothing,
        colour_follows_the_option_then_no_color_then_the_terminal,
        what_was_forked_away_at_the_term_is_named_and_no_success,
        an_interrupted_end_says_what_was_sent_and_who_is_alive,
    ])
