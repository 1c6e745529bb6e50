#!/usr/bin/python3
# timeout: 300
"""What each launcher that agents use starts is gone after the deadline, with its groups; what it
started so that it could not be held is named; and an authority that asks refuses it from then on.

doc/launchers.md has a row for each, which is compared with what is measured here.
"""
import concurrent.futures
import contextlib
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from e2e import (LIFE, PATIENCE, STRAY, TOP, Skip, alive, end_identity, main, start_of, until)
from marked import Launched, assert_gone, new_id, stat_of
from recorded import state
from ssh_server import Server

# Says how it was started, then asks the action server before each action, whatever comes: no TERM
# ends it.
ACTOR = """
import json, os, signal, socket, sys, time
folder, name, run, port = sys.argv[1:5]
signal.alarm(%d)
def link(fd):
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return None
with open("/proc/self/status") as f:
    ignored = next(int(line.split()[1], 16) for line in f if line.startswith("SigIgn"))
me = {"pid": os.getpid(), "pgid": os.getpgid(0), "sid": os.getsid(0), "ignored": ignored,
      "fds": {fd: link(fd) for fd in (0, 1, 2, 7)}}
signal.signal(signal.SIGTERM, lambda *_: open(f"{folder}/{name}.term", "w").close())
with open(f"{folder}/{name}.new", "w") as f:
    json.dump(me, f)
os.rename(f"{folder}/{name}.new", f"{folder}/{name}.json")
while True:
    try:
        with socket.create_connection(("127.0.0.1", int(port)), 5) as s:
            s.sendall(f"{run} {name}\\n".encode())
            s.recv(16)
    except OSError:
        pass
    time.sleep(0.7)
""" % LIFE

# A program to be compiled: becomes what it is told to.
BECOME = """#include <unistd.h>
int main(int argc, char **argv) { return argc > 1 ? execv(argv[1], argv + 1) : 1; }
"""

MAKEFILE = """all: act slow.o
become: become.c ; gcc -o $@ become.c
act: become ; ./become $(ACTOR)
slow.o: ; gcc -x c -c -o $@ - <>fifo
.PHONY: all act
"""

NODE = """
const { spawn } = require("child_process");
const child = spawn(%s, %s, %s);
%s
setTimeout(() => {}, 60000);
"""

PYTHON_DOUBLE_FORK = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.execv(sys.argv[1], sys.argv[1:])
os.wait()
time.sleep(60)
"""

PYTHON_SESSION = """
import subprocess, sys, time
subprocess.Popen(sys.argv[1:], start_new_session=True)
time.sleep(60)
"""

PYTHON_TIMEOUT = """
import subprocess, sys, time
try:
    subprocess.run(sys.argv[1] + "; :", shell=True, timeout=0.7)
except subprocess.TimeoutExpired:
    time.sleep(60)
"""

PYTHON_MULTIPROCESSING = """
import multiprocessing, runpy, sys
how, sys.argv = sys.argv[1], sys.argv[3:]  # the actor in this very interpreter
p = multiprocessing.get_context(how).Process(target=runpy.run_path, args=(sys.argv[0],),
                                             kwargs={"run_name": "__main__"})
p.start()
p.join()
"""


class Authority:
    """Answers on loopback whether a run may act, having asked `stray check`."""

    def __init__(self, s):
        self.state = s
        self.answers = []  # (name, when it was asked in ns since boot, yes)
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            while True:
                try:
                    pool.submit(self.answer, self.socket.accept()[0])
                except OSError:
                    return

    def answer(self, peer):
        with contextlib.suppress(OSError, ValueError), peer:
            peer.settimeout(5)
            run, name = peer.makefile("rb").readline().decode().split()
            asked = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            yes = subprocess.run([STRAY, "check", run, "--action", f"act of {name}", "--state-dir",
                                  self.state.path], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, timeout=30).returncode == 0
            self.answers.append((name, asked, yes))
            peer.sendall(b"yes" if yes else b"no")

    def of(self, name):
        return [(asked, yes) for who, asked, yes in self.answers if who == name]

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(PATIENCE)
        self.socket.close()


class Launcher:
    """A way to start something: what is needed for it, and the command that does so."""

    def __init__(self, name, title, command, comms, needs=(), env=None):
        self.name, self.title, self.command, self.comms = name, title, command, comms
        self.needs, self.env = needs, env or (lambda world: {})


def shell(script):
    """A shell command line, in which $A is the actor's."""
    return lambda world, actor: ["sh", "-c", script.replace("$A", shlex.join(actor))]


