#!/bin/sh
# timeout: 300
# Whole hosts (tests/trees): one with nothing left behind has no suspects; with a
# leftover added exactly the processes of its .expect are suspects.  Where a
# .differs says why stray is known to see it otherwise, that is skipped, aloud.
set -u
srcdir=${abs_top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
stray=${STRAY:-./stray}
INROOT=${INROOT:-${abs_top_builddir:-.}/inroot}
export INROOT
trees=$srcdir/tests/trees
"$trees/enter.sh" container true
[ $? = 77 ] && { echo "1..0 # SKIP this kernel lets nobody in"; exit 0; }

dir=$(mktemp -d) || exit 1
chmod 777 "$dir" # a host may be run as another user
# who may not pass through the build directory (below a closed home, say)
cp "$stray" "$dir/stray" && chmod 755 "$dir/stray" && stray=$dir/stray
trap 'rm -rf "$dir"' EXIT
set -- "$trees"/*.host
hosts=$#
set -- "$trees"/*.host "$trees"/*.ordinary "$trees"/*.leftover
echo "1..$(($# + hosts))"
n=0 failed=0 differs=
verdict() { # name: ok where wanted and got are the same PIDs
	n=$((n + 1))
	if [ "$status" != 0 ]; then
		echo "not ok $n - $1"
		echo "# exit status $status"
	elif cut -d' ' -f1 "$dir/got" | cmp -s - "$dir/wanted"; then
		if [ -f "$differs" ]; then
			echo "not ok $n - $1"
			echo "# as wanted: remove $(basename "$differs")"
			failed=1
		else
			echo "ok $n - $1"
		fi
		return
	elif [ -f "$differs" ]; then
		echo "ok $n - $1 # SKIP not so yet: $(cat "$differs")"
		return
	else
		echo "not ok $n - $1"
		cut -d' ' -f1 "$dir/got" | diff "$dir/wanted" - | sed -n 's/^/# /p'
		sed 's/^/# got: /' "$dir/got" | head -n 40
	fi
	sed 's/^/# /' "$dir/err"
	failed=1
}

run() { # host, command: in its tree, as the user it is about
	host=$1
	shift
	uid=
	rm -f "$dir/suspects" "$dir/all" "$dir/names" # another user's, maybe
	case $host in hidepid*) uid='--uid 1000' ;; esac
	# shellcheck disable=SC2086
	"$trees/enter.sh" $uid "$host" "$@" 2>"$dir/err"
	status=$?
}

pids() { # file of JSON
	: >"$dir/got"
	[ "$status" = 0 ] || return
	"$trees/pids_of.py" <"$1" >"$dir/got" 2>>"$dir/err" || status=1
}

for file; do
	name=$(basename "$file")
	name=${name%.*}
	wanted=$trees/$name.expect
	[ -f "$wanted" ] || wanted=/dev/null
	sort -n "$wanted" >"$dir/wanted"
	# shellcheck disable=SC2016
	run "$name" sh -c '"$0" list --suspects --json >"$1/suspects" &&
		"$0" list --json >"$1/all" && ls /proc >"$1/names"' "$stray" "$dir"
	pids "$dir/suspects"
	differs=${file%.*}.differs
	verdict "suspects of $name"
	differs=
	case $file in *.host) ;; *) continue ;; esac
	grep '^[0-9]' "$dir/names" | sort -n >"$dir/wanted"
	pids "$dir/all"
	verdict "list of $name has every process once"
done
exit $failed
