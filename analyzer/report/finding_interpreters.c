/*
 * finding_interpreters.c - waits for the global lock of an interpreter, which lets one thread at a time run its
 * language.
 *
 * The lock is known by a function that only takes this lock, or by the variable that it lies in.
 * CPython has had it in _PyRuntime up to 3.11 (Python/ceval_gil.h), later in each interpreter's state.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "finding_parts.h"

static const struct {
	const char *function, *variable; /* either may be NULL */
	const char *name;
} LOCKS[] = {
	{"take_gil", "_PyRuntime", "Python's global interpreter lock"},
	{"gvl_acquire", NULL, "Ruby's global VM lock"},
	{"gvl_acquire_common", NULL, "Ruby's global VM lock"},
	{"thread_sched_to_running", NULL, "Ruby's global VM lock"},
	{"thread_sched_to_running_common", NULL, "Ruby's global VM lock"},
	{"thread_sched_wait_running_turn", NULL, "Ruby's global VM lock"},
};
enum { N_LOCKS = sizeof(LOCKS) / sizeof(*LOCKS), FRAMES_MAX = 8 };

static bool can_be(unsigned int reason)
{
	return reason == TRC_REASON_MUTEX || reason == TRC_REASON_COND ||
	       reason == TRC_REASON_COND_MUTEX || reason == TRC_REASON_FUTEX ||
	       reason == TRC_REASON_SEM;
}

static const char *by_function(const struct trc_stacks *stacks, uint32_t stack)
{
	uint32_t first, end;

	if (!stack || stack >= stacks->n_stacks)
		return NULL;
	first = stacks->stack_first[stack];
	end = stacks->stack_first[stack + 1];
	for (uint32_t i = first; i < end && i < first + FRAMES_MAX; i++) {
		uint32_t frame = stacks->stack_frame[i];
		const char *function = frame ? stacks->frame[frame - 1].function : NULL;

		for (size_t k = 0; function && k < N_LOCKS; k++)
			if (!strcmp(function, LOCKS[k].function))
				return LOCKS[k].name;
	}
	return NULL;
}

static const char *by_variable(const struct trc_report *r, const struct trc_park *park)
{
	uint64_t offset;
	const char *variable = trc_model_variable(r->m, park->object, park->stack, &offset);

	for (size_t k = 0; variable && k < N_LOCKS; k++)
		if (LOCKS[k].variable && !strcmp(variable, LOCKS[k].variable))
			return LOCKS[k].name;
	return NULL;
}

const char *trc_interpreter_of(struct trc_report *r, const struct trc_park *park)
{
	const char *name;

	if (!can_be(park->reason))
		return NULL;
	name = by_function(r->stacks, park->stack);
	return name || park->reason == TRC_REASON_SEM ? name : by_variable(r, park);
}

/* ---- the finding ---- */

struct waits {
	struct trc_finding f;
	const char *name;	  /* NULL = none was found */
	struct trc_array objects; /* uint64_t: each that was waited for */
	struct trc_index seen_object;
	uint64_t reasons; /* a bit for each reason */
	int64_t timed_out_ns;
	int64_t *by_thread, *by_waker; /* by row of the thread */
	const char **place;	       /* by canonical stack: its interpreter */
	bool *seen;
};

static int open_waits(struct waits *w, const struct trc_report *r)
{
	w->objects.row_bytes = sizeof(uint64_t);
	w->by_thread = calloc(r->n_threads + 1, sizeof(*w->by_thread));
	w->by_waker = calloc(r->n_threads + 1, sizeof(*w->by_waker));
	w->place = calloc(r->n_canonical + 1, sizeof(*w->place));
	w->seen = calloc(r->n_canonical + 1, sizeof(*w->seen));
	return w->by_thread && w->by_waker && w->place && w->seen ? 0 : -ENOMEM;
}

static void close_waits(struct waits *w)
{
	free(w->by_thread);
	free(w->by_waker);
	free(w->place);
	free(w->seen);
	trc_array_free(&w->objects);
	trc_index_free(&w->seen_object);
}

/* All waits at one place are for one kind of lock. */
static const char *name_of(struct waits *w, struct trc_report *r, const struct trc_park *park)
{
	uint32_t place = trc_report_canonical(r, park->stack);

	if (!can_be(park->reason))
		return NULL;
	if (!place)
		return trc_interpreter_of(r, park);
	if (!w->seen[place]) {
		w->seen[place] = true;
		w->place[place] = trc_interpreter_of(r, park);
	}
	return w->place[place];
}

static int add_object(struct waits *w, const struct trc_park *park)
{
	size_t n = w->seen_object.n;
	uint64_t *object;

	w->reasons |= UINT64_C(1) << park->reason % 64;
	if (!trc_index_number(&w->seen_object, park->object))
		return -ENOMEM;
	if (w->seen_object.n == n)
		return 0;
	object = trc_array_add(&w->objects);
	if (object)
		*object = park->object;
	return object ? 0 : -ENOMEM;
}

