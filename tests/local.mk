# tests/unit: one cmocka program a module, listed a folder of src/ in a .mk of
# its own.  tests/helpers: small programs that make an exact kernel situation.
# tests/e2e: the real program on real processes.
UNIT_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS) $(JANSSON_CFLAGS)
UNIT_LIBADD = $(CMOCKA_LIBS)

# Programs and scripts report by TAP; the driver bounds and counts them.
LOG_DRIVER = perl $(top_srcdir)/%D%/driver.pl
AM_TESTS_ENVIRONMENT = \
	abs_top_srcdir='$(abs_top_srcdir)'; export abs_top_srcdir; \
	abs_top_builddir='$(abs_top_builddir)'; export abs_top_builddir; \
	STRAY='$(abs_top_builddir)/stray'; export STRAY; \
	LAYERS_LINK='$(CC) $(AM_CFLAGS) $(CFLAGS) $(LDFLAGS)'; export LAYERS_LINK; \
	LAYERS_JANSSON='$(JANSSON_LIBS)'; export LAYERS_JANSSON; \
	LAYERS_SECCOMP='$(SECCOMP_LIBS)'; export LAYERS_SECCOMP; \
	LAYERS_SODIUM='$(SODIUM_LIBS)'; export LAYERS_SODIUM; \
	LAYERS_NCURSESW='$(NCURSESW_LIBS)'; export LAYERS_NCURSESW;
EXTRA_DIST += %D%/driver.pl

# They look at one host, and some at its pace: one at a time, also under make -j.
check-TESTS recheck: AM_MAKEFLAGS = -j1

dist_check_SCRIPTS += %D%/driver_test.sh %D%/layers.sh
TESTS += %D%/driver_test.sh %D%/layers.sh

include %D%/unit/base.mk
include %D%/unit/model.mk
include %D%/unit/source.mk
include %D%/unit/contain.mk
include %D%/unit/record.mk
include %D%/unit/reach.mk
include %D%/unit/engine.mk
include %D%/unit/tui.mk
include %D%/helpers/local.mk
include %D%/fuzz/local.mk
include %D%/trees/local.mk
include %D%/e2e/local.mk
include %D%/bench/local.mk
