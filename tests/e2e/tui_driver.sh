#!/bin/bash
# The driver on a real terminal: it takes it, reads it, and gives it back on
# every way out.  tuidemo is the smallest view there is on it.
# timeout: 600
# shellcheck disable=SC2317 # functions that "ok" calls
. "${abs_top_srcdir:?}/tests/e2e/tui_lib.sh"
demo=${abs_top_builddir:?}/tuidemo

# start [VAR=VALUE...] [-- OPTION...]: the demo in 24x80, on its screen.
start() {
	local env=(TERM=xterm-256color LC_ALL=C.UTF-8)
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		env+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	tui_start 80 24 env "${env[@]}" "$demo" "$@" && tui_wait DEMO
}

# restored EXIT: it ended so ("status signal modes"), and the terminal is as it was.
restored() {
	tui_wait "EXIT $1" && [ "$(tui_format '#{alternate_on} #{cursor_flag}')" = "0 1" ] &&
		[ "$(tui_format '#{keypad_cursor_flag} #{mouse_any_flag}')" = "0 0" ]
}

# works TERM LOCALE SEPARATOR: drawn with the separator that the locale has.
works() {
	start "TERM=$1" "LC_ALL=$2"
	ok "$1, $2: drawn" tui_wait "web-01 $3 run-7f3c0a12 $3 DEMO"
	tui_keys Down
	ok "$1, $2: keys are read" tui_wait "1. Down"
	tui_keys q
	ok "$1, $2: given back" restored "0 0 cooked"
}

for term in screen tmux-256color xterm xterm-256color linux vt100; do
	works $term C.UTF-8 '·'
done
for term in xterm linux vt100; do
	works $term C '|'
done
works xterm no_SUCH.locale '|'

for term in "" dumb unknown xterm-nosuch; do
	tui_start 80 24 env "TERM=$term" "$demo"
	ok "TERM='$term' is an error" tui_wait "EXIT 2 0 cooked"
	ok "TERM='$term': it names stray list" tui_shows "stray list"
done
tui_start 80 24 env -u TERM "$demo"
ok "no TERM is an error" tui_wait "EXIT 2 0 cooked"

for redirected in "</dev/null" "| cat" "<&-" ">&-"; do
	tui_start 80 24 env TERM=xterm sh -c "{ '$demo' 2>&3 || echo status \$? >&3; } 3>&2 $redirected"
	tui_wait EXIT
	ok "$redirected: an error, no escape sequence" tui_shows "status 2"
	ok "$redirected: it names stray list" tui_shows "stray list"
done

start LINES=24 COLUMNS=80
tui_resize 60 18
ok "a new size is taken at once, whatever LINES and COLUMNS say" tui_wait "18x60"
tui_resize 100 30
ok "and a larger one" tui_wait "30x100"
tui_resize 1 1
tui_resize 80 24
ok "one cell does no harm" tui_wait "24x80"

start
tui_keys C-z
ok "Ctrl-Z stops it, the terminal is cooked" tui_wait "STOPPED cooked"
is "and on the main screen, with its cursor" "$(tui_format '#{alternate_on} #{cursor_flag}')" "0 1"
tui_resize 90 20
tui_keys Enter
ok "continued, it draws again, in the size that holds now" tui_wait "20x90"
tui_keys Down
ok "and reads keys" tui_wait "Down"
tui_signal TSTP
ok "SIGTSTP does the same" tui_wait "STOPPED cooked"
tui_keys Enter
ok "and it comes back" tui_wait "DEMO"

tui_signal STOP
ok "SIGSTOP leaves it as it is" tui_wait "STOPPED raw"
tui_keys Enter
tui_wait_gone STOPPED
ok "continued, it draws again" tui_wait "DEMO"
tui_type z
ok "and has set the modes again: a key needs no Enter" tui_wait ". z"
tui_keys q
ok "what it gives back is what it found at first" restored "0 0 cooked"

for signal in TERM:15 HUP:1 INT:2 QUIT:3; do
	start
	tui_signal "${signal%:*}"
	ok "SIG${signal%:*}: given back" restored "0 ${signal#*:} cooked"
done
for signal in SEGV:11 BUS:7 FPE:8 ABRT:6; do
	start -- --mouse
	tui_signal "${signal%:*}"
	ok "SIG${signal%:*}: given back, and dies of it" restored "0 ${signal#*:} cooked"
done
start
tui_type '!'
ok "abort(): given back" restored "0 6 cooked"
start
tui_type '%'
ok "a crash: given back" restored "0 11 cooked"
start
tui_type H
tui_wait ". H"
tui_signal TERM
ok "a hanging view ends by TERM all the same, the terminal is given back" restored "0 15 cooked"
start
tui_keys C-z
tui_wait STOPPED
tui_signal KILL
tui_keys Enter
ok "killed while suspended, it had given the terminal back before" restored "0 9 cooked"

start
pid=$(tui_pid)
tui_tmux kill-window
ok "it ends when its terminal is gone" tui_until tui_ended "$pid"

start
tui_paste "Tq K"
ok "a paste is one event, not keys" tui_wait "1. Paste<Tq K>"
tui_type $'\033[1;5K'
tui_type z
ok "an unknown key is none" tui_wait "2. z"
tui_keys F9 PPage BTab
ok "F9, PgUp, Shift-Tab" tui_wait "5. BackTab"
tui_keys Escape
ok "Escape" tui_wait "6. Esc"
tui_type dqx
ok "what was typed before a dialog is thrown away" tui_wait "8. input flushed"
tui_tmux set-buffer q \; send-keys -l d \; paste-buffer -p
ok "so is what was pasted" tui_wait "10. input flushed"
tui_type n
ok "and what comes then counts" tui_wait "11. n"
tui_type /
tui_type '4102é世'
ok "text is typed, wide characters too" tui_wait "/ 4102é世"
is "with a cursor behind it" "$(tui_format '#{cursor_flag} #{cursor_x} #{cursor_y}')" "1 10 23"
tui_keys Enter
tui_type t
ok "the title is set" tui_until test "$(tui_wait ". t" && tui_format '#{pane_title}')" = "stray: tuidemo"
printf '\033[H\033[Kgarbage' >"$(tui_format '#{pane_tty}')"
tui_wait garbage
tui_keys C-l
ok "Ctrl-L draws over what others wrote" tui_wait_gone garbage
tui_keys C-c
ok "Ctrl-C arrives as a key" restored "0 0 cooked"
is "the title is put back" "$(tui_format '#{pane_title}' | grep -c tuidemo)" 0

start -- --mouse
tui_type $'\033[<0;5;6M'
ok "a click" tui_wait "Click:5,4"
tui_type $'\033[<65;5;6M'
ok "the wheel" tui_wait "WheelDown:5,4"
tui_keys q
ok "the mouse is given back" restored "0 0 cooked"
start
tui_type $'\033[<0;5;6Mz'
ok "without the mouse a report of it is no key" tui_wait "1. z"

start -- --ascii
ok "ASCII can be asked for" tui_wait "web-01 | run-7f3c0a12"

tap_end
