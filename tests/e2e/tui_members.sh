#!/bin/bash
# The live view finds members that nothing but a pipe or a service ties to the run.
# timeout: 200
# shellcheck disable=SC2317 # functions that "ok" calls
. "${abs_top_srcdir:?}/tests/e2e/tui_watch.sh"
maker=

made_end() {
	[ -z "$maker" ] || eval "exec $maker>&-"
	maker=
	wait
}
trap 'made_end; tui_end; rm -rf "$tui_dir"' EXIT

# made SITUATION: one of members.py, until made_end.
made() {
	rm -f "$tui_dir/in"
	mkfifo "$tui_dir/in"
	"$abs_top_srcdir/tests/e2e/members.py" hold "$1" <"$tui_dir/in" >"$tui_dir/made" &
	exec {maker}>"$tui_dir/in"
	tui_until grep -q READY "$tui_dir/made"
}
pid() { awk -v n="$1" '$1 == n { print $2 }' "$tui_dir/made"; }

# choose PID: it is the run.
choose() {
	aim "$1"
	tui_keys r
	tui_wait "Which run?"
	tui_keys Enter
	tui_wait_gone "Which run?"
}

shows() { tui_screen | grep -q "$1"; }

# quit PID: from the page of why.
quit() {
	tui_keys Escape
	tui_wait_gone "Why $1"
	tui_keys q
	tui_wait "EXIT 0 0 cooked"
}

start 100 30 # first: tmux would keep what holds a situation
made executor
choose "$(pid root)"
away=$(pid away)
ok "a member by a pipe is listed" tui_wait "$away"
aim "$away"
ok "the pane says by what" tui_wait "member by: pipe"
tui_keys w
ok "and the page of why" tui_wait "Why $away"
ok "with its evidence" tui_until shows "member by  *pipe"
ok "its exit is clean" quit "$away"
made_end

start 100 30
made asked
choose "$(pid client)"
ok "a possible member is counted" tui_wait "possible"
aim "$(pid job)"
ok "the pane says by what it is possible" tui_wait "peer"
tui_keys w
ok "the page of why names who was asked" tui_wait "$(pid service) forked it while"
ok "its exit is clean" quit "$(pid job)"
made_end

tap_end
