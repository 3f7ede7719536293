/*
 * own_locks.c - threads wait for each other as for a lock, where no lock of a library is: for rows of a table, slots,
 * connections (analyzer/words/own_locks.h).
 *
 * The largest TOLD_MAX places are told.  A place counts if its threads wait there for LIVES_PERCENT of their lives.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "format/check.h"
#include "parts.h"
#include "analyzer/words/own_locks.h"

enum { TOLD_MAX = 2, LIVES_PERCENT = 10, FUNCTION_WIDTH = 80 };

/* One lock's. */
struct own_waits {
	const struct trc_own_lock *lock;
	struct trc_array rows; /* uint32_t, of r->park */
	int64_t *woken_ns;     /* by trc_report_same_place() of who woke the threads */
	bool *has_stack;       /* by stack id: waits are there */
};

static bool costs(struct trc_report *r, const struct trc_own_lock *lock)
{
	return lock->tells && lock->ns >= lock->threads_ns / 100 * LIVES_PERCENT &&
	       lock->ns >= r->length_ns / 100 /* G3 */ &&
	       !trc_interpreter_of(r, &r->park[lock->longest]);
}

static int collect(struct own_waits *w, const struct trc_report *r, const struct trc_own_locks *own)
{
	w->rows.row_bytes = sizeof(uint32_t);
	w->woken_ns = calloc(r->n_canonical + 1, sizeof(*w->woken_ns));
	w->has_stack = calloc(r->n_canonical + 1, sizeof(*w->has_stack));
	if (!w->woken_ns || !w->has_stack)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_parks; i++) {
		const struct trc_park *park = &r->park[i];
		uint32_t *row;

		if (trc_own_lock_of(own, r, park) != w->lock)
			continue;
		row = trc_array_add(&w->rows);
		if (!row)
			return -ENOMEM;
		*row = (uint32_t)i;
		w->has_stack[park->stack] = true;
		trc_report_add(&w->woken_ns[trc_report_same_place(r, park->waker_stack)],
			       trc_park_end_ns(r->m, park) - trc_park_start_ns(r->m, park));
	}
	return 0;
}

static void own_waits_free(struct own_waits *w)
{
	trc_array_free(&w->rows);
	free(w->woken_ns);
	free(w->has_stack);
}

/* Empty if the waits are at more stacks than a query has room for. */
static void own_lock_set_sql(const struct own_waits *w, const struct trc_report *r,
			     struct trc_finding *f)
{
	const char *separator = "";

	trc_finding_sql_add(f, "SELECT * FROM parks WHERE reason = '%s' AND stack IN (",
			    trc_reason_name(w->lock->reason));
	for (uint32_t i = 1; i < r->n_canonical; i++) {
		if (!w->has_stack[i])
			continue;
		trc_finding_sql_add(f, "%s%u", separator, i);
		separator = ", ";
		if (!f->sql[0])
			return;
	}
	trc_finding_sql_add(f, ") ORDER BY waited_ns DESC");
}

/* Of threads; NULL: it says nothing of what to change. */
static const char *const END_WORDS[TRC_CAUSE_KINDS] = {
	[TRC_CAUSE_RUNNING] = "ran",
	[TRC_CAUSE_ACTIVE] = "did not wait",
	[TRC_CAUSE_PREEMPTED] = "had no processor",
	[TRC_CAUSE_WAKING] = "had been woken, and did not run yet",
	[TRC_CAUSE_SLEEPING] = "slept",
	[TRC_CAUSE_IO] = "waited for files or data",
	[TRC_CAUSE_OUTSIDE] = "waited for what comes from outside",
};

/* What threads did while others waited for them: of one kind, or of one kind at one place. */
struct end {
	int64_t ns;
	struct trc_cause cause; /* one of them; a kind alone has no stack */
};

struct ends {
	struct trc_array rows; /* struct end */
	struct trc_index row_of;
	int64_t all_ns;
};

