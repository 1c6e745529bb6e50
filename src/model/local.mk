noinst_LIBRARIES += libmodel.a
libmodel_a_CPPFLAGS = $(AM_CPPFLAGS)
libmodel_a_SOURCES = \
	%D%/diff.c %D%/diff.h \
	%D%/identity.c %D%/identity.h \
	%D%/process.c %D%/process.h \
	%D%/table.c %D%/table.h
