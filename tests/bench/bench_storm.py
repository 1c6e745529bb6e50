#!/usr/bin/python3
"""bench_storm.py [TRIES [PROCESSES [LIVE_US]]]: a storm of processes that ignore TERM and fork
successors all the time, ended by `stray run -k 0` in each unit.

From the deadline as the journal has it (over_mono_ns) to the last death: that is not before the
storm's last sign of life in its own page, and not after the lock was free that all of them held.
What the kernel alone takes to kill as many is told beside it: stray cannot be faster.
"""
import contextlib
import os
import select
import subprocess
import sys
import time

import measure

sys.path.insert(0, os.path.join(measure.SRC, "tests/e2e"))
from storms import FORKS_MAX, below_no_cgroup, end_storm  # noqa: E402  (found there)

from e2e import for_everybody  # noqa: E402

TRIES = int(sys.argv[1]) if len(sys.argv) > 1 else 100
PROCESSES = int(sys.argv[2]) if len(sys.argv) > 2 else 500
LIVE_US = int(sys.argv[3]) if len(sys.argv) > 3 else 150000
NOBODY = 65534
STRAY = for_everybody(measure.STRAY)
MKPROC = for_everybody(os.path.join(measure.BUILD, "mkproc"))


def own_cgroup():
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        mount = next((line.split()[4] for line in f if " - cgroup2 " in line), None)
    with open("/proc/self/cgroup", encoding="utf-8") as f:
        path = next((line[3:].strip() for line in f if line.startswith("0::")), None)
    return mount and path and mount + path


def killed_by_the_kernel():
    """ms from a write to cgroup.kill until nobody is in it; None: no cgroup can be made."""
    folder = os.path.join(own_cgroup() or "/nonexistent", f"bench-storm-{os.getpid()}")
    try:
        os.mkdir(folder)
    except OSError:
        return None
    into = f'echo $$ > {folder}/cgroup.procs && exec "$@"'
    with subprocess.Popen(["sh", "-c", into, "sh", MKPROC, "--life", "20", "storm-light",
                           str(PROCESSES), str(LIVE_US)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as storm:
        for line in storm.stdout:
            if line.startswith("READY"):
                break
        time.sleep(0.3)
        with open(f"{folder}/cgroup.events", encoding="ascii") as f:
            wait = select.poll()
            wait.register(f, select.POLLPRI)
            began = time.monotonic()
            with open(f"{folder}/cgroup.kill", "w", encoding="ascii") as kill:
                kill.write("1")
            while "populated 1" in (f.seek(0), f.read())[1]:
                wait.poll(1000)
        took = time.monotonic() - began
    with contextlib.suppress(OSError):
        os.rmdir(folder)
    return took * 1000


def tried(unit, wanted=None, prefix=(), user=None):
    least, most, survived, calm = [], [], 0, 0
    for _ in range(TRIES):
        done = end_storm(STRAY, MKPROC, "storm-light", PROCESSES, LIVE_US, 1, prefix, user=user)
        if done.result["containment"] != unit.split()[0]:
            print(f"  {unit}: not to be had here")
            return
        survived += bool(done.marked or done.result["survivors"] or done.free_ns is None)
        calm += done.forks >= FORKS_MAX
        least.append((done.beat_ns - done.deadline_ns) / 1e6)
        most.append(((done.free_ns or done.over_ns) - done.deadline_ns) / 1e6)
    late = f" (wanted < {wanted}: {sum(m >= wanted for m in most)} were not)" if wanted else ""
    print(f"  {unit:<24} {survived:3} of {TRIES} with a survivor (wanted 0); last death, ms: "
          f"median {measure.median(least):.0f} to {measure.median(most):.0f}, 95 % "
          f"{measure.percentile(most, 0.95):.0f}, most {max(most):.0f}{late}"
          + (f"; {calm} storms had died down" if calm else ""))


print(f"a storm of {PROCESSES}, each {LIVE_US} us, {TRIES} times")
if os.geteuid() == 0:
    alone = [killed_by_the_kernel() for _ in range(5)]
    if None not in alone:
        print(f"  the kernel alone: median {measure.median(alone):.0f} ms, most {max(alone):.0f}")
    tried("cgroup", 100)
    if below_no_cgroup():
        tried("subreaper", prefix=below_no_cgroup())
    tried("subreaper as a user", user=NOBODY)
else:
    tried("subreaper")
