noinst_LIBRARIES += libtui.a
libtui_a_CPPFLAGS = $(AM_CPPFLAGS) $(NCURSESW_CFLAGS)
libtui_a_SOURCES = \
	%D%/cell.c %D%/cell.h \
	%D%/decode.c %D%/decode.h \
	%D%/draw.c %D%/draw.h \
	%D%/driver.c %D%/driver.h \
	%D%/input.c %D%/input.h \
	%D%/keymap.c %D%/keymap.h \
	%D%/lineedit.c %D%/lineedit.h \
	%D%/rescue.c %D%/rescue.h \
	%D%/sequences.c %D%/sequences.h \
	%D%/style.c %D%/style.h \
	%D%/tty.c %D%/tty.h
