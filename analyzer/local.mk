# analyzer: what it builds
noinst_LTLIBRARIES += libtrcanalyze.la
libtrcanalyze_la_SOURCES = \
	analyzer/model/array.c analyzer/model/array.h \
	analyzer/causes/blame.c analyzer/causes/blame.h \
	analyzer/causes/blame_sums.c analyzer/causes/blame_sums.h \
	analyzer/causes/causes.c analyzer/causes/causes.h \
	analyzer/causes/draws.c analyzer/causes/draws.h \
	analyzer/causes/lost.c analyzer/causes/names.c analyzer/causes/steps.c analyzer/causes/steps.h analyzer/causes/steps_make.c \
	analyzer/causes/task_times.c analyzer/causes/task_times.h \
	analyzer/causes/thread_times.c analyzer/causes/thread_times.h \
	analyzer/causes/together.c analyzer/causes/together.h \
	analyzer/derive/caused.c \
	analyzer/derive/convoys.c analyzer/derive/convoys.h \
	analyzer/derive/lock_list.c analyzer/derive/lock_list.h analyzer/derive/lock_sums.c analyzer/model/lock_sums.h \
	analyzer/derive/deadlocks.c analyzer/derive/deadlocks.h analyzer/derive/deadlock_cycles.c \
	analyzer/derive/deadlock_rows.c analyzer/derive/exec.c \
	analyzer/derive/fibers.c analyzer/derive/fibers.h analyzer/derive/fibers_finish.c analyzer/derive/fiber_runs.c \
	analyzer/derive/heap.c analyzer/derive/holds.c analyzer/derive/sections.c \
	analyzer/derive/labels.c analyzer/derive/latencies.c \
	analyzer/derive/contexts.c analyzer/derive/contexts.h \
	analyzer/derive/locks.c analyzer/derive/locks.h \
	analyzer/derive/lock_cycles.c \
	analyzer/derive/lock_meets.c analyzer/derive/lock_meets.h analyzer/derive/remade.c analyzer/derive/remade.h analyzer/derive/lock_order.c analyzer/derive/lock_order.h \
	analyzer/derive/named_locks.c analyzer/derive/named_locks.h \
	analyzer/derive/now.c \
	analyzer/derive/parks.c analyzer/derive/parks.h \
	analyzer/derive/samples.c \
	analyzer/derive/scaled.c \
	analyzer/derive/sched.c \
	analyzer/derive/user.c \
	analyzer/derive/tail_unlocks.c analyzer/derive/waits.c \
	analyzer/derive/wakers.c analyzer/derive/wakers.h \
	analyzer/derive/derived_locks.c analyzer/derive/wakers_locks.c analyzer/derive/wakers_woken.c \
	analyzer/diff/about.c analyzer/diff/compare.c analyzer/diff/diff.h \
	analyzer/diff/measures.c analyzer/diff/measures.h analyzer/diff/memory.c analyzer/diff/names.c \
	analyzer/diff/options.c analyzer/diff/parts.h \
	analyzer/diff/print.c analyzer/diff/quantiles.c \
	analyzer/diff/run.c analyzer/diff/run.h analyzer/diff/threads.c analyzer/diff/statistics.c analyzer/diff/statistics.h \
	analyzer/findings/findings.c analyzer/findings/findings.h analyzer/findings/parts.h \
	analyzer/findings/abandoned.c analyzer/findings/alarms.c analyzer/findings/held.c analyzer/findings/herds.c \
	analyzer/findings/interpreters.c analyzer/findings/locks.c \
	analyzer/findings/names.c analyzer/findings/notes.c analyzer/findings/order.c \
	analyzer/findings/print.c analyzer/findings/print.h \
	analyzer/findings/procs.c analyzer/findings/tails.c \
	analyzer/findings/procs_left.c analyzer/findings/procs_left.h \
	analyzer/words/at_work.c analyzer/words/at_work.h analyzer/words/words.h analyzer/words/report_options.h \
	analyzer/words/alarm_names.c analyzer/words/context.c analyzer/words/deadlock_remedy.c analyzer/words/group_names.c \
	analyzer/words/group_waits.c analyzer/words/label_names.c \
	analyzer/findings/barriers.c analyzer/findings/stages.c \
	analyzer/findings/blamed.c analyzer/findings/blamed.h \
	analyzer/report/margins.c analyzer/words/pools.c analyzer/words/pools.h \
	analyzer/findings/late.c analyzer/findings/own_locks.c analyzer/findings/threads.c analyzer/findings/spins.c \
	analyzer/model/label_filter.c analyzer/model/label_filter.h \
	analyzer/model/merge.c analyzer/model/merge.h \
	analyzer/model/model.c analyzer/model/model.h analyzer/model/parts.h \
	analyzer/model/descriptors.c analyzer/model/descriptors.h \
	analyzer/model/image.c analyzer/model/image.h analyzer/model/image_rows.c \
	analyzer/model/labels.c \
	analyzer/model/margin.c analyzer/model/margin.h \
	analyzer/model/objects.c \
	analyzer/model/on_procs.c analyzer/model/on_procs.h \
	analyzer/model/order.h \
	analyzer/model/process.c analyzer/model/process.h \
	analyzer/model/selection.c analyzer/model/selection.h analyzer/model/selection_parts.h \
	analyzer/model/selection_find.c analyzer/model/selection_rows.c analyzer/model/selection_rows.h \
	analyzer/model/selection_tasks.c \
	analyzer/model/selection_text.c analyzer/model/selection_window.c analyzer/model/between.c analyzer/model/between.h \
	analyzer/model/unlocks_of.c analyzer/model/unlocks_of.h \
	analyzer/model/task_pick.c analyzer/model/task_pick.h \
	analyzer/model/task_spans.c analyzer/model/task_spans.h \
	analyzer/model/symbols.c \
	analyzer/model/window.c \
	analyzer/profile/profile.c analyzer/profile/profile.h analyzer/profile/parts.h \
	analyzer/profile/blame.c \
	analyzer/profile/heap.c \
	analyzer/profile/offcpu.c analyzer/profile/path.c \
	analyzer/profile/pprof.c \
	analyzer/profile/samples.c analyzer/profile/sched.c \
	analyzer/profile/stacks.c \
	analyzer/profile/waits.c \
	analyzer/report/report.c analyzer/report/report.h analyzer/report/parts.h \
	analyzer/report/cpu.c \
	analyzer/report/deadlock.c \
	analyzer/words/descriptors.c \
	analyzer/report/ended.c \
	analyzer/report/fibers.c \
	analyzer/words/groups.c analyzer/words/group_objects.c analyzer/words/group_tallies.c \
	analyzer/report/heap.c \
	analyzer/report/held_up.c \
	analyzer/report/hints.c \
	analyzer/words/idle.c \
	analyzer/report/labels.c analyzer/report/latencies.c analyzer/report/latencies_by.c \
	analyzer/report/locks.c \
	analyzer/report/longest.c \
	analyzer/words/lost.c analyzer/words/own_locks.c analyzer/words/own_locks.h \
	analyzer/report/many.c analyzer/report/many.h \
	analyzer/report/many_json.c \
	analyzer/report/many_print.c \
	analyzer/report/many_rows.h \
	analyzer/words/names.c analyzer/words/troubles.c analyzer/words/stack_text.h \
	analyzer/report/now.c \
	analyzer/words/selection.c \
	analyzer/report/shares.c \
	analyzer/report/slowest.c \
	analyzer/report/summary.c \
	analyzer/text/json.c analyzer/text/json.h \
	analyzer/text/line.c analyzer/text/line.h \
	analyzer/report/threads.c \
	analyzer/report/unseen.c \
	analyzer/report/user.c \
	analyzer/report/user_times.c analyzer/report/user_times.h \
	analyzer/words/user_types.c analyzer/words/user_types.h \
	analyzer/report/waits.c \
	analyzer/why/whatif.c analyzer/why/whatif.h \
	analyzer/why/why.c analyzer/why/why.h \
	analyzer/why/json.c analyzer/why/json.h \
	analyzer/why/path.c analyzer/why/path.h analyzer/why/tree.c analyzer/why/tree.h analyzer/why/window.c analyzer/why/window.h \
	analyzer/why/tasks.c analyzer/why/tasks.h \
	analyzer/why/words.c analyzer/why/words.h \
	analyzer/model/signal_names.c analyzer/model/signal_names.h \
	analyzer/model/spans.c analyzer/model/spans.h \
	analyzer/model/charge.h \
	analyzer/model/holds.h analyzer/model/rows.h analyzer/model/preempted.c analyzer/model/preempted.h \
	analyzer/model/timeline.c analyzer/model/timeline.h \
	analyzer/model/waits.c analyzer/model/waits.h \
	analyzer/whatif/apply.c analyzer/whatif/apply.h \
	analyzer/whatif/change.c analyzer/whatif/change.h \
	analyzer/whatif/heap.c analyzer/whatif/heap.h \
	analyzer/whatif/lock_events.c analyzer/whatif/lock_events.h \
	analyzer/whatif/near.c analyzer/whatif/near.h \
	analyzer/whatif/prefers.c analyzer/whatif/prefers.h \
	analyzer/whatif/program.c analyzer/whatif/program.h \
	analyzer/whatif/replay.c analyzer/whatif/replay.h \
	analyzer/whatif/section_lengths.c analyzer/whatif/section_lengths.h \
	analyzer/whatif/sections.c analyzer/whatif/sections.h \
	analyzer/whatif/turns.c analyzer/whatif/turns.h \
	analyzer/whatif/waits.c analyzer/whatif/waits.h \
	analyzer/whatif/whatif.c analyzer/whatif/whatif.h
