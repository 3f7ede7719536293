/* steps_make.c - what steps are found by: the arrays of a struct trc_steps, made, kept by a model, and in an image. */
#include "steps.h"

#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/charge.h"
#include "format/check.h"
#include "analyzer/model/image.h"
#include "analyzer/model/waits.h"

/* One more unlock with this key. */
static int lock_count(struct trc_steps *s, uint64_t key)
{
	uint32_t row = trc_index_get(&s->lock_row, key);

	if (row == TRC_INDEX_NONE) {
		row = (uint32_t)s->locks.n;
		if (!trc_array_add(&s->locks) || trc_index_put(&s->lock_row, key, row))
			return -ENOMEM;
	}
	((struct trc_steps_lock *)s->locks.row)[row].n++;
	return 0;
}

/* Gives each its part of unlock_row, and forgets the counts; what all have. */
static uint32_t locks_place(struct trc_steps *s)
{
	struct trc_steps_lock *lock = s->locks.row;
	uint32_t first = 0;

	for (size_t i = 0; i < s->locks.n; i++) {
		lock[i].first = first;
		first += lock[i].n;
		lock[i].n = 0;
	}
	return first;
}

static int locks_make(struct trc_steps *s)
{
	struct trc_steps_lock *lock;
	uint64_t key[2];

	s->locks.row_bytes = sizeof(struct trc_steps_lock);
	for (size_t i = 0; i < s->n_unlocks; i++)
		for (unsigned int j = 0; j < trc_unlock_keys(&s->unlock[i], key); j++)
			if (lock_count(s, key[j]))
				return -ENOMEM;
	s->n_unlock_rows = locks_place(s);
	s->unlock_row = calloc((size_t)s->n_unlock_rows + 1, sizeof(*s->unlock_row));
	s->unlock_place = calloc(s->n_unlocks + 1, sizeof(*s->unlock_place));
	if (!s->unlock_row || !s->unlock_place)
		return -ENOMEM;
	lock = s->locks.row;
	for (size_t i = 0; i < s->n_unlocks; i++)
		for (unsigned int j = 0; j < trc_unlock_keys(&s->unlock[i], key); j++) {
			struct trc_steps_lock *l = &lock[trc_index_get(&s->lock_row, key[j])];

			if (!j)
				s->unlock_place[i] = l->n;
			s->unlock_row[l->first + l->n++] = (uint32_t)i;
		}
	return 0;
}

static int gaps_make(struct trc_steps *s)
{
	size_t n;
	const struct trc_gap *gap = trc_model_gaps(s->m, &n);
	int64_t since_ns = INT64_MAX;

	s->lost_since_ns = calloc(n + 1, sizeof(*s->lost_since_ns));
	if (!s->lost_since_ns)
		return -ENOMEM;
	for (size_t i = n; i > 0; i--) {
		if (gap[i - 1].lost_events && gap[i - 1].source != TRC_SOURCE_KERNEL)
			since_ns = gap[i - 1].since_ns < since_ns ? gap[i - 1].since_ns : since_ns;
		s->lost_since_ns[i - 1] = since_ns;
	}
	return 0;
}

