# The unwinder: stands alone, so that its tests and bench need nothing else of the recorder.
noinst_LTLIBRARIES += libtrcunwind.la
libtrcunwind_la_SOURCES = recorder/unwind/unwind.h recorder/unwind/unwind.c recorder/unwind/setup.c \
	recorder/unwind/mode.h recorder/unwind/walk.h recorder/unwind/walk.c \
	recorder/unwind/context.h recorder/unwind/cache.h recorder/unwind/cache.c \
	recorder/unwind/rule.h recorder/unwind/cfi.h recorder/unwind/cfi.c \
	recorder/unwind/expr.h recorder/unwind/expr.c \
	recorder/unwind/kept.h recorder/unwind/kept.c \
	recorder/unwind/memory.h recorder/unwind/valgrind.h recorder/unwind/memory.c \
	recorder/unwind/module.h recorder/unwind/module.c \
	recorder/unwind/sframe.h recorder/unwind/sframe.c
libtrcunwind_la_CFLAGS = $(AM_CFLAGS) $(compile_once)
