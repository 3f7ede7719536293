/* own_waits.c - see own_waits.h. */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include "format/now.h"
#include "format/pages.h"
#include "format/raw.h"
#include "own_waits.h"
#include "recorder/guest/closing.h"
#include "recorder/guest/descriptor.h"
#include "recorder/ring/rec.h"
#include "recorder/shared/slot_look.h"
#include "recorder/shared/text.h"
#include "recorder/unwind/unwind.h"

enum {
	NS_MAX = 200000000, /* so long at most; of the other threads it is not known */
	LINK_BYTES_MAX = 1024,
};

struct wait {
	uint32_t slot, seq;
	uint32_t n_frames, n_bytes;
	uint64_t frame[TRC_STACK_DEPTH_MAX + 8];
	char text[TRC_DESCRIPTOR_BYTES + 1];
};

struct trc_own_waits {
	uint64_t memory_bytes;
	uint32_t n, max;
	struct wait wait[]; /* by slot */
};

/* ---- one slot ------------------------------------------------------------------------------ */

/* True if the slot has a wait of which its thread has told too little. */
static bool own_wait_slot_read(const struct trc_slot *slot, struct trc_slot_wait *open,
			       uint32_t *seq)
{
	*seq = trc_slot_look(slot);
	trc_slot_wait_load(slot, open);
	return trc_slot_waits(open) && open->from.pc && trc_slot_same(slot, *seq);
}

/* ---- what is found --------------------------------------------------------------------------- */

/* As emit.c takes its own: without trc's frames. */
static void own_wait_stack_read(struct wait *wait, const struct trc_slot_wait *open)
{
	const struct trc_unwind_start start = {open->from.pc, open->from.sp, open->from.fp};
	uint32_t n, skip = 0;

	n = trc_unwind_other(&start, wait->frame, TRC_STACK_DEPTH_MAX + 8);
	while (skip < n && wait->frame[skip] - trc_own_text[0] < trc_own_text[1] - trc_own_text[0])
		skip++;
	wait->n_frames = n - skip;
	if (wait->n_frames > TRC_STACK_DEPTH_MAX) {
		trc_unwind_elide_other(&start, wait->frame + skip, skip);
		wait->n_frames = TRC_STACK_DEPTH_MAX;
	}
	memmove(wait->frame, wait->frame + skip, wait->n_frames * sizeof(*wait->frame));
}

/* Also notes its modules: while none can be closed (Z2). */
static void stack_look(struct wait *wait, const struct trc_slot *slot,
		       const struct trc_slot_wait *open)
{
	if (open->stack || !trc_look_begin())
		return;
	own_wait_stack_read(wait, open);
	if (trc_slot_same(slot, wait->seq))
		trc_modules_note(
			wait->frame, wait->n_frames,
			atomic_load_explicit(&trc_rec.shared->module_epoch, memory_order_relaxed));
	trc_look_end();
}

/* A thread may have a table of descriptors of its own. */
static void own_wait_name_read(struct wait *wait, const struct trc_slot_wait *open,
			       bool asks_sockets)
{
	static const char SOCKET[] = "socket:";
	char path[sizeof("/proc/self/task//fd/") + 20 + 20], link[LINK_BYTES_MAX];
	struct trc_text t = TRC_TEXT_IN(path);
	long n;

	if (!trc_wait_has_descriptor(open->reason, open->object))
		return;
	trc_text_put(&t, "/proc/self/task/");
	trc_text_put_number(&t, open->tid, 10);
	trc_text_put(&t, "/fd/");
	trc_text_put_number(&t, open->object, 10);
	n = trc_raw4(SYS_readlinkat, AT_FDCWD, path, link, sizeof(link));
	if (n <= 0 || n == LINK_BYTES_MAX)
		return;
	if (asks_sockets && !strncmp(link, SOCKET, sizeof(SOCKET) - 1))
		wait->n_bytes = trc_descriptor_socket((int)open->object, wait->text);
	if (!wait->n_bytes)
		wait->n_bytes = trc_descriptor_of_link(link, (size_t)n, wait->text);
}

static void own_wait_look(struct trc_own_waits *w, const struct trc_slot *slot, uint32_t i,
			  bool asks_sockets)
{
	struct wait *wait = &w->wait[w->n];
	struct trc_slot_wait open;

	if (!own_wait_slot_read(slot, &open, &wait->seq))
		return;
	wait->slot = i;
	wait->n_frames = wait->n_bytes = 0;
	stack_look(wait, slot, &open);
	own_wait_name_read(wait, &open, asks_sockets);
	if (trc_slot_same(slot, wait->seq)) /* Z1 */
		w->n++;
}

static void own_waits_look(struct trc_own_waits *w, struct trc_shared *shared, bool asks_sockets)
{
	uint64_t until_ns = trc_now_ns(CLOCK_MONOTONIC) + NS_MAX;

	for (uint32_t i = 0; i < w->max && trc_now_ns(CLOCK_MONOTONIC) < until_ns; i++)
		own_wait_look(w, trc_slot_at(shared, i), i, asks_sockets);
}

void trc_own_waits_look(struct trc_own_waits **out, const struct trc_shared *shared,
			bool asks_sockets)
{
	uint32_t n = trc_slots_used(shared, shared->n_threads);
	uint64_t n_bytes = sizeof(struct trc_own_waits) + n * sizeof(struct wait);
	struct trc_own_waits *w = trc_pages_map(n_bytes);

	*out = w;
	if (!w)
		return;
	w->memory_bytes = n_bytes;
	w->max = n;
	own_waits_look(w, (struct trc_shared *)(uintptr_t)shared,
		       asks_sockets && trc_descriptors_ask_sockets());
}

void trc_own_waits_free(struct trc_own_waits *w)
{
	if (w)
		trc_pages_unmap(w, w->memory_bytes);
}

/* ---- asked for ------------------------------------------------------------------------------- */

static const struct wait *own_wait_find(const struct trc_own_waits *w, uint32_t slot)
{
	uint32_t from = 0, to = w ? w->n : 0;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (w->wait[middle].slot == slot)
			return &w->wait[middle];
		if (w->wait[middle].slot < slot)
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

bool trc_own_waits_find(void *context, uint32_t slot, uint32_t seq, struct trc_wait_found *found)
{
	const struct wait *wait = own_wait_find(context, slot);

	if (!wait || wait->seq != seq)
		return false;
	found->n_frames = wait->n_frames;
	memcpy(found->frame, wait->frame, wait->n_frames * sizeof(*wait->frame));
	found->n_bytes = wait->n_bytes;
	memcpy(found->descriptor, wait->text, wait->n_bytes);
	return true;
}
