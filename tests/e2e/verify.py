#!/usr/bin/python3
# timeout: 300
"""A journal is checked by stray verify and, without stray, by doc/verify.sh: both find the same."""
import hashlib
import json
import os
import random
import shutil
import subprocess
import tempfile

from e2e import STRAY, TOP, Made, main, state_dir, stray, stray_json

SCRIPT = os.path.join(TOP, "doc", "verify.sh")


def by_script(path):
    """(exit status, what it says) of doc/verify.sh."""
    done = subprocess.run(["sh", SCRIPT, path], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def by_stray(path):
    """(exit status, what it finds) of stray verify FILE."""
    done = stray("verify", "--json", path)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)["journals"][0]


def real_journal(folder):
    """The bytes of a journal of a run that was adopted, explained, asked about and ended."""
    with Made("group", 3) as made:
        stray("adopt", f"pgid:{made['leader']}", "--id", "real", "--state-dir", folder, status=0)
        stray("note", "real", "an \"event\":\"torn_tail\", ü and \\ in a text", "--state-dir",
              folder, status=0)
        stray("check", "real", "--state-dir", folder, status=0)
        stray("end", "run:real", "-k", "1", "--state-dir", folder, status=0)
    with open(os.path.join(folder, "runs", "real", "journal.jsonl"), "rb") as f:
        return f.read()


class Journal:
    """One real journal for all tests, and what is made of it in a file of its own."""
    data = None

    def __enter__(self):
        if Journal.data is None:
            with state_dir() as d:
                Journal.data = real_journal(d)
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "journal.jsonl")
        self.lines = Journal.data.splitlines(keepends=True)
        assert len(self.lines) > 8, Journal.data
        return self

    def __exit__(self, *exc):
        self.folder.cleanup()

    def verdicts(self, data):
        with open(self.path, "wb") as f:
            f.write(data)
        status, said = by_script(self.path)
        stray_status, found = by_stray(self.path)
        assert status == stray_status, (status, said, found)
        return status, said, found


def a_real_journal_holds():
    with Journal() as j:
        status, said, found = j.verdicts(j.data)
        assert status == 0 and found["holds"], found
        assert said.splitlines() == [f"holds, {len(j.lines)} events", f"head {found['head']}"], said


def the_script_is_of_twenty_lines_and_asks_no_stray():
    with open(SCRIPT, encoding="utf-8") as f:
        lines = f.read().splitlines()
    assert len(lines) <= 20 and max(map(len, lines)) <= 120, len(lines)
    with Journal() as j, tempfile.TemporaryDirectory() as tools:
        for tool in ("sh", "grep", "wc", "tail", "head", "cut", "sha256sum"):
            os.symlink(shutil.which(tool), os.path.join(tools, tool))
        j.verdicts(j.data)
        done = subprocess.run(["sh", SCRIPT, j.path], capture_output=True, text=True,
                              env={"PATH": tools}, stdin=subprocess.DEVNULL)
        assert done.returncode == 0 and not done.stderr, done


def an_empty_file_holds_and_what_is_no_file_is_trouble():
    with Journal() as j:
        assert j.verdicts(b"")[0] == 0
        for args in (["/nonexistent"], [j.folder.name], []):
            done = subprocess.run(["sh", SCRIPT, *args], capture_output=True, text=True)
            assert done.returncode == 2 and "usage" in done.stderr, (args, done)


