#!/usr/bin/python3
# timeout: 600
"""What public reports of leftovers describe, on real processes: seen, explained, ended."""
import os
import subprocess
import sys
import tempfile
import time

from e2e import (EXECED, LIFE, STRAY, Code, Made, Skip, alive, as_root, end, end_identity, listed,
                 main, start_of, state_dir, stray, stray_json, until, why)

NOBODY = 65534


def suspects():
    """Those with a reason of their own: the test's own tree may be an orphan's child."""
    return {pid: p for pid, p in listed("--suspects").items() if set(p["suspect"]) - {"child"}}


def a_group_that_holds_the_callers_shell_is_refused_and_its_members_are_offered():
    # a timeout killed the shell only; its child lives on in the caller's own group
    code = """
p = os.fork()
if not p:
    if os.fork(): os._exit(0)
    signal.alarm(%d); os.execvp("sleep", ["left-in-group", "60"])
os.wait()
r, w = os.pipe()
import subprocess
pid = int(subprocess.run(["pgrep", "-n", "-g", str(os.getpgrp()), "-f", "left-in-group"], capture_output=True, text=True).stdout)
print(pid); print("READY", flush=True)
stray = sys.argv[1]
a = subprocess.run([stray, "end", "--dry-run", "pgid:%%d" %% os.getpgrp()], capture_output=True, text=True)
b = subprocess.run([stray, "end", "--no-record", "-k", "1", "--only=members", "pgid:%%d" %% os.getpgrp()], capture_output=True, text=True)
open(sys.argv[2], "w").write(repr((a.returncode, a.stderr, b.returncode, b.stderr)))
time.sleep(60)
""" % LIFE
    with tempfile.TemporaryDirectory() as d, Code(code, STRAY, f"{d}/out") as made:
        until(lambda: os.path.exists(f"{d}/out") and os.path.getsize(f"{d}/out"))
        time.sleep(0.1)
        refused, said, ended, trouble = eval(open(f"{d}/out").read())
        assert refused == 2 and "ancestor" in said and "--only=members" in said, said
        assert ended == 0, trouble
        assert not alive(made.pids[0]) and alive(made.pid)


def a_child_that_called_setsid_is_found_by_its_mark_and_ended():
    with Made("setsid", mark=("CASE_RUN", "e2e-setsid")) as made:
        p = listed("env:CASE_RUN=e2e-setsid")[made["child"]]
        assert p["sid"] == made["child"] and "mark" in p["evidence"]
        out, _ = end("env:CASE_RUN=e2e-setsid", "--only=run")
        assert not alive(made["child"]) and out["survivors"] == []


def a_detached_group_of_two_is_ended_in_one_act():
    with Made("group", 1) as made:
        leader, member = made["leader"], made["member"]
        out, _ = end(f"pgid:{leader}", "--only=group")
        assert {p["pid"] for p in out["gone"]} == {leader, member}
        assert out["act"] == f"end: TERM to group {leader}"


def a_group_whose_leader_is_gone_is_shown_and_ended_by_its_number():
    with Made("leader-gone", 2) as made:
        gone, members = made["leader"], made.all("member")
        found = listed(f"pgid:{gone}")
        assert set(found) == set(members)
        assert all(p["group"]["leader_gone"] for p in found.values())
        out, _ = end(f"pgid:{gone}")
        assert {p["pid"] for p in out["gone"]} == set(members)


def a_term_ignorer_that_was_reparented_by_the_term_gets_the_kill():
    code = """
leaf = "import os,signal,time;signal.alarm(%d);os.setpgid(0,0);signal.signal(15,1);print(os.getpid(),flush=True);time.sleep(60)"
mid = "import subprocess,sys;subprocess.Popen([sys.executable,'-c',%%r]).wait()" %% leaf
import subprocess
p = subprocess.Popen([sys.executable, "-c", mid], stdout=subprocess.PIPE, text=True)
print(p.pid); print(int(p.stdout.readline())); print("READY", flush=True)
p.wait()
""" % LIFE
    with Code(code) as made:
        leaf = made.pids[1]
        assert "TERM" in why(leaf)["signals"]["ignored"]
        out, _ = end(made.pid)
        assert not alive(leaf)
        of = {p["pid"]: p["died_of"] for p in out["gone"]}
        assert of[leaf] == "KILL" and of[made.pid] == "TERM", of


