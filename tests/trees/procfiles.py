"""The texts of /proc/PID/*, as the kernel writes them.

After Documentation/filesystems/proc.rst and proc(5), in the shape of Linux
6.1 (Debian 12); later ones only add.  Returns bytes, writes nothing.
"""
import re

from hostfile import TICKS

PF_FORKNOEXEC = 0x40
PF_SUPERPRIV = 0x100
PF_NOFREEZE = 0x8000
PF_KTHREAD = 0x200000
PF_RANDOMIZE = 0x400000
CAP_FULL = 0x1ffffffffff
PAGE_KB = 4
INFINITY = (1 << 64) - 1
STATES = {"R": "running", "S": "sleeping", "D": "disk sleep", "T": "stopped",
          "t": "tracing stop", "X": "dead", "Z": "zombie", "I": "idle"}
WCHAN = {"S": "do_epoll_wait", "T": "do_signal_stop", "t": "ptrace_stop",
         "D": "folio_wait_bit_common", "I": "worker_thread", "Z": "do_exit",
         "X": "do_exit", "R": "0"}


def tty_number(name):
    """new_encode_dev() of the device (admin-guide/devices.txt)."""
    if not name:
        return 0
    kind, n = re.fullmatch(r"(pts/|ttyS|tty)(\d+)", name).groups()
    n = int(n)
    major, minor = {"pts/": (136 + (n >> 8), n & 255),
                    "ttyS": (4, 64 + n), "tty": (4, n)}[kind]
    return minor & 0xff | major << 8 | (minor & ~0xff) << 12


def caps(p):
    if p.caps is not None:
        return p.caps if p.uid[1] == 0 else 0
    return CAP_FULL if p.uid[1] == 0 else 0


def flags(p):
    if p.kthread:
        return PF_KTHREAD | PF_FORKNOEXEC | PF_NOFREEZE
    return PF_RANDOMIZE | (PF_FORKNOEXEC if p.forked else 0) | \
        (PF_SUPERPRIV if p.uid[1] == 0 else 0)


def has_memory(p):
    return not p.kthread and not p.dead()


def stat(host, p, tid=None):
    mm = has_memory(p)
    # Fixed by the exec: processes that share one share these addresses.
    text = 0x55d000000000 + p.image * 0x10000000
    stack = 0x7ffc00000000 + p.image * 0x100000
    low = 0x7fffffff  # the old fields hold 31 signals
    name = p.comm.encode("utf-8", "surrogateescape")
    numbers = [
        p.ppid, p.pgid, p.sid, tty_number(p.tty), host.foreground(p), flags(p),
        210 if mm else 0, 0, 0, 0, p.cpu, p.cpu // 3, 0, 0,
        20 + p.nice, p.nice, p.threads, 0, p.start,
        p.rss * 1024 * 4 if mm else 0, p.rss // PAGE_KB if mm else 0, INFINITY,
        text if mm else 0, text + 0x100000 if mm else 0, stack if mm else 0,
        0, 0, p.pnd & low, p.blk & low, p.ignored() & low, p.cgt & low,
        0 if p.state == "R" else 1, 0, 0, 17, (tid or p.pid) % 2, 0, 0, 0, 0, 0,
    ] + ([text + 0x200000, text + 0x210000, text + 0x300000, stack + 0x500,
          stack + 0x500 + len(p.cmdline), stack + 0x1000, stack + 0x1fe8, 0]
         if mm else [0] * 8)
    return b"%d (%s) %s %s\n" % (
        tid or p.pid, name, p.state.encode(),
        " ".join(map(str, numbers)).encode())


