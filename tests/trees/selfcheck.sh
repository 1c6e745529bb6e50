#!/bin/sh
# The described hosts and what ps(1) sees of them: see selfcheck.py.
command -v python3 >/dev/null || exit 77
command -v ps >/dev/null || exit 77
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/selfcheck.py" \
	"${INROOT:-./inroot}"
