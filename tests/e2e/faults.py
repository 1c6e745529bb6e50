#!/usr/bin/python3
# timeout: 600
"""Records where something is in the way: what is no file of ours, a full disk, a held lock."""
import contextlib
import fcntl
import os
import pty
import shutil
import signal
import stat
import subprocess
import sys
import termios
import time

from e2e import STRAY, Made, alive, as_root, in_own_mount_namespace, main, until
from recorded import adopted, frozen, state

PARTS = {  # what stands in a state directory
    "runs": lambda s: os.path.join(s.path, "runs"),
    "directory": lambda s: os.path.dirname(s.of("r")),
    "run.json": lambda s: s.of("r", "run.json"),
    "journal.jsonl": lambda s: s.of("r"),
    "watch.lock": lambda s: s.of("r", "watch.lock"),
    "ledger.jsonl": lambda s: s.ledger,
}


def to_link(path):
    os.rename(path, path + ".away")
    os.symlink(path + ".away", path)


def to_fifo(path):
    os.rename(path, path + ".away")
    os.mkfifo(path, 0o600)


def to_foreign(path):
    os.chown(path, 65534, 65534)


def to_open(path):
    os.chmod(path, stat.S_IMODE(os.stat(path).st_mode) | 0o022)


# What each command answers: 2 where it would have to write to it or to rely on it.
ANSWERS = {
    "runs": {"note": 2, "check": 2, "end": 2, "adopt": 2},
    "directory": {"note": 2, "check": 2, "end": 2, "adopt": 0},
    "run.json": {"note": 2, "check": 2, "end": 2, "adopt": 0},
    "journal.jsonl": {"note": 2, "check": 2, "end": 2, "adopt": 0},
    "watch.lock": {"note": 0, "check": 2, "end": 0, "adopt": 0},
    "ledger.jsonl": {"note": 0, "check": 0, "end": 0, "adopt": 2},
}


def content(path):
    """What of a file, or of a directory, no command may have changed behind our back."""
    if os.path.isdir(path):
        return sorted(os.listdir(path))
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as f:
        return f.read()


def in_place_of_each(change):
    for part, place in PARTS.items():
        with adopted() as (s, made):
            path = place(s)
            change(path)
            behind = content(path + ".away")
            for command, status in ANSWERS[part].items():
                args = {"note": ["r", "text"], "check": ["r"], "end": ["run:r", "-k", "1"],
                        "adopt": [made["member"], "--id", "more"]}[command]
                if command == "end" and status == 0:
                    continue  # asked below, when nothing else is
                done = s(command, *args, status=None, timeout=30)
                assert done.returncode == status, (part, command, done)
                assert status == 0 or done.stderr.startswith("stray: "), (part, command, done)
            assert alive(made["leader"]), part
            for command in (["runs"], ["list", "run:r"], ["verify"]):
                done = s(*command, status=None, timeout=30)
                assert done.returncode in (0, 1, 2), (part, command, done)
            assert content(path + ".away") == behind, f"{part}: written to behind the link"
            if ANSWERS[part]["end"] == 0:
                s("end", "run:r", "-k", "1", timeout=30)
                assert not alive(made["leader"]), part


def a_link_in_the_place_of_anything_is_not_followed():
    in_place_of_each(to_link)


def a_fifo_in_the_place_of_anything_hangs_nobody():
    in_place_of_each(to_fifo)


def what_others_can_write_to_is_not_written_to():
    in_place_of_each(to_open)


def what_is_anothers_is_not_written_to():
    as_root()
    in_place_of_each(to_foreign)


# --- a disk that fills

@contextlib.contextmanager
def small_disk(kib):
    """A file system of that size, in a mount namespace that `with` enters by re-running us."""
    as_root()
    with state() as s:
        os.mkdir(s.path, 0o700)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k,mode=700", "stray-test", s.path],
                       check=True)
        try:
            yield s
        finally:
            subprocess.run(["umount", "-l", s.path], check=True)


def fill(s, leave_kib=0):
    """Fills it but for so much."""
    path = os.path.join(s.path, ".filler")
    with open(path, "wb", buffering=0) as f:
        with contextlib.suppress(OSError):
            while True:
                f.write(bytes(4096))
        size = f.tell()
        f.truncate(max(0, size - leave_kib * 1024))
    return path


def an_act_whose_intent_does_not_fit_sends_nothing():
    with small_disk(2048) as s, Made("group", 2) as made:
        s("adopt", f"pgid:{made['leader']}", "--id", "r")
        done = refused = 0
        for leave in (*range(0, 140, 4), 400):
            filler = fill(s, leave)
            intents = len(s.events("r", "signal_intent"))
            r = s("freeze", "run:r", status=None)
            told = len(s.events("r", "signal_intent")) - intents
            os.unlink(filler)
            if r.returncode == 0 or frozen(made["leader"]):
                assert frozen(made["leader"]) and told == 1, (leave, r)
                assert r.returncode == 0 or "space" in r.stderr, (leave, r)
                done += 1
                s("thaw", "run:r")
            else:
                assert r.returncode == 2 and "space" in r.stderr, (leave, r)
                assert not any(map(frozen, [made["leader"], *made.all("member")])), leave
                refused += 1
            s("verify", "r")
        assert done and refused, (done, refused)


