/* waits.c - the block and mutex profiles; see profile.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "analyzer/model/waits.h"

static void waits_set_types(struct trc_profile *p)
{
	p->type[0] = (struct trc_profile_type){"contentions", "count"};
	p->type[1] = (struct trc_profile_type){"delay", "nanoseconds"};
	p->n_types = 2;
	p->main_type = 1;
	p->period_type = p->type[0];
	p->period = 1;
	p->of_program = true;
}

/* profile:L1 */
static bool has_reason(unsigned int reason)
{
	enum trc_wait_class class = trc_wait_class(reason);

	return class == TRC_WAIT_LOCKS || class == TRC_WAIT_THREADS;
}

/* *labels are those that the thread had when it began to wait. */
static bool is_blocked(const struct trc_profile_sums *sums, const struct trc_park *park,
		       uint32_t *labels)
{
	if (!has_reason(park->reason))
		return false;
	*labels = trc_park_labels(sums->m, park);
	return trc_profile_passes(sums, *labels);
}

static bool is_blocked_fiber(const struct trc_profile_sums *sums, const struct trc_fiber_wait *wait)
{
	return has_reason(wait->reason) &&
	       trc_selection_has_fiber_wait(sums->selection, sums->m, wait);
}

static int64_t overlap_ns(const struct trc_profile_sums *sums, const struct trc_park *inner,
			  const struct trc_park *outer)
{
	int64_t end_ns = trc_park_end_ns(sums->m, inner);
	int64_t outer_end_ns = trc_park_end_ns(sums->m, outer);

	return trc_selection_ns(sums->selection, inner->thread, inner->start_ns,
				end_ns < outer_end_ns ? end_ns : outer_end_ns);
}

static int waits_add_wait(struct trc_profile_sums *sums, uint32_t stack, uint32_t labels,
			  uint64_t count, int64_t delay_ns)
{
	const struct trc_profile_sample sample = {
		.stack = stack, .labels = labels, .value = {(int64_t)count, delay_ns}};

	return trc_profile_add(sums, &sample);
}

static int profile_add_park(struct trc_profile_sums *sums, const struct trc_park *park,
			    const uint32_t *outer, size_t i)
{
	uint32_t within = outer[i], labels, outer_labels = 0;
	int64_t start_ns = park[i].start_ns, end_ns = trc_park_end_ns(sums->m, &park[i]);
	int err;

	if (!is_blocked(sums, &park[i], &labels) ||
	    !trc_selection_touches(sums->selection, park[i].thread, start_ns, end_ns))
		return 0;
	err = waits_add_wait(sums, park[i].stack, labels, 1,
			     trc_selection_ns(sums->selection, park[i].thread, start_ns, end_ns));
	while (within && !is_blocked(sums, &park[within - 1], &outer_labels))
		within = outer[within - 1];
	if (!err && within) /* profile:L3 */
		err = waits_add_wait(sums, park[within - 1].stack, outer_labels, 0,
				     -overlap_ns(sums, &park[i], &park[within - 1]));
	return err;
}

/* profile:L7: no wait is in it or around it. */
static int add_fibers(struct trc_profile_sums *sums)
{
	size_t n;
	const struct trc_fiber_wait *wait = trc_model_fiber_waits(sums->m, &n);
	int64_t end_ns = trc_model_end_ns(sums->m);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (is_blocked_fiber(sums, &wait[i]))
			err = waits_add_wait(
				sums, wait[i].stack, wait[i].labels, 1,
				trc_selection_fiber_ns(
					sums->selection, &wait[i], wait[i].start_ns,
					wait[i].end_ns == TRC_NEVER ? end_ns : wait[i].end_ns));
	return err;
}

static size_t count_open(const struct trc_profile_sums *sums)
{
	size_t n_parks, n_waits, n_open = 0;
	const struct trc_park *park = trc_model_parks(sums->m, &n_parks);
	const struct trc_fiber_wait *wait = trc_model_fiber_waits(sums->m, &n_waits);
	uint32_t labels;

	for (size_t i = 0; i < n_parks; i++)
		n_open += park[i].end_ns == TRC_NEVER && is_blocked(sums, &park[i], &labels);
	for (size_t i = 0; i < n_waits; i++)
		n_open += wait[i].end_ns == TRC_NEVER && is_blocked_fiber(sums, &wait[i]);
	return n_open;
}

/* Whoever reads the profile cannot tell such waits from others. */
static void comment_killed(const struct trc_profile_sums *sums, struct trc_profile *p)
{
	const char *what = trc_reader_info_get(trc_model_reader(sums->m), "snapshot");
	size_t n_open;

	if (!what || strcmp(what, "recovered") != 0)
		return;
	n_open = count_open(sums);
	if (n_open)
		trc_profile_comment(p,
				    "%zu wait%s in progress when the process was killed, "
				    "and may have lasted longer",
				    n_open, n_open == 1 ? " was" : "s were");
}

int trc_profile_block(struct trc_profile_sums *sums, struct trc_profile *p)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(sums->m, &n);
	uint32_t *outer = trc_waits_nesting(sums->m);
	int err = outer ? 0 : -ENOMEM;

	waits_set_types(p);
	for (size_t i = 0; i < n && !err; i++)
		err = profile_add_park(sums, park, outer, i);
	if (!err)
		err = add_fibers(sums);
	comment_killed(sums, p);
	free(outer);
	return err;
}

int trc_profile_mutex(struct trc_profile_sums *sums, struct trc_profile *p)
{
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(sums->m, &n);
	struct trc_selected_cause *selected = NULL;
	int err = 0;

	waits_set_types(p);
	if (!trc_selection_has_all_time(sums->selection)) {
		selected = trc_selection_caused(sums->selection, sums->m, NULL);
		err = selected ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < n && !err; i++) {
		struct trc_selected_cause caused = {.caused_ns = unlock[i].caused_ns,
						    .caused_waits = unlock[i].caused_waits};
		uint32_t labels;

		if (selected)
			caused = selected[i];
		if (!caused.caused_waits)
			continue;
		labels = trc_model_labels_at(sums->m, unlock[i].thread, unlock[i].ts_ns,
					     unlock[i].place);
		if (trc_profile_passes(sums, labels))
			err = waits_add_wait(sums, unlock[i].stack, labels, caused.caused_waits,
					     caused.caused_ns);
	}
	free(selected);
	return err;
}
