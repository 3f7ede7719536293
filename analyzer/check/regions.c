/* regions.c - see regions.h. */
#include <errno.h>
#include <inttypes.h>
#include "regions.h"

struct open_region {
	int64_t start_ns;
	uint64_t type;
};

/* The regions of a fiber that are open; of a thread's root fiber, too. */
struct fiber_regions {
	struct trc_array open; /* struct open_region */
	int64_t ended_ns;      /* when its fiber was; TRC_NEVER = it was not */
	uint64_t fiber;	       /* its number, once it has ended */
};

/* What regions are found by: a fiber's row id, or with 0 the thread whose root fiber it is. */
static uint64_t regions_key(uint32_t thread, uint32_t fiber)
{
	return fiber ? UINT64_C(1) << 32 | fiber : thread;
}

/* NULL without memory. */
static struct fiber_regions *regions_of(struct trc_check_regions *r, uint32_t thread,
					uint32_t fiber)
{
	uint64_t key = regions_key(thread, fiber);
	uint32_t row = trc_index_get(&r->row, key);
	struct fiber_regions *regions;

	if (row != TRC_INDEX_NONE)
		return (struct fiber_regions *)r->fibers.row + row;
	regions = trc_array_add(&r->fibers);
	if (!regions || trc_index_put(&r->row, key, (uint32_t)(r->fibers.n - 1)))
		return NULL;
	regions->open.row_bytes = sizeof(struct open_region);
	regions->ended_ns = TRC_NEVER;
	return regions;
}

/* The row id of the fiber that the thread is in now; 0 = its root fiber, or not known. */
static uint32_t fiber_now(const struct trc_check_regions *r, uint32_t thread, int64_t now_ns,
			  uint64_t place)
{
	return r->fibers_known ? trc_model_fiber_at(r->check->m, thread, now_ns, place) : 0;
}

int trc_check_region_begin(struct trc_check_regions *r, uint32_t thread, uint64_t place,
			   int64_t now_ns, uint64_t type)
{
	struct fiber_regions *regions = regions_of(r, thread, fiber_now(r, thread, now_ns, place));
	struct open_region *region = regions ? trc_array_add(&regions->open) : NULL;

	if (!region)
		return -ENOMEM;
	*region = (struct open_region){now_ns, type};
	return 0;
}

int trc_check_region_end(struct trc_check_regions *r, uint32_t thread, int64_t thread_start_ns,
			 uint64_t place, int64_t now_ns)
{
	uint32_t id = fiber_now(r, thread, now_ns, place);
	struct fiber_regions *regions = regions_of(r, thread, id);
	const struct trc_fiber *fiber;
	size_t n;

	if (!regions)
		return -ENOMEM;
	if (regions->open.n) {
		if (!--regions->open.n && id) /* there may be a million fibers */
			trc_array_free(&regions->open);
	} else if (id) {
		fiber = trc_model_fibers(r->check->m, &n) + id - 1;
		if (fiber->created_ns != TRC_NEVER)
			trc_check_missing(r->check, fiber->created_ns, now_ns,
					  "fiber %" PRIu64 ": the region end at %" PRId64
					  " ns has no begin",
					  fiber->fiber, now_ns);
	} else if (thread_start_ns != TRC_NEVER) {
		trc_check_missing(r->check, thread_start_ns, now_ns,
				  "thread %u: the region end at %" PRId64 " ns has no begin",
				  thread, now_ns);
	}
	return 0;
}

/* It may have ended them on another thread, by whose proc's clock that is later. */
void trc_check_regions_fiber_end(struct trc_check_regions *r, uint64_t number, int64_t now_ns)
{
	uint32_t id = r->fibers_known ? trc_check_fiber_id(r->check, number) : 0;
	uint32_t row = id ? trc_index_get(&r->row, regions_key(0, id)) : TRC_INDEX_NONE;
	struct fiber_regions *regions;

	if (row == TRC_INDEX_NONE)
		return;
	regions = (struct fiber_regions *)r->fibers.row + row;
	regions->ended_ns = now_ns;
	regions->fiber = number;
}

/* Of fibers that have ended, once there are no more events. */
void trc_check_regions_left(const struct trc_check_regions *r)
{
	const struct fiber_regions *regions = r->fibers.row;

	for (size_t i = 0; i < r->fibers.n; i++, regions++) {
		const struct open_region *region = regions->open.row;

		for (size_t k = 0; k < regions->open.n && regions->ended_ns != TRC_NEVER; k++) {
			const char *type = trc_model_string(r->check->m, region[k].type);

			trc_check_missing(r->check, region[k].start_ns, regions->ended_ns,
					  "fiber %" PRIu64 ": its region \"%.100s\" of %" PRId64
					  " ns is open when it ends",
					  regions->fiber, type ? type : "", region[k].start_ns);
		}
	}
}

int trc_check_regions_exit(struct trc_check_regions *r, uint32_t thread, int64_t now_ns)
{
	struct fiber_regions *regions = regions_of(r, thread, 0);
	const struct open_region *region;

	if (!regions)
		return -ENOMEM;
	region = regions->open.row;
	for (size_t i = 0; i < regions->open.n; i++) {
		const char *type = trc_model_string(r->check->m, region[i].type);

		trc_check_missing(r->check, region[i].start_ns, now_ns,
				  "thread %u: its region \"%.100s\" of %" PRId64
				  " ns is open when it exits",
				  thread, type ? type : "", region[i].start_ns);
	}
	regions->open.n = 0;
	return 0;
}

void trc_check_regions_begin(struct trc_check_regions *r, struct trc_check *check,
			     bool fibers_known)
{
	*r = (struct trc_check_regions){.check = check,
					.fibers = {.row_bytes = sizeof(struct fiber_regions)},
					.fibers_known = fibers_known};
}

void trc_check_regions_end(struct trc_check_regions *r)
{
	for (size_t i = 0; i < r->fibers.n; i++)
		trc_array_free(&((struct fiber_regions *)r->fibers.row)[i].open);
	trc_array_free(&r->fibers);
	trc_index_free(&r->row);
}
