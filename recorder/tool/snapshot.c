/* snapshot.c - see snapshot.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "recorder/drain/drain.h"
#include "tool.h"
#include "snapshot.h"

/* ---- what the kernel knows ------------------------------------------------------------- */

struct kernel_context {
	const struct trc_tool_snapshot *s;
	struct trc_drain *drain;
	unsigned int n_changes; /* that have been told */
};

/* They are told in one stream with the kernel's records of proc 0, in order. */
static void tell_changes(struct kernel_context *k, uint64_t until_ns)
{
	const struct trc_procs *procs = k->s->procs;

	for (; procs && k->n_changes < procs->n_changes &&
	       procs->change[k->n_changes].raw_ns <= until_ns;
	     k->n_changes++)
		trc_drain_procs(k->drain, procs->change[k->n_changes].raw_ns,
				procs->change[k->n_changes].procs);
}

static void snapshot_kernel_seen(void *context, const struct trc_perf_record *r)
{
	struct kernel_context *k = context;
	struct trc_perf_record there = *r;

	/* A loss may concern any of the processes in the buffer. */
	if (r->pid != k->s->pid && r->pid)
		return;
	if (!r->proc)
		tell_changes(k, r->raw_ns);
	there.tid = trc_tids_inside(k->s->tids, r->tid);
	trc_drain_kernel(k->drain, &there);
}

static void kernel_drain(void *context, struct trc_drain *drain)
{
	struct kernel_context k = {.s = context, .drain = drain};

	if (k.s->kernel && k.s->sampled)
		trc_drain_kernel_events(drain, k.s->sampled->entry, k.s->sampled->n);
	if (k.s->kernel)
		trc_perf_pass(k.s->kernel, true, snapshot_kernel_seen, &k);
	for (uint32_t i = 0; k.s->kernel && i < TRC_PROCS_MAX; i++)
		trc_drain_kernel_held(drain, i, trc_perf_oldest_ns(k.s->kernel, i));
	tell_changes(&k, UINT64_MAX);
}

/* ---- what is said about it ------------------------------------------------------------- */

static void write_infos(const struct trc_tool_snapshot *s, const struct trc_snapshot *snapshot,
			struct trc_writer *w)
{
	char passed_over[24];
	const struct {
		const char *key, *value;
	} infos[] = {
		{"snapshot", s->what},
		{"trigger", s->trigger},
		{"ended", s->ended},
		{"title", s->title},
		{"sched", s->sched},
		{"options", s->asked},
		{"unwind", s->unwind},
		{"triggers_suppressed", s->passed_over ? passed_over : NULL},
		{"otel_service", s->service},
	};

	snprintf(passed_over, sizeof(passed_over), "%" PRIu64, s->passed_over);
	trc_snapshot_info(snapshot, w);
	for (size_t i = 0; i < sizeof(infos) / sizeof(*infos); i++)
		if (infos[i].value)
			trc_writer_info(w, infos[i].key, infos[i].value);
	/* What fails here fails again at the end (writer:W3). */
}

/* ---- writing --------------------------------------------------------------------------- */

static int snapshot_write_trace(struct trc_tool_snapshot *s, struct trc_snapshot *snapshot,
				struct trc_file_sink *sink)
{
	struct trc_writer_options options;
	struct trc_drain_totals drained;
	struct trc_writer *w;
	int err;

	trc_snapshot_writer_options(snapshot, &options);
	err = trc_writer_open(&w, &options, trc_file_sink_write, sink);
	if (err)
		return err;
	write_infos(s, snapshot, w);
	err = trc_snapshot_write(snapshot, w, kernel_drain, s);
	if (!err)
		err = trc_writer_finish(w);
	trc_writer_totals(w, &s->totals);
	trc_snapshot_totals(snapshot, &drained);
	s->samples = drained.samples;
	trc_writer_close(w);
	return err;
}

static uint64_t window_ns(const struct trc_snapshot *snapshot)
{
	uint64_t from, cut, end, rate = trc_snapshot_header(snapshot)->ticks_per_second;

	trc_snapshot_window(snapshot, &from, &cut);
	end = trc_snapshot_end(snapshot);
	return rate && end > from ? (uint64_t)((unsigned __int128)(end - from) * 1000000000 / rate)
				  : 0;
}

int trc_tool_snapshot_write(struct trc_tool_snapshot *s, struct trc_snapshot *snapshot,
			    const char *path)
{
	struct trc_file_sink sink;
	int err;

	s->window_ns = window_ns(snapshot);
	err = trc_file_sink_plan(&sink, path, s->error, sizeof(s->error));
	if (!err)
		err = trc_file_sink_open(&sink, s->error, sizeof(s->error));
	if (err)
		return err;
	err = snapshot_write_trace(s, snapshot, &sink);
	if (!err)
		err = trc_file_sink_commit(&sink);
	if (err)
		snprintf(s->error, sizeof(s->error), "%s: %s", path, strerror(-err));
	trc_file_sink_close(&sink);
	return err;
}
