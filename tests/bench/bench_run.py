#!/usr/bin/python3
"""bench_run.py [PROCESSES [ROUNDS]]: `stray run` beside timeout(1), beside a plain harness that lists
the host before and after, and beside the command alone, in turns.

Not in a PID namespace of its own: there the kernel's events cannot be heard.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import measure

PROCESSES = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 15
SPAWNS = 20000
MEGABYTES = 4096  # four times what is promised: the start is no part of a throughput

HARNESS = """
import os, subprocess, sys
def listed():
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found[pid] = (os.readlink(f"/proc/{pid}/exe"), os.readlink(f"/proc/{pid}/cwd"),
                          open(f"/proc/{pid}/cmdline", "rb").read())
        except OSError:
            continue
    return found
before = listed()
subprocess.run(sys.argv[1:])
after = listed()
print(len(after.keys() - before.keys()), len(before.keys() - after.keys()))
"""


def in_turns(what, wanted, ours, theirs, rounds=ROUNDS, column=1):
    """The median of each; column: 0 CPU, 1 wall."""
    measure.run(ours)
    measure.run(theirs)
    a, b = [], []
    for _ in range(rounds):
        a.append(measure.run(ours)[column])
        b.append(measure.run(theirs)[column])
    measure.ratio(what, measure.median(a), measure.median(b), "s", wanted)


def through(args):
    """Seconds for MEGABYTES through it."""
    start = time.monotonic()
    source = subprocess.Popen(["head", "-c", f"{MEGABYTES}M", "/dev/zero"], stdout=subprocess.PIPE)
    subprocess.run(args, stdin=source.stdout, stdout=subprocess.DEVNULL, check=True)
    source.stdout.close()
    source.wait()
    return time.monotonic() - start


def loop(spawns):
    """A shell that starts a program over and over."""
    return ["sh", "-c", f"i=0; while [ $i -lt {spawns} ]; do /bin/true; i=$((i + 1)); done"]


def spawns(run):
    """Whether each of many is recorded; and what it costs them, in turns short enough that a slow
    minute of the host meets both."""
    with tempfile.NamedTemporaryFile() as result:
        measure.run(run[:-1] + [f"--json={result.name}", "--"] + loop(SPAWNS))
        print(f"  recorded of {SPAWNS}: {json.load(result)['counts']}")
    in_turns(f"{SPAWNS // 10} spawns, beside the loop", "1.10", run + loop(SPAWNS // 10),
             loop(SPAWNS // 10))


def throughput(run):
    """The best of each: on some hosts a pipe between two CPUs runs at a third of its speed in half
    of the tries, whoever made it."""
    ours, theirs = [], []
    for _ in range(9):
        ours.append(through(run + ["cat"]))
        theirs.append(through(["cat"]))
    measure.ratio(f"{MEGABYTES} MB through cat, best of {len(ours)}", min(ours), min(theirs), "s",
                  "1.0")


with tempfile.TemporaryDirectory() as state:
    os.environ["STRAY_STATE_DIR"] = os.path.join(state, "state")
    RUN = [measure.STRAY, "run", "-q", "--"]
    print("stray run: medians, beside each peer in turns")
    for what, column in (("true, beside timeout 60 true", 1), ("the same, CPU", 0)):
        in_turns(what, "3.0", RUN + ["true"], ["timeout", "60", "true"], 10 * ROUNDS, column)
    spawns(RUN)
    throughput(RUN)
    with measure.many(PROCESSES):
        in_turns(f"true at {PROCESSES}, beside a harness", "0.5", RUN + ["true"],
                 [sys.executable, "-c", HARNESS, "true"], rounds=5)
