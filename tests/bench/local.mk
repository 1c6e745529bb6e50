# `make bench` runs each of BENCHES, which prints what it measured: ratios to a
# peer in the same run, since absolute times say little on a shared machine.
BENCHES = %D%/bench_list.py %D%/bench_view.py %D%/bench_snap.py
EXTRA_DIST += $(BENCHES) %D%/measure.py

.PHONY: bench
bench: all mkproc$(EXEEXT) inroot$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) \
	for bench in $(BENCHES); do "$(srcdir)/$$bench" || exit; done