def a_kill_is_sent_although_the_disk_has_filled_since_the_term():
    with small_disk(2048) as s, Made("ignore-term") as made:
        s("adopt", made["child"], "--id", "r")
        with subprocess.Popen([STRAY, "end", "run:r", "-k", "1.5", "--state-dir", s.path],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as ending:
            until(lambda: s.events("r", "signal_sent"))
            filler = fill(s)
            s("note", "r", "fills the journal's last page " * 130, status=2)
            said = ending.communicate(timeout=30)
        assert not alive(made["child"])
        assert ending.returncode == 1, (ending.returncode, said)
        assert "space" in said[1], said
        os.unlink(filler)
        s("verify", "r")
        s("note", "r", "the disk was full")
        s("verify", "r")
        assert len(s.events("r", "signal_sent")) == 1


def a_run_that_does_not_fit_is_not_there():
    with small_disk(2048) as s, Made("group", 2) as made:
        s("adopt", made["leader"], "--id", "r")
        made_it = failed = 0
        for leave in (*range(0, 112, 4), 400):
            filler = fill(s, leave)
            r = s("adopt", made["leader"], "--id", f"r{leave}", status=None)
            there = os.path.exists(s.of(f"r{leave}", "run.json"))
            os.unlink(filler)
            assert r.returncode in (0, 2), r
            made_it += r.returncode == 0
            failed += r.returncode == 2
            assert there or r.returncode == 2, (leave, r)
            assert not [n for n in os.listdir(os.path.join(s.path, "runs")) if n[0] == "."], leave
            s("verify")
        assert made_it and failed, (made_it, failed)


def an_answer_that_does_not_fit_is_no():
    with small_disk(1024) as s, Made("group", 1) as made:
        s("adopt", made["leader"], "--id", "r")
        filler = fill(s)
        answers = [s("check", "r", "--action", "x" * 900, status=None).returncode
                   for _ in range(8)]
        assert answers[-1] == 2 and set(answers) <= {0, 2}, answers
        # of one of them all but the end of the line may have found room
        whole = len(s.events("r", "action_accepted"))
        assert whole - answers.count(0) in (0, 1), answers
        os.unlink(filler)
        s("check", "r")
        assert len(s.events("r", "action_accepted")) == whole + 1
        s("verify")


# --- locks

@contextlib.contextmanager
def stopped_holder(path):
    """A process that locked path, and was stopped."""
    code = ("import fcntl,os,signal,sys,time\nsignal.alarm(60)\nf=open(sys.argv[1],'a')\n"
            "fcntl.flock(f,fcntl.LOCK_EX)\nprint('READY',flush=True)\ntime.sleep(60)")
    with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE) as p:
        try:
            assert p.stdout.readline() == b"READY\n"
            p.send_signal(signal.SIGSTOP)
            yield
        finally:
            p.kill()


def a_stopped_writer_that_holds_the_lock_is_waited_for_only_so_long():
    with adopted() as (s, made):
        with stopped_holder(s.of("r")):
            started = time.monotonic()
            asked = [subprocess.Popen([STRAY, *args, "--state-dir", s.path], text=True,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE)
                     for args in (["note", "r", "x"], ["check", "r"], ["end", "run:r", "-k", "1"])]
            for p in asked:
                said = p.communicate(timeout=60)[1]
                assert p.returncode == 2 and "lock" in said, (p.args, said)
            assert time.monotonic() - started < 40
            assert alive(made["leader"]), "a signal without its intent"
            s("runs")
            s("verify", "r")
        s("note", "r", "it is gone")
        s("end", "run:r", "-k", "1")
        s("verify")


def a_stopped_writer_of_the_ledger_holds_up_no_end():
    with adopted() as (s, made):
        with stopped_holder(s.ledger):
            started = time.monotonic()
            s("end", "run:r", "-k", "1")
            assert not alive(made["leader"]) and time.monotonic() - started < 30
            s("adopt", made.process.pid, "--id", "other", status=2)
        assert os.listdir(os.path.join(s.path, "runs")) == ["r"]
        s("verify")


