# tests/recorder
include tests/recorder/http/local.mk
include tests/recorder/unwind/local.mk

if HAVE_CHECK
trc_core_test_LIBS = libtrccore.la libtrcunwind.la libtrcformat.la $(CHECK_LIBS)

check_PROGRAMS += ring_stress flight_stress tables_test names_met_test api_test trigger_watch_test
TESTS += ring_stress flight_stress tables_test names_met_test api_test trigger_watch_test
stress_workers = tests/recorder/ring/stress_workers.c tests/recorder/ring/stress_workers.h
ring_stress_SOURCES = tests/recorder/ring/ring_stress.c tests/turns.h tests/recorder/ring/ring_reader.c \
	tests/recorder/ring/ring_reader.h $(stress_workers)
ring_stress_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
ring_stress_LDADD = $(trc_core_test_LIBS)
flight_stress_SOURCES = tests/recorder/lib/flight_stress.c $(stress_workers)
flight_stress_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
flight_stress_LDADD = $(trc_core_test_LIBS)
api_test_SOURCES = tests/recorder/lib/api_test.c
api_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
api_test_LDADD = libtrc.la libtrcformat.la $(CHECK_LIBS)
trigger_watch_test_SOURCES = tests/recorder/lib/trigger_watch_test.c
trigger_watch_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
trigger_watch_test_LDADD = libtrcdrain.la $(trc_core_test_LIBS)
tables_test_SOURCES = tests/recorder/ring/tables_test.c
tables_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tables_test_LDADD = $(trc_core_test_LIBS)
check_PROGRAMS += otel_find_test
TESTS += otel_find_test
otel_find_test_SOURCES = tests/recorder/ring/otel_find_test.c
otel_find_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
# The program's variable is in its dynamic symbols; its questions about memory go by the test.
otel_find_test_LDFLAGS = $(AM_LDFLAGS) -export-dynamic -Wl,--wrap=trc_memory_copy -Wl,--wrap=trc_memory_readable
otel_find_test_LDADD = $(trc_core_test_LIBS)
names_met_test_SOURCES = tests/recorder/ring/names_met_test.c
names_met_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
names_met_test_LDADD = $(trc_core_test_LIBS)

check_PROGRAMS += flight_test flight_trigger_test flight_orders
TESTS += flight_test flight_trigger_test flight_orders
trc_flight_test_PARTS = tests/recorder/lib/flight_fixture.c tests/recorder/lib/flight_fixture.h \
	tests/recorder/lib/trace_look.c tests/recorder/lib/trace_look.h
flight_test_SOURCES = tests/recorder/lib/flight_test.c tests/recorder/lib/flight_memory.c \
	tests/recorder/lib/flight_parts.h $(trc_flight_test_PARTS)
flight_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
flight_test_LDADD = libtrc.la libtrcformat.la $(CHECK_LIBS)
flight_trigger_test_SOURCES = tests/recorder/lib/flight_trigger_test.c tests/forks.h \
	$(trc_flight_test_PARTS)
flight_trigger_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
flight_trigger_test_LDADD = libtrc.la libtrcformat.la $(CHECK_LIBS)
flight_orders_SOURCES = tests/recorder/lib/flight_orders.c tests/recorder/lib/trace_look.c \
	tests/recorder/lib/trace_look.h
flight_orders_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
flight_orders_LDADD = libtrcapi.la libtrcdrain.la $(trc_core_test_LIBS)

check_PROGRAMS += sample_test
TESTS += sample_test
sample_test_SOURCES = tests/recorder/sampling/sample_test.c tests/recorder/sampling/sample_by_kernel.c \
	tests/recorder/sampling/sample_refusals.c tests/recorder/sampling/sample_turn.c \
	tests/recorder/sampling/sample_fixture.c \
	tests/recorder/sampling/sample_fixture.h tests/recorder/sampling/counters.h tests/forks.h tests/stolen.h
