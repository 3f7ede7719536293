# recorder: libtrc, libtrc-preload, trace-record
include recorder/unwind/local.mk
include recorder/drain/local.mk
include recorder/interpose/local.mk

trcincludedir = $(includedir)/trc
trcinclude_HEADERS = recorder/include/trc/fiber.h recorder/include/trc/http.h recorder/include/trc/labels.h \
	recorder/include/trc/recorder.h recorder/include/trc/trace.h

# What records: in both objects.
noinst_LTLIBRARIES += libtrccore.la
libtrccore_la_SOURCES = \
	recorder/ring/annotate.c recorder/ring/annotate.h recorder/ring/annotate_inline.h \
	recorder/ring/content_hash.h recorder/ring/names_met.c recorder/ring/names_met.h \
	recorder/shared/clock.c recorder/shared/clock.h \
	recorder/shared/cpu_event.c recorder/shared/cpu_event.h \
	recorder/shared/cpu_event_settle.c \
	recorder/sampling/cpu_profile.c recorder/sampling/cpu_profile.h \
	recorder/guest/crash.c recorder/shared/signals.h \
	recorder/shared/descriptor_name.c recorder/shared/descriptor_name.h \
	recorder/guest/descriptor.c recorder/guest/descriptor.h recorder/guest/descriptor_text.c \
	recorder/guest/emit.c \
	recorder/guest/signalled.c \
	recorder/ring/waiters.c recorder/ring/waiters.h \
	recorder/guest/closing.c recorder/guest/closing.h \
	recorder/guest/fiber.c recorder/guest/fiber.h recorder/guest/fiber_switch.c \
	recorder/shared/elf_loader.h \
	recorder/guest/exec_target.c recorder/guest/exec_target.h \
	recorder/guest/fork.c recorder/guest/fork.h \
	recorder/guest/give_up.c \
	recorder/sampling/heap.c recorder/sampling/heap.h recorder/sampling/heap_draw.h \
	recorder/sampling/heap_table.c recorder/sampling/heap_table.h \
	recorder/sampling/heap_users.c \
	recorder/ring/hot.h recorder/ring/rec.h recorder/unwind/poison.h \
	recorder/guest/labels.c recorder/guest/labels.h recorder/shared/labels_bytes.h recorder/guest/labels_set.c \
	recorder/guest/labels_kept.c \
	recorder/shared/layout.c recorder/shared/layout.h recorder/shared/slot_look.h \
	recorder/guest/modules.c \
	recorder/ring/offproc.c recorder/ring/offproc.h \
	recorder/shared/one_line.h recorder/shared/power_of_two.h recorder/shared/text.h \
	recorder/ring/otel.c recorder/ring/otel.h recorder/ring/otel_find.c \
	recorder/ring/overflow.c \
	recorder/ring/ring.c recorder/ring/ring_inline.h recorder/ring/rseq_x86_64.h recorder/ring/rseq_aarch64.h \
	recorder/shared/pid_namespace.c recorder/shared/pid_namespace.h \
	recorder/shared/boot_id.c recorder/shared/boot_id.h \
	recorder/ring/room.c \
	recorder/guest/runtime.c recorder/guest/runtime.h \
	recorder/shared/seccomp_filters.c recorder/shared/seccomp_filters.h \
	recorder/sampling/sample.c recorder/sampling/sample.h recorder/sampling/sample_private.h \
	recorder/sampling/sample_account.c \
	recorder/sampling/sample_arm.c \
	recorder/sampling/sample_signal.c \
	recorder/sampling/sample_table.c recorder/sampling/sample_table.h \
	recorder/sampling/sample_turn.c \
	recorder/sampling/samplers.c \
	recorder/guest/session.c recorder/guest/session.h recorder/guest/session_options.c \
	recorder/ring/share.c recorder/ring/share.h \
	recorder/ring/slot_inline.h \
	recorder/ring/tables.c \
	recorder/sampling/task_list.c recorder/sampling/task_list.h \
	recorder/sampling/thread_answer.c recorder/sampling/thread_answer.h \
	recorder/guest/threads.c \
	recorder/shared/trigger.c recorder/shared/trigger.h \
	recorder/guest/trigger_guest.c
libtrccore_la_CFLAGS = $(AM_CFLAGS) $(compile_once) -ftls-model=initial-exec

# clang leaves a sanitizer's own symbols to the program.
if !SANITIZED
trc_no_undefined = -Wl,-z,defs
endif

