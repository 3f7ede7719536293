# tests/interpose - the interposers, under a fake core and recorded for real
EXTRA_DIST += tests/interpose/lib.sh tests/interpose/same.sh tests/interpose/events.sh \
	tests/interpose/bindings.sh tests/interpose/early.sh

# A sanitizer's runtime wants to be loaded first, and interposes libc itself.
if !SANITIZED
interpose_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nonexistent

check_LTLIBRARIES += tests/interpose/libfakecore.la tests/interpose/libplugin.la \
	tests/interpose/libearly.la tests/interpose/libothermutex.la \
	tests/interpose/libplugincxx.la tests/interpose/libpluginown.la
tests_interpose_libfakecore_la_SOURCES = tests/interpose/fake_core.c tests/interpose/fake_core.h
tests_interpose_libfakecore_la_CFLAGS = $(AM_CFLAGS) -ftls-model=initial-exec
tests_interpose_libfakecore_la_LIBADD = libtrcinterpose.la
tests_interpose_libfakecore_la_LDFLAGS = $(interpose_LDFLAGS) \
	-Wl,--version-script=$(top_srcdir)/recorder/libtrc-preload.map
tests_interpose_libfakecore_la_DEPENDENCIES = libtrcinterpose.la recorder/libtrc-preload.map
tests_interpose_libplugin_la_SOURCES = tests/interpose/plugin.c
tests_interpose_libplugin_la_LDFLAGS = $(interpose_LDFLAGS)
tests_interpose_libplugincxx_la_SOURCES = tests/interpose/plugin_cxx.cc
tests_interpose_libplugincxx_la_LDFLAGS = $(interpose_LDFLAGS)
tests_interpose_libpluginown_la_SOURCES = tests/interpose/plugin_cxx.cc
tests_interpose_libpluginown_la_CPPFLAGS = $(AM_CPPFLAGS) -DOWN_OPERATORS
tests_interpose_libpluginown_la_LDFLAGS = $(interpose_LDFLAGS)
tests_interpose_libothermutex_la_SOURCES = tests/interpose/other_mutex.c
tests_interpose_libothermutex_la_LDFLAGS = $(interpose_LDFLAGS)
tests_interpose_libearly_la_SOURCES = tests/interpose/early.c
tests_interpose_libearly_la_LDFLAGS = $(interpose_LDFLAGS) -Wl,-z,now

interpose_programs = \
	tests/interpose/events \
	tests/interpose/old_cond \
	tests/interpose/same_cxx \
	tests/interpose/same_forked \
	tests/interpose/same_interrupted \
	tests/interpose/same_locks \
	tests/interpose/same_masks \
	tests/interpose/same_plugins \
	tests/interpose/same_process \
	tests/interpose/same_sandbox \
	tests/interpose/same_signals \
	tests/interpose/same_waits \
	tests/interpose/uses_all \
	tests/interpose/uses_fortified \
	tests/interpose/wakers
check_PROGRAMS += $(interpose_programs)
tests_interpose_events_SOURCES = tests/interpose/events.c tests/interpose/blocked.h \
	tests/interpose/fake_core.h tests/interpose/same.h
tests_interpose_wakers_SOURCES = tests/interpose/wakers.c tests/interpose/blocked.h \
	tests/interpose/fake_core.h tests/interpose/same.h
tests_interpose_same_cxx_SOURCES = tests/interpose/same_cxx.cc
tests_interpose_same_forked_SOURCES = tests/interpose/same_forked.c tests/interpose/same.h
tests_interpose_same_interrupted_SOURCES = tests/interpose/same_interrupted.c \
	tests/interpose/same.h
tests_interpose_same_locks_SOURCES = tests/interpose/same_locks.c tests/interpose/same.h
tests_interpose_same_masks_SOURCES = tests/interpose/same_masks.c tests/interpose/same.h
tests_interpose_same_plugins_SOURCES = tests/interpose/same_plugins.c
tests_interpose_same_process_SOURCES = tests/interpose/same_process.c tests/interpose/same.h
tests_interpose_same_sandbox_SOURCES = tests/interpose/same_sandbox.c tests/interpose/same.h
tests_interpose_same_signals_SOURCES = tests/interpose/same_signals.c tests/interpose/same.h
tests_interpose_same_signals_CFLAGS = $(AM_CFLAGS) -fno-stack-protector
tests_interpose_same_waits_SOURCES = tests/interpose/same_waits.c tests/interpose/same.h
tests_interpose_uses_all_SOURCES = tests/interpose/uses_all.c
tests_interpose_uses_all_LDADD = -lstdc++
tests_interpose_uses_all_CPPFLAGS = $(AM_CPPFLAGS) -U_FORTIFY_SOURCE -U_FILE_OFFSET_BITS
tests_interpose_uses_fortified_SOURCES = tests/interpose/uses_fortified.c
tests_interpose_uses_fortified_CFLAGS = $(AM_CFLAGS) -O2
tests_interpose_old_cond_SOURCES = tests/interpose/old_cond.c

TESTS += tests/interpose/same.sh tests/interpose/events.sh tests/interpose/bindings.sh \
	tests/interpose/early.sh
endif
