#!/usr/bin/python3
"""Completion in bash, zsh and fish: the real shells, asked what a Tab would give."""
import contextlib
import glob
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

from e2e import PATIENCE, STRAY, TOP, Made, Skip, installed, main, stray

HERE = os.path.join(TOP, "completions")
FILES = {"bash": "bash/stray", "zsh": "zsh/_stray", "fish": "fish/stray.fish"}

# What is typed, and the line that one Tab makes of it.
TYPED = [
    ("stray li", "stray list "),
    ("stray list --su", "stray list --suspects "),
    ("stray end --dry", "stray end --dry-run "),
    ("stray end --sta", "stray end --state-dir="),
    ("stray end --only=se", "stray end --only=session "),
    ("stray end --only se", "stray end --only session "),
    ("stray end --signal=HU", "stray end --signal=HUP "),
    ("stray end pg", "stray end pgid:"),
    ("stray fre", "stray freeze "),
    ("stray en", "stray en"),
    ("stray end --yes cg", "stray end --yes cgroup:"),
    ("stray --reado", "stray --readonly "),
    ("stray list --source=rep", "stray list --source=replay:"),
    ("stray list --source=replay:be", "stray list --source=replay:before.json "),
    ("stray diff be", "stray diff before.json "),
    ("stray snap -o be", "stray snap -o before.json "),
    ("stray snap be", "stray snap be"),
    ("stray why nothing:", "stray why nothing:"),
    ("stray run --leftover=ke", "stray run --leftover=keep "),
    ("stray run --capture no", "stray run --capture none "),
    ("stray run --detach=de", "stray run --detach=deny "),
    ("stray run --json=be", "stray run --json=before.json "),
    ("stray run inner-com", "stray run inner-command "),
    ("stray run -- inner-com", "stray run -- inner-command "),
    ("stray run -t 5 --json --id=x inner-com", "stray run -t 5 --json --id=x inner-command "),
    ("stray run --grace 5 -q -- inner-command be",
     "stray run --grace 5 -q -- inner-command before.json "),
    ("stray run inner-command --leftover", "stray run inner-command --leftover"),
]


# A value that may be left out: zsh puts a "=" there, which a space takes away again.
TYPED_MAYBE = [
    ("stray run --die", "stray run --die-with-parent"),
    ("stray run --js", "stray run --json"),
]


def need(shell):
    if not shutil.which(shell):
        raise Skip(f"no {shell}")
    return os.path.join(HERE, FILES[shell])


class World:
    """A folder with a file to complete, where `stray` is the program under test."""

    def __init__(self, program=STRAY):
        self.folder = tempfile.mkdtemp()
        os.mkdir(os.path.join(self.folder, "bin"))
        os.symlink(program, os.path.join(self.folder, "bin", "stray"))
        os.symlink("/bin/true", os.path.join(self.folder, "bin", "inner-command"))
        with open(os.path.join(self.folder, "before.json"), "w", encoding="utf-8"):
            pass
        self.env = dict(os.environ, PATH=f"{self.folder}/bin:{os.environ['PATH']}",
                        TERM="dumb", LC_ALL="C.UTF-8", HOME=self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        shutil.rmtree(self.folder)


class Typist:
    """A shell on a terminal: what a line has become after a Tab."""

    def __init__(self, world, argv, setup):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            signal.alarm(60)
            os.chdir(world.folder)
            os.execvpe(argv[0], argv, world.env)
        os.write(self.fd, (setup + "\necho RE''ADY\n").encode())
        self.until(r"^READY")

    def until(self, pattern):
        out, end = "", time.monotonic() + PATIENCE
        while not (found := re.search(pattern, out, re.M)):
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"no {pattern} in {out!r}")
            out += os.read(self.fd, 65536).decode("utf-8", "replace").replace("\r", "")
        return found

    def line_of(self, typed):
        # Ctrl-A goes to the beginning.
        os.write(self.fd, f"{typed}\t'\x01echo GOT '\n".encode())
        return self.until(r"^GOT (.*)\n")[1]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def bash(world):
    return Typist(world, ["bash", "--norc", "--noprofile", "-i"],
                  f"bind 'set enable-bracketed-paste off'; . '{need('bash')}'")


def zsh(world):
    folder = os.path.dirname(need("zsh"))
    return Typist(world, ["zsh", "-f", "-i"],
                  f"PS1='%% '; unset zle_bracketed_paste; ZLE_REMOVE_SUFFIX_CHARS=; "
                  f"fpath=('{folder}' $fpath); autoload -Uz compinit; compinit -u -D; bindkey -e")


def fish(world, lines):
    """What fish says that it would offer, a list for each line."""
    code = f"source '{need('fish')}'; for l in $argv; echo '=='; complete -C $l; end"
    done = subprocess.run(["fish", "--no-config", "-c", code, *lines], text=True, check=True,
                          cwd=world.folder, env=world.env, capture_output=True, timeout=60)
    assert done.stderr == "", done.stderr
    return [[offer.split("\t")[0] for offer in part.splitlines()]
            for part in done.stdout.split("==\n")[1:]]


