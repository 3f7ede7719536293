# tests/bench - figures beside their targets: make bench
bench_programs = tests/bench/bench_mutex
tests_bench_bench_mutex_SOURCES = tests/bench/bench_mutex.c tests/bench/bench.h
tests_bench_bench_mutex_LDADD = -lpthread

bench_programs += tests/bench/bench_drain
tests_bench_bench_drain_SOURCES = tests/bench/bench_drain.c tests/bench/bench.h
tests_bench_bench_drain_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la

bench_programs += tests/bench/bench_snapshot
tests_bench_bench_snapshot_SOURCES = tests/bench/bench_snapshot.c tests/bench/bench.h
tests_bench_bench_snapshot_LDADD = libtrcdrain.la libtrccore.la libtrcunwind.la libtrcformat.la -lpthread

bench_programs += tests/bench/bench_event
tests_bench_bench_event_SOURCES = tests/bench/bench_event.c tests/bench/bench.h
tests_bench_bench_event_LDADD = libtrc.la tests/bench/libempty.la -lpthread

bench_programs += tests/bench/bench_labels
tests_bench_bench_labels_SOURCES = tests/bench/bench_labels.c tests/bench/bench.h
tests_bench_bench_labels_LDADD = libtrc.la -lpthread

bench_programs += tests/bench/bench_create
tests_bench_bench_create_SOURCES = tests/bench/bench_create.c tests/bench/bench.h
tests_bench_bench_create_LDADD = -lpthread

bench_programs += tests/bench/bench_fibers
tests_bench_bench_fibers_SOURCES = tests/bench/bench_fibers.c tests/bench/bench.h
tests_bench_bench_fibers_LDADD = libtrc.la -lpthread

# The empty call to compare with goes into a shared library too.
EXTRA_LTLIBRARIES = tests/bench/libempty.la
tests_bench_libempty_la_SOURCES = tests/bench/bench_empty.c tests/bench/bench.h
tests_bench_libempty_la_LDFLAGS = $(AM_LDFLAGS) -shared -avoid-version -rpath /nonexistent

# Linked with the objects of libtrc, to call what it does not export.
bench_programs += tests/bench/bench_park tests/bench/bench_park_fp
tests_bench_bench_park_SOURCES = tests/bench/bench_park.c tests/bench/bench.h
tests_bench_bench_park_CFLAGS = $(AM_CFLAGS) -O2 -fomit-frame-pointer
tests_bench_bench_park_LDFLAGS = $(AM_LDFLAGS) -static
tests_bench_bench_park_LDADD = libtrc.la -lpthread
tests_bench_bench_park_fp_SOURCES = $(tests_bench_bench_park_SOURCES)
tests_bench_bench_park_fp_CPPFLAGS = $(AM_CPPFLAGS) -DTRC_BENCH_FRAME_POINTERS
tests_bench_bench_park_fp_CFLAGS = $(AM_CFLAGS) -O2 -fno-omit-frame-pointer
tests_bench_bench_park_fp_LDFLAGS = $(AM_LDFLAGS) -static
tests_bench_bench_park_fp_LDADD = libtrc.la -lpthread

bench_programs += tests/bench/bench_threads
tests_bench_bench_threads_SOURCES = tests/bench/bench_threads.c tests/bench/bench.h
tests_bench_bench_threads_LDFLAGS = $(AM_LDFLAGS) -static
tests_bench_bench_threads_LDADD = libtrc.la -lpthread

bench_programs += tests/bench/bench_unwind tests/bench/bench_unwind_fp
tests_bench_bench_unwind_SOURCES = tests/bench/bench_unwind.c tests/bench/bench.h
tests_bench_bench_unwind_CFLAGS = $(AM_CFLAGS) -fomit-frame-pointer
tests_bench_bench_unwind_LDADD = libtrcunwind.la
tests_bench_bench_unwind_fp_SOURCES = $(tests_bench_bench_unwind_SOURCES)
tests_bench_bench_unwind_fp_CFLAGS = $(AM_CFLAGS) -fno-omit-frame-pointer
tests_bench_bench_unwind_fp_LDADD = libtrcunwind.la

