#!/bin/bash
# The live view on the incident of doc/: what was connected before an act and
# after, how a freeze will be done, and the mouse.
# timeout: 300
# shellcheck disable=SC2317 # functions that "ok" calls
. "${abs_top_srcdir:?}/tests/e2e/tui_watch.sh"
played=()

# The play's processes, by what they say they are; all below this test's own mark.
play_pids() { grep -lzx "PLAY=$tui_dir" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
play_pid() {
	local p
	for p in $(play_pids); do
		tr '\0' ' ' <"/proc/$p/cmdline" 2>/dev/null | grep -q "^$1" && echo "$p" && return
	done
	return 1
}
play_end() {
	local p
	for p in $(play_pids); do kill -KILL "$p" 2>/dev/null; done
	[ -z "${group:-}" ] || tui_until removed
}
removed() { [ ! -d "$group" ] || rmdir "$group" 2>/dev/null; }
trap 'play_end; tui_end; rm -rf "$tui_dir"' EXIT

play() {
	PLAY=$tui_dir LIFE=120 bash "$abs_top_srcdir/doc/incident.sh" >"$tui_dir/said" 2>&1 </dev/null
	curl=$(play_pid curl) && upload=$(play_pid "sh upload") && deploy=$(play_pid "sh -c")
	played=("$curl" "$upload" "$deploy")
}

# An SGR report of the left button, from 1: click COLUMN ROW.
click() { tui_type $'\033[<0;'"$1;$2M"$'\033[<0;'"$1;$2m"; }
wheel() { tui_type $'\033[<'"$1;10;8M"; }

# The first row and column, from 1, of a text on the screen.
row_of() { tui_screen | grep -nF -- "$1" | head -n 1 | cut -d: -f1; }
column_of() { tui_screen | awk -v t="$1" 'i = index($0, t) { print i; exit }'; }

pane_says_not() { ! pane_says "$1"; }

play || skip_all "the incident cannot be played here"
ok "the incident is played" test -n "${played[0]}" -a -n "${played[1]}" -a -n "${played[2]}"

# only these: what else is on the host comes and goes, and moves the rows
start 100 30 -p "$curl,$upload"
tui_wait "$curl"

# --- the mouse
click 20 "$(row_of " $curl ")"
ok "a click selects the row" tui_until pane_says "$curl"
click 20 "$(row_of " $upload ")"
ok "a click selects another" tui_until pane_says "$upload"
wheel 65
wheel 65
ok "the wheel moves on" tui_until pane_says_not "$upload"
tui_keys g
click "$(column_of "? keys")" 30
ok "a click on the key line runs the key" tui_wait "Help: keys, flags, coverage"
click 2 30
ok "also on a page" tui_wait "SUSPECT"
click "$(column_of "/ find")" 30
ok "also where it asks" tui_wait "find:"
tui_keys Escape
aim "$curl"
click "$(column_of "T term")" 30
ok "a click opens the dialog" tui_wait "TERM to group $upload"
click 40 15
click "$(column_of "Enter sends")" "$(row_of "Enter sends")"
sleep 0.5
ok "no click answers it" test "$(state_of "$curl")" = S

# --- before and after
tui_keys Enter
ok "TERM ends both" tui_until gone "$upload"
tui_wait "2 of 2 gone"
tui_keys d
ok "the diff says who was connected" tui_wait "- connection"
ok "the diff says where the connection went" tui_wait "gone with $curl"
ok "the diff says how it is known" tui_wait "sock_diag"
ok "the diff counts the rest of the host" tui_wait "elsewhere on this host: +"
ok "the diff says where it is written" tui_wait "written: $state/acts/"
quit

start 100 30 -M -p "$deploy"
tui_wait "$deploy"
row=$(row_of " $deploy ")
tui_keys g
tui_until pane_says_not "$deploy"
before=$(tui_screen | tail -n 9)
click 20 "$row"
sleep 0.5
ok "-M leaves the mouse to the terminal" test "$(tui_format '#{mouse_any_flag}')" = 0
is "-M: a report of it is no key" "$(tui_screen | tail -n 9 | head -n 4)" "$(head -n 4 <<<"$before")"
quit
play_end

# --- by what a freeze is done, where this kernel lets us make a cgroup
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -n "$mount" ] && mkdir "$mount/stray-test-$$" 2>/dev/null &&
	[ -e "$mount/stray-test-$$/cgroup.freeze" ]; then
	group=$mount/stray-test-$$
	# shellcheck disable=SC2016 # sh's own
	(PLAY=$tui_dir setsid sh -c 'echo $$ >"$1/cgroup.procs"; exec sleep 120' sh "$group" \
		</dev/null >/dev/null 2>&1 &)
	tui_until play_pid "sleep 120" >/dev/null
	held=$(play_pid "sleep 120")
	path=$(sed -n 's/^0:://p' "/proc/$held/cgroup")
	start 100 30 "cgroup:$path"
	tui_wait "$held"
	tui_keys g
	aim "$held"
	tui_keys z
	ok "of a group: by SIGSTOP" tui_wait "By SIGSTOP until none is new"
	tui_keys BTab BTab
	tui_wait "FREEZE of cgroup"
	ok "of the run: by its cgroup" tui_wait "By cgroup.freeze: the kernel stops all"
	tui_keys Enter
	ok "it is frozen" tui_until grep -q "frozen 1" "$group/cgroup.events"
	ok "without a STOP" test "$(state_of "$held")" != T
	tui_wait "1 of 1 frozen"
	tui_keys z
	ok "z again thaws it" tui_wait "THAW of"
	tui_keys Enter
	ok "it is thawed" tui_until grep -q "frozen 0" "$group/cgroup.events"
	quit
	play_end
else
	tap 0 "by what a freeze is done # SKIP no cgroup can be made here"
fi

tap_end
