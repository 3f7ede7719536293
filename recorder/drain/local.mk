# The drain: in trace-record, and in the thread that serves trace_start().
noinst_LTLIBRARIES += libtrcdrain.la
libtrcdrain_la_SOURCES = \
	recorder/shared/copy_racing.h recorder/drain/drain.c recorder/drain/drain.h recorder/drain/private.h \
	recorder/drain/kernel.c \
	recorder/drain/overflow.c \
	recorder/drain/record.c \
	recorder/drain/sample.c \
	recorder/drain/tables.c \
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
	recorder/drain/perf_buffer.c recorder/drain/perf_buffer.h recorder/drain/perf_buffer_private.h \
	recorder/drain/perf_buffer_maps.c \
	recorder/drain/perf_buffer_read.c \
	recorder/drain/perf_buffer_record.c \
	recorder/drain/perf_maps.c recorder/drain/perf_maps.h \
	recorder/drain/ring_file.c recorder/drain/ring_file.h \
	recorder/drain/ring_owner.c recorder/drain/ring_owner.h \
	recorder/drain/snapshot.c recorder/drain/snapshot.h recorder/drain/snapshot_private.h \
	recorder/drain/snapshot_copy.c \
	recorder/drain/snapshot_count.c \
	recorder/drain/trace_info.c recorder/drain/trace_info.h \
	recorder/drain/trigger_watch.c recorder/drain/trigger_watch.h

bin_PROGRAMS += recorder/trace-record
recorder_trace_record_SOURCES = \
	recorder/remote_stack.c recorder/remote_stack.h \
	recorder/trace_record.c recorder/trace_record.h \
	recorder/trace_record_child.c \
	recorder/trace_record_clean.c \
	recorder/trace_record_dir.c \
	recorder/trace_record_due.c \
	recorder/trace_record_flight.c recorder/trace_record_flight.h \
	recorder/trace_record_follow.c recorder/trace_record_follow.h \
	recorder/trace_record_http.c recorder/trace_record_http.h \
	recorder/trace_record_http_profiles.c \
	recorder/trace_record_http_threads.c \
	recorder/trace_record_list.c \
	recorder/trace_record_options.c \
	recorder/trace_record_process.c \
	recorder/trace_record_procs.c recorder/trace_record_procs.h \
	recorder/trace_record_sampling.c \
	recorder/trace_record_session.c recorder/trace_record_session.h \
	recorder/trace_record_status.c \
	recorder/trace_record_snapshot.c recorder/trace_record_snapshot.h \
	recorder/trace_record_summary.c \
	recorder/trace_record_tids.c recorder/trace_record_tids.h \
	recorder/trace_record_unrecorded.c \
	recorder/trace_record_take.c \
	recorder/trace_record_needed.c \
	recorder/trace_record_target.c
# What encodes profiles and opens what serves them: the same as in libtrc.
recorder_trace_record_SOURCES += \
	recorder/profile/http_names.c \
	recorder/guest/own_thread_create.c \
	recorder/profile/part.c \
	recorder/profile/describe.c \
	recorder/profile/write.c \
	recorder/profile/thread_resolve.c \
	recorder/profile/thread_samples.c \
	recorder/profile/thread_text.c
recorder_trace_record_CPPFLAGS = $(AM_CPPFLAGS) -DTRC_PKGLIBDIR='"$(pkglibdir)"'
recorder_trace_record_LDADD = libtrcdrain.la libtrccore.la libtrcunwind.la libtrcformat.la
