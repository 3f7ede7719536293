/* lock_sums.c - each lock's waits, holds and convoys; see analyzer/model/lock_sums.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyzer/model/between.h"
#include "analyzer/model/waits.h"
#include "lock_list.h"

const char *trc_lock_sum_kind(const struct trc_lock_sum *sum)
{
	return trc_wait_kind_name(sum->kind);
}

static struct trc_lock_sum *lock_sum_at(const struct trc_lock_summing *s, uint32_t row)
{
	return (struct trc_lock_sum *)s->sums->rows.row + row;
}

static void add_ns(int64_t *sum, int64_t ns)
{
	trc_add_ns(sum, 0, ns);
}

static int lock_sum_add_duration(struct trc_array *durations, struct trc_spread *spread,
				 uint32_t row, int64_t ns)
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

static bool labels_pass(const struct trc_lock_summing *s, uint32_t thread, int64_t ts_ns,
			uint64_t place)
{
	return !s->selection || !s->selection->labels ||
	       trc_selection_passes(s->selection, s->m,
				    trc_model_labels_at(s->m, thread, ts_ns, place));
}

static int lock_sum_count_thread(struct trc_lock_summing *s, uint32_t row, uint32_t thread)
{
	size_t n = s->pair_of.n;
	uint32_t number;

	if (!s->count_threads)
		return 0;
	number = trc_index_number(&s->pair_of, (uint64_t)row << 32 | thread);
	lock_sum_at(s, row)->threads += number > n;
	return number ? 0 : -ENOMEM;
}

static int lock_sum_add_wait(struct trc_lock_summing *s, const struct trc_park *park)
{
	int64_t start_ns = trc_park_start_ns(s->m, park), end_ns = trc_park_end_ns(s->m, park), ns;
	struct trc_lock_sum *sum;
	uint32_t row;

	if (trc_wait_class(park->reason) != TRC_WAIT_LOCKS ||
	    !trc_selection_touches(s->selection, park->thread, start_ns, end_ns) ||
	    (s->selection && s->selection->labels &&
	     !trc_selection_passes(s->selection, s->m, trc_park_labels(s->m, park))))
		return 0;
	row = trc_lock_list_row(s, park->reason, park->object);
	if (row == TRC_INDEX_NONE)
		return -ENOMEM;
	sum = lock_sum_at(s, row);
	ns = trc_selection_ns(s->selection, park->thread, start_ns, end_ns);
	sum->timed_out += park->result == ETIMEDOUT;
	if (park->waker && park->wake_ns > start_ns && park->wake_ns <= end_ns)
		add_ns(&sum->woken_ns,
		       trc_selection_ns(s->selection, park->thread, park->wake_ns, end_ns));
	if (!sum->stack)
		sum->stack = park->stack;
	if (!sum->descriptor)
		sum->descriptor = park->descriptor;
	if (park->reason == TRC_REASON_RWLOCK_WRITE) {
		sum->write_waits++;
		add_ns(&sum->write_waited_ns, ns);
	}
	if (lock_sum_add_duration(&s->waited, &sum->waits, row, ns))
		return -ENOMEM;
	return lock_sum_count_thread(s, row, park->thread);
}

/* The first from `i` on that may have something of what is selected. */
static size_t next_wait_in(const struct trc_lock_summing *s, size_t i)
{
	return trc_between_next(s->m, TRC_BETWEEN_PARKS, i,
				s->selection ? s->selection->from_ns : INT64_MIN,
				s->selection ? s->selection->to_ns : INT64_MAX);
}

static int lock_sums_add_waits(struct trc_lock_summing *s)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(s->m, &n);
	int err = 0;

	for (size_t i = next_wait_in(s, 0); i < n && !err; i = next_wait_in(s, i + 1))
		err = lock_sum_add_wait(s, &park[i]);
	return err;
}

/* ---- holds ---- */

/* From..to the thread held the lock in this row. */
static int lock_sum_add_hold(struct trc_lock_summing *s, uint32_t row, uint8_t reason,
			     uint32_t thread, int64_t from_ns, int64_t to_ns)
{
	struct trc_lock_sum *sum = lock_sum_at(s, row);
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
	return lock_sum_add_duration(&s->held, &sum->holds, row, ns);
}

