/*
 * causes.c - the causes of waits: causes:Q1, Q2 and Q3; caused:F3.
 *
 * Waits are checked until they have had ROWS_MAX rows of causes: long waits of many threads have very many rows.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "analyzer/causes/causes.h"
#include "parts.h"

enum { ROWS_MAX = 4000000 };

/* False if it lies outside of the row that it explains, or is not where its number says (Q2). */
static bool is_within(const struct trc_cause *rows, size_t i)
{
	const struct trc_cause *row = &rows[i], *parent;

	if (row->id != i + 1 || row->parent >= row->id || row->from_ns > row->to_ns)
		return false;
	if (!row->parent)
		return !row->depth && !i;
	parent = &rows[row->parent - 1];
	return !parent->leaf && row->depth == parent->depth + 1 &&
	       row->from_ns >= parent->from_ns && row->to_ns <= parent->to_ns;
}

/* Q1, Q2. */
static bool adds_up(const struct trc_cause *rows, size_t n)
{
	int64_t until_ns = n ? rows[0].from_ns : 0;

	for (size_t i = 0; i < n; i++) {
		if (!is_within(rows, i))
			return false;
		if (!rows[i].leaf)
			continue;
		if (rows[i].from_ns != until_ns)
			return false;
		until_ns = rows[i].to_ns;
	}
	return n && until_ns == rows[0].to_ns;
}

struct charged {
	int64_t ns, preempted_ns;
};

/* What depth 1 charges to each unlock, summed into charged[id - 1].  A piece may be several
 * rows.  A wait from before the window counts only from there on: nothing can be said of its lock. */
static void causes_charge(struct charged *charged, const struct trc_cause *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].depth != 1 || !rows[i].unlock)
			continue;
		trc_add_ns(&charged[rows[i].unlock - 1].ns, rows[i].from_ns, rows[i].to_ns);
		if (rows[i].kind == TRC_CAUSE_PREEMPTED)
			trc_add_ns(&charged[rows[i].unlock - 1].preempted_ns, rows[i].from_ns,
				   rows[i].to_ns);
	}
}

/* The whole wait is in the trace. */
static bool is_whole(const struct trc_model *m, const struct trc_park *park)
{
	return !(park->flags & TRC_PARK_CUT) && park->start_ns >= trc_model_start_ns(m);
}

static int check_waits(struct trc_check *check, struct trc_causes *causes, struct charged *charged,
		       bool *all)
{
	size_t n, n_rows = 0;
	const struct trc_park *park = trc_model_parks(check->m, &n);

	for (size_t i = 0; i < n && n_rows < ROWS_MAX; i++) {
		const struct trc_cause *rows;
		size_t n_of_wait;

		if (trc_causes_of_wait(causes, (uint32_t)i + 1, &rows, &n_of_wait))
			return -ENOMEM;
		if (!adds_up(rows, n_of_wait))
			trc_check_violation(check, park[i].start_ns, park[i].start_ns,
					    "wait %zu: its causes do not add up to it", i + 1);
		causes_charge(charged, rows, n_of_wait);
		n_rows += n_of_wait;
		*all = *all && is_whole(check->m, &park[i]);
	}
	*all = *all && n_rows < ROWS_MAX;
	return 0;
}

/* Q3. */
static void check_unlocks(struct trc_check *check, const struct charged *charged)
{
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(check->m, &n);

	for (size_t i = 0; i < n; i++)
		if (charged[i].ns != unlock[i].caused_ns)
			trc_check_violation(check, unlock[i].ts_ns, unlock[i].ts_ns,
					    "unlock %zu: it caused %" PRId64
					    " ns of waiting, and by the causes of waits %" PRId64,
					    i + 1, unlock[i].caused_ns, charged[i].ns);
}

/* caused:F3. */
static void check_preempted(struct trc_check *check, const struct charged *charged)
{
	size_t n;
	const struct trc_preempted_section *section = trc_model_preempted_sections(check->m, &n);
	const struct trc_unlock *unlock = trc_model_unlocks(check->m, &(size_t){0});

	for (size_t i = 0; i < n; i++)
		if (charged[i].preempted_ns != section[i].preempted_waits_ns)
			trc_check_violation(
				check, unlock[i].ts_ns, unlock[i].ts_ns,
				"unlock %zu: others waited %" PRId64
				" ns while its thread had no proc, and by the causes of "
				"waits %" PRId64,
				i + 1, section[i].preempted_waits_ns, charged[i].preempted_ns);
}

int trc_check_causes(struct trc_check *check)
{
	struct trc_error error = {""};
	struct trc_causes *causes = NULL;
	struct charged *charged;
	bool all = true;
	size_t n;
	int err = trc_model_need(check->m, TRC_CAUSES_PARTS | TRC_PART_PREEMPTED, &error);

	if (err)
		return err == -ENOMEM ? err : 0; /* damaged blocks have been reported */
	trc_model_unlocks(check->m, &n);
	charged = calloc(n + 1, sizeof(*charged));
	err = charged ? trc_causes_open(&causes, check->m) : -ENOMEM;
	if (!err)
		err = check_waits(check, causes, charged, &all);
	if (!err && all)
		check_unlocks(check, charged);
	if (!err && all)
		check_preempted(check, charged);
	trc_causes_close(causes);
	free(charged);
	return err;
}
