noinst_LIBRARIES += libcontain.a
libcontain_a_CPPFLAGS = $(AM_CPPFLAGS)
libcontain_a_SOURCES = \
	%D%/contain.c
