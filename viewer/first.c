/*
 * first.c - see first.h.
 */
#include "first.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyzer/report/report.h"
#include "page.h"
#include "tracks.h"

/* All threads together have so many steps; each has from 16 to 1,024. */
enum { STEPS_IN_ALL = 128 << 10, STEPS_MIN = 16, STEPS_MAX = 1024 };

int trc_first_init(struct trc_first *f, uint32_t n_threads, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t steps = n_threads ? STEPS_IN_ALL / n_threads : STEPS_MAX;

	steps = steps < STEPS_MIN ? STEPS_MIN : steps > STEPS_MAX ? STEPS_MAX : steps;
	*f = (struct trc_first){
		.n_threads = n_threads, .steps = steps, .begin_ns = begin_ns, .end_ns = end_ns};
	f->cell = calloc((size_t)n_threads * steps + 1, sizeof(*f->cell));
	return f->cell ? 0 : -ENOMEM;
}

void trc_first_free(struct trc_first *f)
{
	free(f->cell);
	f->cell = NULL;
}

/* The cell that is full. */
static void cell_end(struct trc_first *f)
{
	struct trc_first_cell *cell = &f->cell[f->at];
	uint64_t all_ns = 0, locked_ns = 0;

	for (uint32_t i = 0; i < f->n_states; i++) {
		const uint8_t s = f->state[i];
		uint8_t *best = trc_state_is_lock(s) ? &cell->lock : &cell->state;

		all_ns += f->time_ns[s];
		locked_ns += trc_state_is_lock(s) ? f->time_ns[s] : 0;
		/* 0 is no lock, but a state. */
		if ((trc_state_is_lock(s) && !*best) || f->time_ns[s] > f->time_ns[*best])
			*best = s;
	}
	if (all_ns)
		cell->locked = (uint8_t)((double)locked_ns / (double)all_ns * UINT8_MAX);
	for (uint32_t i = 0; i < f->n_states; i++)
		f->time_ns[f->state[i]] = 0;
	f->n_states = 0;
}

/* More time of a state in the cell; states stay in their order, the lowest first. */
static void cell_add(struct trc_first *f, uint8_t state, uint64_t ns)
{
	uint32_t i = f->n_states;

	if (!f->time_ns[state]) {
		for (; i && f->state[i - 1] > state; i--)
			f->state[i] = f->state[i - 1];
		f->state[i] = state;
		f->n_states++;
	}
	f->time_ns[state] += ns;
}

/* When a step begins. */
static uint64_t step_ns(const struct trc_first *f, uint64_t step)
{
	return f->begin_ns +
	       (uint64_t)((double)(f->end_ns - f->begin_ns) / f->steps * (double)step);
}

void trc_first_add(struct trc_first *f, uint32_t thread, uint64_t from_ns, uint64_t until_ns,
		   uint8_t state)
{
	uint64_t first = (uint64_t)thread * f->steps;

	if (f->at < first) {
		cell_end(f);
		f->at = first;
	}
	from_ns = from_ns > f->begin_ns ? from_ns : f->begin_ns;
	while (from_ns < until_ns) {
		uint64_t end =
			f->at + 1 < first + f->steps ? step_ns(f, f->at - first + 1) : until_ns;

		end = end < until_ns ? end : until_ns;
		if (end > from_ns)
			cell_add(f, state % TRC_FIRST_STATES, end - from_ns);
		from_ns = end > from_ns ? end : from_ns;
		if (from_ns < until_ns) {
			cell_end(f);
			f->at++;
		}
	}
}

void trc_first_end(struct trc_first *f)
{
	if (f->n_threads)
		cell_end(f);
}

static void first_write_threads(struct trc_model *m, const uint8_t *idle, const uint8_t *beyond,
				FILE *out)
{
	size_t n;
	const struct trc_thread *t = trc_model_threads(m, &n);

	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",\n[" : "[", out);
		trc_page_json_string(out, t[i].name);
		fprintf(out, ",%" PRIu32 ",%" PRIu32 ",%u,%u,%u]", t[i].serial, t[i].tid, idle[i],
			beyond[i], (unsigned)trc_model_thread_counts(m, i));
	}
}

int trc_first_write(struct trc_first *f, struct trc_model *m, const uint8_t *beyond, FILE *out)
{
	uint8_t *idle = calloc((size_t)f->n_threads + 1, sizeof(*idle));
	struct trc_error error;
	int rc;

	if (!idle || trc_report_idle_threads(m, idle, NULL, &error)) {
		free(idle);
		return -ENOMEM;
	}
	trc_first_end(f);
	fprintf(out,
		"<script type=\"application/json\" id=\"first\">{\"from_ns\":%" PRIu64
		",\"to_ns\":%" PRIu64 ",\"steps\":%" PRIu32 ",\"threads\":[",
		f->begin_ns, f->end_ns, f->steps);
	first_write_threads(m, idle, beyond, out);
	fputs("],\n\"cells\":\"", out);
	rc = trc_page_deflated(out, f->cell, (size_t)f->n_threads * f->steps * sizeof(*f->cell));
	fputs("\"}</script>\n", out);
	free(idle);
	return rc;
}
