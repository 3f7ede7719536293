/*
 * interpreters.c - waits for the global lock of an interpreter, which lets one thread at a time run its
 * language.
 *
 * The lock is known by a function that only takes this lock, or by the variable that it lies in.
 * CPython has the lock in _PyRuntime; from 3.12 on, in the state of an interpreter, and the main interpreter's state lies in
 * _PyRuntime as well (Python/ceval_gil.c).
 *
 * The trace does not say which thread holds the lock, only which thread gives it up: as long as a thread waits, giving the
 * lock up wakes a thread.  So at any time the holder is the thread that wakes a waiter next.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/process.h"
#include "parts.h"
#include "format/path.h"

static const char PYTHON[] = "Python's global interpreter lock";
static const char RUBY[] = "Ruby's global VM lock";
static const struct {
	const char *function, *variable; /* either may be NULL */
	const char *name;
} LOCKS[] = {
	{"take_gil", "_PyRuntime", PYTHON},
	{"gvl_acquire", NULL, RUBY},
	{"gvl_acquire_common", NULL, RUBY},
	{"thread_sched_to_running", NULL, RUBY},
	{"thread_sched_to_running_common", NULL, RUBY},
	{"thread_sched_wait_running_turn", NULL, RUBY},
};
enum { WAITS_STEPPED = 1000000, N_LOCKS = sizeof(LOCKS) / sizeof(*LOCKS), FRAMES_MAX = 8 };

static bool is_sem(unsigned int reason)
{
	return reason == TRC_REASON_SEM || reason == TRC_REASON_SEM_LOCK;
}

static bool can_be(unsigned int reason)
{
	return reason == TRC_REASON_MUTEX || reason == TRC_REASON_COND ||
	       reason == TRC_REASON_COND_MUTEX || reason == TRC_REASON_FUTEX || is_sem(reason);
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
	return name || is_sem(park->reason) ? name : by_variable(r, park);
}

/* ---- the finding ---- */

struct object {
	uint64_t address;
	int64_t waited_ns;
};

/* A thread begins to wait for the lock, or ends; or one gives the lock up. */
struct step {
	int64_t ts_ns;
	int32_t waiting; /* 1, -1; 0 = given up */
	uint32_t giver;	 /* row of threads */
	uint32_t object; /* in waits.objects: what who was woken then waited for */
};

struct waits {
	struct trc_finding f;
	const char *name;	  /* NULL = none was found */
	struct trc_array objects; /* struct object: each that was waited for */
	struct trc_index seen_object;
	struct trc_array steps; /* struct step, of the first WAITS_STEPPED waits */
	size_t n_stepped;
	int64_t stepped_ns;
	uint64_t reasons; /* a bit for each reason */
	int64_t timed_out_ns;
	int64_t *by_thread, *by_holder; /* by row of the thread: it waited; others waited for it */
	const char **place;		/* by canonical stack: its interpreter */
	bool *seen;
};

static int open_waits(struct waits *w, const struct trc_report *r)
{
	w->objects.row_bytes = sizeof(struct object);
	w->steps.row_bytes = sizeof(struct step);
	w->by_thread = calloc(r->n_threads + 1, sizeof(*w->by_thread));
	w->by_holder = calloc(r->n_threads + 1, sizeof(*w->by_holder));
	w->place = calloc(r->n_canonical + 1, sizeof(*w->place));
	w->seen = calloc(r->n_canonical + 1, sizeof(*w->seen));
	return w->by_thread && w->by_holder && w->place && w->seen ? 0 : -ENOMEM;
}

static void close_waits(struct waits *w)
{
	free(w->by_thread);
	free(w->by_holder);
	free(w->place);
	free(w->seen);
	trc_array_free(&w->objects);
	trc_array_free(&w->steps);
	trc_index_free(&w->seen_object);
}

/* All waits at one place are for one kind of lock. */
static const char *interpreter_lock_name(struct waits *w, struct trc_report *r,
					 const struct trc_park *park)
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

