#!/usr/bin/python3
# timeout: 300
"""Syncs that fail or hang, and what must be on the disk before something is done."""
import os
import re
import subprocess
import tempfile
import time

from e2e import STRAY, alive, main, traced
from launched import argv_of
from recorded import state

SYNCS = 8  # of a process that makes a record or acts: at most as many
HANGS = 7  # seconds: longer than a close is waited for


def failing(call, number):
    """A wrapper under which that call of each process and thread finds a broken disk."""
    return traced("-o", "/dev/null", "-e", f"inject={call}:error=EIO:when={number}")


def each_that_fails():
    for call in ("fsync", "fdatasync"):
        for number in range(1, SYNCS + 1):
            yield call, number


def ran(argv, timeout=60):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=timeout)


def whichever_fails_a_run_is_recorded_or_never_was():
    failed = 0
    with state() as s:
        ran(argv_of(s, cmd=["true"]))
        for call, number in each_that_fails():
            run = f"{call}-{number}"
            done = ran([*failing(call, number), *argv_of(s, f"--id={run}", cmd=["true"])])
            made = os.path.exists(s.of(run))
            assert done.returncode in ((0, 122) if made else (125,)), (run, done)
            failed += done.returncode == 125
        assert failed == 5, failed  # the directory, the record, the journal, the name, the ledger
        s("verify")
        assert not [d for d in os.listdir(os.path.join(s.path, "runs")) if d.startswith(".")]


def whichever_fails_an_end_says_so_and_no_more():
    failed = 0
    with state() as s:
        for call, number in each_that_fails():
            victim = subprocess.Popen(["sleep", "60"], start_new_session=True)
            try:
                done = ran([*failing(call, number), STRAY, "end", "--state-dir", s.path, "--yes",
                            "--grace", "0", str(victim.pid)])
                # ended, or why not: nobody is signalled unrecorded
                assert done.returncode in (0, 1, 2), (call, number, done)
                assert done.returncode != 2 or alive(victim.pid), (call, number, done)
                failed += done.returncode == 2
            finally:
                victim.kill()
                victim.wait()
        assert failed, "no sync of an act was met"


def a_disk_that_hangs_when_a_short_run_closes_is_waited_for_only_so_long():
    with state() as s:
        # which programs these are is known then: no thread begins for that
        ran([*traced("-o", "/dev/null"), *argv_of(s, cmd=["true"])])
        begun = time.monotonic()
        # the first of each thread: of the one that begins, and of the one that closes
        done = ran([*traced("-o", "/dev/null", "-e",
                            f"inject=fdatasync:delay_enter={HANGS}s:when=1"),
                    *argv_of(s, "--id=r", cmd=["true"])])
        assert done.returncode == 122 and "is not on the disk" in done.stderr, done
        assert time.monotonic() - begun < 4 * HANGS
        s("verify", "r")


def what_is_pruned_is_noted_on_the_disk_before_it_goes():
    with state() as s, tempfile.NamedTemporaryFile("r", encoding="utf-8") as calls:
        ran(argv_of(s, "--id=r", cmd=["true"]))
        done = ran([*traced("-y", "-s", "65536", "-o", calls.name, "-e",
                            "trace=write,fdatasync,renameat2"),
                    STRAY, "runs", "--state-dir", s.path, "--prune", "--older-than", "0s"])
        assert done.returncode == 0, done
        order = re.findall(r'run_pruned|fdatasync\([^\n]*ledger\.jsonl|renameat2[^\n]*"r"',
                           calls.read())
        assert [o.split("(")[0] for o in order] == ["run_pruned", "fdatasync", "renameat2"], order


def a_command_that_stray_is_to_hold_is_held_with_its_door_open():
    """What its making may wait for, the end does not."""
    with state() as s, tempfile.NamedTemporaryFile("r", encoding="utf-8") as calls:
        done = ran([*traced("-o", calls.name, "-e", "trace=bind,execve"),
                    *argv_of(s, "--id=r", cmd=["true"])])
        assert done.returncode == 0, done
        order = re.findall(r'warden\.sock|execve\("[^"]*/true"', calls.read())
        assert order and order[0] == "warden.sock" and "execve" in order[-1], order


main([
    whichever_fails_a_run_is_recorded_or_never_was,
    whichever_fails_an_end_says_so_and_no_more,
    a_disk_that_hangs_when_a_short_run_closes_is_waited_for_only_so_long,
    what_is_pruned_is_noted_on_the_disk_before_it_goes,
    a_command_that_stray_is_to_hold_is_held_with_its_door_open,
])
