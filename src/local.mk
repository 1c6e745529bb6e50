include %D%/base/local.mk
include %D%/model/local.mk
include %D%/source/local.mk
include %D%/contain/local.mk
include %D%/record/local.mk
include %D%/reach/local.mk
include %D%/engine/local.mk
include %D%/cmd/local.mk

# Linked from the last folder to the first.
STRAY_LIBS = libcmd.a libtui.a libengine.a libreach.a librecord.a \
	libcontain.a libsource.a libmodel.a libbase.a
STRAY_LIBADD = $(NCURSESW_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS) $(SECCOMP_LIBS) \
	-lm -lpthread

bin_PROGRAMS += stray
stray_SOURCES = %D%/main.c %D%/watch.c %D%/watch.h %D%/watch_batch.c %D%/watch_batch.h
stray_LDADD = $(STRAY_LIBS) $(STRAY_LIBADD)