def each_line_that_was_changed_missing_doubled_or_moved_is_named():
    with Journal() as j:
        lines = j.lines
        for n in (1, 2, len(lines) // 2, len(lines) - 1):
            cases = {
                "dropped": lines[:n - 1] + lines[n:],
                "doubled": lines[:n] + lines[n - 1:],
                "swapped": lines[:n - 1] + [lines[n], lines[n - 1]] + lines[n + 1:],
                "changed": lines[:n - 1] + [lines[n - 1].replace(b'"seq"', b'"sEq"')] + lines[n:],
                "emptied": lines[:n - 1] + [b"\n"] + lines[n:],
                "halved": lines[:n - 1] + [lines[n - 1][:200] + b"\n"] + lines[n:],
                "halved and closed": lines[:n - 1] + [lines[n - 1][:200] + b" \n"] + lines[n:],
            }
            for what, made in cases.items():
                status, said, found = j.verdicts(b"".join(made))
                assert status == 1, (what, n, said, found)
                assert f"line {found['line']} " in said, (what, n, said, found)


def a_line_that_was_sealed_anew_is_found():
    with Journal() as j:
        old = j.lines[3]
        body = old[:old.rindex(b',"hash":"')].replace(b'"known":"', b'"known":"s', 1) + b"}"
        seal = hashlib.sha256(body).hexdigest().encode()
        new = body[:-1] + b',"hash":"' + seal + b'"}\n'
        status, said, found = j.verdicts(b"".join(j.lines[:3] + [new] + j.lines[4:]))
        assert status == 1 and found["fault"] == "rewritten", found
        assert "line 5 " in said and found["line"] == 5, (said, found)


def another_version_is_no_journal_for_this_reader():
    with Journal() as j:
        old = j.lines[0]
        body = old[:old.rindex(b',"hash":"')].replace(b"journal/1", b"journal/2") + b"}"
        seal = hashlib.sha256(body).hexdigest().encode()
        status, said, found = j.verdicts(body[:-1] + b',"hash":"' + seal + b'"}\n')
        assert status == 1 and found["fault"] == "other", (said, found)


def a_bit_flipped_anywhere_is_found():
    """But in the newline at the end, which leaves a torn tail behind."""
    with Journal() as j:
        choice = random.Random(7)
        for _ in range(30):
            at = choice.randrange(len(j.data) - 1)
            data = bytearray(j.data)
            data[at] ^= 1 << choice.randrange(8)
            status, said, found = j.verdicts(bytes(data))
            assert status == 1, (at, said, found)


def a_cut_leaves_a_journal_or_a_torn_tail_that_is_named():
    with Journal() as j:
        choice = random.Random(8)
        ends = [sum(map(len, j.lines[:n])) for n in range(len(j.lines) + 1)]
        for at in [choice.randrange(len(j.data)) for _ in range(20)] + ends[1:5]:
            status, said, found = j.verdicts(j.data[:at])
            torn = at - max(e for e in ends if e <= at)
            if at + 1 in ends:  # all of a line but its newline
                torn = 0
            assert status == 0 and found["torn_bytes"] == torn, (at, said, found)
            assert (f"last {torn} bytes are a torn tail" in said) == (torn > 0), (at, said)


def what_follows_the_last_event_is_a_torn_tail_or_a_fault():
    with Journal() as j:
        last = j.lines[-1]
        for tail, torn in ((b"\0\0\0", 3), (b"half", 4), (b"half \n", 4), (b"half\0 \n", 5),
                           (b"half\n", None), (b"\n", None), (last, None), (last[:-1], None),
                           (j.lines[2][:-1], None), (b"half \n" + last, None),
                           (b"half \n" + b"more", 10)):
            status, said, found = j.verdicts(j.data + tail)
            if torn is None:
                assert status == 1 and f"line {len(j.lines) + 1} " in said, (tail, said, found)
            else:
                assert status == 0 and found["torn_bytes"] == torn, (tail, said, found)
                assert f"last {torn} bytes are a torn tail" in said, (tail, said)


def an_event_that_tells_of_nothing_torn_may_not_follow_it():
    with Journal() as j:
        n = len(j.lines) // 2
        status, said, found = j.verdicts(b"".join(j.lines[:n] + [b"half \n"] + j.lines[n:]))
        assert status == 1 and found["line"] == n + 1 and f"line {n + 1} " in said, (said, found)


def a_torn_tail_that_the_next_writer_closed_is_no_fault():
    with state_dir() as d, Made("group", 2) as made:
        stray("adopt", f"pgid:{made['leader']}", "--id", "torn", "--state-dir", d, status=0)
        path = os.path.join(d, "runs", "torn", "journal.jsonl")
        for torn in (b'{"schema":"stray.journal/1","se', b" ", b"\0\0\xff\0", b"{" * 9000, b" \n"):
            with open(path, "ab") as f:
                f.write(torn)
            stray("note", "torn", "next", "--state-dir", d, status=0)
        status, said = by_script(path)
        assert status == 0 and "5 torn tails, closed" in said, said
        found = stray_json("verify", "torn", "--state-dir", d, status=0)["journals"][0]
        assert found["torn_closed"] == 5 and found["holds"], found


def torn_bytes_that_were_changed_after_they_were_told_of_are_found():
    with state_dir() as d, Made("group", 2) as made, Journal() as j:
        stray("adopt", f"pgid:{made['leader']}", "--id", "torn", "--state-dir", d, status=0)
        path = os.path.join(d, "runs", "torn", "journal.jsonl")
        with open(path, "ab") as f:
            f.write(b"half a li")
        stray("note", "torn", "next", "--state-dir", d, status=0)
        with open(path, "rb") as f:
            data = f.read()
        assert j.verdicts(data)[0] == 0
        for old, new in ((b"half", b"hald"), (b"half a li", b"half a line"), (b"half a li ", b"half a li")):
            status, said, found = j.verdicts(data.replace(old, new))
            assert status == 1 and found["fault"] == "changed", (new, said, found)
            assert f"line {found['line']} " in said, (said, found)


def the_ledger_is_checked_in_the_same_way():
    with state_dir() as d, Made("group", 2) as made:
        stray("adopt", f"pgid:{made['leader']}", "--id", "one", "--state-dir", d, status=0)
        path = os.path.join(d, "ledger.jsonl")
        assert by_script(path)[0] == 0
        assert by_stray(path)[0] == 0
        with open(path, "rb") as f:
            lines = f.read().splitlines(keepends=True)
        with open(path, "wb") as f:
            f.writelines(lines[1:])
        assert by_script(path)[0] == 1
        assert by_stray(path)[0] == 1


def a_file_is_verified_where_nothing_was_ever_recorded():
    with Journal() as j, state_dir() as none:
        j.verdicts(j.data)
        done = subprocess.run([STRAY, "verify", "journal.jsonl", "--state-dir", none],
                              cwd=j.folder.name, capture_output=True, text=True)
        assert done.returncode == 0 and "holds" in done.stdout, done


main([a_real_journal_holds,
      the_script_is_of_twenty_lines_and_asks_no_stray,
      an_empty_file_holds_and_what_is_no_file_is_trouble,
      each_line_that_was_changed_missing_doubled_or_moved_is_named,
      a_line_that_was_sealed_anew_is_found,
      another_version_is_no_journal_for_this_reader,
      a_bit_flipped_anywhere_is_found,
      a_cut_leaves_a_journal_or_a_torn_tail_that_is_named,
      what_follows_the_last_event_is_a_torn_tail_or_a_fault,
      an_event_that_tells_of_nothing_torn_may_not_follow_it,
      a_torn_tail_that_the_next_writer_closed_is_no_fault,
      torn_bytes_that_were_changed_after_they_were_told_of_are_found,
      the_ledger_is_checked_in_the_same_way,
      a_file_is_verified_where_nothing_was_ever_recorded])
