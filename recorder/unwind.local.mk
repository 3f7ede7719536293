# The unwinder: stands alone, so that its tests and bench need nothing else of the recorder.
noinst_LTLIBRARIES += libtrcunwind.la
libtrcunwind_la_SOURCES = recorder/unwind.h recorder/unwind.c recorder/unwind_setup.c \
	recorder/unwind_mode.h recorder/unwind_walk.h recorder/unwind_walk.c \
	recorder/unwind_context.h recorder/unwind_cache.h recorder/unwind_cache.c \
	recorder/unwind_rule.h recorder/unwind_cfi.h recorder/unwind_cfi.c \
	recorder/unwind_expr.h recorder/unwind_expr.c \
	recorder/unwind_memory.h recorder/valgrind.h recorder/unwind_memory.c \
	recorder/unwind_module.h recorder/unwind_module.c
