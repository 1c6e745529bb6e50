#!/usr/bin/python3
# timeout: 300
"""A storm of processes that ignore TERM and are others all the time: at the deadline all are ended."""
import os

from e2e import MKPROC, STRAY, Skip, for_everybody, main
from storms import FORKS_MAX, below_no_cgroup, end_storm

TRIES = 20
PROCESSES = 100
MIDWAY = 40
LIVE_US = 50000  # some 2,000 forks a second: others use this host, too
ORDER = [("deadline_expired", {}), ("snapshot", {"what": "before"}),
         ("signal_intent", {"signal": "TERM"}), ("signal_intent", {"signal": "KILL"}),
         ("run_closed", {"state": "ended"})]


def place(events, name, members):
    return next(i for i, e in enumerate(events) if e["event"] == name and
                all(e.get(k) == v for k, v in members.items()))


def none_outlives_it(unit, prefix=()):
    mkproc = for_everybody(MKPROC)
    for n in range(TRIES):
        done = end_storm(STRAY, mkproc, "storm-light", PROCESSES, LIVE_US, 0.6, prefix)
        told = (n, done.status, done.forks, done.marked, done.result["survivors"])
        assert done.result["containment"] == unit, done.result["containment"]
        assert PROCESSES < done.forks < FORKS_MAX, told  # it was still at it
        assert done.status == 124 and not done.result["survivors"], told
        assert not done.result["added_processes"] and not done.marked, told
        assert done.free_ns and done.free_ns <= done.over_ns, told
        assert done.beat_ns > done.deadline_ns - 100_000_000, told
        assert done.verified == 0, told
        order = [place(done.events, *step) for step in ORDER]
        assert order == sorted(order), [e["event"] for e in done.events]
        # each of the first, its successors, and for a fourth of these who goes between; some
        # are counted by the storm and not made yet
        made = PROCESSES + done.forks * 5 // 4
        counts = done.result["counts"]
        assert counts["forked"] + counts.get("events_lost", 0) > made - MIDWAY, (counts, made)
        if unit == "cgroup":  # nobody is at work from then on
            halted = done.events[place(done.events, "frozen", {})]
            assert done.deadline_ns <= halted["happened_mono_ns"] < halted["mono_ns"], halted
            assert done.beat_ns < halted["mono_ns"], told


def none_outlives_a_run_in_a_cgroup():
    if os.geteuid():
        raise Skip("needs root")
    none_outlives_it("cgroup")


def none_outlives_a_run_below_a_subreaper():
    prefix = below_no_cgroup()
    if prefix is None and os.geteuid() == 0:
        raise Skip("no cgroup file system to be hidden")
    none_outlives_it("subreaper", prefix or ())


main([
    none_outlives_a_run_in_a_cgroup,
    none_outlives_a_run_below_a_subreaper,
])
