#!/bin/sh
# Checks the hash chain of a journal or ledger without stray (stray-formats(5)):
#   sh verify.sh JOURNAL    exit status 0: it holds; 1: it does not, and where; 2: not readable
# A line's hash is the SHA-256 of its bytes before ,"hash":" closed with }; prev is the hash of
# the line before; seq counts from 1.  Unfinished bytes may stand at the end, or, closed by a
# space, before the event torn_tail that tells how many they are and their SHA-256.
export LC_ALL=C
fail() { echo "does not hold: line $1 $2"; exit 1; }
sha256() { sha256sum | sed 's/ .*//'; }
if ! [ -f "${1:-}" ] || ! exec 3<"$1"; then echo "usage: verify.sh JOURNAL" >&2; exit 2; fi
seq=0 prev=$(printf %064d 0) n=0 at=0 torn='' closed=0 ended=yes closer=0
while IFS= read -r line <&3 || { ended=no && [ "$line" ]; }; do
	n=$((n + 1)) body=${line%,\"hash\":\"*}
	sum=$(printf '%s}' "$body" | sha256)
	if [ "$line" != "$body,\"hash\":\"$sum\"}" ]; then # no whole line: torn, or changed
		torn=${torn:-$n} closer=$([ $ended = yes ] && echo 2 || echo 0)
		case $ended:$line in yes:*[!\ ] | yes:) fail "$torn" "was changed" ;; esac
		continue
	fi
	if [ "$torn" ]; then # this line tells of it
		bytes=${line##*,\"bytes\":} bytes=${bytes%%,*}
		told=$(tail -c +$((at + 1)) "$1" | head -c "$bytes" 2>/dev/null | sha256)
		case $line in
		*,\"event\":\"torn_tail\",*,\"sha256\":\"$told\",\"prev\":*) at=$((at + bytes + 2)) ;;
		*) fail "$torn" "was changed" ;;
		esac
		[ "$(tail -c +$((at + 1)) "$1" | head -n 1)" = "$line" ] || fail "$torn" "was changed"
		torn='' closed=$((closed + 1))
	fi
	case $line in
	'{"schema":"stray.'[jl]*'/1","seq":'$((seq + 1)),*,\"prev\":\"$prev\",\"hash\":*) ;;
	*) fail $n "is not event $((seq + 1)), or does not continue the one before it" ;;
	esac
	seq=$((seq + 1)) prev=$sum at=$((at + ${#line} + 1))
done
[ "$torn" ] && torn="; its last $(($(wc -c <"$1") - at - closer)) bytes are a torn tail"
[ $closed = 0 ] || torn="; $closed torn tails, closed$torn"
echo "holds, $seq events$torn"
echo "head $prev"
