# shellcheck shell=bash
# For tests of the live view on a real terminal and real processes.  Source it from bash; it
# takes in tui_lib.sh.
#
#	made OUT ARGS...       a situation by mkproc, until made_end; its PIDs in file OUT
#	pid OUT NAME [I]       the I-th PID of that name in it, from 1
#	gone PID; alive PID    state_of PID: R, S, ...
#	start COLUMNS ROWS OPTION...   stray watch, as "${as[@]}", records in $state
#	aim PID                the cursor stands on it, or the test ends here
#	pane_says PID          whether the pane below the list is about it
#	quit                   out of all screens, and of the view
#	bail WHY               the test ends here: nothing is pressed that could hit others
. "${abs_top_srcdir:?}/tests/e2e/tui_lib.sh"
stray=${STRAY:?}
mkproc=${abs_top_builddir:?}/mkproc
state=$tui_dir/state
as=()
makers=()

bail() {
	echo "Bail out! $*"
	tui_screen | sed 's/^/# |/'
	exit 1
}

# mkproc's own cleaning up ends what it made when its input closes.
made_end() {
	local fd
	for fd in "${makers[@]}"; do eval "exec $fd>&-"; done
	makers=()
}
trap 'made_end; tui_end; rm -rf "$tui_dir"' EXIT

made() {
	local out=$tui_dir/$1 fifo=$tui_dir/$1.in fd
	shift
	mkfifo "$fifo"
	"${as[@]}" "$mkproc" --life 100 --session "$@" <"$fifo" >"$out" 2>&1 &
	exec {fd}>"$fifo"
	makers+=("$fd")
	rm -f "$fifo"
	tui_until grep -q READY "$out" || bail "mkproc is not ready"
}

pid() { awk -v n="$2" -v i="${3:-1}" '$1 == n && ++k == i { print $2 }' "$tui_dir/$1"; }

# Nothing where it is gone.
state_of() { sed 's/^.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null; }
alive() { case $(state_of "$1") in "" | Z | X) return 1 ;; esac; }
gone() { ! alive "$1"; }

start() {
	local cols=$1 rows=$2
	shift 2
	tui_start "$cols" "$rows" "${as[@]}" env TERM=xterm-256color LC_ALL=C.UTF-8 \
		"STRAY_STATE_DIR=$state" "$stray" watch -d 3 "$@" && tui_wait "stray ·"
}

pane_says() { tui_screen | tail -n 9 | grep -q "^ $1 "; }

# Not before a scan has seen it can it be found.
found() {
	tui_keys /
	tui_wait "find:" || bail "no prompt"
	tui_type "$1"
	tui_keys Enter
	tui_wait_gone "find:"
	sleep 0.2
	pane_says "$1"
}
aim() {
	[[ $1 =~ ^[0-9]+$ ]] || bail "no PID to aim at"
	tui_until found "$1" || bail "the cursor is not on $1"
}

# q leads back from a screen, and out of the list.
leave() {
	tui_shows "EXIT 0 0 cooked" && return 0
	tui_keys q
	sleep 0.3
	return 1
}
quit() { tui_until leave; }