def a_chain_that_forks_and_exits_is_ended_by_its_group():
    with Made("hopper") as made:
        group = made["leader"]
        out, _ = end(f"pgid:{group}")
        assert out["survivors"] == []
        until(lambda: not any(p["pgid"] == group and p["state"] != "Z" for p in listed().values()))


def a_ring_that_reforks_itself_is_ended():
    with Made("ring", 6, mark=("CASE_RUN", "e2e-ring")) as made:
        out, _ = end("env:CASE_RUN=e2e-ring")
        assert out["survivors"] == [], out
        time.sleep(0.3)
        assert not any(alive(pid) for pid in made.all("member"))
        found = stray("list", "env:CASE_RUN=e2e-ring").returncode
        assert found == 2, "one of them came back"


def a_server_that_ignores_eof_is_one_orphan_tree():
    code = """
import subprocess
c = subprocess.Popen(["setsid", "sh", "-c", "sh -c 'sleep 60; :' & echo $$ $!; wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
a, b = c.stdout.readline().split()
print(a); print(b); print("READY", flush=True)
"""
    with Code(code) as made:
        made.process.wait(10)
        root, child = made.pids
        until(lambda: listed().get(root, {}).get("ppid") not in (None, made.pid))
        tree = listed(root)
        assert root in tree and child in tree and "parent" in tree[child]["evidence"]
        end(root)
        assert not alive(root) and not alive(child)


def a_finished_session_whose_parent_lives_is_no_suspect():
    code = """
import subprocess
kids = [subprocess.Popen(["sleep", "60"]) for _ in range(2)]
for k in kids: print(k.pid)
print("READY", flush=True)
time.sleep(60)
"""
    with Code(code) as made:
        found = suspects()
        assert not any(pid in found for pid in made.pids + [made.pid])
        out, _ = end(made.pid)
        assert {p["pid"] for p in out["gone"]} == {made.pid, *made.pids}


def an_orphan_below_a_subreaper_is_watched_becoming_one_not_guessed():
    with Made("subreaper") as made:
        orphan = made["orphan"]
        p = listed(orphan)[orphan]
        assert p["ppid"] == made["reaper"]
        found = listed()
        reasons = set(found[orphan]["suspect"]) - set(found[made["reaper"]]["suspect"])
        assert reasons <= {"reparented", "child"}, reasons


def only_the_marked_one_of_two_equal_daemons_belongs_to_the_run():
    with Made("daemon") as service, Made("daemon", mark=("CASE_RUN", "e2e-16")) as left:
        members = listed("env:CASE_RUN=e2e-16")
        assert "mark" in members[left["daemon"]]["evidence"]
        other = members.get(service["daemon"]) # a possible one, never ended unasked
        assert not other or other["evidence"] == ["window"], other
        end("env:CASE_RUN=e2e-16")
        assert alive(service["daemon"]) and not alive(left["daemon"])


def ssh_agents_are_seen_though_their_environment_is_closed():
    from shutil import which
    if not which("ssh-agent"):
        raise Skip("no ssh-agent")
    with tempfile.TemporaryDirectory() as d:
        user = NOBODY if os.geteuid() == 0 else None
        kw = {"user": user, "group": user, "extra_groups": []} if user else {}
        os.chmod(d, 0o777)
        agent = subprocess.run(["timeout", str(LIFE), "ssh-agent", "-a", f"{d}/s", "sh", "-c",
                                f"echo $SSH_AGENT_PID; {STRAY} why --json $SSH_AGENT_PID"],
                               capture_output=True, text=True, **kw)
        import json
        out = agent.stdout.split("\n", 1)[1]
        p = json.loads(out)["items"][0]["process"]
        end_identity(p["pid"], p["start_ticks"]) # it looks for its parent each 10 s only
        assert {"member": "environ", "errno": "EACCES"} in p["unreadable"], p["unreadable"]
        assert p["env_marks"] is None


def a_scrubbed_session_is_not_called_a_suspect_without_a_reason():
    code = """
import subprocess
p = subprocess.run(["env", "-i", "/usr/bin/setsid", "-f", "/bin/sh", "-c", "echo $$; exec /bin/sleep 60 >/dev/null 2>&1"], capture_output=True, text=True)
print(p.stdout.strip()); print("READY", flush=True)
"""
    with Code(code) as made:
        pid = made.pids[0]
        made.process.wait(10)
        p = listed()[pid]
        assert p["sid"] == pid and p["env_marks"] == []
        assert p["suspect"] == [] or p["origin"]["kind"] == "login"


