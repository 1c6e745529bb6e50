#!/bin/sh
# sh verify.sh JOURNAL checks its hash chain without stray.  Exit 0: it holds; 1: it does not; 2: not read.
# hash: the SHA-256 of a line's bytes before ,"hash":" closed with }; prev: the hash before; seq: from 1.
# A torn tail may end it, or be closed by a space and told of by the next event: its bytes, its SHA-256.
export LC_ALL=C; seq=0 at=0 torn='' closed=0 tails='' prev=$(printf %064d 0)
lines=$(wc -l <"${1:-}") || { echo "usage: verify.sh JOURNAL" >&2; exit 2; }
sum() { sha256sum | cut -c -64; }
grep -nab '' "$1" | { while IFS=: read -r n from line; do # its number, where it begins, itself
	hash=$(printf '%s}' "${line%,\"hash\":\"*}" | sum) gap=$((from - at - 2)) told=''
	[ $gap = -2 ] || told=\"bytes\":$gap,\"sha256\":\"$(tail -c +$((at + 1)) "$1" | head -c $gap | sum)\"
	case $((n > lines)):$line in # 1: without a newline
	?:'{"schema":"stray.'[jl]*'/1","seq":'$((seq + 1)),*"$told,\"prev\":\"$prev\",\"hash\":\"$hash\"}")
		seq=$((seq + 1)) prev=$hash torn='' closed=$((closed + (gap > -2))) at=$((from + ${#line} + 1)) ;;
	*,\"hash\":\"$hash\"\} | 0: | 0:*[!\ ]) echo "does not hold: line ${torn:-$n} is not event $((seq + 1))"; exit 1 ;;
	*) torn=${torn:-$n} closer=$((n > lines ? 0 : 2)) ;;
	esac
done
[ $closed = 0 ] || tails="; $closed torn tails, closed"
[ "$torn" ] && tails="$tails; its last $(($(wc -c <"$1") - at - closer)) bytes are a torn tail"
printf '%s\n' "holds, $seq events$tails" "head $prev"; }
