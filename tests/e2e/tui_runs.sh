#!/bin/bash
# Recorded runs in the live view, on real processes: adopted with r, watched,
# found again after the view was quit, after it was killed, and beside another.
# timeout: 300
# shellcheck disable=SC2317 # functions that "ok" calls
. "${abs_top_srcdir:?}/tests/e2e/tui_watch.sh"
[ -x "$mkproc" ] || skip_all "no mkproc"

# signal KEY NAME PID: to that process alone; the dialog must say so before Enter.
signal() {
	aim "$3"
	tui_keys "$1"
	tui_wait "$2 to group" || bail "no dialog"
	tui_keys BTab
	tui_wait "$2 to process $3 " || bail "the dialog is not about $3"
	tui_wait "Enter sends $2 to 1" || bail "the dialog hits others"
	tui_keys Enter
}

id() { basename "$state"/runs/run-*; }
journal() { cat "$state/runs/$(id)/journal.jsonl"; }
told() { journal | grep -q "\"event\":\"$1\""; }
told_of() { journal | grep "\"event\":\"$1\"" | grep -q "\"pid\":$2[,}]"; }
told_lost() { journal | grep '"event":"watch_stopped"' | grep -q '"reason":"lost"'; }
told_signal() { journal | grep '"event":"watch_stopped"' | tail -n 1 | grep -q '"reason":"signal"'; }
told_diff() { journal | grep -q '"what":"diff"'; }
told_asked() { journal | tail -n 1 | grep -q '"reason":"asked"'; }
no_secret() { ! grep -rq hunter2hunter2 "$state"; }
holds() { "$stray" verify --state-dir "$state" "$(id)" >/dev/null; }

# The server of all windows is to hold nothing of what is made below.
tui_start 100 30 true
made work ignore-term
term=$(pid work child)
[ -n "$term" ] || bail "no PID of the member"

# --- r adopts
start 100 30
aim "$term"
tui_keys r
ok "the menu says that the run will be recorded" tui_wait "Enter adopts it"
tui_keys Enter
ok "r adopts: its directory is named" tui_wait "recorded: $state/runs/run-"
ok "the state is shown" tui_wait "ACTIVE"
ok "its journal knows the member" told_of started "$term"
ok "the view watches" told watch_started

# --- a signal goes through the journal of the run
signal T TERM "$term"
ok "the survivor is named" tui_wait "$term alive"
ok "the intent is in the run's journal" told signal_intent
ok "so is the survivor" tui_until told_of survivor "$term"
tui_until told_diff || bail "the act does not end"
tui_wait "0 of 1 gone" || bail "the act does not end"
tui_wait_gone "under way"
quit
ok "who leaves says so" told watch_stopped
ok "the journal holds" holds

# --- again, when nobody has watched for a time that counts
sleep 1.5
start 100 30 "run:$(id)"
ok "the run is found again by its id" tui_wait "$(id)"
ok "with its member" tui_wait " $term "
ok "the time that nobody watched is said" tui_wait "nobody watched from"

# --- beside another: a second view shows it, and writes nothing
before=$(journal | grep -c watch_started)
tui_tmux new-window -d -n beside env "STRAY_STATE_DIR=$state" LC_ALL=C.UTF-8 \
	"$stray" watch -d 3 "run:$(id)"
beside() { tui_tmux capture-pane -p -t beside 2>/dev/null | grep -qF "$1"; }
ok "a second view says who watches" tui_until beside "watched by another stray"
is "and does not write" "$(journal | grep -c watch_started)" "$before"
sleep 1.5 # a gap of less than a second after the last event is not told
tui_signal KILL
ok "when the first is killed the second goes on" tui_until beside "who watched before died"
ok "and says in the journal that one died" tui_until told_lost
tui_tmux send-keys -t beside q
ok "q on a second view is said too" tui_until told_asked

start 100 30 "run:$(id)"
ok "after all that it is found again" tui_wait " $term "
signal K KILL "$term"
ok "KILL ends it" tui_until gone "$term"
ok "its end is in the journal" tui_until told_of exited "$term"
tui_signal TERM
ok "TERM ends the view" tui_wait "cooked"
ok "and is said" tui_until told_signal
ok "the journal holds at last" holds
made_end

