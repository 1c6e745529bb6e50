noinst_LIBRARIES += libtui.a
libtui_a_CPPFLAGS = $(AM_CPPFLAGS) $(NCURSESW_CFLAGS)
libtui_a_SOURCES = \
	%D%/cell.c %D%/cell.h \
	%D%/draw.c %D%/draw.h \
	%D%/style.c %D%/style.h
