#!/bin/sh
# The order of the folders holds (doc/ARCHITECTURE.md): each links whole with
# nothing but the folders and libraries it may know, includes go the same way,
# and what has one place (ncurses, signals, forking, ...) has no second.
set -u
src=${abs_top_srcdir:?}
build=${abs_top_builddir:?}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
n=0

# FOLDER: the folders it may include from; the libraries only it may link.
# Between these, a folder has what the folders it knows have.
layers() {
	cat <<-EOS
		base:    :$LAYERS_JANSSON -lm
		model:   base:
		source:  base model:
		contain: base model:$LAYERS_SECCOMP
		record:  base model:$LAYERS_SODIUM
		reach:   base model:
		engine:  base model source contain record reach:
		cmd:     base model source contain record reach engine:
		tui:     base model source contain record reach engine:$LAYERS_NCURSESW
	EOS
}

folders=$(layers | sed 's/:.*//')

may_know() { layers | sed -n "s/^$1: *\([^:]*\):.*/\1/p"; }
own_libs() { layers | sed -n "s/^$1:[^:]*:\(.*\)/\1/p"; }
sources() { if [ "$1" = tui ]; then echo "$src/tui"; else echo "$src/src/$1"; fi; }

# result NAME FAULTS: passed if there are none.
result() {
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		echo "$2" | sed 's/^/# /'
	fi
}

# links FOLDER [OBJECT...]: the whole archive (and OBJECT) links with what is
# above it alone.  The linker's complaints on stdout.
links() {
	folder=$1
	shift
	archives=
	libs=$(own_libs "$folder")
	for known in $(may_know "$folder"); do
		archives="$build/lib$known.a $archives"
		libs="$libs $(own_libs "$known")"
	done
	# The archives in a group: those of one layer are in no order.
	# shellcheck disable=SC2086 # words are meant to split
	$LAYERS_LINK -o "$dir/whole" "$dir/main.o" "$@" \
		-Wl,--whole-archive "$build/lib$folder.a" -Wl,--no-whole-archive \
		-Wl,--start-group $archives -Wl,--end-group $libs -lpthread 2>&1
}

# "FOLDER OBJECT SYMBOL" for each symbol that an object needs, main.c's included.
list_symbols() {
	for folder in $folders; do
		nm -A --undefined-only "$build/lib$folder.a" 2>/dev/null |
			sed "s|^.*/lib$folder.a:\([^:]*\): *U \([^@]*\).*|$folder \1 \2|"
	done
	nm -A --undefined-only "$build"/src/*main*.o | sed "s|^.*/\([^:/]*\): *U \([^@]*\).*|main \1 \2|"
}

# users PATTERN: those of them whose symbol matches.
users() { grep -E " ($1)\$" "$dir/symbols" | sort -u; }

# including HEADER: the sources of the program that include it.
including() {
	grep -rlE "^#[[:space:]]*include[[:space:]]*<$1>" "$src/src" "$src/tui" | sort
}

one_or_none() {
	if [ "$(printf '%s\n' "$1" | wc -l)" -gt 1 ]; then
		printf '%s\n' "$1"
	fi
}

for folder in $folders; do
	[ -f "$build/lib$folder.a" ] || { echo "Bail out! no lib$folder.a: run make first"; exit 1; }
done
echo 'int main(void) { return 0; }' >"$dir/main.c"
# shellcheck disable=SC2086
$LAYERS_LINK -Wno-error -c -o "$dir/main.o" "$dir/main.c" || exit 1

list_symbols >"$dir/symbols"

for folder in $folders; do
	result "$folder links with what is above it alone" "$(links "$folder")"
done

# The test itself can fail: an offender in base calls the model, one in the
# model a sibling's library.
cat >"$dir/up.c" <<'EOS'
void *table_new(void);
void *up(void);
void *up(void) { return table_new(); }
EOS
cat >"$dir/side.c" <<'EOS'
int sodium_init(void);
int side(void);
int side(void) { return sodium_init(); }
EOS
for offender in up side; do
	# shellcheck disable=SC2086
	$LAYERS_LINK -c -o "$dir/$offender.o" "$dir/$offender.c" || exit 1
done
complaint=$(links base "$dir/up.o")
case $complaint in
*undefined*table_new*) result "an upward call does not link" "" ;;
*) result "an upward call does not link" "it linked: $complaint" ;;
esac
complaint=$(links model "$dir/side.o")
case $complaint in
*undefined*sodium_init*) result "a library of another folder does not link" "" ;;
*) result "a library of another folder does not link" "it linked: $complaint" ;;
esac

