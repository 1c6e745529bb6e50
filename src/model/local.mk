noinst_LIBRARIES += libmodel.a
libmodel_a_CPPFLAGS = $(AM_CPPFLAGS)
libmodel_a_SOURCES = \
	%D%/asked.c %D%/asked.h \
	%D%/detail.c \
	%D%/diff.c %D%/diff.h \
	%D%/event.h \
	%D%/excuse.c %D%/excuse.h \
	%D%/family.c %D%/family.h \
	%D%/heard.c %D%/heard.h \
	%D%/identity.c %D%/identity.h \
	%D%/kin.c %D%/kin.h \
	%D%/kin_event.c \
	%D%/kin_parts.h \
	%D%/kin_scan.c \
	%D%/kin_store.c \
	%D%/lineage.c %D%/lineage.h \
	%D%/origin.c %D%/origin.h \
	%D%/pipes.c %D%/pipes.h \
	%D%/process.c %D%/process.h \
	%D%/run.c %D%/run.h \
	%D%/run_state.c %D%/run_state.h \
	%D%/suspect.c %D%/suspect.h \
	%D%/table.c %D%/table.h \
	%D%/selector.c %D%/selector.h \
	%D%/tracker.c %D%/tracker.h \
	%D%/tree.c %D%/tree.h \
	%D%/units.c %D%/units.h
