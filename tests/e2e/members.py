#!/usr/bin/python3
# timeout: 200
"""Members of a run by what they hold and whom they asked, on real processes."""
import contextlib
import os
import sys
import tempfile
import time

from e2e import LIFE, Code, Made, alive, as_root, end, listed, main, start_of, state_dir, \
    stray, stray_json, why

# An executor gives its command a pipe as stderr and reads it.  The command leaves a process behind
# that has another session, no environment and no parent of its own, but that stderr.
AWAY = """
def away(mine=lambda: None):
    there, exec_closes = os.pipe()
    if os.fork():
        os.close(exec_closes)
        return os.read(there, 1)
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.alarm(LIFE)
    mine()
    print(os.getpid(), flush=True)
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.chdir("/")
    os.execve("/bin/sleep", ["sleep", str(LIFE)], {})
"""
ROOT = AWAY + """
print(os.getpid(), flush=True)
away()
print("READY", flush=True)
signal.pause()
"""
EXECUTOR = """
import subprocess
r, w = os.pipe()
subprocess.Popen([sys.executable, "-c", sys.argv[1]], stderr=w, stdin=subprocess.DEVNULL,
                 start_new_session=True, **USER)
CLOSE
signal.pause()
"""
NOBODY = 65534
AS_NOBODY = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
PRELUDE = f"import os,signal,sys;LIFE={LIFE};signal.alarm(LIFE)\n"


def executor(root=ROOT, shared=False, drops=False, **kw):
    """The executor; its pids: the root, and who is away."""
    code = EXECUTOR.replace("CLOSE", "" if shared else "os.close(w)")
    code = code.replace("USER", str(AS_NOBODY if drops else {}))
    return Code(code, PRELUDE + root, **kw)


def run_of(target, **kw):
    return stray_json("list", target, status=0, **kw)["run"]


def who_holds_the_roots_stderr_is_a_likely_member():
    with executor() as e:
        root, away = e.pids
        members = listed(root)
        assert members[away]["evidence"] == ["pipe"], members[away]
        assert "S" in members[away]["flags"], members[away]
        assert e.pid not in members, members
        run = run_of(root)
        peers = {p["process"]["pid"]: p["of"] for p in run["peers"]}
        assert peers[e.pid] == ["stderr"] and peers[os.getpid()] == ["stdout"], run
        text = stray("list", root, status=0).stdout
        assert f"peer: {e.pid} " in text and "other end of its root's stderr" in text, text


def an_older_process_that_shares_the_end_makes_it_no_evidence():
    with executor(shared=True) as e:
        root, away = e.pids
        members = listed(root)
        assert away not in members and e.pid not in members, members


def members_by_a_pipe_are_ended_with_the_run_and_the_reader_is_not():
    with executor() as e:
        root, away = e.pids
        out, _ = end(root, "--only=run")
        assert {p["pid"] for p in out["gone"]} >= {root, away}, out
        assert not alive(away) and alive(e.pid)


# A service by name that forks for whoever connects, and for itself before; and a client of it.
SERVICE = """
import socket
def job():
    pid = os.fork()
    if pid: return pid
    os.setsid(); os.chdir("/"); signal.alarm(60)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(3): os.dup2(null, fd)
    os.execve("/bin/sleep", ["sleep", "60"], {})
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1]); s.listen()
print(job()); print("READY", flush=True)
c = s.accept()[0]
c.send(str(job()).encode())
signal.pause()
"""
CLIENT = """
import socket
c = socket.socket(socket.AF_UNIX)
c.connect(sys.argv[1])
print(int(c.recv(20))); print("READY", flush=True)
sys.stdin.readline()
c.close()
print("closed", flush=True)
signal.pause()
"""


@contextlib.contextmanager
def asked(**kw):
    """A service, what it forked before, its client, and what it forked for that."""
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o777)
        at = os.path.join(d, "s")
        with Code(SERVICE, at, **kw) as service:
            time.sleep(0.05)  # start times are in ticks of 10 ms: not in the same one
            with Code(CLIENT, at, **kw) as client:
                yield service, service.pids[0], client, client.pids[0]


def what_a_service_forked_while_a_member_spoke_with_it_is_a_possible_member():
    with asked() as (service, before, client, job):
        members = listed(client.pid)
        assert members[job]["evidence"] == ["peer"], members[job]
        assert members[job]["flags"][-1] == "?", members[job]
        assert service.pid not in members and before not in members, members
        # nobody speaks any more: nothing shows it to who looks only now
        client.process.stdin.write("\n")
        client.process.stdin.flush()
        assert client.process.stdout.readline() == "closed\n"
        assert job not in listed(client.pid)


