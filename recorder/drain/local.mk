# The drain: in trace-record, and in the thread that serves trace_start().
noinst_LTLIBRARIES += libtrcdrain.la
libtrcdrain_la_SOURCES = \
	recorder/shared/copy_racing.h recorder/drain/drain.c recorder/drain/drain.h recorder/drain/private.h \
	recorder/drain/first_samples.c \
	recorder/drain/kernel.c \
	recorder/drain/open.c \
	recorder/drain/otel_service.c recorder/drain/otel_service.h recorder/drain/otel_service_ask.c \
	recorder/drain/overflow.c \
	recorder/drain/record.c \
	recorder/drain/sample.c \
	recorder/drain/starts.c \
	recorder/drain/tables.c \
	recorder/drain/threads.c \
	recorder/drain/window.c \
	recorder/fold/fold.c recorder/fold/fold.h recorder/fold/private.h \
	recorder/fold/copy.c \
	recorder/fold/fibers.c \
	recorder/fold/intern.c \
	recorder/fold/locks.c \
	recorder/fold/queue.c \
	recorder/fold/samples.c \
	recorder/fold/table.c \
	recorder/fold/view.c \
	recorder/fold/waits.c \
	recorder/drain/leftovers.c recorder/drain/leftovers.h \
	recorder/drain/open_waits.c recorder/drain/open_waits.h \
	recorder/drain/perf_buffer.c recorder/drain/perf_buffer.h recorder/drain/perf_buffer_private.h \
	recorder/drain/perf_buffer_counters.c \
	recorder/drain/perf_buffer_deferred.c \
	recorder/drain/perf_buffer_maps.c \
	recorder/drain/perf_buffer_read.c \
	recorder/drain/perf_buffer_record.c \
	recorder/drain/perf_maps.c recorder/drain/perf_maps.h \
	recorder/drain/remote_sockets.c recorder/drain/remote_sockets.h \
	recorder/drain/remote_stack.c recorder/drain/remote_stack.h \
	recorder/drain/ring_file.c recorder/drain/ring_file.h \
	recorder/drain/ring_owner.c recorder/drain/ring_owner.h \
	recorder/drain/snapshot.c recorder/drain/snapshot.h recorder/drain/snapshot_private.h \
	recorder/drain/snapshot_copy.c \
	recorder/drain/snapshot_count.c \
	recorder/drain/snapshot_write.c \
	recorder/drain/title.c recorder/drain/title.h recorder/drain/trace_info.c recorder/drain/trace_info.h \
	recorder/drain/trigger_watch.c recorder/drain/trigger_watch.h
libtrcdrain_la_CFLAGS = $(AM_CFLAGS) $(compile_once)

bin_PROGRAMS += recorder/trace-record
recorder_trace_record_SOURCES = \
	recorder/tool/main.c recorder/tool/tool.h \
	recorder/tool/child.c \
	recorder/tool/clean.c \
	recorder/tool/dir.c \
	recorder/tool/due.c \
	recorder/tool/flight.c recorder/tool/flight.h \
	recorder/tool/follow.c recorder/tool/follow.h \
	recorder/tool/http.c recorder/tool/http.h \
	recorder/tool/http_profiles.c \
	recorder/tool/http_threads.c \
	recorder/tool/list.c \
	recorder/tool/noted_waits.c recorder/tool/noted_waits.h \
	recorder/tool/options.c \
	recorder/tool/process.c \
	recorder/tool/record.c \
	recorder/tool/procs.c recorder/tool/procs.h \
	recorder/tool/sampling.c \
	recorder/tool/self_test.c recorder/tool/self_test.h \
	recorder/tool/self_test_program.c \
	recorder/tool/self_test_read.c \
	recorder/tool/found.c \
	recorder/tool/session.c recorder/tool/session.h recorder/tool/session_private.h \
	recorder/tool/status.c \
	recorder/tool/snapshot.c recorder/tool/snapshot.h \
	recorder/tool/summary.c \
	recorder/tool/tids.c recorder/tool/tids.h \
	recorder/tool/unrecorded.c \
	recorder/tool/take.c \
	recorder/tool/needed.c \
	recorder/tool/target.c
# What encodes profiles and opens what serves them: the same as in libtrc.
recorder_trace_record_SOURCES += \
	recorder/profile/http_kinds.c \
	recorder/profile/http_names.c \
	recorder/guest/own_thread_create.c \
	recorder/profile/encode_load.c \
	recorder/profile/part.c \
	recorder/profile/describe.c \
	recorder/profile/write.c \
	recorder/profile/thread_resolve.c \
	recorder/profile/thread_samples.c \
	recorder/profile/thread_text.c
recorder_trace_record_CPPFLAGS = $(AM_CPPFLAGS) -DTRC_PKGLIBDIR='"$(pkglibdir)"'
recorder_trace_record_LDADD = libtrcdrain.la libtrccore.la libtrcunwind.la libtrcformat.la
