#!/usr/bin/python3
# timeout: 120
"""What members of a run do between two looks, as the kernel tells it: stray watch --batch."""
import json
import os
import subprocess

from e2e import STRAY, Code, Skip, main, start_of, state_dir, stray, until

# Each lives far shorter than the time between two looks.
JOB = """
print("READY", flush=True)
sys.stdin.readline()
for i in range(20):
    os.waitpid(os.posix_spawn("/bin/true", ["true", str(i)], {}), 0)
pid = os.fork()
if pid == 0:
    os.setsid()
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(pid, 0)
print(pid, flush=True)
sys.stdin.readline()
"""
SHORT = 21


def listening_works():
    done = stray("list", "--source=netlink")
    if done.returncode:
        raise Skip(done.stderr.strip())


class Watched:
    """A run of the job, adopted and watched."""

    def __init__(self, source):
        self.source = source

    def __enter__(self):
        self.place = state_dir()
        self.state = self.place.__enter__()
        self.job = Code(JOB)
        self.job.__enter__()
        stray("adopt", self.job.pid, "--id", "r", "--state-dir", self.state, status=0)
        self.watch = subprocess.Popen(
            [STRAY, "watch", "r", "--batch", "-d", "10", "--state-dir", self.state,
             "--source=" + self.source], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        until(lambda: self.events("watch_started"))
        return self

    def __exit__(self, *exc):
        self.watch.terminate()
        self.watch.wait()
        self.job.__exit__(*exc)
        self.place.__exit__(*exc)

    def go(self):
        """The job does its work, and ends when it has been watched."""
        self.job.process.stdin.write("\n")
        self.job.process.stdin.flush()
        return int(self.job.process.stdout.readline())

    def finish(self):
        self.job.process.stdin.write("\n")
        self.job.process.stdin.flush()
        self.job.process.wait()
        assert self.watch.wait(15) == 0
        stray("verify", "r", "--state-dir", self.state, status=0)

    def events(self, *names):
        with open(os.path.join(self.state, "runs/r/journal.jsonl"), encoding="utf-8") as f:
            every = [json.loads(line) for line in f if line.endswith("\n")]
        return [e for e in every if e["event"] in names]


def what_lives_between_two_looks_is_heard():
    listening_works()
    with Watched("netlink") as w:
        root = {"pid": w.job.pid, "start_ticks": start_of(w.job.pid)}
        left = w.go()
        w.finish()
        started = w.events("watch_started")[0]
        assert started["coverage"]["sources"] == ["proc", "netlink"], started
        forked = w.events("forked")
        assert len(forked) == SHORT, len(forked)
        assert all(e["known"] == "seen" and e["process"] == root for e in forked), forked
        children = [e["child"] for e in forked]
        exited = {e["process"]["pid"]: e for e in w.events("exited")}
        for child in children[:-1]:
            assert exited[child["pid"]]["status"] == 0, exited[child["pid"]]
        assert children[-1]["pid"] == left
        assert exited[left]["signal"] == "KILL", exited[left]
        execed = w.events("execed")
        assert len(execed) == SHORT - 1, len(execed)
        # most were read before they were gone, and nobody's arguments were made up
        for n, e in enumerate(execed):
            assert e["args"] in (None, ["true", str(n)]), e
        gone = w.events("setsid")
        assert [(e["process"]["pid"], e["known"], e["to"]) for e in gone] == \
            [(left, "seen", left)], gone
        mono = [e["happened_mono_ns"] for e in forked]
        assert mono == sorted(mono) and mono[0] > started["mono_ns"], mono


def by_looking_alone_it_is_not_and_that_is_said():
    with Watched("proc") as w:
        w.go()
        w.finish()
        assert w.events("watch_started")[0]["coverage"]["sources"] == ["proc"]
        assert not w.events("forked", "setsid"), w.events("forked", "setsid")


def where_nothing_can_be_heard_it_is_an_error_to_ask_for_it():
    for flag, why in (("--net", "network namespace"), ("--pid", "PID namespace")):
        done = subprocess.run(["unshare", "--map-root-user", flag, "--fork", STRAY, "list",
                               "--source=netlink"],
                              capture_output=True, text=True, timeout=30, check=False)
        if "unshare:" in done.stderr:
            raise Skip(done.stderr.strip())
        assert done.returncode == 2 and "namespace" in done.stderr, (why, done)
        assert done.stderr.startswith("stray: process connector: "), done.stderr


if __name__ == "__main__":
    main([what_lives_between_two_looks_is_heard,
          by_looking_alone_it_is_not_and_that_is_said,
          where_nothing_can_be_heard_it_is_an_error_to_ask_for_it])