# For programs that start and annotate traces themselves.
# The public functions apart from what is interposed, so that tests can have them alone.
noinst_LTLIBRARIES += libtrcapi.la
libtrcapi_la_SOURCES = \
	recorder/lib/api.c \
	recorder/lib/drain_thread.c recorder/lib/drain_thread.h \
	recorder/profile/encode.h \
	recorder/profile/encode_load.c \
	recorder/profile/encode_modules.c \
	recorder/lib/fiber_api.c \
	recorder/lib/flight.c \
	recorder/lib/flight_thread.c recorder/lib/flight_thread.h \
	recorder/lib/flight_write.c recorder/lib/flight_write.h \
	recorder/lib/labels_api.c \
	recorder/lib/own_waits.c recorder/lib/own_waits.h \
	recorder/guest/own_thread.c recorder/guest/own_thread.h \
	recorder/guest/own_thread_create.c \
	recorder/profile/part.c recorder/profile/part.h \
	recorder/lib/recorder.c recorder/profile/kind.h \
	recorder/lib/recorder_cpu.c \
	recorder/lib/recorder_custom.c \
	recorder/profile/describe.c \
	recorder/lib/recorder_heap.c \
	recorder/lib/recorder_multi.c \
	recorder/lib/recorder_threads.c \
	recorder/lib/recorder_views.c \
	recorder/lib/recorder_window.c \
	recorder/profile/write.c \
	recorder/lib/recorder_writer.c \
	recorder/lib/recording.c recorder/lib/recording.h \
	recorder/lib/service.c recorder/lib/service.h \
	recorder/lib/thread_ask.c recorder/lib/thread_look.c recorder/lib/thread_profile.c \
	recorder/lib/thread_profile_private.h \
	recorder/profile/thread_profile.h \
	recorder/profile/thread_resolve.c \
	recorder/lib/thread_tasks.c recorder/lib/thread_tasks.h \
	recorder/profile/thread_samples.c recorder/profile/thread_samples.h \
	recorder/profile/thread_text.c recorder/profile/thread_text.h
# Exceptions: trace_labels_do() restores what was in force when one passes through.
libtrcapi_la_CPPFLAGS = $(AM_CPPFLAGS) -DTRC_PKGLIBDIR='"$(pkglibdir)"'
libtrcapi_la_CFLAGS = $(AM_CFLAGS) $(compile_once) -ftls-model=initial-exec -fexceptions
lib_LTLIBRARIES += libtrc.la
libtrc_la_SOURCES =
libtrc_la_LIBADD = libtrcapi.la libtrcinterpose.la libtrccore.la libtrcunwind.la libtrcdrain.la libtrcformat.la
libtrc_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,now $(trc_no_undefined) \
	-Wl,--version-script=$(top_srcdir)/recorder/libtrc.map
libtrc_la_DEPENDENCIES = $(libtrc_la_LIBADD) recorder/libtrc.map
EXTRA_DIST += recorder/libtrc.map

# For programs that know nothing of trc.  Loads with nothing but libc.
pkglib_LTLIBRARIES = libtrc-preload.la libtrc-profile.la
libtrc_preload_la_SOURCES = recorder/interpose/preload.c format/schema.c format/check.c
libtrc_preload_la_CFLAGS = $(AM_CFLAGS) $(compile_once) $(XXHASH_CFLAGS) -ftls-model=initial-exec
libtrc_preload_la_LIBADD = libtrcinterpose.la libtrccore.la libtrcunwind.la
libtrc_preload_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-Wl,-z,nodelete -Wl,-z,now $(trc_no_undefined) \
	-Wl,--version-script=$(top_srcdir)/recorder/libtrc-preload.map
libtrc_preload_la_DEPENDENCIES = $(libtrc_preload_la_LIBADD) recorder/libtrc-preload.map
EXTRA_DIST += recorder/libtrc-preload.map

# Names of code and pprof, which need libraries that libtrc does without: loaded on request.
noinst_LTLIBRARIES += libtrcencode.la
libtrcencode_la_SOURCES = \
	recorder/profile/encode.c recorder/profile/encode.h recorder/profile/encode_private.h recorder/profile/field.h \
	recorder/profile/encode_names.c \
	recorder/profile/encode_pprof.c \
	recorder/profile/encode_text.c
libtrcencode_la_CFLAGS = $(AM_CFLAGS) $(compile_once)
# libtrcpprof.la has libtrcformat.la in it.
libtrcencode_la_LIBADD = libtrcpprof.la libtrcsymbols.la
libtrc_profile_la_SOURCES =
libtrc_profile_la_LIBADD = libtrcencode.la
libtrc_profile_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-export-symbols-regex '^trc_encode_module$$' $(trc_no_undefined)

# After what it adds to.
include recorder/http/local.mk
