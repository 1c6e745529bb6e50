#!/usr/bin/env python3
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
           "ruid", "nlwp", "ni", "luid", "ignored", "etimes", "comm")


class Skip(Exception):
    pass


def ps(inroot, tree, columns):
    """pid to the fields of one ps line, the last one with its blanks."""
    wide = [f"{c}:64" if c == "comm" else c for c in columns]
    out = subprocess.run(
        [inroot, tree, "ps", "-e", "-ww"] +
        [w for c in wide for w in ("-o", c + "=")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    if out.returncode == SKIP:
        raise Skip(out.stderr.decode().strip())
    if out.returncode:
        raise AssertionError(f"ps: {out.returncode} {out.stderr.decode()}")
    rows = {}
    for line in out.stdout.decode("utf-8", "replace").splitlines():
        fields = line.split(None, len(columns) - 1)
        rows[int(fields[0])] = dict(zip(columns, fields))
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


def same(key, want, got, console):
    if key == "etimes":
        return abs(int(want) - int(got)) <= 1
    if key == "tty" and want.startswith("tty"):
        # ps names it only where this machine has the device, too.
        return got == want or (got == "?" and not console)
    return want == got


def compare(host, rows):
    """The differences, one a line."""
    bad = [f"{pid} is not described" for pid in rows if pid not in host.procs]
    console = os.path.exists("/dev/tty1")
    for pid, p in host.procs.items():
        want, got = described(host, p), rows.get(pid)
        if not got:
            bad.append(f"{pid} is not seen")
            continue
        bad += [f"{pid} {k}: described {want[k]!r}, seen {got[k]!r}"
                for k in COLUMNS if not same(k, want[k], got[k], console)]
    return bad


def compare_args(host, rows):
    bad = []
    for pid, p in host.procs.items():
        want = p.cmdline.rstrip(b"\0").replace(b"\0", b" ")
        if not want.isascii() or not want.decode().isprintable() or not want:
            continue
        got = rows[pid]["args"].rstrip()
        if got != want.decode().rstrip():
            bad.append(f"{pid} args: described {want!r}, seen {got!r}")
    return bad


def check(inroot, files):
    """The differences in one tree."""
    top = tempfile.mkdtemp()
    try:
        host = hostfile.load(files)
        mktree.build(top + "/tree", host, time.time())
        bad = compare(host, ps(inroot, top + "/tree", COLUMNS))
        bad += compare_args(host, ps(inroot, top + "/tree", ("pid", "args")))
        return bad
    finally:
        shutil.rmtree(top)


def main():
    inroot = sys.argv[1]
    cases = []
    for host in sorted(glob.glob(f"{HERE}/*.host")):
        cases.append([host])
        stem = host[:-len(".host")]
        cases += [[host, more]
                  for more in sorted(glob.glob(f"{stem}+*.leftover"))]
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
        for line in bad[:20]:
            print(f"# {line}")
        failed |= bool(bad)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
