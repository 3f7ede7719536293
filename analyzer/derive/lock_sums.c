/* lock_sums.c - each lock's waits, holds and convoys; see analyzer/model/lock_sums.h. */
#include "analyzer/model/lock_sums.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/between.h"
#include "analyzer/model/image.h"
#include "analyzer/model/selection.h"
#include "analyzer/model/waits.h"
#include "convoys.h"

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

/* A convoy, and the row of its lock. */
struct lock_convoy {
	struct trc_convoy convoy;
	uint32_t row;
};

/* Of an unlock, whatever is selected. */
struct section {
	uint32_t row;	 /* of the lock */
	uint32_t convoy; /* in which it hands the lock over: index + 1; 0 = none */
	bool contended;	 /* K3: what it ends counts as a hold */
};

/* What is the same whatever is selected: locks, with nothing summed yet, and what belongs to each. */
struct listed {
	struct trc_array rows;	  /* struct trc_lock_sum */
	struct trc_array convoys; /* struct lock_convoy: those of a lock by time */
	struct section *section;  /* by row of unlocks */
	bool is_mapped;		  /* rows that are no trc_array's are an image's */
};

/* What is needed to list that. */
struct listing {
	struct trc_array running; /* struct running, by row of locks */
	uint32_t *lock;		  /* by row of unlocks: the lock's row */
	uint32_t *next_wait;	  /* by row of parks: the lock's next + 1, by start */
	uint32_t *first;	  /* by row of unlocks: the first one of the same stretch */
	struct trc_convoys links;
};

struct summing {
	struct trc_lock_sums *sums;
	const struct trc_model *m;
	const struct trc_selection *selection;
	const struct trc_preempted *preempted;
	struct trc_selected_cause *caused; /* by row of unlocks; NULL = all is selected */
	struct trc_selected_range
		caused_in;	       /* the rows of unlocks that may have caused something */
	struct trc_array waited, held; /* struct trc_key: durations, and the lock's row */
	struct trc_index pair_of;      /* of lock and thread that waited for it */
	struct listed own;	       /* if the model keeps nothing */
	const struct listed *listed;
	bool count_threads;
	uint64_t last_object;
	uint32_t last_row; /* of the lock asked for last; TRC_INDEX_NONE */
	uint8_t last_kind;
	bool all_holds;
};

/* ---- locks by address and kind ---- */

static uint8_t kind_of(unsigned int reason)
{
	uint8_t kind = trc_wait_kind(reason);

	return kind ? kind : (uint8_t)reason;
}

/* The row, or TRC_INDEX_NONE and in *key where to enter one. */
static uint32_t find(const struct trc_lock_sums *sums, uint64_t object, uint8_t kind, uint64_t *key)
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
	uint32_t row = find(sums, object, kind_of(reason), &key);

	return row == TRC_INDEX_NONE ? NULL : (const struct trc_lock_sum *)sums->rows.row + row;
}

const char *trc_lock_sum_kind(const struct trc_lock_sum *sum)
{
	return trc_wait_kind_name(sum->kind);
}

