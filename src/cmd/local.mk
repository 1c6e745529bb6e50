noinst_LIBRARIES += libcmd.a
libcmd_a_CPPFLAGS = $(AM_CPPFLAGS)
libcmd_a_SOURCES = \
	%D%/adopt.c \
	%D%/candidates.c \
	%D%/check.c \
	%D%/cmd.c %D%/cmd.h \
	%D%/diff.c \
	%D%/doctor.c \
	%D%/end.c %D%/end_print.c %D%/end_print.h \
	%D%/export.c \
	%D%/line.c %D%/line.h \
	%D%/list.c %D%/list_json.c %D%/list_json.h \
	%D%/note.c \
	%D%/run.c %D%/run_json.c %D%/run_json.h \
	%D%/runs.c \
	%D%/snap.c \
	%D%/subject.c %D%/subject.h \
	%D%/verify.c \
	%D%/why.c %D%/why_json.c %D%/why_json.h
