# shellcheck shell=sh
# Sourced: runs the script SCRIPT.py of this folder as an ordinary user who may see and signal
# less, with the files of the folder that it needs.
#   as_user SCRIPT [MODULE...] [FOLDER/FILE of the sources...]
as_user() {
	if [ "$(id -u)" != 0 ]; then
		echo "1..0 # SKIP $1.py has run as this user"
		exit 0
	fi
	# a copy in a place that everybody can reach: the build may be in root's home
	copy=$(mktemp -d) || exit 1
	trap 'rm -rf "$copy"' EXIT
	for name in "$@" e2e; do
		case $name in
		*/*) mkdir -p "$copy/${name%/*}" && cp "${abs_top_srcdir:-.}/$name" "$copy/$name" ;;
		*) cp "$(dirname "$0")/$name.py" "$copy" ;;
		esac || exit 1
	done
	cp "${STRAY:-./stray}" "${abs_top_builddir:-.}/mkproc" "$copy" || exit 1
	chmod -R a+rX "$copy" || exit 1
	abs_top_srcdir=$copy HOME=/nonexistent STRAY=$copy/stray MKPROC=$copy/mkproc \
		setpriv --reuid 65534 --regid 65534 --clear-groups "$copy/$1.py"
}
