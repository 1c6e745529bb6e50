#!/bin/bash
# An incident to practise on: a harmless "agent" that says it is done, exits 0
# and leaves four processes behind.
#
#	deploy.sh  in the agent's own group; ignores TERM
#	worker.py  in a process group of its own, same session
#	upload.sh  in a session of its own, and its child, which holds a
#	           connection (to "far-end" on this machine, part of the play)
#
# They are sleeps under other names, and end by themselves after LIFE seconds
# (default 600, at most 3600).  Needs bash, setsid and perl.  Usage: bash incident.sh
set -eu

life=${LIFE:-600}
[ "$life" -le 3600 ] || life=3600

# Listens on loopback, says on which port, and takes one connection.
# shellcheck disable=SC2016 # perl's own variables
far_end='use Socket; $0 = "far-end"; alarm shift;
	socket(S, PF_INET, SOCK_STREAM, 0); bind(S, sockaddr_in(0, INADDR_LOOPBACK));
	listen(S, 1); print "" . (sockaddr_in(getsockname(S)))[0], "\n"; close STDOUT;
	accept(C, S); sleep'

case ${1:-} in
agent)
	# As an agent's tool call would be: marked, and with a credential at hand.
	export AI_AGENT=$3 API_TOKEN=made-up-value
	exec </dev/null >/dev/null 2>&1
	(trap '' TERM && exec -a 'sh -c ./deploy.sh --env prod' sleep "$life") &
	set -m
	(exec -a 'python3 worker.py' sleep "$life") &
	set +m
	setsid bash "$0" upload "$2" &
	sleep 1
	exit 0
	;;
upload)
	(exec 3<>"/dev/tcp/127.0.0.1/$2" && exec -a 'curl -T dump.sql' sleep "$life") &
	exec -a 'sh upload.sh' sleep "$life"
	;;
esac

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
setsid perl -e "$far_end" "$life" </dev/null >"$dir/port" 2>/dev/null &
for _ in 1 2 3 4 5 6 7 8 9 10; do
	[ -s "$dir/port" ] && break
	sleep 0.2
done
status=0
mark=incident-$$ # of this incident alone
setsid -w bash "$0" agent "$(cat "$dir/port")" "$mark" || status=$?
echo "agent: done, exit $status at $(date -u +%H:%M:%S) UTC; its work carries AI_AGENT=$mark"
