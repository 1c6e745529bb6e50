# For those who change stray: lint, format, check-asan, fuzz.  What needs other
# compiler flags is built in a folder of its own below the build directory.
EXTRA_DIST += .clang-format .clang-tidy %D%/analyzer.h %D%/asan.h %D%/fuzz.sh %D%/lint.sh %D%/map.sh %D%/rebuild.sh

.PHONY: lint format check-asan fuzz

LINT_CPPFLAGS = $(DEFS) -I. $(AM_CPPFLAGS) $(NCURSESW_CFLAGS) $(PROC2_CFLAGS) \
	$(JANSSON_CFLAGS) $(SODIUM_CFLAGS) $(CMOCKA_CFLAGS)
# Without warnings: under sanitizers gcc gives false ones.
ASAN_CFLAGS = -g -O1 -w -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all -include $(abs_top_srcdir)/%D%/asan.h
# gcc 12 loses what is stored through a pointer, as each vector does, and calls it a leak: those
# are looked for by check-asan.
ANALYZER_CFLAGS = -g -O1 -fanalyzer -Wno-analyzer-malloc-leak -I$(abs_top_srcdir)/src \
	-include $(abs_top_srcdir)/%D%/analyzer.h
REBUILD = CC='$(CC)' MAKE='$(MAKE)' $(SHELL) $(top_srcdir)/%D%/rebuild.sh '$(abs_top_srcdir)'

lint: config.h
	@CPPFLAGS='$(LINT_CPPFLAGS)' $(SHELL) $(top_srcdir)/%D%/lint.sh '$(top_srcdir)'
	@+$(REBUILD) analyzer all --enable-werror CFLAGS='$(ANALYZER_CFLAGS)'

format:
	cd $(top_srcdir) && find src tui tests -name '*.[ch]' -exec clang-format -i {} +

check-asan:
	@+ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1 \
		UBSAN_OPTIONS=print_stacktrace=1 \
		$(REBUILD) asan check CFLAGS='$(ASAN_CFLAGS)'

# FUZZ: which targets; FUZZ_SECONDS, FUZZ_LENGTH: of each input.
fuzz:
	@+MAKE='$(MAKE)' $(SHELL) $(top_srcdir)/%D%/fuzz.sh '$(abs_top_srcdir)' $(FUZZ)

distclean-local:
	rm -rf analyzer asan fuzz
