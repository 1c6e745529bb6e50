noinst_LIBRARIES += libengine.a
libengine_a_CPPFLAGS = $(AM_CPPFLAGS)
libengine_a_SOURCES = \
	%D%/engine.c
