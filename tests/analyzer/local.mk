# tests/analyzer
check_PROGRAMS += tests/analyzer/model/symbols_probe
tests_analyzer_model_symbols_probe_SOURCES = tests/analyzer/model/symbols_probe.c
tests_analyzer_model_symbols_probe_LDADD = libtrcsymbols.la libtrcformat.la
TESTS += tests/analyzer/model/symbols_test.sh tests/analyzer/model/members_test.sh
EXTRA_DIST += tests/analyzer/model/symbols_test.sh tests/analyzer/model/members_test.sh tests/analyzer/model/symbols_program.c

# The model, from traces written as text.
if HAVE_CHECK
model_tests = tests/analyzer/model/model_waits_test tests/analyzer/model/model_user_test \
	tests/analyzer/sql/sql_test tests/analyzer/sql/joins_test tests/analyzer/model/model_random_test \
	tests/analyzer/model/model_merge_test tests/analyzer/model/model_now_test \
	tests/analyzer/check/check_window_test tests/analyzer/model/model_labels_test \
	tests/analyzer/model/model_samples_test tests/analyzer/model/model_heap_test \
	tests/analyzer/model/margin_test \
	tests/analyzer/model/model_lock_order_test tests/analyzer/model/model_locks_test \
	tests/analyzer/model/model_fibers_test tests/analyzer/model/selection_test \
	tests/analyzer/model/between_test tests/analyzer/model/tail_unlocks_test \
	tests/analyzer/model/shared_symbols_test tests/analyzer/causes/causes_test \
	tests/analyzer/causes/draws_test tests/analyzer/causes/task_times_test \
	tests/analyzer/causes/thread_times_test \
	tests/analyzer/causes/together_test \
	tests/analyzer/whatif/turns_test \
	tests/analyzer/whatif/whatif_test
check_PROGRAMS += $(model_tests)
TESTS += $(model_tests)
check_LTLIBRARIES += libtrcmodelfixture.la
libtrcmodelfixture_la_SOURCES = tests/analyzer/model/model_fixture.c tests/analyzer/model/model_fixture.h
libtrcmodelfixture_la_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
libtrcmodelfixture_la_LIBADD = libtrcanalyze.la libtrcassemble.la $(CHECK_LIBS)
tests_analyzer_model_model_waits_test_SOURCES = tests/analyzer/model/model_waits_test.c
tests_analyzer_model_model_waits_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_model_waits_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_shared_symbols_test_SOURCES = tests/analyzer/model/shared_symbols_test.c
tests_analyzer_model_shared_symbols_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_shared_symbols_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_tail_unlocks_test_SOURCES = tests/analyzer/model/tail_unlocks_test.c
tests_analyzer_model_tail_unlocks_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_tail_unlocks_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_model_user_test_SOURCES = tests/analyzer/model/model_user_test.c
tests_analyzer_model_model_user_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_model_user_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_model_merge_test_SOURCES = tests/analyzer/model/model_merge_test.c
tests_analyzer_model_model_merge_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_model_merge_test_LDADD = libtrcmodelfixture.la
tests_analyzer_check_check_window_test_SOURCES = tests/analyzer/check/check_window_test.c
tests_analyzer_check_check_window_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_check_check_window_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_model_labels_test_SOURCES = tests/analyzer/model/model_labels_test.c
tests_analyzer_model_model_labels_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_model_labels_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_model_fibers_test_SOURCES = tests/analyzer/model/model_fibers_test.c
tests_analyzer_model_model_fibers_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_model_fibers_test_LDADD = libtrcmodelfixture.la
tests_analyzer_causes_causes_test_SOURCES = tests/analyzer/causes/causes_test.c
tests_analyzer_causes_causes_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_causes_causes_test_LDADD = libtrcmodelfixture.la
tests_analyzer_causes_draws_test_SOURCES = tests/analyzer/causes/draws_test.c tests/draws.h
tests_analyzer_causes_draws_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_causes_draws_test_LDADD = libtrcmodelfixture.la -lm
tests_analyzer_causes_task_times_test_SOURCES = tests/analyzer/causes/task_times_test.c
tests_analyzer_causes_task_times_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_causes_task_times_test_LDADD = libtrcmodelfixture.la
tests_analyzer_causes_thread_times_test_SOURCES = tests/analyzer/causes/thread_times_test.c
tests_analyzer_causes_thread_times_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_causes_thread_times_test_LDADD = libtrcmodelfixture.la
tests_analyzer_causes_together_test_SOURCES = tests/analyzer/causes/together_test.c
tests_analyzer_causes_together_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_causes_together_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_model_lock_order_test_SOURCES = tests/analyzer/model/model_lock_order_test.c
tests_analyzer_model_model_lock_order_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_model_lock_order_test_LDADD = libtrcmodelfixture.la -lm
tests_analyzer_model_model_locks_test_SOURCES = tests/analyzer/model/model_locks_test.c
tests_analyzer_model_model_locks_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_model_locks_test_LDADD = libtrcmodelfixture.la -lm
tests_analyzer_whatif_turns_test_SOURCES = tests/analyzer/whatif/turns_test.c
tests_analyzer_whatif_turns_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_whatif_turns_test_LDADD = libtrcmodelfixture.la
tests_analyzer_whatif_whatif_test_SOURCES = tests/analyzer/whatif/whatif_test.c tests/draws.h
tests_analyzer_whatif_whatif_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_whatif_whatif_test_LDADD = libtrcmodelfixture.la -lm
tests_analyzer_model_margin_test_SOURCES = tests/analyzer/model/margin_test.c tests/draws.h
tests_analyzer_model_margin_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_margin_test_LDADD = libtrcmodelfixture.la -lm
tests_analyzer_model_model_heap_test_SOURCES = tests/analyzer/model/model_heap_test.c
tests_analyzer_model_model_heap_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_model_heap_test_LDADD = libtrcmodelfixture.la -lm
tests_analyzer_model_model_now_test_SOURCES = tests/analyzer/model/model_now_test.c
tests_analyzer_model_model_now_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_model_now_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_model_samples_test_SOURCES = tests/analyzer/model/model_samples_test.c
tests_analyzer_model_model_samples_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_model_samples_test_LDADD = libtrcmodelfixture.la
tests_analyzer_sql_sql_test_SOURCES = tests/analyzer/sql/sql_test.c
tests_analyzer_sql_sql_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS)
tests_analyzer_sql_sql_test_LDADD = libtrcmodelfixture.la $(SQLITE_LIBS)
tests_analyzer_sql_joins_test_SOURCES = tests/analyzer/sql/joins_test.c
tests_analyzer_sql_joins_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS)
tests_analyzer_sql_joins_test_LDADD = libtrcmodelfixture.la $(SQLITE_LIBS)
tests_analyzer_model_selection_test_SOURCES = tests/analyzer/model/selection_test.c
tests_analyzer_model_selection_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS)
tests_analyzer_model_selection_test_LDADD = libtrcmodelfixture.la $(SQLITE_LIBS)
tests_analyzer_model_between_test_SOURCES = tests/analyzer/model/between_test.c
tests_analyzer_model_between_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_model_between_test_LDADD = libtrcmodelfixture.la
tests_analyzer_model_model_random_test_SOURCES = tests/analyzer/model/model_random_test.c
tests_analyzer_model_model_random_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS)
tests_analyzer_model_model_random_test_LDADD = libtrcmodelfixture.la $(SQLITE_LIBS)
endif