def status(host, p, tid=None):
    name = p.comm.replace("\\", "\\\\").replace("\n", "\\n")
    out = [("Name", name)]
    if not p.dead():
        out.append(("Umask", "0000" if p.kthread and p.pid == 2 else "0022"))
    pid = tid or p.pid
    own = [p.tgid_ns, p.tgid_ns, host.ns_numbers(p, p.pgid),
           host.ns_numbers(p, p.sid)]
    ns = ["\t".join(map(str, [n] + below)) for n, below in
          zip((p.pid, pid, p.pgid, p.sid), own)]
    out += [
        ("State", f"{p.state} ({STATES[p.state]})"),
        ("Tgid", p.pid), ("Ngid", 0), ("Pid", pid), ("PPid", p.ppid),
        ("TracerPid", p.tracer),
        ("Uid", "\t".join(map(str, p.uid))), ("Gid", "\t".join(map(str, p.gid))),
        ("FDSize", 0 if p.dead() else 64 if p.kthread else 256),
        ("Groups", "".join(f"{g} " for g in p.groups) or " "),
        ("NStgid", ns[0]), ("NSpid", ns[1]), ("NSpgid", ns[2]), ("NSsid", ns[3]),
    ]
    if newer(host, 6, 12):
        out.append(("Kthread", int(p.kthread)))
    if has_memory(p):
        out += memory(p)
    full = caps(p)
    out += [("Threads", p.threads), ("SigQ", "1/63432")]
    out += [(k, f"{v:016x}") for k, v in
            (("SigPnd", p.pnd), ("ShdPnd", 0), ("SigBlk", p.blk),
             ("SigIgn", p.ignored()), ("SigCgt", p.cgt))]
    bound = CAP_FULL if p.caps is None else p.caps
    out += [(k, f"{v:016x}") for k, v in
            (("CapInh", 0), ("CapPrm", full), ("CapEff", full),
             ("CapBnd", bound), ("CapAmb", 0))]
    out += [("NoNewPrivs", p.nnp), ("Seccomp", p.seccomp),
            ("Seccomp_filters", int(p.seccomp == 2)),
            ("Speculation_Store_Bypass", "thread vulnerable"),
            ("SpeculationIndirectBranch", "conditional enabled"),
            ("Cpus_allowed", "3"), ("Cpus_allowed_list", "0-1"),
            ("Mems_allowed", "00000000,00000001"), ("Mems_allowed_list", 0),
            ("voluntary_ctxt_switches", 150), ("nonvoluntary_ctxt_switches", 7)]
    text = "".join(f"{k}:\t{v}\n" for k, v in out)
    return text.encode("utf-8", "surrogateescape")


