#!/bin/sh
# enter.sh [--uid N] [--fill N] HOST[+LEFTOVER...] CMD ARG...
#
# Writes the tree of HOST.host (and of each HOST+LEFTOVER.leftover) to a
# temporary directory and runs CMD in it: see tests/helpers/inroot.c.
#   tests/trees/enter.sh server+deploy ps -ejH
# INROOT names that helper (default: ./inroot, as in the build directory).
# Exit status: CMD's; 77 where this kernel or host cannot.
set -u
here=$(dirname "$0")
uid='' fill=''
while :; do
	case ${1-} in
	--uid) uid="--uid $2"; shift 2 ;;
	--fill) fill="--fill $2"; shift 2 ;;
	*) break ;;
	esac
done
if [ $# -lt 2 ]; then
	echo "usage: enter.sh [--uid N] [--fill N] HOST[+LEFTOVER...] CMD..." >&2
	exit 125
fi
[ -x /usr/bin/python3 ] || { echo "enter.sh: no python3" >&2; exit 77; }
# Thousands of small files: in memory, unless TMPDIR says where.
[ -n "${TMPDIR-}" ] || { [ -w /dev/shm ] && TMPDIR=/dev/shm; }
dir=$(mktemp -d -p "${TMPDIR:-/tmp}") || exit 125
trap 'rm -rf "$dir"' EXIT
trap 'exit 129' HUP
trap 'exit 143' TERM
# shellcheck disable=SC2086
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$here/mktree.py" $fill "$dir/tree" "$1" ||
	exit 125
shift
# shellcheck disable=SC2086
"${INROOT:-./inroot}" $uid "$dir/tree" "$@"
