/* findings.c - see findings.h. */
#include "findings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"

static int add(struct trc_array *out, const struct trc_finding *finding, struct trc_line *sentence)
{
	struct trc_finding *added = trc_array_add(out);

	if (!added)
		return -ENOMEM;
	*added = *finding;
	snprintf(added->sentence, sizeof(added->sentence), "%s", trc_line_text(sentence));
	return 0;
}

static void add_threads(struct trc_line *line, uint64_t n)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_add(line, "%s thread%s", trc_text_count(number, n), n == 1 ? "" : "s");
}

/* ---- crashes ---- */

static int add_crash(struct trc_report *r, struct trc_array *out, const struct trc_signal *s)
{
	const struct trc_finding f = {
		.kind = TRC_FINDING_CRASH,
		.severity = TRC_SEVERITY_ALARM,
		.start_ns = s->ts_ns,
		.end_ns = s->ts_ns,
		.thread = s->thread,
	};
	struct trc_line line;

	trc_line_begin(&line, TRC_FINDING_WIDTH, false);
	trc_line_add(&line, "CRASH: ");
	trc_report_signal(&line, s);
	trc_line_add(&line, " in ");
	trc_report_thread(r, &line, s->thread, 30);
	if (trc_report_canonical(r, s->stack)) {
		trc_line_add(&line, ", at ");
		trc_report_place(r, &line, s->stack);
	}
	return add(out, &f, &line);
}

/* What is known of an end whose signal is not in the trace. */
static int add_end(struct trc_report *r, struct trc_array *out)
{
	const struct trc_finding f = {
		.kind = TRC_FINDING_CRASH,
		.severity = TRC_SEVERITY_ALARM,
		.start_ns = TRC_NEVER,
		.end_ns = TRC_NEVER,
	};
	const char *ended = trc_report_info(r, "ended");
	struct trc_line line;

	trc_line_begin(&line, TRC_FINDING_WIDTH, false);
	if (trc_report_info(r, "signal")) {
		trc_line_add(&line, "CRASH: ");
		trc_report_signal_note(r, &line);
		return add(out, &f, &line);
	}
	if (!ended || strncmp(ended, "killed by", 9) != 0)
		return 0;
	trc_line_add(&line, "ENDED: ");
	trc_line_data(&line, ended, 80);
	return add(out, &f, &line);
}

static int add_crashes(struct trc_report *r, struct trc_array *out)
{
	size_t n, n_fatal = 0;
	const struct trc_signal *s = trc_model_signals(r->m, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (!s[i].fatal)
			continue;
		n_fatal++;
		err = add_crash(r, out, &s[i]);
	}
	return err || n_fatal ? err : add_end(r, out);
}

/* ---- deadlocks ---- */

static uint32_t park_of(const struct trc_report *r, uint32_t thread)
{
	size_t n;
	const struct trc_thread_now *now = trc_model_threads_now(r->m, &n);

	for (size_t i = 0; i < n; i++)
		if (now[i].thread == thread)
			return now[i].park;
	return 0;
}

/* The range is from the wait that closed the cycle. */
static int add_deadlock(struct trc_report *r, struct trc_array *out, const struct trc_deadlock *row,
			size_t n)
{
	struct trc_finding f = {
		.kind = TRC_FINDING_DEADLOCK,
		.severity = TRC_SEVERITY_ALARM,
		.start_ns = row->since_ns,
		.end_ns = r->end_ns,
		.thread = row->thread,
	};
	struct trc_line line;

	for (size_t i = 1; i < n; i++) {
		if (!row[i].in_cycle || row[i].since_ns <= f.start_ns)
			continue;
		f.start_ns = row[i].since_ns;
		f.thread = row[i].thread;
	}
	f.park = park_of(r, f.thread);
	trc_line_begin(&line, TRC_FINDING_WIDTH, false);
	trc_report_deadlock_headline(r, &line, row, n);
	return add(out, &f, &line);
}