def a_member_of_a_closed_terminal_says_so():
    with Made("pty-leader-gone") as made:
        p = suspects()[made["child"]]
        assert "leader_gone" in p["suspect"] and "tty_closed" in p["suspect"]
        assert "HUP" in why(made["child"])["signals"]["ignored"]


def forty_identical_daemons_are_all_listed_and_ended_by_their_mark():
    code = """
import tempfile
for i in range(40):
    d = tempfile.mkdtemp(dir=".")
    p = os.fork()
    if not p:
        os.chdir(d)
        os.setsid()
        q = os.fork()
        if q:
            os.write(1, b"%%d\\n" %% q); os._exit(0)
        signal.alarm(%d)
        os.execvp("sleep", ["look-alike-daemon", "60"])
    os.waitpid(p, 0)
    if i %% 2: os.rmdir(d)
print("READY", flush=True)
time.sleep(60)
""" % LIFE
    with Code(code, env=dict(os.environ, CASE_RUN="e2e-27")) as made:
        until(lambda: sum(1 for pid in made.pids if alive(pid)) == 40)
        p = until(lambda: (lambda f: f if len([x for x in f.values()
                                               if x["args"] == ["look-alike-daemon", "60"]]) == 40 else None)(listed("env:CASE_RUN=e2e-27")))
        mine = [x for x in p.values() if x["pid"] in made.pids]
        assert sum(1 for x in mine if x["cwd_deleted"]) == 20
        end("env:CASE_RUN=e2e-27", status=0)
        assert not any(alive(pid) for pid in made.pids)


def text_of_the_agents_own_arguments_is_no_target():
    done = stray("end", "next start --port 3000")
    assert done.returncode == 2 and "run" in done.stderr


def a_stopped_group_with_a_term_pending_is_told_and_needs_the_kill():
    with Made("stopped-term") as made:
        item = why(made["child"])
        assert item["process"]["state"] == "T" and "TERM" in item["signals"]["pending"]
        done = stray("end", "--dry-run", made["child"], status=0)
        assert "stopped" in done.stdout
        out, _ = end(made["child"])
        assert out["gone"][0]["died_of"] == "KILL"


def what_no_kill_ends_is_reported_in_bounded_time():
    as_root()
    freezer = "/sys/fs/cgroup/freezer"
    if not os.path.isdir(freezer):
        raise Skip("no v1 freezer")
    group = f"{freezer}/stray-e2e-{os.getpid()}"
    with Made("sleeper") as made:
        os.mkdir(group)
        try:
            with open(f"{group}/cgroup.procs", "w") as f:
                f.write(str(made["child"]))
            with open(f"{group}/freezer.state", "w") as f:
                f.write("FROZEN")
            until(lambda: open(f"{group}/freezer.state").read().strip() == "FROZEN")
            begun = time.monotonic()
            out, _ = end(made["child"], status=1)
            assert time.monotonic() - begun < 15
            assert out["survivors"][0]["pid"] == made["child"]
            assert out["survivors"][0]["why"] in ("frozen", "uninterruptible")
        finally:
            with open(f"{group}/freezer.state", "w") as f:
                f.write("THAWED")
            until(lambda: not alive(made["child"]))
            until(lambda: open(f"{group}/cgroup.procs").read() == "" or None)
            os.rmdir(group)


def a_vfork_parent_in_d_state_is_told_with_where_it_waits_and_ended():
    with Made("vfork") as made:
        item = why(made["parent"])
        assert item["process"]["state"] == "D" and item["wchan"]
        end(made["parent"])
        assert not alive(made["parent"])


def zombies_are_dead_and_their_parent_is_named():
    with Made("zombie") as made:
        done = stray("end", "--no-record", made["zombie"])
        assert done.returncode == 2 and "reap" in done.stderr, done.stderr
        p = listed()[made["zombie"]]
        assert p["state"] == "Z" and p["ppid"] == made["parent"] and p["cmdline"] == ""
        assert made["zombie"] not in suspects()


def a_dead_leader_with_a_living_thread_is_alive():
    with Made("thread-left") as made:
        assert listed()[made["process"]]["state"] != "Z"
        end(made["process"])
        assert not alive(made["process"])


def the_init_of_a_pid_namespace_needs_the_kill():
    with Made("pidns") as made:
        pid = made["init"]
        p = listed()[pid]
        assert len(p["nspid"]) > 1 and p["nspid"][-1] == 1
        assert pid not in suspects()
        out, _ = end(pid)
        assert not alive(pid)


