# tests/recorder/drain, and of shared what takes its libraries
if HAVE_CHECK
check_PROGRAMS += test-cpu-event test-drain test-perf-buffer test-perf-maps test-trigger
TESTS += test-cpu-event test-drain test-perf-buffer test-perf-maps test-trigger
test_cpu_event_SOURCES = tests/recorder/shared/test_cpu_event.c
test_cpu_event_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_cpu_event_LDADD = libtrccore.la libtrcformat.la $(CHECK_LIBS)
test_trigger_SOURCES = tests/recorder/shared/test_trigger.c
test_trigger_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_trigger_LDADD = $(trc_core_test_LIBS)
test_perf_buffer_SOURCES = tests/recorder/drain/test_perf_buffer.c tests/recorder/drain/perf_by_hand.c \
	tests/recorder/drain/perf_deferred.c \
	tests/recorder/drain/perf_samples.c tests/recorder/drain/perf_fixture.c tests/recorder/drain/perf_fixture.h \
	tests/stolen.h
test_perf_buffer_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_perf_buffer_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la $(CHECK_LIBS)
test_perf_maps_SOURCES = tests/recorder/drain/test_perf_maps.c
test_perf_maps_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_perf_maps_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la $(CHECK_LIBS)
test_drain_SOURCES = tests/recorder/drain/test_drain.c tests/recorder/drain/drain_cells.c \
	tests/recorder/drain/drain_first.c \
	tests/recorder/drain/drain_follow.c tests/recorder/drain/drain_ids.c tests/recorder/drain/drain_modules.c \
	tests/recorder/drain/drain_observers.c \
	tests/recorder/drain/drain_fixture.c \
	tests/recorder/drain/drain_fixture.h tests/recorder/drain/fake_ring.c tests/recorder/drain/fake_ring.h
test_drain_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += test-open-waits test-snapshot test-snapshot-live test-snapshot-races test-ring-file
TESTS += test-open-waits test-snapshot test-snapshot-live test-snapshot-races test-ring-file
test_open_waits_SOURCES = tests/recorder/drain/test_open_waits.c tests/recorder/drain/fake_ring.c \
	tests/recorder/drain/fake_ring.h
test_open_waits_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_open_waits_LDADD = libtrcdrain.la libtrccore.la libtrcunwind.la libtrcformat.la $(CHECK_LIBS)
test_snapshot_SOURCES = tests/recorder/drain/test_snapshot.c tests/recorder/drain/snapshot_threads.c \
	tests/recorder/drain/snapshot_fixture.c tests/recorder/drain/snapshot_fixture.h \
	tests/recorder/drain/fake_ring.c tests/recorder/drain/fake_ring.h
test_snapshot_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_snapshot_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la $(CHECK_LIBS)
test_snapshot_live_SOURCES = tests/recorder/drain/test_snapshot_live.c tests/recorder/drain/fake_ring.c \
	tests/recorder/drain/fake_ring.h
test_snapshot_live_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_snapshot_live_LDADD = libtrcdrain.la libtrccore.la libtrcunwind.la libtrcformat.la $(CHECK_LIBS)
test_snapshot_races_SOURCES = tests/recorder/drain/test_snapshot_races.c tests/recorder/drain/fake_ring.c \
	tests/recorder/drain/fake_ring.h
test_snapshot_races_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_snapshot_races_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la $(CHECK_LIBS)
test_ring_file_SOURCES = tests/recorder/drain/test_ring_file.c tests/recorder/drain/fake_ring.c \
	tests/recorder/drain/fake_ring.h
test_ring_file_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_ring_file_LDADD = libtrcdrain.la libtrccore.la libtrcunwind.la libtrcformat.la $(CHECK_LIBS)
test_drain_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la $(CHECK_LIBS) -lm
endif

# The name of the service that a process publishes for OpenTelemetry.
check_PROGRAMS += otel_service_test
TESTS += otel_service_test
otel_service_test_SOURCES = tests/recorder/drain/otel_service_test.c
otel_service_test_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la
