/*
 * now.c - what each thread is at when the trace ends.
 *
 * The section is there for snapshots, and for recordings whose process did not end in good order.  Of any other end
 * there is nothing more to say.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "analyzer/model/signal_names.h"

/* What is more likely to be asked for comes first: who is stuck, who runs, who idles. */
enum rank {
	RANK_FAULT,
	RANK_DEADLOCK,
	RANK_LOCKS,
	RANK_FILES,
	RANK_RUNNING,
	RANK_UNKNOWN,
	RANK_THREADS,
	RANK_OUTSIDE
};

struct row {
	const struct trc_thread_now *now;
	const struct trc_signal
		*fault; /* the signal that it got and that ended the process, or NULL */
	enum rank rank;
};

static enum rank now_row_rank(const struct row *row)
{
	const struct trc_thread_now *now = row->now;

	if (row->fault)
		return RANK_FAULT;
	if (now->deadlock)
		return RANK_DEADLOCK;
	if (now->state == TRC_THREAD_NOT_WAITING)
		return RANK_RUNNING;
	if (now->state == TRC_THREAD_UNKNOWN)
		return RANK_UNKNOWN;
	switch (trc_wait_class(now->reason)) {
	case TRC_WAIT_LOCKS:
		return RANK_LOCKS;
	case TRC_WAIT_FILES:
		return RANK_FILES;
	case TRC_WAIT_THREADS:
		return RANK_THREADS;
	default:
		return RANK_OUTSIDE;
	}
}

static const struct trc_signal *fault_of(const struct trc_report *r, uint32_t thread)
{
	size_t n;
	const struct trc_signal *s = trc_model_signals(r->m, &n);

	for (size_t i = 0; i < n; i++)
		if (s[i].fatal && s[i].thread == thread)
			return &s[i];
	return NULL;
}

static int compare_now_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->now->since_ns != y->now->since_ns)
		return x->now->since_ns < y->now->since_ns ? -1 : 1;
	return x->now->thread < y->now->thread ? -1 : 1;
}

static bool now_is_wanted(const struct trc_report *r)
{
	const char *ended = trc_report_info(r, "ended");
	size_t n;

	trc_model_coverage(r->m, &n);
	if (n || trc_report_info(r, "snapshot"))
		return true;
	trc_model_deadlocks(r->m, &n);
	if (n)
		return true;
	return ended && (!strncmp(ended, "killed by", 9) || !strcmp(ended, "still running") ||
			 !strcmp(ended, "trace_stop()"));
}

static void now_print_columns(struct trc_report *r)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line, "  thread");
	trc_line_to(&line, 30);
	trc_line_add(&line, "  state");
	trc_line_right(&line, 14, "for");
	trc_line_add(&line, "  what, at");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static void now_add_wait(struct trc_report *r, struct trc_line *line,
			 const struct trc_thread_now *now)
{
	trc_line_add(line, "  %s", trc_reason_name(now->reason));
	if (now->reason == TRC_REASON_JOIN && now->holder) {
		trc_line_add(line, " ");
		trc_report_thread(r, line, now->holder, 26);
		return;
	}
	trc_report_waited(r, line,
			  &(struct trc_waited){now->reason, now->object, now->stack,
					       trc_report_park_descriptor(r, now->park)});
	if (now->holder) {
		trc_line_add(line, ", held by ");
		trc_report_thread(r, line, now->holder, 26);
	}
}

/* Its stack, and how old that is if it is not that of a wait. */
static void print_now_stack(struct trc_report *r, const struct trc_thread_now *now)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (!now->stack)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	if (now->stack_ns < now->since_ns || now->state != TRC_THREAD_WAITING)
		trc_line_add(&line, "%s before the end: ",
			     trc_text_duration(number, r->end_ns - now->stack_ns));
	trc_report_one_stack(r, &line, now->stack);
}

static void print_regions(struct trc_report *r, const struct trc_thread_now *now)
{
	struct trc_line line;

	if (!now->n_open_regions)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	trc_line_add(&line, "in region ");
	trc_line_data(&line, *now->region ? now->region : "?", 40);
	if (now->n_open_regions > 1)
		trc_line_add(&line, ", %u deep", now->n_open_regions);
	if (now->task)
		trc_line_add(&line, ", task %" PRIu64, now->task);
	trc_report_line(r, &line);
}

static void now_print_row(struct trc_report *r, const struct row *row)
{
	static const char *const state[] = {
		[TRC_THREAD_UNKNOWN] = "unknown",
		[TRC_THREAD_NOT_WAITING] = "not in a recorded wait",
		[TRC_THREAD_WAITING] = "waiting",
	};
	const struct trc_thread_now *now = row->now;
	char lasted[TRC_LASTED_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  ");
	trc_report_thread(r, &line, now->thread, 28);
	trc_line_to(&line, 30);
	trc_line_add(&line, "  %s", state[now->state]);
	if (row->fault) {
		const char *name = trc_signal_name(row->fault->signal);

		trc_line_add(&line, "  got SIG%s", name ? name : "?");
	} else if (now->state == TRC_THREAD_WAITING) {
		trc_line_right(&line, 12, trc_report_until_end(r, lasted, now->since_ns));
		now_add_wait(r, &line, now);
	}
	trc_report_line(r, &line);
	print_now_stack(r, now);
	print_regions(r, now);
	trc_report_labels_line(r,
			       trc_model_labels_at(r->m, now->thread, INT64_MAX, TRC_PLACE_LAST));
}

static void print_now_heading(struct trc_report *r, const struct row *row, size_t n)
{
	char text[100], waiting[TRC_NUMBER_BYTES], others[TRC_NUMBER_BYTES];
	size_t n_waiting = 0, n_others = 0;

	for (size_t i = 0; i < n; i++) {
		n_waiting += row[i].now->state == TRC_THREAD_WAITING;
		n_others += row[i].now->state == TRC_THREAD_NOT_WAITING;
	}
	snprintf(text, sizeof(text), "when the trace ends: %s waiting, %s not in a recorded wait",
		 trc_text_count(waiting, n_waiting), trc_text_count(others, n_others));
	trc_report_heading(r, "Threads now", text);
	now_print_columns(r);
}

int trc_report_now(struct trc_report *r)
{
	size_t n, n_wanted = 0;
	const struct trc_thread_now *now = trc_model_threads_now(r->m, &n);
	struct row *row;

	if (!n || !now_is_wanted(r))
		return 0;
	row = calloc(n, sizeof(*row));
	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!trc_report_wanted(r, now[i].thread, INT64_MAX, TRC_PLACE_LAST))
			continue;
		row[n_wanted] = (struct row){&now[i], fault_of(r, now[i].thread), RANK_FAULT};
		row[n_wanted].rank = now_row_rank(&row[n_wanted]);
		n_wanted++;
	}
	n = n_wanted;
	if (n) {
		qsort(row, n, sizeof(*row), compare_now_rows);
		print_now_heading(r, row, n);
	}
	for (size_t i = 0; i < n && i < r->top; i++)
		now_print_row(r, &row[i]);
	trc_report_more(r, n);
	free(row);
	return 0;
}
