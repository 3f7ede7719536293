/*
 * abandoned.c - locks whose holder has ended: a thread that waits for such a lock waits for ever.
 *
 *   abandoned:B1  the holder is what deadlocks.c knows of the lock's newest claim.  If events are missing
 *       since, or the trace is cut off, somebody may have given the lock back: "perhaps"
 *   abandoned:B2  a thread records its end before its last functions run, such as destructors.
 *       So an end counts only if it is older than LAST_WORDS_NS
 *   abandoned:B3  a lock is told once, whoever waits for it
 *
 * A robust lock has no such waits: the kernel hands it to a waiter when its holder ends.
 */
#include <errno.h>
#include <inttypes.h>
#include "parts.h"
#include "print.h"

static const int64_t LAST_WORDS_NS = 100 * 1000000LL;

/* B1, B2: the thread that had the lock, or NULL. */
static const struct trc_thread *ended_holder(const struct trc_report *r,
					     const struct trc_thread_now *now)
{
	const struct trc_thread *holder;

	if (now->state != TRC_THREAD_WAITING || !now->holder || !trc_reason_is_lock(now->reason))
		return NULL;
	holder = trc_model_thread(r->m, now->holder);
	if (!holder || holder->end_ns == TRC_NEVER || r->end_ns - holder->end_ns < LAST_WORDS_NS)
		return NULL;
	return holder;
}

bool trc_report_is_abandoned(const struct trc_report *r, const struct trc_park *park)
{
	size_t n;
	const struct trc_thread_now *now = trc_model_threads_now(r->m, &n);

	if (park->end_ns != TRC_NEVER)
		return false;
	/* Rows are by thread: of hundreds of thousands, each may have such a wait. */
	while (n > 1)
		if (now[n / 2].thread <= park->thread) {
			now += n / 2;
			n -= n / 2;
		} else {
			n /= 2;
		}
	return n && now->thread == park->thread && ended_holder(r, now);
}

/* Those that wait for the same lock: how many, for how long in all, and the one that waits longest. */
struct waiters {
	size_t n;
	int64_t ns;
	const struct trc_thread_now *first;
};

/* Adds one; 0 or -ENOMEM. */
static int add_waiter(struct trc_array *locks, struct trc_index *lock_of,
		      const struct trc_report *r, const struct trc_thread_now *now)
{
	uint32_t number = trc_index_number(lock_of, now->object);
	struct waiters *w;

	if (!number || (number > locks->n && !trc_array_add(locks)))
		return -ENOMEM;
	w = (struct waiters *)locks->row + number - 1;
	w->n++;
	trc_report_add(&w->ns, r->end_ns - now->since_ns);
	if (!w->first || now->since_ns < w->first->since_ns)
		w->first = now;
	return 0;
}

static bool is_certain(const struct trc_report *r)
{
	return trc_reader_info(r->reader)->complete && !trc_model_lost_events(r->m);
}

static void say(struct trc_report *r, struct trc_line *line, const struct waiters *w,
		const struct trc_thread *holder)
{
	char ago[TRC_LASTED_BYTES];

	trc_finding_line(line);
	trc_line_add(line, "%sABANDONED LOCK: ", is_certain(r) ? "" : "perhaps an ");
	trc_finding_threads(line, w->n);
	trc_line_add(line, " wait%s for %s", w->n == 1 ? "s" : "",
		     trc_reason_name(w->first->reason));
	trc_report_object(r, line, w->first->reason, w->first->object, 0);
	trc_line_add(line, ", which ");
	trc_report_thread(r, line, w->first->holder, 30);
	trc_line_add(line, " held when it ended, %s before the trace does",
		     trc_report_until_end(r, ago, holder->end_ns));
	if (!trc_report_canonical(r, w->first->stack))
		return;
	trc_line_add(line, "; at ");
	trc_report_place(r, line, w->first->stack);
}

static int add_abandoned(struct trc_report *r, struct trc_array *out, const struct waiters *w)
{
	struct trc_finding f = {
		.kind = TRC_FINDING_ABANDONED_LOCK,
		.severity = TRC_SEVERITY_ALARM,
		.start_ns = w->first->since_ns,
		.end_ns = r->end_ns,
		.cost_ns = w->ns,
		.thread = w->first->thread,
		.park = w->first->park,
	};
	struct trc_line line;

	say(r, &line, w, ended_holder(r, w->first));
	trc_finding_sql_add(&f,
			    "SELECT * FROM threads_now WHERE object = %" PRId64 " AND holder = %u",
			    (int64_t)w->first->object, w->first->holder);
	return trc_finding_add(out, &f, &line);
}

/* B3 */
int trc_find_abandoned(struct trc_report *r, struct trc_array *out)
{
	struct trc_array locks = {.row_bytes = sizeof(struct waiters)};
	struct trc_index lock_of = {0};
	size_t n;
	const struct trc_thread_now *now = trc_model_threads_now(r->m, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (ended_holder(r, &now[i]))
			err = add_waiter(&locks, &lock_of, r, &now[i]);
	for (size_t i = 0; i < locks.n && !err; i++)
		err = add_abandoned(r, out, (const struct waiters *)locks.row + i);
	trc_array_free(&locks);
	trc_index_free(&lock_of);
	return err;
}
