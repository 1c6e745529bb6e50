#!/bin/bash
# stray run in an interactive shell on a real terminal: what the keyboard does without stray, it
# does with it.
# timeout: 400
# shellcheck disable=SC2317,SC1003,SC2016 # functions that "ok" calls; text for another shell
. "${abs_top_srcdir:?}/tests/e2e/tui_lib.sh"
stray=${STRAY:?}
state=$tui_dir/state
bin=$tui_dir/bin
mkdir "$bin"
cp "$stray" "$bin/stray"
seq 100000 >"$tui_dir/big"
trap 'stop_all; tui_end; rm -rf "$tui_dir"' EXIT

# What was left alive by a test that failed, too.
stop_all() {
	for run in "$state"/runs/*; do
		[ ! -d "$run" ] || "$stray" end --state-dir "$state" "run:${run##*/}" -k0 >/dev/null 2>&1
	done
}

# An interactive shell that shows how the last command ended in its prompt: "<0>".
shell() {
	tui_start 80 30 env "PATH=$bin:$PATH" "STRAY_STATE_DIR=$state" TERM=xterm LC_ALL=C.UTF-8 \
		'PS1=<$?> ' INPUTRC=/dev/null bash --norc --noprofile -i
	tui_wait "<0>"
	tui_type "cd '$tui_dir'; set +o history; clear"
	tui_keys Enter
}

# What is typed shows neither a marker nor a prompt by itself.
line() {
	tui_type "clear; $1"
	tui_keys Enter
}

# of RUN FIELD: of its record.
of() { /usr/bin/python3 -c 'import json,sys;print(json.load(open(sys.argv[1]))[sys.argv[2]])' \
	"$state/runs/$1/run.json" "$2"; }
has_event() { grep -qs "\"event\":\"$2\"" "$state/runs/$1/journal.jsonl"; }
began() { tui_until has_event "$1" execed; }

shell

line "stray run --id=key -- sleep 60"
began key
tui_keys C-c
ok "Ctrl-C ends the command, and stray by the same signal" tui_wait "<130>"
ok "Ctrl-C: stray has nothing to say to it" tui_shows_not "stray:"
ok "Ctrl-C: nobody asked for the end" eval '! has_event key end_requested'

line "stray run --id=own -- sh -c 'trap \"echo CAU\"GHT\"; exit 3\" INT; sleep 60 & wait'; echo ST\$?"
began own
tui_keys C-c
ok "Ctrl-C is the command's to handle" tui_wait CAUGHT
ok "Ctrl-C that was handled: its own status" tui_wait "ST3"

line "stray run --id=quit -- sleep 60"
began quit
tui_keys 'C-\'
ok "Ctrl-\\ ends both by QUIT" tui_wait "<131>"

line "while true; do stray run -- sleep 1; done; echo OV\"\"ER"
tui_until eval '[ "$(ls "$state/runs" | wc -l)" -ge 5 ]'
tui_keys C-c
ok "one Ctrl-C ends a loop" tui_wait "<130>"
ok "one Ctrl-C ends a loop: what is behind it does not run" tui_shows_not OVER

if command -v less >/dev/null; then
	line "stray run -- cat big | LESS= less"
	ok "a pager at the end of a pipeline shows it" tui_wait "29"
	tui_keys G
	ok "a pager reads keys" tui_wait 100000
	tui_keys q
	ok "a pager is left" tui_wait "<0>"
else
	tap 0 "a pager at the end of a pipeline shows it # SKIP no less"
fi
line "echo mid\"\"dle | stray run -- cat | cat"
ok "in the middle of a pipeline" tui_wait middle

line "stray run --id=stop -- sh -c 'echo U\"\"P; read x; echo got \$x'"
tui_wait UP
tui_keys C-z
ok "Ctrl-Z stops the job" tui_wait Stopped
line "jobs; echo he\"\"re"
ok "Ctrl-Z: the shell is there" tui_wait here
line fg
tui_type "words"
tui_keys Enter
ok "fg: it goes on, and reads the terminal" tui_wait "got words"
ok "fg: its status" tui_wait "<0>"

line "stray run --id=back -- sleep 60 &"
began back
tui_keys Enter
ok "in the background it runs" tui_wait "<0>"
line fg
tui_wait "stray run"
tui_keys C-c
ok "from the background to the foreground: Ctrl-C" tui_wait "<130>"

line "stray run --id=shell -- env 'PS1=inner> ' bash --norc --noprofile -i"
ok "a shell in it has the terminal" tui_wait "inner>"
tui_type "sleep 60"
tui_keys Enter
tui_until eval "[ \"\$(grep -c execed '$state/runs/shell/journal.jsonl')\" -ge 3 ]"
tui_keys C-c
ok "a shell in it keeps its own jobs" tui_wait "inner>"
tui_type "exit 7"
tui_keys Enter
ok "a shell in it that exits leaves the outer one in the foreground" tui_wait "<7>"
line "echo st\"\"ill"
ok "the outer shell reads" tui_wait still

line "stray run --id=late -t 1 -k 0.2 -- sleep 60"
ok "a deadline on a terminal" tui_wait "the deadline passed"
ok "a deadline on a terminal: its status" tui_wait "<124>"
is "on a terminal neither group nor session is the run's own" "$(of late owns)" "[]"

line "stray run --id=left -- sh -c 'sleep 60 &'"
ok "what is left on a terminal is named" tui_wait "sleep 60"
ok "what is left on a terminal: its status" tui_wait "<123>"

line "stray run --id=session --session -- sh -c 'echo \$\$ = \$(ps -o sid= -p \$\$) SES\"\"SION'"
tui_wait SESSION
ok "--session on a terminal is a session of its own" eval \
	'tui_screen | grep -qE "^([0-9]+) = +\1 SESSION"'
is "--session: they are the run's own" "$(of session owns)" "['pgid', 'sid']"

# No job control: nobody but stray gives the terminal back.
tui_start 80 24 env "STRAY_STATE_DIR=$state" TERM=xterm LC_ALL=C.UTF-8 \
	sh -c "'$stray' run --id=gone -- env 'PS1=inner> ' bash --norc --noprofile -i
	echo status \$?; read x; echo read \$x"
tui_wait "inner>"
tui_type "kill -KILL \$\$"
tui_keys Enter
ok "a shell in it that is killed" tui_wait "status 137"
tui_type "on"
tui_keys Enter
ok "a killed shell's terminal is taken back" tui_wait "read on"

shell
line "stray run --id=hup -- sh -c 'trap \"\" HUP; echo U\"\"P; sleep 60'"
tui_wait UP
tui_tmux respawn-window -k -t :0 sleep 60
ok "a terminal that is closed ends the run" tui_until has_event hup run_closed
ok "all journals hold" "$stray" verify --state-dir "$state"
tap_end