static int holders_make(struct trc_steps *s)
{
	size_t n;
	const struct trc_thread_now *now = trc_model_threads_now(s->m, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (now[i].park && now[i].holder)
			err = trc_index_put(&s->holder_now, now[i].park, now[i].holder);
	return err;
}

/* The wait that the thread was in; *next, its first wait that is not looked at yet, goes on with time.  NULL = none. */
static const struct trc_park *steps_wait_at(const struct trc_steps *s, uint32_t *next,
					    size_t thread, int64_t ts_ns)
{
	const struct trc_park *p;

	while (*next < s->parks.first[thread + 1] && s->park[s->parks.row[*next]].start_ns <= ts_ns)
		++*next;
	if (*next == s->parks.first[thread])
		return NULL;
	p = &s->park[s->parks.row[*next - 1]];
	return trc_park_end_ns(s->m, p) > ts_ns ? p : NULL;
}

static int releases_make(struct trc_steps *s)
{
	uint32_t *next = calloc(s->n_threads + 1, sizeof(*next));
	int err = next ? 0 : -ENOMEM;

	for (size_t t = 0; !err && t < s->n_threads; t++)
		next[t] = s->parks.first[t];
	for (size_t i = 0; !err && i < s->n_unlocks; i++) {
		const struct trc_thread *t = trc_model_thread(s->m, s->unlock[i].thread);
		const struct trc_park *p =
			t ? steps_wait_at(s, &next[t - s->thread], (size_t)(t - s->thread),
					  s->unlock[i].ts_ns)
			  : NULL;

		if (p && p->reason == TRC_REASON_COND &&
		    trc_index_get(&s->release, (uint64_t)(p - s->park) + 1) == TRC_INDEX_NONE)
			err = trc_index_put(&s->release, (uint64_t)(p - s->park) + 1,
					    (uint32_t)i + 1);
	}
	free(next);
	return err;
}

/* ---- waits that go on in others: steps:R1, steps:R2 ---- */

static bool is_timed_out(const struct trc_park *p)
{
	return p->reason == TRC_REASON_COND && p->result == ETIMEDOUT &&
	       !(p->flags & TRC_PARK_NO_END) && p->stack;
}

static uint64_t waiter_key(uint64_t object, uint32_t thread)
{
	const uint64_t key[] = {object, thread};

	return trc_check64(key, sizeof(key), 0);
}

/* R2: a thread ended the wait of another. */
struct woke {
	uint32_t thread;
	int64_t ns;
};

/* Condition variables of which waits were timed out, and that threads signal which wait for them, too. */
struct like_locks {
	struct trc_index timed_out, waiters, found;
	struct trc_array woke; /* struct woke, by thread, then by time: but for locks */
};

static int by_thread_and_time(const void *a, const void *b)
{
	const struct woke *one = a, *other = b;

	if (one->thread != other->thread)
		return one->thread < other->thread ? -1 : 1;
	return (one->ns > other->ns) - (one->ns < other->ns);
}

static int woke_find(const struct trc_steps *s, struct like_locks *l)
{
	l->woke.row_bytes = sizeof(struct woke);
	for (size_t i = 0; i < s->n_parks; i++) {
		const struct trc_park *p = &s->park[i];
		struct woke *woke;

		if (!p->waker || p->waker == p->thread || trc_reason_is_lock(p->reason))
			continue;
		woke = trc_array_add(&l->woke);
		if (!woke)
			return -ENOMEM;
		*woke = (struct woke){p->waker, p->wake_ns == TRC_NEVER ? p->end_ns : p->wake_ns};
	}
	if (l->woke.n)
		qsort(l->woke.row, l->woke.n, sizeof(struct woke), by_thread_and_time);
	return 0;
}

static bool woke_between(const struct like_locks *l, uint32_t thread, int64_t from_ns,
			 int64_t to_ns)
{
	const struct woke *woke = l->woke.row, from = {thread, from_ns};
	size_t low = 0, high = l->woke.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_thread_and_time(&woke[middle], &from) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < l->woke.n && woke[low].thread == thread && woke[low].ns <= to_ns;
}

static int like_locks_find(const struct trc_steps *s, struct like_locks *l)
{
	const struct trc_park *p = s->park;
	int err = 0;

	for (size_t i = 0; i < s->n_parks && !err; i++)
		if (is_timed_out(&p[i]) && !trc_index_number(&l->timed_out, p[i].object))
			err = -ENOMEM;
	for (size_t i = 0; l->timed_out.n && i < s->n_parks && !err; i++)
		if (p[i].reason == TRC_REASON_COND &&
		    trc_index_get(&l->timed_out, p[i].object) != TRC_INDEX_NONE &&
		    !trc_index_number(&l->waiters, waiter_key(p[i].object, p[i].thread)))
			err = -ENOMEM;
	for (size_t i = 0; l->timed_out.n && i < s->n_parks && !err; i++)
		if (p[i].reason == TRC_REASON_COND && p[i].waker && p[i].waker != p[i].thread &&
		    trc_index_get(&l->waiters, waiter_key(p[i].object, p[i].waker)) !=
			    TRC_INDEX_NONE &&
		    !trc_index_number(&l->found, p[i].object))
			err = -ENOMEM;
	return err;
}

static bool goes_on_in(const struct trc_park *p, const struct trc_park *next)
{
	return is_timed_out(p) && p->object == next->object && p->stack == next->stack &&
	       next->start_ns >= p->end_ns && next->start_ns - p->end_ns <= p->end_ns - p->start_ns;
}

/* Of one thread, the last first. */
static int goes_on_make_thread(struct trc_steps *s, const struct like_locks *l, size_t thread)
{
	const struct trc_park *next = NULL;
	uint32_t last = 0; /* id of the wait that `next` goes on in, or is */
	int err = 0;

	for (uint32_t i = s->parks.first[thread + 1]; i > s->parks.first[thread] && !err; i--) {
		uint32_t row = s->parks.row[i - 1];
		const struct trc_park *p = &s->park[row];

		if (trc_reason_is_lock(p->reason))
			continue;
		if (next && goes_on_in(p, next) &&
		    !woke_between(l, p->thread, p->end_ns, next->start_ns)) {
			err = trc_index_put(&s->goes_on, (uint64_t)row + 1, last);
			next = p;
			continue;
		}
		next = NULL;
		if (p->reason != TRC_REASON_COND || !p->waker || p->waker == p->thread ||
		    trc_index_get(&l->found, p->object) == TRC_INDEX_NONE)
			continue;
		next = p;
		last = row + 1;
	}
	return err;
}

static int goes_on_make(struct trc_steps *s)
{
	struct like_locks l = {0};
	int err = like_locks_find(s, &l);

	if (l.found.n && !err)
		err = woke_find(s, &l);
	for (size_t t = 0; l.found.n && t < s->n_threads && !err; t++)
		err = goes_on_make_thread(s, &l, t);
	trc_array_free(&l.woke);
	trc_index_free(&l.timed_out);
	trc_index_free(&l.waiters);
	trc_index_free(&l.found);
	return err;
}

/* Leaves only those of clocks. */
static void samples_of_clocks(struct trc_steps *s)
{
	uint32_t *first = s->samples.first, *row = s->samples.row, n = 0;

	for (size_t t = 0; t < s->n_threads; t++) {
		uint32_t from = first[t], limit = first[t + 1];

		/* first[t + 1] is still that of all samples. */
		first[t] = n;
		for (uint32_t i = from; i < limit; i++)
			if (trc_model_is_clock_sample(s->m, &s->sample[row[i]]))
				row[n++] = row[i];
	}
	first[s->n_threads] = n;
}

/* What is the model's own. */
static void steps_begin(struct trc_steps *s, const struct trc_model *m)
{
	*s = (struct trc_steps){.m = m, .switches_ns = trc_model_switches_from_ns(m)};
	s->thread = trc_model_threads(m, &s->n_threads);
	s->park = trc_model_parks(m, &s->n_parks);
	s->unlock = trc_model_unlocks(m, &s->n_unlocks);
	s->on_cpu = trc_model_on_cpu(m, &s->n_on_cpu);
	s->sample = trc_model_samples(m, &s->n_samples);
	s->cut = !trc_reader_info(trc_model_reader(m))->complete;
	s->whole_until_ns = trc_reader_info(trc_model_reader(m))->whole_until_ns;
}

static int steps_make(struct trc_steps *s, const struct trc_model *m)
{
	int err;

	steps_begin(s, m);
	s->pieces = calloc(s->n_threads + 1, sizeof(*s->pieces));
	s->outer = trc_waits_nesting(m);
	if (!s->pieces || !s->outer)
		return -ENOMEM;
	err = trc_by_thread_make(&s->parks, m, s->park, s->n_parks, sizeof(*s->park),
				 trc_thread_of_park);
	if (!err)
		err = trc_by_thread_make(&s->stretches, m, s->on_cpu, s->n_on_cpu,
					 sizeof(*s->on_cpu), trc_thread_of_on_cpu);
	if (!err)
		err = trc_by_thread_make(&s->samples, m, s->sample, s->n_samples,
					 sizeof(*s->sample), trc_thread_of_sample);
	if (!err) {
		samples_of_clocks(s);
		err = locks_make(s);
	}
	if (!err)
		err = gaps_make(s);
	if (!err)
		err = releases_make(s);
	if (!err)
		err = goes_on_make(s);
	return err ? err : holders_make(s);
}

static void steps_free(struct trc_steps *s)
{
	for (size_t i = 0; s->pieces && i < s->n_threads; i++)
		trc_array_free(&s->pieces[i]);
	free(s->pieces);
	if (!s->is_mapped) {
		free(s->outer);
		trc_by_thread_free(&s->parks);
		trc_by_thread_free(&s->stretches);
		trc_by_thread_free(&s->samples);
		free(s->unlock_row);
		free(s->unlock_place);
	}
	trc_index_free(&s->lock_row);
	trc_array_free(&s->locks);
	free(s->lost_since_ns);
	trc_index_free(&s->holder_now);
	trc_index_free(&s->release);
	trc_index_free(&s->goes_on);
}

static void steps_kept_free(void *kept)
{
	steps_free(kept);
	free(kept);
}

/* Made once for a model that keeps such things.  Pieces of threads are made in what is kept, through all copies of it. */
static int steps_keep(struct trc_kept *kept, const struct trc_model *m)
{
	struct trc_steps *s = malloc(sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	err = steps_make(s, m);
	if (err) {
		steps_kept_free(s);
		return err;
	}
	s->is_kept = true;
	*kept = (struct trc_kept){s, steps_kept_free};
	return 0;
}

int trc_steps_open(struct trc_steps *s, const struct trc_model *m)
{
	struct trc_kept *kept = trc_model_kept(m, TRC_KEPT_STEPS);
	int err = kept && !kept->thing ? steps_keep(kept, m) : 0;

	*s = (struct trc_steps){0};
	if (err)
		return err;
	if (!kept)
		return steps_make(s, m);
	*s = *(struct trc_steps *)kept->thing;
	return 0;
}

void trc_steps_close(struct trc_steps *s)
{
	if (!s->is_kept)
		steps_free(s);
}

/* ---- in an image ------------------------------------------------------------------------- */

static void walk_by_thread(struct trc_image *image, struct trc_by_thread *by, size_t n_threads)
{
	size_t n_first = by->first ? n_threads + 1 : 0,
	       n_row = by->first ? by->first[n_threads] : 0;

	by->first = trc_image_rows(image, by->first, &n_first, sizeof(*by->first), NULL);
	by->row = trc_image_rows(image, by->row, &n_row, sizeof(*by->row), NULL);
}

static void walk_rows(struct trc_image *image, struct trc_steps *s)
{
	size_t n_outer = s->n_parks + 1, n_row = (size_t)s->n_unlock_rows + 1,
	       n_place = s->n_unlocks + 1;

	s->outer = trc_image_rows(image, s->outer, &n_outer, sizeof(*s->outer), NULL);
	walk_by_thread(image, &s->parks, s->n_threads);
	walk_by_thread(image, &s->stretches, s->n_threads);
	walk_by_thread(image, &s->samples, s->n_threads);
	trc_image_array(image, &s->locks, NULL);
	s->unlock_row = trc_image_rows(image, s->unlock_row, &n_row, sizeof(*s->unlock_row), NULL);
	s->unlock_place =
		trc_image_rows(image, s->unlock_place, &n_place, sizeof(*s->unlock_place), NULL);
	for (size_t t = 0; t < s->n_threads; t++) {
		s->pieces[t].row_bytes = sizeof(struct trc_wait_piece);
		trc_image_array(image, &s->pieces[t], NULL);
	}
}

static int steps_index_locks(struct trc_steps *s)
{
	const struct trc_steps_lock *lock = s->locks.row;
	uint64_t key[2];
	int err = 0;

	/* That of a lock comes before that of its readers. */
	for (size_t i = 0; i < s->locks.n && !err; i++) {
		trc_unlock_keys(&s->unlock[s->unlock_row[lock[i].first]], key);
		err = trc_index_put(&s->lock_row,
				    key[trc_index_get(&s->lock_row, key[0]) != TRC_INDEX_NONE],
				    (uint32_t)i);
	}
	return err;
}

static int read_kept(struct trc_image *image, struct trc_kept *kept, const struct trc_model *m)
{
	struct trc_steps *s = malloc(sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	steps_begin(s, m);
	s->is_kept = s->is_mapped = true;
	s->locks.row_bytes = sizeof(struct trc_steps_lock);
	s->pieces = calloc(s->n_threads + 1, sizeof(*s->pieces));
	*kept = (struct trc_kept){s, steps_kept_free};
	if (!s->pieces)
		return -ENOMEM;
	walk_rows(image, s);
	err = trc_image_error(image);
	if (!err)
		err = steps_index_locks(s);
	if (!err)
		err = gaps_make(s);
	if (!err)
		err = releases_make(s);
	if (!err)
		err = goes_on_make(s);
	return err ? err : holders_make(s);
}

int trc_steps_walk(struct trc_image *image, struct trc_model *m)
{
	struct trc_kept *kept = trc_model_kept(m, TRC_KEPT_STEPS);
	struct trc_steps *s;
	int err = 0;

	if (!kept)
		return -EINVAL;
	if (trc_image_is_read(image))
		return read_kept(image, kept, m);
	if (!kept->thing)
		err = steps_keep(kept, m);
	s = kept->thing;
	for (size_t t = 0; !err && t < s->n_threads; t++)
		err = trc_steps_pieces_of(s, t) ? 0 : -ENOMEM;
	if (!err)
		walk_rows(image, s);
	return err;
}