def python(code, *args):
    return lambda world, actor: [sys.executable, "-c", code, *args, *actor]


def node(options, then=""):
    return lambda world, actor: ["node", "-e", NODE % (
        json.dumps(actor[0]), json.dumps(actor[1:]), json.dumps(options), then)]


def npm(world, actor):
    folder = tempfile.mkdtemp(dir=world.folder)
    with open(f"{folder}/package.json", "w", encoding="utf-8") as f:
        json.dump({"name": "acting", "version": "1.0.0",
                   "scripts": {"act": shlex.join(actor)}}, f)
    return ["npm", "--prefix", folder, "--silent", "run", "act"]


def make(world, actor):
    folder = tempfile.mkdtemp(dir=world.folder)
    for name, text in (("Makefile", MAKEFILE), ("become.c", BECOME)):
        with open(f"{folder}/{name}", "w", encoding="utf-8") as f:
            f.write(text)
    os.mkfifo(f"{folder}/fifo")
    return ["make", "-s", "-j2", "-C", folder, f"ACTOR={shlex.join(actor)}"]


def ssh(world, actor):
    return world.server().client(shlex.join(actor))


def quiet_npm(world):
    return {"npm_config_cache": f"{world.folder}/npm", "npm_config_update_notifier": "false",
            "npm_config_audit": "false", "HOME": world.folder}


LAUNCHERS = [
    Launcher("pipeline", "`sh -c 'a \\| b'`", shell("$A | cat"), ["sh", "python3", "cat"]),
    Launcher("background", "`cmd &`", shell("$A & sleep 60"), ["sh", "python3", "sleep"]),
    Launcher("nohup", "`nohup cmd &`", shell("nohup $A & sleep 60"), ["sh", "python3", "sleep"]),
    Launcher("setsid", "`setsid -f cmd`", shell("setsid -f $A; sleep 60"),
             ["sh", "python3", "sleep"]),
    Launcher("double-fork", "fork, `setsid`, fork", python(PYTHON_DOUBLE_FORK),
             ["python3", "python3"]),
    Launcher("popen", "Python `Popen(start_new_session=True)`", python(PYTHON_SESSION),
             ["python3", "python3"]),
    Launcher("timeout", "Python `run(shell=True, timeout=)`",
             lambda world, actor: [sys.executable, "-c", PYTHON_TIMEOUT, shlex.join(actor)],
             ["python3", "python3"]),
    Launcher("fork", "Python `multiprocessing`, fork", python(PYTHON_MULTIPROCESSING, "fork"),
             ["python3", "python3"]),
    Launcher("forkserver", "Python `multiprocessing`, forkserver",
             python(PYTHON_MULTIPROCESSING, "forkserver"), 4 * ["python3"]),
    Launcher("spawn", "Node `spawn`", node({"stdio": "inherit"}), ["node", "python3"], ["node"]),
    Launcher("detached", "Node `spawn`, detached, `unref`",
             node({"detached": True, "stdio": "ignore"}, "child.unref();"), ["node", "python3"],
             ["node"]),
    Launcher("npm", "`npm run script`", npm, ["python3"], ["npm"], quiet_npm),
    Launcher("make", "`make -j2`, with gcc", make, ["make", "python3", "gcc", "cc1"],
             ["make", "gcc"]),
    Launcher("ssh", "`ssh host cmd`", ssh, ["ssh"], ["ssh", "ssh-keygen"]),
]


