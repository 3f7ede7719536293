/*
 * margins.c - how far shares of what was sampled may be off: by function, thread and label.
 *
 * The samples are taken thread by thread: the total of a thread is known better than its division
 * (analyzer/model/margin.h).  Samples of a thread with the same stack are first added
 * up: there are far more samples than stacks.
 */
#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/margin.h"
#include "parts.h"

/* Groups of samples: what each has of the thread that is being looked at, and what of all. */
struct groups {
	struct trc_margin_part *part;
	struct trc_margin *sum;
	uint32_t *touched; /* those with a part, n_touched of them */
	size_t n, n_touched;
};

struct margins {
	const struct trc_report *r;
	const uint32_t *of_frame;
	struct groups self, total, labels, stacks;
	/* By the first row of a label with the key: what has a label of it; of threads that have any, what
	 * has none, and all that they used. */
	struct groups keys;
	struct trc_margin *without, *thread_whole;
	uint32_t *key_row;
	struct trc_margin *by_thread;
	struct trc_margin_part thread;
	struct trc_margin all;
	uint32_t *seen; /* by function: the last stack that was counted in its total, by `visit` */
	uint32_t visit;
};

static int groups_make(struct groups *g, size_t n)
{
	*g = (struct groups){.part = calloc(n + 1, sizeof(*g->part)),
			     .sum = calloc(n + 1, sizeof(*g->sum)),
			     .touched = calloc(n + 1, sizeof(*g->touched)),
			     .n = n};
	return g->part && g->sum && g->touched ? 0 : -ENOMEM;
}

static void groups_free(struct groups *g)
{
	free(g->part);
	free(g->sum);
	free(g->touched);
}

static void groups_add(struct groups *g, uint32_t group, const struct trc_margin_part *more)
{
	struct trc_margin_part *part = &g->part[group];

	if (!part->n)
		g->touched[g->n_touched++] = group;
	part->value += more->value;
	part->squares += more->squares;
	part->n += more->n;
}

/* The thread's samples are all there. */
static void groups_end_thread(struct groups *g, const struct trc_margin_part *thread)
{
	for (size_t i = 0; i < g->n_touched; i++) {
		uint32_t group = g->touched[i];

		trc_margin_add(&g->sum[group], &g->part[group], thread);
		g->part[group] = (struct trc_margin_part){0};
	}
	g->n_touched = 0;
}

/* To the functions of the stack, each once; without frames to the first. */
static void add_stack(struct margins *m, uint32_t stack)
{
	const struct trc_stacks *s = m->r->stacks;
	const struct trc_margin_part *part = &m->stacks.part[stack];
	uint32_t first = stack ? s->stack_first[stack] : 0;
	uint32_t end = stack ? s->stack_first[stack + 1] : 0;

	m->visit++;
	groups_add(&m->self, first == end ? 0 : m->of_frame[s->stack_frame[first] - 1], part);
	if (first == end)
		groups_add(&m->total, 0, part);
	for (uint32_t i = first; i < end; i++) {
		uint32_t function = m->of_frame[s->stack_frame[i] - 1];

		if (m->seen[function] != m->visit)
			groups_add(&m->total, function, part);
		m->seen[function] = m->visit;
	}
}

static void margins_add_sample(struct margins *m, const struct trc_sample *sample)
{
	struct trc_margin_part part = {0};
	size_t n;
	const struct trc_set_label *label = trc_model_label_set(m->r->m, sample->labels, &n);

	trc_margin_part_add(&part, sample->scaled);
	trc_margin_part_add(&m->thread, sample->scaled);
	groups_add(&m->stacks, sample->stack < m->r->stacks->n_stacks ? sample->stack : 0, &part);
	for (size_t i = 0; i < n; i++) {
		groups_add(&m->labels, m->r->label_first[label + i - m->r->label], &part);
		groups_add(&m->keys, m->key_row[label + i - m->r->label], &part);
	}
}

/* Before the parts of its keys are added up. */
static void thread_without_keys(struct margins *m)
{
	for (size_t i = 0; i < m->keys.n_touched; i++) {
		uint32_t key = m->keys.touched[i];
		const struct trc_margin_part *with = &m->keys.part[key];
		const struct trc_margin_part rest = {m->thread.value - with->value,
						     m->thread.squares - with->squares,
						     m->thread.n - with->n};

		trc_margin_add(&m->without[key], &rest, &m->thread);
		trc_margin_add(&m->thread_whole[key], &m->thread, &m->thread);
	}
}

static void end_thread(struct margins *m, size_t row)
{
	if (m->thread.n)
		trc_margin_add(&m->all, &m->thread, &m->thread);
	if (m->thread.n && row < m->r->n_threads)
		trc_margin_add(&m->by_thread[row], &m->thread, &m->thread);
	for (size_t i = 0; i < m->stacks.n_touched; i++)
		add_stack(m, m->stacks.touched[i]);
	groups_end_thread(&m->stacks, &m->thread);
	groups_end_thread(&m->self, &m->thread);
	groups_end_thread(&m->total, &m->thread);
	groups_end_thread(&m->labels, &m->thread);
	thread_without_keys(m);
	groups_end_thread(&m->keys, &m->thread);
	m->thread = (struct trc_margin_part){0};
}

