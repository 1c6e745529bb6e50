noinst_LIBRARIES += libsource.a
libsource_a_CPPFLAGS = $(AM_CPPFLAGS) $(PROC2_CFLAGS) $(JANSSON_CFLAGS)
libsource_a_SOURCES = \
	%D%/details.c %D%/details.h \
	%D%/details_environ.c \
	%D%/details_parts.h \
	%D%/details_stdio.c \
	%D%/hostinfo.c %D%/hostinfo.h \
	%D%/netlink.c %D%/netlink.h \
	%D%/pids.c %D%/pids.h \
	%D%/replay.c %D%/replay.h \
	%D%/replay_process.c \
	%D%/source.c %D%/source.h %D%/source_parts.h \
	%D%/source_scan.c \
	%D%/statfds.c %D%/statfds.h
