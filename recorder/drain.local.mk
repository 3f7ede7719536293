# The drain: in trace-record, and in the thread that serves trace_start().
noinst_LTLIBRARIES += libtrcdrain.la
libtrcdrain_la_SOURCES = \
	recorder/drain.c recorder/drain.h recorder/drain_private.h \
	recorder/drain_kernel.c \
	recorder/drain_overflow.c \
	recorder/drain_record.c \
	recorder/drain_tables.c \
	recorder/file_sink.c recorder/file_sink.h \
	recorder/perf_switch.c recorder/perf_switch.h \
	recorder/raw.h \
	recorder/trace_info.c recorder/trace_info.h
