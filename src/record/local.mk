noinst_LIBRARIES += librecord.a
librecord_a_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS)
librecord_a_SOURCES = \
	%D%/record.c
