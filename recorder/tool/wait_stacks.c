/* wait_stacks.c - see wait_stacks.h. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "remote_stack.h"
#include "wait_stacks.h"

enum { NS_MAX = 200000000 }; /* so long at most; of the other threads it is not known */

struct wait {
	uint32_t slot, seq;
	uint32_t n_frames;
	uint64_t *frame; /* owned */
};

struct trc_wait_stacks {
	struct wait *wait; /* by slot */
	uint32_t n, capacity;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint32_t seq_of(const struct trc_slot *slot)
{
	/* acquire: pairs with the release that ends a change; the fields are loaded after it. */
	return atomic_load_explicit(&slot->seq, memory_order_acquire);
}

/* True if the slot has a wait whose stack is to be read. */
static bool is_open(struct trc_slot *slot, struct trc_registers *from)
{
#define LOAD(field) atomic_load_explicit(&slot->field, memory_order_relaxed)
	*from = (struct trc_registers){
		.pc = LOAD(wait_pc), .sp = LOAD(wait_sp), .fp = LOAD(wait_fp)};
	return LOAD(state) == TRC_SLOT_LIVE && LOAD(wait_reason) && !LOAD(wait_stack) && from->pc;
#undef LOAD
}

/* Z1 */
static bool is_unchanged(const struct trc_slot *slot, uint32_t seq)
{
	/* acquire fence: what was loaded before comes before the second look at the counter. */
	atomic_thread_fence(memory_order_acquire);
	return !(seq & 1) && atomic_load_explicit(&slot->seq, memory_order_relaxed) == seq;
}

static void keep(struct trc_wait_stacks *s, const struct wait *wait, const uint64_t *frame)
{
	uint32_t capacity = s->n < s->capacity ? s->capacity : 2 * s->capacity + 16;
	struct wait *grown = s->wait;

	if (capacity != s->capacity)
		grown = reallocarray(s->wait, capacity, sizeof(*grown));
	if (!grown)
		return;
	s->wait = grown;
	s->capacity = capacity;
	s->wait[s->n] = *wait;
	s->wait[s->n].frame = malloc(wait->n_frames * sizeof(*frame));
	if (!s->wait[s->n].frame)
		return;
	memcpy(s->wait[s->n++].frame, frame, wait->n_frames * sizeof(*frame));
}

static void look_at(struct trc_wait_stacks *s, struct trc_remote **remote, struct trc_slot *slot,
		    uint32_t i, int pid)
{
	struct wait wait = {.slot = i, .seq = seq_of(slot)};
	uint64_t frame[TRC_STACK_DEPTH_MAX];
	struct trc_registers from;

	if (!is_open(slot, &from) || !is_unchanged(slot, wait.seq) ||
	    (!*remote && trc_remote_open(remote, pid)))
		return;
	wait.n_frames = trc_remote_stack(*remote, &from, true, frame);
	if (wait.n_frames && is_unchanged(slot, wait.seq))
		keep(s, &wait, frame);
}

void trc_wait_stacks_take(struct trc_wait_stacks **out, struct trc_shared *shared,
			  const struct trc_shared *header, int pid)
{
	struct trc_slot *slot = trc_area(shared, header->threads_off);
	uint32_t n = trc_slots_used(header, header->n_threads);
	struct trc_wait_stacks *s = calloc(1, sizeof(*s));
	struct trc_remote *remote = NULL;
	uint64_t until_ns = now_ns() + NS_MAX;

	for (uint32_t i = 0; s && i < n && now_ns() < until_ns; i++)
		look_at(s, &remote, &slot[i], i, pid);
	trc_remote_close(remote);
	*out = s;
}

void trc_wait_stacks_free(struct trc_wait_stacks *s)
{
	for (uint32_t i = 0; s && i < s->n; i++)
		free(s->wait[i].frame);
	if (s)
		free(s->wait);
	free(s);
}

static int by_slot(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	return (x->slot > y->slot) - (x->slot < y->slot);
}

uint32_t trc_wait_stacks_find(void *context, uint32_t slot, uint32_t seq,
			      uint64_t frame[TRC_STACK_DEPTH_MAX])
{
	const struct trc_wait_stacks *s = context;
	const struct wait key = {.slot = slot};
	const struct wait *wait =
		s && s->n ? bsearch(&key, s->wait, s->n, sizeof(key), by_slot) : NULL;

	if (!wait || wait->seq != seq)
		return 0;
	memcpy(frame, wait->frame, wait->n_frames * sizeof(*frame));
	return wait->n_frames;
}
