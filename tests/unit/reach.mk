UNIT_REACH = test_ends test_reach test_spoken
check_PROGRAMS += $(UNIT_REACH)
TESTS += $(UNIT_REACH)

test_reach_SOURCES = %D%/test_reach.c
test_reach_CPPFLAGS = $(UNIT_CPPFLAGS)
test_reach_LDADD = libmade.a libreach.a libmodel.a libbase.a $(UNIT_LIBADD) -lm

test_ends_SOURCES = %D%/test_ends.c
test_ends_CPPFLAGS = $(UNIT_CPPFLAGS)
test_ends_LDADD = libmade.a libreach.a libmodel.a libbase.a $(UNIT_LIBADD) -lm

test_spoken_SOURCES = %D%/test_spoken.c
test_spoken_CPPFLAGS = $(UNIT_CPPFLAGS)
test_spoken_LDADD = libmade.a libreach.a libmodel.a libbase.a $(UNIT_LIBADD) -lm