def two_hundred_writers_of_different_commands_at_once():
    with adopted() as (s, made):
        def writer(n):
            args = (["note", "r", f"note {n}"], ["check", "r", "--action", f"action {n}"],
                    ["note", "r", f"note {n}", "--process", str(made["leader"])])[n % 3]
            return subprocess.Popen([STRAY, *args, "--state-dir", s.path], text=True,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE)
        before = len(s.events("r"))
        # with ASan each takes some 40 times as long: all of 200 would outlive the fixture
        many = 40 if os.environ.get("ASAN_OPTIONS") else 200
        writers = [writer(n) for n in range(many)]
        for p in writers:
            said = p.communicate(timeout=120)[1]
            assert p.returncode == 0, (p.args, said)
        found = s.events("r")
        assert [e["seq"] for e in found] == list(range(1, len(found) + 1))
        told = {e.get("text") or e.get("action") for e in found[before:]}
        assert told >= {f"{'action' if n % 3 == 1 else 'note'} {n}" for n in range(many)}
        clocks = [e["mono_ns"] for e in found]
        assert clocks == sorted(clocks)
        s("verify")


# --- those who watch

class Watcher:
    """stray watch on a terminal of its own."""

    def __init__(self, s, run="r"):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x18\0\x50\0\0\0\0\0")
        self.process = subprocess.Popen(
            [STRAY, "watch", f"run:{run}", "--state-dir", s.path], stdin=slave, stdout=slave,
            stderr=slave, start_new_session=True, env=dict(os.environ, TERM="xterm"))
        os.close(slave)
        self.seen = b""

    def read(self):
        """What was drawn since."""
        os.set_blocking(self.master, False)
        with contextlib.suppress(BlockingIOError, OSError):
            while True:
                more = os.read(self.master, 65536)
                if not more:
                    break
                self.seen += more
        return self.seen

    def quit(self):
        """Its exit status, after q."""
        os.write(self.master, b"q")
        until(lambda: (self.read() or True) and self.process.poll() is not None)
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def of_two_watchers_one_writes_and_the_other_takes_over():
    with adopted() as (s, made):
        with Watcher(s) as one:
            until(lambda: one.read() and s.events("r", "watch_started"))
            with Watcher(s) as two:
                until(lambda: two.read().count(b"stray"))
                assert s.json("runs")["runs"][0]["watched"] is True
                time.sleep(1.5)  # a look of each
                started = s.events("r", "watch_started")
                assert [e["watcher"]["pid"] for e in started] == [one.process.pid]
                one.process.kill()
                until(lambda: two.read() and len(s.events("r", "watch_started")) == 2)
                lost = s.last("r", "watch_stopped")
                assert lost["watcher"]["pid"] == one.process.pid and lost["reason"] == "lost"
                assert s.last("r", "watch_started")["watcher"]["pid"] == two.process.pid
                assert two.quit() == 0
        stopped = s.last("r", "watch_stopped")
        assert stopped["watcher"]["pid"] == two.process.pid and stopped["known"] == "seen"
        s("verify")
        assert alive(made["leader"])


def a_watcher_whose_directory_is_removed_says_so_and_goes_on():
    with adopted() as (s, _), Watcher(s) as one:
        until(lambda: one.read() and s.events("r", "watch_started"))
        shutil.rmtree(s.path)
        until(lambda: b"removed" in one.read())
        assert one.process.poll() is None
        assert one.quit() == 0
        assert not os.path.exists(s.path), "it was made anew, without what was in it"


def what_a_watched_run_does_is_in_its_journal():
    with adopted("term-reforks", target="{child}") as (s, made), Watcher(s) as one:
        until(lambda: one.read() and s.events("r", "watch_started"))
        s("end", "run:r", "-k", "1", status=None)
        until(lambda: one.read() and any(e["process"]["pid"] == made["child"]
                                         for e in s.events("r", "exited")))
        gone = [e["process"]["pid"] for e in s.events("r", "exited")]
        assert len(gone) == len(set(gone)), "one death was told of twice"
        assert one.quit() == 0
        s("verify")


if __name__ == "__main__":
    in_own_mount_namespace()  # where small disks are mounted, and nobody else sees them
    main([
        a_link_in_the_place_of_anything_is_not_followed,
        a_fifo_in_the_place_of_anything_hangs_nobody,
        what_others_can_write_to_is_not_written_to,
        what_is_anothers_is_not_written_to,
        an_act_whose_intent_does_not_fit_sends_nothing,
        a_kill_is_sent_although_the_disk_has_filled_since_the_term,
        a_run_that_does_not_fit_is_not_there,
        an_answer_that_does_not_fit_is_no,
        a_stopped_writer_that_holds_the_lock_is_waited_for_only_so_long,
        a_stopped_writer_of_the_ledger_holds_up_no_end,
        two_hundred_writers_of_different_commands_at_once,
        of_two_watchers_one_writes_and_the_other_takes_over,
        a_watcher_whose_directory_is_removed_says_so_and_goes_on,
        what_a_watched_run_does_is_in_its_journal,
    ])