static int add_deadlocks(struct trc_report *r, struct trc_array *out)
{
	size_t n;
	const struct trc_deadlock *row = trc_model_deadlocks(r->m, &n);
	int err = 0;

	for (size_t i = 0, first = 0; i < n && !err; i++) {
		if (i + 1 < n && row[i + 1].deadlock == row[first].deadlock)
			continue;
		err = add_deadlock(r, out, row + first, i + 1 - first);
		first = i + 1;
	}
	return err;
}

/* ---- locks ---- */

/* Such waits have their own finding. */
static bool is_deadlocked(const struct trc_report *r, const struct trc_park *park)
{
	size_t n;
	const struct trc_deadlock *row = trc_model_deadlocks(r->m, &n);

	if (park->end_ns != TRC_NEVER)
		return false;
	for (size_t i = 0; i < n; i++)
		if (row[i].thread == park->thread)
			return true;
	return false;
}

/* Range, thread and id of the group's longest wait.  Returns how long its threads waited in
 * deadlocks. */
static int64_t find_longest(const struct trc_report *r, const struct trc_groups *g,
			    const struct trc_group_details *d, struct trc_finding *f)
{
	uint32_t id = (uint32_t)(d->group - (const struct trc_group *)g->groups.row) + 1;
	int64_t longest_ns = -1, deadlocked_ns = 0;

	for (size_t i = 0; i < r->n_parks; i++) {
		int64_t start_ns, end_ns;

		if (g->of_row[i] != id)
			continue;
		start_ns = trc_park_start_ns(r->m, &r->park[i]);
		end_ns = trc_park_end_ns(r->m, &r->park[i]);
		if (is_deadlocked(r, &r->park[i])) {
			deadlocked_ns += end_ns - start_ns;
			continue;
		}
		if (end_ns - start_ns <= longest_ns)
			continue;
		longest_ns = end_ns - start_ns;
		f->thread = r->park[i].thread;
		f->start_ns = start_ns;
		f->end_ns = end_ns;
		f->park = r->wanted_parks ? 0 : (uint32_t)i + 1;
	}
	return deadlocked_ns;
}

static void lock_sentence(struct trc_report *r, struct trc_line *line,
			  const struct trc_group_details *d)
{
	int64_t total_ns = d->group->total_ns;
	int64_t caused_ns = d->by_stack ? d->by_stack_ns : d->by_thread_ns;
	char total[TRC_NUMBER_BYTES], caused[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];

	trc_text_duration(total, total_ns);
	if (d->n_by_threads) {
		if (d->by_stack)
			trc_report_place(r, line, d->by_stack);
		else
			trc_report_thread(r, line, d->by_thread, 30);
		trc_line_add(line, " caused %s of the %s that ",
			     trc_text_duration(caused, caused_ns), total);
		add_threads(line, d->n_threads);
		trc_line_add(line, " waited for ");
		trc_report_what(r, line, d);
	} else {
		add_threads(line, d->n_threads);
		trc_line_add(line, " waited %s for ", total);
		trc_report_what(r, line, d);
		trc_line_add(line, " at ");
		trc_report_place(r, line, d->group->stack);
	}
	trc_line_add(line, ", %s of %s time", trc_text_share(share, total_ns, d->threads_ns),
		     d->n_threads == 1 ? "its" : "their");
}

static int add_locks(struct trc_report *r, struct trc_array *out)
{
	struct trc_groups g;
	int err = trc_groups_of_parks(&g, r, TRC_FINDINGS_LOCKS);

	for (size_t i = 0; !err && i < g.n_of[TRC_WAIT_LOCKS]; i++) {
		const struct trc_group_details *d = trc_groups_details(&g, TRC_WAIT_LOCKS) + i;
		struct trc_finding f = {.kind = TRC_FINDING_LOCK, .severity = TRC_SEVERITY_COST};
		int64_t ns = d->group->total_ns - find_longest(r, &g, d, &f);
		struct trc_line line;

		if (ns <= 0 || ns < d->threads_ns / 100) /* G2 */
			continue;
		trc_line_begin(&line, TRC_FINDING_WIDTH, false);
		lock_sentence(r, &line, d);
		err = add(out, &f, &line);
	}
	trc_groups_free(&g);
	return err;
}

