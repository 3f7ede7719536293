/*
 * lock_list.c - which locks there are, and which unlocks, waits and convoys are of each.
 *
 * The list is the same whatever is selected: the model keeps it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/image.h"
#include "analyzer/model/waits.h"
#include "lock_list.h"

/* What a lock has only while locks are listed. */
struct running {
	struct trc_convoy convoy;
	struct latest {
		int64_t end_ns;
		uint32_t thread;
	} latest[2];	     /* ends of the waits that were followed: of two threads */
	uint32_t follow;     /* the next wait to follow + 1; 0 = none */
	uint32_t last;	     /* the last that was linked + 1 */
	int64_t released_ns; /* its latest unlock */
};

/* What is needed to list that. */
struct listing {
	struct trc_array running; /* struct running, by row of locks */
	uint32_t *lock;		  /* by row of unlocks: the lock's row */
	uint32_t *next_wait;	  /* by row of parks: the lock's next + 1, by start */
	uint32_t *first;	  /* by row of unlocks: the first one of the same stretch */
	struct trc_convoys links;
};

/* ---- locks by address and kind ---- */

static uint8_t reason_lock_kind(unsigned int reason)
{
	uint8_t kind = trc_wait_kind(reason);

	return kind ? kind : (uint8_t)reason;
}

/* The row, or TRC_INDEX_NONE and in *key where to enter one. */
uint32_t trc_lock_list_find(const struct trc_lock_sums *sums, uint64_t object, uint8_t kind,
			    uint64_t *key)
{
	const struct trc_lock_sum *sum = sums->rows.row;
	uint32_t row;

	for (*key = trc_index_key(object, kind);
	     (row = trc_index_get(&sums->index, *key)) != TRC_INDEX_NONE; ++*key)
		if (sum[row].object == object && sum[row].kind == kind)
			return row;
	return TRC_INDEX_NONE;
}

const struct trc_lock_sum *trc_lock_sum_find(const struct trc_lock_sums *sums, unsigned int reason,
					     uint64_t object)
{
	uint64_t key;
	uint32_t row = trc_lock_list_find(sums, object, reason_lock_kind(reason), &key);

	return row == TRC_INDEX_NONE ? NULL : (const struct trc_lock_sum *)sums->rows.row + row;
}

/* The row of the lock, a new one if need be; TRC_INDEX_NONE without memory. */
uint32_t trc_lock_list_row(struct trc_lock_summing *s, unsigned int reason, uint64_t object)
{
	int64_t unknown = trc_preempted_known(s->preempted) ? 0 : TRC_NEVER;
	uint8_t kind = reason_lock_kind(reason);
	struct trc_lock_sum *sum;
	uint64_t key;

	if (s->last_row != TRC_INDEX_NONE && s->last_object == object && s->last_kind == kind)
		return s->last_row;
	s->last_object = object;
	s->last_kind = kind;
	s->last_row = trc_lock_list_find(s->sums, object, kind, &key);
	if (s->last_row != TRC_INDEX_NONE)
		return s->last_row;
	sum = trc_array_add(&s->sums->rows);
	if (!sum || trc_index_put(&s->sums->index, key, (uint32_t)(s->sums->rows.n - 1)))
		return TRC_INDEX_NONE;
	*sum = (struct trc_lock_sum){.object = object,
				     .kind = kind,
				     .holds_preempted_ns = unknown,
				     .preempted_ns = unknown,
				     .preempted_waits_ns = unknown};
	return s->last_row = (uint32_t)(s->sums->rows.n - 1);
}

/* ---- what is the same for all selections ---- */

/* Each unlock's lock is looked for once. */
static int find_unlock_rows(struct trc_lock_summing *s, struct listing *g)
{
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(s->m, &n);

	g->lock = malloc((n + 1) * sizeof(*g->lock));
	if (!g->lock)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		g->lock[i] = trc_lock_list_row(s, unlock[i].reason, unlock[i].object);
		if (g->lock[i] == TRC_INDEX_NONE)
			return -ENOMEM;
	}
	return 0;
}

/* NULL without memory. */
static struct running *running_at(struct listing *g, uint32_t row)
{
	while (g->running.n <= row) {
		struct running *added = trc_array_add(&g->running);

		if (!added)
			return NULL;
		added->released_ns = TRC_NEVER;
	}
	return (struct running *)g->running.row + row;
}

