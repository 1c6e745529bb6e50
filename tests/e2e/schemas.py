#!/usr/bin/python3
# timeout: 300
"""What the commands write is what doc/schemas describes, with no member more."""
import contextlib
import glob
import json
import os
import re
import subprocess
import tempfile

import launched
from e2e import (EXECED, TOP, Code, Made, Skip, as_root, end, end_identity, installed, main,
                 state_dir, stray, stray_json, until)
from recorded import state

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMAS = os.path.join(TOP, "doc", "schemas")


def load(name):
    with open(os.path.join(SCHEMAS, name), encoding="utf-8") as f:
        return json.load(f)


def file_of(schema):
    return schema.replace("/", "-") + ".json"


def validator(name):
    if not jsonschema:
        raise Skip("no python3-jsonschema")
    store = {f"file:///{os.path.basename(p)}": load(p)
             for p in glob.glob(os.path.join(SCHEMAS, "*.json"))}
    resolver = jsonschema.RefResolver(f"file:///{name}", load(name), store=store)
    return jsonschema.Draft202012Validator(load(name), resolver=resolver)


def fits(value):
    """Value is what the schema that it names describes."""
    v = validator(file_of(value["schema"]))
    for e in v.iter_errors(value):
        where = "/".join(map(str, e.absolute_path))
        raise AssertionError(f"{value['schema']} at {where}: {e.message[:300]}")
    return value


def run(*args, status=0, **kw):
    return fits(stray_json(*args, status=status, **kw))


def objects(value, path=()):
    """Each kind of object in it once: the way there, without the places in lists."""
    if isinstance(value, dict):
        yield path, value
    for key, v in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(v, (dict, list)):
            yield from objects(v, path + (key if isinstance(value, dict) else "[]",))


def is_closed(value):
    """A member that no schema names is an error, wherever it stands."""
    v = validator(file_of(value["schema"]))
    seen = set()
    for path, o in objects(value):
        if path in seen:
            continue
        seen.add(path)
        o["undocumented"] = 1
        assert not v.is_valid(value), f"{value['schema']}: {'/'.join(path)} takes any member"
        del o["undocumented"]


# Bytes that are no UTF-8 in its arguments, environment and (deleted) working directory.
HOSTILE = r"""
d = os.path.join(os.fsencode(sys.argv[1]), b"d\xff")
os.mkdir(d); os.chdir(d); os.rmdir(d)
print("READY", flush=True); sys.stdin.readline()
os.execve("/bin/sh", [b"sh", b"-c", b"read x #", b"\xfe\xff"],
          {b"AI_AGENT": b"1", b"API_TOKEN": b"secret", b"\xff_TOKEN": b"secret"})
"""
QUIET = {"stderr": subprocess.DEVNULL}  # sh complains of such a directory


def turn(made):
    """From here on what the environment and arguments of HOSTILE are is to be read."""
    made.process.stdin.write("\n")
    made.process.stdin.flush()
    until(lambda: not os.readlink(f"/proc/{made.pid}/exe").count("python"))


@contextlib.contextmanager
def hostile():
    with tempfile.TemporaryDirectory() as d, Code(HOSTILE, d, **QUIET) as made:
        turn(made)
        yield made


def the_schemas_are_schemas_and_each_is_in_formats():
    validator("stray.snapshot-1.json")
    names = set()
    for path in glob.glob(os.path.join(SCHEMAS, "*.json")):
        schema = load(path)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert os.path.basename(path) == file_of(schema["title"]), path
        assert schema["properties"]["schema"] == {"const": schema["title"]}, path
        names.add(schema["title"])
    with open(os.path.join(TOP, "doc", "FORMATS.md"), encoding="utf-8") as f:
        text = f.read()
    assert names == set(re.findall(r"stray\.[a-z]+/\d", text)), names
    for name in names:
        assert f"(schemas/{file_of(name)})" in text, f"FORMATS.md has no link to {name}"


def a_snapshot_of_this_host():
    with hostile() as made:
        out = run("snap")
    mine = [p for p in out["processes"] if p["pid"] == made.pid][0]
    assert "args_b64" in mine and "cwd_b64" in mine and "env_credentials_b64" in mine, mine
    is_closed(out)


def a_snapshot_by_who_may_not_read_it_all():
    as_root()
    out = run("snap", user=65534)
    assert out["coverage"]["unreadable"] or out["coverage"]["hidepid"], out["coverage"]
    is_closed(out)


