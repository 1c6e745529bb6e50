#!/usr/bin/python3
# timeout: 300
"""`stray run` where the kernel, a namespace or a sandbox refuses what it holds a run by."""
import contextlib
import functools
import os
import subprocess
import tempfile

from e2e import STRAY, Skip, as_root, end_identity, main, stray, traced, until, works
from marked import Launched, assert_gone
from recorded import state

# Ignores TERM; forks twice, has a session of its own: five that a deadline has to find.
SPRAWL = """trap "" TERM
setsid sleep 61 &
(sleep 62 &)
sh -c "sleep 63; sleep 64" &
sleep 65; sleep 66; sleep 67"""
SPRAWL_NAMES = ("sleep", "sleep", "sleep", "sleep", "sh", "sh")


def ends_at_its_deadline(*, kind, says=(), fallbacks=(), owner=None, meanwhile=None, **kw):
    """A run of SPRAWL is held by that kind of unit, which is told, and nothing of it is left.
    meanwhile: called with its record before the deadline."""
    with state() as s:
        if owner or kw.get("user"):
            os.chown(os.path.dirname(s.path), *2 * [owner or kw["user"]])
        with Launched(s, "sh", "-c", SPRAWL, options=["-t", "6", "-k", "0.2"], **kw) as run:
            members = run.await_members(*SPRAWL_NAMES)
            if meanwhile:
                meanwhile(s.record(run.run))
            result = run.finish(124)
            assert_gone(run.seen)
            assert len(members) >= len(SPRAWL_NAMES)
            assert result["state"] == "ended" and result["survivors"] == [], result
            assert result["containment"] == kind, (result["containment"], run.said)
            record = s.record(run.run)["containment"]
            assert record["kind"] == kind
            for text in fallbacks:
                assert text in (record["fallbacks"] or ""), record
                assert text in run.said, run.said
            if not fallbacks and kind == "cgroup":
                assert record["fallbacks"] is None, record
            for text in says:
                assert text in run.said, run.said
            s("verify", run.run)


@functools.cache
def cgroup_here():
    """Whether this user can make a cgroup where stray is."""
    with state() as s:
        stray("run", "--id", "r", "--state-dir", s.path, "--", "true", status=0)
        return s.record("r")["containment"]["kind"] == "cgroup"


def kind_here():
    return "cgroup" if cgroup_here() else "subreaper"


def injected(inject, *only):
    """A wrapper under which the system call fails, where it is about one of these paths."""
    paths = [word for path in only for word in ("-P", path)]
    return traced("-o", "/dev/null", *paths, "-e", f"inject={inject}")


def namespace(*options):
    if not works("unshare", *options, "true"):
        raise Skip(f"no unshare {' '.join(options)} here")
    return ["unshare", *options]


def in_a_user_namespace_a_run_ends_at_its_deadline():
    # the connector tells the host's user namespace alone
    ends_at_its_deadline(kind=kind_here(), wrap=namespace("-Ur"), fallbacks=["no events: "])


def as_the_first_process_of_a_container_a_run_ends_at_its_deadline():
    options = ["-pf", "--mount-proc"] if os.geteuid() == 0 else ["-Urpf", "--mount-proc"]
    ends_at_its_deadline(kind=kind_here(), wrap=namespace(*options), fallbacks=["no events: "])