/* Links the waits of each lock. */
static int link_waits(struct trc_lock_summing *s, struct listing *g)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(s->m, &n);

	g->next_wait = calloc(n + 1, sizeof(*g->next_wait));
	if (!g->next_wait)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct running *running;
		uint32_t row;

		if (trc_wait_class(park[i].reason) != TRC_WAIT_LOCKS)
			continue;
		row = trc_lock_list_row(s, park[i].reason, park[i].object);
		running = row == TRC_INDEX_NONE ? NULL : running_at(g, row);
		if (!running)
			return -ENOMEM;
		*(running->last ? &g->next_wait[running->last - 1] : &running->follow) = i + 1;
		running->last = i + 1;
	}
	return 0;
}

static void note_end(struct latest latest[2], int64_t end_ns, uint32_t thread)
{
	if (latest[0].thread == thread) {
		latest[0].end_ns = end_ns > latest[0].end_ns ? end_ns : latest[0].end_ns;
	} else if (end_ns >= latest[0].end_ns) {
		latest[1] = latest[0];
		latest[0] = (struct latest){end_ns, thread};
	} else if (end_ns > latest[1].end_ns) {
		latest[1] = (struct latest){end_ns, thread};
	}
}

/* lock_sums:K3: did another thread wait for the lock at this time?  Asked in the order of time. */
static bool another_waited(const struct trc_lock_summing *s, const struct listing *g,
			   struct running *running, uint32_t thread, int64_t at_ns)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(s->m, &n);
	const struct latest *latest = running->latest;

	for (uint32_t i; (i = running->follow) && park[i - 1].start_ns <= at_ns;) {
		note_end(running->latest, trc_park_end_ns(s->m, &park[i - 1]), park[i - 1].thread);
		running->follow = g->next_wait[i - 1];
	}
	return latest[latest[0].thread == thread].thread &&
	       latest[latest[0].thread == thread].end_ns >= at_ns;
}

/* lock_sums:K3.  Whoever holds a lock alone has it since the one before gave it back, at the earliest: if an
 * unlock says something else, it says it of an earlier section. */
static bool is_contended(const struct trc_lock_summing *s, const struct listing *g,
			 struct running *running, const struct trc_unlock *unlock)
{
	return unlock->taken_ns != TRC_NEVER && unlock->taken_ns <= unlock->ts_ns &&
	       (unlock->reason == TRC_REASON_RWLOCK_READ ||
		unlock->taken_ns >= running->released_ns) &&
	       another_waited(s, g, running, unlock->thread, unlock->taken_ns);
}

/* first_convoy: by row of unlocks: index + 1 of the convoy that it begins. */
static int note_convoy(struct trc_lock_list *l, uint32_t *first_convoy, uint32_t row,
		       const struct trc_convoy *convoy)
{
	struct trc_lock_convoy *added = trc_array_add(&l->convoys);

	if (!added)
		return -ENOMEM;
	*added = (struct trc_lock_convoy){*convoy, row};
	first_convoy[convoy->first] = (uint32_t)l->convoys.n;
	return 0;
}

static int list_convoys(const struct trc_lock_summing *s, struct listing *g,
			struct trc_lock_list *l, uint32_t *first_convoy)
{
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(s->m, &n);
	struct trc_convoy ended;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		struct running *running = running_at(g, g->lock[i]);

		if (!running)
			return -ENOMEM;
		l->section[i].row = g->lock[i];
		l->section[i].contended = !s->all_holds && is_contended(s, g, running, &unlock[i]);
		if (trc_convoy_unlock(&g->links, &running->convoy, i, unlock[i].ts_ns, &ended))
			err = note_convoy(l, first_convoy, g->lock[i], &ended);
		g->first[i] = running->convoy.first;
		running->released_ns = unlock[i].ts_ns;
	}
	for (uint32_t row = 0; row < g->running.n && !err; row++) {
		const struct running *running = (struct running *)g->running.row + row;

		if (trc_convoy_is_one(&running->convoy))
			err = note_convoy(l, first_convoy, row, &running->convoy);
	}
	return err;
}

static int list_sections(const struct trc_lock_summing *s, struct listing *g,
			 struct trc_lock_list *l)
{
	const size_t n = g->links.n;
	uint32_t *first_convoy = calloc(n + 1, sizeof(*first_convoy));
	int err;

