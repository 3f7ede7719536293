# The interposers: a part of libtrc and of libtrc-preload.
noinst_LTLIBRARIES += libtrcinterpose.la
libtrcinterpose_la_SOURCES = \
	recorder/interpose/affinity.c \
	recorder/interpose/affinity.h \
	recorder/interpose/altstack.c \
	recorder/interpose/barrier_once.c \
	recorder/interpose/c11.c \
	recorder/interpose/child.c \
	recorder/interpose/cond.c \
	recorder/interpose/cond.h \
	recorder/interpose/dl.c \
	recorder/interpose/early.c \
	recorder/interpose/exec.c \
	recorder/interpose/file.c \
	recorder/interpose/futex.c \
	recorder/interpose/go.c \
	recorder/interpose/io.c \
	recorder/interpose/libc.h \
	recorder/interpose/malloc.c \
	recorder/interpose/message.c \
	recorder/interpose/mutex.c \
	recorder/interpose/mutex.h \
	recorder/interpose/mutex_inline.c \
	recorder/interpose/mutex_inline.h \
	recorder/interpose/names.h \
	recorder/interpose/operators.c \
	recorder/interpose/operators.h \
	recorder/interpose/poll.c \
	recorder/interpose/process.c \
	recorder/interpose/real.c \
	recorder/interpose/real.h \
	recorder/interpose/restart.c \
	recorder/interpose/restart.h \
	recorder/interpose/rwlock.c \
	recorder/interpose/sandbox.c \
	recorder/interpose/sem.c \
	recorder/interpose/signal.c \
	recorder/interpose/signal.h \
	recorder/interpose/signal_frame.c \
	recorder/interpose/signal_mask.c \
	recorder/interpose/signal_own.c \
	recorder/interpose/signal_own.h \
	recorder/interpose/signal_wait.c \
	recorder/interpose/sleep.c \
	recorder/interpose/socket.c \
	recorder/interpose/span.c \
	recorder/interpose/span.h \
	recorder/interpose/spin.c \
	recorder/interpose/stdio.c \
	recorder/interpose/syscall.c \
	recorder/interpose/syscall.h \
	recorder/interpose/thread.c \
	recorder/interpose/thread.h \
	recorder/interpose/versions.h \
	recorder/interpose/wakers.c \
	recorder/interpose/wakers.h
EXTRA_libtrcinterpose_la_SOURCES = \
	recorder/interpose/affinity.c \
	recorder/interpose/affinity.h \
	recorder/interpose/altstack.c \
	recorder/interpose/thunk_aarch64.S \
	recorder/interpose/thunk_x86_64.S
libtrcinterpose_la_LIBADD = recorder/interpose/thunk_@host_cpu@.lo
libtrcinterpose_la_DEPENDENCIES = $(libtrcinterpose_la_LIBADD)
# Fortified or large-file headers would rename what is defined here.  early.c may not call
# memcpy and its like, and runs before any sanitizer does.
libtrcinterpose_la_CPPFLAGS = $(AM_CPPFLAGS) -U_FORTIFY_SOURCE -U_FILE_OFFSET_BITS -U_TIME_BITS
libtrcinterpose_la_CFLAGS = $(TRC_CFLAGS) $(compile_once) -fexceptions -fasynchronous-unwind-tables \
	-ftls-model=initial-exec -fno-builtin
# automake does not know that the thunks have dependencies of their own.
DISTCLEANFILES = recorder/interpose/$(DEPDIR)/thunk_x86_64.Plo \
	recorder/interpose/$(DEPDIR)/thunk_aarch64.Plo
