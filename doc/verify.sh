#!/bin/sh
# Checks the hash chain of a journal or ledger without stray (stray-formats(5)):
#   sh verify.sh JOURNAL    exit status 0: it holds; 1: it does not, and where; 2: not readable
# A line's hash is the SHA-256 of its bytes before ,"hash":" closed with }; prev is the hash of
# the line before; seq counts from 1.  Unfinished bytes may stand at the end, or before the
# event torn_tail that tells how many they are and their SHA-256; a space closes them.
export LC_ALL=C
if ! [ -f "${1:-}" ] || ! [ -r "$1" ]; then echo "usage: verify.sh JOURNAL" >&2; exit 2; fi
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
[ -z "$(tail -c 1 "$1" | tr '\0' x)" ] && ended=1 || ended=0
# What is hashed goes into a file a line (of torn ones: a file for all), the rest into a table.
awk -v dir="$dir" '{ n = length($0); f = dir "/" (torn ? torn : NR); torn_event = "- -" }
	substr($0, n - 148, 9) != ",\"prev\":\"" || substr($0, n - 74, 9) != ",\"hash\":\"" {
		printf "%s%s", torn ? " \n" : "", substr($0, 1, / $/ ? n - 1 : n) >f
		torn = torn ? torn : NR; print NR, "torn", torn, / $/ ? "closed" : "open"; next }
	{ close(f); torn = 0; f = dir "/" NR; printf "%s}", substr($0, 1, n - 75) >f; close(f) }
	match($0, /,"event":"torn_tail",.*"bytes":[0-9]+,"sha256":"[0-9a-f]+"/) {
		torn_event = substr($0, RSTART, RLENGTH); gsub(/.*"bytes":|,"sha256":|"$/, "", torn_event)
		sub(/"/, " ", torn_event) }
	{ seq = match($0, /^[{]"schema":"stray[.](journal|ledger)\/1","seq":[0-9]+,/) ? $0 : "0"
		sub(/^[^,]*,"seq":/, "", seq); sub(/,.*/, "", seq)
		print NR, seq, substr($0, n - 139, 64), substr($0, n - 65, 64), torn_event }' "$1" \
	>"$dir/table" || exit 2
find "$dir" -name '[0-9]*' -exec sha256sum {} + | sed 's|/.*/||' >"$dir/sums"
find "$dir" -name '[0-9]*' -exec wc -c {} + | sed '/ total$/d; s|/.*/||' >"$dir/sizes"
awk -v ended="$ended" 'function fault(why) { print "does not hold: line " $1 " " why; exit bad = 1 }
	FILENAME ~ /sums$/ { sum[$2] = $1; next }
	FILENAME ~ /sizes$/ { size[$2] = $1; next }
	$2 == "torn" { torn = $3; if ($4 == "open") open = $1; next }
	open { $1 = open; fault("was changed") }
	torn && ($5 != size[torn] || $6 != sum[torn]) { $1 = torn; fault("was changed") }
	torn { torn = 0; closed++ }
	sum[$1] != $4 { fault("was changed") }
	$2 != seq + 1 { fault("has number " $2 ", not " seq + 1 ": missing, doubled or out of order") }
	$3 != (seq ? head : sprintf("%064d", 0)) { fault("does not continue the one before it") }
	{ seq = $2; head = $4 }
	END { if (bad) exit 1
		if (torn && open && ended) { $1 = open; print "does not hold: line " open " was changed"; exit 1 }
		print "holds, " seq + 0 " events" (closed ? "; " closed " torn tails, closed" : "") \
			(torn ? "; its last " size[torn] " bytes are a torn tail" : "")
		print "head " (seq ? head : sprintf("%064d", 0)) }' "$dir/sums" "$dir/sizes" "$dir/table"
