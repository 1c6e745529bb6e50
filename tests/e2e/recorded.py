"""A state directory under test, and runs that are recorded in it."""
import contextlib
import json
import os

from e2e import Made, state_dir, stray


class State:
    """A state directory: called, it runs stray on it; it reads what is in it."""

    def __init__(self, path):
        self.path = path
        self.ledger = os.path.join(path, "ledger.jsonl")

    def __call__(self, *args, status=0, **kw):
        return stray(*args, "--state-dir", self.path, status=status, **kw)

    def json(self, *args, status=0):
        return json.loads(self(*args, "--json", status=status).stdout)

    def of(self, run, name="journal.jsonl"):
        """The path of a file of a run."""
        return os.path.join(self.path, "runs", run, name)

    def record(self, run):
        with open(self.of(run, "run.json"), encoding="utf-8") as f:
            return json.load(f)

    def events(self, run, *names):
        """The events in its journal (those of these names), but for torn lines."""
        found = []
        with open(self.of(run), "rb") as f:
            for line in f:
                with contextlib.suppress(ValueError):
                    found.append(json.loads(line))
        return [e for e in found if not names or e["event"] in names]

    def last(self, run, name):
        return self.events(run, name)[-1]

    def heads(self, run):
        """What the ledger tells of it."""
        with open(self.ledger, encoding="utf-8") as f:
            return [e for e in map(json.loads, f) if e["run"] == run]


@contextlib.contextmanager
def state():
    with state_dir() as d:
        yield State(d)


@contextlib.contextmanager
def adopted(*shape, target="pgid:{leader}", run="r"):
    """A situation by mkproc that is a recorded run."""
    with state() as s, Made(*shape or ("group", 2)) as made:
        s("adopt", target.format(**dict(made.pids)), "--id", run)
        yield s, made


def frozen(pid):
    """Stopped."""
    with open(f"/proc/{pid}/stat", "rb") as f:
        return f.read().rsplit(b")", 1)[1].split()[0] == b"T"
