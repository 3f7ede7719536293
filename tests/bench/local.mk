# tests/bench - figures beside their targets: make bench
bench_programs = tests/bench/bench_mutex
tests_bench_bench_mutex_SOURCES = tests/bench/bench_mutex.c tests/bench/bench.h
tests_bench_bench_mutex_LDADD = -lpthread

bench_programs += tests/bench/bench_drain
tests_bench_bench_drain_SOURCES = tests/bench/bench_drain.c tests/bench/bench.h
tests_bench_bench_drain_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la

if HAVE_LTTNG
bench_programs += tests/bench/bench_lttng
tests_bench_bench_lttng_SOURCES = tests/bench/bench_lttng.c tests/bench/bench_lttng_tp.h tests/bench/bench.h
tests_bench_bench_lttng_CFLAGS = $(AM_CFLAGS) -Wno-conversion -Wno-shadow
tests_bench_bench_lttng_LDADD = -llttng-ust -ldl
endif

EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs) bench.tsv
EXTRA_DIST += tests/bench/run.sh tests/bench/lttng.sh

# BENCH=PART... for some of it only
bench: all $(bench_programs) tests/integration/mc_load
	$(AM_TESTS_ENVIRONMENT) '$(srcdir)/tests/bench/run.sh' $(BENCH)
.PHONY: bench
