/*
 * notes.c - findings about the findings: events are missing, so that findings may be; or nothing
 * wrong was found.
 */
#include "parts.h"

enum { OTHERS_PERCENT = 20, GROUPS_LOOKED_AT = 10 };

int trc_find_lost(struct trc_report *r, struct trc_array *out)
{
	struct trc_lost lost[TRC_LOST_CAUSES];
	int err = 0;

	trc_report_lost_causes(r, lost);
	for (unsigned int cause = 0; cause < TRC_LOST_CAUSES && !err; cause++) {
		struct trc_finding f = {
			.kind = TRC_FINDING_LOST,
			.severity = TRC_SEVERITY_NOTE,
			.start_ns = lost[cause].first_ns,
			.end_ns = lost[cause].last_ns,
		};
		struct trc_line line;

		if (!lost[cause].events)
			continue;
		trc_finding_line(&line);
		trc_report_lost_cause(&line, cause, &lost[cause]);
		trc_finding_sql_add(&f, "SELECT * FROM gaps ORDER BY lost_events DESC");
		err = trc_finding_add(out, &f, &line);
	}
	return err;
}

/* ---- nothing ---- */

static int64_t lived_ns(const struct trc_report *r)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < r->n_threads; i++)
		trc_report_add(&sum_ns, trc_report_lifetime_ns(r, &r->thread[i]));
	return sum_ns;
}

static int64_t locked_ns(const struct trc_report *r)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < r->n_threads; i++)
		trc_report_add(&sum_ns, r->class_ns[i][TRC_WAIT_LOCKS]);
	return sum_ns;
}

/* Other threads are waited for on purpose, too: told, and not judged.  Not of threads that are idle. */
static int64_t waited_for_others_ns(const struct trc_report *r)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < r->n_parks; i++)
		if (trc_wait_class(r->park[i].reason) == TRC_WAIT_THREADS &&
		    !trc_report_is_idle(r, &r->park[i]))
			trc_report_add(&sum_ns, trc_park_end_ns(r->m, &r->park[i]) -
							trc_park_start_ns(r->m, &r->park[i]));
	return sum_ns;
}

static void add_others(const struct trc_report *r, struct trc_line *line)
{
	char total[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	int64_t ns = waited_for_others_ns(r);

	if (ns >= lived_ns(r) / 100 * OTHERS_PERCENT && ns > 0)
		trc_line_add(
			line,
			"; threads waited %s, %s of their time, for other threads, which may be as it should",
			trc_text_duration(total, ns), trc_text_share(share, ns, lived_ns(r)));
}

/* What findings need and the trace has not. */
static void add_unseen(const struct trc_report *r, struct trc_line *line)
{
	size_t n_switches, n_samples;

	trc_model_on_cpu(r->m, &n_switches);
	trc_model_sample_events(r->m, &n_samples);
	if (!n_switches && !n_samples)
		trc_line_add(line, "; not recorded: scheduling, CPU samples");
	else if (!n_switches || !n_samples)
		trc_line_add(line, "; not recorded: %s", n_switches ? "CPU samples" : "scheduling");
}

/* timeline:P1 */
static int64_t waited_ns(const struct trc_group_details *d)
{
	return d->group->total_ns - d->group->no_proc_ns;
}

/* What its waiting threads spend more than half of their lives on.  A thread waits for another's end as long
 * as that one lives, and a single one for its work: only of what several wait for, there is too little.  What
 * idle threads wait for is in no group. */
static bool is_most_of_life(const struct trc_group_details *d, enum trc_wait_class class)
{
	return d->group->reason != TRC_REASON_JOIN &&
	       (class == TRC_WAIT_FILES || d->n_threads > 1) && waited_ns(d) > d->threads_ns / 2;
}

/* "10 threads waited 7.50 s, 75.0% of their time, for sem slots": of what costs most.  False: nothing. */
static bool add_half_of_life(struct trc_report *r, struct trc_line *line,
			     const struct trc_groups *g)
{
	const struct trc_group_details *most = NULL;
	char total[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];

	for (int class = TRC_WAIT_THREADS; class <= TRC_WAIT_FILES; class ++) {
		enum trc_wait_class of = (enum trc_wait_class) class;
		const struct trc_group_details *d = trc_groups_details(g, of);

		for (size_t i = 0; i < g->n_of[class]; i++)
			if (is_most_of_life(&d[i], of) &&
			    (!most || waited_ns(&d[i]) > waited_ns(most)))
				most = &d[i];
	}
	if (!most)
		return false;
	trc_line_add(line, "%u thread%s waited %s, %s of %s time, for ", most->n_threads,
		     most->n_threads == 1 ? "" : "s", trc_text_duration(total, waited_ns(most)),
		     trc_text_share(share, waited_ns(most), most->threads_ns),
		     most->n_threads == 1 ? "its" : "their");
	trc_report_what(r, line, most);
	if (most->group->stack) {
		trc_line_add(line, " at ");
		trc_report_place(r, line, most->group->stack);
	}
	return true;
}

int trc_find_nothing(struct trc_report *r, struct trc_array *out)
{
	const struct trc_finding f = {
		.kind = TRC_FINDING_NOTHING,
		.severity = TRC_SEVERITY_NOTE,
		.start_ns = TRC_NEVER,
		.end_ns = TRC_NEVER,
	};
	char total[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	struct trc_groups g;
	struct trc_line line;
	bool half;
	int err;

	if (out->n || !r->n_threads)
		return 0;
	err = trc_groups_of_objects(&g, r, GROUPS_LOOKED_AT);
	if (err)
		return err;
	trc_finding_line(&line);
	half = add_half_of_life(r, &line, &g);
	trc_groups_free(&g);
	if (half)
		trc_line_add(&line, "; ");
	else
		trc_line_add(&line, "nothing stands out%s: ",
			     r->selection		   ? " in what is selected"
			     : trc_model_lost_events(r->m) ? " in what was recorded"
							   : "");
	if (locked_ns(r) > 0)
		trc_line_add(&line, "threads waited %s for locks, %s of their time",
			     trc_text_duration(total, locked_ns(r)),
			     trc_text_share(share, locked_ns(r), lived_ns(r)));
	else
		trc_line_add(&line, "no thread waited for a lock");
	if (!half)
		add_others(r, &line);
	add_unseen(r, &line);
	return trc_finding_add(out, &f, &line);
}
