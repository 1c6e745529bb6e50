"""What the benchmarks share: a place of their own, many processes, CPU and memory.

Nothing here judges: a wanted figure is printed beside the measured one.
"""
import contextlib
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

STRAY = os.environ["STRAY"]
SRC = os.environ["abs_top_srcdir"]
BUILD = os.environ["abs_top_builddir"]
TICKS = os.sysconf("SC_CLK_TCK")
LIFE_S = 120  # of what is made, however we end: the most that mkproc gives


def alone():
    """Goes on in a PID namespace of its own: other work on the host is not counted,
    and all that was started ends with us.  Where that cannot be, it is said."""
    if os.environ.get("BENCH_ALONE"):
        return
    os.environ["BENCH_ALONE"] = "1"
    how = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if os.geteuid():
        how.append("--map-root-user")
    if subprocess.run(how + ["true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        os.execvp(how[0], how + [sys.executable, os.path.abspath(sys.argv[0])] + sys.argv[1:])
    print("  no PID namespace of its own: the host's other processes count too")


@contextlib.contextmanager
def many(count):
    """count idle processes while the block runs."""
    maker = subprocess.Popen(
        [os.path.join(BUILD, "mkproc"), "--life", str(LIFE_S), "--session", "many", str(count)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        for line in maker.stdout:
            if line.startswith("READY"):
                break
        else:
            sys.exit(f"mkproc many {count}: failed")
        yield
    finally:
        maker.stdin.close()
        maker.wait()
        if os.getpid() == 1:  # what mkproc killed is ours to reap now
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


LEAST = 1e-6  # less is an error of rounding, and no time or size to be compared with


def median(values):
    return statistics.median(values)


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))]


def run(args, env=None):
    """Runs to the end, output thrown away: CPU and wall seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run(args, stdout=subprocess.DEVNULL, check=True, env=env)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def cpu_seconds(pid):
    """utime + stime of all threads: proc_pid_stat(5)."""
    with open(f"/proc/{pid}/stat", encoding="latin-1") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_kb(pid):
    """VmHWM; None where the process is gone."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/status", encoding="latin-1") as f:
            for line in f:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1])
    return None


def missing(program):
    if shutil.which(program):
        return False
    print(f"  {program} is not installed: no figure without it")
    return True


def ratio(what, ours, theirs, unit, wanted):
    print(f"  {what:<34} {ours:9.4f} {theirs:9.4f} {unit:<3} "
          f"ratio {ours / theirs if theirs > LEAST else float('inf'):5.2f}  (wanted <= {wanted})")
