/* follow.c - see follow.h */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "recorder/shared/clock.h"
#include "follow.h"

enum {
	PAUSE_MIN_NS = 500000,
	PAUSE_MAX_NS = 5000000,
	/* Of a ring, 256 being all of it: from where on it is looked at more often, or less. */
	FULL_SOON = 64,
	FULL_LATE = 16,
	KERNEL_NS = 250000000, /* reading its buffers keeps the kernel from writing */
};

struct trc_follow {
	struct trc_flight_session *f;
	uint64_t pause_ns;
	bool wants_kernel;
	uint64_t kernel_read_ns;		 /* all from before then has been handed over */
	uint64_t kernel_head[TRC_PROCS_MAX];	 /* trc_perf_copy_since() */
	uint64_t kernel_until_ns[TRC_PROCS_MAX]; /* of each proc's records, handed over */
};

static int no_bytes(void *context, const void *bytes, size_t n_bytes)
{
	return 0;
}

static int open_drain(struct trc_process *p)
{
	const struct trc_drain_options drain = {
		.pid = (uint32_t)p->pid, .join = true, .never_wait = true, .follow = true};
	struct trc_writer_options options = {.discard = true};
	struct trc_shared h;
	const char *why;
	int err;

	memcpy(&h, p->shared, sizeof(h));
	err = trc_layout_check(&h, p->mapped_bytes, &why);
	if (!err)
		err = trc_process_adopt_clock(&h);
	if (err)
		return err;
	options.clock = trc_clock_kind;
	options.ticks_per_second = h.ticks_per_second;
	options.n_procs = h.n_procs;
	err = trc_writer_open(&p->w, &options, no_bytes, NULL);
	return err ? err : trc_drain_open(&p->drain, p->shared, p->mapped_bytes, p->w, &drain);
}

int trc_follow_begin(struct trc_process *p, struct trc_flight_session *f)
{
	int err;

	if (!p->shared || p->ring_cut)
		return -EBUSY;
	p->follow = calloc(1, sizeof(*p->follow));
	if (!p->follow)
		return -ENOMEM;
	p->follow->f = f;
	p->follow->pause_ns = PAUSE_MIN_NS;
	err = open_drain(p);
	if (err)
		trc_follow_end(p);
	return err;
}

void trc_follow_end(struct trc_process *p)
{
	if (!p->follow)
		return;
	trc_drain_close(p->drain);
	trc_writer_close(p->w);
	p->drain = NULL;
	p->w = NULL;
	free(p->follow);
	p->follow = NULL;
}

/* ---- the process's own events ------------------------------------------------------------ */

static void set_pace(struct trc_follow *follow, uint32_t fullest)
{
	if (fullest >= FULL_SOON)
		follow->pause_ns /= 2;
	else if (fullest < FULL_LATE)
		follow->pause_ns += follow->pause_ns / 2;
	if (follow->pause_ns < PAUSE_MIN_NS)
		follow->pause_ns = PAUSE_MIN_NS;
	else if (follow->pause_ns > PAUSE_MAX_NS)
		follow->pause_ns = PAUSE_MAX_NS;
}

uint64_t trc_follow_pass(struct trc_process *p)
{
	uint64_t n;

	if (!p->follow)
		return 0;
	n = trc_drain_pass(p->drain);
	if (p->ring_cut) {
		trc_follow_end(p);
		return n;
	}
	set_pace(p->follow, trc_drain_fullest(p->drain));
	if (p->follow->wants_kernel && trc_clock_vdso() - p->follow->kernel_read_ns > KERNEL_NS)
		trc_follow_kernel_pass(p);
	return n;
}

uint64_t trc_follow_settled(const struct trc_process *p)
{
	uint64_t settled = trc_drain_settled(p->drain);
	uint64_t kernel = p->follow && p->follow->wants_kernel
				  ? trc_drain_ticks(p->drain, p->follow->kernel_read_ns)
				  : settled;

	return kernel < settled ? kernel : settled;
}

uint64_t trc_follow_sleep_ns(const struct trc_process *p)
{
	return p->follow ? p->follow->pause_ns : UINT64_MAX;
}

/* ---- the kernel's ------------------------------------------------------------------------ */

void trc_follow_kernel(struct trc_process *p)
{
	struct trc_follow *follow = p->follow;

	if (!follow || follow->wants_kernel || !follow->f->kernel)
		return;
	follow->wants_kernel = true;
	follow->kernel_read_ns = trc_clock_vdso();
	for (uint32_t i = 0; i < TRC_PROCS_MAX; i++)
		follow->kernel_until_ns[i] = follow->kernel_read_ns;
	trc_perf_heads(follow->f->kernel, follow->kernel_head);
	trc_perf_table_fill(&follow->f->sampled, follow->f->kernel);
	trc_drain_kernel_events(p->drain, follow->f->sampled.entry, follow->f->sampled.n);
}

/* A copy's records are in order; that of the copies is kept here. */
static void follow_kernel_seen(void *context, const struct trc_perf_record *r)
{
	struct trc_process *p = context;
	uint64_t *until_ns = &p->follow->kernel_until_ns[r->proc];
	struct trc_perf_record ordered = *r;

	if (r->pid && r->pid != (uint32_t)p->pid)
		return;
	if (ordered.raw_ns < *until_ns)
		ordered.raw_ns = *until_ns;
	*until_ns = ordered.raw_ns;
	trc_drain_kernel(p->drain, &ordered);
}

/* How many is not known. */
static void follow_tell_overwritten(struct trc_process *p, uint32_t proc)
{
	const struct trc_perf_record lost = {
		.what = TRC_PERF_SAMPLES_LOST,
		.raw_ns = p->follow->kernel_until_ns[proc] + 1,
		.proc = proc,
		.event = TRC_PERF_ANY_EVENT,
		.lost = 1,
		.cause = TRC_SAMPLE_LOSS_NO_ROOM,
	};

	trc_drain_kernel(p->drain, &lost);
}

void trc_follow_kernel_pass(struct trc_process *p)
{
	struct trc_follow *follow = p->follow;
	struct trc_perf *kernel = follow ? follow->f->kernel : NULL;

	if (!kernel || !follow->wants_kernel)
		return;
	follow->kernel_read_ns = trc_clock_vdso();
	if (trc_perf_copy_since(kernel, follow->kernel_head))
		return; /* the next time it is told as overwritten, or not */
	for (uint32_t i = 0; i < TRC_PROCS_MAX; i++)
		if (trc_perf_oldest_ns(kernel, i))
			follow_tell_overwritten(p, i);
	trc_perf_pass(kernel, true, follow_kernel_seen, p);
}
