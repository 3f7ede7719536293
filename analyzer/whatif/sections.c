/* sections.c - when critical sections begin and end, lock event by lock event; see sections.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "lock_events.h"
#include "section_lengths.h"
#include "analyzer/model/order.h"

/* Between a wait's end and the time from which the lock was counted as held. */
enum { SAME_BEGIN_NS = 50000 };

struct lock {
	int64_t wanted_ns; /* the first wait began since others than readers last unlocked; INT64_MAX = none did, or
			    * all have ended */
	int64_t other_ns
		[2]; /* when a thread was last seen to have it, and another before that thread */
	uint32_t other[2];
	uint32_t open;	   /* use with an open section + 1; of readers, none */
	int64_t writer_ns; /* when a writer was last seen to have it */
	uint32_t n_wait;
	int64_t wait_ns;	 /* since when some have waited */
	uint32_t n_readers_left; /* since then */
};

/* Of a thread: its last two waits for condition variables. */
struct conds {
	int64_t start_ns[2], end_ns[2];
};

/* ---- uses and sections ---- */

static struct trc_lock_user *use_of(struct trc_sweep *w, const struct trc_lock_event *event)
{
	/* A thread's row is below 2^32, as a lock's: keys are unique. */
	uint64_t key = (uint64_t)event->lock << 32 | event->thread;
	uint32_t row = trc_index_get(&w->use_row, key);
	struct trc_lock_user *use;

	if (row != TRC_INDEX_NONE)
		return (struct trc_lock_user *)w->uses.row + row;
	use = trc_array_add(&w->uses);
	if (!use || trc_index_put(&w->use_row, key, (uint32_t)(w->uses.n - 1)))
		return NULL;
	*use = (struct trc_lock_user){
		.thread = event->thread, .lock = event->lock, .released_ns = INT64_MIN};
	return use;
}

static struct lock *lock_of(const struct trc_sweep *w, uint32_t lock)
{
	return (struct lock *)w->locks.row + lock;
}

static int sweep_add_section(struct trc_sweep *w, struct trc_lock_user *use, int64_t begin_ns,
			     int64_t end_ns)
{
	struct trc_section *section;

	use->released_ns = end_ns;
	if (w->learning)
		return 0;
	section = trc_array_add(&w->s->sections);
	if (!section)
		return -ENOMEM;
	*section = (struct trc_section){
		.begin_ns = begin_ns,
		.end_ns = trc_later_ns(begin_ns, end_ns),
		.lock = use->lock,
		.thread = use->thread,
		.park = use->open ? use->park : 0,
		.reader = use->reader,
		.tried = use->tried,
	};
	return 0;
}

static void close_use(struct trc_sweep *w, struct trc_lock_user *use)
{
	struct lock *lock = lock_of(w, use->lock);

	if (lock->open == (uint32_t)(use - (struct trc_lock_user *)w->uses.row) + 1)
		lock->open = 0;
	use->open = false;
	use->park = 0;
}

/* The open section has ended, by limit_ns at the latest, without an unlock. */
static int end_unseen(struct trc_sweep *w, struct trc_lock_user *use, int64_t limit_ns)
{
	const struct trc_park *park = use->park ? &w->waits->park[use->park - 1] : NULL;
	int64_t end_ns = use->begin_ns, usual, err;

	limit_ns = trc_later_ns(trc_earlier_ns(limit_ns, use->limit_ns), use->begin_ns);
	usual = trc_length_usual_ns(w, use, park ? park->stack : 0);
	if (usual < 0)
		usual = trc_length_usual_ns(w, use, TRC_WHOLE_LOCK);
	if (usual <= 0)
		usual = trc_length_usual_ns(w, use, TRC_SHORTEST);
	if (usual <= 0 && use->reader)
		usual = trc_length_usual_ns(w, use, TRC_LONGEST);
	if (w->assume && usual > 0) {
		if (__builtin_add_overflow(use->begin_ns, usual, &end_ns))
			end_ns = limit_ns;
		end_ns = trc_length_out_of_wait(w, use->thread, trc_earlier_ns(end_ns, limit_ns));
		end_ns = trc_later_ns(trc_earlier_ns(end_ns, limit_ns), use->begin_ns);
	}
	w->s->n_assumed += !w->learning;
	err = sweep_add_section(w, use, use->begin_ns, end_ns);
	close_use(w, use);
	return (int)err;
}

