/* threads.c - each thread's time, running and waiting. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"

static const char *const CLASS_NAME[TRC_WAIT_CLASSES] = {
	[TRC_WAIT_LOCKS] = "locks",
	[TRC_WAIT_THREADS] = "others",
	[TRC_WAIT_FILES] = "files",
	[TRC_WAIT_OUTSIDE] = "outside",
};

struct row {
	const struct trc_thread *thread;
	int64_t class_ns[TRC_WAIT_CLASSES];
	int64_t alive_ns, unparked_ns, on_cpu_ns;
};

/* Who waits most for locks, then who works most. */
static int compare_thread_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int64_t locks_x = x->class_ns[TRC_WAIT_LOCKS], locks_y = y->class_ns[TRC_WAIT_LOCKS];

	if (locks_x != locks_y)
		return locks_x > locks_y ? -1 : 1;
	if (x->unparked_ns != y->unparked_ns)
		return x->unparked_ns > y->unparked_ns ? -1 : 1;
	return x->thread->serial < y->thread->serial ? -1 : 1;
}

int64_t trc_report_ran_ns(const struct trc_report *r)
{
	int64_t sum_ns = TRC_NEVER;

	for (size_t i = 0; i < r->n_threads; i++) {
		if (r->thread[i].on_cpu_ns == TRC_NEVER)
			continue;
		sum_ns = sum_ns == TRC_NEVER ? 0 : sum_ns;
		trc_report_add(&sum_ns, r->thread[i].on_cpu_ns);
	}
	return sum_ns;
}

static void make_row(const struct trc_report *r, size_t i, struct row *row)
{
	row->thread = &r->thread[i];
	memcpy(row->class_ns, r->class_ns[i], sizeof(row->class_ns));
	row->alive_ns = trc_report_lifetime_ns(r, row->thread);
	row->on_cpu_ns = trc_report_on_cpu_ns(r, i);
	/* The kernel has it on a proc a little before its first event and after its last. */
	if (row->on_cpu_ns > row->alive_ns)
		row->on_cpu_ns = row->alive_ns;
	row->unparked_ns = row->alive_ns;
	for (int class = 0; class < TRC_WAIT_CLASSES; class ++)
		row->unparked_ns -= row->class_ns[class];
	if (row->unparked_ns < 0)
		row->unparked_ns = 0;
}

static void threads_print_columns(struct trc_report *r, bool scheduled)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line, "  thread");
	trc_line_to(&line, 30);
	trc_line_right(&line, 12, "alive");
	if (scheduled)
		trc_line_right(&line, 9, "running");
	trc_line_right(&line, 12, "not parked");
	for (int class = 0; class < TRC_WAIT_CLASSES; class ++)
		trc_line_right(&line, 8, CLASS_NAME[class]);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static void threads_print_row(struct trc_report *r, const struct row *row, bool scheduled)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  ");
	trc_report_thread(r, &line, row->thread->serial, 28);
	trc_line_to(&line, 30);
	trc_line_right(&line, 12, trc_text_duration(number, row->alive_ns));
	if (scheduled)
		trc_line_right(&line, 9,
			       row->on_cpu_ns == TRC_NEVER
				       ? ""
				       : trc_text_share(number, row->on_cpu_ns, row->alive_ns));
	trc_line_right(&line, 12, trc_text_share(number, row->unparked_ns, row->alive_ns));
	for (int class = 0; class < TRC_WAIT_CLASSES; class ++)
		trc_line_right(&line, 8,
			       row->class_ns[class]
				       ? trc_text_share(number, row->class_ns[class], row->alive_ns)
				       : "");
	trc_report_line(r, &line);
}

/* Those of which any time is selected; without a selection all. */
static size_t keep_thread_rows(const struct trc_report *r, struct row *row)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_threads; i++)
		if (!r->selection || row[i].alive_ns)
			row[n++] = row[i];
	return n;
}

int trc_report_threads(struct trc_report *r)
{
	struct row *row = calloc(r->n_threads + 1, sizeof(*row));
	bool scheduled = false;
	size_t n;

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_threads; i++) {
		make_row(r, i, &row[i]);
		scheduled = scheduled || row[i].on_cpu_ns != TRC_NEVER;
	}
	n = keep_thread_rows(r, row);
	if (n) {
		qsort(row, n, sizeof(*row), compare_thread_rows);
		trc_report_heading(r, "Threads",
				   r->selection ? "shares of the time of each that is selected"
						: "shares of the time that each was alive");
		threads_print_columns(r, scheduled);
	}
	for (size_t i = 0; i < n && i < r->top; i++)
		threads_print_row(r, &row[i], scheduled);
	trc_report_more(r, n);
	free(row);
	return 0;
}