/* With --locks=all; those that ended. */
static int add_all_holds(struct trc_lock_summing *s)
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
		row = trc_lock_list_row(s, hold[i].reason, hold[i].object);
		if (row == TRC_INDEX_NONE)
			return -ENOMEM;
		sum = lock_sum_at(s, row);
		if (!sum->stack)
			sum->stack = hold[i].stack;
		err = lock_sum_add_hold(s, row, hold[i].reason, hold[i].thread, hold[i].start_ns,
					hold[i].end_ns);
	}
	return err;
}

/* ---- sections ---- */

static void add_caused(const struct trc_lock_summing *s, uint32_t row,
		       const struct trc_unlock *unlock, size_t i)
{
	struct trc_lock_sum *sum = lock_sum_at(s, row);
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
static int add_contended(struct trc_lock_summing *s, uint32_t row, const struct trc_unlock *unlock)
{
	if (!trc_selection_touches(s->selection, unlock->thread, unlock->taken_ns, unlock->ts_ns) ||
	    !labels_pass(s, unlock->thread, unlock->ts_ns, unlock->place))
		return 0;
	return lock_sum_add_hold(s, row, unlock->reason, unlock->thread, unlock->taken_ns,
				 unlock->ts_ns);
}

static void add_convoy(const struct trc_lock_summing *s, const struct trc_lock_convoy *of)
{
	const struct trc_convoy *convoy = &of->convoy;
	struct trc_lock_sum *sum = lock_sum_at(s, of->row);
	int64_t ns = 0;

	trc_add_ns(&ns, convoy->start_ns, convoy->end_ns);
	sum->convoys++;
	if (sum->convoy_handovers && ns <= sum->convoy_ns)
		return;
	sum->convoy_start_ns = convoy->start_ns;
	sum->convoy_ns = ns;
	sum->convoy_handovers = convoy->handovers;
}

/* The first unlock from `i` on of whose section something may be selected. */
static size_t next_unlock_in(const struct trc_lock_summing *s, size_t i)
{
	return trc_between_next(s->m, TRC_BETWEEN_UNLOCKS, i,
				s->selection ? s->selection->from_ns : INT64_MIN,
				s->selection ? s->selection->to_ns : INT64_MAX);
}

/* inside: by index of convoys, set for those of which a hand-over is selected. */
static int add_holds_and_convoys(struct trc_lock_summing *s, bool *inside)
{
	const struct trc_lock_section *section = s->listed->section;
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

static int add_sections(struct trc_lock_summing *s)
{
	const struct trc_lock_convoy *convoy = s->listed->convoys.row;
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
static uint64_t percentile_rank(uint64_t n, uint64_t percent)
{
	return n / 100 * percent + (n % 100 * percent + 99) / 100;
}

/* Of all locks at once: durations from the shortest on. */
static int set_spreads(struct trc_lock_summing *s, const struct trc_array *durations,
		       size_t spread_off)
{
	struct trc_key *key = durations->row, *scratch = malloc((durations->n + 1) * sizeof(*key));
	uint64_t *seen = calloc(s->sums->rows.n + 1, sizeof(*seen));

	if (scratch && seen && durations->n)
		trc_keys_sort(key, scratch, durations->n);
	for (size_t i = 0; scratch && seen && i < durations->n; i++) {
		struct trc_spread *spread =
			(struct trc_spread *)((char *)lock_sum_at(s, key[i].row) + spread_off);
		uint64_t rank = ++seen[key[i].row];

		if (rank == percentile_rank(spread->n, 50))
			spread->p50_ns = key[i].key;
		if (rank == percentile_rank(spread->n, 99))
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

static int compare_lock_sums(const void *a, const void *b)
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
		qsort(sum, kept, sizeof(*sum), compare_lock_sums);
	trc_index_free(&sums->index);
	for (size_t i = 0; i < kept && !err; i++) {
		uint64_t key;

		trc_lock_list_find(sums, sum[i].object, sum[i].kind, &key);
		err = trc_index_put(&sums->index, key, (uint32_t)i);
	}
	return err;
}

static int lock_sums_finish(struct trc_lock_summing *s)
{
	int err = trc_lock_list_need(s);

	trc_model_unlocks(s->m, &s->caused_in.end);
	if (!err && !trc_selection_has_all_time(s->selection)) {
		s->caused =
			trc_selection_caused_in(s->selection, s->m, s->preempted, &s->caused_in);
		err = s->caused ? 0 : -ENOMEM;
	}
	if (!err)
		err = lock_sums_add_waits(s);
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
	struct trc_lock_summing s = {.sums = sums,
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
	err = lock_sums_finish(&s);
	free(s.caused);
	trc_lock_list_free(&s.own);
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
