noinst_LIBRARIES += libcmd.a
libcmd_a_CPPFLAGS = $(AM_CPPFLAGS)
libcmd_a_SOURCES = \
	%D%/cmd.c %D%/cmd.h \
	%D%/list.c \
	%D%/why.c
