UNIT_CONTAIN = test_pidfd
check_PROGRAMS += $(UNIT_CONTAIN)
TESTS += $(UNIT_CONTAIN)
CONTAIN_LDADD = libmade.a libcontain.a libmodel.a libbase.a $(UNIT_LIBADD) -lm

test_pidfd_SOURCES = %D%/test_pidfd.c
test_pidfd_CPPFLAGS = $(UNIT_CPPFLAGS)
test_pidfd_LDADD = $(CONTAIN_LDADD)
