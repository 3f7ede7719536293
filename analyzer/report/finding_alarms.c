/* finding_alarms.c - the program failed: crashes and deadlocks. */
#include <string.h>
#include "finding_parts.h"

/* ---- crashes ---- */

static int add_crash(struct trc_report *r, struct trc_array *out, const struct trc_signal *s)
{
	struct trc_finding f = {
		.kind = TRC_FINDING_CRASH,
		.severity = TRC_SEVERITY_ALARM,
		.start_ns = s->ts_ns,
		.end_ns = s->ts_ns,
		.thread = s->thread,
	};
	struct trc_line line;

	trc_finding_line(&line);
	trc_line_add(&line, "CRASH: ");
	trc_report_signal(&line, s);
	trc_line_add(&line, " in ");
	trc_report_thread(r, &line, s->thread, 30);
	if (trc_report_canonical(r, s->stack)) {
		trc_line_add(&line, ", at ");
		trc_report_place(r, &line, s->stack);
	}
	trc_finding_sql_add(&f, "SELECT * FROM event_signal WHERE fatal");
	return trc_finding_add(out, &f, &line);
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

	trc_finding_line(&line);
	if (trc_report_info(r, "signal")) {
		trc_line_add(&line, "CRASH: ");
		trc_report_signal_note(r, &line);
		return trc_finding_add(out, &f, &line);
	}
	if (!ended || strncmp(ended, "killed by", 9) != 0)
		return 0;
	trc_line_add(&line, "ENDED: ");
	trc_line_data(&line, ended, 80);
	return trc_finding_add(out, &f, &line);
}

int trc_find_crashes(struct trc_report *r, struct trc_array *out)
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

int trc_report_crash_line(struct trc_report *r)
{
	struct trc_array found = {.row_bytes = sizeof(struct trc_finding)};
	const char *ended = trc_report_info(r, "ended");
	int err = trc_find_crashes(r, &found);
	const struct trc_finding *f = found.row;
	struct trc_line line;

	if (!err && found.n) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_style(&line, TRC_STYLE_ALARM);
		trc_line_data(&line, f->sentence, r->width);
		trc_line_style(&line, TRC_STYLE_PLAIN);
		if (found.n > 1)
			trc_line_add(&line, ", and %zu more", found.n - 1);
		trc_report_line(r, &line);
	}
	/* It may have ended as it should: no alarm. */
	if (!err && !found.n && ended && !strncmp(ended, "without a last word", 19)) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_add(&line, "ended: ");
		trc_line_data(&line, ended, 80);
		trc_report_line(r, &line);
	}
	trc_array_free(&found);
	return err;
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
	trc_finding_line(&line);
	trc_report_deadlock_headline(r, &line, row, n);
	trc_finding_sql_add(&f, "SELECT * FROM deadlocks WHERE deadlock = %u", row->deadlock);
	return trc_finding_add(out, &f, &line);
}

int trc_find_deadlocks(struct trc_report *r, struct trc_array *out)
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
