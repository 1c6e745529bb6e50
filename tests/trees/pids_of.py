#!/usr/bin/python3
"""Reads what `stray list --json` prints; "PID COMM REASONS" a line, by PID."""
import json
import sys


def processes(value):
    """Every object in an array named processes, however deep."""
    if isinstance(value, list):
        for v in value:
            yield from processes(v)
    elif isinstance(value, dict):
        for key, v in value.items():
            if key == "processes":
                yield from v
            else:
                yield from processes(v)


for p in sorted(processes(json.load(sys.stdin)), key=lambda p: p["pid"]):
    why = p.get("reasons", p.get("suspect", ""))
    print(p["pid"], p.get("comm", ""),
          json.dumps(why) if why else "", flush=True)