sample_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
sample_test_LDADD = libtrc.la libtrcformat.la $(CHECK_LIBS)
check_PROGRAMS += offproc_test
TESTS += offproc_test
offproc_test_SOURCES = tests/recorder/ring/offproc_test.c
offproc_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
offproc_test_LDADD = $(trc_core_test_LIBS)
check_PROGRAMS += held_test
TESTS += held_test
held_test_SOURCES = tests/recorder/sampling/held_test.c tests/recorder/sampling/counters.h
held_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
held_test_LDADD = $(trc_core_test_LIBS)

check_PROGRAMS += encode_test
TESTS += encode_test
encode_test_SOURCES = tests/recorder/profile/encode_test.c
encode_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
# libtrcencode.la has libtrcformat.la in it.
encode_test_LDADD = libtrcapi.la libtrcdrain.la libtrccore.la libtrcunwind.la libtrcencode.la $(CHECK_LIBS)

check_PROGRAMS += thread_profile_test
TESTS += thread_profile_test
thread_profile_test_SOURCES = tests/recorder/lib/thread_profile_test.c tests/recorder/lib/thread_profile_asks.c \
	tests/recorder/lib/thread_profile_looks.c \
	tests/recorder/lib/thread_profile_fixture.c tests/recorder/lib/thread_profile_fixture.h tests/stolen.h
thread_profile_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
thread_profile_test_LDADD = libtrcapi.la libtrcdrain.la $(trc_core_test_LIBS)
check_PROGRAMS += recorder_test
TESTS += recorder_test
recorder_test_SOURCES = tests/recorder/lib/recorder_test.c tests/recorder/lib/recorder_beside.c \
	tests/recorder/lib/recorder_fibers.c \
	tests/recorder/lib/recorder_memory.c tests/recorder/lib/recorder_windows.c \
	tests/recorder/lib/recorder_fixture.c tests/recorder/lib/recorder_fixture.h \
	tests/forks.h tests/sanitized.h tests/stolen.h
recorder_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -fno-optimize-sibling-calls -fexceptions
recorder_test_LDADD = libtrc.la $(CHECK_LIBS) -lm

check_PROGRAMS += fold_test
TESTS += fold_test
fold_test_SOURCES = tests/recorder/fold/fold_test.c tests/recorder/fold/fold_fibers.c \
	tests/recorder/fold/fold_losses.c tests/recorder/fold/fold_rates.c \
	tests/recorder/fold/fold_fixture.c tests/recorder/fold/fold_fixture.h
fold_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
fold_test_LDADD = libtrcdrain.la $(trc_core_test_LIBS) -lm

check_PROGRAMS += thread_recorder_test
TESTS += thread_recorder_test
thread_recorder_test_SOURCES = tests/recorder/lib/thread_recorder_test.c
thread_recorder_test_CPPFLAGS = $(AM_CPPFLAGS) \
	-DTHREAD_PLUGIN='"$(abs_builddir)/tests/recorder/guest/.libs/libthreadplugin.so"'
thread_recorder_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
thread_recorder_test_LDADD = libtrc.la $(CHECK_LIBS)
check_LTLIBRARIES += tests/recorder/guest/libthreadplugin.la
tests_recorder_guest_libthreadplugin_la_SOURCES = tests/recorder/guest/thread_plugin.c
tests_recorder_guest_libthreadplugin_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-rpath /nonexistent

check_PROGRAMS += waits_test
TESTS += waits_test
waits_test_SOURCES = tests/recorder/ring/waits_test.c tests/recorder/ring/ring_reader.c \
	tests/recorder/ring/ring_reader.h
waits_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
waits_test_LDADD = $(trc_core_test_LIBS)

check_PROGRAMS += heap_test
TESTS += heap_test
heap_test_SOURCES = tests/recorder/sampling/heap_test.c
heap_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
heap_test_LDADD = $(trc_core_test_LIBS) -lm

check_PROGRAMS += labels_test
TESTS += labels_test
labels_test_SOURCES = tests/recorder/guest/labels_test.c tests/recorder/ring/ring_reader.c \
	tests/recorder/ring/ring_reader.h