def memory(p):
    rss, size = p.rss, p.rss * 4
    kb = [("VmPeak", size), ("VmSize", size), ("VmLck", 0), ("VmPin", 0),
          ("VmHWM", rss), ("VmRSS", rss), ("RssAnon", rss // 2),
          ("RssFile", rss - rss // 2), ("RssShmem", 0), ("VmData", rss // 2),
          ("VmStk", 132), ("VmExe", 900), ("VmLib", 1600), ("VmPTE", 64),
          ("VmSwap", 0), ("HugetlbPages", 0)]
    return [(k, f"{v:8d} kB") for k, v in kb] + \
        [("CoreDumping", 0), ("THP_enabled", 1)]


def statm(p):
    if not has_memory(p):
        return b"0 0 0 0 0 0 0\n"
    pages = p.rss // PAGE_KB
    return b"%d %d %d 225 0 %d 0\n" % (pages * 4, pages, pages // 2, pages // 2)


def environ(p):
    if not has_memory(p):
        return b""
    return b"".join(f"{k}={v}".encode("utf-8", "surrogateescape") + b"\0"
                    for k, v in p.env.items())


def cgroup(host, p):
    """cgroups(7): hierarchy:controllers:path, a line each."""
    return "".join(line.replace("*", p.cgroup) + "\n"
                   for line in host.cgroups).encode()


def comm(p):
    return p.comm.encode("utf-8", "surrogateescape") + b"\n"


def wchan(p):
    return (p.wchan or WCHAN[p.state]).encode()


def newer(host, major, minor):
    m = re.match(r"(\d+)\.(\d+)", host.kernel)
    return (int(m.group(1)), int(m.group(2))) >= (major, minor)


def mountinfo(host):
    rows = [
        f"22 27 0:21 / /proc {options(host)} shared:12 - proc proc "
        f"{super_options(host)}",
        "23 27 0:22 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs "
        "sysfs rw",
        "24 25 0:23 / /dev/pts rw,nosuid,noexec,relatime shared:3 - devpts "
        "devpts rw,gid=5,mode=620,ptmxmode=000",
        "27 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,"
        "errors=remount-ro",
        "28 27 0:24 / /run rw,nosuid,nodev,noexec,relatime shared:5 - tmpfs "
        "tmpfs rw,size=402584k,mode=755",
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 "
        "- cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot",
    ]
    return ("\n".join(rows) + "\n").encode()


def options(host):
    return ",".join(o for o in host.proc_options.split(",")
                    if not o.startswith(("hidepid", "gid")))


def super_options(host):
    """hidepid is an option of the file system, not of the mount."""
    return ",".join(["rw"] + [o for o in host.proc_options.split(",")
                              if o.startswith(("hidepid", "gid"))])


def kernel_files(host, wall):
    """The files beside the processes.  wall: seconds since 1970."""
    up = host.uptime
    ticks = int(up * TICKS)
    return {
        "uptime": b"%.2f %.2f\n" % (up, up * 1.7),
        "loadavg": b"0.42 0.36 0.30 1/%d %d\n" % (len(host.procs),
                                                  max(host.procs)),
        "version": f"Linux version {host.kernel} (builder@example) (gcc-12 "
                   f"12.2.0, GNU ld 2.40) #1 SMP PREEMPT_DYNAMIC\n".encode(),
        "stat": b"cpu  %d 10 %d %d 900 0 120 0 0 0\n"
                b"cpu0 %d 5 %d %d 450 0 60 0 0 0\n"
                b"cpu1 %d 5 %d %d 450 0 60 0 0 0\n"
                b"intr 1234567 0 9\nctxt 23456789\nbtime %d\n"
                b"processes 654321\nprocs_running 1\nprocs_blocked 0\n"
                b"softirq 3456 0 1 2 3 0 4 5 6 7 8\n" % (
                    ticks // 20, ticks // 40, ticks, ticks // 40, ticks // 80,
                    ticks // 2, ticks // 40, ticks // 80, ticks // 2,
                    int(wall - up)),
        "meminfo": b"".join(b"%-15s %8d kB\n" % (k + b":", v) for k, v in (
            (b"MemTotal", 4025840), (b"MemFree", 512344),
            (b"MemAvailable", 2510032), (b"Buffers", 120344),
            (b"Cached", 1812008), (b"SwapCached", 0), (b"Active", 1300200),
            (b"Inactive", 1600400), (b"SwapTotal", 998396),
            (b"SwapFree", 998396), (b"Dirty", 420), (b"Writeback", 0),
            (b"AnonPages", 930400), (b"Mapped", 320100), (b"Shmem", 12040),
            (b"Slab", 210400), (b"SReclaimable", 150200),
            (b"SUnreclaim", 60200))),
        "filesystems": b"nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\n"
                       b"nodev\tcgroup2\nnodev\tdevpts\n\text4\n",
        "cpuinfo": b"".join(
            b"processor\t: %d\nmodel name\t: Example CPU\ncpu MHz\t\t: "
            b"2400.000\nphysical id\t: 0\ncore id\t\t: %d\n\n" % (i, i)
            for i in range(2)),
        "tty/drivers": b"/dev/tty             /dev/tty        5       0 system:/dev/tty\n"
                       b"serial               /dev/ttyS       4 64-95 serial\n"
                       b"pty_slave            /dev/pts      136 0-1048575 pty:slave\n"
                       b"pty_master           /dev/ptm      128 0-1048575 pty:master\n"
                       b"unknown              /dev/tty        4 1-63 console\n",
        "sys/kernel/pid_max": b"4194304\n",
        "sys/kernel/threads-max": b"31234\n",
        "sys/kernel/osrelease": host.kernel.encode() + b"\n",
        "sys/kernel/ostype": b"Linux\n",
        "sys/kernel/hostname": host.name.encode() + b"\n",
        "sys/kernel/tainted": b"0\n",
        "sys/kernel/cap_last_cap": b"40\n",
        "sys/kernel/ns_last_pid": b"%d\n" % max(host.procs),
        "sys/kernel/random/boot_id": host.boot.encode() + b"\n",
        "sys/kernel/yama/ptrace_scope": b"0\n",
    }
