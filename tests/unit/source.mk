UNIT_SOURCE = test_netlink test_source test_statfds
check_PROGRAMS += $(UNIT_SOURCE)
TESTS += $(UNIT_SOURCE)

test_statfds_SOURCES = %D%/test_statfds.c
test_statfds_CPPFLAGS = $(UNIT_CPPFLAGS)
test_statfds_LDADD = libmade.a libsource.a libmodel.a libbase.a $(JANSSON_LIBS) \
	$(UNIT_LIBADD) -lm

test_source_SOURCES = %D%/test_source.c
test_source_CPPFLAGS = $(UNIT_CPPFLAGS)
test_source_LDADD = $(test_statfds_LDADD)

test_netlink_SOURCES = %D%/test_netlink.c
test_netlink_CPPFLAGS = $(UNIT_CPPFLAGS)
test_netlink_LDADD = $(test_statfds_LDADD)
