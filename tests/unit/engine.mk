UNIT_ENGINE = test_chronicle test_errand test_listener test_look test_plan test_strangers \
	test_worker
check_PROGRAMS += $(UNIT_ENGINE)
TESTS += $(UNIT_ENGINE)

test_plan_SOURCES = %D%/test_plan.c
test_plan_CPPFLAGS = $(UNIT_CPPFLAGS)
test_plan_LDADD = libhosts.a libengine.a libmodel.a libbase.a $(UNIT_LIBADD)

test_errand_SOURCES = %D%/test_errand.c
test_errand_CPPFLAGS = $(UNIT_CPPFLAGS)
test_errand_LDADD = libengine.a libmodel.a libbase.a $(UNIT_LIBADD)

test_worker_SOURCES = %D%/test_worker.c
test_worker_CPPFLAGS = $(UNIT_CPPFLAGS)
test_worker_LDADD = libengine.a libmodel.a libbase.a $(UNIT_LIBADD)

test_chronicle_SOURCES = %D%/test_chronicle.c
test_chronicle_CPPFLAGS = $(UNIT_CPPFLAGS)
test_chronicle_LDADD = libengine.a libtables.a librecord.a libsource.a libmodel.a libbase.a \
	$(JANSSON_LIBS) $(SODIUM_LIBS) $(UNIT_LIBADD) -lm

test_look_SOURCES = %D%/test_look.c
test_look_CPPFLAGS = $(UNIT_CPPFLAGS)
test_look_LDADD = libengine.a libreach.a libcontain.a libsource.a libmodel.a libbase.a \
	$(JANSSON_LIBS) $(SECCOMP_LIBS) $(UNIT_LIBADD) -lm

test_listener_SOURCES = %D%/test_listener.c
test_listener_CPPFLAGS = $(UNIT_CPPFLAGS)
test_listener_LDADD = $(test_look_LDADD)

test_strangers_SOURCES = %D%/test_strangers.c
test_strangers_CPPFLAGS = $(UNIT_CPPFLAGS)
test_strangers_LDADD = libengine.a libbase.a $(UNIT_LIBADD)
