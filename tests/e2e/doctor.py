#!/usr/bin/python3
# timeout: 120
"""stray doctor tries out what it says, and a drill tells what an executor leaves behind."""
import json
import os
import subprocess
import tempfile

from e2e import STRAY, Skip, alive, main, state_dir, stray, until


def tried(state, **kw):
    done = stray("doctor", "--json", "--state-dir", state, status=0, **kw)
    return {f["name"]: f for f in json.loads(done.stdout)["findings"]}


def a_drill(executor, seconds=60):
    """What the drill says of itself, and what is said of it when the executor is over."""
    with state_dir() as state:
        at = ["--state-dir", state]
        with tempfile.TemporaryFile() as out: # no pipe: a child that lives on holds its end
            subprocess.run([*executor(at), STRAY, "doctor", f"--drill={seconds}", "--json", *at],
                           stdout=out, stderr=subprocess.DEVNULL, timeout=30)
            out.seek(0)
            started = json.load(out)
        after = json.loads(stray("doctor", "--after", "--json", *at, status=0).stdout)
        assert [f["pid"] for f in after["fixtures"]] == [f["pid"] for f in started["fixtures"]]
        for f in after["fixtures"]:
            until(lambda: not alive(f["pid"]))
        return after, {f["shape"]: f["outlived"] for f in after["fixtures"]}


def each_trial_says_what_was_found():
    with state_dir() as state:
        found = tried(state)
        assert set(found) == {"namespace", "proc", "environ", "events", "bpf", "connections",
                              "cgroup", "subreaper", "pidfd", "detach", "descriptors", "state",
                              "syslog"}
        for name in ["proc", "subreaper", "pidfd", "state"]:
            assert found[name]["verdict"] == "yes", found[name]
        assert state in found["state"]["found"]
        text = stray("doctor", "--state-dir", state, status=0).stdout
        assert all(f"{f['verdict']:7}{name:12}" in text for name, f in found.items()), text


def no_trial_leaves_a_process():
    with state_dir() as state:
        mark = f"doctor-{os.getpid()}"
        tried(state, env=dict(os.environ, DOCTOR_TEST=mark))
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as f:
                    assert f"DOCTOR_TEST={mark}".encode() not in f.read(), pid
            except OSError:
                continue


def what_cannot_be_recorded_is_no_and_says_why():
    found = tried("/proc/nowhere")
    assert found["state"]["verdict"] == "no" and found["state"]["remedy"]


def a_cgroup_that_cannot_be_made_is_no_and_the_tree_still_holds():
    if os.geteuid() == 0:
        raise Skip("root can make one")
    with state_dir() as state:
        found = tried(state)
        assert found["cgroup"]["verdict"] == "no" and found["subreaper"]["verdict"] == "yes"


def a_timeout_that_kills_one_pid_leaves_what_it_leaves():
    after, outlived = a_drill(lambda at: ["timeout", "--foreground", "1"])
    assert not after["alive"]
    assert outlived == dict(child=True, ignorer=True, group=True, session=True, daemon=True)


def stray_run_leaves_none_of_them():
    after, outlived = a_drill(lambda at: [STRAY, "run", "-t", "1s", "-k", "0.2s", *at, "--"])
    assert not after["alive"] and not any(outlived.values()), outlived


def no_drill_is_trouble_and_names_how_to_start_one():
    with state_dir() as state:
        os.mkdir(state, 0o700)
        done = stray("doctor", "--after", "--state-dir", state, status=2)
        assert done.stderr.startswith("stray: ") and done.stderr.count("\n") == 1, done.stderr
        for bad in [["--drill=0"], ["--drill=x"], ["--drill", "--after"], ["--after=../x"], ["x"]]:
            assert stray("doctor", *bad, status=2).stderr.count("\n") == 1


main([
    each_trial_says_what_was_found,
    no_trial_leaves_a_process,
    what_cannot_be_recorded_is_no_and_says_why,
    a_cgroup_that_cannot_be_made_is_no_and_the_tree_still_holds,
    a_timeout_that_kills_one_pid_leaves_what_it_leaves,
    stray_run_leaves_none_of_them,
    no_drill_is_trouble_and_names_how_to_start_one,
])
