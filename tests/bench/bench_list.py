#!/usr/bin/python3
"""bench_list.py [PROCESSES [ROUNDS]]: `stray list` beside `ps`, in turns."""
import os
import sys
import tempfile

import measure

measure.alone()
PROCESSES = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 9
OURS = [measure.STRAY, "list"]
THEIRS = ["ps", "-eo", "pid,ppid,pgid,sid,stat,args"]

print(f"stray list beside {' '.join(THEIRS)}: {PROCESSES} processes, median of {ROUNDS}")
with tempfile.TemporaryDirectory() as state, measure.many(PROCESSES):
    os.environ["STRAY_STATE_DIR"] = state  # no recorded run is looked for
    measure.run(OURS)
    measure.run(THEIRS)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(measure.run(OURS))
        theirs.append(measure.run(THEIRS))
for column, what in enumerate(("CPU", "wall")):
    measure.ratio(what, measure.median(r[column] for r in ours),
                  measure.median(r[column] for r in theirs), "s", "1.0")
