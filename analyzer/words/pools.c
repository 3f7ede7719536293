/* pools.c - see pools.h. */
#include "pools.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "format/check.h"

int64_t trc_thread_busy_ns(const struct trc_report *r, size_t row)
{
	int64_t ns = trc_report_lifetime_ns(r, &r->thread[row]);

	if (trc_report_on_cpu_ns(r, row) != TRC_NEVER)
		return trc_report_on_cpu_ns(r, row);
	for (int class = 0; class < TRC_WAIT_CLASSES; class ++)
		ns -= r->class_ns[row][class];
	return ns > 0 ? ns : 0;
}

/* Of who created the thread, where, and its name. */
static uint64_t pool_key(const struct trc_report *r, const struct trc_thread *thread)
{
	struct {
		char name[32];
		uint32_t creator, place;
	} key;
	const char *from = thread->name;
	size_t n = 0;

	memset(&key, 0, sizeof(key));
	while (*from && n + 1 < sizeof(key.name)) {
		bool digit = isdigit((unsigned char)*from);

		key.name[n++] = digit ? '#' : *from;
		from++;
		while (digit && isdigit((unsigned char)*from))
			from++;
	}
	key.creator = thread->creator;
	key.place = trc_report_same_place(r, thread->creator_stack);
	return trc_check64(&key, sizeof(key), 0);
}

/* By row of thread: its outermost own function, from its first stack that has one; 0 = not known. */
static void find_starts(const struct trc_report *r, uint64_t *start)
{
	size_t n_samples;
	const struct trc_sample *sample = trc_model_samples(r->m, &n_samples);

	for (size_t i = 0; i < r->n_parks; i++) {
		const struct trc_thread *thread = trc_model_thread(r->m, r->park[i].thread);

		if (thread && !start[thread - r->thread])
			start[thread - r->thread] = trc_report_outermost(r, r->park[i].stack);
	}
	for (size_t i = 0; i < n_samples; i++) {
		const struct trc_thread *thread = trc_model_thread(r->m, sample[i].thread);

		if (thread && !start[thread - r->thread])
			start[thread - r->thread] = trc_report_outermost(r, sample[i].stack);
	}
}

/* Where only one beginning is known of threads that are alike, the others began there, too. */
static int adopt_starts(const struct trc_report *r, const uint64_t *key, uint64_t *start)
{
	struct trc_index of = {0};
	struct trc_array only = {.row_bytes = sizeof(uint64_t)}; /* by number; 1 = several */
	int err = 0;

	for (size_t i = 0; i < r->n_threads && !err; i++) {
		uint32_t number = start[i] ? trc_index_number(&of, key[i]) : 1;
		uint64_t *known;

		if (!start[i])
			continue;
		known = number > only.n ? trc_array_add(&only) : (uint64_t *)only.row + number - 1;
		if (!number || !known)
			err = -ENOMEM;
		else
			*known = *known && *known != start[i] ? 1 : start[i];
	}
	for (size_t i = 0; i < r->n_threads && !err; i++) {
		uint32_t number = start[i] ? TRC_INDEX_NONE : trc_index_get(&of, key[i]);
		uint64_t known = number == TRC_INDEX_NONE ? 1 : ((uint64_t *)only.row)[number - 1];

		if (!start[i] && known != 1)
			start[i] = known;
	}
	trc_index_free(&of);
	trc_array_free(&only);
	return err;
}

static int number_pools(struct trc_pools *pools, const struct trc_report *r, const uint64_t *key,
			const uint64_t *start)
{
	struct trc_index number = {0};
	int err = 0;

	for (size_t i = 0; i < r->n_threads && !err; i++) {
		uint64_t whole[3] = {key[i], start[i], r->thread[i].creator ? 0 : i + 1};
		uint32_t found = trc_index_number(&number, trc_check64(whole, sizeof(whole), 0));

		pools->of[i] = found - 1;
		err = found ? 0 : -ENOMEM;
	}
	pools->n = (uint32_t)number.n;
	trc_index_free(&number);
	return err;
}

int trc_pools_of(struct trc_pools *pools, const struct trc_report *r)
{
	uint64_t *key = calloc(r->n_threads + 1, sizeof(*key));
	uint64_t *start = calloc(r->n_threads + 1, sizeof(*start));
	int err;

	pools->of = calloc(r->n_threads + 1, sizeof(*pools->of));
	pools->n = 0;
	err = key && start && pools->of ? 0 : -ENOMEM;
	for (size_t i = 0; i < r->n_threads && !err; i++)
		key[i] = pool_key(r, &r->thread[i]);
	if (!err) {
		find_starts(r, start);
		err = adopt_starts(r, key, start);
	}
	if (!err)
		err = number_pools(pools, r, key, start);
	free(key);
	free(start);
	return err;
}

void trc_pools_free(struct trc_pools *pools)
{
	free(pools->of);
}

void trc_pools_add(struct trc_report *r, struct trc_line *line, const struct trc_pools *pools,
		   uint32_t pool)
{
	uint32_t n = 0, serial = 0;

	for (size_t i = 0; i < r->n_threads; i++) {
		if (pools->of[i] != pool)
			continue;
		serial = n++ ? serial : r->thread[i].serial;
	}
	trc_report_thread(r, line, serial, 30);
	if (n > 1)
		trc_line_add(line, " and %u like it", n - 1);
}