# Profiles.
check_PROGRAMS += tests/analyzer/profile/profile_export
tests_analyzer_profile_profile_export_SOURCES = tests/analyzer/profile/profile_export.c
tests_analyzer_profile_profile_export_LDADD = libtrcanalyze.la
TESTS += tests/analyzer/profile/profile_go_test.sh
EXTRA_DIST += tests/analyzer/profile/profile_go_test.sh
if HAVE_CHECK
profile_tests = tests/analyzer/profile/profile_pprof_test tests/analyzer/profile/profile_test
check_PROGRAMS += $(profile_tests)
TESTS += $(profile_tests)
tests_analyzer_profile_profile_test_SOURCES = tests/analyzer/profile/profile_test.c \
	tests/analyzer/profile/profile_comments.c tests/analyzer/profile/profile_parts.h
tests_analyzer_profile_profile_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_profile_profile_test_LDADD = libtrcmodelfixture.la
tests_analyzer_profile_profile_pprof_test_SOURCES = tests/analyzer/profile/profile_pprof_test.c
tests_analyzer_profile_profile_pprof_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_profile_profile_pprof_test_LDADD = libtrcpprof.la $(CHECK_LIBS)
endif

# Traces that were cut off.
check_PROGRAMS += tests/analyzer/check/cut_check
tests_analyzer_check_cut_check_SOURCES = tests/analyzer/check/cut_check.c
tests_analyzer_check_cut_check_LDADD = libtrcanalyze.la
if HAVE_CHECK
check_PROGRAMS += tests/analyzer/check/check_cut_test
TESTS += tests/analyzer/check/check_cut_test
tests_analyzer_check_check_cut_test_SOURCES = tests/analyzer/check/check_cut_test.c
tests_analyzer_check_check_cut_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_check_check_cut_test_LDADD = libtrcmodelfixture.la
endif

