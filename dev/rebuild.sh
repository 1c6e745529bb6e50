#!/bin/sh
# rebuild.sh SRCDIR DIR GOAL ARG...: makes GOAL in a build of its own, in DIR,
# configured with ARG...
set -eu
srcdir=$1 dir=$2 goal=$3
shift 3

mkdir -p "$dir"
cd "$dir"
[ -e Makefile ] || "$srcdir/configure" --quiet CC="$CC" "$@"
exec $MAKE "$goal"
