# tests/unit: one cmocka program a module, listed a folder of src/ in a .mk of
# its own.  tests/helpers: small programs that make an exact kernel situation.
# tests/e2e: the real program on real processes.
UNIT_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS) $(JANSSON_CFLAGS)
UNIT_LIBADD = $(CMOCKA_LIBS)

include %D%/unit/base.mk
include %D%/unit/model.mk
include %D%/unit/source.mk
include %D%/unit/contain.mk
include %D%/unit/record.mk
include %D%/unit/reach.mk
include %D%/unit/engine.mk
include %D%/unit/tui.mk
include %D%/helpers/local.mk
include %D%/e2e/local.mk
