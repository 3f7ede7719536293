# tests/recorder/tool: trace-record
if HAVE_CHECK
check_PROGRAMS += test-procs
TESTS += test-procs
test_procs_SOURCES = tests/recorder/tool/test_procs.c recorder/tool/procs.c \
	recorder/tool/procs.h
test_procs_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_procs_LDADD = $(CHECK_LIBS)
endif

check_PROGRAMS += tests/recorder/tool/guest tests/recorder/tool/trace_dump tests/recorder/tool/no_perf \
	tests/recorder/tool/on_terminal tests/recorder/tool/flight_guest tests/recorder/tool/limited tests/recorder/tool/own_calls \
	tests/recorder/tool/exec_ways
tests_recorder_tool_exec_ways_SOURCES = tests/recorder/tool/exec_ways.c
tests_recorder_tool_own_calls_SOURCES = tests/recorder/tool/own_calls.c
tests_recorder_tool_own_calls_CFLAGS = $(AM_CFLAGS) -fno-builtin
tests_recorder_tool_own_calls_LDADD = -lpthread
tests_recorder_tool_limited_SOURCES = tests/recorder/tool/limited.c
tests_recorder_tool_limited_LDADD = -lpthread
tests_recorder_tool_flight_guest_SOURCES = tests/recorder/tool/flight_guest.c
tests_recorder_tool_flight_guest_LDADD = libtrc.la -lpthread
tests_recorder_tool_flight_guest_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_recorder_tool_guest_SOURCES = tests/recorder/tool/guest.c
tests_recorder_tool_guest_LDADD = libtrc.la -lpthread
tests_recorder_tool_guest_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_recorder_tool_trace_dump_SOURCES = tests/recorder/tool/trace_dump.c
tests_recorder_tool_trace_dump_LDADD = libtrcformat.la
tests_recorder_tool_no_perf_SOURCES = tests/recorder/tool/no_perf.c
tests_recorder_tool_on_terminal_SOURCES = tests/recorder/tool/on_terminal.c
tests_recorder_tool_on_terminal_LDADD = -lutil
TESTS += tests/recorder/tool/exec_env.sh tests/recorder/tool/trace_record.sh tests/recorder/tool/flight.sh tests/recorder/tool/sampling.sh tests/recorder/tool/limits.sh tests/recorder/tool/valgrind.sh tests/recorder/tool/sanitized.sh tests/recorder/tool/self_test.sh
EXTRA_DIST += tests/recorder/tool/exec_env.sh tests/recorder/tool/self_test.sh tests/recorder/tool/limits.sh tests/recorder/tool/valgrind.sh tests/recorder/tool/sanitized.sh tests/recorder/tool/sampling.sh tests/recorder/tool/lib.sh tests/recorder/tool/trace_record.sh tests/recorder/tool/flight.sh
