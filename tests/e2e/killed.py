#!/usr/bin/python3
# timeout: 300
"""kill -9 of stray at random moments of what it does with recorded runs.

As many as there is time for: STRAY_KILLS (200) in STRAY_KILLS_SECONDS (60), some at a time, each
with a state directory of its own; STRAY_KILLS_SEED says which.  Afterwards each time: what was
announced is in the journal, the chain holds or a torn tail is named, the next stray goes on, and
nothing is stopped that nobody stopped on purpose: who was to be killed a moment later goes on.
"""
import contextlib
import os
import random
import signal
import subprocess
import threading
import time

from e2e import STRAY, Made, alive, main, start_of, until
from recorded import frozen, state

KILLS = int(os.environ.get("STRAY_KILLS", "200"))
SECONDS = int(os.environ.get("STRAY_KILLS_SECONDS", "60"))
ROUND_S = 30  # what mkproc makes lives for a minute
SEED = int(os.environ.get("STRAY_KILLS_SEED", "0")) or random.randrange(1 << 30)
WORKERS = 2 * (os.cpu_count() or 1)  # half of the time is spent waiting
FIRST_S = 0.2  # what a command is taken to last until one was seen to end


class Count:
    """What all workers have done."""

    def __init__(self):
        self.lock = threading.Lock()
        self.killed = self.healed = 0
        self.began = time.monotonic()

    def add(self, what):
        with self.lock:
            setattr(self, what, getattr(self, what) + 1)

    def seconds(self):
        return time.monotonic() - self.began

    def is_enough(self):
        return self.killed >= KILLS or (self.killed and self.seconds() >= SECONDS)


class Killer:
    """Of one worker: its choices follow from the seed."""

    def __init__(self, worker, count):
        self.choice = random.Random(f"{SEED} {worker}")
        self.count = count
        self.lasts = {}  # how long each command does, as last seen
        self.s = None

    def __call__(self, *args):
        """Runs stray and kills it at some moment.  Its exit status, None: it was killed first;
        and what it had said until then."""
        began = time.monotonic()
        with subprocess.Popen([STRAY, *args, "--state-dir", self.s.path], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as p:
            with contextlib.suppress(subprocess.TimeoutExpired):
                p.wait(self.choice.random() * self.lasts.get(args[0], FIRST_S))
            p.kill()
            said = p.stdout.read()
        if p.returncode == -signal.SIGKILL:
            self.count.add("killed")
            return None, said
        self.lasts[args[0]] = time.monotonic() - began
        return p.returncode, said


def has(s, run, event, **members):
    return any(all(e.get(k) == v for k, v in members.items()) for e in s.events(run, event))


def note(s, kill, n, _):
    status, _said = kill("note", "r", f"note {n}")
    assert status is None or (status == 0 and has(s, "r", "note", text=f"note {n}"))


def check(s, kill, n, _):
    status, said = kill("check", "r", "--action", f"action {n}")
    if status == 0 or said:
        assert has(s, "r", "action_accepted", action=f"action {n}"), (status, said)


def adopt(s, kill, n, made):
    status, said = kill("adopt", str(made["leader"]), "--id", f"a{n}")
    if status == 0 or said:
        assert has(s, f"a{n}", "adopted"), (status, said)
        assert s.heads(f"a{n}"), "announced, and not in the ledger"


def freeze(s, kill, n, made):
    """The freeze may be killed; the thaw that undoes it is left alone."""
    before = len(s.events("r", "frozen"))
    status, said = kill("freeze", "run:r")
    if status == 0 and said:
        assert len(s.events("r", "frozen")) == before + 1, said
    stopped = [p for p in (made["leader"], *made.all("member")) if frozen(p)]
    if stopped:
        assert has(s, "r", "signal_intent", signal="STOP"), "a signal without its intent"
    s("thaw", "run:r")
    assert not any(map(frozen, (made["leader"], *made.all("member"))))


def runs_or_is_dead(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return not frozen(pid)
    return True


def end(s, kill, n, made):
    """A run of its own that ignores TERM: TERM, a short grace, STOP, KILL."""
    with Made("ignore-term") as victim:
        child = victim["child"]
        run = f"e{n}"
        s("adopt", child, "--id", run)
        status, said = kill("end", f"run:{run}", "-k", kill.choice.choice(("0", "0.02", "1")))
        if not alive(child):
            assert has(s, run, "signal_intent", signal="KILL"), "a death that nobody announced"
        elif has(s, run, "signal_intent", signal="STOP"):  # it goes on, or its KILL was sent
            until(lambda: runs_or_is_dead(child))
            kill.count.add("healed")
        else:
            assert not frozen(child), "a signal without its intent"
        if status == 0:
            assert not alive(child) and has(s, run, "run_closed", state="ended"), said
        s("end", f"run:{run}", "-k", "0.02")
        assert not alive(child)
        assert s.last(run, "run_closed")["state"] == "ended"
        s("verify", run)


ACTS = (note, check, adopt, freeze, end, end)


def one_round(kill):
    """With a run of its own, for a while."""
    with state() as s, Made("group", 2) as made:
        kill.s = s
        until_s = time.monotonic() + ROUND_S
        identities = {p: start_of(p) for p in (made["leader"], *made.all("member"))}
        s("adopt", f"pgid:{made['leader']}", "--id", "r")
        n = 0
        while not kill.count.is_enough() and time.monotonic() < until_s:
            n += 1
            kill.choice.choice(ACTS)(s, kill, n, made)
            s("note", "r", f"after {n}")
            assert has(s, "r", "note", text=f"after {n}")
            if n % 5 == 0:
                s("verify")
        s("verify")
        assert {p: start_of(p) for p in identities} == identities
        assert not any(map(frozen, identities))
        s("runs")
        s("end", "run:r", "-k", "1")
        s("verify")


def work(worker, count, failures):
    kill = Killer(worker, count)
    try:
        while not failures and not count.is_enough():
            one_round(kill)
    except BaseException as e:  # told by the main thread
        failures.append(e)


def whatever_is_killed_nothing_that_was_announced_is_missing():
    print(f"# STRAY_KILLS_SEED={SEED}", flush=True)
    count, failures = Count(), []
    workers = [threading.Thread(target=work, args=(i, count, failures)) for i in range(WORKERS)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    print(f"# {count.killed} killed in {count.seconds():.0f} s, {count.healed} of which had "
          "stopped what goes on again", flush=True)
    if failures:
        raise failures[0]
    assert count.killed >= 10, "too few were killed: this host is too slow"


main([whatever_is_killed_nothing_that_was_announced_is_missing])
