# The drain: in trace-record, and in the thread that serves trace_start().
noinst_LTLIBRARIES += libtrcdrain.la
libtrcdrain_la_SOURCES = \
	recorder/drain.c recorder/drain.h recorder/drain_private.h \
	recorder/drain_overflow.c \
	recorder/drain_record.c \
	recorder/drain_tables.c \
	recorder/raw.h
