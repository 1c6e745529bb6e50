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

# The view: STRAY_REGENERATE=1 writes tests/unit/screens/ anew; look at the difference.
UNIT_VIEW = test_view test_view_acts test_view_runs
check_PROGRAMS += $(UNIT_VIEW)
TESTS += $(UNIT_VIEW)
UNIT_VIEW_LIBS = libtui.a libengine.a libreach.a librecord.a libcontain.a libsource.a \
	libtables.a libmodel.a libbase.a $(UNIT_LIBADD) $(STRAY_LIBADD)
EXTRA_DIST += \
	%D%/screens/calm-100x24.txt %D%/screens/incident-100x24.txt \
	%D%/screens/incident-120x40.txt %D%/screens/incident-40x10.txt \
	%D%/screens/dialog-own-100x30.txt %D%/screens/dialog-term-100x30.txt \
	%D%/screens/diff-100x30.txt %D%/screens/diff-connections-100x30.txt %D%/screens/incident-80x24.txt %D%/screens/run-100x24.txt %D%/screens/run-80x24.txt \
	%D%/screens/runs-100x24.txt %D%/screens/runs-80x24.txt %D%/screens/events-100x24.txt \
	%D%/screens/ended-100x24.txt \
	%D%/screens/events-80x24.txt %D%/screens/recorded-100x24.txt %D%/screens/recorded-80x24.txt

test_view_SOURCES = %D%/test_view.c %D%/view_world.c %D%/view_world.h
test_view_CPPFLAGS = $(UNIT_CPPFLAGS)
test_view_LDADD = $(UNIT_VIEW_LIBS)

test_view_acts_SOURCES = %D%/test_view_acts.c %D%/view_world.c %D%/view_world.h
test_view_acts_CPPFLAGS = $(UNIT_CPPFLAGS)
test_view_acts_LDADD = $(UNIT_VIEW_LIBS)

test_view_runs_SOURCES = %D%/test_view_runs.c %D%/view_world.c %D%/view_world.h
test_view_runs_CPPFLAGS = $(UNIT_CPPFLAGS)
test_view_runs_LDADD = $(UNIT_VIEW_LIBS)