if HAVE_LTTNG
bench_programs += tests/bench/bench_lttng
tests_bench_bench_lttng_SOURCES = tests/bench/bench_lttng.c tests/bench/bench_lttng_tp.h tests/bench/bench.h
tests_bench_bench_lttng_CFLAGS = $(AM_CFLAGS) -Wno-conversion -Wno-shadow
tests_bench_bench_lttng_LDADD = -llttng-ust -ldl
endif

bench_programs += tests/bench/bench_format
tests_bench_bench_format_SOURCES = tests/bench/bench_format.c tests/bench/bench.h
tests_bench_bench_format_LDADD = libtrcformat.la -lm

bench_programs += tests/bench/bench_compute
tests_bench_bench_compute_SOURCES = tests/bench/bench_compute.c
tests_bench_bench_compute_LDADD = -lpthread

# With frame pointers, for profilers that need them; with debug information, for those too.
accuracy_cflags = $(TRC_CFLAGS) -g -O2 -fno-omit-frame-pointer
bench_programs += tests/bench/bench_sampling
tests_bench_bench_sampling_SOURCES = tests/bench/bench_sampling.c tests/bench/bench.h
tests_bench_bench_sampling_CFLAGS = $(accuracy_cflags)
tests_bench_bench_sampling_LDADD = -lpthread

bench_programs += tests/bench/bench_heap
tests_bench_bench_heap_SOURCES = tests/bench/bench_heap.c tests/bench/bench.h
tests_bench_bench_heap_CFLAGS = $(accuracy_cflags)
bench_programs += tests/bench/bench_heap_live
tests_bench_bench_heap_live_SOURCES = tests/bench/bench_heap_live.c
tests_bench_bench_heap_live_CFLAGS = $(AM_CFLAGS) -fno-builtin

accuracy_programs = tests/bench/accuracy/concurrent tests/bench/accuracy/serial
tests_bench_accuracy_concurrent_SOURCES = tests/bench/accuracy/concurrent.c tests/bench/accuracy/work.h
tests_bench_accuracy_concurrent_CFLAGS = $(accuracy_cflags)
tests_bench_accuracy_concurrent_LDADD = -lpthread
tests_bench_accuracy_serial_SOURCES = tests/bench/accuracy/serial.c tests/bench/accuracy/work.h
tests_bench_accuracy_serial_CFLAGS = $(accuracy_cflags)

# A test of the analyzer makes traces with it, too.
check_PROGRAMS += tests/bench/gen_trace
tests_bench_gen_trace_SOURCES = tests/bench/gen_trace.c
tests_bench_gen_trace_LDADD = libtrcformat.la

EXTRA_PROGRAMS += $(bench_programs) $(accuracy_programs)
CLEANFILES += $(bench_programs) $(accuracy_programs) tests/bench/libempty.la bench.tsv accuracy.tsv
EXTRA_DIST += tests/bench/run.sh tests/bench/figures.sh tests/bench/measured.sh tests/bench/doublings.sh tests/bench/lttng.sh tests/bench/bench_analyzer.sh \
	tests/bench/heap.sh tests/bench/heap_live.sh tests/bench/sampling.sh tests/bench/short_threads.sh tests/bench/servers.sh \
	tests/bench/viewer.mjs tests/bench/viewer.sh tests/bench/parts.sh \
	tests/bench/accuracy/run.sh tests/bench/accuracy/score.awk
TESTS += tests/bench/accuracy/score_test.sh
EXTRA_DIST += tests/bench/accuracy/score_test.sh

# BENCH=PART... for some of it only
bench: all $(bench_programs) tests/bench/gen_trace tests/integration/mc_load
	$(AM_TESTS_ENVIRONMENT) '$(srcdir)/tests/bench/run.sh' $(BENCH)

# How near CPU profiles come to the truth.  ACCURACY=PROGRAM for one of the two.
accuracy: all $(accuracy_programs)
	$(AM_TESTS_ENVIRONMENT) '$(srcdir)/tests/bench/accuracy/run.sh' $(ACCURACY)
.PHONY: bench accuracy
