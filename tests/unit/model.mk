# Hosts written down as text, for the tests of what is made of them.
check_LIBRARIES += libhosts.a
libhosts_a_CPPFLAGS = $(UNIT_CPPFLAGS)
libhosts_a_SOURCES = %D%/hosts.c %D%/hosts.h

UNIT_MODEL = test_process test_selector
check_PROGRAMS += $(UNIT_MODEL)
TESTS += $(UNIT_MODEL)
MODEL_LDADD = libhosts.a libtables.a libmodel.a libbase.a $(UNIT_LIBADD)

test_process_SOURCES = %D%/test_process.c
test_process_CPPFLAGS = $(UNIT_CPPFLAGS)
test_process_LDADD = $(MODEL_LDADD)

test_selector_SOURCES = %D%/test_selector.c
test_selector_CPPFLAGS = $(UNIT_CPPFLAGS)
test_selector_LDADD = $(MODEL_LDADD)