# --- the screens of runs and events; a note; an export
made work2 ignore-term
term=$(pid work2 child)
[ -n "$term" ] || bail "no PID of the member"
"$stray" adopt --state-dir "$state" --id second "$term" >/dev/null || bail "not adopted"
mkdir -m 700 "$state/runs/broken"
start 100 30
ok "without a TARGET the run that needs eyes is shown" tui_wait "second needs eyes"
tui_keys o
ok "what looks left behind is one key away" tui_wait "accounted for"
tui_keys o
tui_keys R
ok "the runs are listed" tui_wait "1 of 3 with something alive"
ok "a damaged one says why" tui_wait "DAMAGED"
tui_keys E
ok "E shows the events of the one under the cursor" tui_wait "second · events"
ok "its adoption among them" tui_wait "members: 1"
tui_keys Escape
tui_wait "newest first"
tui_keys Enter
tui_wait "stray ·"
aim "$term"
tui_keys m
ok "m opens a line for a note" tui_wait "Note on $term"
tui_type "a log shipper, --token=hunter2hunter2"
tui_keys Enter
ok "the note is written" tui_wait "noted of $term"
tui_keys E
ok "the events screen grows with it" tui_wait "a log shipper"
ok "secrets in it are masked" tui_wait "--token=***"
tui_keys e
ok "e exports the record, and names the file" tui_wait "exported: $state/exports/second-"
ok "it tells of the note" grep -q "a log shipper" "$state"/exports/second-*.md
ok "no secret is in any file" no_secret
quit

# --- off a terminal
export STRAY_STATE_DIR=$state
"$stray" watch --batch -d 3 run:second >"$tui_dir/batch" 2>"$tui_dir/batch.err" &
batch=$!
batch_says() { grep -q "$1" "$tui_dir/batch"; }
ok "batch: watches, and says so" tui_until batch_says "watch_started"
"$stray" note second "from aside" || bail "no note"
ok "batch: what others write is printed too" tui_until batch_says "from aside"
start 100 30 --readonly run:second
ok "beside it a view says that another watches" tui_wait "watched by another stray"
quit
kill -s TERM "$batch"
wait "$batch"
is "batch: TERM ends it, exit 0" $? 0
ok "batch: and is the last that it says" sh -c "tail -n 1 '$tui_dir/batch' | grep -q 'watch_stopped.*signal'"
is "batch: nothing else" "$(cat "$tui_dir/batch.err")" ""

"$stray" watch --batch --json -d 3 >"$tui_dir/batch" 2>"$tui_dir/batch.err" &
batch=$!
ok "batch: without a TARGET the run that needs eyes" tui_until batch_says '"run":"second","event":"watch_started"'
kill -s KILL "$term"
ok "batch: the end of the member" tui_until batch_says "\"event\":\"exited\".*\"pid\":$term,"
wait "$batch"
is "batch: over, exit 0" $? 0
ok "batch: the last line says why" sh -c "tail -n 1 '$tui_dir/batch' | grep -q '\"reason\":\"over\"'"
ok "batch: its lines are the journal's own" sh -c "tail -n \$(wc -l <'$tui_dir/batch') \
	'$state/runs/second/journal.jsonl' | cmp -s - '$tui_dir/batch'"
"$stray" watch --batch "pgid:1234" >/dev/null 2>"$tui_dir/batch.err"
is "batch: what is no recorded run: exit 2" $? 2
ok "batch: and says to adopt it" grep -q "stray adopt makes" "$tui_dir/batch.err"

# --- the next run
made next1 daemon
left=$(pid next1 daemon)
[[ $left =~ ^[0-9]+$ ]] || bail "no PID of the daemon"
start 100 30 --next
ok "next: it waits" tui_wait "waiting for the next run"
"$stray" adopt --id the-next "$left" >/dev/null || bail "not adopted"
ok "next: and shows it" tui_wait "the-next · $left"
quit
made_end

# --- nothing is written where that is not wanted, or not possible
made other daemon
left=$(pid other child)
[ -n "$left" ] || left=$(pid other daemon)
count_runs() { find "$state/runs" -mindepth 1 -maxdepth 1 | wc -l; }
before=$(count_runs)
start 100 30 --readonly
aim "$left"
tui_keys r
ok "readonly: the menu says that nothing is recorded" tui_wait "kept in memory only"
tui_keys Enter
ok "readonly: the run is in memory" tui_wait "not recorded"
quit
is "readonly: no run is made" "$(count_runs)" "$before"
: >"$tui_dir/nodir"
state=$tui_dir/nodir start 100 30
aim "$left"
tui_keys r
tui_wait "Which run?"
tui_keys Enter
ok "no record: said, and the run is in memory" tui_wait "is in memory only, not recorded:"
quit
made_end

tap_end
