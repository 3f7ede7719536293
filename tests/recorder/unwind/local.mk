# The unwinder, against libunwind, the C library's and elfutils.
EXTRA_DIST += tests/recorder/unwind/unwind_shapes.sh tests/recorder/unwind/unwind_shapes.c \
	tests/recorder/unwind/unwind_cxx.cc tests/recorder/unwind/unwind_storm.sh \
	tests/recorder/unwind/unwind_plugin.c tests/recorder/unwind/unwind_coverage.sh \
	tests/recorder/unwind/unwind_bare.inc tests/recorder/unwind/unwind_kept.sh \
	tests/recorder/unwind/unwind_kept_cxx.cc tests/recorder/unwind/unwind_sframe.sh \
	tests/recorder/unwind/unwind_sframe_only.c tests/recorder/unwind/sframe.awk \
	tests/recorder/unwind/sframe_rows.awk

# Code without unwind tables.
check_LTLIBRARIES += libunwindbare_fp.la libunwindbare_nofp.la
libunwindbare_fp_la_SOURCES = tests/recorder/unwind/unwind_bare_fp.c tests/recorder/unwind/unwind_bare.h
libunwindbare_fp_la_CFLAGS = $(AM_CFLAGS) -fno-asynchronous-unwind-tables -fno-unwind-tables \
	-fno-omit-frame-pointer
libunwindbare_nofp_la_SOURCES = tests/recorder/unwind/unwind_bare_nofp.c tests/recorder/unwind/unwind_bare.h
libunwindbare_nofp_la_CFLAGS = $(AM_CFLAGS) -fno-asynchronous-unwind-tables -fno-unwind-tables \
	-fomit-frame-pointer

if HAVE_CHECK
check_PROGRAMS += tests/recorder/unwind/unwind_units tests/recorder/unwind/unwind_hostile \
	tests/recorder/unwind/unwind_sframe_units
TESTS += tests/recorder/unwind/unwind_units tests/recorder/unwind/unwind_hostile \
	tests/recorder/unwind/unwind_sframe_units
tests_recorder_unwind_unwind_sframe_units_SOURCES = tests/recorder/unwind/unwind_sframe_units.c
tests_recorder_unwind_unwind_sframe_units_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_recorder_unwind_unwind_sframe_units_LDADD = libtrcunwind.la $(CHECK_LIBS)
tests_recorder_unwind_unwind_units_SOURCES = tests/recorder/unwind/unwind_units.c
tests_recorder_unwind_unwind_units_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_recorder_unwind_unwind_units_LDADD = libtrcunwind.la $(CHECK_LIBS)
tests_recorder_unwind_unwind_hostile_SOURCES = tests/recorder/unwind/unwind_hostile.c
tests_recorder_unwind_unwind_hostile_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_recorder_unwind_unwind_hostile_LDADD = libtrcunwind.la libunwindbare_fp.la libunwindbare_nofp.la \
	$(CHECK_LIBS)
endif

# Other unwinders and high signal rates do not go with the sanitizers.
if !SANITIZED
check_PROGRAMS += tests/recorder/unwind/unwind_singlestep tests/recorder/unwind/unwind_storm \
	tests/recorder/unwind/unwind_coverage tests/recorder/unwind/unwind_kept \
	tests/recorder/unwind/unwind_kept_fp
TESTS += tests/recorder/unwind/unwind_shapes.sh tests/recorder/unwind/unwind_singlestep \
	tests/recorder/unwind/unwind_sframe.sh \
	tests/recorder/unwind/unwind_storm.sh tests/recorder/unwind/unwind_coverage.sh \
	tests/recorder/unwind/unwind_kept.sh
tests_recorder_unwind_unwind_singlestep_SOURCES = tests/recorder/unwind/unwind_singlestep.c \
	tests/recorder/unwind/unwind_compare.c tests/recorder/unwind/unwind_compare.h
tests_recorder_unwind_unwind_singlestep_LDADD = libtrcunwind.la $(UNWIND_LIBS)
tests_recorder_unwind_unwind_singlestep_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,lazy
tests_recorder_unwind_unwind_storm_SOURCES = tests/recorder/unwind/unwind_storm.c tests/recorder/unwind/own_stack.h
tests_recorder_unwind_unwind_storm_LDADD = libtrcunwind.la
tests_recorder_unwind_unwind_kept_SOURCES = tests/recorder/unwind/unwind_kept.c tests/recorder/unwind/own_stack.h
tests_recorder_unwind_unwind_kept_CFLAGS = $(AM_CFLAGS) -fomit-frame-pointer
tests_recorder_unwind_unwind_kept_LDADD = libtrcunwind.la
tests_recorder_unwind_unwind_kept_fp_SOURCES = $(tests_recorder_unwind_unwind_kept_SOURCES)
tests_recorder_unwind_unwind_kept_fp_CFLAGS = $(AM_CFLAGS) -fno-omit-frame-pointer
tests_recorder_unwind_unwind_kept_fp_LDADD = libtrcunwind.la
if HAVE_CHECK
check_PROGRAMS += tests/recorder/unwind/unwind_kept_units
TESTS += tests/recorder/unwind/unwind_kept_units
tests_recorder_unwind_unwind_kept_units_SOURCES = tests/recorder/unwind/unwind_kept_units.c
tests_recorder_unwind_unwind_kept_units_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_recorder_unwind_unwind_kept_units_LDADD = libtrcunwind.la libunwindbare_fp.la $(CHECK_LIBS)
endif
tests_recorder_unwind_unwind_coverage_SOURCES = tests/recorder/unwind/unwind_coverage.c
tests_recorder_unwind_unwind_coverage_CFLAGS = $(AM_CFLAGS) $(DW_CFLAGS)
tests_recorder_unwind_unwind_coverage_LDADD = libtrcunwind.la $(DW_LIBS)
endif