def offers_of_bash(world, line):
    """COMPREPLY, as the function leaves it."""
    words = line.split(" ")
    script = (f". '{need('bash')}'; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; "
              f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _stray stray; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "--norc", "-c", script], cwd=world.folder, env=world.env,
                          text=True, check=True, capture_output=True, timeout=60)
    assert done.stderr == "", done.stderr
    return done.stdout.split()


def type_all(shell, world, lines):
    with shell(world) as at:
        for typed, want in lines:
            got = at.line_of(typed)
            assert got == want, f"{typed!r} became {got!r}, not {want!r}"


def ask_fish(world, lines):
    for (typed, want), offers in zip(lines, fish(world, [typed for typed, _ in lines])):
        word = want.rstrip(" ").rsplit(" ", 1)[-1]
        if want != typed:
            assert offers == [word], (typed, offers)
        else:
            assert len(offers) != 1, (typed, offers)


def living(made):
    """A number that lives is completed after pgid: and sid:."""
    number = str(made["child"])
    return [(f"stray end {kind}:{number}", f"stray end {kind}:{number} ")
            for kind in ["pgid", "sid"]]


def in_bash_a_tab_completes_it():
    with World() as world, Made("setsid") as made:
        type_all(bash, world, TYPED + living(made) + [(t, w + " ") for t, w in TYPED_MAYBE])


def in_zsh_a_tab_completes_it():
    with World() as world, Made("setsid") as made:
        type_all(zsh, world, TYPED + living(made) + [(t, w + "=") for t, w in TYPED_MAYBE])


def in_fish_it_is_offered():
    with World() as world, Made("setsid") as made:
        need("fish")
        ask_fish(world, TYPED + living(made) + [(t, w + " ") for t, w in TYPED_MAYBE])


# A program of which two runs are recorded, and one with which nothing works.
RUNS = """#!/bin/sh
[ "$1" = runs ] || exec '%s' "$@"
echo '{"schema":"stray.runs/1","runs":[{"run_id":"build-1"},{"run_id":"run-7f3c0a12","record":{"run_id":"run-7f3c0a12"}}]}'
"""
BROKEN = "#!/bin/sh\necho TROUBLE; echo TROUBLE >&2; exit 2\n"
TYPED_RUNS = [
    ("stray end run:bu", "stray end run:build-1 "),
    ("stray why run-7", "stray why run-7f3c0a12 "),
    ("stray list run:", "stray list run:"),
]


@contextlib.contextmanager
def script(text):
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "stray")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o755)
        with World(path) as world:
            yield world


def recorded_runs_are_offered_by_id():
    with script(RUNS % STRAY) as world:
        type_all(bash, world, TYPED_RUNS)
        if shutil.which("zsh"):
            type_all(zsh, world, TYPED_RUNS)
        if shutil.which("fish"):
            ask_fish(world, TYPED_RUNS)


def a_program_that_fails_offers_nothing_and_says_nothing():
    with script(BROKEN) as world:
        for line in ["stray ", "stray end run:", "stray list --s"]:
            assert offers_of_bash(world, line) == [], line
            if shutil.which("fish"):
                assert fish(world, [line]) == [[]], line
        if shutil.which("zsh"):
            type_all(zsh, world, [("stray li", "stray li"), ("stray end run:", "stray end run:")])


def every_option_of_every_command_is_offered():
    with World() as world:
        for c in re.findall(r"^  ([a-z]+) ", stray("--help", status=0).stdout, re.M):
            text = stray(c, "--help", status=0).stdout
            want = re.findall(r"^  (?:-\w, |    )(--[a-z-]+=?)", text, re.M)
            want += re.findall(r"^  (-\w),", text, re.M)
            assert len(want) > 6, text
            assert sorted(offers_of_bash(world, f"stray {c} -")) == sorted(want), c
            if shutil.which("fish"):
                assert sorted(fish(world, [f"stray {c} -"])[0]) == sorted(want), c


def every_file_is_installed_where_the_shell_looks():
    with tempfile.TemporaryDirectory() as d:
        found = {f.split("/share/")[1] for f in installed("install-data", d)}
    want = {"bash-completion/completions/stray", "zsh/site-functions/_stray",
            "fish/vendor_completions.d/stray.fish"}
    assert want <= found, found
    assert len(glob.glob(f"{HERE}/*/*")) == len(want)


main([
    in_bash_a_tab_completes_it,
    in_zsh_a_tab_completes_it,
    in_fish_it_is_offered,
    every_option_of_every_command_is_offered,
    recorded_runs_are_offered_by_id,
    a_program_that_fails_offers_nothing_and_says_nothing,
    every_file_is_installed_where_the_shell_looks,
])