/* The row of the lock, a new one if need be; TRC_INDEX_NONE without memory. */
static uint32_t lock_row(struct summing *s, unsigned int reason, uint64_t object)
{
	int64_t unknown = trc_preempted_known(s->preempted) ? 0 : TRC_NEVER;
	uint8_t kind = kind_of(reason);
	struct trc_lock_sum *sum;
	uint64_t key;

	if (s->last_row != TRC_INDEX_NONE && s->last_object == object && s->last_kind == kind)
		return s->last_row;
	s->last_object = object;
	s->last_kind = kind;
	s->last_row = find(s->sums, object, kind, &key);
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

static struct trc_lock_sum *sum_at(const struct summing *s, uint32_t row)
{
	return (struct trc_lock_sum *)s->sums->rows.row + row;
}

static void add_ns(int64_t *sum, int64_t ns)
{
	trc_add_ns(sum, 0, ns);
}

static int add_duration(struct trc_array *durations, struct trc_spread *spread, uint32_t row,
			int64_t ns)
{
	struct trc_key *key = trc_array_add(durations);

	if (!key)
		return -ENOMEM;
	*key = (struct trc_key){ns, row};
	spread->n++;
	add_ns(&spread->total_ns, ns);
	return 0;
}

/* ---- waits ---- */

static bool labels_pass(const struct summing *s, uint32_t thread, int64_t ts_ns, uint64_t place)
{
	return !s->selection || !s->selection->labels ||
	       trc_selection_passes(s->selection, s->m,
				    trc_model_labels_at(s->m, thread, ts_ns, place));
}

static int count_thread(struct summing *s, uint32_t row, uint32_t thread)
{
	size_t n = s->pair_of.n;
	uint32_t number;

	if (!s->count_threads)
		return 0;
	number = trc_index_number(&s->pair_of, (uint64_t)row << 32 | thread);
	sum_at(s, row)->threads += number > n;
	return number ? 0 : -ENOMEM;
}

static int add_wait(struct summing *s, const struct trc_park *park)
{
	int64_t start_ns = trc_park_start_ns(s->m, park), end_ns = trc_park_end_ns(s->m, park), ns;
	struct trc_lock_sum *sum;
	uint32_t row;

	if (trc_wait_class(park->reason) != TRC_WAIT_LOCKS ||
	    !trc_selection_touches(s->selection, park->thread, start_ns, end_ns) ||
	    (s->selection && s->selection->labels &&
	     !trc_selection_passes(s->selection, s->m, trc_park_labels(s->m, park))))
		return 0;
	row = lock_row(s, park->reason, park->object);
	if (row == TRC_INDEX_NONE)
		return -ENOMEM;
	sum = sum_at(s, row);
	ns = trc_selection_ns(s->selection, park->thread, start_ns, end_ns);
	sum->timed_out += park->result == ETIMEDOUT;
	if (!sum->stack)
		sum->stack = park->stack;
	if (!sum->descriptor)
		sum->descriptor = park->descriptor;
	if (park->reason == TRC_REASON_RWLOCK_WRITE) {
		sum->write_waits++;
		add_ns(&sum->write_waited_ns, ns);
	}
	if (add_duration(&s->waited, &sum->waits, row, ns))
		return -ENOMEM;
	return count_thread(s, row, park->thread);
}

/* The first from `i` on that may have something of what is selected. */
static size_t next_wait_in(const struct summing *s, size_t i)
{
	return trc_between_next(s->m, TRC_BETWEEN_PARKS, i,
				s->selection ? s->selection->from_ns : INT64_MIN,
				s->selection ? s->selection->to_ns : INT64_MAX);
}

static int add_waits(struct summing *s)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(s->m, &n);
	int err = 0;

	for (size_t i = next_wait_in(s, 0); i < n && !err; i = next_wait_in(s, i + 1))
		err = add_wait(s, &park[i]);
	return err;
}

/* ---- holds ---- */

/* From..to the thread held the lock in this row. */
static int add_hold(struct summing *s, uint32_t row, uint8_t reason, uint32_t thread,
		    int64_t from_ns, int64_t to_ns)
{
	struct trc_lock_sum *sum = sum_at(s, row);
	int64_t ns = 0;

	trc_add_ns(&ns, from_ns, to_ns);
	if (trc_preempted_known(s->preempted))
		add_ns(&sum->holds_preempted_ns,
		       trc_preempted_ns(s->preempted, thread, from_ns, to_ns));
	if (reason == TRC_REASON_RWLOCK_WRITE) {
		sum->write_holds++;
		add_ns(&sum->write_held_ns, ns);
	}
	sum->holds_from = s->all_holds ? TRC_HOLDS_ALL : TRC_HOLDS_CONTENDED;
	return add_duration(&s->held, &sum->holds, row, ns);
}

/* With --locks=all; those that ended. */
static int add_all_holds(struct summing *s)
{
	size_t n;
	const struct trc_hold *hold = trc_model_holds(s->m, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		struct trc_lock_sum *sum;
		uint32_t row;

		if (hold[i].end_ns == TRC_NEVER ||
		    !trc_selection_touches(s->selection, hold[i].thread, hold[i].start_ns,
					   hold[i].end_ns) ||
		    !labels_pass(s, hold[i].thread, hold[i].start_ns, TRC_PLACE_LAST))
			continue;
		row = lock_row(s, hold[i].reason, hold[i].object);
		if (row == TRC_INDEX_NONE)
			return -ENOMEM;
		sum = sum_at(s, row);
		if (!sum->stack)
			sum->stack = hold[i].stack;
		err = add_hold(s, row, hold[i].reason, hold[i].thread, hold[i].start_ns,
			       hold[i].end_ns);
	}
	return err;
}

