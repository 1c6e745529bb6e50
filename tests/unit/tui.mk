UNIT_TUI = test_decode test_draw test_input test_keymap test_lineedit test_style
check_PROGRAMS += $(UNIT_TUI)
TESTS += $(UNIT_TUI)

# No ncurses here: all but the driver is pure.
UNIT_TUI_LIBS = libtui.a libbase.a $(UNIT_LIBADD)

test_decode_SOURCES = %D%/test_decode.c
test_decode_CPPFLAGS = $(UNIT_CPPFLAGS)
test_decode_LDADD = $(UNIT_TUI_LIBS)

test_draw_SOURCES = %D%/test_draw.c
test_draw_CPPFLAGS = $(UNIT_CPPFLAGS)
test_draw_LDADD = $(UNIT_TUI_LIBS)

test_input_SOURCES = %D%/test_input.c
test_input_CPPFLAGS = $(UNIT_CPPFLAGS)
test_input_LDADD = $(UNIT_TUI_LIBS)

test_keymap_SOURCES = %D%/test_keymap.c
test_keymap_CPPFLAGS = $(UNIT_CPPFLAGS)
test_keymap_LDADD = $(UNIT_TUI_LIBS)

test_lineedit_SOURCES = %D%/test_lineedit.c
test_lineedit_CPPFLAGS = $(UNIT_CPPFLAGS)
test_lineedit_LDADD = $(UNIT_TUI_LIBS)

test_style_SOURCES = %D%/test_style.c
test_style_CPPFLAGS = $(UNIT_CPPFLAGS)
test_style_LDADD = $(UNIT_TUI_LIBS)