/* ---- procs ---- */

/* Of a thread, by its row. */
struct turn {
	int64_t left_ns; /* when it was taken off its proc, though it could go on; or TRC_NEVER */
	int64_t without_ns;
};

struct turns {
	struct turn *turn;
	struct trc_index procs;
	uint32_t n_procs;
	int64_t ran_ns, without_ns, longest_ns;
	struct trc_finding finding;
};

static int add_turn(struct turns *t, struct turn *turn, const struct trc_on_cpu *row,
		    int64_t trace_end_ns)
{
	int64_t end_ns = row->end_ns == TRC_NEVER ? trace_end_ns : row->end_ns;

	if (turn->left_ns != TRC_NEVER && row->start_ns != TRC_NEVER &&
	    row->start_ns > turn->left_ns) {
		int64_t ns = row->start_ns - turn->left_ns;

		trc_report_add(&turn->without_ns, ns);
		trc_report_add(&t->without_ns, ns);
		if (ns > t->longest_ns) {
			t->longest_ns = ns;
			t->finding.thread = row->thread;
			t->finding.start_ns = turn->left_ns;
			t->finding.end_ns = row->start_ns;
		}
	}
	turn->left_ns = row->preempted ? end_ns : TRC_NEVER;
	if (row->start_ns != TRC_NEVER && end_ns > row->start_ns)
		trc_report_add(&t->ran_ns, end_ns - row->start_ns);
	if (trc_index_get(&t->procs, row->proc) != TRC_INDEX_NONE)
		return 0;
	return trc_index_put(&t->procs, row->proc, t->n_procs++);
}

static int add_turns(struct turns *t, const struct trc_report *r)
{
	size_t n;
	const struct trc_on_cpu *row = trc_model_on_cpu(r->m, &n);
	int err = 0;

	t->turn = calloc(r->n_threads + 1, sizeof(*t->turn));
	if (!t->turn)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_threads; i++)
		t->turn[i].left_ns = TRC_NEVER;
	for (size_t i = 0; i < n && !err; i++) {
		const struct trc_thread *thread = trc_model_thread(r->m, row[i].thread);

		if (thread)
			err = add_turn(t, &t->turn[thread - r->thread], &row[i], r->end_ns);
	}
	return err;
}

/* Threads that waited next to nothing beside the others are none of those that are short of procs.
 */
static uint32_t count_short(const struct turns *t, size_t n_threads)
{
	uint32_t n = 0, n_short = 0;

	for (size_t i = 0; i < n_threads; i++)
		n += t->turn[i].without_ns > 0;
	for (size_t i = 0; i < n_threads; i++)
		n_short += t->turn[i].without_ns > 0 &&
			   t->turn[i].without_ns >= t->without_ns / n / 10;
	return n_short;
}

