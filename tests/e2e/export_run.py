#!/usr/bin/python3
# timeout: 200
"""The export of a command that was run tells what ran, how it was held, ended, and what got away."""
import json
import os
import re
import subprocess
import tempfile

from e2e import EXECED, STRAY, end_identity, main, until
from launched import Running, clean, run
from recorded import state


def export(s, name):
    """The document, and the same as JSON."""
    return s("export", name).stdout, json.loads(s("export", "--format=json", name).stdout)


def in_order(text, *parts):
    """Each of them is there, behind the one before."""
    at = 0
    for part in parts:
        found = re.compile(part).search(text, at)
        assert found, f"no {part!r} behind {text[max(0, at - 300):at]!r} in:\n{text}"
        at = found.end()


def chapter(text, title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.M | re.S)[1]


def a_run_that_was_ended_at_its_deadline():
    with state() as s:
        done = run(s, "--id=late", "-t", "0.6", "-k", "0.4", "--approved-by=the night shift",
                   status=124, sh="setsid sleep 60 & echo $!; trap '' TERM; sleep 61; sleep 61")
        text, data = export(s, "late")
        record = s.record("late")
        in_order(text, "Incident record: run late", r"\*\*State: ended", "What ran: sh -c setsid",
                 "the night shift", "How it ended: the deadline passed .*; the command ended by "
                 "signal KILL")
        told = chapter(text, "The run")
        assert "It was launched by stray." in told and "operator, not seen" not in told, told
        in_order(told, f"Held by: {record['containment']['kind']}", "What that cannot hold: ", "Deadline: ",
                 "grace 0.4", f"Launched by {record['front']['pid']}@",
                 f"held by {record['warden']['pid']}@", "Descriptors given: 0 /dev/null, 1 ",
                 "Who answers for it: the night shift", "SHA-256 [0-9a-f]{64}")
        root = f"{record['root']['pid']}@"
        in_order(chapter(text, "What was done"), "### Its end, by the stray that held it",
                 "the deadline passed", "before written: runs/late/before.json",
                 "intended: TERM to run", f"aimed at: {root}", "sent: TERM: ",
                 "intended: KILL to run", r"since the TERM: \d+ forked, \d+ executed, \d+ ended",
                 "sent: KILL: ", "after written: runs/late/after.json", "run closed: ended",
                 "What became of whom it aimed at", f"{root}.* by signal KILL",
                 "before: runs/late/before.json, as the journal says")
        pid = int(done.out)
        member = text[text.index(f"### {pid}@"):]
        in_order(member, "ended by signal TERM", r"Got away: \*\*detached\*\*", r"by: fork")
        assert "no comparison" not in text
        assert data["command_exited"] == [e["seq"] for e in s.events("late", "exited")
                                          if e["process"] == record["root"]][0]
        assert [a["act"] for a in data["acts"]] == ["end"], data["acts"]
        assert data["handed_off"] == data["detach_denied"] == data["runner_lost"] == []


def what_was_handed_off_and_who_was_refused_to_leave():
    with state() as s, tempfile.TemporaryDirectory() as d:
        os.symlink("/bin/sleep", os.path.join(d, "kubectl"))
        done = run(s, "--id=r", "--detach=deny", "-k0", status=123,
                   sh=f"{d}/kubectl 0.3; setsid sleep 0 2>/dev/null; sleep 60 & exit 0")
        events = done.result["coverage"]["sources"] != ["proc"]
        text, data = export(s, "r")
        away = chapter(text, "What got away")
        in_order(away, "Work that was handed off", r"kubectl 0\.3",
                 "is no member, and was not ended") if events else None
        assert len(data["handed_off"]) == (1 if events else 0), data["handed_off"]
        if data["detach_denied"]:
            in_order(away, "Refused to detach", r"\d+@\d+ .*setsid")
        in_order(text, "How it ended: the command ended with status 0", "1 alive as last known")
        assert len(data["leftovers"]) == 1 and data["leftovers"][0]["unexplained"], data
        clean(s, "r")
        text, data = export(s, "r")
        assert data["state"] == "ended" and len(data["acts"]) == 1, data["acts"]
        assert "### Act " in text and "by the stray that held it" not in text


def a_leftover_that_a_rule_kept_is_explained_by_it():
    with state() as s:
        run(s, "--id=r", "--leftover=end", "--keep=args=sleep 60", status=0,
            sh=f"sleep 60 & {EXECED}; sleep 61 & {EXECED}")
        text, data = export(s, "r")
        kept = [m for m in data["leftovers"] if m["args"] == ["sleep", "60"]][0]
        ended = [m for m in data["leftovers"] if m["args"] == ["sleep", "61"]][0]
        assert not kept["unexplained"] and kept["alive_as_last_known"], kept
        assert ended["unexplained"], ended
        assert not ended["alive_as_last_known"], ended
        assert kept["uid"] == os.getuid() and kept["cwd"] == os.getcwd(), kept
        in_order(text, "How it ended: the command ended with status 0; what it left was to be ended",
                 r"### \d+@\d+ sleep 60", "ALIVE", "kept by the rule args=sleep 60")
        assert "1 of these are unexplained" in text or "1 of these is unexplained" in text, text
        clean(s, "r")


def who_of_the_two_that_held_it_was_killed():
    with state() as s:
        for role in ("front", "warden"):
            with Running(s, f"--id={role}", "-k", "0.2", cmd=["sleep", "60"]) as at:
                until(lambda: os.path.exists(s.of(role)) and s.events(role, "execed"))
                who = s.record(role)[role]
                end_identity(who["pid"], who["start_ticks"])
                at.process.wait()
                until(lambda: s.events(role, "run_closed"))
            text, data = export(s, role)
            said = f"the {role} of the run, {who['pid']}@{who['start_ticks']}, was killed"
            in_order(text, "How it ended: " + said)
            in_order(chapter(text, "What was done"), "### Its end", said, "intended: TERM",
                     "sent: TERM", "run closed: ended")
            assert data["runner_lost"] == [s.last(role, "runner_lost")["seq"]]


def why_it_was_ended_is_said():
    with state() as s:
        with Running(s, "--id=r", sh="echo up; exec sleep 60", stdin=subprocess.PIPE) as at:
            at.process.stdout.readline()
            at.process.terminate()
            at.end(status=128 + 15)
        text, _ = export(s, "r")
        in_order(text, "How it ended: stray got the signal TERM; the command ended by signal TERM",
                 "the end of the run was asked for: stray got the signal TERM; grace 5")


def a_run_in_a_run_and_one_that_never_ran():
    with state() as s, tempfile.TemporaryDirectory() as d:
        broken = os.path.join(d, "broken")
        with open(broken, "w", encoding="utf-8") as f:
            f.write("#!/no/such/interpreter\n")
        os.chmod(broken, 0o755)
        run(s, "--id=outer", "--no-record", cmd=["true"], status=0)
        run(s, "--id=never", cmd=[broken], status=127)
        text, _ = export(s, "never")
        in_order(text, "How it ended: it never ran: ")
        run(s, "--id=outer", status=0,
            sh=f"{STRAY} run --state-dir {s.path} --id inner -- true")
        text, _ = export(s, "inner")
        in_order(chapter(text, "The run"), "In the run: outer")
        in_order(text, "How it ended: the command ended with status 0")


main([
    a_run_that_was_ended_at_its_deadline,
    what_was_handed_off_and_who_was_refused_to_leave,
    a_leftover_that_a_rule_kept_is_explained_by_it,
    who_of_the_two_that_held_it_was_killed,
    why_it_was_ended_is_said,
    a_run_in_a_run_and_one_that_never_ran,
])
