#!/usr/bin/python3
"""The manual pages say what the program does: its options, no others; examples that run."""
import glob
import os
import re
import shutil
import subprocess
import tempfile

from e2e import STRAY, TOP, Skip, installed, main, stray

PAGES = sorted(glob.glob(os.path.join(TOP, "doc", "*.[1-8]")))
# Two commands on one page.
SHARED = {"thaw": "freeze"}


def read(name):
    with open(os.path.join(TOP, "doc", name), encoding="utf-8") as f:
        return f.read()


def commands():
    """Those that `stray --help` names."""
    found = re.findall(r"^  ([a-z]+) ", stray("--help", status=0).stdout, re.M)
    assert "list" in found and "end" in found, found
    return found


def page_of(command):
    return f"stray-{SHARED.get(command, command)}.1"


def options_of_help(command):
    text = stray(command, "--help", status=0).stdout
    found = re.findall(r"^  (?:(-\w), |    )(--[a-z-]+)", text, re.M)
    assert found, text
    return {o for pair in found for o in pair if o}


def options_of_page(text):
    """Whatever stands behind an Fl, but for flags put together in a synopsis ("Fl MU")."""
    macros = "\n".join(line[1:] for line in text.splitlines() if line.startswith("."))
    flags = re.findall(r"\bFl (\S+)", macros)
    assert flags, "no Fl in it"
    return {"-" + f for f in flags if f[0] == "-" or len(f) == 1} - {"--"}


def section(text, name):
    return re.search(rf"^\.Sh {name}\n(.*?)(?=^\.Sh |\Z)", text, re.M | re.S)


def differ(what, a, b):
    assert a == b, f"{what}: only here {sorted(a - b)}, only there {sorted(b - a)}"


def mandoc_has_nothing_to_say_on_any_page():
    if not shutil.which("mandoc"):
        raise Skip("no mandoc")
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *PAGES], capture_output=True,
                          text=True)
    assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr


def each_command_has_a_page_with_all_that_a_page_has():
    for c in commands():
        text = read(page_of(c))
        assert re.search(rf"^\.Nm stray-{c}\b", section(text, "NAME")[1], re.M), c
        assert f".Nm stray Cm {c}" in text or f".Op Cm {c}" in text, c
        for name in ["SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]:
            assert section(text, name), f"{c}: no {name}"


def the_options_of_a_page_are_those_of_its_help_and_no_other():
    for c in commands():
        text = read(page_of(c))
        want = options_of_help(c)
        differ(f"{c}: help and page", want, options_of_page(section(text, "OPTIONS")[1]))
        differ(f"{c}: help and page", want, want | options_of_page(text))


def the_options_that_every_command_has_are_explained_in_the_first_page():
    common = set.intersection(*(options_of_help(c) for c in commands()))
    differ("all helps and stray.1", common, options_of_page(read("stray.1")))


def the_first_page_leads_to_each_command():
    text = read("stray.1")
    want = {page_of(c)[:-2] for c in commands()}
    for part in [section(text, "DESCRIPTION")[1], section(text, "SEE ALSO")[1]]:
        found = set(re.findall(r"Xr (stray-[a-z]+) 1", part))
        differ("commands and stray.1", want, found)


def pages_refer_to_pages_that_there_are():
    have = {tuple(os.path.basename(p).rsplit(".", 1)) for p in PAGES}
    for path in PAGES:
        for name, number in re.findall(r"Xr (stray\S*) (\d)", read(os.path.basename(path))):
            assert (name, number) in have, f"{path}: {name}({number})"


def examples_of(text):
    """The lines after a "$ " in EXAMPLES, as a shell would read them."""
    lines = re.findall(r"^\.Dl \$ (.*)$", section(text, "EXAMPLES")[1], re.M)
    for written, meant in [("\\&", ""), ("\\e", "\\"), ("\\(dq", '"')]:
        lines = [line.replace(written, meant) for line in lines]
    return lines


# No other make, nor a sleep of ten minutes; each example says how it ended.
SHELL = r"""
set -m
stray() { case ${1-} in ''|watch) set -- "$@" --help ;; esac; "$STRAY" "$@"; }
try() { eval "$1"; s=$?; [ "$s" -lt 2 ] || echo "FAILED: exit $s: $1"; }
"""


def examples_run():
    for page in ["stray.1", *sorted({page_of(c) for c in commands()})]:
        lines = examples_of(read(page))
        with tempfile.TemporaryDirectory() as d:
            for name, does in [("sleep", "exec /bin/sleep 20"), ("make", "true")]:
                with open(os.path.join(d, name), "w", encoding="utf-8") as f:
                    f.write(f"#!/bin/sh\n{does}\n")
                os.chmod(f.name, 0o755)
            quoted = ["try '" + line.replace("'", "'\\''") + "'" for line in lines]
            done = subprocess.run(["bash", "-c", SHELL + "\n".join(quoted)], cwd=d, text=True,
                                  capture_output=True, stdin=subprocess.DEVNULL, timeout=100,
                                  env=dict(os.environ, PATH=f"{d}:{os.environ['PATH']}",
                                           STRAY=STRAY, STRAY_STATE_DIR=os.path.join(d, "state")))
            bad = [line for line in done.stdout.splitlines() if line.startswith("FAILED: ")]
            assert not bad and done.returncode in (0, 1), (page, bad, done.stderr)


def every_page_is_installed():
    with tempfile.TemporaryDirectory() as d:
        found = {os.path.basename(p) for p in installed("install-man", d)}
    differ("doc and installed", {os.path.basename(p) for p in PAGES}, found)


main([
    mandoc_has_nothing_to_say_on_any_page,
    each_command_has_a_page_with_all_that_a_page_has,
    the_options_of_a_page_are_those_of_its_help_and_no_other,
    the_options_that_every_command_has_are_explained_in_the_first_page,
    the_first_page_leads_to_each_command,
    pages_refer_to_pages_that_there_are,
    examples_run,
    every_page_is_installed,
])