faults=
for folder in $folders; do
	allowed=$(echo "$folder $(may_know "$folder")" | sed 's/ *$//; s/ /|/g')
	faults="$faults$(grep -rnE '^#[[:space:]]*include[[:space:]]*"' "$(sources "$folder")" \
		--include='*.[ch]' | grep -vE "\"(($allowed)/[^/\"]*|config\.h)\"")"
done
result "includes name a folder, and one that is above" "$faults"

# What follows is looked for in these two lists: they must not be empty.
found=
[ -n "$(users 'malloc|calloc|realloc')" ] || found="no object needs memory: is nm's output read?"
[ -n "$(including 'errno\.h')" ] || found="no source includes errno.h"
result "symbols and includes can be listed" "$found"

result "ncurses is included in one file" "$(one_or_none "$(including '(ncursesw/)?n?curses\.h')")"
result "libproc2 is included in one file" "$(one_or_none "$(including 'libproc2/[a-z]+\.h')")"
result "libseccomp is included in one file" "$(one_or_none "$(including 'seccomp\.h')")"
result "jansson is included in src/base alone" "$(including 'jansson\.h' | grep -v '/src/base/')"

signals='kill|killpg|tgkill|sigqueue|pidfd_send_signal|pthread_kill|pthread_sigqueue'
# But for Ctrl-Z, with which the view stops its own group.
result "signals are sent by src/contain alone" "$(
	users "$signals" | grep -vE '^contain |^tui .*rescue\.o kill$'
	grep -rnE '(SYS|__NR)_(kill|tkill|tgkill|pidfd_send_signal|rt_t?g?sigqueueinfo)' \
		"$src/src" "$src/tui" --include='*.[ch]' | grep -v '/src/contain/'
)"

forks='fork|vfork|_Fork|clone|posix_spawnp?|system|popen|daemon|forkpty'
result "processes are made in one file" "$(one_or_none "$(
	{
		users "$forks" | cut -d' ' -f1,2 | sed 's|^\([a-z]*\) [a-z_]*-\(.*\)\.o$|\1/\2.c|'
		grep -rlE '(SYS|__NR)_(fork|vfork|clone3?)\>' "$src/src" "$src/tui" --include='*.c' |
			sed 's|.*/\([a-z]*/[^/]*\)$|\1|'
	} | sort -u
)")"

result "only main.c exits" "$(users 'exit|quick_exit|err|errx' | grep -v '^main ')"
result "only cmd, tui and main.c print" "$(
	users 'stdout|stderr|v?printf|__v?printf_chk|puts|putchar|perror|warnx?' |
		grep -vE '^(cmd|tui|main) '
)"

impure='open|openat|creat|read|pread|write|close|stat|lstat|fstat|readlink|readlinkat|opendir|readdir'
impure="$impure|fopen|clock_gettime|time|gettimeofday|getenv|getpid|getppid|getpgid|getsid|getuid|geteuid"
impure="$impure|uname|gethostname|getpwuid|getpwuid_r|syscall|ioctl|poll|socket|sleep|nanosleep|random|rand"
impure="$impure|file_[a-z_]*|clock_wall_ns|clock_boot_ns"
result "the model asks nothing of the system" "$(users "$impure" | grep '^model ')"

if nm "$build/libmodel.a" 2>/dev/null | grep -q __asan; then
	result "the model has no state of its own # SKIP sanitizers add some" ""
else
	result "the model has no state of its own" "$(
		size -A "$build/libmodel.a" 2>/dev/null | awk '
			/^[^ ]+ +:|ex / { object = $1 }
			/^\.(data|bss)/ && !/^\.data\.rel\.ro/ && $2 > 0 { print object, $1, $2 }'
	)"
fi

loaded() { objdump -p "$build/stray" | sed -n 's/^ *NEEDED *//p'; }
case "$LAYERS_NCURSESW $LAYERS_JANSSON $LAYERS_SECCOMP $LAYERS_SODIUM" in
*" -l"[!:]* | -l[!:]*) skip="not each library has an archive here" ;;
*) skip=$(loaded | grep -q asan && echo "sanitizers are loaded") ;;
esac
result "stray loads glibc alone${skip:+ # SKIP $skip}" "$(
	[ -n "$skip" ] || loaded | grep -vE '^(libc|libm|libpthread|ld-linux[^.]*)\.so'
)"

echo "1..$n"
