# shellcheck shell=bash
# For tests on a real terminal: a private tmux, and TAP.  Source it from bash.
#
# Nothing here sleeps and hopes: a test waits until the screen shows what it
# needs, at most TUI_PATIENCE seconds, and then fails with the screen.
#
#	tui_start COLUMNS ROWS COMMAND...   in a pane, below job.pl
#	tui_keys KEY...                     keys by tmux's names (Down, C-z, F9)
#	tui_type TEXT                       characters as they are
#	tui_paste TEXT                      bracketed, where the program asked for it
#	tui_wait TEXT                       until the screen holds TEXT
#	tui_wait_gone TEXT                  until it does not
#	tui_screen                          the screen as text
#	tui_signal NAME                     to COMMAND
#	tui_resize COLUMNS ROWS
#	tui_format FORMAT                   of the pane: '#{alternate_on}'
#	ok NAME COMMAND...                  passed if COMMAND succeeds
#	is NAME GOT EXPECTED
#	skip_all REASON;  tap_end           the last line of a test
TUI_PATIENCE=${TUI_PATIENCE:-20}
tap_count=0
tap_failed=0

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

tap_end() {
	echo "1..$tap_count"
	exit "$tap_failed"
}

# tap PASSED NAME: passed if PASSED is 0.
tap() {
	tap_count=$((tap_count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_count - $2"
		return 0
	fi
	tap_failed=1
	echo "not ok $tap_count - $2"
	return 1
}

ok() {
	local name=$1 status=0
	shift
	"$@" || status=1
	tap $status "$name" || tui_screen | sed 's/^/# |/'
}

is() {
	local status=0
	[ "$2" = "$3" ] || status=1
	tap $status "$1" || printf 'got:      %s\nexpected: %s\n' "$2" "$3" | sed 's/^/# /'
}

command -v tmux >/dev/null || skip_all "no tmux"
tui_dir=$(mktemp -d) || exit 1
tui_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
trap 'tui_end; rm -rf "$tui_dir"' EXIT
trap 'exit 1' HUP INT TERM

tui_tmux() {
	# -u: UTF-8 whatever the locale of the test is.
	env -u TMUX LC_ALL=C.UTF-8 TERM=xterm-256color tmux -u -S "$tui_dir/socket" -f /dev/null "$@"
}

# One server serves all: a new window takes the place of the one before.
tui_start() {
	local cols=$1 rows=$2 window=(new-session -d -x "$1" -y "$2")
	shift 2
	rm -f "$tui_dir/pid"
	if tui_tmux set-option -g default-size "${cols}x$rows" 2>/dev/null; then
		window=(new-window -k -t :0)
	fi
	tui_tmux "${window[@]}" perl "$tui_here/job.pl" "$tui_dir/pid" "$@" &&
		tui_until test -s "$tui_dir/pid"
}

tui_end() {
	local server
	server=$(tui_tmux display-message -p '#{pid}' 2>/dev/null) || return 0
	tui_tmux kill-server 2>/dev/null
	tui_until tui_ended "$server"
}

# A zombie is what a slow init has not reaped yet.
tui_ended() { ! grep -qsE '^[0-9]+ \(.*\) [^Z]' "/proc/$1/stat"; }

# tui_until COMMAND...: waits until it succeeds.
tui_until() {
	local end=$((SECONDS + TUI_PATIENCE))
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

tui_screen() { tui_tmux capture-pane -p 2>/dev/null; }
tui_shows() { tui_screen | grep -qF -- "$1"; }
tui_shows_not() { ! tui_shows "$1"; }
tui_wait() { tui_until tui_shows "$1"; }
tui_wait_gone() { tui_until tui_shows_not "$1"; }
# What is typed within 20 ms after a dialog was drawn is no answer to it (tui/driver.c).
tui_keys() { sleep 0.05 && tui_tmux send-keys "$@"; }
tui_type() { tui_tmux send-keys -l -- "$1"; }
tui_resize() { tui_tmux resize-window -x "$1" -y "$2"; }
tui_format() { tui_tmux display-message -p "$1"; }
tui_pid() { cat "$tui_dir/pid"; }
tui_signal() { kill -s "$1" "$(tui_pid)"; }

tui_paste() {
	tui_tmux set-buffer -- "$1"
	tui_tmux paste-buffer -p
}
