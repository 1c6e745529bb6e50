UNIT_ENGINE = test_plan
check_PROGRAMS += $(UNIT_ENGINE)
TESTS += $(UNIT_ENGINE)

test_plan_SOURCES = %D%/test_plan.c
test_plan_CPPFLAGS = $(UNIT_CPPFLAGS)
test_plan_LDADD = libhosts.a libengine.a libmodel.a libbase.a $(UNIT_LIBADD)
