# Hosts written down as text, for the tests of what is made of them.
check_LIBRARIES += libhosts.a
libhosts_a_CPPFLAGS = $(UNIT_CPPFLAGS)
libhosts_a_SOURCES = %D%/chosen.c %D%/chosen.h %D%/hosts.c %D%/hosts.h %D%/judged.c %D%/judged.h

UNIT_MODEL = test_asked test_excuse test_kin test_kin_history test_lineage test_origin test_pipes test_process test_run \
	test_run_state test_selector test_suspect test_table test_tracker test_tree
check_PROGRAMS += $(UNIT_MODEL)
TESTS += $(UNIT_MODEL)
MODEL_LDADD = libhosts.a libtables.a libmodel.a libbase.a $(UNIT_LIBADD)

test_asked_SOURCES = %D%/test_asked.c
test_asked_CPPFLAGS = $(UNIT_CPPFLAGS)
test_asked_LDADD = $(MODEL_LDADD)

test_excuse_SOURCES = %D%/test_excuse.c
test_excuse_CPPFLAGS = $(UNIT_CPPFLAGS)
test_excuse_LDADD = $(MODEL_LDADD)

test_kin_SOURCES = %D%/test_kin.c
test_kin_CPPFLAGS = $(UNIT_CPPFLAGS)
test_kin_LDADD = $(MODEL_LDADD)

test_kin_history_SOURCES = %D%/test_kin_history.c
test_kin_history_CPPFLAGS = $(UNIT_CPPFLAGS)
test_kin_history_LDADD = $(MODEL_LDADD)

test_lineage_SOURCES = %D%/test_lineage.c
test_lineage_CPPFLAGS = $(UNIT_CPPFLAGS)
test_lineage_LDADD = $(MODEL_LDADD)

test_origin_SOURCES = %D%/test_origin.c
test_origin_CPPFLAGS = $(UNIT_CPPFLAGS)
test_origin_LDADD = $(MODEL_LDADD)

test_pipes_SOURCES = %D%/test_pipes.c
test_pipes_CPPFLAGS = $(UNIT_CPPFLAGS)
test_pipes_LDADD = $(MODEL_LDADD)

test_process_SOURCES = %D%/test_process.c
test_process_CPPFLAGS = $(UNIT_CPPFLAGS)
test_process_LDADD = $(MODEL_LDADD)

test_run_state_SOURCES = %D%/test_run_state.c
test_run_state_CPPFLAGS = $(UNIT_CPPFLAGS)
test_run_state_LDADD = $(MODEL_LDADD)

test_run_SOURCES = %D%/test_run.c
test_run_CPPFLAGS = $(UNIT_CPPFLAGS)
test_run_LDADD = $(MODEL_LDADD)

test_selector_SOURCES = %D%/test_selector.c
test_selector_CPPFLAGS = $(UNIT_CPPFLAGS)
test_selector_LDADD = $(MODEL_LDADD)

test_suspect_SOURCES = %D%/test_suspect.c
test_suspect_CPPFLAGS = $(UNIT_CPPFLAGS)
test_suspect_LDADD = $(MODEL_LDADD)

test_table_SOURCES = %D%/test_table.c
test_table_CPPFLAGS = $(UNIT_CPPFLAGS)
test_table_LDADD = $(MODEL_LDADD)

test_tracker_SOURCES = %D%/test_tracker.c
test_tracker_CPPFLAGS = $(UNIT_CPPFLAGS)
test_tracker_LDADD = $(MODEL_LDADD)

test_tree_SOURCES = %D%/test_tree.c
test_tree_CPPFLAGS = $(UNIT_CPPFLAGS)
test_tree_LDADD = $(MODEL_LDADD)