/* The object's number, 1, 2, ...; 0 without memory. */
static uint32_t add_object(struct waits *w, const struct trc_park *park, int64_t ns)
{
	uint32_t number = trc_index_number(&w->seen_object, park->object);
	struct object *object = number > w->objects.n
					? trc_array_add(&w->objects)
					: (struct object *)w->objects.row + number - 1;

	if (!number || !object)
		return 0;
	w->reasons |= UINT64_C(1) << park->reason % 64;
	object->address = park->object;
	trc_report_add(&object->waited_ns, ns);
	return number;
}

static int add_step(struct waits *w, const struct step *step)
{
	struct step *added = trc_array_add(&w->steps);

	if (!added)
		return -ENOMEM;
	*added = *step;
	return 0;
}

/* Up to when somebody gave the lock up for it; then it has the lock. */
static int add_steps(struct waits *w, const struct trc_report *r, const struct trc_park *park,
		     uint32_t object)
{
	int64_t start_ns = trc_park_start_ns(r->m, park), end_ns = trc_park_end_ns(r->m, park);
	const struct trc_thread *waker = trc_model_thread(r->m, park->waker);
	bool given = waker && park->wake_ns > start_ns && park->wake_ns <= end_ns;
	int err = add_step(w, &(struct step){.ts_ns = start_ns, .waiting = 1});

	if (!err)
		err = add_step(
			w, &(struct step){.ts_ns = given ? park->wake_ns : end_ns, .waiting = -1});
	if (!err && given)
		err = add_step(w, &(struct step){.ts_ns = park->wake_ns,
						 .giver = (uint32_t)(waker - r->thread),
						 .object = object});
	return err;
}

static int interpreter_add_wait(struct waits *w, const struct trc_report *r, size_t i)
{
	const struct trc_park *park = &r->park[i];
	int64_t start_ns = trc_park_start_ns(r->m, park), end_ns = trc_park_end_ns(r->m, park);
	const struct trc_thread *thread = trc_model_thread(r->m, park->thread);
	uint32_t object;

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
	object = add_object(w, park, end_ns - start_ns);
	if (!object)
		return -ENOMEM;
	if (w->n_stepped == WAITS_STEPPED)
		return 0;
	w->n_stepped++;
	trc_report_add(&w->stepped_ns, end_ns - start_ns);
	return add_steps(w, r, park, object);
}

/* ---- who held the lock ---- */

/* Who is woken goes on waiting up to the moment at which the lock is given up. */
static int compare_steps(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return (x->waiting != 0) - (y->waiting != 0);
}

/* Python has two condition variables; the other one tells the thread that gave the lock up that another took it.  0 =
 * whoever is woken was given the lock. */
static uint32_t lock_object(const struct waits *w)
{
	const struct object *object = w->objects.row;
	uint32_t most = 0;

	for (size_t i = 1; w->name == PYTHON && i < w->objects.n; i++)
		if (object[i].waited_ns > object[most].waited_ns)
			most = (uint32_t)i;
	return w->name == PYTHON ? most + 1 : 0;
}

static void sum_holders(struct waits *w)
{
	const struct step *step = w->steps.row;
	uint32_t object = lock_object(w);
	int64_t since_ns = 0, waited_ns = 0, waiting = 0;

	if (w->steps.n)
		qsort(w->steps.row, w->steps.n, sizeof(*step), compare_steps);
	for (size_t i = 0; i < w->steps.n; i++) {
		int64_t ns;

		if (!__builtin_mul_overflow(step[i].ts_ns - since_ns, waiting, &ns))
			trc_report_add(&waited_ns, ns);
		since_ns = step[i].ts_ns;
		waiting += step[i].waiting;
		if (step[i].waiting || (object && step[i].object != object))
			continue;
		trc_report_add(&w->by_holder[step[i].giver], waited_ns);
		waited_ns = 0;
	}
}

enum { NAMED = 2 };