libtrcanalyze_la_LIBADD = libtrcsymbols.la libtrcpprof.la libtrcformat.la -lpthread

# SQL and the checks: part of the library, so that tests and the viewer's server reach them.
libtrcanalyze_la_SOURCES += \
	analyzer/check/causes.c analyzer/check/check.c analyzer/check/check.h analyzer/check/cut.c analyzer/check/events.c analyzer/check/heap.c \
	analyzer/check/fibers.c analyzer/check/on_cpu.c \
	analyzer/check/parts.h analyzer/check/regions.c analyzer/check/regions.h analyzer/check/wakers.c \
	analyzer/sql/event_columns.c \
	analyzer/export/output.c analyzer/export/output.h \
	analyzer/export/output_text.c analyzer/export/output_text.h \
	analyzer/sql/functions.c analyzer/sql/margins.c analyzer/sql/no_column.c analyzer/sql/sql.c analyzer/sql/sql.h analyzer/sql/export.c analyzer/sql/parts.h \
	analyzer/sql/columns.h analyzer/sql/lookup.c analyzer/sql/lookup.h analyzer/sql/selected.c analyzer/sql/sizes.c \
	analyzer/sql/table.c analyzer/sql/table.h \
	analyzer/sql/tables_blame.c analyzer/sql/tables_code.c analyzer/sql/tables_fibers.c analyzer/sql/tables_findings.c \
	analyzer/sql/tables_heap.c analyzer/sql/tables_locks.c analyzer/sql/tables_now.c \
	analyzer/sql/tables_rows.c \
	analyzer/sql/tables_samples.c analyzer/sql/tables_sched.c analyzer/sql/tables_tasks.c \
	analyzer/sql/vtab.c analyzer/sql/vtab.h analyzer/sql/vtab_causes.c analyzer/sql/vtab_events.c analyzer/sql/vtab_events.h \
	analyzer/sql/vtab_events_plan.c analyzer/sql/vtab_rows.c