labels_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
labels_test_LDADD = $(trc_core_test_LIBS)
check_PROGRAMS += fiber_test
TESTS += fiber_test
fiber_test_SOURCES = tests/recorder/guest/fiber_test.c tests/recorder/guest/fiber_fixture.c \
	tests/recorder/guest/fiber_fixture.h tests/recorder/guest/fiber_regions.c tests/recorder/ring/ring_reader.c \
	tests/recorder/ring/ring_reader.h
fiber_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
fiber_test_LDADD = $(trc_core_test_LIBS)
check_PROGRAMS += closing_test
TESTS += closing_test
closing_test_SOURCES = tests/recorder/guest/closing_test.c tests/recorder/interpose/blocked.h
closing_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
closing_test_LDADD = $(trc_core_test_LIBS)
check_PROGRAMS += serials_test
TESTS += serials_test
serials_test_SOURCES = tests/recorder/guest/serials_test.c
serials_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
serials_test_LDADD = $(trc_core_test_LIBS)
check_PROGRAMS += labels_kept_test
TESTS += labels_kept_test
labels_kept_test_SOURCES = tests/recorder/guest/labels_kept_test.c
labels_kept_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
labels_kept_test_LDADD = $(trc_core_test_LIBS)

check_PROGRAMS += labels_use_test
TESTS += labels_use_test
labels_use_test_SOURCES = tests/recorder/guest/labels_use_test.c
labels_use_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -fexceptions
labels_use_test_LDADD = libtrc.la libtrcformat.la $(CHECK_LIBS)
endif

check_PROGRAMS += tests/recorder/ring/ring_trace tests/recorder/guest/crash_program
tests_recorder_ring_ring_trace_SOURCES = tests/recorder/ring/ring_trace.c
tests_recorder_ring_ring_trace_LDADD = libtrcdrain.la libtrccore.la libtrcunwind.la libtrcformat.la
tests_recorder_guest_crash_program_SOURCES = tests/recorder/guest/crash_program.c
tests_recorder_guest_crash_program_CFLAGS = $(AM_CFLAGS) -fno-stack-protector -fno-optimize-sibling-calls
tests_recorder_guest_crash_program_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_recorder_guest_crash_program_LDADD = libtrc.la -lpthread
TESTS += tests/recorder/guest/crash.sh
EXTRA_DIST += tests/recorder/guest/crash.sh

check_PROGRAMS += tests/recorder/guest/descriptors_program
tests_recorder_guest_descriptors_program_SOURCES = tests/recorder/guest/descriptors_program.c \
	tests/recorder/interpose/blocked.h
tests_recorder_guest_descriptors_program_LDADD = -lpthread
TESTS += tests/recorder/guest/descriptors.sh
EXTRA_DIST += tests/recorder/guest/descriptors.sh

# The fields of struct rseq that are the kernel's.
check_PROGRAMS += tests/recorder/ring/rseq_area
tests_recorder_ring_rseq_area_SOURCES = tests/recorder/ring/rseq_area.c
tests_recorder_ring_rseq_area_LDADD = -lpthread
TESTS += tests/recorder/ring/rseq_area.sh
EXTRA_DIST += tests/recorder/ring/rseq_area.sh

# System calls between the taking of a lock and its release.
check_PROGRAMS += tests/recorder/interpose/section_calls
tests_recorder_interpose_section_calls_SOURCES = tests/recorder/interpose/section_calls.c
tests_recorder_interpose_section_calls_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_recorder_interpose_section_calls_LDADD = libtrc.la -lpthread
TESTS += tests/recorder/interpose/section_calls.sh
EXTRA_DIST += tests/recorder/interpose/section_calls.sh