static size_t margin_thread_row(const struct trc_report *r, uint32_t serial)
{
	const struct trc_thread *thread = trc_model_thread(r->m, serial);

	return thread ? (size_t)(thread - r->thread) : r->n_threads;
}

/* Samples that are wanted, by thread.  -ENOMEM, or 0 and *out is the caller's. */
static int by_thread(struct trc_key **out, size_t *n_out, const struct trc_report *r,
		     uint32_t event)
{
	size_t n, n_wanted = 0;
	const struct trc_sample *sample = trc_model_samples(r->m, &n);
	struct trc_key *keys = calloc(2 * n + 1, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (sample[i].event == event && trc_report_wants_sample(r, &sample[i]))
			keys[n_wanted++] = (struct trc_key){
				(int64_t)margin_thread_row(r, sample[i].thread), (uint32_t)i};
	trc_keys_sort(keys, keys + n, n_wanted);
	*out = keys;
	*n_out = n_wanted;
	return 0;
}

static int margins_add_samples(struct margins *m, uint32_t event)
{
	struct trc_key *key = NULL;
	size_t n_all, n = 0;
	const struct trc_sample *sample = trc_model_samples(m->r->m, &n_all);
	int err = by_thread(&key, &n, m->r, event);

	for (size_t i = 0; i < n; i++) {
		margins_add_sample(m, &sample[key[i].row]);
		if (i + 1 == n || key[i + 1].key != key[i].key)
			end_thread(m, (size_t)key[i].key);
	}
	free(key);
	return err;
}

static double *shares_of(const struct margins *m, const struct trc_margin *sum, size_t n)
{
	double *share = calloc(n + 1, sizeof(*share));

	for (size_t i = 0; share && i < n; i++)
		share[i] = trc_margin_share(&sum[i], &m->all);
	return share;
}

/* All that other threads used has no label of the key. */
static double *without_keys(struct margins *m)
{
	double *share = calloc(m->r->n_labels + 1, sizeof(*share));

	for (size_t i = 0; share && i < m->r->n_labels; i++) {
		struct trc_margin none = m->all;

		trc_margin_take_off(&none, &m->thread_whole[m->key_row[i]]);
		trc_margin_join(&none, &m->without[m->key_row[i]]);
		share[i] = none.value > 0.5 ? trc_margin_share(&none, &m->all) : 0;
	}
	return share;
}

static int margins_begin(struct margins *m, const struct trc_report *r, const uint32_t *of_frame,
			 size_t n_functions)
{
	int err;

	*m = (struct margins){.r = r,
			      .of_frame = of_frame,
			      .by_thread = calloc(r->n_threads + 1, sizeof(*m->by_thread)),
			      .seen = calloc(n_functions + 1, sizeof(*m->seen)),
			      .without = calloc(r->n_labels + 1, sizeof(*m->without)),
			      .thread_whole = calloc(r->n_labels + 1, sizeof(*m->thread_whole)),
			      .key_row = trc_report_key_rows(r)};
	err = m->by_thread && m->seen && m->without && m->thread_whole && m->key_row ? 0 : -ENOMEM;
	if (!err)
		err = groups_make(&m->self, n_functions);
	if (!err)
		err = groups_make(&m->total, n_functions);
	if (!err)
		err = groups_make(&m->labels, r->n_labels);
	if (!err)
		err = groups_make(&m->keys, r->n_labels);
	return err ? err : groups_make(&m->stacks, r->stacks->n_stacks);
}

static void margins_end(struct margins *m)
{
	groups_free(&m->self);
	groups_free(&m->total);
	groups_free(&m->labels);
	groups_free(&m->stacks);
	groups_free(&m->keys);
	free(m->without);
	free(m->thread_whole);
	free(m->key_row);
	free(m->by_thread);
	free(m->seen);
}

int trc_report_margins_make(struct trc_report_margins *out, const struct trc_report *r,
			    uint32_t event, const uint32_t *of_frame, size_t n_functions)
{
	struct margins m;
	int err = margins_begin(&m, r, of_frame, n_functions);

	*out = (struct trc_report_margins){0};
	if (!err && !trc_model_is_counted(r->m, event))
		err = margins_add_samples(&m, event);
	if (!err)
		*out = (struct trc_report_margins){
			.self = shares_of(&m, m.self.sum, n_functions),
			.total = shares_of(&m, m.total.sum, n_functions),
			.by_thread = shares_of(&m, m.by_thread, r->n_threads),
			.by_label = shares_of(&m, m.labels.sum, r->n_labels),
			.without_key = without_keys(&m),
			.all = trc_margin_value(&m.all),
		};
	margins_end(&m);
	if (!err &&
	    !(out->self && out->total && out->by_thread && out->by_label && out->without_key))
		err = -ENOMEM;
	return err;
}

void trc_report_margins_free(struct trc_report_margins *margins)
{
	free(margins->self);
	free(margins->total);
	free(margins->by_thread);
	free(margins->by_label);
	free(margins->without_key);
}
