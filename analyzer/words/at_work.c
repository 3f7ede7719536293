/* at_work.c - see at_work.h. */
#include "at_work.h"

#include <errno.h>
#include <stdlib.h>

struct span {
	uint32_t thread;
	int64_t from_ns, to_ns;
};

static int add_span(struct trc_report *r, uint32_t thread, int64_t from_ns, int64_t to_ns)
{
	struct span *span = trc_array_add(&r->at_work);

	if (!span)
		return -ENOMEM;
	*span = (struct span){thread, from_ns == TRC_NEVER ? INT64_MIN : from_ns,
			      to_ns == TRC_NEVER ? INT64_MAX : to_ns};
	return 0;
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static void join_spans(struct trc_array *spans)
{
	struct span *span = spans->row;
	size_t kept = 0;

	if (!spans->n)
		return;
	qsort(span, spans->n, sizeof(*span), by_thread_and_time);
	for (size_t i = 1; i < spans->n; i++) {
		struct span *last = &span[kept];

		if (span[i].thread != last->thread || span[i].from_ns > last->to_ns)
			span[++kept] = span[i];
		else if (span[i].to_ns > last->to_ns)
			last->to_ns = span[i].to_ns;
	}
	spans->n = kept + 1;
}

int trc_report_at_work_init(struct trc_report *r)
{
	size_t n_regions, n_tasks;
	const struct trc_region *region = trc_model_regions(r->m, &n_regions);
	const struct trc_task *task = trc_model_tasks(r->m, &n_tasks);
	int err = 0;

	if (r->at_work.row_bytes)
		return 0;
	r->at_work.row_bytes = sizeof(struct span);
	for (size_t i = 0; i < n_regions && !err; i++)
		if (!region[i].fiber)
			err = add_span(r, region[i].thread, region[i].start_ns, region[i].end_ns);
	for (size_t i = 0; i < n_tasks && !err; i++)
		if (task[i].start_thread == task[i].end_thread)
			err = add_span(r, task[i].start_thread, task[i].start_ns, task[i].end_ns);
	join_spans(&r->at_work);
	return err;
}

bool trc_report_is_at_work(const struct trc_report *r, uint32_t thread, int64_t ts_ns)
{
	const struct span *span = r->at_work.row;
	size_t low = 0, high = r->at_work.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (span[middle].thread < thread ||
		    (span[middle].thread == thread && span[middle].from_ns <= ts_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low && span[low - 1].thread == thread && ts_ns < span[low - 1].to_ns;
}