/* "python3 (1) for 40.0% of it, python3 (2) for 20.0% and 3 others": those with most of ns[], by row of thread. */
static void say_most(struct trc_report *r, struct trc_line *line, int64_t *ns, int64_t all_ns)
{
	size_t n = 0, told;
	char share[TRC_NUMBER_BYTES];

	for (size_t i = 0; i < r->n_threads; i++)
		n += ns[i] > 0;
	for (told = 0; told < n && told < NAMED; told++) {
		size_t most = 0;

		for (size_t i = 1; i < r->n_threads; i++)
			if (ns[i] > ns[most])
				most = i;
		trc_line_add(line, told ? ", " : "");
		trc_report_thread(r, line, r->thread[most].serial, 30);
		trc_line_add(line, " for %s", trc_text_share(share, ns[most], all_ns));
		if (!told)
			trc_line_add(line, " of it");
		ns[most] = 0;
	}
	if (n > told)
		trc_line_add(line, " and %zu other%s", n - told, n - told == 1 ? "" : "s");
}

/* A thread that does not get the lock within the interpreter's interval asks its holder to give the lock up,
 * and waits on.  Clears by_thread and by_holder. */
static void interpreter_set_why(struct waits *w, struct trc_report *r)
{
	bool held = false;
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	sum_holders(w);
	for (size_t i = 0; i < r->n_threads; i++)
		held |= w->by_holder[i] > 0;
	trc_finding_line(&line);
	if (held) {
		if (w->n_stepped == WAITS_STEPPED)
			trc_line_add(&line, "in the first %d waits ", WAITS_STEPPED);
		trc_line_add(&line, "held by ");
		say_most(r, &line, w->by_holder, w->stepped_ns);
	} else {
		trc_line_add(&line, "who held it is not known");
	}
	trc_line_add(&line, "; waited for by ");
	say_most(r, &line, w->by_thread, w->f.cost_ns);
	if (w->timed_out_ns >= w->f.cost_ns / 2)
		trc_line_add(&line, "; %s of it were whole intervals in which the holder ran on",
			     trc_text_share(number, w->timed_out_ns, w->f.cost_ns));
	trc_finding_set_why(&w->f, &line);
}

/* Whichever of the lock's objects, and in whichever way, they waited for. */
static void interpreter_set_sql(struct waits *w)
{
	enum { REST_BYTES = 200 };
	const struct object *object = w->objects.row;

	trc_finding_sql_add(&w->f, "SELECT * FROM parks WHERE object IN (");
	for (size_t i = 0; i < w->objects.n; i++) {
		if (strlen(w->f.sql) + REST_BYTES >= sizeof(w->f.sql)) { /* there are too many */
			w->f.sql[0] = '\0';
			return;
		}
		trc_finding_sql_add(&w->f, "%s%" PRId64, i ? ", " : "", (int64_t)object[i].address);
	}
	trc_finding_sql_add(&w->f, ") AND ");
	trc_finding_sql_reasons(&w->f, w->reasons);
	trc_finding_sql_add(&w->f, " ORDER BY waited_ns DESC");
}

static int interpreter_tell(struct waits *w, struct trc_report *r, struct trc_array *out)
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
	interpreter_set_sql(w);
	trc_finding_line(&line);
	trc_finding_threads(&line, n_threads);
	trc_line_add(&line, " waited %s for %s, %s of %s time",
		     trc_text_duration(total, w->f.cost_ns), w->name,
		     trc_text_share(share, w->f.cost_ns, threads_ns),
		     n_threads == 1 ? "its" : "their");
	interpreter_set_why(w, r);
	return trc_finding_add(out, &w->f, &line);
}

int trc_find_interpreters(struct trc_report *r, struct trc_array *out)
{
	struct waits w = {.f = {.kind = TRC_FINDING_INTERPRETER, .severity = TRC_SEVERITY_COST}};
	int err = open_waits(&w, r);

	for (size_t i = 0; i < r->n_parks && !err; i++) {
		const char *name = interpreter_lock_name(&w, r, &r->park[i]);

		if (!name)
			continue;
		w.name = name;
		err = interpreter_add_wait(&w, r, i);
	}
	if (!err)
		err = interpreter_tell(&w, r, out);
	close_waits(&w);
	return err;
}

