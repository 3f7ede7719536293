# tests/analyzer
check_PROGRAMS += tests/analyzer/symbols_probe
tests_analyzer_symbols_probe_SOURCES = tests/analyzer/symbols_probe.c
tests_analyzer_symbols_probe_LDADD = libtrcsymbols.la
TESTS += tests/analyzer/symbols_test.sh
EXTRA_DIST += tests/analyzer/symbols_test.sh tests/analyzer/symbols_program.c

# The model, from traces written as text.
if HAVE_CHECK
model_tests = tests/analyzer/model_waits_test tests/analyzer/model_user_test \
	tests/analyzer/sql_test tests/analyzer/model_random_test \
	tests/analyzer/model_merge_test tests/analyzer/model_now_test \
	tests/analyzer/check_window_test tests/analyzer/model_labels_test \
	tests/analyzer/model_samples_test tests/analyzer/model_heap_test \
	tests/analyzer/model_fibers_test
check_PROGRAMS += $(model_tests)
TESTS += $(model_tests)
check_LTLIBRARIES += libtrcmodelfixture.la
libtrcmodelfixture_la_SOURCES = tests/analyzer/model_fixture.c tests/analyzer/model_fixture.h
libtrcmodelfixture_la_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
libtrcmodelfixture_la_LIBADD = libtrcanalyze.la libtrcassemble.la $(CHECK_LIBS)
tests_analyzer_model_waits_test_SOURCES = tests/analyzer/model_waits_test.c
tests_analyzer_model_waits_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_waits_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_user_test_SOURCES = tests/analyzer/model_user_test.c
tests_analyzer_model_user_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_user_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_merge_test_SOURCES = tests/analyzer/model_merge_test.c
tests_analyzer_model_merge_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_merge_test_LDADD = libtrcmodelfixture.la
tests_analyzer_check_window_test_SOURCES = tests/analyzer/check_window_test.c
tests_analyzer_check_window_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_check_window_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_labels_test_SOURCES = tests/analyzer/model_labels_test.c
tests_analyzer_model_labels_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_labels_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_fibers_test_SOURCES = tests/analyzer/model_fibers_test.c
tests_analyzer_model_fibers_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_fibers_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_heap_test_SOURCES = tests/analyzer/model_heap_test.c
tests_analyzer_model_heap_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_heap_test_LDADD = libtrcmodelfixture.la -lm
tests_analyzer_model_now_test_SOURCES = tests/analyzer/model_now_test.c
tests_analyzer_model_now_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_now_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_samples_test_SOURCES = tests/analyzer/model_samples_test.c
tests_analyzer_model_samples_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_samples_test_LDADD = libtrcmodelfixture.la
tests_analyzer_sql_test_SOURCES = tests/analyzer/sql_test.c
tests_analyzer_sql_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS)
tests_analyzer_sql_test_LDADD = libtrcmodelfixture.la $(SQLITE_LIBS)
tests_analyzer_model_random_test_SOURCES = tests/analyzer/model_random_test.c
tests_analyzer_model_random_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS)
tests_analyzer_model_random_test_LDADD = libtrcmodelfixture.la $(SQLITE_LIBS)
endif

# Profiles.
check_PROGRAMS += tests/analyzer/profile_export
tests_analyzer_profile_export_SOURCES = tests/analyzer/profile_export.c
tests_analyzer_profile_export_LDADD = libtrcanalyze.la
TESTS += tests/analyzer/profile_go_test.sh
EXTRA_DIST += tests/analyzer/profile_go_test.sh
if HAVE_CHECK
profile_tests = tests/analyzer/profile_pprof_test tests/analyzer/profile_test
check_PROGRAMS += $(profile_tests)
TESTS += $(profile_tests)
tests_analyzer_profile_test_SOURCES = tests/analyzer/profile_test.c
tests_analyzer_profile_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_profile_test_LDADD = libtrcmodelfixture.la
tests_analyzer_profile_pprof_test_SOURCES = tests/analyzer/profile_pprof_test.c
tests_analyzer_profile_pprof_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_profile_pprof_test_LDADD = libtrcpprof.la $(CHECK_LIBS)
endif

# Traces that were cut off.
check_PROGRAMS += tests/analyzer/cut_check
tests_analyzer_cut_check_SOURCES = tests/analyzer/cut_check.c
tests_analyzer_cut_check_LDADD = libtrcanalyze.la
if HAVE_CHECK
check_PROGRAMS += tests/analyzer/check_cut_test
TESTS += tests/analyzer/check_cut_test
tests_analyzer_check_cut_test_SOURCES = tests/analyzer/check_cut_test.c
tests_analyzer_check_cut_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_check_cut_test_LDADD = libtrcmodelfixture.la
endif

# trace-analyze from the outside.
TESTS += tests/analyzer/cli_test.sh tests/analyzer/cli_schema_test.sh \
	tests/analyzer/labels_test.sh tests/analyzer/memory_test.sh
EXTRA_DIST += tests/analyzer/cli_test.sh tests/analyzer/cli_schema_test.sh \
	tests/analyzer/labels_test.sh tests/analyzer/memory_test.sh

# The findings.
if HAVE_CHECK
check_PROGRAMS += tests/analyzer/findings_test
TESTS += tests/analyzer/findings_test
tests_analyzer_findings_test_SOURCES = tests/analyzer/findings_test.c
tests_analyzer_findings_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_findings_test_LDADD = libtrcmodelfixture.la
endif

# The report.
if HAVE_CHECK
check_PROGRAMS += tests/analyzer/report_test
TESTS += tests/analyzer/report_test
tests_analyzer_report_test_SOURCES = tests/analyzer/report_test.c
tests_analyzer_report_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_report_test_LDADD = libtrcmodelfixture.la
endif