/* ---- sections ---- */

static void add_caused(const struct summing *s, uint32_t row, const struct trc_unlock *unlock,
		       size_t i)
{
	struct trc_lock_sum *sum = sum_at(s, row);
	size_t n;
	const struct trc_preempted_section *section = trc_model_preempted_sections(s->m, &n);
	struct trc_selected_cause caused = {.caused_ns = unlock->caused_ns,
					    .caused_waits = unlock->caused_waits};

	if (s->caused)
		caused = s->caused[i];
	else if (i < n) {
		caused.preempted_ns = section[i].preempted_ns;
		caused.preempted_waits_ns = section[i].preempted_waits_ns;
	}
	if (!caused.caused_waits || !labels_pass(s, unlock->thread, unlock->ts_ns, unlock->place))
		return;
	sum->sections++;
	sum->caused_waits += caused.caused_waits;
	add_ns(&sum->caused_ns, caused.caused_ns);
	if (!trc_preempted_known(s->preempted))
		return;
	add_ns(&sum->preempted_ns, caused.preempted_ns);
	add_ns(&sum->preempted_waits_ns, caused.preempted_waits_ns);
}

/* A contended section as a hold. */
static int add_contended(struct summing *s, uint32_t row, const struct trc_unlock *unlock)
{
	if (!trc_selection_touches(s->selection, unlock->thread, unlock->taken_ns, unlock->ts_ns) ||
	    !labels_pass(s, unlock->thread, unlock->ts_ns, unlock->place))
		return 0;
	return add_hold(s, row, unlock->reason, unlock->thread, unlock->taken_ns, unlock->ts_ns);
}

static void add_convoy(const struct summing *s, const struct lock_convoy *of)
{
	const struct trc_convoy *convoy = &of->convoy;
	struct trc_lock_sum *sum = sum_at(s, of->row);
	int64_t ns = 0;

	trc_add_ns(&ns, convoy->start_ns, convoy->end_ns);
	sum->convoys++;
	if (sum->convoy_handovers && ns <= sum->convoy_ns)
		return;
	sum->convoy_start_ns = convoy->start_ns;
	sum->convoy_ns = ns;
	sum->convoy_handovers = convoy->handovers;
}

/* ---- what is the same for all selections ---- */