def where_proc_is_not_its_own_nothing_is_started():
    options = ["-pf"] if os.geteuid() == 0 else ["-Urpf"]
    with state() as s, tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o777)
        done = subprocess.run([*namespace(*options), STRAY, "run", "--state-dir", s.path, "--",
                               "touch", f"{d}/ran"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 125 and "/proc" in done.stderr, done
        assert not os.path.exists(f"{d}/ran")


def an_ordinary_user_is_held_by_a_subreaper_and_told_why():
    as_root()
    ends_at_its_deadline(kind="subreaper", user=65534, fallbacks=["no cgroup: "])


@contextlib.contextmanager
def cgroup_of_the_test():
    """A cgroup v2 made where this test is; (its directory, a wrapper that runs in it)."""
    as_root()
    mounts = [line.split() for line in open("/proc/self/mountinfo", encoding="utf-8")]
    mount = next((m[4] for m in mounts if m[m.index("-") + 1] == "cgroup2" and m[3] == "/"), None)
    if not mount:
        raise Skip("no cgroup v2 is mounted")
    with open("/proc/self/cgroup", encoding="utf-8") as f:
        own = next((line[3:].strip() for line in f if line.startswith("0::")), None)
    path = f"{mount}{own.rstrip('/')}/test-{os.getpid()}"
    try:
        os.mkdir(path)
    except OSError as why:
        raise Skip(f"no cgroup can be made: {why.strerror}") from None
    try:
        yield mount, path, ["sh", "-c", f'echo $$ >{path}/cgroup.procs && exec "$@"', "sh"]
    finally:
        os.rmdir(path)


@contextlib.contextmanager
def half_delegated():
    """A cgroup in which one can be made, and nobody put into it: how a run is started there."""
    with cgroup_of_the_test() as (_, path, enter):
        os.chown(path, 65534, 65534)  # it may make one below, and move nobody from here
        yield {"wrap": [*enter, "setpriv", "--reuid", "65534", "--regid", "65534",
                        "--clear-groups"], "env": dict(os.environ, HOME="/nonexistent")}
        assert [e.name for e in os.scandir(path) if e.is_dir()] == []


def a_cgroup_that_nobody_can_be_put_into_is_given_up_for_a_subreaper():
    with half_delegated() as how:
        ends_at_its_deadline(kind="subreaper", fallbacks=["no cgroup: ", "Permission denied"],
                             owner=65534, **how)


def what_was_given_up_is_known_to_the_front_that_outlives_its_warden():
    with half_delegated() as how, state() as s:
        os.chown(os.path.dirname(s.path), 65534, 65534)
        with Launched(s, "sh", "-c", SPRAWL, options=["-k", "0.2"], **how) as run:
            run.await_members(*SPRAWL_NAMES)
            warden = s.record(run.run)["warden"]
            end_identity(warden["pid"], warden["start_ticks"])
            result = run.finish(128 + 9)
            assert_gone(run.seen)
            assert result["containment"] == "subreaper", result


def below_a_cgroup_file_system_that_is_read_only_it_is_a_subreaper():
    with cgroup_of_the_test() as (mount, _, _):
        ends_at_its_deadline(
            kind="subreaper", fallbacks=["no cgroup: ", "Read-only file system"],
            wrap=[*namespace("-m"), "sh", "-c",
                  f'mount -o remount,bind,ro {mount} && exec "$@"', "sh"])


def without_clone3_the_command_enters_the_unit_itself():
    for error, words in (("ENOSYS", "not implemented"), ("EPERM", "not permitted")):
        ends_at_its_deadline(kind=kind_here(), wrap=injected(f"clone3:error={error}"),
                             fallbacks=["made by fork: clone3: ", words])


def without_threads_the_record_is_written_in_line():
    # glibc answers an EPERM of clone3 by no thread, an ENOSYS by the older call
    ends_at_its_deadline(kind=kind_here(), wrap=injected("clone3:error=EPERM"),
                         fallbacks=["made by fork"],
                         says=["the end may wait for the disk: no thread"])


def without_pidfds_signals_go_to_numbers():
    for call, error in (("pidfd_open", "ENOSYS"), ("pidfd_open", "EPERM")):
        ends_at_its_deadline(kind=kind_here(), wrap=injected(f"{call}:error={error}"),
                             fallbacks=["signals go to numbers"])
    ends_at_its_deadline(kind=kind_here(), wrap=injected("pidfd_send_signal:error=ENOSYS"))


def without_the_process_connector_members_are_looked_at():
    ends_at_its_deadline(kind=kind_here(), wrap=injected("socket:error=EPERM"),
                         fallbacks=["no events: "])


def a_cgroup_that_cannot_be_killed_is_no_unit():
    if not cgroup_here():
        raise Skip("no cgroup can be made here")
    ends_at_its_deadline(kind="subreaper",
                         wrap=injected("openat:error=EACCES", "cgroup.kill"),
                         fallbacks=["no cgroup: "])


def is_traced(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return "\nTracerPid:\t0\n" not in f.read()


def a_cgroup_whose_kill_fails_is_stopped_then_killed_one_by_one():
    if not cgroup_here():
        raise Skip("no cgroup can be made here")
    with contextlib.ExitStack() as at:
        def refuse(record):
            # which path that is is known only now
            with open("/proc/self/mountinfo", encoding="utf-8") as f:
                root = next(line.split()[4] for line in f if " - cgroup2 " in line)
            path = f"{root}{record['containment']['path']}/cgroup.kill"
            warden = record["warden"]["pid"]
            at.enter_context(subprocess.Popen(
                traced("-o", "/dev/null", "-P", path, "-e", "inject=write:error=EACCES",
                       "-p", str(warden))))
            until(lambda: is_traced(warden))

        ends_at_its_deadline(kind="cgroup", says=["on the way: cgroup.kill"], meanwhile=refuse)


def where_the_command_is_not_found_no_descriptor_of_the_callers_is_closed():
    with state() as s, tempfile.NamedTemporaryFile() as calls:
        done = subprocess.run([*traced("-o", calls.name, "-e", "trace=close"), STRAY, "run",
                               "--state-dir", s.path, "--", "no-such-command"],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        assert done.returncode == 127, done
        assert b"close(0)" not in calls.read()


def where_no_unit_can_be_made_nothing_is_started():
    with state() as s, tempfile.TemporaryDirectory() as d:
        wrap = injected("prctl:error=EPERM")
        done = subprocess.run([*wrap, STRAY, "run", "--state-dir", s.path, "--", "touch",
                               f"{d}/ran"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 125 and "subreaper" in done.stderr, done
        assert not os.path.exists(f"{d}/ran")


main([
    in_a_user_namespace_a_run_ends_at_its_deadline,
    as_the_first_process_of_a_container_a_run_ends_at_its_deadline,
    where_proc_is_not_its_own_nothing_is_started,
    an_ordinary_user_is_held_by_a_subreaper_and_told_why,
    a_cgroup_that_nobody_can_be_put_into_is_given_up_for_a_subreaper,
    what_was_given_up_is_known_to_the_front_that_outlives_its_warden,
    below_a_cgroup_file_system_that_is_read_only_it_is_a_subreaper,
    without_clone3_the_command_enters_the_unit_itself,
    without_threads_the_record_is_written_in_line,
    without_pidfds_signals_go_to_numbers,
    without_the_process_connector_members_are_looked_at,
    a_cgroup_that_cannot_be_killed_is_no_unit,
    a_cgroup_whose_kill_fails_is_stopped_then_killed_one_by_one,
    where_the_command_is_not_found_no_descriptor_of_the_callers_is_closed,
    where_no_unit_can_be_made_nothing_is_started,
])
