/* noted_waits.c - see noted_waits.h */
#include <stdlib.h>
#include <unistd.h>
#include "format/now.h"
#include "recorder/drain/open_waits.h"
#include "recorder/shared/clock.h"
#include "noted_waits.h"

enum {
	ROUND_NS = 250000000, /* from one round to the next, and where looks take long: */
	ROUND_NS_MAX = 1000000000,
	ROUND_SHARE = 100, /* so many times the CPU time of the last round's looks */
	OLD_SHARE = 1,	   /* of a second: waits that have lasted so long are all looked at */
	YOUNG_SHARE = 10,  /* of a second; YOUNG_MAX of them in a round */
	YOUNG_MAX = 25,
	SLICE_NS = 1000000,
	SLOW_NS = 20000000, /* of processor time: then the process is not looked at any more */
	LAST_NS = 50000000,
	ENDING_NS = 10000000, /* for which a signal waits at most */
	PAUSE_SHARE = 20,     /* a look is followed by a pause so many times as long */
	FULL_SOON = 64,	      /* of a ring, 256 being all of it */
};

struct trc_noted_waits {
	struct trc_open_waits *found;
	struct trc_shared header; /* checked; what counts up in it is of the last look */
	uint64_t round_ns;	  /* when the last round began */
	uint64_t cpu_ns;	  /* of its looks */
	uint64_t until;		  /* ticks: the waits of this round began before then, */
	uint64_t young_until;	  /* and the younger ones before then */
	bool in_round;		  /* it is not over */
	bool is_over;		  /* the image is gone, or takes too long to look at (N2) */
	int mem_fd;
};

/* Of all processes. */
static uint64_t pause_until_ns;

void trc_noted_waits_begin(struct trc_process *p, const struct trc_shared *h)
{
	struct trc_noted_waits *n = calloc(1, sizeof(*n));

	p->bases.wait_find = NULL;
	if (n)
		n->found = trc_open_waits_new();
	if (n)
		n->mem_fd = trc_open_waits_memory(p->pid);
	if (!n || !n->found || n->mem_fd < 0) {
		if (n && n->mem_fd >= 0)
			close(n->mem_fd);
		if (n)
			trc_open_waits_free(n->found);
		free(n);
		return;
	}
	n->header = *h;
	n->round_ns = trc_clock_vdso();
	p->noted_waits = n;
	p->bases.wait_find = trc_open_waits_find;
	p->bases.wait_find_context = n->found;
}

void trc_noted_waits_end(struct trc_process *p)
{
	if (p->noted_waits) {
		trc_open_waits_free(p->noted_waits->found);
		close(p->noted_waits->mem_fd);
	}
	free(p->noted_waits);
	p->noted_waits = NULL;
}

/* True: the round is over. */
static bool noted_look(struct trc_process *p, uint64_t slice_ns, uint64_t until)
{
	struct trc_shared *h = &p->noted_waits->header;
	const struct trc_open_waits_at at = {.mapping = p->shared,
					     .fd = -1,
					     .header = h,
					     .pid = p->pid,
					     .no_names = p->tids != NULL,
					     .mem_fd = &p->noted_waits->mem_fd,
					     .slice_ns = slice_ns,
					     .young_until = p->noted_waits->young_until,
					     .young_max = YOUNG_MAX};

	/* acquire: as in trc_slots_used(). */
	atomic_store_explicit(&h->ready_slots,
			      atomic_load_explicit(&p->shared->ready_slots, memory_order_acquire),
			      memory_order_relaxed);
	atomic_store_explicit(&h->next_serial,
			      atomic_load_explicit(&p->shared->next_serial, memory_order_relaxed),
			      memory_order_relaxed);
	return trc_open_waits_look(p->noted_waits->found, &at, until);
}

static uint64_t round_ns(const struct trc_noted_waits *n)
{
	if (n->cpu_ns < ROUND_NS / ROUND_SHARE)
		return ROUND_NS;
	return n->cpu_ns < ROUND_NS_MAX / ROUND_SHARE ? ROUND_SHARE * n->cpu_ns : ROUND_NS_MAX;
}

static bool round_begins(struct trc_noted_waits *n, uint64_t now_ns)
{
	uint64_t ticks = trc_clock_now(), second = n->header.ticks_per_second;

	if (now_ns - n->round_ns < round_ns(n) || ticks < second)
		return false;
	n->round_ns = now_ns;
	n->cpu_ns = 0;
	n->until = ticks - second / OLD_SHARE;
	n->young_until = ticks - second / YOUNG_SHARE;
	return true;
}

static bool can_be_looked_at(const struct trc_process *p)
{
	return p->noted_waits && !p->noted_waits->is_over && p->drain && !p->ended &&
	       !p->ring_cut && p->pid > 0;
}

void trc_noted_waits_pass(struct trc_process *p)
{
	struct trc_noted_waits *n = p->noted_waits;
	uint64_t now_ns = trc_clock_vdso(), cpu_ns;
	char byte;

	if (!can_be_looked_at(p) || now_ns < pause_until_ns ||
	    trc_drain_fullest(p->drain) >= FULL_SOON || (!n->in_round && !round_begins(n, now_ns)))
		return;
	cpu_ns = trc_now_ns(CLOCK_THREAD_CPUTIME_ID);
	n->in_round = !noted_look(p, SLICE_NS, n->until);
	cpu_ns = trc_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	n->cpu_ns += cpu_ns;
	n->is_over = cpu_ns > SLOW_NS || !pread(n->mem_fd, &byte, 1, 0);
	pause_until_ns = trc_clock_vdso();
	pause_until_ns += PAUSE_SHARE * (pause_until_ns - now_ns);
}

uint64_t trc_noted_waits_sleep_ns(const struct trc_process *p, uint64_t now_ns)
{
	if (!can_be_looked_at(p) || !p->noted_waits->in_round)
		return UINT64_MAX;
	return pause_until_ns > now_ns ? pause_until_ns - now_ns : 0;
}

/* All waits that go on now, also the youngest. */
static void noted_look_at_all(struct trc_process *p, uint64_t slice_ns)
{
	if (!can_be_looked_at(p))
		return;
	if (p->noted_waits->in_round) /* then it goes on where that stands */
		noted_look(p, slice_ns, UINT64_MAX);
	p->noted_waits->in_round = !noted_look(p, slice_ns, UINT64_MAX);
}

void trc_noted_waits_last(struct trc_process *p)
{
	noted_look_at_all(p, LAST_NS);
}

void trc_noted_waits_ending(struct trc_process *p)
{
	noted_look_at_all(p, ENDING_NS / 2);
}