def a_list_of_the_host_and_of_a_target():
    with hostile() as made:
        run("list")
        run("list", "--suspects")
        out = run("list", made.pid)
    assert out["run"] and out["sessions"]
    is_closed(out)


def why_of_a_target_and_of_each_suspect():
    with hostile() as made, Made("tcp") as tcp:
        is_closed(run("why", made.pid))
        assert run("why", tcp["client"])["items"][0]["reach"]["tcp"]
        run("why")


def waiting(word):
    return Code("print('READY', flush=True); sys.stdin.readline()", word)


def a_diff_with_something_of_each():
    with tempfile.TemporaryDirectory() as d, Code(HOSTILE, d, **QUIET) as changes:
        before, after = os.path.join(d, "before"), os.path.join(d, "after")
        with waiting("goes") as goes, waiting("again"):
            stray("snap", "-o", before, status=0)
        turn(changes)
        with waiting("comes") as comes, waiting("again"):
            stray("snap", "-o", after, status=0)
        out = run("diff", before, after, status=1)
    assert goes.pid in [p["pid"] for p in out["removed"]]
    assert comes.pid in [p["pid"] for p in out["added"]]
    assert "again" in [pair["after"]["args"][-1] for pair in out["restarted"]]
    fields = [c["fields"] for c in out["changed"] if c["pid"] == changes.pid][0]
    assert "args" in fields and "to_b64" in fields["args"], fields
    is_closed(out)


def ends_freezes_and_their_records():
    with state_dir() as d, Made("ignore-term") as dies, Made("ignore-term") as lives:
        args = ["--state-dir", d]
        is_closed(run("end", *args, "--dry-run", dies["child"]))
        out = run("end", *args, "-k", "0.2", dies["child"])
        sent = [s["name"] for s in out["signals"]]
        assert out["gone"] and sent[0] == "TERM" and sent[-1] == "KILL", out
        is_closed(out)
        assert run("freeze", *args, lives["child"])["frozen"]
        assert run("thaw", *args, lives["child"])["thawed"]
        records = glob.glob(f"{d}/acts/*/*.json")
        assert {os.path.basename(r) for r in records} == {"intent.json", "before.json",
                                                           "after.json", "diff.json"}, records
        for path in records:
            with open(path, encoding="utf-8") as f:
                is_closed(fits(json.load(f)))


def what_a_term_leaves_behind():
    with Made("term-reforks") as made:
        out, _ = end(made["child"], status=1)
        assert out["appeared"], out
    is_closed(fits(out))


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [fits(json.loads(line)) for line in f]


# A leader whose child goes on, after the leader too, and does at a line what changes it.
RUN = r"""
child = os.fork()
if child:
    print(child); print("READY", flush=True); sys.stdin.readline(); os._exit(0)
while os.getppid() == os.getsid(0):
    time.sleep(0.01)
os.setpgid(0, 0); os.setsid() if os.getpid() != os.getpgid(0) else None
os.execv("/bin/sleep", [b"sleep", b"61"])
"""


def a_recorded_run_and_its_journal():
    with state_dir() as d, Code(RUN) as made:
        args = ["--state-dir", d]
        is_closed(run("adopt", *args, "--id=one", "--expired-at=2100-01-01T00:00:00Z",
                      "--approved-by=me", f"sid:{made.pid}"))
        assert run("check", *args, "one")["may_act"]
        stray("note", *args, f"--process={made.pids[0]}", "one", "meant \u202e to stay", status=0)
        is_closed(run("list", *args, "run:one"))
        run("freeze", *args, "run:one")
        run("thaw", *args, "run:one")
        made.process.stdin.write("\n")
        made.process.stdin.flush()
        made.process.wait()
        until(lambda: "sleep" in os.readlink(f"/proc/{made.pids[0]}/exe"))
        assert not run("check", *args, "--action=push", "one", status=1)["may_act"]
        run("end", *args, "run:one")
        is_closed(run("runs", *args))
        is_closed(run("verify", *args))
        run("export", *args, "one")
        run("verify", *args, "--head", lines(f"{d}/runs/one/journal.jsonl")[-2]["hash"], "one")
        for path in glob.glob(f"{d}/runs/one/*.json"):
            with open(path, encoding="utf-8") as f:
                is_closed(fits(json.load(f)))
        assert len(glob.glob(f"{d}/runs/one/*.json")) == 4, os.listdir(f"{d}/runs/one")
        seen = {}
        for path in [f"{d}/runs/one/journal.jsonl", f"{d}/ledger.jsonl",
                     *glob.glob(f"{d}/acts/*/journal.jsonl")]:
            seen.update({event["event"]: event for event in lines(path)})
    for event in seen.values():
        is_closed(event)
    assert set(seen) >= {"run_opened", "adopted", "started", "note", "signal_intent",
                         "signal_sent", "exited", "reparented", "leftover", "run_closed",
                         "frozen", "thawed", "action_accepted", "action_refused",
                         "end_requested", "snapshot"}, set(seen)


