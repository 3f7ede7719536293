/* window.c - see window.h. */
#include "window.h"

#include "tasks.h"

enum { WORK_PART = 100 };

struct candidate {
	uint32_t thread;
	struct trc_cause_work work;
	bool works; /* for a hundredth of the time */
};

static bool is_better(const struct candidate *a, const struct candidate *b)
{
	if (!b->thread || a->works != b->works)
		return !b->thread || a->works;
	if (a->work.last_ns != b->work.last_ns)
		return a->work.last_ns > b->work.last_ns;
	return a->work.ns > b->work.ns;
}

static bool is_there(const struct trc_report *r, const struct trc_thread *t, int64_t from_ns,
		     int64_t to_ns)
{
	if ((t->start_ns != TRC_NEVER && t->start_ns >= to_ns) ||
	    (t->end_ns != TRC_NEVER && t->end_ns <= from_ns))
		return false;
	return !r->selection || trc_selection_ns(r->selection, t->serial, from_ns, to_ns) > 0;
}

static int find_last(const struct trc_report *r, struct trc_causes *causes, int64_t from_ns,
		     int64_t to_ns, uint32_t *thread)
{
	struct candidate best = {0};
	int err = 0;

	for (size_t i = 0; i < r->n_threads && !err; i++) {
		struct candidate one = {.thread = r->thread[i].serial};

		if (!is_there(r, &r->thread[i], from_ns, to_ns))
			continue;
		err = trc_causes_work(causes, one.thread, from_ns, to_ns, &one.work);
		one.works = one.work.ns >= (to_ns - from_ns) / WORK_PART;
		if (!err && is_better(&one, &best))
			best = one;
	}
	*thread = best.thread;
	return err;
}

int trc_why_add_window(struct trc_why_tree *tree, struct trc_causes *causes, int64_t from_ns,
		       int64_t to_ns, uint32_t *thread)
{
	int err = find_last(tree->r, causes, from_ns, to_ns, thread);

	return err || !*thread ? err : trc_why_add_stretch(tree, causes, *thread, from_ns, to_ns);
}
