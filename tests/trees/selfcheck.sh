#!/bin/sh
# timeout: 300
# The described hosts and what ps(1) sees of them: see selfcheck.py.
[ -x /usr/bin/python3 ] || exit 77
command -v ps >/dev/null || exit 77
PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$(dirname "$0")/selfcheck.py" \
	"${INROOT:-./inroot}"
