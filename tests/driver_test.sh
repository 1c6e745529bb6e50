#!/bin/sh
# The driver of `make check` sees a failure however it comes: the count that
# `./bootstrap check` prints rests on it.
set -u
driver=${abs_top_srcdir:?}/tests/driver.pl
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
n=0

# case_of NAME EXPECTED: the script on stdin, run by the driver, has these results.
case_of() {
	n=$((n + 1))
	{ echo '#!/bin/sh' && cat; } >"$dir/program"
	chmod +x "$dir/program"
	perl "$driver" --test-name=t --log-file="$dir/log" --trs-file="$dir/trs" \
		-- "$dir/program" >"$dir/out"
	got=$(sed -n 's/^:test-result: //p' "$dir/trs" | sed 's/([0-9]*)$/(PID)/')
	if [ "$got" = "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf 'expected:\n%s\ngot:\n%s\n' "$2" "$got" | sed 's/^/# /'
	fi
}

echo 1..17
case_of "a script's results are counted one by one" "PASS one
FAIL two
SKIP three: no tool" <<'EOS'
printf '1..3\nok 1 - one\nnot ok 2 - two\nok 3 - three # SKIP no tool\n'; exit 1
EOS
case_of "cmocka's groups add up, its skips carry what was printed" "PASS one
SKIP two: no kernel
PASS three" <<'EOS'
printf '1..2\nok 1 - one\nno kernel\nnot ok 2 # SKIP two\n# ok - group\n1..1\nok 1 - three\n# ok - group\n'
EOS
case_of "a crash after passed tests fails" "PASS one
FAIL the program was ended by signal 11" <<'EOS'
printf '1..1\nok 1 - one\n'; kill -SEGV $$
EOS
case_of "an exit status alone fails" "PASS one
FAIL the program ended with status 3" <<'EOS'
printf '1..1\nok 1 - one\n'; exit 3
EOS
case_of "a plan that is not kept fails" "PASS one
FAIL the program planned 2 tests and ran 1" <<'EOS'
printf '1..2\nok 1 - one\n'
EOS
case_of "no plan fails" "PASS one
FAIL the program made no plan" <<'EOS'
echo ok 1 - one
EOS
case_of "silence fails" "FAIL the program made no plan" <<'EOS'
exit 0
EOS
case_of "running out of time fails, and the script may clean up" "PASS one
FAIL the program did not end within 1 s" <<'EOS'
# timeout: 1
printf '1..1\n'; trap 'echo ok 1 - one; exit' TERM; sleep 60 & wait
EOS
case_of "a process left running fails, also from a session of its own" "PASS one
FAIL the program left running: sleep (PID)" <<'EOS'
printf '1..1\nok 1 - one\n'; setsid sleep 60 &
EOS
case_of "a program may skip itself by status 77" "SKIP no tmux" <<'EOS'
echo no tmux; exit 77
EOS
case_of "status 77 is fine where every test was skipped" "SKIP one: no tmux" <<'EOS'
printf '1..1\nok 1 - one # SKIP no tmux\n'; exit 77
EOS
case_of "status 77 after a test that ran fails" "PASS one
FAIL the program ended with status 77" <<'EOS'
printf '1..1\nok 1 - one\n'; exit 77
EOS
case_of "a skip without a reason fails" "PASS one
FAIL skipped without a reason: two" <<'EOS'
printf '1..2\nok 1 - one\nok 2 - two # SKIP\n'
EOS
case_of "cmocka's too" "FAIL skipped without a reason: one" <<'EOS'
printf '1..1\nnot ok 1 # SKIP one\n# ok - group\n'
EOS
case_of "and that of a whole program" "FAIL the program skipped itself without a reason" <<'EOS'
exit 77
EOS
case_of "a program may skip itself by an empty plan" "SKIP no tmux" <<'EOS'
echo '1..0 # SKIP no tmux'
EOS
case_of "a bail out fails" "FAIL bailed out: no disk
FAIL the program made no plan" <<'EOS'
echo 'Bail out! no disk'; exit 1
EOS
