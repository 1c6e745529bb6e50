#!/usr/bin/python3
"""bench_snap.py: the peak memory of `stray snap` must not grow with the number of
processes.  They are files (tests/trees): 30,000 real ones do not fit every pid_max."""
import os
import subprocess
import sys
import tempfile

import measure

COUNTS = (10000, 30000)
CHUNK = 4096


def stray_below(pid):
    """The PID of the stray that pid (inroot) started, by the parents in /proc."""
    parent = {}
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="latin-1") as f:
                comm, _, rest = f.read().partition("(")[2].rpartition(")")
            parent[int(name)] = int(rest.split()[1])
        except (OSError, ValueError):
            continue
        if comm != "stray":
            continue
        at = int(name)
        while at and at != pid:
            at = parent[at] if at in parent else 0
        if at == pid:
            return int(name)
    return None


def in_order(proc):
    """Names come back in ascending order, as from the kernel's /proc: tmpfs lists the
    latest first."""
    for pid in sorted((int(n) for n in os.listdir(proc) if n.isdigit()), reverse=True):
        os.rename(f"{proc}/{pid}", f"{proc}/moved")
        os.rename(f"{proc}/moved", f"{proc}/{pid}")


def snap(count, directory):
    """Peak KB, read before each piece of the output is: the process cannot be further
    than a full pipe from its end at the last of them."""
    tree = os.path.join(directory, str(count))
    mktree = os.path.join(measure.SRC, "tests/trees/mktree.py")
    subprocess.run([sys.executable, mktree, "--fill", str(count), tree, "server"], check=True)
    in_order(os.path.join(tree, "proc"))
    inroot = subprocess.Popen([os.path.join(measure.BUILD, "inroot"), tree, measure.STRAY, "snap"],
                              stdout=subprocess.PIPE, bufsize=0)
    pid, peak, size = None, 0, 0
    while piece := inroot.stdout.read(CHUNK):
        size += len(piece)
        pid = pid or stray_below(inroot.pid)
        peak = max(peak, measure.peak_kb(pid) or 0) if pid else peak
    if inroot.wait() != 0 or not peak:
        print(f"  {count}: cannot be measured here (inroot: {inroot.returncode})")
        return None
    print(f"  {count} processes: {size / 1e6:.1f} MB of JSON, peak {peak} kB")
    return peak


measure.alone()
print("stray snap, peak memory (VmHWM)")
sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
with tempfile.TemporaryDirectory(dir=shm) as where:
    few, lots = (snap(n, where) for n in COUNTS)
if few and lots:
    measure.ratio(f"{COUNTS[1]} beside {COUNTS[0]} processes", lots, few, "kB", "1.0")
