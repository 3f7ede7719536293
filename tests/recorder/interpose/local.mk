# tests/recorder/interpose - the interposers, under a fake core and recorded for real
EXTRA_DIST += tests/recorder/interpose/lib.sh tests/recorder/interpose/same.sh tests/recorder/interpose/events.sh \
	tests/recorder/interpose/bindings.sh tests/recorder/interpose/early.sh

# A sanitizer's runtime wants to be loaded first, and interposes libc itself.
if !SANITIZED
interpose_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nonexistent

check_LTLIBRARIES += tests/recorder/interpose/libfakecore.la tests/recorder/interpose/libplugin.la \
	tests/recorder/interpose/libearly.la tests/recorder/interpose/libothermutex.la \
	tests/recorder/interpose/libplugincxx.la tests/recorder/interpose/libpluginown.la
tests_recorder_interpose_libfakecore_la_SOURCES = tests/recorder/interpose/fake_core.c tests/recorder/interpose/fake_core.h
tests_recorder_interpose_libfakecore_la_CFLAGS = $(AM_CFLAGS) -ftls-model=initial-exec
tests_recorder_interpose_libfakecore_la_LIBADD = libtrcinterpose.la
tests_recorder_interpose_libfakecore_la_LDFLAGS = $(interpose_LDFLAGS) \
	-Wl,--version-script=$(top_srcdir)/recorder/libtrc-preload.map
tests_recorder_interpose_libfakecore_la_DEPENDENCIES = libtrcinterpose.la recorder/libtrc-preload.map
tests_recorder_interpose_libplugin_la_SOURCES = tests/recorder/interpose/plugin.c
tests_recorder_interpose_libplugin_la_LDFLAGS = $(interpose_LDFLAGS)
tests_recorder_interpose_libplugincxx_la_SOURCES = tests/recorder/interpose/plugin_cxx.cc
tests_recorder_interpose_libplugincxx_la_LDFLAGS = $(interpose_LDFLAGS)
tests_recorder_interpose_libpluginown_la_SOURCES = tests/recorder/interpose/plugin_cxx.cc
tests_recorder_interpose_libpluginown_la_CPPFLAGS = $(AM_CPPFLAGS) -DOWN_OPERATORS
tests_recorder_interpose_libpluginown_la_LDFLAGS = $(interpose_LDFLAGS)
tests_recorder_interpose_libothermutex_la_SOURCES = tests/recorder/interpose/other_mutex.c
tests_recorder_interpose_libothermutex_la_LDFLAGS = $(interpose_LDFLAGS)
tests_recorder_interpose_libearly_la_SOURCES = tests/recorder/interpose/early.c
tests_recorder_interpose_libearly_la_LDFLAGS = $(interpose_LDFLAGS) -Wl,-z,now

interpose_programs = \
	tests/recorder/interpose/events \
	tests/recorder/interpose/old_cond \
	tests/recorder/interpose/same_cxx \
	tests/recorder/interpose/same_forked \
	tests/recorder/interpose/same_interrupted \
	tests/recorder/interpose/same_locks \
	tests/recorder/interpose/same_masks \
	tests/recorder/interpose/same_plugins \
	tests/recorder/interpose/same_process \
	tests/recorder/interpose/same_sandbox \
	tests/recorder/interpose/same_signals \
	tests/recorder/interpose/same_waits \
	tests/recorder/interpose/uses_all \
	tests/recorder/interpose/uses_fortified \
	tests/recorder/interpose/wakers
check_PROGRAMS += $(interpose_programs)
tests_recorder_interpose_events_SOURCES = tests/recorder/interpose/events.c tests/recorder/interpose/blocked.h \
	tests/recorder/interpose/fake_core.h tests/recorder/interpose/same.h
tests_recorder_interpose_wakers_SOURCES = tests/recorder/interpose/wakers.c tests/recorder/interpose/blocked.h \
	tests/recorder/interpose/fake_core.h tests/recorder/interpose/same.h
tests_recorder_interpose_same_cxx_SOURCES = tests/recorder/interpose/same_cxx.cc
tests_recorder_interpose_same_forked_SOURCES = tests/recorder/interpose/same_forked.c tests/recorder/interpose/same.h
tests_recorder_interpose_same_interrupted_SOURCES = tests/recorder/interpose/same_interrupted.c \
	tests/recorder/interpose/same.h
tests_recorder_interpose_same_locks_SOURCES = tests/recorder/interpose/same_locks.c tests/recorder/interpose/same.h
tests_recorder_interpose_same_masks_SOURCES = tests/recorder/interpose/same_masks.c tests/recorder/interpose/same.h
tests_recorder_interpose_same_plugins_SOURCES = tests/recorder/interpose/same_plugins.c
tests_recorder_interpose_same_process_SOURCES = tests/recorder/interpose/same_process.c tests/recorder/interpose/same.h
tests_recorder_interpose_same_sandbox_SOURCES = tests/recorder/interpose/same_sandbox.c tests/recorder/interpose/same.h
tests_recorder_interpose_same_signals_SOURCES = tests/recorder/interpose/same_signals.c tests/recorder/interpose/same.h
tests_recorder_interpose_same_signals_CFLAGS = $(AM_CFLAGS) -fno-stack-protector
tests_recorder_interpose_same_waits_SOURCES = tests/recorder/interpose/same_waits.c tests/recorder/interpose/same.h
tests_recorder_interpose_uses_all_SOURCES = tests/recorder/interpose/uses_all.c
tests_recorder_interpose_uses_all_LDADD = -lstdc++
tests_recorder_interpose_uses_all_CPPFLAGS = $(AM_CPPFLAGS) -U_FORTIFY_SOURCE -U_FILE_OFFSET_BITS
tests_recorder_interpose_uses_fortified_SOURCES = tests/recorder/interpose/uses_fortified.c
tests_recorder_interpose_uses_fortified_CFLAGS = $(AM_CFLAGS) -O2
tests_recorder_interpose_old_cond_SOURCES = tests/recorder/interpose/old_cond.c

TESTS += tests/recorder/interpose/same.sh tests/recorder/interpose/events.sh tests/recorder/interpose/bindings.sh \
	tests/recorder/interpose/early.sh
endif