libtrcanalyze_la_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS) $(CJSON_CFLAGS)
# For programs only: libtool compiles each source once, and not for a shared object as well.
libtrcanalyze_la_CFLAGS = $(AM_CFLAGS) -static
libtrcanalyze_la_LIBADD += $(SQLITE_LIBS) $(CJSON_LIBS) -lm

# A ring is opened by the recorder's side that reads rings; see analyzer/open/ring.h.
noinst_LTLIBRARIES += libtrcopen.la
libtrcopen_la_SOURCES = analyzer/open/memory.c analyzer/open/memory.h \
	analyzer/open/ring.c analyzer/open/ring.h analyzer/open/trace.c analyzer/open/trace.h
libtrcopen_la_CFLAGS = $(libtrcanalyze_la_CFLAGS)

bin_PROGRAMS += analyzer/trace-analyze
analyzer_trace_analyze_SOURCES = analyzer/cli/main.c analyzer/cli/cli.h analyzer/cli/progress.c \
	analyzer/cli/select.c \
	analyzer/cli/verb_check.c analyzer/cli/verb_diff.c analyzer/cli/verb_html.c analyzer/cli/verb_json.c analyzer/cli/verb_pprof.c \
	analyzer/cli/verb_report.c analyzer/cli/verb_shell.c analyzer/cli/verb_sql.c \
	analyzer/cli/verb_what_if.c analyzer/cli/width.c analyzer/cli/width.h
analyzer_trace_analyze_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS) $(READLINE_CFLAGS)
analyzer_trace_analyze_LDADD = libtrcviewer.la libtrcopen.la libtrcanalyze.la libtrcdrain.la libtrccore.la \
	libtrcunwind.la libtrcformat.la $(READLINE_LIBS)
