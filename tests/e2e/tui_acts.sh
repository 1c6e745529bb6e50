#!/bin/bash
# The live view on real processes: finds what was left behind, ends it, says
# what lived on; refuses what holds its own shell; answers no dialog that could
# not be seen yet.  As root also once more as an ordinary user.
# timeout: 600
# shellcheck disable=SC2317 # functions that "ok" calls
. "${abs_top_srcdir:?}/tests/e2e/tui_watch.sh"

group_of() { sed "s/^.*) //" "/proc/$1/stat" | cut -d" " -f3; }

incident() {
	local who=$1 term left

	made ignore ignore-term
	made orphan reparented
	term=$(pid ignore child)
	left=$(pid orphan child)
	start 100 30
	ok "$who: the orphan is a suspect" tui_wait "$left"
	aim "$left"
	ok "$who: the pane says why" tui_wait "suspect: "
	tui_keys T
	ok "$who: the dialog says what it hits" tui_wait "TERM to group $(group_of "$left")"
	ok "$who: nothing is sent before it is answered" alive "$left"
	tui_keys Enter
	ok "$who: TERM ends it" tui_until gone "$left"
	ok "$who: the outcome says so" tui_wait "1 of 1 gone"

	aim "$term"
	tui_keys r
	tui_wait "Which run?"
	tui_keys Enter
	ok "$who: the run is chosen and recorded" tui_wait "recorded: $state/runs/run-"
	aim "$term"
	tui_keys T
	tui_wait "TERM to group"
	ok "$who: what is useless is said before" tui_wait "ignores TERM"
	tui_keys BTab # its group holds mkproc, which cleans up at a TERM
	ok "$who: the scope is turned" tui_wait "TERM to process $term"
	ok "$who: who is not hit is said" tui_wait "NOT hit: "
	tui_keys Enter
	ok "$who: the survivor is named" tui_wait "$term alive"
	tui_keys K
	tui_wait "KILL to group"
	tui_keys BTab
	tui_wait "KILL to process"
	tui_keys Enter
	ok "$who: KILL ends it" tui_until gone "$term"
	tui_keys d
	ok "$who: before and after are shown" tui_wait "died of KILL"
	ok "$who: the record is written" tui_wait "written: "
	quit
	ok "$who: three acts are on disk" test "$(find "$state/acts" -name diff.json | wc -l)" = 3
	ok "$who: the diff says who went" grep -q "\"pid\": *$term" "$state"/acts/*/diff.json
	made_end
	rm -rf "$state"
}

incident "as $(id -un)"

# Keys that were there before the dialog was are no answer to it.
made early daemon
left=$(pid early daemon)
start 80 24
aim "$left"
tui_keys T Enter Enter Enter
ok "keys typed ahead: the dialog is there" tui_wait "Enter sends TERM"
ok "keys typed ahead: nothing was sent" alive "$left"
tui_paste "
"
sleep 0.5
ok "a paste is no answer" alive "$left"
tui_keys Escape
ok "Esc sends nothing" tui_wait "nothing was sent"
ok "it lives" alive "$left"
quit
made_end

# A group with our own shell in it: refused, and only what is added is hit.
# mkproc's child stays in the group of the sh that starts stray.
tui_start 100 30 env TERM=xterm-256color LC_ALL=C.UTF-8 "STRAY_STATE_DIR=$state" \
	sh -c "sleep 100 & echo \$! >'$tui_dir/own'; '$stray' watch -d 3; kill \$!"
tui_wait "stray ·"
own=$(cat "$tui_dir/own")
shell=$(tui_pid)
aim "$own"
tui_keys K
ok "own group: refused" tui_wait "REFUSED, it holds your own"
ok "own group: it says whose" tui_wait "yours: cannot be added"
tui_keys Enter
ok "own group: Enter hits nobody" tui_wait "nobody would be hit"
ok "own group: all live" alive "$own"
tui_keys Space
tui_wait "1 of the"
tui_keys Enter
ok "own group: the count is asked for" tui_wait "type 1"
tui_keys 1 Enter
ok "own group: the added one is ended" tui_until gone "$own"
ok "own group: the shell lives" alive "$shell"
quit

# What cannot be recorded is not done.
made full daemon
left=$(pid full daemon)
: >"$tui_dir/nodir"
state=$tui_dir/nodir start 80 24
aim "$left"
tui_keys T
ok "no record: said in the dialog" tui_wait "nothing can be recorded"
tui_keys Enter Enter
sleep 0.5
ok "no record: nothing is sent" alive "$left"
quit
made_end
state=$tui_dir/state

made readonly daemon
left=$(pid readonly daemon)
start 80 24 --readonly
aim "$left"
tui_keys T
ok "readonly: acts are absent, and say so" tui_wait "acts are absent"
quit
made_end

if [ "$(id -u)" = 0 ]; then
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	chmod 755 "$tui_dir"
	state=$tui_dir/user
	mkdir -m 700 "$state"
	chown 65534:65534 "$state"
	incident "as an ordinary user"
fi

tap_end
