#!/usr/bin/python3
"""bench_make.py [ROUNDS]: two libraries of this project built by make -j2 under `stray run`, and
without, in turns."""
import os
import subprocess
import sys
import tempfile

import measure

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
MAKE = ["make", "-s", "-j2"]
TARGETS = ["libbase.a", "libmodel.a", "librecord.a"]

with tempfile.TemporaryDirectory() as place:
    os.environ["STRAY_STATE_DIR"] = os.path.join(place, "state")
    os.environ["CCACHE_DISABLE"] = "1"
    os.environ.pop("MAKEFLAGS", None)
    build = os.path.join(place, "build")
    os.mkdir(build)
    os.chdir(build)
    subprocess.run([os.path.join(measure.SRC, "configure")], stdout=subprocess.DEVNULL, check=True)
    subprocess.run(MAKE + TARGETS, stdout=subprocess.DEVNULL, check=True)  # what is read is cached
    times = {"run": [], "alone": []}
    for _ in range(ROUNDS):
        for name, before in (("alone", []), ("run", [measure.STRAY, "run", "-q", "--"])):
            subprocess.run(["rm", "-f"] + TARGETS, check=True)
            subprocess.run(["find", "src", "-name", "*.o", "-delete"], check=True)
            times[name].append(measure.run(before + MAKE + TARGETS)[1])
    print(f"make -j2 of {len(TARGETS)} libraries under stray run: median of {ROUNDS}")
    measure.ratio("beside make alone", measure.median(times["run"]),
                  measure.median(times["alone"]), "s", "1.02")
