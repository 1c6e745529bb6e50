#!/usr/bin/python3
"""bench_view.py [PROCESSES [SECONDS [ROUNDS]]]: the live view beside htop.

Both refresh once a second in tmux, 100x30, in turns.  Keys are timed on a
terminal of our own: tmux would add its own delay.
"""
import fcntl
import os
import pty
import random
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

import measure

COLS, ROWS = 100, 30
KEYS = 300
DOWN, UP = b"\x1bOB", b"\x1bOA"
SETTLE_S = 2  # the first look at every process is not part of a refresh
LIMIT_S = 30


class Tmux:
    """A tmux of its own that runs args, until the block ends."""

    count = 0

    def __init__(self, args):
        Tmux.count += 1
        self.base = ["tmux", "-L", f"bench{os.getpid()}-{Tmux.count}", "-f", "/dev/null"]
        self.args = args

    def __call__(self, *args, check=True):
        return subprocess.run(self.base + list(args), check=check, capture_output=True,
                              text=True).stdout

    def __enter__(self):
        self("new-session", "-d", "-x", str(COLS), "-y", str(ROWS), "exec " + " ".join(self.args))
        return self

    def __exit__(self, *_):
        self("kill-server", check=False)

    def wait_for(self, text):
        end = time.monotonic() + LIMIT_S
        while text not in self("capture-pane", "-p"):
            if time.monotonic() > end:
                sys.exit(f"{self.args[0]}: no screen with '{text}' came")
            time.sleep(0.2)


def in_tmux(args, shows, keys, seconds):
    """CPU until SETTLE_S after the first screen, CPU a second from then on, peak kB."""
    with Tmux(args) as tmux:
        pid = int(tmux("display-message", "-p", "#{pane_pid}"))
        tmux.wait_for(shows)
        if keys:
            tmux("send-keys", keys)
        time.sleep(SETTLE_S)
        first, start = measure.cpu_seconds(pid), time.monotonic()
        time.sleep(seconds)
        last, end = measure.cpu_seconds(pid), time.monotonic()
        return first, (last - first) / (end - start), measure.peak_kb(pid)


def beside(what, keys, processes, seconds, rounds):
    ours, theirs = [], []
    for _ in range(rounds):
        with measure.many(processes):
            ours.append(in_tmux([measure.STRAY], "accounted for", keys, seconds))
            theirs.append(in_tmux(["htop", "-d", "10"], "PID", None, seconds))
    columns = (("CPU of the start", "s", 1, "-"), ("CPU of a second", "s", 1, "0.5"),
               ("peak memory", "MB", 1024, "1.5"))
    print(f" {what}:")
    for i, (name, unit, scale, wanted) in enumerate(columns):
        measure.ratio(name, measure.median(r[i] for r in ours) / scale,
                      measure.median(r[i] for r in theirs) / scale, unit, wanted)
    whole = [(r[0] + r[1] * seconds) for r in ours], [(r[0] + r[1] * seconds) for r in theirs]
    measure.ratio(f"CPU of the start and {seconds} s", measure.median(whole[0]),
                  measure.median(whole[1]), "s", "0.5")


def read_until(fd, marker, limit):
    """Reads what is drawn until marker is (None: for that long).  Seconds it took."""
    start, seen = time.monotonic(), b""
    while (left := start + limit - time.monotonic()) > 0:
        if not select.select([fd], [], [], left)[0]:
            break
        seen += os.read(fd, 65536)
        if marker and marker in seen:
            return time.monotonic() - start
    return None


def keys():
    """From a key sent to the cursor (">") drawn on another row, at any phase of a refresh."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.execv(measure.STRAY, [measure.STRAY])
    took = []
    try:
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
        if read_until(fd, b"accounted for", LIMIT_S) is None:
            print("  keys: no screen came")
            return
        read_until(fd, None, 1)
        os.write(fd, b"a")
        read_until(fd, None, 2)
        random.seed(1)
        for i in range(KEYS):
            read_until(fd, None, random.uniform(0.01, 0.1))
            os.write(fd, UP if i % 2 else DOWN)
            took.append(read_until(fd, b">", LIMIT_S) or LIMIT_S)
    finally:
        os.kill(pid, signal.SIGTERM)
        os.close(fd)
        os.waitpid(pid, 0)
    took = [1000 * s for s in took]
    print(f"  key to changed screen, {KEYS} keys       median {measure.median(took):.1f} ms, "
          f"95 % {measure.percentile(took, 0.95):.1f} ms, most {max(took):.1f} ms  (wanted <= 50)")


def main():
    given = sys.argv[1:]
    processes, seconds, rounds = map(int, given + ["10000", "10", "3"][len(given):])
    measure.alone()
    os.environ["LC_ALL"] = "C.UTF-8"
    state = tempfile.TemporaryDirectory()  # whoever runs this may have recorded runs
    os.environ["STRAY_STATE_DIR"] = state.name
    print(f"the live view beside htop -d 10: {processes} processes, {rounds} times {seconds} s")
    if not (measure.missing("htop") or measure.missing("tmux")):
        beside("as it starts", None, processes, seconds, rounds)
        beside("the whole host unfolded (a)", "a", processes, seconds, rounds)
    with measure.many(processes):
        keys()


main()
