#!/usr/bin/python3
"""stray export: one document of a recorded run, from what was recorded alone."""
import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile

from e2e import TOP, Code, Skip, main, stray

try:
    import jsonschema
except ImportError:
    jsonschema = None

OPERATOR = {"uid": 0, "login_uid": 1000, "sudo_user": None, "tty": "pts/2"}
ROOT = {"pid": 4102, "start_ticks": 879000}
RECORD = {"schema": "stray.record/1", "how": "adopted", "target": "pgid:4102", "root": ROOT,
          "args": ["agent-runner"], "exe": "/usr/bin/agent-runner", "host": "web-01", "pgid": 4102,
          "recorded_at": "2026-07-24T14:00:02.000000Z", "requested_by": {"operator": OPERATOR}}


class Run:
    """A run's directory as a stray elsewhere has left it; sealed here, by other code than stray's."""

    def __init__(self, state, name):
        self.state, self.name = state, name
        self.dir = os.path.join(state, "runs", name)
        os.makedirs(self.dir, 0o700)
        self.journal = os.path.join(self.dir, "journal.jsonl")
        self.prev, self.seq = "0" * 64, 0
        text = json.dumps(dict(RECORD, run_id=name))
        with open(os.path.join(self.dir, "run.json"), "w", encoding="utf-8") as f:
            f.write(text)
        self.event("run_opened", how="adopted", operator=OPERATOR,
                   record_sha256=hashlib.sha256(text.encode()).hexdigest())
        self.event("adopted", operator=OPERATOR, target="pgid:4102", members=1)
        self.event("started", process=ROOT, comm="agent-runner", args=["agent-runner"], ppid=1,
                   pgid=4102, sid=4102, evidence=["chosen"], classes=["left"],
                   started_at="2026-07-24T13:59:50.000000Z", uid=1000, user="op")

    def event(self, name, **members):
        self.seq += 1
        line = json.dumps({"schema": "stray.journal/1", "seq": self.seq,
                           "at": f"2026-07-24T14:00:{self.seq:02}.000000Z",
                           "mono_ns": 90684000000000 + self.seq * 10**9, "run": self.name,
                           "event": name, "known": "seen", **members, "prev": self.prev},
                          separators=(",", ":"))
        self.prev = hashlib.sha256(line.encode()).hexdigest()
        with open(self.journal, "a", encoding="utf-8") as f:
            f.write(line[:-1] + ',"hash":"' + self.prev + '"}\n')

    def act(self, name, **files):
        folder = os.path.join(self.state, "acts", name)
        os.makedirs(folder, 0o700)
        self.event("signal_intent", act=name, operator=OPERATOR, signal="TERM", unit="group",
                   number=4102, to=[ROOT], not_aimed=[])
        for what, text in files.items():
            path = f"acts/{name}/{what}.json"
            with open(os.path.join(self.state, path), "w", encoding="utf-8") as f:
                f.write(text)
            self.event("snapshot", act=name, what=what, file=path,
                       sha256=hashlib.sha256(text.encode()).hexdigest())
        self.event("signal_sent", act=name, signal="TERM", to=[dict(ROOT, result="sent")])
        self.event("survivor", act=name, process=ROOT, why="stopped")
        self.event("run_closed", state="survived", alive=1)


@contextlib.contextmanager
def recorded(*names):
    with tempfile.TemporaryDirectory() as d:
        state = os.path.join(d, "state")
        os.mkdir(state, 0o700)
        runs = [Run(state, n) for n in names]
        for r in runs[:1]:
            r.act("20260724T140005Z-4102", before='{"schema":"stray.snapshot/1"}',
                  diff='{"added":[],"removed":[],"changed":[],"restarted":[]}')
        yield state, *runs


def export(state, *args, status=0):
    done = stray("export", "--state-dir", state, *args, status=status)
    return done.stdout if status == 0 else done.stderr


def without_time(text):
    return re.sub(r"Written: \S+|\"exported_at\": \"[^\"]*\"", "", text)