class Launch:
    """One run of a launcher, up to its end; what was seen on the way."""

    def __init__(self, world, launcher, suffix, options):
        self.launcher, self.world = launcher, world
        self.id = new_id(f"{launcher.name}{suffix}")
        missing = [tool for tool in launcher.needs if not shutil.which(tool)]
        if missing:
            raise Skip(f"no {' '.join(missing)}")
        self.said = f"{world.folder}/{self.id}.json"
        actor = [sys.executable, world.actor, world.folder, self.id, self.id,
                 str(world.authority.port)]
        command = launcher.command(world, actor)
        self.run = world.stack.enter_context(Launched(
            world.state, *command, run=self.id, options=options, cwd=world.folder,
            env=dict(os.environ, TMPDIR=world.folder, **launcher.env(world)), stdin=world.streams[0],
            stdout=world.streams[1], stderr=world.streams[2], pass_fds=[7]))
        if launcher.name == "ssh":
            world.stack.callback(self.end_remote)

    def await_actor(self):
        """Until it acts; reads who of the run is there."""
        self.run.await_file(self.said)
        with open(self.said, encoding="utf-8") as f:
            self.actor = json.load(f)
        self.start = start_of(self.actor["pid"])
        self.members = self.run.await_members(*self.launcher.comms)
        if self.launcher.name == "timeout":
            until(lambda: self.parent_comm() != "sh")  # which the launcher itself kills
        self.parent = self.parent_comm()

    def parent_comm(self):
        fields, _ = stat_of(self.actor["pid"])
        parent = stat_of(int(fields[1]))
        return parent[1] if parent else "?"

    def signal_launcher(self, sig):
        """To it alone."""
        root = self.world.state.record(self.id)["root"]
        if start_of(root["pid"]) == root["start_ticks"]:  # it is stray's to reap: not yet
            os.kill(root["pid"], sig)

    def reached(self):
        return os.path.exists(f"{self.world.folder}/{self.id}.term")

    def end_remote(self):
        """What the client asked for is nobody's but this test's."""
        if hasattr(self, "actor") and self.start is not None:
            end_identity(self.actor["pid"], self.start)

    def is_remote(self):
        return self.launcher.name == "ssh"


class World:
    """All launchers at work at the same time, each in a run of its own."""

    def __init__(self, stack):
        self.stack = stack
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.chmod(self.folder, 0o755)
        self.state = stack.enter_context(state())
        self.actor = f"{self.folder}/actor.py"
        with open(self.actor, "w", encoding="utf-8") as f:
            f.write(ACTOR)
        seven = os.open(f"{self.folder}/seven", os.O_WRONLY | os.O_CREAT, 0o644)
        if seven == 7:  # whoever started us left 3 to 6 open
            os.set_inheritable(7, True)
        else:
            os.dup2(seven, 7, inheritable=True)
            os.close(seven)
        stack.callback(os.close, 7)
        self.streams = [stack.enter_context(open(f"{self.folder}/{name}", "w+", encoding="utf-8"))
                        for name in ("in", "out", "err")]
        self.authority = Authority(self.state)
        stack.callback(self.authority.close)
        self._server = None
        self.sets = {}

    def server(self):
        if not self._server:
            self._server = self.stack.enter_context(Server(self.folder))
        return self._server

    def launches(self, suffix, options):
        """All of them, made once; in place of a launch that failed, why."""
        if suffix not in self.sets:
            made = {}
            for launcher in LAUNCHERS:
                try:
                    made[launcher.name] = Launch(self, launcher, suffix, options)
                except Exception as why:  # it is for its own test to fail
                    made[launcher.name] = why
            for name, launch in made.items():
                try:
                    if isinstance(launch, Launch):
                        launch.await_actor()
                except Exception as why:
                    made[name] = why
            self.sets[suffix] = made
            if suffix == ALONE:
                self.end_launchers([x for x in made.values() if isinstance(x, Launch)])
        return self.sets[suffix]

    def end_launchers(self, launches):
        for launch in launches:
            launch.signal_launcher(signal.SIGTERM)
        time.sleep(0.5)  # less than the run settles: what reaches an actor later is of stray
        for launch in launches:
            launch.was_reached = launch.reached()
            launch.signal_launcher(signal.SIGKILL)  # make waits for those that it told

    def launch(self, launcher, suffix, options):
        launch = self.launches(suffix, options)[launcher.name]
        if isinstance(launch, Exception):
            raise launch
        return launch


DEADLINE = ["-t", "15", "-k", "2.5"]
ALONE = ".alone"
LEFTOVER = ["--leftover=end", "-k", "0.2", "--settle", "2"]


def assert_refused_from_the_expiry_on(launch):
    events = launch.run.events("deadline_expired", "action_accepted", "action_refused")
    expired = next(e["mono_ns"] for e in events if e["event"] == "deadline_expired")
    accepted = [e["mono_ns"] for e in events if e["event"] == "action_accepted"]
    refused = [e["mono_ns"] for e in events if e["event"] == "action_refused"]
    assert accepted and refused, (len(accepted), len(refused))
    assert max(accepted) < expired, "accepted after the expiry"
    seqs = [e["event"] for e in events]
    assert "action_accepted" not in seqs[seqs.index("deadline_expired"):], seqs
    answers = launch.world.authority.of(launch.id)
    # a slow answer may be to what was asked before the expiry
    assert {yes for _, yes in answers} == {True, False}, answers
    assert not any(yes for asked, yes in answers if asked >= expired), answers