	l->section = calloc(n + 1, sizeof(*l->section));
	g->first = malloc((n + 1) * sizeof(*g->first));
	err = first_convoy && l->section && g->first ? list_convoys(s, g, l, first_convoy)
						     : -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		if (g->links.link[i].handed_ns != TRC_NEVER)
			l->section[i].convoy = first_convoy[g->first[i]];
	free(first_convoy);
	return err;
}

static int copy_rows(struct trc_array *to, const struct trc_array *from)
{
	*to = (struct trc_array){.row_bytes = from->row_bytes};
	to->row = malloc((from->n + 1) * from->row_bytes);
	if (!to->row)
		return -ENOMEM;
	to->n = from->n;
	to->capacity = from->n + 1;
	if (from->n)
		memcpy(to->row, from->row, from->n * from->row_bytes);
	return 0;
}

static int copy_index(struct trc_index *to, const struct trc_array *rows)
{
	const struct trc_lock_sum *sum = rows->row;
	int err = 0;

	*to = (struct trc_index){0};
	for (size_t i = 0; i < rows->n && !err; i++) {
		uint64_t key = trc_index_key(sum[i].object, sum[i].kind);

		while (trc_index_get(to, key) != TRC_INDEX_NONE)
			key++;
		err = trc_index_put(to, key, (uint32_t)i);
	}
	return err;
}

void trc_lock_list_free(struct trc_lock_list *l)
{
	trc_array_free(&l->rows);
	trc_array_free(&l->convoys);
	if (!l->is_mapped)
		free(l->section);
}

static void kept_free(void *kept)
{
	trc_lock_list_free(kept);
	free(kept);
}

/* The locks that it finds become those of the sums, too. */
static int list_locks(struct trc_lock_summing *s, struct trc_lock_list *l)
{
	struct listing g = {.running = {.row_bytes = sizeof(struct running)}};
	int err = find_unlock_rows(s, &g);

	l->convoys.row_bytes = sizeof(struct trc_lock_convoy);
	if (!err)
		err = link_waits(s, &g);
	if (!err)
		err = trc_convoys_open(&g.links, s->m, g.lock, s->sums->rows.n);
	if (!err)
		err = list_sections(s, &g, l);
	trc_convoys_close(&g.links);
	trc_array_free(&g.running);
	free(g.first);
	free(g.next_wait);
	free(g.lock);
	s->listed = l;
	return err;
}

static int keep_locks(struct trc_lock_summing *s, struct trc_kept *kept)
{
	struct trc_lock_list *l = calloc(1, sizeof(*l));
	int err = l ? list_locks(s, l) : -ENOMEM;

	if (!err)
		err = copy_rows(&l->rows, &s->sums->rows);
	if (err) {
		if (l)
			kept_free(l);
		return err;
	}
	*kept = (struct trc_kept){l, kept_free};
	return 0;
}

int trc_lock_list_need(struct trc_lock_summing *s)
{
	struct trc_kept *kept = trc_model_kept(s->m, TRC_KEPT_LOCKS);
	int err;

	if (!kept)
		return list_locks(s, &s->own);
	if (!kept->thing)
		return keep_locks(s, kept);
	s->listed = kept->thing;
	err = copy_rows(&s->sums->rows, &s->listed->rows);
	return err ? err : copy_index(&s->sums->index, &s->listed->rows);
}

/* ---- in an image ------------------------------------------------------------------------- */

int trc_lock_sums_walk(struct trc_image *image, struct trc_model *m)
{
	struct trc_kept *kept = trc_model_kept(m, TRC_KEPT_LOCKS);
	bool is_read = trc_image_is_read(image);
	struct trc_lock_list *l;
	size_t n;

	if (kept && is_read)
		*kept = (struct trc_kept){calloc(1, sizeof(*l)), kept_free};
	if (!kept || !kept->thing)
		return is_read && kept ? -ENOMEM : -EINVAL;
	l = kept->thing;
	if (is_read) {
		l->rows.row_bytes = sizeof(struct trc_lock_sum);
		l->convoys.row_bytes = sizeof(struct trc_lock_convoy);
		l->is_mapped = true;
	}
	trc_model_unlocks(m, &n);
	n++;
	trc_image_array(image, &l->rows, NULL);
	trc_image_array(image, &l->convoys, NULL);
	l->section = trc_image_rows(image, l->section, &n, sizeof(*l->section), NULL);
	return 0;
}
