noinst_LIBRARIES += librecord.a
librecord_a_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS)
librecord_a_SOURCES = \
	%D%/actdir.c %D%/actdir.h \
	%D%/anchor.c %D%/anchor.h \
	%D%/chain.c %D%/chain.h \
	%D%/diff_json.c %D%/diff_json.h \
	%D%/digest.c %D%/digest.h \
	%D%/digest_cache.c %D%/digest_cache.h \
	%D%/export.c %D%/export.h %D%/export_parts.h \
	%D%/export_event.c %D%/export_files.c %D%/export_fold.c %D%/export_settle.c \
	%D%/export_json.c %D%/export_json_parts.c \
	%D%/export_md.c %D%/export_md_acts.c %D%/export_md_members.c %D%/export_md_run.c \
	%D%/export_md_launched.c \
	%D%/export_who.c \
	%D%/export_words.c \
	%D%/host_json.c %D%/host_json.h \
	%D%/intent.c %D%/intent.h \
	%D%/journal.c %D%/journal.h \
	%D%/journal_event.c %D%/journal_event.h \
	%D%/journal_read.c %D%/journal_read.h \
	%D%/journal_tail.c %D%/journal_tail.h \
	%D%/ledger.c %D%/ledger.h \
	%D%/markdown.c %D%/markdown.h \
	%D%/operator.c %D%/operator.h \
	%D%/outfile.c %D%/outfile.h \
	%D%/phrase.c %D%/phrase.h \
	%D%/process_json.c %D%/process_json.h \
	%D%/report.c %D%/report.h \
	%D%/report_process.c %D%/report_process.h \
	%D%/run_record.c %D%/run_record.h %D%/run_record_read.c \
	%D%/rundir.c %D%/rundir.h %D%/rundir_snapshot.c \
	%D%/sealed.c %D%/sealed.h \
	%D%/snapshot.c %D%/snapshot.h \
	%D%/statedir.c %D%/statedir.h \
	%D%/statedir_walk.c %D%/statedir_walk.h \
	%D%/story.c %D%/story.h
