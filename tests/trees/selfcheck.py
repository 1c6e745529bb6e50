#!/usr/bin/python3
"""selfcheck.py INROOT: what procps reads in each tree is what was described.

Two readers of one truth: hostfile.py read the description, ps(1) reads the
files that mktree.py wrote from it, through /proc.  Prints TAP.  Exit status
77 where the kernel lets nobody in.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

import hostfile
import mktree

HERE = os.path.dirname(os.path.abspath(__file__))
SKIP = 77
COLUMNS = ("pid", "ppid", "pgid", "sid", "tpgid", "tty", "stat", "euid",
           "ruid", "nlwp", "ni", "luid", "ignored", "etimes")
COMM_WIDTH = 64


class Skip(Exception):
    pass


def ps(inroot, tree):
    """pid to the columns of its ps line."""
    out = subprocess.run(
        [inroot, tree, "ps", "-e", "-ww"] +
        [w for c in COLUMNS for w in ("-o", c + "=")] +
        ["-o", f"comm:{COMM_WIDTH}=", "-o", "args="],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    if out.returncode == SKIP:
        raise Skip(out.stderr.decode().strip())
    if out.returncode:
        raise AssertionError(f"ps: {out.returncode} {out.stderr.decode()}")
    rows = {}
    for line in out.stdout.decode("utf-8", "replace").splitlines():
        fields = line.split(None, len(COLUMNS))
        row = dict(zip(COLUMNS, fields))
        row["comm"] = fields[-1][:COMM_WIDTH].rstrip()
        row["args"] = fields[-1][COMM_WIDTH + 1:].rstrip()
        rows[int(row["pid"])] = row
    return rows


def described(host, p):
    """What ps must say of p."""
    state = p.state
    if p.nice:
        state += "N" if p.nice > 0 else "<"
    if p.leader():
        state += "s"
    if p.threads > 1:
        state += "l"
    if p.pgid == host.foreground(p):
        state += "+"
    age = host.uptime - p.start / hostfile.TICKS
    return {"pid": str(p.pid), "ppid": str(p.ppid), "pgid": str(p.pgid),
            "sid": str(p.sid), "tpgid": str(host.foreground(p)),
            "tty": p.tty or "?", "stat": state, "euid": str(p.uid[1]),
            "ruid": str(p.uid[0]), "nlwp": str(p.threads),
            "ni": str(p.nice),
            "luid": "-" if p.login == hostfile.UNSET else str(p.login),
            "ignored": f"{p.ignored():016x}", "etimes": str(int(age)),
            "comm": p.comm}


def same(host, p, key, want, got):
    if key == "etimes":
        return abs(int(want) - int(got)) <= 1
    if key == "tty" and got == "?":
        # ps names a terminal only where the device is here too: not a console
        # that this machine has not, nor one of a container's own devpts.
        return want == "?" or p.ns["mnt"] != host.ns["mnt"] or \
            (want.startswith("tty") and not os.path.exists("/dev/" + want))
    return want == got


def compare(host, rows):
    """The differences, one a line."""
    bad = [f"{pid} is not described" for pid in rows if pid not in host.procs]
    for pid, p in host.procs.items():
        want, got = described(host, p), rows.get(pid)
        if not got:
            bad.append(f"{pid} is not seen")
            continue
        bad += [f"{pid} {k}: described {want[k]!r}, seen {got[k]!r}"
                for k in want if not same(host, p, k, want[k], got[k])]
    return bad


def compare_args(host, rows):
    bad = []
    for pid, p in host.procs.items():
        want = p.cmdline.rstrip(b"\0").replace(b"\0", b" ")
        if not want.isascii() or not want.decode().isprintable() or not want:
            continue
        got = rows[pid]["args"] if pid in rows else ""
        if got != want.decode().rstrip():
            bad.append(f"{pid} args: described {want!r}, seen {got!r}")
    return bad


def check(inroot, files):
    """The differences in one tree."""
    top = tempfile.mkdtemp(dir=os.environ.get("TMPDIR", "/dev/shm" if
                                              os.access("/dev/shm", os.W_OK)
                                              else None))
    try:
        host = hostfile.load(files)
        mktree.build(top + "/tree", host, time.time())
        rows = ps(inroot, top + "/tree")
        return compare(host, rows) + compare_args(host, rows)
    finally:
        shutil.rmtree(top)


def main():
    inroot = sys.argv[1]
    cases = []
    for host in sorted(glob.glob(f"{HERE}/*.host")):
        cases.append([host])
        stem = host[:-len(".host")]
        cases += [[host, more] for kind in hostfile.ADDITIONS
                  for more in sorted(glob.glob(f"{stem}+*.{kind}"))]
    print(f"1..{len(cases)}")
    failed = False
    for i, files in enumerate(cases, 1):
        name = os.path.basename(files[-1])
        try:
            bad = check(inroot, files)
        except Skip as e:
            print(f"ok {i} - {name} # SKIP {e}")
            return SKIP
        except (hostfile.HostError, AssertionError) as e:
            bad = [str(e)]
        print(f"{'not ok' if bad else 'ok'} {i} - {name}")
        for line in bad[:10]:
            print(f"# {line}")
        failed |= bool(bad)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
