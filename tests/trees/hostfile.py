"""Reads a host description (*.host and what is added); README.md explains it.

Knows what fork, exec, setsid and the reaper do to a process and refuses a
tree that no kernel could have made.  Writes nothing.
"""
import copy
import os
import re
import shlex

TICKS = 100  # USER_HZ on every architecture we build for
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")
# include/linux/proc_ns.h gives ipc, uts, user, pid, cgroup and time; mnt and
# net are handed out at boot, these are usual values.
INITIAL_NS = {"cgroup": 4026531835, "ipc": 4026531839, "mnt": 4026531841,
              "net": 4026531840, "pid": 4026531836, "time": 4026531834,
              "user": 4026531837, "uts": 4026531838}
SIGNALS = {"HUP": 1, "INT": 2, "QUIT": 3, "USR1": 10, "USR2": 12, "PIPE": 13,
           "ALRM": 14, "TERM": 15, "CHLD": 17, "TSTP": 20, "TTIN": 21,
           "TTOU": 22, "WINCH": 28}
# What a name stands for on Debian where it is a link to another file.
REAL_EXE = {"sh": "dash", "python3": "python3.11", "perl": "perl",
            "vim": "vim.basic", "awk": "mawk", "nc": "nc.openbsd"}
MERGED = re.compile(r"^/(s?bin|lib)/")
UNSET = 4294967295
ADDITIONS = ("ordinary", "leftover")


class HostError(Exception):
    """The description is wrong; the text says where and why."""


class Process:
    """One process: what a fork inherits first, then what is its own."""

    def __init__(self):
        self.pgid = self.sid = 0
        self.tty = None
        self.uid = [0, 0, 0, 0]
        self.gid = [0, 0, 0, 0]
        self.groups = []
        self.cgroup = "/"
        self.session = self.login = UNSET
        self.cwd = self.root = "/"
        self.ns = dict(INITIAL_NS)
        self.env = {}
        self.ign = 0
        self.caps = None  # None: full for root, else none
        self.nnp = 0
        self.seccomp = 0
        self.nice = 0
        self.stdio = ["/dev/null"] * 3
        # kept by a fork, replaced by an exec
        self.exe = None
        self.comm = ""
        self.cmdline = b""
        self.cgt = 0
        self.image = 0  # same for processes that share one exec
        # its own
        self.pid = self.ppid = 0
        self.ign_self = 0  # ignored here, but not handed down: a shell
        self.blk = self.pnd = 0
        self.state = "S"
        self.start = 0  # ticks since boot
        self.tgid_ns = []  # numbers in the PID namespaces below this one
        self.threads = 1
        self.fds = {}
        self.cpu = 3
        self.rss = 4096
        self.tracer = 0
        self.wchan = None
        self.kthread = False
        self.foreground = False
        self.nodump = False
        self.forked = False  # no exec since the fork
        self.tids = []
        self.line = 0

    def leader(self):
        return self.pid == self.sid

    def ignored(self):
        return self.ign | self.ign_self

    def dead(self):
        return self.state in "ZX"


class Host:
    def __init__(self):
        self.name = "localhost"
        self.kernel = "6.1.0-28-amd64"
        self.boot = "00000000-0000-4000-8000-000000000000"
        self.uptime = 1000.0
        self.systemd = True
        self.cgroups = ["0::*"]
        self.proc_options = "rw,nosuid,nodev,noexec,relatime"
        self.users = {"root": (0, 0, "/root", "/bin/bash")}
        self.logins = []
        self.procs = {}
        self.ns = dict(INITIAL_NS)
        self.ns_sets = {}
        self.lets = {}
        self.partial = False  # parents may be missing: hidepid

    def uid_of(self, text):
        return self.users[text][0] if text in self.users else int(text)

    def stray(self):
        """The process that the command under test takes the place of."""
        found = [p for p in self.procs.values() if p.comm == "stray"]
        return found[0] if len(found) == 1 else None

    def foreground(self, p):
        """tpgid: -1 without a terminal (proc(5))."""
        if not p.tty:
            return -1
        for q in self.procs.values():
            if q.sid == p.sid and q.foreground:
                return q.pgid
        return p.sid

    def ttys(self):
        """Open pseudo-terminals of this devpts instance: number to owner."""
        out = {}
        for p in self.procs.values():
            if p.tty and p.tty.startswith("pts/") and \
               p.ns["mnt"] == self.ns["mnt"]:
                n = int(p.tty[4:])
                if n not in out or p.leader():
                    out[n] = p.uid[0]
        return out

    def ns_numbers(self, p, number):
        """number (a PID, PGID or SID) as the namespaces below see it."""
        if number == p.pid:
            return p.tgid_ns
        q = self.procs.get(number)
        if not q:
            return [0] * len(p.tgid_ns)
        got = q.tgid_ns if q.ns["pid"] == p.ns["pid"] else []
        return (got + [0] * len(p.tgid_ns))[:len(p.tgid_ns)]


