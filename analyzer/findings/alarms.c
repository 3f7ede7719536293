/* alarms.c - the program failed, by a crash or a deadlock; or a signal that was sent to it ended it. */
#include <signal.h>
#include <string.h>
#include "parts.h"
#include "print.h"

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

/* ---- signals that ended the process, and are not in the trace ---- */

/* Those that a fault raises, or abort(): the program failed. */
static bool is_fault(unsigned int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
	       number == SIGABRT || number == SIGTRAP || number == SIGSYS;
}

/* Those by which somebody asks a program to end: it did what it was asked. */
static bool is_request(unsigned int number)
{
	return number == SIGTERM || number == SIGINT || number == SIGHUP;
}

/* "killed by signal 15 (SIGTERM)", and the number; NULL = it was not killed, or the trace has the signal. */
static const char *killed_by(const struct trc_report *r, unsigned int *number)
{
	const char *ended = trc_report_info(r, "ended");
	size_t n;
	const struct trc_signal *s = trc_model_signals(r->m, &n);

	if (!ended || strncmp(ended, "killed by", 9) != 0 || trc_report_info(r, "signal"))
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (s[i].fatal)
			return NULL;
	*number = 0;
	sscanf(ended, "killed by signal %u", number);
	return ended;
}

static int add_end(struct trc_array *out, const char *ended, unsigned int number)
{
	const struct trc_finding f = {
		.kind = is_fault(number) ? TRC_FINDING_CRASH : TRC_FINDING_KILLED,
		.severity = is_request(number) ? TRC_SEVERITY_NOTE : TRC_SEVERITY_ALARM,
		.start_ns = TRC_NEVER,
		.end_ns = TRC_NEVER,
	};
	struct trc_line line;

	trc_finding_line(&line);
	trc_line_add(&line, is_request(number) ? "ended: " : "ENDED: ");
	trc_line_data(&line, ended, 80);
	return trc_finding_add(out, &f, &line);
}

/* What the process left behind of a signal whose event is not in the trace. */
static int add_note(struct trc_report *r, struct trc_array *out)
{
	const struct trc_finding f = {
		.kind = TRC_FINDING_CRASH,
		.severity = TRC_SEVERITY_ALARM,
		.start_ns = TRC_NEVER,
		.end_ns = TRC_NEVER,
	};
	struct trc_line line;

	trc_finding_line(&line);
	trc_line_add(&line, "CRASH: ");
	trc_report_signal_note(r, &line);
	return trc_finding_add(out, &f, &line);
}

int trc_find_crashes(struct trc_report *r, struct trc_array *out)
{
	size_t n, n_fatal = 0;
	const struct trc_signal *s = trc_model_signals(r->m, &n);
	unsigned int number;
	const char *ended = killed_by(r, &number);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (!s[i].fatal)
			continue;
		n_fatal++;
		err = add_crash(r, out, &s[i]);
	}
	if (!err && !n_fatal && trc_report_info(r, "signal"))
		return add_note(r, out);
	return !err && ended && !is_request(number) ? add_end(out, ended, number) : err;
}

int trc_find_request(struct trc_report *r, struct trc_array *out)
{
	unsigned int number;
	const char *ended = killed_by(r, &number);

	return ended && is_request(number) ? add_end(out, ended, number) : 0;
}

static size_t count_fatal(const struct trc_report *r)
{
	size_t n, n_fatal = 0;
	const struct trc_signal *s = trc_model_signals(r->m, &n);

	for (size_t i = 0; i < n; i++)
		n_fatal += s[i].fatal;
	return n_fatal;
}

/* It may have ended as it should: no alarm. */
static bool ended_in_silence(const char *ended)
{
	return ended && !strncmp(ended, "without a last word", 19);
}

static void print_end(struct trc_report *r, const struct trc_finding *f, size_t n)
{
	bool is_alarm = n && f->severity == TRC_SEVERITY_ALARM;
	const char *ended = trc_report_info(r, "ended");
	struct trc_line line;

	if (!n && !ended_in_silence(ended))
		return;
	trc_line_begin(&line, r->width, r->colour);
	if (is_alarm)
		trc_line_style(&line, TRC_STYLE_ALARM);
	if (!n)
		trc_line_add(&line, "ended: ");
	trc_line_data(&line, n ? f->sentence : ended, n ? r->width : 80);
	if (is_alarm)
		trc_line_style(&line, TRC_STYLE_PLAIN);
	if (count_fatal(r) > 1)
		trc_line_add(&line, ", and %zu more", count_fatal(r) - 1);
	trc_report_line(r, &line);
}

int trc_report_crash_line(struct trc_report *r)
{
	struct trc_array found = {.row_bytes = sizeof(struct trc_finding)};
	int err = trc_find_crashes(r, &found);

	if (!err && !found.n)
		err = trc_find_request(r, &found);
	if (!err)
		print_end(r, found.row, found.n);
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

static void set_remedy(struct trc_report *r, struct trc_finding *f, const struct trc_deadlock *row,
		       size_t n_cycle)
{
	struct trc_line line, order;
	const char *remedy = trc_report_deadlock_remedy(r, &order, row, n_cycle);

	trc_line_begin(&line, TRC_REMEDY_WIDTH, false);
	trc_line_add(&line, "%s", remedy);
	if (*trc_line_text(&order))
		trc_line_add(&line, ": %s", trc_line_text(&order));
	snprintf(f->remedy, sizeof(f->remedy), "%s", trc_line_text(&line));
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
	size_t n_cycle = 1;

	for (size_t i = 1; i < n; i++) {
		n_cycle += row[i].in_cycle;
		if (!row[i].in_cycle || row[i].since_ns <= f.start_ns)
			continue;
		f.start_ns = row[i].since_ns;
		f.thread = row[i].thread;
	}
	f.park = park_of(r, f.thread);
	trc_finding_line(&line);
	trc_report_deadlock_headline(r, &line, row, n);
	set_remedy(r, &f, row, n_cycle);
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