def a_run_is_told_in_markdown_by_default():
    with recorded("run-1") as (state, _):
        text = export(state, "run-1")
        assert text.startswith("# Incident record: run run-1\n"), text[:200]
        assert without_time(text) == without_time(export(state, "--format", "md", "run-1"))
        for word in ["4102@879000 agent-runner", "**SURVIVED**", "**unexplained**", "pgid:4102",
                     "it is stopped: the signal waits", "nobody ever watched this run"]:
            assert word in text, f"no '{word}' in:\n{text}"


def fits(value):
    """Value is what doc/schemas describes."""
    if not jsonschema:
        raise Skip("no python3-jsonschema")
    with open(os.path.join(TOP, "doc/schemas/stray.export-1.json"), encoding="utf-8") as f:
        schema = json.load(f)
    for e in jsonschema.Draft202012Validator(schema).iter_errors(value):
        raise AssertionError(f"{'/'.join(map(str, e.absolute_path))}: {e.message[:300]}")


def json_is_what_its_schema_describes():
    with recorded("run-1") as (state, r):
        r.event("note", operator=OPERATOR, process=ROOT, text="a build")
        r.event("anchored", to="syslog", anchored_seq=1, anchored_head=r.prev)
        out = json.loads(export(state, "--format=json", "run-1"))
        assert out["schema"] == "stray.export/1" and out["run_id"] == "run-1", out
        assert out["leftovers"][0]["explanations"] == [r.seq - 1], out["leftovers"]
        assert out["record"]["target"] == "pgid:4102", out["record"]
        assert out == dict(json.loads(export(state, "--json", "run-1")),
                           exported_at=out["exported_at"])
        fits(out)


def the_lines_of_its_timeline_are_those_of_the_journal():
    with recorded("run-1") as (state, r):
        export(state, "--format", "json", "run-1", "-o", os.path.join(state, "export.json"))
        with open(os.path.join(TOP, "doc/FORMATS.md"), encoding="utf-8") as f:
            sed = re.search(r"^    (sed .* export\.json) > journal\.jsonl$", f.read(), re.M)[1]
        lines = subprocess.run(["sh", "-c", sed], cwd=state, check=True, capture_output=True)
        with open(r.journal, "rb") as f:
            assert lines.stdout == f.read()


def a_file_is_made_new_and_for_its_owner_alone():
    with recorded("run-1") as (state, _):
        path = os.path.join(state, "incident.md")
        assert export(state, "run-1", "-o", path) == ""
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        with open(path, encoding="utf-8") as f:
            text = f.read()
        assert "nothing is overwritten" in export(state, "run-1", "-o", path, "--format=json", status=2)
        with open(path, encoding="utf-8") as f:
            assert f.read() == text
        other = os.path.join(state, "other.md")
        export(state, "run-9", "-o", other, status=2)
        assert not os.path.exists(other)


def without_a_run_those_that_are_recorded_are_named():
    with recorded("run-1", "run-2") as (state, *_):
        said = export(state, status=2)
        assert said == "stray: export: which RUN?\n  run-1\n  run-2\n", said
    with recorded() as (state,):
        assert "no run is recorded" in export(state, status=2)


def the_beginning_of_an_id_will_do():
    with recorded("run-12", "run-13", "run-1") as (state, *_):
        assert "run run-12\n" in export(state, "run-12")
        assert "run run-13\n" in export(state, "run:run-13")
        assert "run run-1\n" in export(state, "run-1")
        assert "which one" in export(state, "run-", status=2)
        assert "no such run" in export(state, "run-2", status=2)


def what_is_asked_wrongly_is_trouble():
    with recorded("run-1") as (state, _):
        assert "md or json" in export(state, "--format=pdf", "run-1", status=2)
        assert "one RUN" in export(state, "run-1", "run-1", status=2)
        assert "nothing was recorded yet" in export(os.path.join(state, "none"), "run-1", status=2)


def a_copy_tells_the_same_and_nothing_is_written_to_it():
    with recorded("run-1") as (state, _):
        copy = state + "-copy"
        shutil.copytree(state, copy)
        before = sorted((p, sorted(f)) for p, _, f in os.walk(copy))
        assert without_time(export(copy, "run-1")) == without_time(export(state, "run-1"))
        assert without_time(export(copy, "--json", "run-1")) == without_time(
            export(state, "--json", "run-1"))
        assert before == sorted((p, sorted(f)) for p, _, f in os.walk(copy))


