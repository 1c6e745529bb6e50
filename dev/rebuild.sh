#!/bin/sh
# rebuild.sh SRCDIR DIR CFLAGS GOAL: makes GOAL in a build of its own, in DIR,
# with these flags and warnings as errors.
set -eu
srcdir=$1 dir=$2 cflags=$3 goal=$4

mkdir -p "$dir"
cd "$dir"
[ -e Makefile ] || "$srcdir/configure" --quiet --enable-werror CC="$CC" CFLAGS="$cflags"
exec $MAKE "$goal"
