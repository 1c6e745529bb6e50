#!/usr/bin/python3
# timeout: 300
"""stray run where its record cannot be written: nothing begins unrecorded, and every end comes."""
import json
import os
import re
import subprocess
import tempfile
import time

from e2e import STRAY, alive, main, traced, until
from faults import fill, in_own_mount_namespace, small_disk, stopped_holder
from launched import Running, argv_of, clean, gone, pids_of, run
from recorded import state

STUBBORN = "trap '' TERM; echo $$; sleep 30; sleep 30"


def nothing_begins(s, *args, why):
    with tempfile.TemporaryDirectory() as d:
        mark = os.path.join(d, "started")
        done = run(s, *args, cmd=["touch", mark], status=125)
        assert why in done.err and done.err.startswith("stray: "), done.err
        assert done.err.count("\n") == 1 and done.result is None, done
        assert not os.path.exists(mark)


def on_a_read_only_disk_nothing_begins_but_without_a_record():
    with small_disk(1024) as s:
        subprocess.run(["mount", "-o", "remount,ro", s.path], check=True)
        nothing_begins(s, why="Read-only")
        run(s, "--no-record", cmd=["true"], status=0)
        assert os.listdir(s.path) == []


def on_a_full_disk_nothing_begins_but_without_a_record():
    with small_disk(1024) as s:
        os.unlink(fill(s))
        run(s, "--id=before", cmd=["true"], status=0)
        fill(s)
        nothing_begins(s, why="space")
        run(s, "--no-record", cmd=["true"], status=0)
        assert [r["run_id"] for r in s.json("runs")["runs"]] == ["before"]
        s("verify")


def where_anothers_directory_would_hold_it_nothing_begins():
    with state() as s:
        os.mkdir(s.path)
        os.chmod(s.path, 0o777)
        nothing_begins(s, why=s.path)


def a_limit_on_the_size_of_files_starts_nothing():
    with state() as s, tempfile.TemporaryDirectory() as d:
        mark = os.path.join(d, "started")
        done = subprocess.run(["sh", "-c", 'ulimit -f 0; "$@" 2>&1 | cat >&3', "sh", STRAY, "run",
                               "--state-dir", s.path, "--", "touch", mark], timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True)
        assert done.returncode != 0 or not os.path.exists(mark), done
        assert not os.path.exists(mark)


def with_little_room_it_begins_and_is_recorded_or_does_not_begin():
    with small_disk(1024) as s, tempfile.TemporaryDirectory() as d:
        run(s, cmd=["true"], status=0)
        began = refused = 0
        for leave in (*range(0, 64, 4), 200):
            mark = os.path.join(d, str(leave))
            filler = fill(s, leave)
            done = run(s, f"--id=r{leave}", cmd=["touch", mark])
            os.unlink(filler)
            if os.path.exists(mark):
                began += 1
                assert done.status in (0, 122), done
                assert (done.status == 0) == (done.result["record_lost"] is None), done
                assert s.events(f"r{leave}", "run_opened"), leave
            else:
                refused += 1
                assert done.status == 125, done
            s("verify")
        assert began and refused, (began, refused)


# What happens while the disk is full: a script, options, the status.
WHILE_FULL = [
    ("read x; echo $$", [], 122),
    ("read x; sleep 60 & echo $!", [], 122),
    ("read x; echo $$; exit 3", [], 3),
    (f"read x; {STUBBORN}", ["-t", "1.5", "-k", "0.3"], 124),
    ("read x; sleep 60 & echo $!", ["--leftover=end"], 122),
]


def when_the_disk_fills_meanwhile_the_run_is_ended_in_time_and_the_loss_is_told():
    for script, options, status in WHILE_FULL:
        with small_disk(512) as s:
            with Running(s, "--id=r", *options, sh=script, stdin=subprocess.PIPE) as at:
                until(lambda: os.path.exists(s.of("r")) and s.events("r", "started"))
                filler = fill(s)
                # what is left of the journal's last page is filled by one note after another
                while s("note", "r", "x", status=None).returncode == 0:
                    pass
                started = time.monotonic()
                at.process.stdin.write("\n")
                at.process.stdin.flush()
                pid, = at.read_pids(1)
                assert at.process.wait(30) == status, (script, at.process.returncode)
                assert time.monotonic() - started < 12, script
                err = at.process.stderr.read()
                assert "RECORD" in err and "space" in err, (script, err)
                assert at.result["record_lost"] and at.result["status"] == status, at.result
                left = pids_of(at.result["added_processes"])
                if "-t" in options or "--leftover=end" in options:
                    assert not alive(pid) and not left, script
                elif "sleep 60" in script:
                    assert left == [pid]
                os.unlink(filler)
                s("verify", "r")
                clean(s, "r")
                assert gone([pid])
                s("verify", "r")


def what_could_not_be_written_is_counted_in_the_journal_as_soon_as_that_takes_events_again():
    script = "read x; for i in 1 2 3 4 5; do /bin/true; done; echo $$; read x; exit 3"
    with small_disk(512) as s:
        with Running(s, "--id=r", "-q", sh=script, stdin=subprocess.PIPE) as at:
            until(lambda: os.path.exists(s.of("r")) and s.events("r", "execed"))
            filler = fill(s)
            while s("note", "r", "x", status=None).returncode == 0:
                pass
            at.process.stdin.write("\n")
            at.process.stdin.flush()
            at.read_pids(1)
            time.sleep(0.5)  # the last of them is tried to be written 50 ms later
            os.unlink(filler)
            at.process.stdin.write("\n")
            at.process.stdin.flush()
            at.end(status=3)
            counts = at.result["counts"]
        closed = s.last("r", "run_closed")
        told = s.events("r", "events_lost")
        lost = sum(e["count"] for e in told)
        assert lost >= 10 and all(e["source"] == "journal" for e in told), told
        assert "space" in told[0]["error"], told
        assert closed["events_unwritten"] == lost == counts["events_unwritten"], (closed, told)
        what = ("forked", "execed", "exited")
        assert len(s.events("r", *what)) + lost == sum(closed[k] for k in what), (closed, told)
        assert "could not be written" in s("export", "r").stdout
        s("verify", "r")


