"""A storm of mkproc's that a run ends at its deadline, watched from beside it."""
import contextlib
import fcntl
import json
import os
import struct
import subprocess
import tempfile
import threading
import time
import types

FORKS_MAX = 8000  # then a storm is over by itself (tests/helpers/mkproc_storm.h)


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def below_no_cgroup():
    """What puts a command where no cgroup can be made; None: there is none, or that cannot be."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        mounts = [line.split()[4] for line in f if " - cgroup2 " in line]
    if not mounts or os.geteuid():
        return None
    return ["unshare", "--mount", "sh", "-c",
            f'mount -o remount,bind,ro {mounts[0]} && exec "$@"', "sh"]


def marked(mark):
    """Who is alive and has that in the environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as f:
            if mark in f.read():
                found.append(int(pid))
    return found


def end_storm(stray, mkproc, shape, processes, live_us, deadline, prefix=(), life=20, user=None):
    """
    Starts it under `stray run -k 0` and waits for the end of both.  free_ns: when the last of the
    storm was dead, by a lock that they all held; beat_ns: when one of them was last at work, by
    their own word.  marked: who carries the run's mark when stray has ended.
    """
    with tempfile.TemporaryDirectory() as d:
        if user is not None:
            os.chown(d, user, user)
        page, result = os.path.join(d, "page"), os.path.join(d, "result")
        run_id = f"storm-{os.getpid()}"  # another test may have one under way
        kw = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        argv = [*prefix, stray, "run", "-q", "--id", run_id, "--state-dir", os.path.join(d, "state"),
                "-t", str(deadline), "-k", "0", f"--json={result}", "--", mkproc, "--life",
                str(life), shape, str(processes), str(live_us), page]
        done = types.SimpleNamespace()
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              **kw) as run:
            for line in run.stdout:
                if line.startswith("READY"):
                    break
            with open(page, "r+b") as f:
                free = []

                def wait_for_lock():
                    fcntl.flock(f, fcntl.LOCK_EX)
                    free.append(boot_ns())

                waiter = threading.Thread(target=wait_for_lock, daemon=True)
                waiter.start()
                done.status = run.wait(life + 40)
                done.over_ns = boot_ns()
                done.marked = marked(f"STRAY_RUN_ID={run_id}\0".encode())
                waiter.join(life)
                f.seek(0)
                done.beat_ns, done.forks = struct.unpack("QI", f.read(12))
        done.free_ns = free[0] if free else None
        with open(result, encoding="utf-8") as f:
            done.result = json.load(f)
        with open(os.path.join(d, "state/runs", run_id, "journal.jsonl"), encoding="utf-8") as f:
            done.events = [json.loads(line) for line in f]
        done.verified = subprocess.run([stray, "verify", run_id, "--state-dir",
                                        os.path.join(d, "state")], stdout=subprocess.DEVNULL,
                                       check=False, **kw).returncode
        done.deadline_ns = next(e["over_mono_ns"] for e in done.events
                                if e["event"] == "deadline_expired")
        return done
