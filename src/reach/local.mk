noinst_LIBRARIES += libreach.a
libreach_a_CPPFLAGS = $(AM_CPPFLAGS)
libreach_a_SOURCES = \
	%D%/reach.c