def a_member_that_may_not_be_signalled_is_named_and_the_status_says_so():
    as_root()
    with Made("two-users") as made:
        leader, nobody = made["leader"], made["nobody"]
        out, _ = end(f"pgid:{leader}", "--only=group", user=NOBODY, status=1)
        left = {p["pid"]: p["why"] for p in out["survivors"]}
        assert left == {leader: "not_permitted"}, out
        assert [p["pid"] for p in out["gone"]] == [nobody]


def a_number_that_passed_to_another_process_is_not_signalled():
    with Made("sleeper") as made:
        pid = made["child"]
        out = stray("end", "--no-record", f"{pid}@{start_of(pid) - 1}")
        assert out.returncode == 2 and alive(pid)
        thread = next((p for p in listed().values() if p["kthread"]), None)
        if not thread:
            raise Skip("no kernel thread in this PID namespace")
        out = stray("end", "--no-record", thread["pid"])
        assert out.returncode == 2 and "kernel thread" in out.stderr


def init_and_the_systems_own_groups_are_refused():
    for target in ("1", "pgid:1", "sid:1", "pgid:0", "sid:0"):
        out = stray("end", "--no-record", "--yes", target)
        assert out.returncode == 2, target


NAMES = [b") S 1 1 1 (", b"a b) Z (c", b"((sd-pam))", b"x\ny", b"  "]


def named(comm, *args):
    return Made("named", *[x.hex() if x else "00" for x in (comm, *args)])


def names_that_break_parsers_break_nothing():
    for name in NAMES:
        with named(name, b"sleep", b"60") as made:
            child = made["child"]
            p = listed()[child]
            assert p["comm"].encode() == name and p["ppid"] == made.process.pid, p["comm"]
            lines = [x for x in stray("list", status=0).stdout.splitlines() if f" {child} " in x]
            assert len(lines) == 1


def escapes_in_names_never_reach_the_output():
    evil = b"\x1b[2J\x1b[31mred", b"\x1b]0;title\x07", b"ab\r\x08\x08cd", b"\xc2\x9b31m", \
        "\u202egnp".encode()
    with named(b"\x1b[31mX", *evil) as made:
        for args in (["list"], ["why", made["child"]], ["list", "--json"], ["why", "--json", made["child"]],
                     ["snap"]):
            out = stray(*args, text=False, status=0, env={"LC_ALL": "C.UTF-8"}).stdout
            for bad in (b"\x1b", b"\x07", b"\x08", b"\r", b"\xc2\x9b", "\u202e".encode()):
                assert bad not in out, (args, bad)
        text = stray("why", made["child"], env={"LC_ALL": "C.UTF-8"}).stdout
        assert "\\x1b[2J" in text and "\\u202e" in text


def invalid_utf8_survives_exactly_in_json():
    import base64
    args = [b"\xff\xfe", b"abc\xe2\x82", b"\xc0\x80", b"\xed\xa0\x80", b"caf\xe9"]
    for locale in ("C", "C.UTF-8", "xx_invalid"):
        with named(b"bytes\xff", *args) as made:
            p = listed(env={"LC_ALL": locale})[made["child"]]
            got = [base64.b64decode(b) if b else a.encode() for a, b in zip(p["args"], p["args_b64"])]
            assert got == args, got
            assert base64.b64decode(p["comm_b64"]) == b"bytes\xff"


def wide_names_keep_their_columns():
    comm = "漢字テスト".encode()[:15]
    with named(comm, "👨‍👩‍👧".encode(), "e\u0301\u0301\u0301\u0301\u0301".encode(), b"a\tb") as made:
        for locale in ("C.UTF-8", "C"):
            out = stray("list", status=0, env={"LC_ALL": locale}).stdout
            assert f" {made['child']} " in out
            if locale == "C":
                line = next(x for x in out.splitlines() if f" {made['child']} " in x)
                assert line[line.index(str(made["child"])):].isascii()


def a_process_named_like_a_kernel_thread_is_shown_as_what_it_is():
    with named(b"kworker/0:1-ev", b"[kworker/0:1-events]") as made:
        p = listed()[made["child"]]
        assert p["kthread"] is False
        done = stray("end", "--dry-run", made["child"], status=0)
        assert "would hit" in done.stdout


