/* draws.c - see draws.h. */
#include "draws.h"

#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/margin.h"

/* What a sample stands for in a group.  `thread` is its row; ALONE of a thread with a single sample (D3). */
struct part {
	uint32_t thread, group, sample;
	int64_t ns;
};

enum { ALONE = 0 };

int trc_draws_add(struct trc_draws *draws, uint32_t group, uint32_t sample, int64_t ns)
{
	uint32_t number = trc_index_number(&draws->index, trc_index_key(group, sample));
	struct trc_draw *draw;

	draws->rows.row_bytes = sizeof(*draw);
	draw = number > draws->rows.n ? trc_array_add(&draws->rows)
				      : (struct trc_draw *)draws->rows.row + number - 1;
	if (!number || !draw)
		return -ENOMEM;
	draw->group = group;
	draw->sample = sample;
	if (__builtin_add_overflow(draw->ns, ns, &draw->ns))
		draw->ns = INT64_MAX;
	return 0;
}

void trc_draws_free(struct trc_draws *draws)
{
	trc_array_free(&draws->rows);
	trc_index_free(&draws->index);
}

static int by_sample(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->sample > y->sample) - (x->sample < y->sample);
}

static int by_group(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->sample > y->sample) - (x->sample < y->sample);
}

static struct part *parts_make(const struct trc_draws *draws, const struct trc_model *m,
			       const uint32_t *group_of)
{
	const struct trc_draw *draw = draws->rows.row;
	struct part *part = calloc(draws->rows.n + 1, sizeof(*part));
	size_t n;
	const struct trc_sample *sample = trc_model_samples(m, &n);

	for (size_t i = 0; part && i < draws->rows.n; i++)
		part[i] = (struct part){
			.thread = sample[draw[i].sample - 1].thread,
			.group = group_of ? group_of[draw[i].group] : draw[i].group,
			.sample = draw[i].sample,
			.ns = draw[i].ns,
		};
	return part;
}

/* The end of the thread that begins at part[i]. */
static size_t thread_end(const struct part *part, size_t n, size_t i)
{
	uint32_t thread = part[i].thread;

	while (i < n && part[i].thread == thread)
		i++;
	return i;
}

/* D3.  The parts are sorted by thread and sample, and are so in the end. */
static void pool_alone(struct part *part, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		end = thread_end(part, n, i);
		for (size_t j = i; part[i].sample == part[end - 1].sample && j < end; j++)
			part[j].thread = ALONE;
	}
	qsort(part, n, sizeof(*part), by_sample);
}

/* D2: adds what part[i] and those that follow have of one sample, of one group or of any; behind these. */
static size_t part_add_sample(struct trc_margin_part *sum, const struct part *part, size_t n,
			      size_t i, bool of_group)
{
	const struct part *first = &part[i];
	uint64_t ns = 0;

	for (; i < n && part[i].thread == first->thread && part[i].sample == first->sample &&
	       (!of_group || part[i].group == first->group);
	     i++)
		ns += (uint64_t)part[i].ns;
	trc_margin_part_add(sum, ns);
	return i;
}

/* The groups' parts of one thread, of which all that there is was added up. */
static void add_groups(struct trc_margin *group, struct part *part, size_t n)
{
	struct trc_margin_part whole = {0};
	size_t i = 0;

	while (i < n)
		i = part_add_sample(&whole, part, n, i, false);
	qsort(part, n, sizeof(*part), by_group);
	for (i = 0; i < n;) {
		struct trc_margin_part sum = {0};
		uint32_t of = part[i].group;

		while (i < n && part[i].group == of)
			i = part_add_sample(&sum, part, n, i, true);
		trc_margin_add_known(&group[of], &sum, &whole);
	}
}

int trc_draws_margins(const struct trc_draws *draws, const struct trc_model *m,
		      const uint32_t *group_of, size_t n_groups, double *margin)
{
	size_t n = draws->rows.n;
	struct part *part = parts_make(draws, m, group_of);
	struct trc_margin *group = calloc(n_groups + 1, sizeof(*group));
	int err = part && group ? 0 : -ENOMEM;

	if (!err && n) {
		qsort(part, n, sizeof(*part), by_sample);
		pool_alone(part, n);
	}
	for (size_t i = 0, end; !err && i < n; i = end) {
		end = thread_end(part, n, i);
		add_groups(group, part + i, end - i);
	}
	for (size_t i = 0; !err && i < n_groups; i++)
		margin[i] = group[i].value > 0 ? trc_margin_value(&group[i]) : 0;
	free(part);
	free(group);
	return err;
}
