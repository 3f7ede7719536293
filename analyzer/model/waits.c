/* waits.c - see waits.h. */
#include "waits.h"

#include <stdlib.h>

int64_t trc_park_end_ns(const struct trc_model *m, const struct trc_park *park)
{
	int64_t end_ns = park->end_ns == TRC_NEVER ? trc_model_end_ns(m) : park->end_ns;

	return end_ns > park->start_ns ? end_ns : park->start_ns;
}

int64_t trc_park_start_ns(const struct trc_model *m, const struct trc_park *park)
{
	int64_t start_ns = trc_model_start_ns(m), end_ns = trc_park_end_ns(m, park);

	start_ns = start_ns > park->start_ns ? start_ns : park->start_ns;
	return start_ns < end_ns ? start_ns : end_ns;
}

uint32_t trc_park_labels(const struct trc_model *m, const struct trc_park *park)
{
	uint32_t labels = trc_model_labels_at(m, park->thread, park->start_ns, park->start_place);

	if (park->start_place != TRC_PLACE_LAST)
		return trc_model_labels_in_context(m, labels, park->thread, park->start_ns,
						   park->start_place);
	/* A wait that was recorded when it ended: its context was told right before. */
	if (park->end_ns == TRC_NEVER)
		return labels;
	return trc_model_labels_in_context(m, labels, park->thread, park->end_ns, TRC_PLACE_LAST);
}

uint32_t trc_latency_labels(const struct trc_model *m, const struct trc_latency *latency)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(m, &n);

	if (latency->park && latency->park <= n)
		return trc_park_labels(m, &park[latency->park - 1]);
	return trc_model_labels_at(m, latency->thread, latency->woken_ns, TRC_PLACE_LAST);
}

uint32_t *trc_waits_nesting(const struct trc_model *m)
{
	size_t n_parks, n_threads;
	const struct trc_park *park = trc_model_parks(m, &n_parks);
	const struct trc_thread *thread = trc_model_threads(m, &n_threads);
	uint32_t *outer = calloc(n_parks + 1, sizeof(*outer));
	uint32_t *latest = calloc(n_threads + 1, sizeof(*latest)); /* by row; index + 1 */

	for (size_t i = 0; outer && latest && i < n_parks; i++) {
		const struct trc_thread *t = trc_model_thread(m, park[i].thread);
		uint32_t *top = &latest[t ? (size_t)(t - thread) : n_threads];

		while (t && *top && trc_park_end_ns(m, &park[*top - 1]) <= park[i].start_ns)
			*top = outer[*top - 1];
		outer[i] = t ? *top : 0;
		*top = (uint32_t)i + 1;
	}
	free(latest);
	if (!latest) {
		free(outer);
		return NULL;
	}
	return outer;
}

uint8_t trc_wait_kind(unsigned int reason)
{
	switch (reason) {
	case TRC_REASON_COND_MUTEX:
		return TRC_REASON_MUTEX;
	case TRC_REASON_RWLOCK_WRITE:
		return TRC_REASON_RWLOCK_READ;
	case TRC_REASON_MUTEX:
	case TRC_REASON_RWLOCK_READ:
	case TRC_REASON_SPIN:
	case TRC_REASON_COND:
	case TRC_REASON_SEM:
	case TRC_REASON_BARRIER:
	case TRC_REASON_ONCE:
	case TRC_REASON_FUTEX:
	case TRC_REASON_FUTEX_LOCK:
	case TRC_REASON_SEM_LOCK:
		return (uint8_t)reason;
	default:
		return 0;
	}
}

const char *trc_wait_kind_name(uint8_t kind)
{
	return kind == TRC_REASON_RWLOCK_READ ? "rwlock" : trc_reason_name(kind);
}
