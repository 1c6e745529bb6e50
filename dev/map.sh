#!/bin/sh
# map.sh SRCDIR: whether the map in doc/ARCHITECTURE.md names each source file,
# and no other.  Says what differs.
set -eu
cd "$1"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# "  name.c .h   what it is" below "folder/" stands for folder/name.c and folder/name.h.
awk '
	/^[a-z\/]+\/$/ { folder = $1 }
	/^```/ { folder = "" }
	folder && /^  [a-z0-9_]+\.[ch] / {
		print folder $1
		if ($2 == ".h") { sub(/\.c$/, ".h", $1); print folder $1 }
	}' doc/ARCHITECTURE.md | sort >"$dir/map"
find src tui -name '*.[ch]' | sort >"$dir/tree"

comm -13 "$dir/map" "$dir/tree" | sed 's/$/: not in the map of doc\/ARCHITECTURE.md/'
comm -23 "$dir/map" "$dir/tree" | sed 's/$/: in the map of doc\/ARCHITECTURE.md, but not there/'
cmp -s "$dir/map" "$dir/tree"