# trace-analyze from the outside.
TESTS += tests/analyzer/cli/cli_test.sh tests/analyzer/cli/cli_schema_test.sh tests/analyzer/cli/json_test.sh \
	tests/analyzer/cli/labels_test.sh tests/analyzer/cli/linear_test.sh tests/analyzer/cli/many_test.sh tests/analyzer/cli/memory_test.sh \
	tests/analyzer/cli/why_json_test.sh
EXTRA_DIST += tests/analyzer/cli/cli_test.sh tests/analyzer/cli/cli_schema_test.sh tests/analyzer/cli/json_test.sh \
	tests/analyzer/cli/labels_test.sh tests/analyzer/cli/linear_test.sh tests/analyzer/cli/many_test.sh tests/analyzer/cli/memory_test.sh \
	tests/analyzer/cli/why_json_test.sh

# The findings.
if HAVE_CHECK
check_PROGRAMS += tests/analyzer/findings/threads_test
TESTS += tests/analyzer/findings/threads_test
tests_analyzer_findings_threads_test_SOURCES = tests/analyzer/findings/threads_test.c
tests_analyzer_findings_threads_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_findings_threads_test_LDADD = libtrcmodelfixture.la
check_PROGRAMS += tests/analyzer/findings/findings_selected_test
TESTS += tests/analyzer/findings/findings_selected_test
tests_analyzer_findings_findings_selected_test_SOURCES = tests/analyzer/findings/findings_selected_test.c
tests_analyzer_findings_findings_selected_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS)
tests_analyzer_findings_findings_selected_test_LDADD = libtrcmodelfixture.la $(SQLITE_LIBS)
check_PROGRAMS += tests/analyzer/findings/findings_test
TESTS += tests/analyzer/findings/findings_test
tests_analyzer_findings_findings_test_SOURCES = tests/analyzer/findings/findings_test.c
tests_analyzer_findings_findings_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_findings_findings_test_LDADD = libtrcmodelfixture.la
endif

# The report.
if HAVE_CHECK
report_tests = tests/analyzer/report/report_test tests/analyzer/report/report_waits_test \
	tests/analyzer/report/report_threads_test tests/analyzer/report/report_ended_test \
	tests/analyzer/report/report_samples_test tests/analyzer/report/report_user_test \
	tests/analyzer/report/report_objects_test tests/analyzer/why/why_test
check_PROGRAMS += $(report_tests)
TESTS += $(report_tests)
report_fixture = tests/analyzer/report/report_fixture.c tests/analyzer/report/report_fixture.h
tests_analyzer_report_report_test_SOURCES = tests/analyzer/report/report_test.c $(report_fixture)
tests_analyzer_report_report_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_report_report_test_LDADD = libtrcmodelfixture.la
tests_analyzer_report_report_waits_test_SOURCES = tests/analyzer/report/report_waits_test.c $(report_fixture)
tests_analyzer_report_report_waits_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_report_report_waits_test_LDADD = libtrcmodelfixture.la
tests_analyzer_report_report_threads_test_SOURCES = tests/analyzer/report/report_threads_test.c $(report_fixture)
tests_analyzer_report_report_threads_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_report_report_threads_test_LDADD = libtrcmodelfixture.la
tests_analyzer_report_report_ended_test_SOURCES = tests/analyzer/report/report_ended_test.c $(report_fixture)
tests_analyzer_report_report_ended_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_report_report_ended_test_LDADD = libtrcmodelfixture.la
tests_analyzer_report_report_samples_test_SOURCES = tests/analyzer/report/report_samples_test.c $(report_fixture)
tests_analyzer_report_report_samples_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_report_report_samples_test_LDADD = libtrcmodelfixture.la
tests_analyzer_report_report_user_test_SOURCES = tests/analyzer/report/report_user_test.c $(report_fixture)
tests_analyzer_report_report_user_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_report_report_user_test_LDADD = libtrcmodelfixture.la
tests_analyzer_report_report_objects_test_SOURCES = tests/analyzer/report/report_objects_test.c
tests_analyzer_report_report_objects_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_report_report_objects_test_LDADD = libtrcmodelfixture.la
tests_analyzer_why_why_test_SOURCES = tests/analyzer/why/why_test.c
tests_analyzer_why_why_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_why_why_test_LDADD = libtrcmodelfixture.la
endif

# What changed between traces.
if HAVE_CHECK
check_PROGRAMS += tests/analyzer/diff/diff_test
TESTS += tests/analyzer/diff/diff_test
tests_analyzer_diff_diff_test_SOURCES = tests/analyzer/diff/diff_test.c tests/draws.h tests/turns.h
tests_analyzer_diff_diff_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_analyzer_diff_diff_test_LDADD = libtrcmodelfixture.la -lm
endif
