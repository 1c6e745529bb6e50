#!/usr/bin/python3
# timeout: 600
"""Recorded runs from the first event to the last, by what a user calls; files are looked into."""
import contextlib
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile

import launched
from e2e import LIFE, STRAY, Code, Made, Skip, alive, main, start_of, traced, until
from recorded import adopted, frozen, state

UTC = datetime.timezone.utc


def members_of(s, run):
    return [p for session in s.json("list", f"run:{run}")["sessions"]
            for g in session["groups"] for p in g["processes"]]


# --- adopt

def each_kind_of_target_is_adopted_and_written_down():
    with state() as s, Made("group", 2, mark=("RECORDS_RUN", "v4lue")) as made:
        leader = made["leader"]
        everybody = {leader, *made.all("member")}
        for run, target, members in (("g", f"pgid:{leader}", everybody),
                                     ("p", f"{leader}", {leader}),
                                     ("i", f"{leader}@{start_of(leader)}", {leader}),
                                     ("m", "env:RECORDS_RUN=v4lue", everybody),
                                     ("n", "env:RECORDS_RUN", everybody),
                                     ("s", f"sid:{os.getsid(leader)}", everybody)):
            s("adopt", target, "--id", run)
            found = s.events(run, "started", "forked")
            got = {e.get("child", e["process"])["pid"] for e in found}
            assert members <= got, (target, members, got)
            text = s.last(run, "adopted")["target"]
            assert text == target.replace("=v4lue", "=..."), text
            record = s.record(run)
            assert record["schema"] == "stray.record/1" and record["target"] == text
            opened = s.events(run)[0]
            assert opened["event"] == "run_opened" and opened["prev"] == "0" * 64
        # a mark's value is nobody's business: members are told by identity later on
        assert {p["pid"] for p in members_of(s, "m")} >= everybody
        s("verify")


def a_control_group_is_adopted_where_there_is_one():
    with state() as s, Made("group", 1) as made:
        with open(f"/proc/{made['leader']}/cgroup", encoding="utf-8") as f:
            path = [line.rstrip("\n")[3:] for line in f if line.startswith("0::")]
        if not path or path == ["/"]:
            raise Skip("all are in the root of the hierarchy")
        s("adopt", f"cgroup:{path[0]}", "--id", "c")
        assert made["leader"] in {e["process"]["pid"] for e in s.events("c", "started")}


def what_names_nothing_is_trouble_and_nothing_is_recorded():
    with state() as s:
        for target in ("cgroup:/no/such", "audit:4294967000", "pgid:999999999", "env:NO_SUCH_MARK",
                       "2147483647", "bad target"):
            s("adopt", target, status=2)
        assert not os.path.exists(os.path.join(s.path, "runs")), "something was recorded"


def to_ask_for_a_run_makes_no_directory():
    with state() as s:
        for args in (["note", "r", "x"], ["check", "r"], ["end", "run:r"], ["list", "run:r"],
                     ["verify", "r"]):
            done = s(*args, status=2)
            assert done.stderr.startswith("stray: "), done.stderr
        s("runs")
        assert not os.path.exists(s.path)


def times_are_kept_as_stated():
    with state() as s, Made("group", 1) as made:
        s("adopt", made["leader"], "--id", "t", "--started-at", "2026-01-02T03:04:05Z",
          "--expired-at", "2026-01-02T04:00:00Z", "--approved-by", "the night shift")
        e = s.last("t", "adopted")
        assert e["known"] == "stated" and e["started_at"].startswith("2026-01-02T03:04:05")
        assert e["expired_at"].startswith("2026-01-02T04:00:00")
        record = s.record("t")
        assert record["started_known"] == "stated" and record["approved_by"] == "the night shift"
        expired = s.last("t", "deadline_expired")
        assert expired["over_at"].startswith("2026-01-02T04:00:00"), expired
        now = datetime.datetime.now(UTC)
        s("adopt", made["leader"], "--id", "clock", "--started-at", now.strftime("%H:%M"))
        at = s.record("clock")["started_at"]
        assert at.startswith(now.strftime("%Y-%m-%dT%H:%M")), at
        long = now - datetime.timedelta(hours=26)
        s("adopt", made["leader"], "--id", "long", "--started-at", long.strftime("%FT%TZ"))
        assert re.search(r"^long +active +1d02h ", s("runs").stdout, re.M), s("runs").stdout
        for bad in ("25:00", "14:60", "yesterday", "14", "2026-13-01T00:00:00Z", ""):
            s("adopt", made["leader"], "--started-at", bad, status=2)


