noinst_LIBRARIES += libcontain.a
libcontain_a_CPPFLAGS = $(AM_CPPFLAGS)
libcontain_a_SOURCES = \
	%D%/act.c %D%/act.h \
	%D%/cgroup.c %D%/cgroup.h \
	%D%/freeze.c %D%/freeze.h \
	%D%/ladder.c %D%/ladder.h \
	%D%/pidfd.c %D%/pidfd.h \
	%D%/signal.c %D%/signal.h \
	%D%/stop.c %D%/stop.h \
	%D%/target.c %D%/target.h