def words(text):
    """Splits at blanks; quotes hold together, a backslash is a backslash."""
    lex = shlex.shlex(text, posix=True)
    lex.whitespace_split = True
    lex.commenters = lex.escape = ""
    return list(lex)


def unescape(word):
    """The bytes of an argument: \\xNN and \\n are one byte each."""
    raw = word.encode("utf-8", "surrogateescape")
    return re.sub(rb"\\(?:x([0-9a-f]{2})|(n))",
                  lambda m: b"\n" if m.group(2) else
                  bytes([int(m.group(1), 16)]), raw)


def mask(text):
    if text.startswith("0x"):
        return int(text, 16)
    bits = 0
    for name in text.split(",") if text != "none" else ():
        bits |= 1 << (SIGNALS[name] - 1)
    return bits


def exe_of(arg0):
    path = arg0.lstrip("-@")
    if "/" not in path:
        path = "/usr/bin/" + REAL_EXE.get(path, path)
    head, _, tail = path.rpartition("/")
    if head in ("/bin", "/usr/bin"):
        path = head + "/" + REAL_EXE.get(tail, tail)
    return MERGED.sub(r"/usr/\1/", path)


class Reader:
    def __init__(self):
        self.host = Host()
        self.stack = []  # (indent, process)
        self.children = {}
        self.images = 0
        self.where = ""

    def fail(self, why):
        raise HostError(f"{self.where}: {why}")

    def read(self, path):
        self.stack = []
        if not os.path.exists(path):
            raise HostError(f"{path}: no such host or leftover")
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                self.where = f"{path}:{number}"
                line = line.rstrip("\n")
                if not line.strip() or line.lstrip().startswith("#"):
                    continue
                line = re.sub(r"\$(\w+)", self.let, line)
                try:
                    if line.lstrip()[0].isdigit():
                        self.process(line, number)
                    else:
                        self.directive(line)
                except (KeyError, ValueError, IndexError) as e:
                    self.fail(f"cannot read this: {e!r}")

    def let(self, m):
        if m.group(1) not in self.host.lets:
            return m.group(0)
        return self.host.lets[m.group(1)]

    def directive(self, line):
        h = self.host
        key, *args = words(line)
        if key == "host":
            h.name = args[0]
        elif key == "kernel":
            h.kernel = args[0]
        elif key == "boot":
            h.boot = args[0]
        elif key == "uptime":
            h.uptime = float(args[0])
        elif key == "systemd":
            h.systemd = args[0] == "yes"
        elif key == "cgroups":
            h.cgroups = args
        elif key == "proc-options":
            h.proc_options = args[0]
            h.partial = "hidepid" in args[0]
        elif key == "ns":
            h.ns = self.namespaces(h.ns, args[0])
        elif key == "user":
            uid = int(args[1])
            home = args[2] if len(args) > 2 else "/nonexistent"
            shell = args[3] if len(args) > 3 else "/usr/sbin/nologin"
            h.users[args[0]] = (uid, uid, home, shell)
        elif key == "login":
            login = dict(a.split("=", 1) for a in args[1:])
            login["id"] = args[0]
            h.logins = [x for x in h.logins if x["id"] != args[0]] + [login]
        elif key == "let":
            h.lets[args[0]] = args[1]
        elif key == "kthreads":
            self.kthreads(int(args[0]), args[1:])
        else:
            self.fail(f"no such word: {key}")

    def kthreads(self, pid, names):
        """name: S; name~: an idle worker; both children of kthreadd."""
        for name in names:
            while pid in self.host.procs:
                pid += 1
            idle = name.endswith("~")
            p = self.fork(self.host.procs[2])
            p.pid, p.comm = pid, name.rstrip("~")
            p.state = "I" if idle else "S"
            p.wchan = "rescuer_thread" if idle else "smpboot_thread_fn"
            self.add(p)

    def namespaces(self, base, text):
        """NAME:kind,kind: those kinds become the namespaces of set NAME."""
        name, kinds = text.split(":")
        out = dict(base)
        sets = self.host.ns_sets
        index = sets.setdefault(name, len(sets) + 1)
        for kind in kinds.split(","):
            out[kind] = 4026532000 + 16 * index + NAMESPACES.index(kind)
        return out

    def fork(self, parent):
        if parent is None:
            p = Process()
            p.ns = dict(self.host.ns)
            return p
        p = copy.copy(parent)
        p.uid, p.gid = list(parent.uid), list(parent.gid)
        p.ns, p.env = dict(parent.ns), dict(parent.env)
        p.stdio, p.fds = list(parent.stdio), {}
        p.ppid = parent.pid
        # ended, stopped or foreground: that was the parent
        p.state, p.foreground, p.threads = "S", False, 1
        p.ign_self = p.blk = p.pnd = p.tracer = 0
        p.wchan, p.tids, p.tgid_ns = None, [], []
        p.nodump = False
        p.forked = True
        n = self.children.get(parent.pid, 0) + 1
        self.children[parent.pid] = n
        p.start = parent.start + 2 * n
        return p

    def add(self, p):
        if p.pid in self.host.procs:
            self.fail(f"PID {p.pid} is there twice")
        self.host.procs[p.pid] = p

    def process(self, line, number):
        m = re.match(r"( *)(\d+)(.*)", line)
        indent, pid, rest = len(m.group(1)), int(m.group(2)), m.group(3)
        m = re.search(r"\s([:=])\s(.*)$", rest)
        head = rest[:m.start()] if m else rest
        while self.stack and self.stack[-1][0] >= indent:
            self.stack.pop()
        parent = self.stack[-1][1] if self.stack else None
        keys = words(head)
        for k in keys:
            if k.startswith("like="):
                parent = self.host.procs[int(k[5:])]
        p = self.fork(parent)
        p.pid, p.line = pid, number
        for k in keys:
            self.key(p, k)
        if m:
            self.command(p, m.group(1), m.group(2), keys)
        elif parent is None and not p.kthread:
            self.fail("a process that nobody forked needs a command")
        for k in keys:  # these win over what the command line gives
            if k.startswith("comm="):
                p.comm = k[5:]
            elif k.startswith("exe="):
                p.exe = k[4:]
        if p.state in "ZX":
            p.cmdline, p.exe, p.env = b"", None, {}
        self.add(p)
        self.stack.append((indent, p))

    def command(self, p, kind, text, keys):
        given = {k.split("=", 1)[0]: k.split("=", 1)[1]
                 for k in keys if "=" in k and k[0] not in "+@"}
        if kind == "=":
            p.cmdline = unescape(text) + b"\0" * int(given.get("pad", 1))
            if "exe" not in given:
                return
            p.comm = given["exe"].rsplit("/", 1)[-1][:15]
        else:
            args = [unescape(a) for a in words(text)]
            p.cmdline = b"".join(a + b"\0" for a in args)
            arg0 = words(text)[0]
            p.exe = exe_of(arg0)
            p.comm = arg0.lstrip("-@").rsplit("/", 1)[-1][:15]
        self.images += 1
        p.image, p.forked = self.images, False
        if "cgt" not in given:
            p.cgt = 0

    def key(self, p, k):
        if k == "new":
            p.sid = p.pgid = p.pid
            p.tty = None
        elif k == "grp":
            p.pgid = p.pid
        elif k == "fg":
            p.foreground = True
        elif k == "kthread":
            p.kthread, p.pgid, p.sid = True, 0, 0
            p.ign = (1 << 64) - 1
        elif k == "nodump":
            p.nodump = True
        elif k[0] == "@":
            at = float(k[1:])
            p.start = round((self.host.uptime + at if k[1] == "-" else at) *
                            TICKS)
        elif k[0] == "+":
            name, _, value = k[1:].partition("=")
            p.env[name] = value
        elif k[0] == "-":
            p.env.pop(k[1:], None)
        elif re.match(r"fd\d+=", k):
            n, value = k[2:].split("=", 1)
            if int(n) < 3:
                p.stdio[int(n)] = value
            else:
                p.fds[int(n)] = value
        else:
            self.value(p, *k.split("=", 1))

    def value(self, p, name, value):
        if name in ("pgid", "sid", "ppid", "session", "login", "threads",
                    "nice", "cpu", "rss", "tracer", "nnp", "seccomp"):
            setattr(p, name, UNSET if value == "none" else int(value))
        elif name in ("cgroup", "cwd", "root", "wchan"):
            setattr(p, name, value)
        elif name == "state":
            p.state = value
        elif name == "tty":
            p.tty = None if value == "none" else value
            if p.tty:
                p.stdio = ["/dev/" + p.tty] * 3
        elif name == "stdio":
            p.stdio = [{"null": "/dev/null"}.get(value, value)] * 3
        elif name == "uid":
            ids = [self.host.uid_of(u) for u in value.split(",")]
            p.uid = ids * 4 if len(ids) == 1 else ids
            gid = [g for u, g, _, _ in self.host.users.values()
                   if u == p.uid[0]]
            p.gid = (gid or [p.uid[0]])[:1] * 4
        elif name == "gid":
            ids = [int(g) for g in value.split(",")]
            p.gid = ids * 4 if len(ids) == 1 else ids
        elif name == "groups":
            p.groups = [int(g) for g in value.split(",")]
        elif name in ("ign", "cgt", "blk", "pnd"):
            setattr(p, name, mask(value))
        elif name == "ign-self":
            p.ign_self = mask(value)
        elif name == "caps":
            p.caps = None if value == "full" else int(value, 16)
        elif name == "ns":
            p.ns = self.namespaces(p.ns, value)
        elif name == "nspid":
            p.tgid_ns = [int(n) for n in value.split(",")]
        elif name == "env" and value == "none":
            p.env = {}
        elif name not in ("like", "comm", "exe", "pad"):
            self.fail(f"no such key: {name}")


