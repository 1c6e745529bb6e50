#!/usr/bin/python3
# timeout: 200
"""Each block of doc/executors.md does what the page says of it."""
import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap

from e2e import LIFE, STRAY, TOP, Skip, alive, as_root, end_identity, main, start_of, until
from marked import new_id
from recorded import State

# Prints a line, and leaves one behind in each way that a group's signal misses.
SPRAWL = (f"echo out; echo err >&2; (sleep {LIFE} & echo $! >$D/one); "
          f"setsid sh -c 'echo $$ >$D/two; trap \"\" TERM; sleep {LIFE}; sleep {LIFE}' & ")


def blocks():
    """The fenced blocks, by the heading that they stand under: (language, text)."""
    with open(f"{TOP}/doc/executors.md", encoding="utf-8") as f:
        page = f.read()
    found = {}
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        heading = section.split("\n", 1)[0]
        for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", section, flags=re.M | re.S):
            assert heading not in found, f"two blocks under {heading}"
            found[heading] = language, text
    return found


BLOCKS = blocks()
used = set()


def block(heading, language):
    used.add(heading)
    assert BLOCKS[heading][0] == language
    return BLOCKS[heading][1]


class Place:
    """A folder with the snippet's script, a state directory, and stray in the PATH."""

    def __init__(self, folder):
        self.folder = folder
        self.state = State(f"{folder}/state")
        self.notes = f"{folder}/notes"  # where any user's command writes down whom it started
        self.env = dict(os.environ, D=self.notes, STRAY_STATE_DIR=self.state.path, TMPDIR=folder,
                        PATH=f"{folder}/bin:{os.environ['PATH']}")
        os.mkdir(f"{folder}/bin")
        os.mkdir(self.notes)
        os.chmod(self.notes, 0o777)
        os.symlink(STRAY, f"{folder}/bin/stray")

    def script(self, heading):
        path = f"{self.folder}/bin/snippet"
        with open(path, "w", encoding="utf-8") as f:
            f.write(block(heading, "sh"))
        os.chmod(path, 0o755)
        return path

    def run(self, *argv, status=None, **env):
        done = subprocess.run(argv, env=dict(self.env, **env), cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        if status is not None:
            assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done

    def pids(self):
        """Who was started and written down; they are ended with the test."""
        found = []
        for name in ("one", "two"):
            with contextlib.suppress(FileNotFoundError, ValueError), \
                    open(f"{self.notes}/{name}", encoding="utf-8") as f:
                found.append(int(f.read()))
        return found

    def processes(self):
        """Whoever has this place in the environment."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as f:
                if f"D={self.notes}".encode() in f.read().split(b"\0"):
                    found.append(pid)
        return found

    def assert_nothing_is_left(self):
        assert len(self.pids()) == 2
        assert not any(map(alive, self.pids()))


@contextlib.contextmanager
def place():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        at = Place(folder)
        try:
            yield at
        finally:
            for pid in at.pids():
                end_identity(pid, start_of(pid))


def a_shell_tool_leaves_nothing_in_time_and_out_of_time():
    with place() as at:
        tool = at.script("A shell tool")
        result = f"{at.folder}/result"
        done = at.run(tool, SPRAWL + "sleep 60; sleep 60", status=124, TOOL_TIMEOUT="1s",
                      TOOL_RESULT=result, TOOL_APPROVED_BY="the test")
        assert done.stdout == "out\n" and done.stderr == "err\n", done
        at.assert_nothing_is_left()
        with open(result, encoding="utf-8") as f:
            told = json.load(f)
        assert told["state"] == "ended" and told["survivors"] == []
        assert at.state.record(told["run_id"])["approved_by"] == "the test"
        at.run(tool, SPRAWL + "wait_for=$D/two; while ! [ -s $D/two ]; do :; done; exit 3", status=3)
        at.assert_nothing_is_left()
        assert at.run(tool, "echo $1 $0", status=0).stdout == "sh\n"


def a_shell_tool_ends_with_its_agent():
    with place() as at:
        tool = at.script("A shell tool")
        agent = subprocess.Popen([sys.executable, "-c", "import subprocess, sys\n"
                                  "subprocess.run(sys.argv[1:])", tool, SPRAWL + "sleep 60"],
                                 env=at.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        until(lambda: len(at.pids()) == 2)
        agent.kill()
        agent.wait()
        until(lambda: not at.processes())  # stray, too
        at.assert_nothing_is_left()


def python_gets_what_the_command_said_and_what_became_of_it():
    with place() as at:
        code = block("Python", "python") + textwrap.dedent("""
            import sys
            print(json.dumps(run_tool(["sh", "-c", sys.argv[1]], float(sys.argv[2]))))
            """)
        done = at.run(sys.executable, "-c", code, SPRAWL + "sleep 60", "1", status=0)
        status, out, err, told = json.loads(done.stdout)
        assert (status, out, err, told["state"]) == (124, "out\n", "err\n", "ended"), done
        at.assert_nothing_is_left()
        done = at.run(sys.executable, "-c", code, "exit 5", "30", status=0)
        status, out, err, told = json.loads(done.stdout)
        assert (status, out, err, told["state"]) == (5, "", "", "finished")


def node_gets_what_the_command_said_and_what_became_of_it():
    code = block("Node", "js")
    if not shutil.which("node"):
        raise Skip("no node")
    code += """
    runTool(["sh", "-c", process.argv[1]], process.argv[2])
      .then((done) => console.log(JSON.stringify(done)));
    """
    with place() as at:
        done = at.run("node", "-e", code, SPRAWL + "sleep 60", "1.5", status=0)
        done = json.loads(done.stdout)
        assert (done["status"], done["stdout"], done["stderr"]) == (124, "out\n", "err\n"), done
        assert done["told"]["state"] == "ended"
        at.assert_nothing_is_left()
        done = json.loads(at.run("node", "-e", code, "exit 5", "30", status=0).stdout)
        assert done["status"] == 5 and done["told"]["state"] == "finished", done
        assert not [name for name in os.listdir(at.folder) if name.startswith("tool-")]


def a_step_of_ci_fails_for_what_it_leaves_and_keeps_the_record_of_it():
    text = block("A step of CI", "yaml")
    script = textwrap.dedent(text.split("run: |\n")[1])
    with place() as at:
        for recipe, status in ((f"setsid sleep {LIFE} >one 2>&1 & echo $$! >$D/one", 123), ("false", 2),
                               ("true", 0)):
            with open(f"{at.folder}/Makefile", "w", encoding="utf-8") as f:
                f.write(f"check:\n\t@{recipe}\n")
            with contextlib.suppress(FileNotFoundError):
                os.remove(f"{at.folder}/incident.md")
            # as CI runs a step
            at.run("bash", "-e", "-c", script, status=status, BUILD=new_id("build"))
            with open(f"{at.folder}/incident.md", encoding="utf-8") as f:
                incident = f.read()
            assert (f"sleep {LIFE}" in incident) == (status == 123), incident


def another_user_cannot_reach_the_record_and_is_ended_all_the_same():
    script_of = "A user of its own"
    used.add(script_of)
    as_root()
    with place() as at:
        tool = at.script(script_of)
        done = at.run(tool, "sh", "-c", "id -un; touch $STRAY_STATE_DIR/x; " + SPRAWL +
                      "sleep 60", status=124, TOOL_TIMEOUT="1s")
        assert done.stdout == "nobody\nout\n", done
        assert "Permission denied" in done.stderr
        at.assert_nothing_is_left()


def without_a_network_nobody_is_reached():
    with place() as at:
        tool = at.script("No network")
        if subprocess.run(["unshare", "-rn", "true"], stderr=subprocess.DEVNULL).returncode:
            raise Skip("no network namespace can be made here")
        with socket.create_server(("127.0.0.1", 0)) as server:
            code = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 3)"
            argv = [sys.executable, "-c", code, str(server.getsockname()[1])]
            at.run(*argv, status=0)
            done = at.run(tool, *argv, status=1)
            assert "unreachable" in done.stderr, done.stderr
        done = at.run(tool, "sh", "-c", "id -u; " + SPRAWL + "sleep 60", status=124,
                      TOOL_TIMEOUT="1s")
        assert done.stdout == f"{os.geteuid()}\nout\n", done
        at.assert_nothing_is_left()


def an_authority_refuses_a_run_that_is_over():
    code = block("An authority that asks", "python") + """
import sys
sys.exit(0 if may_act(*sys.argv[1:]) else 1)
"""
    with place() as at:
        def asked(run, action, status):
            at.run(sys.executable, "-c", code, run, action, status=status)

        run = new_id("asked")
        stray = subprocess.Popen([STRAY, "run", "-q", "-t", "2s", "-k", "0", "--id", run, "--",
                                  "sleep", str(LIFE)], env=at.env)
        until(lambda: os.path.exists(at.state.of(run)) and at.state.events(run, "started"))
        asked(run, "one thing", 0)
        assert stray.wait(30) == 124
        asked(run, "another", 1)
        asked("no-such-run", "a third", 1)
        told = at.state.events(run, "action_accepted", "action_refused")
        assert [(e["event"], e["action"]) for e in told] == [
            ("action_accepted", "one thing"), ("action_refused", "another")]


def what_was_given_is_taken_back_before_the_term():
    with place() as at:
        tool = at.script("What is revoked at the deadline")
        command = ('cat "$TOKEN_FILE"; echo ${TOKEN-unset}; '
                   "trap '[ -e \"$TOKEN_FILE\" ] && echo there || echo gone; exit' TERM; "
                   "sleep 60 & wait")
        done = at.run(tool, "sh", "-c", command, status=124, TOKEN="made-up", TOOL_TIMEOUT="1s")
        assert done.stdout == "made-up\nunset\ngone\n", done
        done = at.run(tool, "sh", "-c", 'echo "$TOKEN_FILE"', status=0, TOKEN="made-up")
        assert not os.path.exists(done.stdout.strip())


def no_block_was_left_out():
    assert used == set(BLOCKS), set(BLOCKS) - used


main([
    a_shell_tool_leaves_nothing_in_time_and_out_of_time,
    a_shell_tool_ends_with_its_agent,
    python_gets_what_the_command_said_and_what_became_of_it,
    node_gets_what_the_command_said_and_what_became_of_it,
    a_step_of_ci_fails_for_what_it_leaves_and_keeps_the_record_of_it,
    another_user_cannot_reach_the_record_and_is_ended_all_the_same,
    without_a_network_nobody_is_reached,
    an_authority_refuses_a_run_that_is_over,
    what_was_given_is_taken_back_before_the_term,
    no_block_was_left_out,
])