def why_tells_the_evidence_of_what_the_target_names_and_of_none_else():
    with executor() as e:
        root, away = e.pids
        out = stray_json("why", f"pgid:{root}", status=0)
        assert [i["process"]["pid"] for i in out["items"]] == [root], out
        assert out["items"][0]["evidence"] == ["group", "chosen"], out
        text = stray("why", root, status=0, env={"LC_ALL": "C.UTF-8"}).stdout
        assert "chosen · of process" in text, text
        assert "not known: who else holds" not in text, text
    mark = f"why-{os.getpid()}"
    with executor(env=dict(os.environ, CASE_PIPE=mark)) as e:
        root, away = e.pids
        out = stray_json("why", f"env:CASE_PIPE={mark}", status=0)
        assert {i["process"]["pid"] for i in out["items"]} == {e.pid, root}, out
        assert all("mark" in i["evidence"] for i in out["items"]), out


def an_ordinary_user_finds_them_by_what_he_may_read():
    as_root()
    with executor(**AS_NOBODY) as e:
        root, away = e.pids
        # who is older and root's cannot be read; the executor, who made the pipe, speaks for them
        members = listed(root, user=NOBODY)
        assert members[away]["evidence"] == ["pipe"], members[away]
        out, _ = end(root, "--only=run", user=NOBODY)
        assert {p["pid"] for p in out["gone"]} >= {root, away}, out
    with asked(**AS_NOBODY) as (service, before, client, job):
        members = listed(client.pid, user=NOBODY)
        assert members[job]["evidence"] == ["peer"], members[job]


def an_ordinary_user_is_told_what_he_may_not_read():
    as_root()
    with executor(drops=True) as e:  # it is root's, the root is not
        root, away = e.pids
        done = stray("list", root, user=NOBODY, status=0).stdout
        assert str(away) not in done, done
        assert "not known: whether the run's pipes are its own" in done, done
        assert away in listed(root)
    # a root that is another's
    with executor() as e:
        root, away = e.pids
        done = stray("list", root, user=NOBODY, status=0).stdout
        assert f"not known: the run's pipes: descriptors of {root} not readable" in done, done


def why_names_the_service_that_was_asked():
    with asked() as (service, before, client, job), state_dir() as d:
        stray("adopt", "--id", "asked", "--state-dir", d, client.pid, status=0)
        text = stray("why", "--state-dir", d, "run:asked", status=0).stdout
        with open(f"/proc/{service.pid}/comm", encoding="utf-8") as f:
            comm = f.read().strip()
        assert f"asked: forked by {service.pid} {comm} while" in text, text
        items = stray_json("why", "--state-dir", d, "run:asked", status=0)["items"]
        asked_by = {i["process"]["pid"]: (i["evidence"], i["asked"]) for i in items}
        assert asked_by[job] == (["peer"], {"pid": service.pid, "comm": comm,
                                            "start_ticks": start_of(service.pid)}), asked_by
        assert asked_by[client.pid][1] is None, asked_by


def why_explains_what_is_dead_and_no_run():
    with Made("zombie") as made:
        item = why(made["zombie"])
        assert item["process"]["state"] == "Z" and item["evidence"] == [], item


def a_possible_member_is_ended_only_where_that_is_asked_for():
    with asked() as (service, before, client, job):
        out, _ = end(client.pid, "--only=run")
        assert {p["pid"] for p in out["gone"]} == {client.pid}, out
        assert alive(job) and alive(service.pid)
    with asked() as (service, before, client, job):
        out, _ = end(client.pid, "--only=run", "--include-possible", "--yes")
        assert {p["pid"] for p in out["gone"]} == {client.pid, job}, out
        assert not alive(job) and alive(service.pid) and alive(before)


def hold(situation):
    """For tests in sh: its PIDs, then READY; it is there until stdin is closed."""
    with {"executor": executor, "asked": asked}[situation]() as made:
        if situation == "executor":
            pids = {"executor": made.pid, "root": made.pids[0], "away": made.pids[1]}
        else:
            pids = {"service": made[0].pid, "client": made[2].pid, "job": made[3]}
        for name, pid in pids.items():
            print(name, pid)
        print("READY", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "hold":
        sys.exit(hold(sys.argv[2]))
    main([
        who_holds_the_roots_stderr_is_a_likely_member,
        an_older_process_that_shares_the_end_makes_it_no_evidence,
        members_by_a_pipe_are_ended_with_the_run_and_the_reader_is_not,
        what_a_service_forked_while_a_member_spoke_with_it_is_a_possible_member,
        why_tells_the_evidence_of_what_the_target_names_and_of_none_else,
        an_ordinary_user_finds_them_by_what_he_may_read,
        an_ordinary_user_is_told_what_he_may_not_read,
        why_names_the_service_that_was_asked,
        why_explains_what_is_dead_and_no_run,
        a_possible_member_is_ended_only_where_that_is_asked_for,
    ])