/* Each unlock's lock is looked for once. */
static int find_unlock_rows(struct summing *s, struct listing *g)
{
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(s->m, &n);

	g->lock = malloc((n + 1) * sizeof(*g->lock));
	if (!g->lock)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		g->lock[i] = lock_row(s, unlock[i].reason, unlock[i].object);
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
static int link_waits(struct summing *s, struct listing *g)
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
		row = lock_row(s, park[i].reason, park[i].object);
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

/* K3: did another thread wait for the lock at this time?  Asked in the order of time. */
static bool another_waited(const struct summing *s, const struct listing *g,
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

/* K3.  Whoever holds a lock alone has it since the one before gave it back, at the earliest: if an
 * unlock says something else, it says it of an earlier section. */
static bool is_contended(const struct summing *s, const struct listing *g, struct running *running,
			 const struct trc_unlock *unlock)
{
	return unlock->taken_ns != TRC_NEVER && unlock->taken_ns <= unlock->ts_ns &&
	       (unlock->reason == TRC_REASON_RWLOCK_READ ||
		unlock->taken_ns >= running->released_ns) &&
	       another_waited(s, g, running, unlock->thread, unlock->taken_ns);
}

/* first_convoy: by row of unlocks: index + 1 of the convoy that it begins. */
static int note_convoy(struct listed *l, uint32_t *first_convoy, uint32_t row,
		       const struct trc_convoy *convoy)
{
	struct lock_convoy *added = trc_array_add(&l->convoys);

	if (!added)
		return -ENOMEM;
	*added = (struct lock_convoy){*convoy, row};
	first_convoy[convoy->first] = (uint32_t)l->convoys.n;
	return 0;
}

static int list_convoys(const struct summing *s, struct listing *g, struct listed *l,
			uint32_t *first_convoy)
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

static int list_sections(const struct summing *s, struct listing *g, struct listed *l)
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

static void listed_free(struct listed *l)
{
	trc_array_free(&l->rows);
	trc_array_free(&l->convoys);
	if (!l->is_mapped)
		free(l->section);
}

static void kept_free(void *kept)
{
	listed_free(kept);
	free(kept);
}

/* The locks that it finds become those of the sums, too. */
static int list_locks(struct summing *s, struct listed *l)
{
	struct listing g = {.running = {.row_bytes = sizeof(struct running)}};
	int err = find_unlock_rows(s, &g);

	l->convoys.row_bytes = sizeof(struct lock_convoy);
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

static int keep_locks(struct summing *s, struct trc_kept *kept)
{
	struct listed *l = calloc(1, sizeof(*l));
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

static int need_locks(struct summing *s)
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

/* The first unlock from `i` on of whose section something may be selected. */
static size_t next_unlock_in(const struct summing *s, size_t i)
{
	return trc_between_next(s->m, TRC_BETWEEN_UNLOCKS, i,
				s->selection ? s->selection->from_ns : INT64_MIN,
				s->selection ? s->selection->to_ns : INT64_MAX);
}

/* inside: by index of convoys, set for those of which a hand-over is selected. */
static int add_holds_and_convoys(struct summing *s, bool *inside)
{
	const struct section *section = s->listed->section;
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(s->m, &n);
	int err = 0;

	for (size_t i = next_unlock_in(s, 0); i < n && !err; i = next_unlock_in(s, i + 1)) {
		uint32_t convoy = section[i].convoy;

		if (section[i].contended)
			err = add_contended(s, section[i].row, &unlock[i]);
		if (convoy && !inside[convoy - 1])
			inside[convoy - 1] =
				trc_selection_has_time(s->selection, unlock[i].thread,
						       unlock[i].ts_ns) &&
				labels_pass(s, unlock[i].thread, unlock[i].ts_ns, unlock[i].place);
	}
	return err;
}

static int add_sections(struct summing *s)
{
	const struct lock_convoy *convoy = s->listed->convoys.row;
	bool *inside = calloc(s->listed->convoys.n + 1, sizeof(*inside));
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(s->m, &n);
	int err = inside ? add_holds_and_convoys(s, inside) : -ENOMEM;

	for (size_t i = s->caused_in.first; i < s->caused_in.end && !err; i++)
		add_caused(s, s->listed->section[i].row, &unlock[i], i);
	for (size_t i = 0; i < s->listed->convoys.n && !err; i++)
		if (inside[i])
			add_convoy(s, &convoy[i]);
	free(inside);
	return err;
}

/* ---- percentiles ---- */

/* K2: how many of n values are at most the percentile. */
static uint64_t rank_of(uint64_t n, uint64_t percent)
{
	return n / 100 * percent + (n % 100 * percent + 99) / 100;
}

/* Of all locks at once: durations from the shortest on. */
static int set_spreads(struct summing *s, const struct trc_array *durations, size_t spread_off)
{
	struct trc_key *key = durations->row, *scratch = malloc((durations->n + 1) * sizeof(*key));
	uint64_t *seen = calloc(s->sums->rows.n + 1, sizeof(*seen));

	if (scratch && seen && durations->n)
		trc_keys_sort(key, scratch, durations->n);
	for (size_t i = 0; scratch && seen && i < durations->n; i++) {
		struct trc_spread *spread =
			(struct trc_spread *)((char *)sum_at(s, key[i].row) + spread_off);
		uint64_t rank = ++seen[key[i].row];

		if (rank == rank_of(spread->n, 50))
			spread->p50_ns = key[i].key;
		if (rank == rank_of(spread->n, 99))
			spread->p99_ns = key[i].key;
		spread->max_ns = key[i].key;
	}
	free(scratch);
	free(seen);
	return scratch && seen ? 0 : -ENOMEM;
}

static void set_unknown(struct trc_spread *spread)
{
	if (!spread->n)
		spread->p50_ns = spread->p99_ns = spread->max_ns = TRC_NEVER;
}

/* ---- all of it ---- */

static int compare_sums(const void *a, const void *b)
{
	const struct trc_lock_sum *x = a, *y = b;

	if (x->waits.total_ns != y->waits.total_ns)
		return x->waits.total_ns > y->waits.total_ns ? -1 : 1;
	if (x->holds.total_ns != y->holds.total_ns)
		return x->holds.total_ns > y->holds.total_ns ? -1 : 1;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Locks of which nothing is selected are none. */
static int finish(struct trc_lock_sums *sums)
{
	struct trc_lock_sum *sum = sums->rows.row;
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < sums->rows.n; i++) {
		if (!sum[i].waits.n && !sum[i].holds.n && !sum[i].sections)
			continue;
		set_unknown(&sum[i].waits);
		set_unknown(&sum[i].holds);
		sum[kept++] = sum[i];
	}
	sums->rows.n = kept;
	if (kept)
		qsort(sum, kept, sizeof(*sum), compare_sums);
	trc_index_free(&sums->index);
	for (size_t i = 0; i < kept && !err; i++) {
		uint64_t key;

		find(sums, sum[i].object, sum[i].kind, &key);
		err = trc_index_put(&sums->index, key, (uint32_t)i);
	}
	return err;
}

static int sum_up(struct summing *s)
{
	int err = need_locks(s);

	trc_model_unlocks(s->m, &s->caused_in.end);
	if (!err && !trc_selection_has_all_time(s->selection)) {
		s->caused =
			trc_selection_caused_in(s->selection, s->m, s->preempted, &s->caused_in);
		err = s->caused ? 0 : -ENOMEM;
	}
	if (!err)
		err = add_waits(s);
	if (!err && s->all_holds)
		err = add_all_holds(s);
	if (!err)
		err = add_sections(s);
	if (!err)
		err = set_spreads(s, &s->waited, offsetof(struct trc_lock_sum, waits));
	if (!err)
		err = set_spreads(s, &s->held, offsetof(struct trc_lock_sum, holds));
	return err ? err : finish(s->sums);
}

int trc_lock_sums_make(struct trc_lock_sums *sums, struct trc_model *m, bool count_threads,
		       struct trc_error *error)
{
	struct summing s = {.sums = sums,
			    .m = m,
			    .selection = trc_model_selection(m),
			    .count_threads = count_threads,
			    .waited = {.row_bytes = sizeof(struct trc_key)},
			    .held = {.row_bytes = sizeof(struct trc_key)},
			    .last_row = TRC_INDEX_NONE};
	int err = trc_model_need(
		m, TRC_PART_WAITS | TRC_PART_HOLDS | TRC_PART_PREEMPTED | TRC_PART_LABELS, error);
	size_t n_holds;

	*sums = (struct trc_lock_sums){.rows = {.row_bytes = sizeof(struct trc_lock_sum)}};
	if (err)
		return err;
	trc_model_holds(m, &n_holds);
	s.all_holds = n_holds > 0;
	s.preempted = trc_model_preempted(m);
	err = sum_up(&s);
	free(s.caused);
	listed_free(&s.own);
	trc_array_free(&s.waited);
	trc_array_free(&s.held);
	trc_index_free(&s.pair_of);
	if (err)
		snprintf(error->text, sizeof(error->text), "locks: out of memory");
	return err;
}

void trc_lock_sums_free(struct trc_lock_sums *sums)
{
	trc_array_free(&sums->rows);
	trc_index_free(&sums->index);
}

/* ---- in an image ------------------------------------------------------------------------- */

int trc_lock_sums_walk(struct trc_image *image, struct trc_model *m)
{
	struct trc_kept *kept = trc_model_kept(m, TRC_KEPT_LOCKS);
	bool is_read = trc_image_is_read(image);
	struct listed *l;
	size_t n;

	if (kept && is_read)
		*kept = (struct trc_kept){calloc(1, sizeof(*l)), kept_free};
	if (!kept || !kept->thing)
		return is_read && kept ? -ENOMEM : -EINVAL;
	l = kept->thing;
	if (is_read) {
		l->rows.row_bytes = sizeof(struct trc_lock_sum);
		l->convoys.row_bytes = sizeof(struct lock_convoy);
		l->is_mapped = true;
	}
	trc_model_unlocks(m, &n);
	n++;
	trc_image_array(image, &l->rows, NULL);
	trc_image_array(image, &l->convoys, NULL);
	l->section = trc_image_rows(image, l->section, &n, sizeof(*l->section), NULL);
	return 0;
}
