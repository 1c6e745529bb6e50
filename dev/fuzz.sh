#!/bin/sh
# fuzz.sh SRCDIR TARGET...: builds the targets with libFuzzer below ./fuzz, and lets each search
# for FUZZ_SECONDS (60) with what it found before, in fuzz/found/TARGET, and its corpus.  What
# ends one is left in fuzz/, and named.
set -eu
srcdir=$1
shift
sanitize=address,undefined

mkdir -p fuzz
printf 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n ? 0 : 0; }\n' >fuzz/try.c
if ! clang -fsanitize=fuzzer,$sanitize fuzz/try.c -o fuzz/try 2>fuzz/try.log; then
	echo "fuzz: skipped: needs clang and its runtime (clang, libclang-rt-14-dev)"
	exit 0
fi
flags="-g -O1 -w -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,$sanitize"
flags="$flags -fno-sanitize-recover=all -DSTRAY_LIBFUZZER"
cd fuzz
[ -e Makefile ] || "$srcdir/configure" --quiet CC=clang CFLAGS="$flags"
$MAKE "$@" LDFLAGS=-fsanitize=fuzzer,$sanitize

failed=0
for target; do
	name=${target#fuzz_}
	mkdir -p "found/$name"
	echo "fuzz: $name"
	nice -n 10 "./$target" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 \
		-rss_limit_mb=1024 -max_len="${FUZZ_LENGTH:-16384}" -print_final_stats=1 \
		-artifact_prefix="$name-" "found/$name" "$srcdir/tests/fuzz/corpus/$name" \
		>"$name.log" 2>&1 || failed=1
	tail -n 9 "$name.log" | grep -E 'stat::|SUMMARY|Test unit' || tail -n 30 "$name.log"
done
exit $failed
