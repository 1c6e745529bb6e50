UNIT_BASE = test_clock
check_PROGRAMS += $(UNIT_BASE)
TESTS += $(UNIT_BASE)

test_clock_SOURCES = %D%/test_clock.c
test_clock_CPPFLAGS = $(UNIT_CPPFLAGS)
test_clock_LDADD = libbase.a $(UNIT_LIBADD) -lm