/*
 * ---- an interpreter without names ----
 *
 * Ruby's functions that take its lock are its own: without their names other waits look the same.
 */
static const struct {
	const char *module; /* how its file is called, in the beginning */
	const char *lock;
} INTERPRETERS[] = {{"libpython", PYTHON}, {"python", PYTHON}, {"libruby", RUBY}, {"ruby", RUBY}};

/* By module: the lock that is taken in it; NULL = it is no interpreter. */
static const char *lock_of_module(const struct trc_report *r, uint32_t module)
{
	const struct trc_module_entry *entry = module ? trc_reader_module(r->reader, module) : NULL;
	const char *path = entry && entry->path ? entry->path : "";

	for (size_t i = 0; i < sizeof(INTERPRETERS) / sizeof(*INTERPRETERS); i++)
		if (!strncmp(trc_path_name(path), INTERPRETERS[i].module,
			     strlen(INTERPRETERS[i].module)))
			return INTERPRETERS[i].lock;
	return NULL;
}

/* The module without names that the innermost frames are in; 0 = none. */
static uint32_t unnamed_module(const struct trc_report *r, uint32_t stack)
{
	uint32_t first, end;

	if (!stack || stack >= r->stacks->n_stacks)
		return 0;
	first = r->stacks->stack_first[stack];
	end = r->stacks->stack_first[stack + 1];
	for (uint32_t i = first; i < end && i < first + FRAMES_MAX; i++) {
		uint32_t number = r->stacks->stack_frame[i];
		const struct trc_frame *frame = number ? &r->stacks->frame[number - 1] : NULL;

		if (frame && !frame->function && lock_of_module(r, frame->module))
			return frame->module;
	}
	return 0;
}

static int tell_unnamed(struct trc_report *r, const struct waits *w, uint32_t module,
			struct trc_array *out)
{
	struct trc_finding f = w->f;
	char name[TRC_PROGRAM_NAME_BYTES], total[TRC_NUMBER_BYTES];
	int64_t threads_ns = 0;
	uint64_t n_threads = 0;
	struct trc_line line;

	for (size_t i = 0; i < r->n_threads; i++) {
		if (!w->by_thread[i])
			continue;
		n_threads++;
		trc_report_add(&threads_ns, trc_report_lifetime_ns(r, &r->thread[i]));
	}
	if (n_threads < 2 || f.cost_ns < threads_ns / 100)
		return 0;
	trc_finding_line(&line);
	trc_finding_threads(&line, n_threads);
	trc_line_add(&line, " waited %s in ", trc_text_duration(total, f.cost_ns));
	trc_line_data(&line, trc_module_name(name, r->reader, trc_reader_module(r->reader, module)),
		      r->width);
	trc_line_add(&line, ", at places without names: how much of it for %s is not known",
		     lock_of_module(r, module));
	f.cost_ns = 0; /* it is not known */
	return trc_finding_add(out, &f, &line);
}

static bool has_interpreter(const struct trc_report *r)
{
	for (uint32_t module = 1; module < trc_reader_modules(r->reader); module++)
		if (lock_of_module(r, module))
			return true;
	return false;
}

int trc_find_unnamed(struct trc_report *r, struct trc_array *out)
{
	struct waits w = {.f = {.kind = TRC_FINDING_UNNAMED, .severity = TRC_SEVERITY_NOTE}};
	const char *known = NULL;
	uint32_t module = 0;
	int err;

	if (!has_interpreter(r))
		return 0;
	err = open_waits(&w, r);
	for (size_t i = 0; i < r->n_parks && !err && !known; i++) {
		uint32_t unnamed;

		if (!can_be(r->park[i].reason) || trc_report_is_idle(r, &r->park[i]))
			continue;
		known = interpreter_lock_name(&w, r, &r->park[i]);
		unnamed = known ? 0 : unnamed_module(r, r->park[i].stack);
		module = unnamed ? unnamed : module;
		if (unnamed)
			err = interpreter_add_wait(&w, r, i);
	}
	if (!err && !known && module)
		err = tell_unnamed(r, &w, module, out);
	close_waits(&w);
	return err;
}
