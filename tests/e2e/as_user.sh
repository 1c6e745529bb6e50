# shellcheck shell=sh
# Sourced: runs the script SCRIPT.py of this folder as an ordinary user who may see and signal
# less, with the files of the folder that it needs.
#   as_user SCRIPT [MODULE...]
as_user() {
	if [ "$(id -u)" != 0 ]; then
		echo "1..0 # SKIP $1.py has run as this user"
		exit 0
	fi
	# a copy in a place that everybody can reach: the build may be in root's home
	copy=$(mktemp -d) || exit 1
	trap 'rm -rf "$copy"' EXIT
	for script in "$@" e2e; do
		cp "$(dirname "$0")/$script.py" "$copy" || exit 1
	done
	cp "${STRAY:-./stray}" "${abs_top_builddir:-.}/mkproc" "$copy" || exit 1
	chmod -R a+rX "$copy" || exit 1
	HOME=/nonexistent STRAY=$copy/stray MKPROC=$copy/mkproc \
		setpriv --reuid 65534 --regid 65534 --clear-groups "$copy/$1.py"
}
