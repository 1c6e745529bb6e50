#!/usr/bin/python3
# timeout: 300
"""kill -9 of stray at random moments of what it does with recorded runs.

As many as there is time for: STRAY_KILLS (200) in STRAY_KILLS_SECONDS (30); STRAY_KILLS_SEED
says which.  Afterwards each time: what was announced is
in the journal, the chain holds or a torn tail is named, the next stray goes on, and nothing is
stopped that nobody stopped on purpose, but for who was to be killed a moment later: the journal
names it, and the next end or thaw sets that right.
"""
import contextlib
import os
import random
import signal
import subprocess
import time

from e2e import STRAY, Made, alive, main, start_of
from recorded import frozen, state

KILLS = int(os.environ.get("STRAY_KILLS", "200"))
SECONDS = int(os.environ.get("STRAY_KILLS_SECONDS", "30"))
ROUND_S = 30  # what mkproc makes lives for a minute
SEED = int(os.environ.get("STRAY_KILLS_SEED", "0")) or random.randrange(1 << 30)
CHOICE = random.Random(SEED)
LATEST_S = 0.15  # most commands are over by then


class Killer:
    def __init__(self, s):
        self.s = s
        self.killed = self.ended = 0

    def __call__(self, *args):
        """Runs stray and kills it at some moment.  Its exit status, None: it was killed first;
        and what it had said until then."""
        with subprocess.Popen([STRAY, *args, "--state-dir", self.s.path], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as p:
            with contextlib.suppress(subprocess.TimeoutExpired):
                p.wait(CHOICE.random() * LATEST_S)
            p.kill()
            said = p.stdout.read()
        if p.returncode == -signal.SIGKILL:
            self.killed += 1
            return None, said
        self.ended += 1
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


def end(s, kill, n, made):
    """A run of its own that ignores TERM: TERM, a short grace, STOP, KILL."""
    with Made("ignore-term") as victim:
        child = victim["child"]
        run = f"e{n}"
        s("adopt", child, "--id", run)
        status, said = kill("end", f"run:{run}", "-k", CHOICE.choice(("0", "0.02", "1")))
        if not alive(child):
            assert has(s, run, "signal_intent", signal="KILL"), "a death that nobody announced"
        elif frozen(child):  # between the STOP and the KILL; the next stray finds it named
            assert has(s, run, "signal_intent", signal="STOP"), "a signal without its intent"
            left_stopped.append(run)
            if CHOICE.random() < 0.5:
                s("thaw", f"run:{run}")
                assert not frozen(child)
        if status == 0:
            assert not alive(child) and has(s, run, "run_closed", state="ended"), said
        s("end", f"run:{run}", "-k", "0.02")
        assert not alive(child)
        assert s.last(run, "run_closed")["state"] == "ended"
        s("verify", run)


left_stopped = []
ACTS = (note, check, adopt, freeze, end, end)


def one_round(kills, until_s):
    """Kills until so many were killed, or time is up; returns how many were."""
    with state() as s, Made("group", 2) as made:
        identities = {p: start_of(p) for p in (made["leader"], *made.all("member"))}
        s("adopt", f"pgid:{made['leader']}", "--id", "r")
        kill = Killer(s)
        n = 0
        while kill.killed < kills and time.monotonic() < until_s:
            n += 1
            CHOICE.choice(ACTS)(s, kill, n, made)
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
        return kill.killed


def whatever_is_killed_nothing_that_was_announced_is_missing():
    print(f"# STRAY_KILLS_SEED={SEED}", flush=True)
    started = time.monotonic()
    killed = 0
    while killed < KILLS and (killed == 0 or time.monotonic() - started < SECONDS):
        killed += one_round(KILLS - killed, time.monotonic() + ROUND_S)
    print(f"# {killed} killed in {time.monotonic() - started:.0f} s, {len(left_stopped)} of which "
          "left what they had stopped on the way to a KILL", flush=True)
    assert killed >= 10, "too few were killed: LATEST_S is too long here"


main([whatever_is_killed_nothing_that_was_announced_is_missing])
