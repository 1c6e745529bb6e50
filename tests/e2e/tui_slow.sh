#!/bin/bash
# The live view on a dying disk: each fsync takes a second, and no key waits for one.  What it
# announces is on the disk before it is done, as ever.
# timeout: 300
# shellcheck disable=SC2317 # functions that "ok" calls
. "${abs_top_srcdir:?}/tests/e2e/tui_watch.sh"
[ -x "$mkproc" ] || skip_all "no mkproc"
strace -f --seccomp-bpf -qq -o /dev/null -e trace=fsync true 2>/dev/null ||
	skip_all "no strace that may trace"
# who is traced cannot be looked through for leaks (check-asan)
[ -z "${ASAN_OPTIONS-}" ] || export ASAN_OPTIONS=detect_leaks=0
TUI_PATIENCE=60
calls=$tui_dir/calls
KEY_MS=4000 # some 10 ms, and what a busy machine takes; an adoption takes 16 s, an act 13 s

slow() {
	as=(strace -f --seccomp-bpf -qq -y -o "$calls" --signal=none
		-e "trace=fsync,fdatasync,pidfd_send_signal"
		-e "inject=fsync,fdatasync:delay_enter=1000000")
	start 100 30 "$@" && tui_wait " $term " # keys before the first look are about nothing
}

now_ms() { date +%s%3N; }

# The selected row moves with the key, soon.
row() { tui_screen | grep '^ *>' | head -n 1; }
moved() { [ "$(row)" != "$1" ]; }
answers() {
	local was began
	was=$(row)
	began=$(now_ms)
	tui_keys "$1"
	tui_until moved "$was" || return 1
	[ $(($(now_ms) - began)) -le "$KEY_MS" ]
}

sid_of() { sed "s/^.*) //" "/proc/$1/stat" | cut -d" " -f4; }
journal() { cat "$state/runs/$id/journal.jsonl"; }
told() { journal | grep -q "\"event\":\"$1\""; }
left() { [ "$(tui_format '#{alternate_on}')" = 0 ]; }
exited() { tui_shows "EXIT 0 0 cooked"; }
holds() { "$stray" verify --state-dir "$state" >/dev/null; }
last_is() { journal | tail -n 1 | grep -q "\"event\":\"$1\""; }

# Whether who sends the first TERM has synced these before: one thread, so the calls have returned.
before_the_signal() {
	local sender file
	sender=$(grep -m 1 'pidfd_send_signal(.*SIGTERM' "$calls" | cut -d" " -f1)
	[ -n "$sender" ] || return 1
	sed '/pidfd_send_signal(.*SIGTERM/q' "$calls" >"$calls.before"
	for file in "$@"; do
		grep -qE "^$sender +f(data)?sync\([0-9]+<[^>]*/${file}[^>]*>" "$calls.before" || return 1
	done
}

tui_start 100 30 true
made work ignore-term
term=$(pid work child)
[ -n "$term" ] || bail "no PID of the member"

# --- an adoption
slow
aim "$term"
tui_keys r
tui_wait "Enter adopts it" || bail "no menu"
tui_keys Enter
ok "that the run is being recorded is said" tui_wait "recording "
ok "meanwhile a key is answered" answers Down
ok "and the next one" answers Up
ok "that the disk is slow is said, and for what" tui_wait "the disk is slow: recording the run"
ok "it has not come to an end meanwhile" tui_shows_not "recorded: "
ok "a key is answered still" answers Down
ok "it comes to an end" tui_wait "recorded: $state/runs/run-"
id=$(basename "$state"/runs/run-*)
ok "its journal knows the member" told started
tui_keys q
ok "q waits for what is to be written, and leaves" tui_until exited
ok "who leaves says so, last" last_is watch_stopped
ok "the journal holds" holds
as=()
made_end

# --- a signal
made work2 ignore-term
term=$(pid work2 child)
[ -n "$term" ] || bail "no PID of the member"
id=second
"$stray" adopt --state-dir "$state" --id "$id" "sid:$(sid_of "$term")" >/dev/null ||
	bail "not adopted"
slow "run:$id"
aim "$term"
tui_keys T
tui_wait "TERM to group" || bail "no dialog"
tui_keys BTab
tui_wait "TERM to process $term " || bail "the dialog is not about $term"
tui_wait "Enter sends TERM to 1" || bail "the dialog hits others"
tui_keys Enter
ok "that nothing is sent yet is said" tui_wait "nothing is sent yet"
ok "meanwhile a key is answered: one act" answers Down
tui_keys T
ok "a second act is refused" tui_wait "one act at a time"
ok "meanwhile a key is answered: once more" answers Up
ok "it is sent, and the survivor is named" tui_wait "0 of 1 gone"
ok "all that announces it was on the disk before" before_the_signal before.json intent.json \
	"acts/.*/journal.jsonl" "runs/.*/journal.jsonl"
ok "the intent is in the run's journal" told signal_intent
tui_keys q
tui_until exited || bail "q does not lead out"
ok "the journal holds with the act" holds

# --- leaving at once: what was not announced may be missing, what was is there
slow "run:$id"
tui_wait "$id · " || bail "the run is not found again"
tui_keys m
tui_wait "Note on" || bail "no line for a note"
tui_type "never confirmed"
tui_keys Enter
tui_keys q
tui_wait "q again leaves at once" || bail "q does not say that it waits"
began=$(now_ms)
tui_keys q
ok "a second q gives the terminal back" tui_until left
ok "at once" test $(($(now_ms) - began)) -le "$KEY_MS"
ok "and ends it as soon as the kernel lets go of it" tui_until exited
ok "the journal holds all the same" holds
as=()
made_end

tap_end