def a_journal_that_does_not_hold_is_told_up_to_its_fault():
    with recorded("run-1") as (state, r):
        with open(r.journal, encoding="utf-8") as f:
            lines = f.read().splitlines(True)
        with open(r.journal, "w", encoding="utf-8") as f:
            f.writelines(lines[:4] + lines[5:])
        done = stray("export", "--state-dir", state, "run-1", status=0)
        assert done.stdout.startswith("# THE JOURNAL OF THIS RUN DOES NOT HOLD\n"), done.stdout
        assert "before line 5 1 event is missing" in done.stdout, done.stdout
        assert "SURVIVED" not in done.stdout, done.stdout
        assert "DOES NOT HOLD" in done.stderr and done.stderr.count("\n") == 1, done.stderr


def its_commands_verify_it_without_stray():
    with recorded("run-1") as (state, r):
        text = export(state, "run-1")
        record = re.findall(r"^    (echo .*sha256sum -c)$", text, re.M)
        files = re.findall(r"^    ([0-9a-f]{64}  acts/\S+)$", text, re.M)
        assert len(record) == 1 and len(files) == 2, text
        check = f"{record[0]} && printf '%s\\n' {' '.join(repr(f) for f in files)} | sha256sum -c"
        subprocess.run(["sh", "-c", check], cwd=state, check=True, stdout=subprocess.DEVNULL)
        assert f"--head={r.prev} run-1" in text, text


def what_is_no_journal_is_trouble():
    with recorded("run-1", "run-2") as (state, one, two):
        os.unlink(one.journal)
        os.symlink(two.journal, one.journal)
        assert "journal.jsonl" in export(state, "run-1", status=2)
        os.unlink(one.journal)
        os.mkfifo(one.journal)
        assert "not a regular file" in export(state, "run-1", status=2)


IGNORER = "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('READY', flush=True); time.sleep(60)"


def what_was_adopted_and_ended_is_told_from_start_to_end():
    with tempfile.TemporaryDirectory() as d, Code(IGNORER) as made:
        state = os.path.join(d, "state")
        for args in [("adopt", "--id=inc", "--approved-by=change 4711", f"pgid:{made.pid}"),
                     ("end", "-k", "0.2", "run:inc"), ("note", "inc", "a drill"),
                     ("verify", "inc")]:
            stray(*args, "--state-dir", state, status=0)
        text = export(state, "inc")
        who = f"{made.pid}@{made.kept[made.pid]}"
        for word in ["**State: ended", "change 4711", f"Named as the run: pgid:{made.pid}",
                     "intended: TERM to", "intended: KILL to", f"{who} ended by signal KILL",
                     "of every member that was known the end was recorded", "a drill",
                     "the chain holds", "diff.json, as the journal says"]:
            assert word in text, f"no '{word}' in:\n{text}"
        fits(json.loads(export(state, "--json", "inc")))


def the_commands_of_reconstruct_md_are_those_that_there_are():
    with open(os.path.join(TOP, "doc/reconstruct.md"), encoding="utf-8") as f:
        lines = re.findall(r"^ +stray ([a-z]+)(.*)$", f.read(), re.M)
    assert len(lines) > 12, lines
    for command, rest in lines:
        helped = stray(command, "--help", status=0).stdout
        for option in re.findall(r"(?<= )--?[a-z][a-z-]*", re.sub(r"'.*?'", "", rest)):
            assert re.search(rf"{option}\b", helped), f"stray {command}: no {option}"


main([
    a_run_is_told_in_markdown_by_default,
    json_is_what_its_schema_describes,
    the_lines_of_its_timeline_are_those_of_the_journal,
    a_file_is_made_new_and_for_its_owner_alone,
    without_a_run_those_that_are_recorded_are_named,
    the_beginning_of_an_id_will_do,
    what_is_asked_wrongly_is_trouble,
    a_copy_tells_the_same_and_nothing_is_written_to_it,
    a_journal_that_does_not_hold_is_told_up_to_its_fault,
    its_commands_verify_it_without_stray,
    what_is_no_journal_is_trouble,
    what_was_adopted_and_ended_is_told_from_start_to_end,
    the_commands_of_reconstruct_md_are_those_that_there_are,
])
