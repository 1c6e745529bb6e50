# Tables that the tests of what is compared, written and read back share.
check_LIBRARIES += libtables.a
libtables_a_CPPFLAGS = $(UNIT_CPPFLAGS)
libtables_a_SOURCES = %D%/tables.c %D%/tables.h

UNIT_RECORD = test_diff
check_PROGRAMS += $(UNIT_RECORD)
TESTS += $(UNIT_RECORD)

test_diff_SOURCES = %D%/test_diff.c
test_diff_CPPFLAGS = $(UNIT_CPPFLAGS)
test_diff_LDADD = libtables.a libmodel.a libbase.a $(UNIT_LIBADD)