# Options and a script: with each the result and the journal hold something more.
LAUNCHED = [
    (["--leftover=keep", "--approved-by=me"],
     f"sleep 30 & setsid sleep 31 & {EXECED}; sleep 0.3"),
    (["--leftover=end", "--keep=args=sleep 30"], f"sleep 30 & {EXECED}; sleep 31 & {EXECED}"),
    (["-t", "1", "-k", "0.2", "--on-expire=true"],
     "trap '' TERM; mkdir -p $0; cd $0; cp /bin/sh docker; ./docker -c 'sleep 20; :' \xff & "
     "API_TOKEN=x sleep 20; sleep 20"),
    (["--journal-max=1k", "--capture=none"], "kill -USR1 $$"),
    (["-t", "30", "--detach=deny"], "setsid true; exit 3"),
]


def results_and_journals_of_commands_that_were_run():
    seen = {}
    with state() as s, tempfile.TemporaryDirectory() as d:
        for n, (options, script) in enumerate(LAUNCHED):
            done = launched.run(s, f"--id=r{n}", *options,
                                cmd=["sh", "-c", script, os.path.join(os.fsencode(d), b"\xfe")])
            is_closed(fits(done.result))
            run("list", "--state-dir", s.path, f"run:r{n}")
            run("export", "--state-dir", s.path, f"r{n}")
            launched.clean(s, f"r{n}")
        for dies in "front", "warden":
            with launched.Running(s, f"--id={dies}", "-k", "0.2", cmd=["sleep", "60"]) as at:
                until(lambda: os.path.exists(s.of(dies)) and s.events(dies, "execed"))
                who = s.record(dies)[dies]
                end_identity(who["pid"], who["start_ticks"])
                at.process.wait()
                until(lambda: s.events(dies, "run_closed"))
                if dies == "warden":
                    is_closed(fits(at.result))
            run("export", "--state-dir", s.path, dies)
        run("runs", "--state-dir", s.path)
        for path in glob.glob(f"{s.path}/runs/*/*.json"):
            with open(path, encoding="utf-8") as f:
                is_closed(fits(json.load(f)))
        for path in [*glob.glob(f"{s.path}/runs/*/journal.jsonl"), s.ledger]:
            for event in lines(path):
                seen.setdefault((event["event"], *sorted(event)), event)
    for event in seen.values():
        is_closed(event)
    missing = {
        "run_opened", "started", "forked", "execed", "exited", "setsid", "handed_off",
        "deadline_expired", "end_requested", "signal_intent", "signal_sent", "snapshot", "kept",
        "leftover", "runner_lost", "run_closed", "watch_started", "watch_stopped"} - {
            name for name, *_ in seen}
    assert not missing, missing


def the_schemas_are_installed():
    with tempfile.TemporaryDirectory() as d:
        files = installed("install-dist_schemasDATA", d)
    want = {os.path.basename(p) for p in glob.glob(os.path.join(SCHEMAS, "*"))}
    assert want == {f.rsplit("/stray/schemas/")[1] for f in files}, files


def what_the_doctor_finds_and_a_drill():
    with state_dir() as state:
        run("doctor", "--state-dir", state)
        run("doctor", "--drill=1", "--state-dir", state)
        run("doctor", "--after", "--state-dir", state)


def an_end_that_is_refused():
    out, _ = end(1, "--only=process", status=2)
    assert out["refused"]
    is_closed(fits(out))


main([
    the_schemas_are_schemas_and_each_is_in_formats,
    a_snapshot_of_this_host,
    a_snapshot_by_who_may_not_read_it_all,
    a_list_of_the_host_and_of_a_target,
    why_of_a_target_and_of_each_suspect,
    a_diff_with_something_of_each,
    ends_freezes_and_their_records,
    what_a_term_leaves_behind,
    an_end_that_is_refused,
    what_the_doctor_finds_and_a_drill,
    a_recorded_run_and_its_journal,
    results_and_journals_of_commands_that_were_run,
    the_schemas_are_installed,
])
