#!/bin/bash
# A captured screen becomes a picture: the same one each time, in which every
# attribute shows.
. "${abs_top_srcdir:?}/tests/e2e/tui_lib.sh"
render=$abs_top_srcdir/doc/render.py
/usr/bin/python3 -c 'import pyte, PIL' 2>/dev/null || skip_all "no python3-pyte or python3-pil"
for font in truetype/dejavu/DejaVuSansMono.ttf opentype/unifont/unifont.otf; do
	[ -f /usr/share/fonts/$font ] || skip_all "no $font"
done

# picture NAME ESCAPES: of one line of text in that rendition.
picture() { printf '\033[%smtext 世\033[0m\n' "$2" >"$tui_dir/$1.ansi" && "$render" "$tui_dir/$1.ansi" "$tui_dir/$1.png"; }

ok "a picture is drawn" picture plain 0
ok "and drawn again" picture again 0
ok "it is the same to the byte" cmp "$tui_dir/plain.png" "$tui_dir/again.png"
for rendition in bold:1 faint:2 underline:4 reverse:7 red:31 orange:'38;5;208' bar:'48;5;25'; do
	picture "${rendition%%:*}" "${rendition#*:}"
	ok "${rendition%%:*} shows" test "$(cmp "$tui_dir/plain.png" "$tui_dir/${rendition%%:*}.png" | grep -c differ)" = 1
done
tap_end
