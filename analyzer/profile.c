/* profile.c - see profile.h. */
#include "analyzer/profile.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/waits.h"

/* Modules whose innermost frames are how a program waits, not why (L4). */
static const char *const TRC_OBJECTS[] = {"libtrc.so*", "libtrc-*.so*", "libtrc_*.so*"};
static const char *const LIBRARIES[] = {
	"libc.so*",	 "libc-*.so*", "libpthread.so*", "libpthread-*.so*", "librt.so*",
	"librt-*.so*",	 "ld-*.so*",   "ld.so*",	 "libc.musl-*",	     "ld-musl-*",
	"libstdc++.so*", "libc++.so*", "libc++abi.so*",
};

static bool name_in(const char *name, const char *const *pattern, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(pattern[i], name, 0))
			return true;
	return false;
}

enum owner { OWNER_PROGRAM, OWNER_LIBRARY, OWNER_TRC };

static enum owner module_owner(const struct trc_module_entry *module)
{
	const char *slash, *name;

	if (!module || !module->path)
		return OWNER_PROGRAM;
	slash = strrchr(module->path, '/');
	name = slash ? slash + 1 : module->path;
	if (name[0] != 'l') /* all of them begin so */
		return OWNER_PROGRAM;
	if (name_in(name, TRC_OBJECTS, sizeof(TRC_OBJECTS) / sizeof(*TRC_OBJECTS)))
		return OWNER_TRC;
	if (name_in(name, LIBRARIES, sizeof(LIBRARIES) / sizeof(*LIBRARIES)))
		return OWNER_LIBRARY;
	return OWNER_PROGRAM;
}

static enum owner frame_owner(const struct trc_stacks *stacks, const struct trc_model *m,
			      uint32_t at)
{
	const struct trc_frame *frame = &stacks->frame[stacks->stack_frame[at] - 1];

	if (!frame->module)
		return OWNER_PROGRAM;
	return module_owner(trc_reader_module(trc_model_reader(m), frame->module));
}

size_t trc_profile_skip(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack)
{
	uint32_t first, n, n_trc = 0;
	bool only_trc = true;

	if (stack >= stacks->n_stacks)
		return 0;
	first = stacks->stack_first[stack];
	n = stacks->stack_first[stack + 1] - first;
	for (uint32_t i = 0; i < n; i++) {
		enum owner owner = frame_owner(stacks, m, first + i);

		if (owner == OWNER_PROGRAM)
			return i;
		only_trc = only_trc && owner == OWNER_TRC;
		if (only_trc)
			n_trc = i + 1;
	}
	return n_trc < n ? n_trc : 0;
}

size_t trc_profile_limit(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack)
{
	uint32_t first, n;

	if (stack >= stacks->n_stacks)
		return 0;
	first = stacks->stack_first[stack];
	n = stacks->stack_first[stack + 1] - first;
	for (uint32_t i = n; i > 0; i--) {
		const struct trc_frame *frame =
			&stacks->frame[stacks->stack_frame[first + i - 1] - 1];

		if (frame_owner(stacks, m, first + i - 1) == OWNER_PROGRAM &&
		    !(frame->function && !strcmp(frame->function, "_start")))
			return i;
	}
	return n;
}

/* Counts and delays by stack id. */
struct sums {
	struct trc_profile_sample *by_stack;
	size_t n;
};

static void sums_add(struct sums *sums, uint32_t stack, uint64_t count, int64_t delay_ns)
{
	struct trc_profile_sample *sample = &sums->by_stack[stack < sums->n ? stack : 0];

	sample->count += count;
	sample->delay_ns += delay_ns;
}

static bool is_blocked(const struct trc_park *park) /* L1 */
{
	enum trc_wait_class class = trc_wait_class(park->reason);

	return class == TRC_WAIT_LOCKS || class == TRC_WAIT_THREADS;
}

static int64_t overlap_ns(const struct trc_model *m, const struct trc_park *inner,
			  const struct trc_park *outer)
{
	int64_t end_ns = trc_park_end_ns(m, inner), outer_end_ns = trc_park_end_ns(m, outer);

	return (end_ns < outer_end_ns ? end_ns : outer_end_ns) - inner->start_ns;
}

static int sum_parks(struct sums *sums, const struct trc_model *m)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(m, &n);
	uint32_t *outer = trc_waits_nesting(m);

	if (!outer)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t within = outer[i];

		if (!is_blocked(&park[i]))
			continue;
		sums_add(sums, park[i].stack, 1, trc_park_end_ns(m, &park[i]) - park[i].start_ns);
		while (within && !is_blocked(&park[within - 1]))
			within = outer[within - 1];
		if (within) /* L3 */
			sums_add(sums, park[within - 1].stack, 0,
				 -overlap_ns(m, &park[i], &park[within - 1]));
	}
	free(outer);
	return 0;
}

static void sum_unlocks(struct sums *sums, const struct trc_model *m)
{
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(m, &n);

	for (size_t i = 0; i < n; i++)
		if (unlock[i].caused_waits)
			sums_add(sums, unlock[i].stack, unlock[i].caused_waits,
				 unlock[i].caused_ns);
}

static int compare_samples(const void *a, const void *b)
{
	const struct trc_profile_sample *x = a, *y = b;

	if (x->delay_ns != y->delay_ns)
		return x->delay_ns > y->delay_ns ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* Those that have something, largest first. */
static int keep_samples(struct trc_profile *p, const struct sums *sums)
{
	p->sample = calloc(sums->n + 1, sizeof(*p->sample));
	if (!p->sample)
		return -ENOMEM;
	for (size_t i = 0; i < sums->n; i++) {
		if (!sums->by_stack[i].count)
			continue;
		p->sample[p->n_samples] = sums->by_stack[i];
		p->sample[p->n_samples++].stack = (uint32_t)i;
	}
	if (p->n_samples)
		qsort(p->sample, p->n_samples, sizeof(*p->sample), compare_samples);
	return 0;
}

int trc_profile_derive(struct trc_profile **out, struct trc_model *m, enum trc_profile_kind kind,
		       struct trc_error *error)
{
	struct trc_profile *p;
	struct sums sums = {0};
	int err = trc_model_need(m, TRC_PART_WAITS, error);

	if (err)
		return err;
	p = calloc(1, sizeof(*p));
	sums.n = trc_reader_stacks(trc_model_reader(m)) + 1;
	sums.by_stack = calloc(sums.n, sizeof(*sums.by_stack));
	if (!p || !sums.by_stack)
		err = -ENOMEM;
	else if (kind == TRC_PROFILE_BLOCK)
		err = sum_parks(&sums, m);
	else
		sum_unlocks(&sums, m);
	if (!err) {
		p->kind = kind;
		err = keep_samples(p, &sums);
	}
	free(sums.by_stack);
	if (err) {
		trc_profile_free(p);
		snprintf(error->text, sizeof(error->text), "profile: out of memory");
		return err;
	}
	*out = p;
	return 0;
}

void trc_profile_free(struct trc_profile *p)
{
	if (!p)
		return;
	free(p->sample);
	free(p);
}