def what_may_not_be_adopted_is_refused():
    with state() as s, Made("group", 1) as made:
        leader = made["leader"]
        for target, said in ((os.getpid(), "ancestor"), (f"{leader}@1", ""), ("run:x", "recorded"),
                             (None, "TARGET")):
            done = s("adopt", *([target] if target else []), status=2)
            assert said in done.stderr, (target, done.stderr)
        for run in ("", ".x", "-x", "a/b", "a b", "x" * 65, "..", "\u00fc"):
            done = s("adopt", leader, f"--id={run}", status=2)
            assert "id" in done.stderr, (run, done.stderr)
        s("adopt", leader, "--id", "x" * 64)
        before = s.events("x" * 64)
        done = s("adopt", leader, "--id", "x" * 64, status=2)
        assert "already" in done.stderr and s.events("x" * 64) == before
        assert os.listdir(os.path.join(s.path, "runs")) == ["x" * 64]


def is_kthread(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/stat", "rb") as f:
            return int(f.read().rsplit(b")", 1)[1].split()[6]) & 0x200000
    return 0


def a_kernel_thread_is_no_run():
    found = [p for p in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_kthread(p)]
    if not found:
        raise Skip("no kernel thread is visible here")
    with state() as s:
        done = s("adopt", found[0], status=2)
        assert "kernel" in done.stderr, done.stderr


def ones_own_session_is_no_run_and_nothing_is_recorded():
    code = """
import signal, subprocess
def adopt():
    out = subprocess.run([sys.argv[1], "adopt", "sid:%%d" %% os.getsid(0), "--id", "own",
                          "--state-dir", sys.argv[2]], capture_output=True, text=True)
    open(sys.argv[2] + ".out", "a").write("%%d %%s" %% (out.returncode, out.stderr))
adopt()
job = os.fork()
if not job:
    signal.alarm(%d); os.setpgid(0, 0); signal.pause()
while os.getpgid(job) != job:
    time.sleep(0.01)
adopt()
print(job); print("READY", flush=True)
time.sleep(%d)
""" % (LIFE, LIFE)
    with state() as s, Code(code, STRAY, s.path) as made:
        with open(s.path + ".out", encoding="utf-8") as f:
            alone, with_job = f.read().splitlines()
        for said in (alone, with_job):
            assert said.startswith(f"2 stray: session {made.pid}: refused: {made.pid}"), said
            assert "ancestor" in said, said
        assert alone.endswith("there is nobody else"), alone
        assert with_job.endswith(f"by group: pgid:{made.pids[0]}"), with_job
        assert not os.path.exists(os.path.join(s.path, "runs"))
        s("adopt", f"pgid:{made.pids[0]}")


# --- runs, note, check

def runs_are_listed_newest_first_with_state_and_head():
    with state() as s, Made("group", 1) as made:
        assert "no recorded runs" in s("runs").stdout
        assert s.json("runs") == {"schema": "stray.runs/1", "runs": []}
        for run in ("one", "two"):
            s("adopt", made["leader"], "--id", run)
        s("end", "run:one", "-k", "1")
        out = {r["run_id"]: r for r in s.json("runs")["runs"]}
        assert list(out) == ["two", "one"]
        assert out["one"]["state"] == "ended" and out["one"]["alive"] == 0
        assert out["one"]["head"] == s.events("one")[-1]["hash"]
        assert out["one"]["seq"] == len(s.events("one")) and out["one"]["error"] is None
        text = s("runs").stdout
        assert re.search(r"^one +ended ", text, re.M) and text.index("two") < text.index("one")


def the_journal_of_a_run_with_nobody_left_is_not_read_to_list_the_living():
    with state() as s, Made("group", 1) as made, Made("group", 1) as others, \
            tempfile.NamedTemporaryFile("r", encoding="utf-8") as calls:
        s("adopt", made["leader"], "--id", "over")
        for _ in range(20):
            s("note", "run:over", "a long story " * 150)
        s("end", "run:over", "-k", "1")
        launched.run(s, "--id=ran", sh="i=0; while [ $((i = i + 1)) -lt 40 ]; do /bin/true; done", status=0)
        assert s.events("ran")[-1]["event"] == "watch_stopped"
        s("adopt", others["leader"], "--id", "alive")
        assert os.path.getsize(s.of("over")) > 40000
        done = subprocess.run(
            [*traced("-y", "-e", "trace=read,pread64", "-o", calls.name), STRAY, "list",
             "--state-dir", s.path], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "run alive" in done.stdout, done
        lines = calls.readlines()
        got = {name: sum(int(line.split()[-1]) for line in lines
                         if f"/runs/{name}/journal.jsonl>" in line)
               for name in ("over", "ran", "alive")}
        assert got["alive"] >= os.path.getsize(s.of("alive")) and got["over"] <= 4096 >= got["ran"], got


def a_note_explains_a_run_or_a_member_of_it():
    with adopted() as (s, made):
        leader = made["leader"]
        s("note", "r", "known: the nightly job\x1b[2J\u202e")
        s("note", "run:r", "a shipper", "--process", leader)
        s("note", "r", "again", f"--process={leader}@{start_of(leader)}")
        whole, one, two = s.events("r", "note")
        assert whole["process"] is None and whole["text"].startswith("known: the nightly job")
        assert one["process"] == two["process"] == {"pid": leader, "start_ticks": start_of(leader)}
        assert whole["known"] == "stated" and whole["operator"]["uid"] == os.geteuid()
        seq = len(s.events("r"))
        for args in (["r"], ["r", ""], ["r", "x" * 5000], ["no-such", "x"],
                     ["r", "x", "--process", str(os.getpid())], ["r", "x", "--process", "pgid:3"],
                     ["r", "x", "--process", f"{leader}@1"]):
            s("note", *args, status=2)
        assert len(s.events("r")) == seq
        s("verify", "r")


def check_is_yes_only_while_the_run_is_active():
    with adopted() as (s, _):
        out = s.json("check", "r")
        assert out["may_act"] is True and out["state"] == "active"
        done = s("check", "r", "--action", "git push")
        assert "active" in done.stdout
        e = s.last("r", "action_accepted")
        assert e["action"] == "git push" and e["state"] == "active" and e["operator"]
        s("end", "run:r", "-k", "1")
        assert s.json("check", "r", "--action", "again", status=1)["may_act"] is False
        e = s.last("r", "action_refused")
        assert e["action"] == "again" and e["state"] == "ended"
        s("check", "no-such", status=2)
        s("check", status=2)
        s("verify", "r")


LEAVES = """
if not os.fork():
    os.execvp("sleep", ["sleep", "60"])
print("READY", flush=True); sys.stdin.readline()
"""


def check_refuses_a_run_that_left_something():
    with state() as s, Code(LEAVES) as root:
        s("adopt", f"pgid:{os.getpgid(root.pid)}", "--id", "left")
        s("check", "left")
        root.process.stdin.write("\n")
        root.process.stdin.flush()
        root.process.wait()
        s("check", "left", status=1)
        assert s.last("left", "action_refused")["state"] == "leftover"
        names = [e["event"] for e in s.events("left")]
        assert names.index("leftover") < names.index("run_closed") < names.index("action_refused")
        s("end", "run:left", "-k", "1")
        s("verify")


def check_refuses_a_run_past_its_time():
    with state() as s, Made("group", 1) as late:
        s("adopt", late["leader"], "--id", "late", "--expired-at", "00:00")
        soon = datetime.datetime.now(UTC) + datetime.timedelta(seconds=3)
        s("adopt", late["leader"], "--id", "soon", "--expired-at", soon.strftime("%FT%TZ"))
        s("check", "soon")
        s("check", "late", status=1)
        assert s.last("late", "action_refused")["state"] == "expired"
        until(lambda: s("check", "soon", status=None).returncode == 1)
        assert s.last("soon", "action_refused")["state"] == "expired"
        assert len(s.events("soon", "deadline_expired")) == 1
        s("verify")


def an_answer_that_cannot_be_recorded_is_no():
    with adopted() as (s, _):
        path = s.of("r")
        os.rename(path, path + ".away")
        s("check", "r", status=2)
        os.mkdir(path)
        s("check", "r", status=2)
        os.rmdir(path)
        os.symlink(path + ".away", path)
        s("check", "r", status=2)
        os.unlink(path)
        os.rename(path + ".away", path)
        s("check", "r")
        os.chmod(path, 0o622)
        assert "write" in s("check", "r", status=2).stderr
        os.chmod(path, 0o600)
        with open(path, "r+b") as f:
            f.seek(100)
            f.write(b"#")
        assert "hold" in s("check", "r", status=2).stderr


# --- verify

def edit(path, old, new):
    with open(path, "rb") as f:
        data = f.read()
    assert old in data, (path, old)
    with open(path, "wb") as f:
        f.write(data.replace(old, new))


def cut(path, lines):
    with open(path, "rb") as f:
        kept = f.read().splitlines(keepends=True)[:-lines]
    with open(path, "wb") as f:
        f.writelines(kept)


def to_link(path):
    os.rename(path, path + ".away")
    os.symlink(path + ".away", path)


def begin_ledger_anew(s):
    os.unlink(s.ledger)
    with Made("group", 1) as made:
        s("adopt", made["leader"], "--id", "third")


# What was done to it; what is verified; what is said of it.
TAMPERED = (
    (lambda s: shutil.rmtree(os.path.dirname(s.of("r"))), None, ("r: does not hold", "other: holds")),
    (lambda s: shutil.rmtree(os.path.join(s.path, "runs")), None,
     ("r: does not hold", "other: does not hold")),
    (lambda s: os.unlink(s.ledger), None, ("no ledger", "r: holds")),
    (lambda s: os.unlink(s.ledger), "r", ("no ledger",)),
    (begin_ledger_anew, None, ("r: does not hold", "other: does not hold", "third: holds")),
    (begin_ledger_anew, "r", ("r: does not hold",)),
    (lambda s: edit(s.ledger, b'"active"', b'"ended"'), "r", ("ledger.jsonl: does not hold",)),
    (lambda s: to_link(s.ledger), None, ("ledger.jsonl: does not hold", "r: holds")),
    (lambda s: os.unlink(s.of("r")), None, ("r: does not hold", "other: holds")),
    (lambda s: os.unlink(s.of("r", "run.json")), None, ("r: does not hold", "other: holds")),
    (lambda s: edit(s.of("r", "run.json"), b'"r"', b'"q"'), None, ("r: does not hold", "run.json")),
    (lambda s: edit(s.of("r"), b"one more", b"one else"), None, ("r: does not hold", "line")),
    (lambda s: cut(s.of("r"), 2), "r", ("cut off",)),
    (lambda s: to_link(s.of("r")), None, ("r: does not hold", "other: holds")),
    (lambda s: to_link(s.of("r", "run.json")), None, ("r: does not hold", "other: holds")),
    (lambda s: edit(s.of("r", "before.json"), b"S", b"Z"), None,
     ("r: does not hold: before.json is not what event ", "other: holds")),
    (lambda s: os.unlink(s.of("r", "after.json")), "r",
     ("r: does not hold: after.json is not what event ", "No such file")),
    (lambda s: to_link(s.of("r", "after-2.json")), "r", ("r: does not hold: after-2.json",)),
)


def verify_names_what_is_gone_or_was_changed():
    for n, (change, what, said) in enumerate(TAMPERED):
        with adopted() as (s, made):
            s("adopt", made["leader"], "--id", "other")
            s("note", "r", "one more")
            s("end", "run:r", "--only=process", "-k", "1")
            s("note", "r", "and one")
            s("end", "run:r", "-k", "1")
            whole = s("verify").stdout
            for name in ("r", "other", "ledger.jsonl"):
                assert f"{name}: holds" in whole, whole
            change(s)
            done = s("verify", *([what] if what else []), status=1)
            for text in said:
                assert text in done.stdout, (n, said, done.stdout, done.stderr)


def a_head_from_elsewhere_must_be_in_it():
    with adopted() as (s, _):
        head = s.events("r")[-1]["hash"]
        s("note", "r", "later")
        at = s.events("r")[-2]["at"]
        for what in ("r", s.of("r")):
            said = s("verify", what, "--head", head).stdout
            assert re.search(rf"--head is that of event \d+, \w+, of {at}; 1 follows", said), said
        given = s.json("verify", "r", "--head", head)["journals"][0]["given_head"]
        assert given == {"seq": len(s.events("r")) - 1, "event": s.events("r")[-2]["event"],
                         "at": at, "follow": 1}, given
        said = s("verify", "r", "--head", s.events("r")[-1]["hash"]).stdout
        assert "none follows" in said, said
        assert "--head" not in s("verify", "r").stdout
        assert s.json("verify")["journals"][0]["given_head"] is None
        os.unlink(s.ledger)
        said = s("verify", "r", "--head", head, status=1).stdout
        assert said.count("--head is that of") == 1, said
        assert "--head" in s("verify", "r", "--head", "ab" * 32, status=1).stdout
        s("verify", s.of("r"), "--head", "ab" * 32, status=1)
        last = s.events("r")[-1]["hash"]
        cut(s.of("r"), 1)
        s("verify", "r", "--head", last, status=1)
        for bad in ("", "AB" * 32, "ab" * 31, "x" * 64):
            s("verify", "r", "--head", bad, status=2)
        s("verify", "--head", head, status=2)
        s("verify", "no-such", status=2)


def what_was_pruned_is_not_missed_and_its_id_may_come_again():
    with adopted() as (s, _):
        assert "0 removed" in s("runs", "--prune", "--older-than", "0").stdout
        s("end", "run:r", "-k", "1")
        assert "0 removed" in s("runs", "--prune").stdout
        assert "1 removed" in s("runs", "--prune", "--older-than", "0").stdout
        assert os.listdir(os.path.join(s.path, "runs")) == []
        s("verify")
        with Made("group", 1) as more:
            s("adopt", more["leader"], "--id", "r")
            s("verify")
            s("verify", "r")
            shutil.rmtree(os.path.dirname(s.of("r")))
            s("verify", status=1)


def what_was_never_finished_is_swept_up():
    with adopted() as (s, _):
        runs = os.path.join(s.path, "runs")
        for name in (".new-7-old", ".gone-7-old", ".new-7-young", ".other"):
            os.mkdir(os.path.join(runs, name))
            for file in ("journal.jsonl", "before.json", "after.json", "after-2.json"):
                with open(os.path.join(runs, name, file), "w", encoding="utf-8"):
                    pass
            if "young" not in name:
                os.utime(os.path.join(runs, name), (0, 0))
        s("verify")
        s("runs", "--prune")
        assert sorted(os.listdir(runs)) == [".new-7-young", ".other", "r"]


def what_others_put_into_a_runs_directory_is_not_removed():
    with adopted() as (s, _):
        s("end", "run:r", "-k", "1")
        with open(s.of("r", "evidence.txt"), "w", encoding="utf-8") as f:
            f.write("mine")
        done = s("runs", "--prune", "--older-than", "0", status=2)
        assert "did not make" in done.stderr, done.stderr
        assert sorted(os.listdir(os.path.dirname(s.of("r")))) == \
            ["after.json", "before.json", "evidence.txt", "journal.jsonl", "run.json", "watch.lock"]
        s("verify")


# --- its members, before and after

def snapshots(s, run):
    """Each that its journal names: what, file, who was in it; checked against its digest."""
    found = []
    for e in s.events(run, "snapshot"):
        if "act" in e:
            continue
        path = os.path.join(s.path, e["file"])
        with open(path, "rb") as f:
            data = f.read()
        assert hashlib.sha256(data).hexdigest() == e["sha256"], e
        assert os.stat(path).st_mode & 0o777 == 0o600, path
        found.append((e["what"], os.path.basename(path),
                      {p["pid"] for p in json.loads(data)["processes"] if p["state"] != "Z"}))
    return found


def who_was_a_member_is_kept_from_adoption_to_the_end():
    with adopted() as (s, made):
        leader, members = made["leader"], set(made.all("member"))
        assert snapshots(s, "r") == [("before", "before.json", {leader, *members})]
        s("end", "run:r", "--only=process", "-k", "1")
        s("end", "run:r", "-k", "1")
        assert snapshots(s, "r")[1:] == [("after", "after.json", members),
                                         ("after", "after-2.json", set())], snapshots(s, "r")
        names = [e["event"] for e in s.events("r") if e["event"] == "run_closed" or
                 (e["event"] == "snapshot" and "act" not in e)]
        assert names == ["snapshot", "snapshot", "run_closed", "snapshot", "run_closed"], names
        text = s("export", "r").stdout
        for name in ("before.json", "after.json", "after-2.json"):
            assert f"runs/r/{name}, as the journal says" in text, text
        done = s("diff", s.of("r", "before.json"), s.of("r", "after.json"), status=1).stdout
        assert str(leader) in done, done
        s("verify")


# --- what is done to a run

def a_run_is_listed_explained_frozen_thawed_and_ended():
    with adopted() as (s, made):
        everybody = {made["leader"], *made.all("member")}
        assert {p["pid"] for p in members_of(s, "r")} == everybody
        assert {i["process"]["pid"] for i in s.json("why", "run:r")["items"]} == everybody
        s("freeze", "run:r")
        assert all(map(frozen, everybody))
        assert {p["pid"] for p in s.last("r", "frozen")["to"]} == everybody
        s("thaw", "run:r")
        assert not any(map(frozen, everybody))
        s("end", "run:r", "-k", "1")
        assert not any(map(alive, everybody))
        order = [e["event"] for e in s.events("r")]
        for a, b in (("end_requested", "run_closed"), ("signal_intent", "signal_sent"),
                     ("frozen", "thawed"), ("thawed", "end_requested"), ("exited", "run_closed")):
            assert a in order and b in order and order.index(a) < order.index(b), (a, b, order)
        assert s.last("r", "run_closed")["state"] == "ended"
        assert s.heads("r")[-1]["state"] == "ended"
        act = os.path.join(s.path, "acts", s.last("r", "run_closed")["act"], "journal.jsonl")
        with open(act, encoding="utf-8") as f:
            assert "signal_intent" in [json.loads(line)["event"] for line in f]
        s("verify", act)
        s("verify")


def to_end_what_is_over_is_no_trouble():
    with adopted() as (s, _):
        s("end", "run:r", "-k", "1")
        s("end", "run:r", "-k", "1")
        assert "0 hit" in s("freeze", "run:r").stdout
        s("end", "run:no-such", status=2)
        s("verify")


def what_is_of_another_boot_is_left_alone():
    with adopted() as (s, made):
        path = s.of("r", "run.json")
        boot = s.record("r")["boot_id"]
        edit(path, boot.encode(), (boot[:-1] + ("0" if boot[-1] != "0" else "1")).encode())
        for args in (["end", "run:r"], ["freeze", "run:r"], ["check", "r"], ["list", "run:r"]):
            s(*args, status=2)
        assert "boot" in s("end", "run:r", status=2).stderr
        assert alive(made["leader"])
        out = s.json("runs")["runs"][0]
        assert out["alive"] is None and out["state"] == "active"
        s("verify", status=1)  # the record is not the one that the journal was opened with


def a_record_that_was_changed_lets_nobody_be_signalled():
    with adopted() as (s, made), Made("group", 1) as victim:
        old, new = made["leader"], victim["leader"]
        path = s.of("r", "run.json")
        edit(path, str(start_of(old)).encode(), str(start_of(new)).encode())
        edit(path, str(old).encode(), str(new).encode())
        for args in (["end", "-k", "1"], ["end", "-k", "1", "--no-record"], ["freeze"], ["thaw"]):
            done = s(*args, "run:r", status=2)
            assert "run.json" in done.stderr, done.stderr
        s("check", "r", status=2)
        assert all(map(alive, (old, new))) and not frozen(new)
        assert "run.json" in s.json("runs")["runs"][0]["error"]
        assert not s.events("r", "signal_intent")


def the_beginning_of_an_id_will_do_where_it_is_the_only_one():
    with state() as s, Made("group", 1) as made:
        for run in ("alpha", "alphabet", "beta", "7"):
            s("adopt", made["leader"], "--id", run)
        s("check", "b")
        assert s.events("beta", "action_accepted")
        s("check", "alpha")  # exact, though another begins with it
        assert s.events("alpha", "action_accepted") and not s.events("alphabet", "action_accepted")
        done = s("check", "al", status=2)
        assert "alpha" in done.stderr and "alphabet" in done.stderr, done.stderr
        s("check", "run:7")
        s("end", "run:z", status=2)


def what_died_in_the_middle_of_an_act_is_gone_on_with():
    with adopted("ignore-term", target="{child}") as (s, made):
        child = made["child"]
        with subprocess.Popen([STRAY, "end", "run:r", "-k", "30", "--state-dir", s.path],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as dying:
            until(lambda: s.events("r", "signal_sent"))
            dying.kill()
        assert alive(child) and s.json("runs")["runs"][0]["state"] == "survived"
        s("verify")
        s("check", "r", status=1)
        s("end", "run:r", "-k", "0.2")
        assert not alive(child) and s.last("r", "run_closed")["state"] == "ended"
        assert len(s.events("r", "end_requested")) == 2
        s("verify")


main([
    each_kind_of_target_is_adopted_and_written_down,
    a_control_group_is_adopted_where_there_is_one,
    what_names_nothing_is_trouble_and_nothing_is_recorded,
    to_ask_for_a_run_makes_no_directory,
    times_are_kept_as_stated,
    what_may_not_be_adopted_is_refused,
    a_kernel_thread_is_no_run,
    ones_own_session_is_no_run_and_nothing_is_recorded,
    runs_are_listed_newest_first_with_state_and_head,
    the_journal_of_a_run_with_nobody_left_is_not_read_to_list_the_living,
    a_note_explains_a_run_or_a_member_of_it,
    check_is_yes_only_while_the_run_is_active,
    check_refuses_a_run_that_left_something,
    check_refuses_a_run_past_its_time,
    an_answer_that_cannot_be_recorded_is_no,
    verify_names_what_is_gone_or_was_changed,
    a_head_from_elsewhere_must_be_in_it,
    what_was_pruned_is_not_missed_and_its_id_may_come_again,
    what_was_never_finished_is_swept_up,
    what_others_put_into_a_runs_directory_is_not_removed,
    who_was_a_member_is_kept_from_adoption_to_the_end,
    a_run_is_listed_explained_frozen_thawed_and_ended,
    to_end_what_is_over_is_no_trouble,
    what_is_of_another_boot_is_left_alone,
    a_record_that_was_changed_lets_nobody_be_signalled,
    the_beginning_of_an_id_will_do_where_it_is_the_only_one,
    what_died_in_the_middle_of_an_act_is_gone_on_with,
])