static int add_wait(struct waits *w, const struct trc_report *r, size_t i)
{
	const struct trc_park *park = &r->park[i];
	int64_t start_ns = trc_park_start_ns(r->m, park), end_ns = trc_park_end_ns(r->m, park);
	const struct trc_thread *thread = trc_model_thread(r->m, park->thread);
	const struct trc_thread *waker = trc_model_thread(r->m, park->waker);

	if (!thread)
		return 0;
	if (!w->f.park || end_ns - start_ns > w->f.end_ns - w->f.start_ns) {
		w->f.start_ns = start_ns;
		w->f.end_ns = end_ns;
		w->f.thread = park->thread;
		w->f.park = trc_report_park_id(r, i);
	}
	trc_report_add(&w->f.cost_ns, end_ns - start_ns);
	if (park->result == ETIMEDOUT)
		trc_report_add(&w->timed_out_ns, end_ns - start_ns);
	trc_report_add(&w->by_thread[thread - r->thread], end_ns - start_ns);
	if (waker)
		trc_report_add(&w->by_waker[waker - r->thread], end_ns - start_ns);
	return add_object(w, park);
}

/* A thread that does not get the lock within the interpreter's interval asks its holder to give the lock up,
 * and waits on. */
static void set_why(struct waits *w, struct trc_report *r)
{
	size_t most = 0;
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	for (size_t i = 1; i < r->n_threads; i++)
		if (w->by_waker[i] > w->by_waker[most])
			most = i;
	trc_finding_line(&line);
	if (w->timed_out_ns >= w->f.cost_ns / 2)
		trc_line_add(&line, "%s of it were whole intervals in which the holder ran on",
			     trc_text_share(number, w->timed_out_ns, w->f.cost_ns));
	else if (r->n_threads && w->by_waker[most] >= w->f.cost_ns / 4) {
		trc_line_add(&line, "%s of it ended when ",
			     trc_text_share(number, w->by_waker[most], w->f.cost_ns));
		trc_report_thread(r, &line, r->thread[most].serial, 30);
		trc_line_add(&line, " gave the lock up");
	}
	trc_finding_set_why(&w->f, &line);
}

/* Whichever of the lock's objects, and in whichever way, they waited for. */
static void set_sql(struct waits *w, const struct trc_report *r)
{
	const uint64_t *object = w->objects.row;

	if (r->selection)
		return; /* which SQL does not obey */
	trc_finding_sql_add(&w->f, "SELECT * FROM parks WHERE object IN (");
	for (size_t i = 0; i < w->objects.n && w->f.sql[0]; i++)
		trc_finding_sql_add(&w->f, "%s%" PRId64, i ? ", " : "", (int64_t)object[i]);
	if (!w->f.sql[0]) /* there are too many */
		return;
	trc_finding_sql_add(&w->f, ") AND ");
	trc_finding_sql_reasons(&w->f, w->reasons);
	trc_finding_sql_add(&w->f, " ORDER BY waited_ns DESC");
}

static int tell(struct waits *w, struct trc_report *r, struct trc_array *out)
{
	int64_t threads_ns = 0;
	uint64_t n_threads = 0;
	char total[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	struct trc_line line;

	for (size_t i = 0; i < r->n_threads; i++) {
		if (!w->by_thread[i])
			continue;
		n_threads++;
		trc_report_add(&threads_ns, trc_report_lifetime_ns(r, &r->thread[i]));
	}
	if (!w->name || w->f.cost_ns <= 0 || w->f.cost_ns < threads_ns / 100) /* G3 */
		return 0;
	set_why(w, r);
	set_sql(w, r);
	trc_finding_line(&line);
	trc_finding_threads(&line, n_threads);
	trc_line_add(&line, " waited %s for %s, %s of %s time",
		     trc_text_duration(total, w->f.cost_ns), w->name,
		     trc_text_share(share, w->f.cost_ns, threads_ns),
		     n_threads == 1 ? "its" : "their");
	return trc_finding_add(out, &w->f, &line);
}

int trc_find_interpreters(struct trc_report *r, struct trc_array *out)
{
	struct waits w = {.f = {.kind = TRC_FINDING_INTERPRETER, .severity = TRC_SEVERITY_COST}};
	int err = open_waits(&w, r);

	for (size_t i = 0; i < r->n_parks && !err; i++) {
		const char *name = name_of(&w, r, &r->park[i]);

		if (!name)
			continue;
		w.name = name;
		err = add_wait(&w, r, i);
	}
	if (!err)
		err = tell(&w, r, out);
	close_waits(&w);
	return err;
}