static int add_procs(struct trc_report *r, struct trc_array *out)
{
	struct turns t = {.finding = {.kind = TRC_FINDING_PROCS, .severity = TRC_SEVERITY_COST}};
	int err = add_turns(&t, r);
	int64_t could_ns = t.ran_ns;
	char number[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_report_add(&could_ns, t.without_ns);
	/* G3; nor of next to nothing: a hundredth of the trace. */
	if (!err && t.without_ns > 0 && t.without_ns >= could_ns / 5 &&
	    t.without_ns >= (r->end_ns - r->start_ns) / 100) {
		trc_line_begin(&line, TRC_FINDING_WIDTH, false);
		add_threads(&line, count_short(&t, r->n_threads));
		trc_line_add(&line,
			     " on %u proc%s waited %s to run, %s of the time that they could",
			     t.n_procs, t.n_procs == 1 ? "" : "s",
			     trc_text_duration(number, t.without_ns),
			     trc_text_share(share, t.without_ns, could_ns));
		err = add(out, &t.finding, &line);
	}
	trc_index_free(&t.procs);
	free(t.turn);
	return err;
}

/* ---- lost events ---- */

static int add_lost(struct trc_report *r, struct trc_array *out)
{
	struct trc_lost lost[TRC_LOST_CAUSES];
	int err = 0;

	trc_report_lost_causes(r, lost);
	for (unsigned int cause = 0; cause < TRC_LOST_CAUSES && !err; cause++) {
		const struct trc_finding f = {
			.kind = TRC_FINDING_LOST,
			.severity = TRC_SEVERITY_NOTE,
			.start_ns = lost[cause].first_ns,
			.end_ns = lost[cause].last_ns,
		};
		struct trc_line line;

		if (!lost[cause].events)
			continue;
		trc_line_begin(&line, TRC_FINDING_WIDTH, false);
		trc_report_lost_cause(&line, cause, &lost[cause]);
		err = add(out, &f, &line);
	}
	return err;
}

/* ---- the list ---- */

int trc_report_findings(struct trc_report *r, struct trc_array *out)
{
	static int (*const FIND[])(struct trc_report *, struct trc_array *) = {
		add_crashes, add_deadlocks, add_locks, add_procs, add_lost}; /* G1 */
	int err = 0;

	*out = (struct trc_array){.row_bytes = sizeof(struct trc_finding)};
	for (size_t i = 0; i < sizeof(FIND) / sizeof(*FIND) && !err; i++)
		err = FIND[i](r, out);
	return err;
}

int trc_findings(struct trc_model *m, struct trc_array *out, struct trc_error *error)
{
	const struct trc_report_options options = {0};
	struct trc_report r;
	int err = trc_report_begin(&r, m, NULL, &options, error);

	*out = (struct trc_array){.row_bytes = sizeof(struct trc_finding)};
	if (!err) {
		err = trc_report_findings(&r, out);
		if (err)
			snprintf(error->text, sizeof(error->text), "findings: %s", strerror(-err));
	}
	trc_report_end(&r);
	return err;
}

enum { WRAP_WIDTH = 100 }; /* sentences read badly in longer lines */

/* How many bytes of the text, up to a blank, fit into so many columns; its first word always. */
static size_t fitting(const char *text, int columns)
{
	size_t n = strcspn(text, " ");
	int width = 0;
	char word[TRC_FINDING_BYTES];

	for (size_t end = n; text[end]; n = end) {
		end += 1 + strcspn(text + end + 1, " ");
		snprintf(word, sizeof(word), "%.*s", (int)end, text);
		width = trc_line_width(word);
		if (width > columns)
			break;
		if (!text[end])
			return end;
	}
	return n;
}

/* In as many lines as it takes. */
static void print_finding(struct trc_report *r, const struct trc_finding *f)
{
	const char *rest = f->sentence;

	for (int indent = 2; *rest; indent = 6) {
		size_t n = fitting(rest, (r->width < WRAP_WIDTH ? r->width : WRAP_WIDTH) - indent);
		struct trc_line line;

		trc_line_begin(&line, r->width, r->colour);
		trc_line_to(&line, indent);
		trc_line_add(&line, "%.*s", (int)n, rest);
		trc_report_line(r, &line);
		rest += n;
		rest += strspn(rest, " ");
	}
}

/* The head has the lost events already; crashes and deadlocks have sections of their own before. */
int trc_report_findings_section(struct trc_report *r)
{
	struct trc_array findings;
	bool any_section = r->any_section, any = false;
	int err = trc_report_findings(r, &findings);
	const struct trc_finding *f = findings.row;

	for (size_t i = 0; i < findings.n && !err; i++) {
		if (f[i].kind == TRC_FINDING_LOST || f[i].severity == TRC_SEVERITY_ALARM)
			continue;
		if (!any)
			trc_report_heading(r, "Findings", NULL);
		any = true;
		print_finding(r, &f[i]);
	}
	r->any_section = any_section; /* of those with columns */
	trc_array_free(&findings);
	return err;
}
