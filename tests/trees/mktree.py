#!/usr/bin/python3
"""mktree.py [--fill N] DIR HOST[+LEFTOVER...]

Writes the /proc of a described host below DIR, and what else of the host a
process inspector looks at.  HOST is HOST.host of this folder or a path:

  DIR/proc     PID/{stat,status,...}, self, uptime, sys/kernel/...
  DIR/run      systemd/{system,sessions,users}, as logind keeps them
  DIR/etc      passwd and group: the names of the host's users
  DIR/ttys     "N UID" a line: the pseudo-terminals that are open
  DIR/owners   "kept", or "lost" where we may not chown(2): /proc/PID then
               belongs to whoever ran this, and effective uids are wrong

tests/helpers/inroot runs a program in it.  --fill adds N idle services from PID
100000 on, for measuring.  Never touches the real /proc.
"""
import argparse
import os
import sys
import time

import hostfile
import procfiles
from hostfile import NAMESPACES, TICKS

FILL_FIRST_PID = 100000


class Writer:
    """
    Creates below one directory; remembers whether owners could be set.
    What is the same in many places (cgroup, ns/net) is one file under many
    names: a third of the system calls, a tenth of the memory.
    """

    def __init__(self, top):
        self.top = top
        self.kept = True
        self.written = {}

    def path(self, name):
        return f"{self.top}/{name}"

    def mkdir(self, name, mode=0o755, owner=(0, 0)):
        os.mkdir(self.path(name), mode)
        self.chown(name, owner)

    def mkdirs(self, name):
        os.makedirs(self.path(name), 0o755, exist_ok=True)

    def file(self, name, data, mode=0o444, owner=(0, 0)):
        path = self.path(name)
        if self.again(path, (data, mode, owner)):
            return
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        if data:
            os.write(fd, data)
        os.close(fd)
        self.chown(name, owner)

    def link(self, name, target, owner=(0, 0)):
        path = self.path(name)
        if not self.again(path, (target, owner)):
            os.symlink(target, path)
            self.chown(name, owner)

    def again(self, path, what):
        """Whether what is there already: then path is another name of it."""
        old = self.written.setdefault(what, path)
        if old is path:
            return False
        try:
            os.link(old, path, follow_symlinks=False)
        except OSError:  # EMLINK: ext4 allows 65,000 names
            self.written[what] = path
            return False
        return True

    def chown(self, name, owner):
        if not self.kept or (owner == (0, 0) and os.geteuid() == 0):
            return
        try:
            os.chown(self.path(name), *owner, follow_symlinks=False)
        except OSError:
            self.kept = False


def fd_links(p):
    links = dict(enumerate(p.stdio))
    links.update(p.fds)
    return {} if p.kthread or p.dead() else links


def write_process(w, host, p, children):
    d = f"proc/{p.pid}"
    euid = (p.uid[1], p.gid[1])
    # task_dump_owner() of fs/proc/base.c: all but the directory itself is
    # root's where the process is not dumpable.
    own = (0, 0) if p.nodump or p.kthread else euid
    w.mkdir(d, owner=euid)
    stat, status = procfiles.stat(host, p), procfiles.status(host, p)
    w.file(f"{d}/stat", stat, owner=own)
    w.file(f"{d}/status", status, owner=own)
    w.file(f"{d}/statm", procfiles.statm(p), owner=own)
    w.file(f"{d}/comm", procfiles.comm(p), 0o644, own)
    w.file(f"{d}/cmdline", p.cmdline, owner=own)
    w.file(f"{d}/environ", procfiles.environ(p), 0o400, own)
    w.file(f"{d}/cgroup", procfiles.cgroup(host, p), owner=own)
    w.file(f"{d}/sessionid", b"%d" % p.session, owner=own)
    w.file(f"{d}/loginuid", b"%d" % p.login, 0o644, own)
    w.file(f"{d}/wchan", procfiles.wchan(p), owner=own)
    if procfiles.has_memory(p):
        w.link(f"{d}/exe", p.exe, own)
    if not p.dead():
        w.link(f"{d}/cwd", p.cwd, own)
        w.link(f"{d}/root", p.root, own)
    w.mkdir(f"{d}/task", owner=own)
    w.mkdir(f"{d}/fd", 0o700, own)
    for n, target in fd_links(p).items():
        w.link(f"{d}/fd/{n}", target, own)
    w.mkdir(f"{d}/ns", 0o711, own)
    for kind in NAMESPACES if not p.dead() else ():
        w.link(f"{d}/ns/{kind}", f"{kind}:[{p.ns[kind]}]", own)
    for tid in [p.pid] + p.tids:
        t = f"{d}/task/{tid}"
        forked = children.get(p.pid, [])
        if tid != p.pid:
            stat = procfiles.stat(host, p, tid)
            status = procfiles.status(host, p, tid)
            forked = []
        w.mkdir(t, owner=own)
        w.file(f"{t}/stat", stat, owner=own)
        w.file(f"{t}/status", status, owner=own)
        w.file(f"{t}/comm", procfiles.comm(p), 0o644, own)
        w.file(f"{t}/children", b"".join(b"%d " % c for c in forked), owner=own)


