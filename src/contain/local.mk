noinst_LIBRARIES += libcontain.a
libcontain_a_CPPFLAGS = $(AM_CPPFLAGS) $(SECCOMP_CFLAGS)
libcontain_a_SOURCES = \
	%D%/act.c %D%/act.h \
	%D%/cgroup.c %D%/cgroup.h \
	%D%/deny.c %D%/deny.h \
	%D%/fixture.c %D%/fixture.h \
	%D%/freeze.c %D%/freeze.h \
	%D%/guard.c %D%/guard.h \
	%D%/ladder.c %D%/ladder.h \
	%D%/pidfd.c %D%/pidfd.h \
	%D%/prompt.c %D%/prompt.h \
	%D%/signal.c %D%/signal.h \
	%D%/stop.c %D%/stop.h \
	%D%/spawn.c %D%/spawn.h \
	%D%/target.c %D%/target.h \
	%D%/unit.c %D%/unit.h \
	%D%/unit_cgroup.c %D%/unit_parts.h %D%/unit_tree.c