def a_very_long_command_line_is_whole_in_json():
    with Made("sleeper") as unused:
        code = """
a = [b"x" * 120000] + [b"arg%d" % i for i in range(2000)] + [b"com.example.Main"]
p = os.fork()
if not p: signal.alarm(60); os.execv(sys.executable, [b"python3", b"-c", b"import time; time.sleep(60)"] + a)
print(p); print("READY", flush=True); time.sleep(60)
"""
        with Code(code) as made:
            pid = made.pids[0]
            p = until(lambda: (lambda q: q if q["args"] and len(q["args"]) > 2000 else None)(listed()[pid]))
            assert p["args"][-1] == "com.example.Main" and len(p["args"][3]) == 120000
        assert alive(unused["child"])


def where_proc_hides_processes_nobody_is_called_an_orphan():
    as_root()
    import json
    script = f"""
mount -t proc -o hidepid=2 proc /proc || exit 77
setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups sh -c 'sleep {LIFE}.25 >/dev/null 2>&1 & {EXECED}; {STRAY} list --json; s=$?; {STRAY} list --suspects | grep hidepid; kill $!; exit $s'
"""
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True,
                          timeout=LIFE)
    if done.returncode == 77:
        raise Skip("no proc to mount")
    assert done.returncode == 0, done.stderr
    out, words = done.stdout.split("\n", 1)
    out = json.loads(out)
    mine = [p for s in out["sessions"] for g in s["groups"] for p in g["processes"]
            if p["args"] and p["args"][-1] == f"{LIFE}.25"]
    assert len(mine) == 1 and mine[0]["suspect"] == [], mine
    assert out["coverage"]["hidepid"] and "hides" in words


SECRETS = ["--token=E2ESECRET-e", "-H", "Authorization: Bearer E2ESECRET-f", "--dsn",
           "https://bob:E2ESECRET-g@host.invalid/", "env", "X_TOKEN=E2ESECRET-h", "run"]
SECRET_ENV = {"DEMO_API_TOKEN": "E2ESECRET-a", "PGPASSWORD": "E2ESECRET-c",
              "DATABASE_URL": "postgres://alice:E2ESECRET-d@db.invalid/app", "CASE_RUN": "e2e-55"}


def secrets_reach_no_screen_and_no_file():
    with Made("named", b"server".hex(), *[s.encode().hex() for s in ["server"] + SECRETS],
              env=SECRET_ENV) as made, state_dir() as d:
        child = made["child"]
        raw = open(f"/proc/{child}/cmdline").read()
        assert raw.count("E2ESECRET") == 4
        outs = [stray(*a, status=0).stdout for a in (["list"], ["list", "--json"], ["why", child],
                                                     ["why", "--json", child], ["snap"])]
        stray("end", "-k", "1", "--state-dir", d, child, status=0)
        for where, _, names in os.walk(d):
            assert os.stat(where).st_mode & 0o777 == 0o700
            for name in names:
                path = os.path.join(where, name)
                assert os.stat(path).st_mode & 0o777 == 0o600
                outs.append(open(path).read())
        assert len(outs) == 11
        for out in outs:
            assert "E2ESECRET" not in out, out[max(0, out.index("E2ESECRET") - 200):][:300]
        assert "DEMO_API_TOKEN" in outs[2] and "***" in outs[2]


def processes_that_vanish_while_being_read_are_data():
    with Made("fork-storm", 2000) as made, Made("group", 2) as stable:
        pids = {stable["leader"], *stable.all("member")}
        for _ in range(15):
            found = listed()
            assert pids <= set(found) and 0 not in found
            assert all(p["pid"] > 0 and p["ppid"] >= 0 for p in found.values())
        done = stray("list", status=0)
        assert done.stderr == ""
        assert made["root"]


def a_remote_side_without_a_tty_shows_sockets_as_its_stdio():
    code = """
import socket, subprocess
a, b = socket.socketpair()
p = subprocess.Popen(["sleep", "60"], stdin=b, stdout=b, stderr=b, start_new_session=True)
a.close(); b.close()
print(p.pid); print("READY", flush=True)
"""
    with Code(code) as made:
        made.process.wait(10)
        p = why(made.pids[0])["process"]
        assert p["tty"] is None and p["sid"] == p["pid"]
        assert all(x.startswith("socket:") for x in p["stdio"].values()), p["stdio"]


def an_established_connection_is_told_with_its_remote_end():
    with Made("tcp") as made:
        reach = why(made["client"])["reach"]["tcp"]
        assert reach["first"].startswith("127.0.0.1:"), reach


