#!/usr/bin/python3
"""Heads of journals in the system log: in a /dev of our own, where we are the log."""
import contextlib
import os
import re
import socket
import subprocess
import time

from e2e import Made, Skip, in_own_mount_namespace, main
from recorded import state


@contextlib.contextmanager
def log():
    """Listens where the system log would; returns a function that gives what came since."""
    if not os.environ.get("E2E_OWN_MOUNTS"):
        raise Skip("needs root, for a /dev of its own")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind("/dev/log")
        s.setblocking(False)

        def lines():
            found = []
            with contextlib.suppress(BlockingIOError):
                while True:
                    found.append(s.recv(4096).decode())
            return found
        try:
            yield lines
        finally:
            os.unlink("/dev/log")


def told(lines, run):
    """(seq, head) of each line about the run."""
    found = [re.fullmatch(r"<109>\w{3} [ \d]\d \d\d:\d\d:\d\d stray\[\d+\]: "
                          r"run (\S+) event (\d+) head ([0-9a-f]{64})", line) for line in lines]
    assert all(found), lines
    return [(int(m[2]), m[3]) for m in found if m[1] == run]


def opening_expiry_and_closing_heads_are_in_the_log():
    with state() as s, Made("group", 1) as made, log() as lines:
        s("adopt", made["leader"], "--id", "r")
        opening = told(lines(), "r")
        assert len(opening) == 1
        s("adopt", made["leader"], "--id", "late", "--expired-at", "2026-01-02T03:04:05Z")
        expiry = told(lines(), "late")
        s("end", "run:r", "-k", "1")
        closing = told(lines(), "r")
        for run, heads in (("r", opening + closing), ("late", expiry)):
            events = {e["seq"]: e for e in s.events(run)}
            for seq, head in heads:
                assert events[seq]["hash"] == head, (run, seq)
            anchored = [(e["anchored_seq"], e["anchored_head"]) for e in s.events(run, "anchored")]
            assert anchored == heads, (anchored, heads)
            assert f"anchored to seq {heads[-1][0]}" in s("verify", run).stdout
            found = s.json("verify", run)["journals"][0]
            assert found["anchored_seq"] == heads[-1][0]
        names = [s.events("r")[seq - 1]["event"] for seq, _ in closing]
        assert names[-1] == "run_closed", names
        assert "deadline_expired" in [s.events("late")[seq - 1]["event"] for seq, _ in expiry]
        # with a line of the log in hand a cut is found, whatever became of the ledger
        with open(s.of("r"), "rb") as f:
            kept = f.read().splitlines(keepends=True)[:closing[-1][0] - 1]
        with open(s.of("r"), "wb") as f:
            f.writelines(kept)
        s("verify", s.of("r"))
        s("verify", s.of("r"), "--head", closing[-1][1], status=1)


def without_a_log_nothing_is_anchored_and_that_is_said():
    with state() as s, Made("group", 1) as made:
        with log():
            pass
        s("adopt", made["leader"], "--id", "r")
        assert "not anchored" in s("verify", "r").stdout
        assert not s.events("r", "anchored")


def a_log_that_takes_nothing_is_not_waited_for():
    with state() as s, Made("group", 1) as made, log():
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as filler:
            filler.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    filler.sendto(b"x", "/dev/log")
            started = time.monotonic()
            s("adopt", made["leader"], "--id", "r")
            s("end", "run:r", "-k", "1")
            assert time.monotonic() - started < 20
        assert "not anchored" in s("verify", "r").stdout


def in_a_dev_of_its_own():
    if in_own_mount_namespace():
        subprocess.run("mount -t tmpfs -o mode=755 stray-test /dev && mknod -m 666 /dev/null c 1 3"
                       " && mknod -m 666 /dev/urandom c 1 9", shell=True, check=True)


if __name__ == "__main__":
    in_a_dev_of_its_own()
    main([opening_expiry_and_closing_heads_are_in_the_log,
          without_a_log_nothing_is_anchored_and_that_is_said,
          a_log_that_takes_nothing_is_not_waited_for])
