/* blame.c - the blame profile: what in the end held threads up that waited; see profile.h. */
#include "analyzer/causes/blame.h"
#include "analyzer/model/waits.h"
#include "parts.h"

/* profile:L1 says which. */
static bool wanted(void *context, const struct trc_park *park, uint32_t *labels)
{
	const struct trc_profile_sums *sums = context;
	enum trc_wait_class class = trc_wait_class(park->reason);

	if (class != TRC_WAIT_LOCKS && class != TRC_WAIT_THREADS)
		return false;
	*labels = trc_park_labels(sums->m, park);
	return trc_profile_passes(sums, *labels);
}

static bool inside(void *context, uint32_t thread, int64_t now_ns, int64_t *until_ns)
{
	const struct trc_profile_sums *sums = context;

	return trc_selection_at(sums->selection, thread, now_ns, until_ns);
}

static int add(void *context, const struct trc_blame *blame)
{
	const struct trc_profile_sample sample = {
		.stack = blame->stack,
		.labels = blame->labels,
		.off = blame->reason,
		.cause = blame->kind,
		.value = {blame->ns},
	};

	return trc_profile_add(context, &sample);
}

int trc_profile_blame(struct trc_profile_sums *sums, struct trc_profile *p)
{
	const struct trc_blame_target target = {
		.wanted = wanted,
		.inside = trc_selection_has_all_time(sums->selection) ? NULL : inside,
		.charge = add,
		.context = sums,
	};

	p->type[0] = (struct trc_profile_type){"delay", "nanoseconds"};
	p->n_types = 1;
	p->main_type = 0;
	p->period_type = p->type[0];
	p->period = 1;
	p->of_program = true;
	p->labels_of = "waiter.";
	trc_profile_comment(
		p, "time that threads waited for locks and for each other, by what in the end "
		   "held them up");
	return trc_blame_sum(sums->m, &target);
}
