#!/bin/bash
# Makes doc/view.png: the real view, on the recorded server of tests/trees with two
# things left behind on it.  Usage, from the source tree: bash doc/picture.sh [BUILD]
# Needs tmux, python3 with pyte and PIL, and to be allowed namespaces.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$here/build}" && pwd)
dir=$(mktemp -d)
tmux=(tmux -S "$dir/tmux" -f /dev/null)
trap '"${tmux[@]}" kill-server 2>/dev/null; rm -rf "$dir"' EXIT

"${tmux[@]}" new-session -d -s view -x 100 -y 30 "env LC_ALL=C.UTF-8 TERM=tmux-256color \
	INROOT='$build/inroot' '$here/tests/trees/enter.sh' server+deploy+upload '$build/stray'"
for _ in $(seq 50); do
	"${tmux[@]}" capture-pane -p -t view 2>/dev/null | grep -q 'accounted for' && break
	sleep 0.2
done
"${tmux[@]}" send-keys -t view Down Down
sleep 1
"${tmux[@]}" capture-pane -e -N -p -t view >"$dir/screen"
/usr/bin/python3 "$here/doc/render.py" "$dir/screen" "$here/doc/view.png"