/* The thread was seen to have the lock. */
static void seen(struct trc_sweep *w, uint32_t lock_row, uint32_t thread, bool reader,
		 int64_t ts_ns)
{
	struct lock *lock = lock_of(w, lock_row);
	struct trc_lock_user *use = w->uses.row;

	if (!reader)
		lock->writer_ns = ts_ns;

	if (lock->other[0] != thread) {
		lock->other[1] = lock->other[0];
		lock->other_ns[1] = lock->other_ns[0];
		lock->other[0] = thread;
	}
	lock->other_ns[0] = ts_ns;
	if (lock->open && use[lock->open - 1].thread != thread)
		use[lock->open - 1].limit_ns = trc_earlier_ns(use[lock->open - 1].limit_ns, ts_ns);
}

/* When another thread last had it; other readers may have it at the same time. */
static int64_t other_had_ns(const struct trc_sweep *w, const struct trc_lock_user *use)
{
	const struct lock *lock = lock_of(w, use->lock);

	if (use->reader)
		return lock->writer_ns;
	return lock->other[0] == use->thread ? lock->other_ns[1] : lock->other_ns[0];
}

/* ---- without --locks=all ---- */

static struct conds *conds_of(const struct trc_sweep *w, uint32_t thread)
{
	size_t row = trc_outer_waits_row(w->waits, thread);

	return row == SIZE_MAX ? NULL : (struct conds *)w->conds.row + row;
}

/* V3: how the thread's waits for condition variables bound a section that ends at `end_ns`. */
struct cond_bounds {
	int64_t end_ns;	  /* of the section: where such a wait begins, if the unlock is in it */
	int64_t since_ns; /* the end of the wait before that */
	int64_t begun_ns; /* its begin */
};

static struct cond_bounds cond_bounds(const struct trc_sweep *w, uint32_t thread, int64_t end_ns)
{
	const struct conds *c = conds_of(w, thread);

	if (!c)
		return (struct cond_bounds){end_ns, INT64_MIN, INT64_MIN};
	if (end_ns >= c->start_ns[0] && end_ns < c->end_ns[0])
		return (struct cond_bounds){c->start_ns[0], c->end_ns[1], c->start_ns[1]};
	return (struct cond_bounds){end_ns, c->end_ns[0], c->start_ns[0]};
}

/* V4: a reader may have come while a writer waited.  The first that leaves is taken to be one that the writer found. */
static bool may_join(const struct trc_sweep *w, const struct trc_lock_user *use)
{
	return use->reader && w->s->prefers[use->lock] != TRC_RWLOCK_WRITERS &&
	       lock_of(w, use->lock)->n_readers_left;
}

/* V4, V5. */
static int64_t assume_begin(struct trc_sweep *w, const struct trc_lock_user *use,
			    const struct trc_unlock *unlock, int64_t end_ns, int64_t least_ns)
{
	int64_t last_ns = may_join(w, use)
				  ? end_ns
				  : trc_earlier_ns(lock_of(w, use->lock)->wanted_ns, end_ns);
	int64_t usual = trc_length_usual_ns(w, use, unlock->stack), begin_ns;
	uint32_t wait = trc_outer_wait_at(w->waits, use->thread, last_ns);

	if (wait && w->waits->park[wait - 1].start_ns >= least_ns)
		last_ns = w->waits->park[wait - 1].start_ns;
	begin_ns = last_ns;
	if (w->assume && usual >= 0 && !__builtin_sub_overflow(end_ns, usual, &begin_ns))
		begin_ns = trc_length_out_of_wait(w, use->thread, begin_ns);
	if (w->assume && usual < 0) {
		begin_ns = trc_length_over_calls(w, use, unlock, last_ns, least_ns);
		usual = trc_length_usual_ns(w, use, TRC_LONGEST);
		if (use->reader && begin_ns >= last_ns && usual > 0 &&
		    !__builtin_sub_overflow(end_ns, usual, &begin_ns))
			begin_ns = trc_length_out_of_wait(w, use->thread, begin_ns);
	}
	w->s->n_assumed += !w->learning;
	return trc_later_ns(trc_earlier_ns(begin_ns, last_ns), trc_earlier_ns(least_ns, end_ns));
}

