# What takes bytes from elsewhere, fed with any.  `make check` feeds each target its corpus;
# `make fuzz` (dev/fuzz.sh) builds it with libFuzzer and searches for FUZZ_SECONDS.
FUZZ = fuzz_journal fuzz_mountinfo fuzz_record fuzz_replay fuzz_snapshot fuzz_view
check_PROGRAMS += $(FUZZ)
TESTS += $(FUZZ)
EXTRA_DIST += %D%/corpus

check_LIBRARIES += libfuzz.a
libfuzz_a_SOURCES = %D%/fuzz.c %D%/fuzz.h
FUZZ_LIBS = libfuzz.a $(UNIT_VIEW_LIBS)

fuzz_journal_SOURCES = %D%/journal.c
fuzz_journal_CPPFLAGS = $(UNIT_CPPFLAGS)
fuzz_journal_LDADD = $(FUZZ_LIBS)

fuzz_mountinfo_SOURCES = %D%/mountinfo.c
fuzz_mountinfo_LDADD = $(FUZZ_LIBS)

fuzz_record_SOURCES = %D%/record.c
fuzz_record_CPPFLAGS = $(UNIT_CPPFLAGS)
fuzz_record_LDADD = $(FUZZ_LIBS)

fuzz_replay_SOURCES = %D%/replay.c
fuzz_replay_CPPFLAGS = $(UNIT_CPPFLAGS)
fuzz_replay_LDADD = $(FUZZ_LIBS)

fuzz_snapshot_SOURCES = %D%/snapshot.c
fuzz_snapshot_CPPFLAGS = $(UNIT_CPPFLAGS)
fuzz_snapshot_LDADD = $(FUZZ_LIBS)

fuzz_view_SOURCES = %D%/view.c tests/unit/view_world.c tests/unit/view_world.h
fuzz_view_CPPFLAGS = $(UNIT_CPPFLAGS)
fuzz_view_LDADD = $(FUZZ_LIBS)
