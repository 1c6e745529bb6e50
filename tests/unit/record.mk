# What the tests of comparing, writing and reading back share: tables, and a
# directory of their own.
check_LIBRARIES += libtables.a
libtables_a_CPPFLAGS = $(UNIT_CPPFLAGS)
libtables_a_SOURCES = \
	%D%/exported.c %D%/exported.h \
	%D%/intents.c %D%/intents.h \
	%D%/parsed.c %D%/parsed.h \
	%D%/scratch.c %D%/scratch.h \
	%D%/tables.c %D%/tables.h

UNIT_RECORD_LIBS = libtables.a librecord.a libmodel.a libbase.a \
	$(JANSSON_LIBS) $(SODIUM_LIBS) $(UNIT_LIBADD) -lm
UNIT_RECORD = test_actdir test_diff test_diff_json test_export test_export_gaps test_journal test_markdown test_outfile \
	test_replay test_report test_snapshot test_statedir
check_PROGRAMS += $(UNIT_RECORD)
TESTS += $(UNIT_RECORD)

test_diff_SOURCES = %D%/test_diff.c
test_diff_CPPFLAGS = $(UNIT_CPPFLAGS)
test_diff_LDADD = $(UNIT_RECORD_LIBS)

test_diff_json_SOURCES = %D%/test_diff_json.c
test_diff_json_CPPFLAGS = $(UNIT_CPPFLAGS)
test_diff_json_LDADD = $(UNIT_RECORD_LIBS)

EXTRA_DIST += %D%/export.md %D%/export.json
test_export_SOURCES = %D%/test_export.c
test_export_CPPFLAGS = $(UNIT_CPPFLAGS)
test_export_LDADD = $(UNIT_RECORD_LIBS)

test_export_gaps_SOURCES = %D%/test_export_gaps.c
test_export_gaps_CPPFLAGS = $(UNIT_CPPFLAGS)
test_export_gaps_LDADD = $(UNIT_RECORD_LIBS)

test_journal_SOURCES = %D%/test_journal.c
test_journal_CPPFLAGS = $(UNIT_CPPFLAGS)
test_journal_LDADD = $(UNIT_RECORD_LIBS)

test_outfile_SOURCES = %D%/test_outfile.c
test_outfile_CPPFLAGS = $(UNIT_CPPFLAGS)
test_outfile_LDADD = $(UNIT_RECORD_LIBS)

# Written by src/record, read by src/source.
test_replay_SOURCES = %D%/test_replay.c
test_replay_CPPFLAGS = $(UNIT_CPPFLAGS)
test_replay_LDADD = libsource.a $(UNIT_RECORD_LIBS)

test_snapshot_SOURCES = %D%/test_snapshot.c
test_snapshot_CPPFLAGS = $(UNIT_CPPFLAGS)
test_snapshot_LDADD = $(UNIT_RECORD_LIBS)

test_statedir_SOURCES = %D%/test_statedir.c
test_statedir_CPPFLAGS = $(UNIT_CPPFLAGS)
test_statedir_LDADD = $(UNIT_RECORD_LIBS)

test_actdir_SOURCES = %D%/test_actdir.c
test_actdir_CPPFLAGS = $(UNIT_CPPFLAGS)
test_actdir_LDADD = $(UNIT_RECORD_LIBS)

test_markdown_SOURCES = %D%/test_markdown.c
test_markdown_CPPFLAGS = $(UNIT_CPPFLAGS)
test_markdown_LDADD = $(UNIT_RECORD_LIBS)

EXTRA_DIST += %D%/report.md
test_report_SOURCES = %D%/test_report.c
test_report_CPPFLAGS = $(UNIT_CPPFLAGS)
test_report_LDADD = $(UNIT_RECORD_LIBS)