# OpenTelemetry contexts: of the program itself, and of objects that it opens.
check_PROGRAMS += tests/recorder/guest/otel_program tests/recorder/guest/otel_opener
tests_recorder_guest_otel_program_SOURCES = tests/recorder/guest/otel_program.c tests/recorder/interpose/blocked.h
tests_recorder_guest_otel_program_LDFLAGS = $(AM_LDFLAGS) -export-dynamic -no-install
tests_recorder_guest_otel_program_LDADD = -lpthread
tests_recorder_guest_otel_opener_SOURCES = tests/recorder/guest/otel_program.c tests/recorder/interpose/blocked.h
tests_recorder_guest_otel_opener_CPPFLAGS = $(AM_CPPFLAGS) -DWITHOUT_VARIABLE
tests_recorder_guest_otel_opener_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_recorder_guest_otel_opener_LDADD = -lpthread -ldl
otel_plugin_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nonexistent
check_LTLIBRARIES += tests/recorder/guest/libotelplugin.la tests/recorder/guest/libotelpluginstatic.la \
	tests/recorder/guest/libotelpluginother.la
tests_recorder_guest_libotelplugin_la_SOURCES = tests/recorder/guest/otel_plugin.c
tests_recorder_guest_libotelplugin_la_LDFLAGS = $(otel_plugin_LDFLAGS)
tests_recorder_guest_libotelpluginstatic_la_SOURCES = tests/recorder/guest/otel_plugin.c
tests_recorder_guest_libotelpluginstatic_la_CFLAGS = $(AM_CFLAGS) -ftls-model=initial-exec
tests_recorder_guest_libotelpluginstatic_la_LDFLAGS = $(otel_plugin_LDFLAGS)
tests_recorder_guest_libotelpluginother_la_SOURCES = tests/recorder/guest/otel_plugin.c
tests_recorder_guest_libotelpluginother_la_CPPFLAGS = $(AM_CPPFLAGS) -DWITHOUT_VARIABLE
tests_recorder_guest_libotelpluginother_la_LDFLAGS = $(otel_plugin_LDFLAGS)
TESTS += tests/recorder/guest/otel.sh
EXTRA_DIST += tests/recorder/guest/otel.sh

check_PROGRAMS += tests/recorder/guest/labels_program
tests_recorder_guest_labels_program_SOURCES = tests/recorder/guest/labels_program.cc
tests_recorder_guest_labels_program_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_recorder_guest_labels_program_LDADD = libtrc.la -lpthread
TESTS += tests/recorder/guest/labels.sh
EXTRA_DIST += tests/recorder/guest/labels.sh

# Names and labels that come again.
check_PROGRAMS += tests/recorder/guest/met_program
tests_recorder_guest_met_program_SOURCES = tests/recorder/guest/met_program.c
tests_recorder_guest_met_program_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_recorder_guest_met_program_LDADD = libtrc.la -lpthread
TESTS += tests/recorder/guest/met.sh
EXTRA_DIST += tests/recorder/guest/met.sh

check_PROGRAMS += tests/recorder/guest/fiber_program
tests_recorder_guest_fiber_program_SOURCES = tests/recorder/guest/fiber_program.c
tests_recorder_guest_fiber_program_CFLAGS = $(AM_CFLAGS) -fexceptions -fno-omit-frame-pointer -fno-optimize-sibling-calls
tests_recorder_guest_fiber_program_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_recorder_guest_fiber_program_LDADD = libtrc.la -lpthread
TESTS += tests/recorder/guest/fibers.sh
EXTRA_DIST += tests/recorder/guest/fibers.sh

# A fold beside the analyzer.
check_PROGRAMS += tests/recorder/fold/fold_compare
tests_recorder_fold_fold_compare_SOURCES = tests/recorder/fold/fold_compare.c \
	tests/recorder/fold/fold_replay.c tests/recorder/fold/fold_replay.h
tests_recorder_fold_fold_compare_LDADD = libtrcanalyze.la libtrcdrain.la libtrcformat.la
if HAVE_CHECK
check_PROGRAMS += fold_random_test
TESTS += fold_random_test
fold_random_test_SOURCES = tests/recorder/fold/fold_random_test.c \
	tests/recorder/fold/fold_replay.c tests/recorder/fold/fold_replay.h
fold_random_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
fold_random_test_LDADD = libtrcmodelfixture.la libtrcdrain.la libtrcformat.la $(CHECK_LIBS)
endif
