#!/usr/bin/python3
# timeout: 200
"""Members of a run by what they hold and whom they asked, on real processes."""
import contextlib
import json
import os
import pty
import signal
import subprocess
import tempfile
import time

from e2e import LIFE, STRAY, Code, alive, as_root, end, listed, main, stray, stray_json, until, why

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
                 start_new_session=True)
CLOSE
signal.pause()
"""
PRELUDE = f"import os,signal,sys;LIFE={LIFE};signal.alarm(LIFE)\n"


def executor(root=ROOT, shared=False, **kw):
    """The executor; its pids: the root, and who is away."""
    return Code(EXECUTOR.replace("CLOSE", "" if shared else "os.close(w)"), PRELUDE + root, **kw)


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
        with Code(SERVICE, at, **kw) as service, Code(CLIENT, at, **kw) as client:
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


def a_possible_member_is_ended_only_where_that_is_asked_for():
    with asked() as (service, before, client, job):
        out, _ = end(client.pid, "--only=run")
        assert {p["pid"] for p in out["gone"]} == {client.pid}, out
        assert alive(job) and alive(service.pid)
    with asked() as (service, before, client, job):
        out, _ = end(client.pid, "--only=run", "--include-possible", "--yes")
        assert {p["pid"] for p in out["gone"]} == {client.pid, job}, out
        assert not alive(job) and alive(service.pid) and alive(before)


if __name__ == "__main__":
    main([
        who_holds_the_roots_stderr_is_a_likely_member,
        an_older_process_that_shares_the_end_makes_it_no_evidence,
        members_by_a_pipe_are_ended_with_the_run_and_the_reader_is_not,
        what_a_service_forked_while_a_member_spoke_with_it_is_a_possible_member,
        a_possible_member_is_ended_only_where_that_is_asked_for,
    ])
