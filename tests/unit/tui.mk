UNIT_TUI = test_draw test_style
check_PROGRAMS += $(UNIT_TUI)
TESTS += $(UNIT_TUI)

# No ncurses here: all but the driver is pure.
UNIT_TUI_LIBS = libtui.a libbase.a $(UNIT_LIBADD)

test_draw_SOURCES = %D%/test_draw.c
test_draw_CPPFLAGS = $(UNIT_CPPFLAGS)
test_draw_LDADD = $(UNIT_TUI_LIBS)

test_style_SOURCES = %D%/test_style.c
test_style_CPPFLAGS = $(UNIT_CPPFLAGS)
test_style_LDADD = $(UNIT_TUI_LIBS)
