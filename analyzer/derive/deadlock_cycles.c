/* deadlock_cycles.c - circles of threads that wait for each other, found by Tarjan's algorithm. */
#include <errno.h>
#include <stdlib.h>
#include "deadlocks.h"

struct search {
	uint32_t *order;  /* when each was reached, from 1; 0 = not yet */
	uint32_t *lowest; /* the earliest that can be reached from it on the path */
	uint32_t *next;	  /* how many of its edges have been followed */
	uint32_t *path;	  /* from the root to where the search is */
	uint32_t *open;	  /* reached, and not in a component yet */
	bool *is_open;
	uint32_t n_reached, n_path, n_open;
};

static bool waits_for_itself(const struct trc_deadlocks *d, uint32_t row)
{
	uint32_t n;
	const struct trc_wait_edge *edge = trc_deadlocks_edges(d, row, &n);

	for (uint32_t i = 0; i < n; i++)
		if (edge[i].to == row)
			return true;
	return false;
}

/* The deadlock that this one waits for, if it is in none itself.  Whom it waits for has been
 * decided: components come in that order. */
static uint32_t blocked_by(const struct trc_deadlocks *d, uint32_t row)
{
	uint32_t n;
	const struct trc_wait_edge *edge = trc_deadlocks_edges(d, row, &n);

	for (uint32_t i = 0; i < n; i++)
		if (d->dead[edge[i].to])
			return d->dead[edge[i].to];
	return 0;
}

static void component_close(struct trc_deadlocks *d, struct search *s, uint32_t root)
{
	bool is_cycle = s->open[s->n_open - 1] != root || waits_for_itself(d, root);
	uint32_t row, number = is_cycle ? ++d->n_dead : 0;

	do {
		row = s->open[--s->n_open];
		s->is_open[row] = false;
		d->in_cycle[row] = is_cycle;
		d->dead[row] = is_cycle ? number : blocked_by(d, row);
	} while (row != root);
}

static void reach(struct search *s, uint32_t row)
{
	s->order[row] = s->lowest[row] = ++s->n_reached;
	s->path[s->n_path++] = row;
	s->open[s->n_open++] = row;
	s->is_open[row] = true;
}

static uint32_t lower_of(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void deadlock_search_from(struct trc_deadlocks *d, struct search *s, uint32_t root)
{
	reach(s, root);
	while (s->n_path) {
		uint32_t row = s->path[s->n_path - 1], n;
		const struct trc_wait_edge *edge = trc_deadlocks_edges(d, row, &n);

		if (s->next[row] < n) {
			uint32_t to = edge[s->next[row]++].to;

			if (!s->order[to])
				reach(s, to);
			else if (s->is_open[to])
				s->lowest[row] = lower_of(s->lowest[row], s->order[to]);
			continue;
		}
		s->n_path--;
		if (s->n_path) {
			uint32_t before = s->path[s->n_path - 1];

			s->lowest[before] = lower_of(s->lowest[before], s->lowest[row]);
		}
		if (s->lowest[row] == s->order[row])
			component_close(d, s, row);
	}
}

int trc_deadlocks_find_cycles(struct trc_deadlocks *d)
{
	uint32_t *memory = calloc(5 * (size_t)d->n_nodes + 1, sizeof(*memory));
	struct search s = {.is_open = calloc(d->n_nodes + 1, sizeof(*s.is_open))};

	d->dead = calloc(d->n_nodes + 1, sizeof(*d->dead));
	d->in_cycle = calloc(d->n_nodes + 1, sizeof(*d->in_cycle));
	if (memory && s.is_open && d->dead && d->in_cycle) {
		s.order = memory;
		s.lowest = s.order + d->n_nodes;
		s.next = s.lowest + d->n_nodes;
		s.path = s.next + d->n_nodes;
		s.open = s.path + d->n_nodes;
		for (uint32_t i = 0; i < d->n_nodes; i++)
			if (!s.order[i])
				deadlock_search_from(d, &s, i);
	}
	free(memory);
	free(s.is_open);
	return s.order ? 0 : -ENOMEM;
}

/* In the order of their first threads. */
int trc_deadlocks_number(struct trc_deadlocks *d)
{
	uint32_t *number = calloc(d->n_dead + 1, sizeof(*number)), n = 0;

	if (!number)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->n; i++)
		if (d->in_cycle[i] && !number[d->dead[i]])
			number[d->dead[i]] = ++n;
	for (uint32_t i = 0; i < d->n_nodes; i++)
		d->dead[i] = number[d->dead[i]];
	for (uint32_t i = 0; i < d->n; i++)
		d->now[i].deadlock = d->dead[i];
	free(number);
	return 0;
}
