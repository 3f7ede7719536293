# tests/record: the drain, and trace-record
if HAVE_CHECK
check_PROGRAMS += test-cpu-event test-drain test-perf-buffer test-perf-maps test-procs test-trigger
TESTS += test-cpu-event test-drain test-perf-buffer test-perf-maps test-procs test-trigger
test_cpu_event_SOURCES = tests/record/test_cpu_event.c
test_cpu_event_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_cpu_event_LDADD = libtrccore.la libtrcformat.la $(CHECK_LIBS)
test_procs_SOURCES = tests/record/test_procs.c recorder/tool/procs.c \
	recorder/tool/procs.h
test_procs_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_procs_LDADD = $(CHECK_LIBS)
test_trigger_SOURCES = tests/record/test_trigger.c
test_trigger_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_trigger_LDADD = $(trc_core_test_LIBS)
test_perf_buffer_SOURCES = tests/record/test_perf_buffer.c tests/record/perf_by_hand.c \
	tests/record/perf_samples.c tests/record/perf_fixture.c tests/record/perf_fixture.h \
	tests/stolen.h
test_perf_buffer_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_perf_buffer_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la $(CHECK_LIBS)
test_perf_maps_SOURCES = tests/record/test_perf_maps.c
test_perf_maps_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_perf_maps_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la $(CHECK_LIBS)
test_drain_SOURCES = tests/record/test_drain.c tests/record/drain_cells.c \
	tests/record/drain_follow.c tests/record/drain_ids.c tests/record/drain_observers.c \
	tests/record/drain_fixture.c \
	tests/record/drain_fixture.h tests/record/fake_ring.c tests/record/fake_ring.h
test_drain_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += test-snapshot test-snapshot-live test-snapshot-races test-ring-file
TESTS += test-snapshot test-snapshot-live test-snapshot-races test-ring-file
test_snapshot_SOURCES = tests/record/test_snapshot.c tests/record/fake_ring.c \
	tests/record/fake_ring.h
test_snapshot_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_snapshot_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la $(CHECK_LIBS)
test_snapshot_live_SOURCES = tests/record/test_snapshot_live.c tests/record/fake_ring.c \
	tests/record/fake_ring.h
test_snapshot_live_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_snapshot_live_LDADD = libtrcdrain.la libtrccore.la libtrcunwind.la libtrcformat.la $(CHECK_LIBS)
test_snapshot_races_SOURCES = tests/record/test_snapshot_races.c tests/record/fake_ring.c \
	tests/record/fake_ring.h
test_snapshot_races_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_snapshot_races_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la $(CHECK_LIBS)
test_ring_file_SOURCES = tests/record/test_ring_file.c tests/record/fake_ring.c \
	tests/record/fake_ring.h
test_ring_file_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_ring_file_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la $(CHECK_LIBS)
test_drain_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la $(CHECK_LIBS)
endif

check_PROGRAMS += tests/record/guest tests/record/trace_dump tests/record/no_perf \
	tests/record/on_terminal tests/record/flight_guest tests/record/limited tests/record/own_calls
tests_record_own_calls_SOURCES = tests/record/own_calls.c
tests_record_own_calls_CFLAGS = $(AM_CFLAGS) -fno-builtin
tests_record_own_calls_LDADD = -lpthread
tests_record_limited_SOURCES = tests/record/limited.c
tests_record_limited_LDADD = -lpthread
tests_record_flight_guest_SOURCES = tests/record/flight_guest.c
tests_record_flight_guest_LDADD = libtrc.la -lpthread
tests_record_flight_guest_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_record_guest_SOURCES = tests/record/guest.c
tests_record_guest_LDADD = libtrc.la -lpthread
tests_record_guest_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_record_trace_dump_SOURCES = tests/record/trace_dump.c
tests_record_trace_dump_LDADD = libtrcformat.la
tests_record_no_perf_SOURCES = tests/record/no_perf.c
tests_record_on_terminal_SOURCES = tests/record/on_terminal.c
tests_record_on_terminal_LDADD = -lutil
TESTS += tests/record/trace_record.sh tests/record/flight.sh tests/record/sampling.sh tests/record/limits.sh tests/record/valgrind.sh tests/record/sanitized.sh
EXTRA_DIST += tests/record/limits.sh tests/record/valgrind.sh tests/record/sanitized.sh tests/record/sampling.sh tests/record/lib.sh tests/record/trace_record.sh tests/record/flight.sh