/* It says when the section began, if that can be. */
static bool tells_begin(const struct trc_unlock *unlock, int64_t end_ns, int64_t least_ns)
{
	return unlock->taken_ns != TRC_NEVER && unlock->taken_ns <= end_ns &&
	       unlock->taken_ns >= least_ns;
}

/* Some have waited for it all the time: each unlock is in the trace. */
static bool waited_since(const struct trc_sweep *w, const struct trc_lock_user *use,
			 int64_t since_ns)
{
	const struct lock *lock = lock_of(w, use->lock);

	return lock->n_wait && lock->wait_ns <= since_ns;
}

/* The open section, which began with a wait, is not the one that this unlock ends. */
static bool ended_before(const struct trc_sweep *w, const struct trc_lock_user *use,
			 const struct trc_unlock *unlock, int64_t end_ns)
{
	int64_t usual = trc_length_usual_ns(w, use, unlock->stack);

	if (use->limit_ns < end_ns)
		return true;
	if (waited_since(w, use, use->begin_ns))
		return false;
	if (unlock->taken_ns != TRC_NEVER && unlock->taken_ns <= end_ns)
		return trc_ns_between(use->begin_ns, unlock->taken_ns) > SAME_BEGIN_NS;
	return usual >= 0 && trc_ns_between(use->begin_ns, end_ns) / 2 > usual;
}

/* A reader's unlock does not tell when the section began.  One that another thread waited behind all the time had no unlock
 * before. */
static int learn_from(struct trc_sweep *w, const struct trc_lock_user *use,
		      const struct trc_unlock *unlock, bool known, int64_t begin_ns, int64_t end_ns)
{
	int64_t ns = trc_ns_between(begin_ns, end_ns);
	bool whole = use->reader ? waited_since(w, use, begin_ns) : unlock->taken_ns != TRC_NEVER;

	if (!known)
		return trc_length_learn_one(w, trc_length_key(use->lock, use->reader, TRC_SHORTEST),
					    ns);
	if (!whole)
		return use->reader ? trc_length_learn_one(
					     w, trc_length_key(use->lock, true, TRC_LONGEST), ns)
				   : 0;
	return trc_length_learn(w, use->lock, use->reader, unlock->stack,
				use->open && use->park ? w->waits->park[use->park - 1].stack : 0,
				ns);
}

static int unlocked(struct trc_sweep *w, struct trc_lock_user *use,
		    const struct trc_lock_event *event)
{
	const struct trc_unlock *unlock = &w->unlock[event->row - 1];
	struct cond_bounds cond = cond_bounds(w, use->thread, event->ts_ns);
	int64_t least_ns, begin_ns;
	bool known = true;
	int err = 0;

	use->reader = event->reader;
	if (use->open && cond.begun_ns >= use->begin_ns)
		err = end_unseen(w, use, cond.begun_ns);
	if (!err && use->open && ended_before(w, use, unlock, cond.end_ns))
		err = end_unseen(w, use,
				 unlock->taken_ns != TRC_NEVER ? unlock->taken_ns : cond.end_ns);
	if (err)
		return err;
	least_ns =
		trc_later_ns(trc_later_ns(use->released_ns, cond.since_ns), other_had_ns(w, use));
	if (use->open) {
		begin_ns = use->begin_ns;
	} else if (tells_begin(unlock, cond.end_ns, least_ns)) {
		begin_ns = unlock->taken_ns;
	} else {
		begin_ns = assume_begin(w, use, unlock, cond.end_ns, least_ns);
		known = false;
	}
	if (w->learning)
		err = learn_from(w, use, unlock, known, begin_ns, cond.end_ns);
	if (!err)
		err = sweep_add_section(w, use, begin_ns, cond.end_ns);
	close_use(w, use);
	seen(w, use->lock, use->thread, use->reader, cond.end_ns);
	if (use->reader) /* a writer waits on, for the other readers */
		lock_of(w, use->lock)->n_readers_left++;
	else
		lock_of(w, use->lock)->wanted_ns = INT64_MAX;
	return err;
}

