UNIT_BASE = test_clock test_json_read test_json_write test_mask test_proc_stat test_text
check_PROGRAMS += $(UNIT_BASE)
TESTS += $(UNIT_BASE)

test_clock_SOURCES = %D%/test_clock.c
test_clock_CPPFLAGS = $(UNIT_CPPFLAGS)
test_clock_LDADD = libbase.a $(UNIT_LIBADD) -lm

test_proc_stat_SOURCES = %D%/test_proc_stat.c
test_proc_stat_CPPFLAGS = $(UNIT_CPPFLAGS)
test_proc_stat_LDADD = libbase.a $(UNIT_LIBADD)

test_text_SOURCES = %D%/test_text.c
test_text_CPPFLAGS = $(UNIT_CPPFLAGS)
test_text_LDADD = libbase.a $(UNIT_LIBADD)

test_json_write_SOURCES = %D%/test_json_write.c
test_json_write_CPPFLAGS = $(UNIT_CPPFLAGS)
test_json_write_LDADD = libbase.a $(JANSSON_LIBS) $(UNIT_LIBADD)

test_mask_SOURCES = %D%/test_mask.c
test_mask_CPPFLAGS = $(UNIT_CPPFLAGS)
test_mask_LDADD = libbase.a $(UNIT_LIBADD) -lm

test_json_read_SOURCES = %D%/test_json_read.c
test_json_read_CPPFLAGS = $(UNIT_CPPFLAGS)
test_json_read_LDADD = libbase.a $(JANSSON_LIBS) $(UNIT_LIBADD)