def an_unwritable_state_directory_is_said_before_anything_is_sent():
    with Made("sleeper") as made:
        for bad in ("/proc/nowhere", "/dev/null/x"):
            done = stray("end", "--state-dir", bad, made["child"], status=2)
            assert done.stderr.count("\n") == 1 and alive(made["child"])
        stray("end", "--state-dir", "/proc/nowhere", "--no-record", made["child"], status=0)
        assert not alive(made["child"])


def freezing_stops_all_and_thawing_lets_them_go_on():
    with Made("group", 2) as made:
        pids = [made["leader"], *made.all("member")]
        stray("freeze", "--no-record", f"pgid:{made['leader']}", status=0)
        assert all(listed()[pid]["state"] == "T" for pid in pids)
        stray("thaw", "--no-record", f"pgid:{made['leader']}", status=0)
        assert all(listed()[pid]["state"] != "T" for pid in pids)


def a_control_group_is_frozen_by_the_kernel_and_thawed():
    as_root()
    mount = next((line.split()[1] for line in open("/proc/mounts") if line.split()[2] == "cgroup2"), None)
    if not mount:
        raise Skip("no cgroup v2")
    group = f"{mount}/stray-e2e-{os.getpid()}"
    with Made("group", 1) as made:
        pids = [made["leader"], made["member"]]
        try:
            os.mkdir(group)
        except OSError as e:
            raise Skip(f"no cgroup can be made: {e}") from e
        try:
            for pid in pids:
                with open(f"{group}/cgroup.procs", "w") as f:
                    f.write(str(pid))
            target = f"cgroup:/{os.path.basename(group)}"
            assert set(listed(target)) == set(pids)
            out = stray("freeze", "--no-record", target, status=0).stdout
            assert out.count("frozen") == 2, out
            assert "frozen 1" in open(f"{group}/cgroup.events").read()
            assert all(listed()[pid]["state"] != "T" for pid in pids)
            stray("thaw", "--no-record", target, status=0)
            assert "frozen 0" in open(f"{group}/cgroup.events").read()
            end(target)
        finally:
            with open(f"{group}/cgroup.freeze", "w") as f:
                f.write("0")
            with open(f"{group}/cgroup.kill", "w") as f:
                f.write("1")
            until(lambda: "populated 0" in open(f"{group}/cgroup.events").read())
            os.rmdir(group)


def the_written_diff_says_who_went():
    import json
    with Made("ignore-term") as made, state_dir() as d:
        done = stray("end", "-k", "1", "--json", "--state-dir", d, made["child"], status=0)
        record = json.loads(done.stdout)["record"]
        files = set(os.listdir(record))
        assert files == {"intent.json", "before.json", "after.json", "diff.json", "record.md", "journal.jsonl"}
        before = json.load(open(f"{record}/before.json"))
        intent = json.load(open(f"{record}/intent.json"))
        assert [p["pid"] for p in before["processes"]] == [made["child"]]
        assert intent["aimed"][0] == {"pid": made["child"], "start_ticks": before["processes"][0]["start_ticks"]}
        page = open(f"{record}/record.md").read()
        assert "1 of 1 gone" in page and "KILL" in page


def commands_without_a_target_end_nothing():
    for command in ("end", "freeze", "thaw"):
        done = stray(command, status=2)
        assert "TARGET" in done.stderr


def a_cut_or_foreign_snapshot_is_an_error_of_one_line():
    with tempfile.TemporaryDirectory() as d:
        stray("snap", "-o", f"{d}/a.json", status=0)
        text = open(f"{d}/a.json").read()
        cases = {"cut": text[:len(text) // 2], "empty": "", "list": "[]", "other": '{"schema":"x/1"}',
                 "newer": text.replace("stray.snapshot/1", "stray.snapshot/2"), "garbage": text + "x"}
        for name, content in cases.items():
            with open(f"{d}/{name}", "w") as f:
                f.write(content)
            done = stray("diff", f"{d}/{name}", status=2)
            assert done.stderr.count("\n") == 1 and name in done.stderr, (name, done.stderr)
        stray("snap", "-o", f"{d}/a.json", status=2)  # never overwritten
        assert stray("diff", f"{d}/a.json", f"{d}/a.json").returncode == 0
        with Made("sleeper") as made:
            out = stray_json("diff", f"{d}/a.json")
            assert made["child"] in [p["pid"] for p in out["added"]]


TESTS = [f for n, f in list(globals().items())
         if callable(f) and getattr(f, "__module__", "") == "__main__" and n not in
         ("suspects", "named")]

if __name__ == "__main__":
    main([t for t in TESTS if not sys.argv[1:] or any(a in t.__name__ for a in sys.argv[1:])])
