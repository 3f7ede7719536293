/* visitors.c - see visitors.h. */
#include "visitors.h"

static size_t visitors_find(const struct trc_visitors *v, uint64_t id)
{
	size_t i = 0;

	while (i < v->n && v->visitor[i].id != id)
		i++;
	return i;
}

static size_t least_heard(const struct trc_visitors *v)
{
	size_t least = 0;

	for (size_t i = 1; i < v->n; i++)
		if (v->visitor[i].heard_ms < v->visitor[least].heard_ms)
			least = i;
	return least;
}

void trc_visitor_heard(struct trc_visitors *v, uint64_t id, uint64_t now_ms)
{
	size_t i = visitors_find(v, id);

	if (i == v->n && v->n == TRC_VISITORS_MAX)
		i = least_heard(v);
	else if (i == v->n)
		v->n++;
	v->visitor[i] = (struct trc_visitor){id, now_ms};
	v->any_came = true;
	v->last_ms = now_ms;
}

void trc_visitor_gone(struct trc_visitors *v, uint64_t id, uint64_t now_ms)
{
	size_t i = visitors_find(v, id);

	if (i == v->n)
		return;
	v->visitor[i] = v->visitor[--v->n];
	v->last_ms = now_ms;
}

bool trc_visitors_are_over(struct trc_visitors *v, uint64_t now_ms)
{
	for (size_t i = v->n; i-- > 0;)
		if (now_ms - v->visitor[i].heard_ms >= TRC_VISITOR_SILENT_MS)
			v->visitor[i] = v->visitor[--v->n];
	return v->any_came && !v->n && now_ms - v->last_ms >= TRC_VISITORS_GRACE_MS;
}
