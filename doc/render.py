#!/usr/bin/python3
"""Draw a captured terminal screen as a PNG.

    tmux capture-pane -e -N -p >screen.ansi
    doc/render.py screen.ansi screen.png

Needs Debian's python3-pyte, python3-pil, fonts-dejavu-core and fonts-unifont
(wide characters), and so /usr/bin/python3.  The same capture gives the same
bytes with the same versions of these.
"""
import argparse
import unicodedata

import pyte
from PIL import Image, ImageDraw, ImageFont

MONO = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"
BOLD = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono-Bold.ttf"
WIDE = "/usr/share/fonts/opentype/unifont/unifont.otf"
SIZE = 16
MARGIN = 12

BACKGROUND, FOREGROUND = "1c1e26", "c8ccd4"
LIGHT = {BACKGROUND: "fdfdf8", FOREGROUND: "2e3440"}

# The eight colours of a calm dark terminal; 256-colour values come as RGB.
PALETTE = {
    "black": "1c1e26", "red": "e06c75", "green": "98c379", "brown": "d5b06b",
    "blue": "3f6fa8", "magenta": "b184d6", "cyan": "5fb3bf", "white": "c8ccd4",
}


class Screen(pyte.Screen):
    """A screen on which faint text shows; pyte knows no such attribute, so
    it is kept as italics, of which the view makes no use."""

    def select_graphic_rendition(self, *attrs):
        if 38 in attrs or 48 in attrs:  # what follows these is a colour
            return super().select_graphic_rendition(*attrs)
        mapped = []
        for attr in attrs:
            mapped += {2: [3], 22: [22, 23]}.get(attr, [attr])
        return super().select_graphic_rendition(*mapped)


def width(char):
    if char and unicodedata.combining(char[0]):
        return 0
    return 2 if char and unicodedata.east_asian_width(char[0]) in "WF" else 1


def read_screen(path):
    with open(path, encoding="utf-8") as f:
        lines = f.read().rstrip("\n").split("\n")
    # Wide enough for any line; the columns are then those in use.
    screen = Screen(400, len(lines))
    stream = pyte.Stream(screen)
    stream.feed("\r\n".join(lines))
    used = 1
    for y in range(screen.lines):
        for x, cell in screen.buffer[y].items():
            if cell != screen.default_char and x < 400:
                used = max(used, x + width(cell.data))
    return screen, used


def rgb(name, light):
    name = PALETTE.get(name, name)
    if light:
        name = LIGHT.get(name, name)
    return tuple(int(name[i:i + 2], 16) for i in (0, 2, 4))


def colours(cell, light):
    fg = rgb(FOREGROUND if cell.fg == "default" else cell.fg, light)
    bg = rgb(BACKGROUND if cell.bg == "default" else cell.bg, light)
    if cell.reverse:
        fg, bg = bg, fg
    if cell.italics:
        fg = tuple((f * 11 + b * 9) // 20 for f, b in zip(fg, bg))
    return fg, bg


def draw(screen, cols, rows, light):
    mono, bold, wide = (ImageFont.truetype(p, SIZE) for p in (MONO, BOLD, WIDE))
    cell_w = round(mono.getlength("M"))
    ascent, descent = mono.getmetrics()
    cell_h = ascent + descent
    image = Image.new("RGB", (cols * cell_w + 2 * MARGIN, rows * cell_h + 2 * MARGIN),
                      rgb(BACKGROUND, light))
    canvas = ImageDraw.Draw(image)
    for y in range(rows):
        for x in range(cols):
            cell = screen.buffer[y][x]
            fg, bg = colours(cell, light)
            left, top = MARGIN + x * cell_w, MARGIN + y * cell_h
            cells = width(cell.data)
            if not cell.data or cells == 0:
                continue
            canvas.rectangle([left, top, left + cells * cell_w - 1, top + cell_h - 1], fill=bg)
            font = wide if cells == 2 else bold if cell.bold else mono
            if cells == 2:
                canvas.text((left, top + ascent), cell.data, font=font, fill=fg, anchor="ls")
            else:
                canvas.text((left, top), cell.data, font=font, fill=fg)
            if cell.underscore:
                line = top + ascent + 2
                canvas.line([left, line, left + cells * cell_w - 1, line], fill=fg)
    return image


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("capture", help="output of tmux capture-pane -e -N -p")
    parser.add_argument("png")
    parser.add_argument("--cols", type=int, help="columns (default: those in use)")
    parser.add_argument("--light", action="store_true", help="on a light background")
    args = parser.parse_args()
    screen, used = read_screen(args.capture)
    image = draw(screen, args.cols or used, screen.lines, args.light)
    image.save(args.png, format="PNG", optimize=True)


if __name__ == "__main__":
    main()
