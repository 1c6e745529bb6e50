#!/bin/sh
# lint.sh SRCDIR: the part of `make lint` that only reads sources.  CPPFLAGS in
# the environment is what they are compiled with.
set -u
srcdir=$1
failed=0

need() {
	command -v "$1" >/dev/null && return
	echo "lint: $1 is missing; its Debian package is $2" >&2
	exit 2
}

step() {
	echo "  LINT     $1"
}

columns() {
	bad=0
	for file in $files; do
		sed '/clang-format off/,/clang-format on/s/.*//' "$file" | expand |
			LC_ALL=C.UTF-8 grep -nE '.{101}| $' | sed "s|^|$file:|" | grep . && bad=1
	done
	return "$bad"
}

tidy() {
	# What is left on stderr counts the warnings of system headers, which are not ours.
	# shellcheck disable=SC2086 # lists
	found=$(printf '%s\n' $units |
		xargs -P "$(nproc)" -I{} clang-tidy --quiet {} -- -std=gnu17 $CPPFLAGS \
			-include "$srcdir/dev/analyzer.h" 2>&1 |
		grep -vE '^[0-9]+ warnings? (generated|treated as errors?)\.?$')
	[ -z "$found" ] || { echo "$found"; return 1; }
}

need clang-format clang-format
need clang-tidy clang-tidy
need shellcheck shellcheck

files=$(find "$srcdir/src" "$srcdir/tui" "$srcdir/tests" -name '*.[ch]' | sort)
# What tests do on purpose (vfork, unsafe handlers) is no mistake there.
# err.c is what analyzer.h speaks for.
units=$(find "$srcdir/src" "$srcdir/tui" -name '*.c' ! -path '*/base/err.c' | sort)
scripts=$(cd "$srcdir" && find bootstrap dev doc tests -type f ! -name '*.md' \
	-exec grep -lE '^#! ?/bin/(ba)?sh' {} + | sort)
pages=$(find "$srcdir/doc" -name '*.[1-8]' | sort)

# shellcheck disable=SC2086 # lists
{
	step clang-format
	clang-format --dry-run -Werror $files || failed=1
	step columns
	columns || failed=1
	step map
	"$srcdir/dev/map.sh" "$srcdir" || failed=1
	step shellcheck
	(cd "$srcdir" && shellcheck -x $scripts) || failed=1
	if [ -n "$pages" ]; then
		need mandoc mandoc
		step mandoc
		mandoc -T lint -W warning $pages || failed=1
	fi
	step clang-tidy
	tidy || failed=1
}
exit $failed
