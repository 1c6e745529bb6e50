#!/usr/bin/python3
# timeout: 300
"""No secret of a run is in any file that is recorded of it, nor in anything that is shown."""
import base64
import fcntl
import os
import pty
import re
import subprocess
import termios

from e2e import STRAY, Code, main, until
from recorded import state

SECRETS = {name: f"s3cr3t{n}Zq9" for n, name in enumerate((
    "environment", "mark", "token", "password", "url", "header", "bytes", "note", "note_header",
    "action", "approved", "child"))}

# Its environment, and the arguments of what it executes, hold all but those of texts.
VICTIM = r"""
s = dict(zip(sys.argv[2::2], sys.argv[3::2]))
env = {"API_TOKEN": s["environment"], "SECRETS_RUN": s["mark"], "PATH": "/usr/bin:/bin"}
if os.fork() == 0:
    os.execve("/bin/sh", ["sh", "-c", "sleep 50 #", "--api-key", s["child"]], env)
print(os.getpid()); print("READY", flush=True); sys.stdin.readline()
os.execve("/bin/sh", [b"sh", b"-c", b"read x #", b"--token=" + s["token"].encode(),
                      b"--password", s["password"].encode(),
                      b"https://op:" + s["url"].encode() + b"@example.org/x",
                      b"Authorization: Bearer " + s["header"].encode(),
                      b"--secret=" + s["bytes"].encode() + b"\xff"], env)
"""


class Seen:
    """All that was shown and written."""

    def __init__(self):
        self.what = {}

    def add(self, name, data):
        self.what[name] = data if isinstance(data, bytes) else data.encode()

    def decoded(self, data):
        """What the base64 members of JSON text stand for."""
        for text in re.findall(rb'_b64":\[?((?:"[A-Za-z0-9+/=]*"|null|,)+)', data):
            for part in re.findall(rb'"([^"]*)"', text):
                yield base64.b64decode(part)

    def check(self):
        assert len(self.what) > 30, list(self.what)
        for name, data in self.what.items():
            for kind, secret in SECRETS.items():
                for text in (data, *self.decoded(data)):
                    at = text.find(secret.encode())
                    assert at < 0, f"{name} holds the {kind}: …{text[max(0, at - 60):at + 20]!r}"


def screens(s, target, keys):
    """What stray watch draws of it, key after key."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x28\0\xa0\0\0\0\0\0")  # 40 rows, 160 columns
    seen = b""
    with subprocess.Popen([STRAY, "watch", target, "--state-dir", s.path], stdin=slave,
                          stdout=slave, stderr=slave, start_new_session=True,
                          env=dict(os.environ, TERM="xterm")) as p:
        os.close(slave)
        os.set_blocking(master, False)

        def more():
            nonlocal seen
            try:
                got = os.read(master, 65536)
            except (BlockingIOError, OSError):
                return False
            seen += got
            return bool(got)
        until(more)
        for key in keys:
            os.write(master, key)
            until(more)
            while more():
                pass
        p.terminate()
        p.wait()
    os.close(master)
    return seen


def cmdline(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        return f.read()


def no_secret_is_in_any_file_or_on_any_screen():
    seen = Seen()
    flat = [x for pair in SECRETS.items() for x in pair]
    with state() as s, Code(VICTIM, "x", *flat, env={"SECRETS_RUN": SECRETS["mark"],
                                                     "PATH": "/usr/bin:/bin"}) as made:
        made.process.stdin.write("\n")
        made.process.stdin.flush()
        until(lambda: cmdline(made.pid).startswith(b"sh\0"))
        assert SECRETS["token"].encode() in cmdline(made.pid), "the test is blind"

        def run(*args, status=0):
            done = s(*args, status=status, text=False)
            seen.add(" ".join(map(str, args))[:60], done.stdout + done.stderr)
        run("adopt", f"env:SECRETS_RUN={SECRETS['mark']}", "--id", "r", "--approved-by",
            f"op --token={SECRETS['approved']}")
        run("adopt", f"pgid:{made.pid}", "--id", "group", "--json")
        run("note", "r", f"started with --password={SECRETS['note']}")
        run("note", "r", f"curl -H 'Authorization: Bearer {SECRETS['note_header']}'")
        run("check", "r", "--action", f"git push https://op:{SECRETS['action']}@example.org/")
        for view in ([], ["--json"]):
            for what in (["runs"], ["list", "run:r"], ["list"], ["list", "--suspects"],
                         ["why", "run:r"], ["verify"], ["snap"], ["why", "run:group"]):
                run(*what, *view)
        for what in ("run:r", str(made.pid)):
            seen.add(f"screens of {what}", screens(s, what, (b"w", b"\x1b", b"l", b"\x1b", b"E",
                                                             b"\x1b", b"T", b"\x1b", b"?")))
        run("freeze", "run:r")
        run("thaw", "run:r", "--json")
        run("end", "run:r", "-k", "1", "--json")
        run("export", "r", "--format", "md")
        run("export", "r", "--format", "json")
        for folder, _, names in os.walk(s.path):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    seen.add(os.path.relpath(path, s.path), f.read())
        assert "acts" in os.listdir(s.path) and s.events("r", "run_closed")
    # names, unlike values, are written
    assert any(b"API_TOKEN" in data for name, data in seen.what.items() if "run.json" in name)
    seen.check()


main([no_secret_is_in_any_file_or_on_any_screen])
