/*
 * fake_model.h - a model whose rows a test writes down itself.
 *
 * Stands in for analyzer/model/model.h and the reader behind it, so that a test can hand the
 * viewer rows that no recorder would make.
 */
#ifndef TRC_TESTS_FAKE_MODEL_H
#define TRC_TESTS_FAKE_MODEL_H

#include "analyzer/causes/blame.h"
#include "analyzer/model/model.h"

struct trc_model {
	int64_t start_ns, end_ns;
	uint64_t lost_events;
	const struct trc_thread *threads; /* by serial */
	const struct trc_park *parks;
	const struct trc_unlock *unlocks;
	const struct trc_task *tasks;
	const struct trc_region *regions;
	const struct trc_log *logs;
	const struct trc_counter *counters;
	const struct trc_alloc *allocs;
	const struct trc_free *frees;
	const struct trc_on_cpu *on_cpu;
	const struct trc_gap *gaps;
	const struct trc_signal *signals;
	const struct trc_trigger *triggers;
	const struct trc_coverage *coverage;
	const struct trc_thread_now *threads_now;
	const struct trc_lock_held *locks_held;
	const struct trc_deadlock *deadlocks;
	const struct trc_set_label *labels; /* by set */
	const struct trc_thread_span *label_spans;
	const struct trc_fiber *fibers; /* by number */
	const struct trc_fiber_run *fiber_runs;
	const struct trc_fiber_wait *fiber_waits;
	const struct trc_sample *samples;
	const struct trc_sample_event *sample_events;
	const struct trc_blame *blame; /* `labels` is the park's id */
	size_t n_blame;
	const struct trc_cause *causes; /* of any thread, by time */
	size_t n_causes;
	size_t n_fibers, n_fiber_runs, n_fiber_waits;
	size_t n_labels, n_label_spans, n_samples, n_sample_events;
	size_t n_signals, n_triggers, n_coverage, n_threads_now, n_locks_held, n_deadlocks;
	int64_t window_ns; /* 0 = a recording */
	size_t n_threads, n_parks, n_unlocks, n_tasks, n_regions, n_logs, n_counters, n_on_cpu,
		n_gaps;
	size_t n_allocs, n_frees;
	struct trc_stacks stacks;
	const char *const (*info)[2]; /* key and value */
	size_t n_info;
	const char *warning;
	const struct trc_finding *findings;
	size_t n_findings;
	const uint8_t *idle; /* by row of thread; NULL = none is */
	int need_result;     /* what trc_model_need() returns */
};

#endif
