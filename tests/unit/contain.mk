UNIT_CONTAIN = test_pidfd test_signal test_guard test_ladder test_freeze
check_PROGRAMS += $(UNIT_CONTAIN)
TESTS += $(UNIT_CONTAIN)
CONTAIN_LDADD = libmade.a libcontain.a libmodel.a libbase.a $(UNIT_LIBADD) -lm

test_pidfd_SOURCES = %D%/test_pidfd.c
test_pidfd_CPPFLAGS = $(UNIT_CPPFLAGS)
test_pidfd_LDADD = $(CONTAIN_LDADD)

test_signal_SOURCES = %D%/test_signal.c %D%/act.c %D%/act.h
test_signal_CPPFLAGS = $(UNIT_CPPFLAGS)
test_signal_LDADD = $(CONTAIN_LDADD)

test_guard_SOURCES = %D%/test_guard.c %D%/act.c %D%/act.h
test_guard_CPPFLAGS = $(UNIT_CPPFLAGS)
test_guard_LDADD = $(CONTAIN_LDADD)

test_ladder_SOURCES = %D%/test_ladder.c %D%/act.c %D%/act.h
test_ladder_CPPFLAGS = $(UNIT_CPPFLAGS)
test_ladder_LDADD = $(CONTAIN_LDADD)

test_freeze_SOURCES = %D%/test_freeze.c %D%/act.c %D%/act.h
test_freeze_CPPFLAGS = $(UNIT_CPPFLAGS)
test_freeze_LDADD = $(CONTAIN_LDADD)