def at_the_deadline(world, launcher):
    launch = world.launch(launcher, "", DEADLINE)
    run = launch.run
    result = run.finish(124)
    if launch.is_remote():
        assert alive(launch.actor["pid"]) and start_of(launch.actor["pid"]) == launch.start
        assert [h["comm"] for h in result["handed_off"]] == ["ssh"], result["handed_off"]
        assert launch.actor["pid"] not in launch.members
        touched = [t["pid"] for s in result["signals"] for t in s["to"]]
        touched += [e["process"]["pid"] for e in run.events("exited")]
        assert launch.actor["pid"] not in touched
        handed = run.events("handed_off")
        assert [e["comm"] for e in handed] == ["ssh"]
        with open(world.folder + "/err", encoding="utf-8") as f:
            said = f.read()
            assert f"handed off by {handed[0]['process']['pid']} ssh" in said, (handed, said)
        expired = run.events("deadline_expired")[0]["mono_ns"]
        until(lambda: any(asked > expired for asked, _ in world.authority.of(launch.id)))
        launch.end_remote()
    else:
        assert launch.actor["pid"] in launch.members
        assert result["handed_off"] == []
    assert result["state"] == "ended" and result["survivors"] == [], result
    assert_gone(run.seen)
    assert run.members() == {}
    if not launch.is_remote():
        assert not alive(launch.actor["pid"])
    assert_refused_from_the_expiry_on(launch)
    world.state("verify", run.run)


def when_its_launcher_ends(world, launcher):
    launch = world.launch(launcher, ALONE, LEFTOVER)
    result = launch.run.finish()
    assert result["survivors"] == [] and result["state"] in ("ended", "finished"), result
    assert_gone(launch.run.seen)
    if launch.is_remote():
        assert alive(launch.actor["pid"])
        launch.end_remote()


# --- what was measured, as the page has it

def place(world, launch):
    run = world.state.record(launch.run.run)
    me = launch.actor
    session = ("the run's" if me["sid"] == run["sid"] else
               "its own" if me["sid"] == me["pid"] else "another's")
    group = ("the run's" if me["pgid"] == run["pgid"] else
             "its own" if me["pgid"] == me["pid"] else "another's")
    parent = "stray, adopted" if launch.parent == "stray" else f"`{launch.parent}`"
    if launch.is_remote():
        parent = "the server"
    return session, group, parent


def stream(world, link):
    names = {f"{world.folder}/in": "the run's", f"{world.folder}/out": "the run's",
             f"{world.folder}/err": "the run's", f"{world.folder}/seven": "the run's",
             "/dev/null": "null", None: "closed"}
    return names.get(link) or link.split(":")[0]


def ignored(mask):
    # Python itself ignores PIPE and XFSZ
    names = [s.name[3:] for s in signal.Signals
             if mask >> (s - 1) & 1 and s not in (signal.SIGPIPE, signal.SIGXFSZ)]
    return " ".join(names) or "nothing"


def row(world, launch):
    fds = {int(fd): stream(world, link) for fd, link in launch.actor["fds"].items()}
    return "| " + " | ".join([launch.launcher.title, *place(world, launch), fds[0], fds[1], fds[2],
                              fds[7], ignored(launch.actor["ignored"]),
                              "yes" if launch.was_reached else "no"]) + " |"


def the_page_has(world, launcher):
    launch = world.launch(launcher, ALONE, LEFTOVER)
    measured = row(world, launch)
    print(f"# {measured}")
    with open(f"{TOP}/doc/launchers.md", encoding="utf-8") as f:
        assert measured in f.read().splitlines(), f"doc/launchers.md has no such row: {measured}"


def named(function, launcher, text):
    def test():
        function(WORLD, launcher)
    test.__name__ = text.format(launcher.title.replace("`", ""))
    return test


with contextlib.ExitStack() as STACK:
    WORLD = World(STACK)
    main([named(at_the_deadline, launcher, "{}: gone with its groups after the deadline")
          for launcher in LAUNCHERS]
         + [named(when_its_launcher_ends, launcher, "{}: gone where leftovers are to be ended")
            for launcher in LAUNCHERS]
         + [named(the_page_has, launcher, "{}: as doc/launchers.md has it")
            for launcher in LAUNCHERS])
