# `make bench` runs each of BENCHES, which prints what it measured: ratios to a
# peer in the same run, since absolute times say little on a shared machine.
BENCHES = %D%/bench_list.py %D%/bench_view.py %D%/bench_snap.py %D%/bench_run.py \
	%D%/bench_make.py \
	%D%/bench_storm.py
EXTRA_DIST += $(BENCHES) %D%/measure.py

# Of the model alone, which has no peer: what 30,000 processes take to judge.
EXTRA_PROGRAMS = bench_model bench_netlink
CLEANFILES += $(EXTRA_PROGRAMS)

bench_model_SOURCES = %D%/model.c
bench_model_LDADD = libmodel.a libbase.a

# Of the source of events: what it costs those it tells of.
bench_netlink_SOURCES = %D%/netlink.c
bench_netlink_LDADD = libsource.a libmodel.a libbase.a -lm

.PHONY: bench
bench: all mkproc$(EXEEXT) inroot$(EXEEXT) bench_model$(EXEEXT) \
		bench_netlink$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) \
	for bench in $(BENCHES); do "$(srcdir)/$$bench" || exit; done; ./bench_model && ./bench_netlink
