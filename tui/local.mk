noinst_LIBRARIES += libtui.a
libtui_a_CPPFLAGS = $(AM_CPPFLAGS) $(NCURSESW_CFLAGS)
libtui_a_SOURCES = \
	%D%/tui.c