def check(host):
    """What credentials(7), setsid(2) and the reaper allow."""
    procs = host.procs
    for p in procs.values():
        def bad(why, p=p):
            raise HostError(f"{host.name}: {p.pid} ({p.comm}), "
                            f"line {p.line}: {why}")
        parent = procs.get(p.ppid)
        if p.ppid and not parent and not host.partial:
            bad(f"parent {p.ppid} is not there")
        if parent and parent.dead():
            bad(f"parent {p.ppid} is dead")
        if parent and parent.start > p.start:
            bad(f"older than its parent {p.ppid}")
        if p.start > host.uptime * TICKS:
            bad("starts in the future")
        if p.leader() and p.pgid != p.pid:
            bad("a session leader leads its group too: setsid(2)")
        for what in ("sid", "pgid"):
            q = procs.get(getattr(p, what))
            if not q or q is p:
                continue
            if q.sid != p.sid:
                bad(f"its {what} {q.pid} is the number of a process of "
                    f"another session")
            if what == "sid" and q.start > p.start:
                bad(f"older than the leader of its session {q.pid}")
        for q in procs.values():
            if q.pgid == p.pgid and q.sid != p.sid and p.pgid:
                bad(f"group {p.pgid} is in two sessions: setpgid(2)")
            if q.sid == p.sid and q.tty != p.tty and p.sid and p.tty and q.tty:
                bad(f"session {p.sid} has two terminals")
            if q.tty and q.tty == p.tty and q.sid != p.sid and \
               q.ns["mnt"] == p.ns["mnt"]:
                bad(f"{p.tty} is the terminal of two sessions")
        if p.state in "ZX" and p.threads != 1:
            bad("a zombie with threads is alive: see task/")
    if host.procs and not host.stray():
        raise HostError(f"{host.name}: needs one process named stray")


def files_of(name):
    """The files of "server+deploy": server.host, server+deploy.leftover."""
    if os.path.exists(name):
        return [name]
    here = os.path.dirname(os.path.abspath(__file__))
    host, *more = name.split("+")
    files = [f"{here}/{host}.host"]
    for m in more:
        found = [f"{here}/{host}+{m}.{kind}" for kind in ADDITIONS
                 if os.path.exists(f"{here}/{host}+{m}.{kind}")]
        files += found or [f"{here}/{host}+{m}.leftover"]
    return files


def load(paths):
    reader = Reader()
    for path in paths:
        reader.read(path)
    check(reader.host)
    return reader.host
