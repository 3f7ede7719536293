/* on_procs.c - see on_procs.h. */
#include "on_procs.h"

#include <errno.h>
#include <stdlib.h>
#include "parts.h"

/* The stretches on a proc, by start. */
struct on_proc {
	uint32_t first, n;
};

/* A proc runs one thread at a time, and few threads wait for it: only a file that was made to be hard has
 * more. */
enum { LOOKED_AT_EACH = 64, LOOKED_AT_LEAST = 1 << 20 };

static int64_t start_of(const struct trc_on_procs *p, const struct trc_on_cpu *on)
{
	return on->start_ns == TRC_NEVER ? trc_model_start_ns(p->m) : on->start_ns;
}

static int64_t end_of(const struct trc_on_procs *p, const struct trc_on_cpu *on)
{
	return on->end_ns == TRC_NEVER ? trc_model_end_ns(p->m) : on->end_ns;
}

/* ---- stretches by proc ---- */

static int on_procs_count(struct trc_on_procs *p)
{
	p->procs.row_bytes = sizeof(struct on_proc);
	for (size_t i = 0; i < p->n_on_cpu; i++) {
		uint32_t number = trc_index_number(&p->proc_row, p->on_cpu[i].proc);

		if (!number || (number > p->procs.n && !trc_array_add(&p->procs)))
			return -ENOMEM;
		((struct on_proc *)p->procs.row)[number - 1].n++;
	}
	return 0;
}

static void list_stretches(struct trc_on_procs *p)
{
	struct on_proc *proc = p->procs.row;
	uint32_t first = 0;

	for (size_t i = 0; i < p->procs.n; i++) {
		proc[i].first = first;
		first += proc[i].n;
		proc[i].n = 0;
	}
	for (size_t i = 0; i < p->n_on_cpu; i++) {
		struct on_proc *on = &proc[trc_index_get(&p->proc_row, p->on_cpu[i].proc) - 1];
		uint32_t at = on->first + on->n++;

		p->stretch[at] = (uint32_t)i;
		p->ran_ns[at] = at > on->first ? p->ran_ns[at - 1] : 0;
		trc_add_ns(&p->ran_ns[at], start_of(p, &p->on_cpu[i]), end_of(p, &p->on_cpu[i]));
	}
}

int trc_on_procs_make(struct trc_on_procs *p, const struct trc_model *m)
{
	size_t n_threads;
	int err;

	*p = (struct trc_on_procs){.m = m};
	p->on_cpu = trc_model_on_cpu(m, &p->n_on_cpu);
	trc_model_threads(m, &n_threads);
	p->stretch = calloc(p->n_on_cpu + 1, sizeof(*p->stretch));
	p->ran_ns = calloc(p->n_on_cpu + 1, sizeof(*p->ran_ns));
	p->of_thread = calloc(n_threads + 1, sizeof(*p->of_thread));
	if (!p->stretch || !p->ran_ns || !p->of_thread)
		return -ENOMEM;
	err = on_procs_count(p);
	if (!err)
		list_stretches(p);
	return err;
}

void trc_on_procs_free(struct trc_on_procs *p)
{
	trc_index_free(&p->proc_row);
	trc_array_free(&p->procs);
	free(p->stretch);
	free(p->ran_ns);
	free(p->of_thread);
}

/* The place of the proc's first stretch that ends after this time. */
static uint32_t place_from(const struct trc_on_procs *p, const struct on_proc *proc, int64_t ts_ns)
{
	uint32_t low = proc->first, high = proc->first + proc->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (end_of(p, &p->on_cpu[p->stretch[middle]]) <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How long the proc had run threads of the program by this time. */
static int64_t ran_by(const struct trc_on_procs *p, const struct on_proc *proc, int64_t ts_ns)
{
	uint32_t at = place_from(p, proc, ts_ns);
	int64_t ns = at > proc->first ? p->ran_ns[at - 1] : 0;

	if (at < proc->first + proc->n)
		trc_add_ns(&ns, start_of(p, &p->on_cpu[p->stretch[at]]), ts_ns);
	return ns;
}

/* ---- who ran ---- */

/* Adds what each thread ran on the proc meanwhile, or takes it off again; notes who ran most. */
static void tally(struct trc_on_procs *p, const struct on_proc *proc, int64_t from_ns,
		  int64_t to_ns, struct trc_instead *instead, bool take_off)
{
	size_t n;
	const struct trc_thread *threads = trc_model_threads(p->m, &n);

	for (uint32_t at = place_from(p, proc, from_ns); at < proc->first + proc->n; at++) {
		const struct trc_on_cpu *on = &p->on_cpu[p->stretch[at]];
		int64_t start_ns = start_of(p, on), end_ns = end_of(p, on), *ns;
		const struct trc_thread *thread = trc_model_thread(p->m, on->thread);

		if (start_ns >= to_ns)
			break;
		p->n_looked_at++;
		if (!thread)
			continue;
		ns = &p->of_thread[thread - threads];
		if (take_off) {
			*ns = 0;
			continue;
		}
		trc_add_ns(ns, start_ns > from_ns ? start_ns : from_ns,
			   end_ns < to_ns ? end_ns : to_ns);
		if (*ns <= instead->ns)
			continue;
		instead->ns = *ns;
		instead->thread = on->thread;
	}
}

void trc_on_procs_instead(struct trc_on_procs *p, uint32_t proc, int64_t from_ns, int64_t to_ns,
			  struct trc_instead *instead)
{
	uint32_t number = trc_index_get(&p->proc_row, proc);
	const struct on_proc *on;
	int64_t ns;

	*instead = (struct trc_instead){0};
	/* A damaged clock makes times that are farther apart than can be told. */
	if (number == TRC_INDEX_NONE || __builtin_sub_overflow(to_ns, from_ns, &ns))
		return;
	on = (const struct on_proc *)p->procs.row + number - 1;
	instead->all_ns = ran_by(p, on, to_ns) - ran_by(p, on, from_ns);
	if (instead->all_ns > ns) /* clocks: sched:H1 moves begins */
		instead->all_ns = ns;
	instead->ns = TRC_NEVER;
	if (p->n_looked_at >
	    (p->n_on_cpu + p->n_asked++) * (uint64_t)LOOKED_AT_EACH + LOOKED_AT_LEAST)
		return;
	instead->ns = 0;
	tally(p, on, from_ns, to_ns, instead, false);
	tally(p, on, from_ns, to_ns, instead, true);
}