def number_threads(host):
    """A thread has a number of its own, taken when it was made."""
    used = set(host.procs) | {p.sid for p in host.procs.values()} | \
        {p.pgid for p in host.procs.values()}
    for p in host.procs.values():
        tid = p.pid
        while len(p.tids) < p.threads - 1:
            tid += 1
            if tid not in used:
                used.add(tid)
                p.tids.append(tid)


def write_fill(w, host, count):
    """count idle processes, with links where a real one has directories."""
    start = max(p.start for p in host.procs.values())
    end = int(host.uptime * TICKS)
    for i in range(count):
        p = hostfile.Process()
        p.pid = p.pgid = p.sid = FILL_FIRST_PID + i
        p.ppid = 1
        p.start = min(start + i // 100, end)
        p.ns = host.ns
        p.cgroup = "/system.slice/fill.service" if host.systemd else "/"
        p.exe, p.comm = "/usr/bin/sleep", "sleep"
        p.cmdline = b"sleep\0%d\0" % (1000 + i)
        p.image = i
        if i == 0:
            write_process(w, host, p, {})
            continue
        d = f"proc/{p.pid}"
        w.mkdir(d)
        w.file(f"{d}/stat", procfiles.stat(host, p))
        w.file(f"{d}/status", procfiles.status(host, p))
        w.file(f"{d}/cmdline", p.cmdline)
        for name, data, mode in (
                ("statm", procfiles.statm(p), 0o444),
                ("comm", procfiles.comm(p), 0o644), ("environ", b"", 0o400),
                ("cgroup", procfiles.cgroup(host, p), 0o444),
                ("sessionid", b"%d" % p.session, 0o444),
                ("loginuid", b"%d" % p.login, 0o644),
                ("wchan", procfiles.wchan(p), 0o444)):
            w.file(f"{d}/{name}", data, mode)
        for name, target in (("exe", p.exe), ("cwd", "/"), ("root", "/"),
                             ("ns", "../1/ns"),
                             ("fd", f"../{FILL_FIRST_PID}/fd")):
            w.link(f"{d}/{name}", target)
        w.mkdir(f"{d}/task")
        w.link(f"{d}/task/{p.pid}", f"../../{p.pid}")


def write_login(w, host, login, wall):
    """/run/systemd/sessions/N, as logind of systemd 252 writes it."""
    number = login["id"]
    uid = host.uid_of(login["uid"])
    names = {u: n for n, (u, _, _, _) in host.users.items()}
    active = login.get("state", "active") == "active"
    kind = login.get("type", "tty")
    lines = [
        "# This is private data. Do not parse.",
        f"UID={uid}", f"USER={names.get(uid, uid)}",
        f"ACTIVE={int(active)}", f"IS_DISPLAY={int('display' in login)}",
        f"STATE={login.get('state', 'active')}",
        f"REMOTE={int('remote' in login)}",
        f"TYPE={kind}", f"ORIGINAL_TYPE={kind}",
        f"CLASS={login.get('class', 'user')}",
        f"SCOPE={login.get('scope', f'session-{number}.scope')}",
        f"FIFO=/run/systemd/sessions/{number}.ref",
    ]
    for key in ("seat", "tty", "display"):
        if key in login:
            lines.append(f"{key.upper()}={login[key]}")
    if "remote" in login:
        lines.append(f"REMOTE_HOST={login['remote']}")
    lines += [f"SERVICE={login['service']}", f"LEADER={login['leader']}",
              f"AUDIT={login.get('audit', number)}"]
    leader = host.procs.get(int(login["leader"]))
    since = leader.start / TICKS if leader else float(login.get("since", 1))
    lines += [f"REALTIME={int((wall - host.uptime + since) * 1e6)}",
              f"MONOTONIC={int(since * 1e6)}"]
    w.file(f"run/systemd/sessions/{number}", ("\n".join(lines) + "\n").encode(),
           0o644)
    # A pipe that logind holds: who opens every name here would wait for ever.
    os.mkfifo(w.path(f"run/systemd/sessions/{number}.ref"), 0o600)
    users = w.path(f"run/systemd/users/{uid}")
    if not os.path.exists(users):
        w.file(f"run/systemd/users/{uid}",
               f"# This is private data. Do not parse.\nNAME={names.get(uid)}\n"
               f"STATE={'active' if active else 'closing'}\n".encode(), 0o644)


def write_host(w, host, wall):
    for name, data in procfiles.kernel_files(host, wall).items():
        w.mkdirs("proc/" + os.path.dirname(name))
        w.file("proc/" + name, data)
    me = host.stray()
    own = (me.uid[1], me.gid[1])
    w.link("proc/self", str(me.pid))
    w.link("proc/thread-self", f"{me.pid}/task/{me.pid}")
    w.link("proc/mounts", "self/mounts")
    w.file(f"proc/{me.pid}/mountinfo", procfiles.mountinfo(host), owner=own)
    w.file(f"proc/{me.pid}/mounts",
           f"proc /proc proc {host.proc_options} 0 0\n".encode(), owner=own)
    w.mkdirs("run")
    if host.systemd:
        w.mkdirs("run/systemd/system")
        w.mkdirs("run/systemd/sessions")
        w.mkdirs("run/systemd/users")
        for login in host.logins:
            write_login(w, host, login, wall)
    w.mkdirs("etc")
    users = host.users.items()
    w.file("etc/passwd", "".join(
        f"{n}:x:{u}:{g}::{h}:{s}\n" for n, (u, g, h, s) in users).encode(),
        0o644)
    w.file("etc/group", "".join(
        f"{n}:x:{g}:\n" for n, (_, g, _, _) in users).encode(), 0o644)
    w.file("ttys", "".join(
        f"{n} {uid}\n" for n, uid in sorted(host.ttys().items())).encode())
    w.file("owners", b"kept\n" if w.kept else b"lost\n")


def build(top, host, wall, count=0):
    if os.path.exists(top) and os.listdir(top):
        raise hostfile.HostError(f"{top}: is not empty")
    os.umask(0)
    os.makedirs(top, 0o755, exist_ok=True)
    w = Writer(os.path.abspath(top))
    number_threads(host)
    children = {}
    for p in host.procs.values():
        children.setdefault(p.ppid, []).append(p.pid)
    w.mkdir("proc")
    for p in host.procs.values():
        write_process(w, host, p, children)
    write_fill(w, host, count)
    write_host(w, host, wall)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--fill", type=int, default=0)
    parser.add_argument("dir")
    parser.add_argument("host")
    args = parser.parse_args()
    try:
        host = hostfile.load(hostfile.files_of(args.host))
        build(args.dir, host, time.time(), args.fill)
    except (hostfile.HostError, OSError) as e:
        print(f"mktree: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