static int ends_add(struct ends *ends, const struct trc_cause *cause, uint32_t place)
{
	const uint64_t alike[] = {(uint64_t)cause->kind << 32 | (place ? cause->reason : 0), place};
	uint32_t number = trc_index_number(&ends->row_of, trc_check64(alike, sizeof(alike), 0));
	struct end *end = number > ends->rows.n ? trc_array_add(&ends->rows)
						: (struct end *)ends->rows.row + number - 1;

	if (!number || !end)
		return -ENOMEM;
	end->cause = *cause;
	end->cause.stack = place;
	trc_report_add(&end->ns, cause->to_ns - cause->from_ns);
	return 0;
}

/* Of some waits, which stand for all. */
static int sum_ends(const struct own_waits *w, struct trc_report *r, struct ends *ends)
{
	enum { WAITS_FOLLOWED = 2000 };
	const uint32_t *row = w->rows.row;
	size_t step = w->rows.n / WAITS_FOLLOWED + 1;
	int err = 0;

	for (size_t i = 0; i < w->rows.n && !err; i += step) {
		const struct trc_cause *cause;
		size_t n = 0;

		err = trc_report_causes_of_park(r, row[i], &cause, &n);
		for (size_t k = 0; k < n && !err; k++) {
			uint32_t place = trc_report_same_place(r, cause[k].stack);

			if (!cause[k].leaf)
				continue;
			trc_report_add(&ends->all_ns, cause[k].to_ns - cause[k].from_ns);
			err = ends_add(ends, &cause[k], 0);
			if (!err && place)
				err = ends_add(ends, &cause[k], place);
		}
	}
	return err;
}

/* The largest of them, of kinds alone or with places; NULL = none is as large as that. */
static struct end *largest_end(const struct ends *ends, bool placed, int percent)
{
	struct end *end = ends->rows.row, *most = NULL;

	for (size_t i = 0; i < ends->rows.n; i++)
		if (END_WORDS[end[i].cause.kind] && !end[i].cause.stack == !placed &&
		    end[i].ns >= ends->all_ns / 100 * percent && (!most || end[i].ns > most->ns))
			most = &end[i];
	return most;
}

static void add_end(struct trc_report *r, struct trc_line *line, const struct ends *ends,
		    const struct end *end, bool first)
{
	const struct trc_cause *cause = &end->cause;
	char share[TRC_NUMBER_BYTES];

	trc_line_add(line, "%s for %s %s ", first ? "; in the end" : ",",
		     trc_text_share(share, end->ns, ends->all_ns), first ? "threads" : "they");
	if (cause->stack && (cause->kind == TRC_CAUSE_IO || cause->kind == TRC_CAUSE_OUTSIDE))
		trc_line_add(line, "waited for %s", trc_reason_name(cause->reason));
	else
		trc_line_add(line, "%s", END_WORDS[cause->kind]);
	if (!cause->stack)
		return;
	trc_line_add(line, cause->stack_of == TRC_CAUSE_STACK_END ? ", up to " : " at ");
	trc_report_place(r, line, cause->stack);
}

/* "; in the end for 43.0% threads slept at pass, for 21.0% they ran, up to row_unlock": by places if one is large, else by kinds. */
static int add_ends(const struct own_waits *w, struct trc_report *r, struct trc_line *line)
{
	enum { TOLD = 2, PLACE_PERCENT = 25, LEAST_PERCENT = 10 };
	struct ends ends = {.rows = {.row_bytes = sizeof(struct end)}};
	int err = sum_ends(w, r, &ends);
	bool placed = !err && largest_end(&ends, true, PLACE_PERCENT);

	for (int i = 0; i < TOLD && !err; i++) {
		struct end *end = largest_end(&ends, placed, LEAST_PERCENT);

		if (!end || !end->ns)
			break;
		add_end(r, line, &ends, end, !i);
		end->ns = 0;
	}
	trc_array_free(&ends.rows);
	trc_index_free(&ends.row_of);
	return err;
}