static int got(struct trc_sweep *w, struct trc_lock_user *use, const struct trc_lock_event *event)
{
	struct lock *lock = lock_of(w, use->lock);

	seen(w, use->lock, use->thread, event->reader, event->ts_ns);
	if (!--lock->n_wait)
		lock->wanted_ns = INT64_MAX;
	use->open = true;
	use->stack = w->waits->park[event->row - 1].stack;
	use->reader = event->reader;
	use->park = event->row;
	use->begin_ns = event->ts_ns;
	use->limit_ns = INT64_MAX;
	if (use->reader)
		return 0;
	lock->open = (uint32_t)(use - (struct trc_lock_user *)w->uses.row) + 1;
	lock->wanted_ns = INT64_MAX;
	return 0;
}

static int sweep_wanted(struct trc_sweep *w, struct trc_lock_user *use,
			const struct trc_lock_event *event)
{
	struct lock *lock = lock_of(w, use->lock);

	lock->wanted_ns = trc_earlier_ns(lock->wanted_ns, event->ts_ns);
	if (!lock->n_wait++) {
		lock->wait_ns = event->ts_ns;
		lock->n_readers_left = 0;
	}
	return use->open ? end_unseen(w, use, event->ts_ns) : 0;
}

/* ---- with it ---- */

static int sweep_acquired(struct trc_sweep *w, struct trc_lock_user *use,
			  const struct trc_lock_event *event)
{
	const struct trc_park *park = use->wanted ? &w->waits->park[use->wanted - 1] : NULL;

	(void)w;
	if (use->n_held++)
		return 0;
	use->open = true;
	use->reader = event->reader;
	use->tried = event->tried;
	use->park = use->wanted;
	use->wanted = 0;
	use->begin_ns = park ? trc_later_ns(event->ts_ns, park->end_ns) : event->ts_ns;
	return 0;
}

static int sweep_released(struct trc_sweep *w, struct trc_lock_user *use,
			  const struct trc_lock_event *event)
{
	int err = 0;

	if (use->n_held)
		use->n_held--;
	if (use->n_held || !use->open)
		return 0;
	err = sweep_add_section(w, use, use->begin_ns,
				cond_bounds(w, use->thread, event->ts_ns).end_ns);
	close_use(w, use);
	return err;
}

/* ---- all events ---- */

static void cond_begins(struct trc_sweep *w, const struct trc_lock_event *event)
{
	struct conds *c = conds_of(w, event->thread);

	if (!c)
		return;
	c->start_ns[1] = c->start_ns[0];
	c->end_ns[1] = c->end_ns[0];
	c->start_ns[0] = event->ts_ns;
	c->end_ns[0] = trc_park_end_ns(w->waits->m, &w->waits->park[event->row - 1]);
}

static int sweep_step(struct trc_sweep *w, const struct trc_lock_event *event)
{
	struct trc_lock_user *use;

	if (event->kind == TRC_LOCK_COND) {
		cond_begins(w, event);
		return 0;
	}
	use = use_of(w, event);
	if (!use)
		return -ENOMEM;
	switch ((enum trc_lock_event_kind)event->kind) {
	case TRC_LOCK_WANTED:
		if (!w->s->all)
			return sweep_wanted(w, use, event);
		use->wanted = event->row;
		return 0;
	case TRC_LOCK_GOT:
		return w->s->all ? 0 : got(w, use, event);
	case TRC_LOCK_UNLOCKED:
		return w->s->all ? 0 : unlocked(w, use, event);
	case TRC_LOCK_ACQUIRED:
		return sweep_acquired(w, use, event);
	case TRC_LOCK_RELEASED:
		return sweep_released(w, use, event);
	case TRC_LOCK_COND:
		break;
	}
	return 0;
}

