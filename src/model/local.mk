noinst_LIBRARIES += libmodel.a
libmodel_a_CPPFLAGS = $(AM_CPPFLAGS)
libmodel_a_SOURCES = \
	%D%/diff.c %D%/diff.h \
	%D%/excuse.c %D%/excuse.h \
	%D%/family.c %D%/family.h \
	%D%/identity.c %D%/identity.h \
	%D%/lineage.c %D%/lineage.h \
	%D%/origin.c %D%/origin.h \
	%D%/process.c %D%/process.h \
	%D%/run.c %D%/run.h \
	%D%/run_state.c %D%/run_state.h \
	%D%/suspect.c %D%/suspect.h \
	%D%/table.c %D%/table.h \
	%D%/selector.c %D%/selector.h \
	%D%/tracker.c %D%/tracker.h \
	%D%/tree.c %D%/tree.h \
	%D%/units.c %D%/units.h