/* "woken by each other, for 97.0% at row_unlock rows.c:12; in the end ..." */
static int own_lock_set_why(const struct own_waits *w, struct trc_report *r, struct trc_finding *f)
{
	uint32_t place = 0;
	char share[TRC_NUMBER_BYTES];
	struct trc_line line;
	int err;

	for (uint32_t i = 1; i < r->n_canonical; i++)
		if (w->woken_ns[i] > 0 && (!place || w->woken_ns[i] > w->woken_ns[place]))
			place = i;
	trc_finding_line(&line);
	trc_line_add(&line, "woken by each other");
	if (place) {
		trc_line_add(&line, ", for %s at ",
			     trc_text_share(share, w->woken_ns[place], w->lock->ns));
		trc_report_place(r, &line, place);
	}
	err = add_ends(w, r, &line);
	trc_finding_set_why(f, &line);
	return err;
}

/* "cond_wait < row_lock": the first may be a function of the program's own around pthread_cond_wait(). */
static void add_place(struct trc_report *r, struct trc_line *line, uint32_t stack)
{
	const struct trc_frame *innermost = trc_report_own_frame(r, stack, 0);
	const struct trc_frame *caller = trc_report_own_frame(r, stack, 1);

	trc_report_place(r, line, stack);
	if (!caller || !caller->function || !innermost->function)
		return;
	trc_line_add(line, " < ");
	trc_line_data(line, caller->function, FUNCTION_WIDTH);
}

static int own_lock_tell(struct trc_report *r, struct trc_array *out,
			 const struct trc_own_locks *own, const struct trc_own_lock *lock)
{
	const struct trc_park *longest = &r->park[lock->longest];
	const char *name = trc_own_lock_name(lock, r);
	struct own_waits waits = {.lock = lock};
	struct trc_finding f = {
		.kind = TRC_FINDING_OWN_LOCK,
		.severity = TRC_SEVERITY_COST,
		.start_ns = longest->start_ns,
		.end_ns = longest->end_ns,
		.cost_ns = lock->ns,
		.thread = longest->thread,
		.park = trc_report_park_id(r, lock->longest),
	};
	char total[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	struct trc_line line;
	int err = collect(&waits, r, own);

	if (!err)
		err = own_lock_set_why(&waits, r, &f);
	if (!err)
		own_lock_set_sql(&waits, r, &f);
	own_waits_free(&waits);
	trc_finding_line(&line);
	trc_finding_threads(&line, lock->n_threads);
	trc_line_add(&line, " waited %s for ", trc_text_duration(total, lock->ns));
	trc_line_add(&line, "%s, %s of their time, at ", name ? name : "each other",
		     trc_text_share(share, lock->ns, lock->threads_ns));
	add_place(r, &line, longest->stack);
	return err ? err : trc_finding_add(out, &f, &line);
}

int trc_find_own_locks(struct trc_report *r, struct trc_array *out)
{
	const struct trc_own_locks *own;
	const struct trc_own_lock *told[TOLD_MAX] = {NULL}, *lock;
	int err = trc_report_own_locks(r, &own);

	if (err)
		return err;
	lock = own->locks.row;
	for (size_t i = 0; i < own->locks.n; i++) {
		if (!costs(r, &lock[i]))
			continue;
		for (int k = 0; k < TOLD_MAX; k++) {
			if (told[k] && told[k]->ns >= lock[i].ns)
				continue;
			memmove(&told[k + 1], &told[k], (size_t)(TOLD_MAX - 1 - k) * sizeof(*told));
			told[k] = &lock[i];
			break;
		}
	}
	for (int k = 0; k < TOLD_MAX && told[k] && !err; k++)
		err = own_lock_tell(r, out, own, told[k]);
	return err;
}
