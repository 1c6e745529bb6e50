# `make bench` runs each of BENCHES, which prints what it measured.
BENCHES =

.PHONY: bench
bench: all
	@for bench in $(BENCHES); do "$$bench" || exit; done