def a_writer_that_was_stopped_with_the_lock_in_hand_holds_up_no_end():
    with state() as s:
        with Running(s, "--id=r", "-t", "4", "-k", "0.3", sh=STUBBORN) as at:
            started = time.monotonic()
            pid, = at.read_pids(1)
            until(lambda: os.path.exists(s.of("r")) and s.events("r", "execed"))
            with stopped_holder(s.of("r")):
                assert alive(pid) and not s.events("r", "deadline_expired")
                until(lambda: not alive(pid))
                # half a second for the record up to the TERM, and a fifth for the KILL
                assert 4 < time.monotonic() - started < 8
                assert at.process.wait(60) == 124
            _, err = at.end()
            assert "RECORD" in err and "lock" in err and at.result["record_lost"], err
        s("verify", "r")


def what_was_not_on_the_disk_in_time_is_said_by_what_follows():
    with state() as s:
        with Running(s, "--id=r", "-t", "4", "-k", "0.3", sh=STUBBORN) as at:
            pid, = at.read_pids(1)
            until(lambda: os.path.exists(s.of("r")) and s.events("r", "execed"))
            with stopped_holder(s.of("r")):
                until(lambda: not alive(pid))
            at.end(status=124)
            assert at.result["record_lost"] is None, at.result
        events = s.events("r")
        late = [e for e in events if e.get("durable") is False]
        assert late and late[0]["seq"] > s.last("r", "deadline_expired")["seq"], events
        assert s.last("r", "run_closed")["state"] == "ended"
        s("verify", "r")


def who_holds_the_ledger_holds_up_no_signal():
    with state() as s:
        with Running(s, "--id=r", "-t", "2", "-k", "0.3", sh=STUBBORN) as at:
            at.read_pids(1)
            until(lambda: os.path.exists(s.of("r")) and s.events("r", "execed"))
            with stopped_holder(s.ledger):
                assert not s.events("r", "deadline_expired")
                until(lambda: len(s.events("r", "signal_intent")) == 2)
            at.end(status=124)
        due = s.last("r", "deadline_expired")["over_mono_ns"]
        term, kill = s.events("r", "signal_intent")
        assert term["mono_ns"] - due < 4e8 and kill["mono_ns"] - due < 9e8, (due, term, kill)
        assert not [e for e in s.events("r") if "durable" in e]
        assert s.heads("r")[-1]["event"] == "run_closed"
        s("verify")


def on_the_disk_at_each_signal(calls):
    """By strace's lines, what was written and synced of the journal when a signal was sent."""
    written, synced, at = [], [], {}
    for line in calls:
        if " write(" in line and "journal.jsonl>" in line:
            written += re.findall(r'\\"event\\":\\"(\w+)', line)
        elif " fdatasync(" in line and "journal.jsonl>" in line and "unfinished" not in line:
            synced = written[:]
        elif "SIGTERM" in line or "SIGKILL" in line or "cgroup.kill>" in line:
            at.setdefault("TERM" if "SIGTERM" in line else "KILL", synced[:])
    return at


def no_signal_is_sent_before_what_leads_to_it_is_on_the_disk():
    for grace in ("0", "0.2"):
        with state() as s, tempfile.NamedTemporaryFile("r", encoding="utf-8") as calls:
            done = subprocess.run(
                [*traced("-y", "-s", "65536", "-o", calls.name, "-e",
                         "trace=write,fdatasync,pidfd_send_signal"),
                 *argv_of(s, "--id=r", "-t", "1", f"--grace={grace}",
                           sh="trap '' TERM; sleep 60 & sleep 61; sleep 62")],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            assert done.returncode == 124, done
            at = on_the_disk_at_each_signal(calls)
            frozen = ["frozen"] if s.events("r", "frozen") else []
            wanted = ["deadline_expired", *frozen, "snapshot", "signal_intent"]
            assert [e for e in at["TERM"] if e in wanted] == wanted, (grace, at)
            assert at["KILL"].count("signal_intent") == 2, (grace, at)
            # of those who were there
            with open(s.of("r", "before.json"), encoding="utf-8") as f:
                before = {p["pid"] for p in json.load(f)["processes"]}
            assert before == {t["pid"] for t in s.last("r", "signal_sent")["to"]}, before
            s("verify", "r")


if __name__ == "__main__":
    in_own_mount_namespace()
    main([
        on_a_read_only_disk_nothing_begins_but_without_a_record,
        on_a_full_disk_nothing_begins_but_without_a_record,
        where_anothers_directory_would_hold_it_nothing_begins,
        a_limit_on_the_size_of_files_starts_nothing,
        with_little_room_it_begins_and_is_recorded_or_does_not_begin,
        when_the_disk_fills_meanwhile_the_run_is_ended_in_time_and_the_loss_is_told,
        what_could_not_be_written_is_counted_in_the_journal_as_soon_as_that_takes_events_again,
        a_writer_that_was_stopped_with_the_lock_in_hand_holds_up_no_end,
        what_was_not_on_the_disk_in_time_is_said_by_what_follows,
        who_holds_the_ledger_holds_up_no_signal,
        no_signal_is_sent_before_what_leads_to_it_is_on_the_disk,
    ])