static void empty(struct trc_array *rows, size_t row_bytes)
{
	trc_array_free(rows);
	*rows = (struct trc_array){.row_bytes = row_bytes};
}

static int sections_sweep_begin(struct trc_sweep *w)
{
	empty(&w->uses, sizeof(struct trc_lock_user));
	empty(&w->locks, sizeof(struct lock));
	empty(&w->conds, sizeof(struct conds));
	trc_index_free(&w->use_row);
	w->use_row = (struct trc_index){0};
	for (size_t i = 0; i < w->s->locks.n; i++) {
		struct lock *lock = trc_array_add(&w->locks);

		if (!lock)
			return -ENOMEM;
		*lock = (struct lock){.wanted_ns = INT64_MAX,
				      .other_ns = {INT64_MIN, INT64_MIN},
				      .writer_ns = INT64_MIN};
	}
	for (size_t i = 0; i < w->waits->n_threads; i++) {
		struct conds *c = trc_array_add(&w->conds);

		if (!c)
			return -ENOMEM;
		*c = (struct conds){{INT64_MIN, INT64_MIN}, {INT64_MIN, INT64_MIN}};
	}
	return 0;
}

static int sweep_events(struct trc_sweep *w, const struct trc_array *events)
{
	const struct trc_lock_event *event = events->row;
	int64_t end_ns = trc_model_end_ns(w->waits->m);
	int err = sections_sweep_begin(w);

	for (size_t i = 0; i < events->n && !err; i++)
		err = sweep_step(w, &event[i]);
	for (size_t i = 0; i < w->uses.n && !err; i++) {
		struct trc_lock_user *use = (struct trc_lock_user *)w->uses.row + i;

		if (use->open)
			err = w->s->all ? sweep_add_section(w, use, use->begin_ns, end_ns)
					: end_unseen(w, use, end_ns);
	}
	return err;
}

static void sections_sweep_end(struct trc_sweep *w)
{
	trc_array_free(&w->uses);
	trc_array_free(&w->known);
	trc_array_free(&w->locks);
	trc_array_free(&w->conds);
	trc_index_free(&w->use_row);
	trc_index_free(&w->known_row);
}

/* The first sweep learns how long sections are. */
int trc_sections_make(struct trc_sections *s, const struct trc_outer_waits *waits, bool assume,
		      struct trc_error *error)
{
	struct trc_sweep w = {.s = s, .waits = waits, .assume = assume, .learning = true};
	struct trc_array events = {0};
	size_t n;
	int err;

	*s = (struct trc_sections){.sections = {.row_bytes = sizeof(struct trc_section)}};
	w.unlock = trc_model_unlocks(waits->m, &n);
	w.known.row_bytes = sizeof(struct trc_known_length);
	err = trc_lock_events_make(&events, s, waits->m, error);
	if (!err)
		err = trc_prefers_make(&s->prefers, &events, s->locks.n, waits);
	if (!err && !s->all)
		err = sweep_events(&w, &events);
	if (!err)
		err = trc_length_learned(&w);
	w.learning = false;
	if (!err)
		err = sweep_events(&w, &events);
	sections_sweep_end(&w);
	trc_array_free(&events);
	if (err && !*error->text)
		snprintf(error->text, sizeof(error->text), "critical sections: out of memory");
	return err;
}

void trc_sections_free(struct trc_sections *s)
{
	trc_array_free(&s->sections);
	trc_array_free(&s->locks);
	trc_index_free(&s->lock_row);
	free(s->prefers);
}
