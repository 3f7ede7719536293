/* open_waits.c - see open_waits.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "format/now.h"
#include "open_waits.h"
#include "recorder/shared/descriptor_name.h"
#include "recorder/shared/slot_look.h"
#include "remote_sockets.h"
#include "remote_stack.h"
#include "snapshot_private.h"

enum {
	NS_MAX = 200000000, /* so long at most; of the other threads it is not known */
	LINK_BYTES_MAX = 1024,
};

struct wait {
	uint32_t slot, seq;
	uint32_t n_frames;
	uint64_t *frame; /* owned */
	uint64_t inode;	 /* of a socket whose addresses are not known yet; 0 = it is none */
	char text[TRC_DESCRIPTOR_BYTES + 1];
};

struct trc_open_waits {
	struct wait *wait; /* by slot */
	uint32_t n, capacity;
};

/* One look at all of them. */
struct look {
	const struct trc_open_waits_at *at;
	struct trc_snapshot_source source;
	struct trc_open_waits *old, *now;
	uint32_t i_old; /* those before it lie in slots that were looked at */
	uint64_t until;
	struct trc_remote *remote; /* NULL = not yet, or the kernel does not let us */
	bool is_refused, is_late;
};

/* ---- one slot ------------------------------------------------------------------------------ */

static uint64_t slot_off(const struct look *l, uint32_t i)
{
	return l->at->header->threads_off + i * sizeof(struct trc_slot);
}

/* Its state and counter, in one word; false: it cannot be read. */
static bool state_read(const struct look *l, uint32_t i, uint64_t *state)
{
	return !trc_snapshot_read(&l->source, slot_off(l, i), state, sizeof(*state));
}

/* Z1 */
static bool is_unchanged(const struct look *l, uint32_t i, uint64_t state)
{
	uint64_t now;

	return state_read(l, i, &now) && now == state;
}

/* True if the slot has a wait of which its thread has told too little. */
static bool slot_read(const struct look *l, uint32_t i, struct trc_slot_wait *open, uint32_t *seq,
		      uint64_t *state)
{
	struct trc_slot slot; /* a copy */

	if (!state_read(l, i, state) ||
	    trc_snapshot_read(&l->source, slot_off(l, i), &slot, sizeof(slot)) ||
	    !is_unchanged(l, i, *state))
		return false;
	trc_slot_wait_load(&slot, open);
	*seq = atomic_load_explicit(&slot.seq, memory_order_relaxed);
	return !(*seq & 1) && trc_slot_waits(open) && open->since <= l->until && open->from.pc;
}

/* ---- what is found --------------------------------------------------------------------------- */

static void stack_read(struct look *l, struct wait *wait, const struct trc_slot_wait *open)
{
	uint64_t frame[TRC_STACK_DEPTH_MAX];

	if (open->stack || l->is_refused)
		return;
	if (!l->remote && trc_remote_open(&l->remote, l->at->pid)) {
		l->is_refused = true;
		return;
	}
	wait->n_frames = trc_remote_stack(l->remote, &open->from, true, frame);
	wait->frame = wait->n_frames ? malloc(wait->n_frames * sizeof(*frame)) : NULL;
	if (wait->frame)
		memcpy(wait->frame, frame, wait->n_frames * sizeof(*frame));
	else
		wait->n_frames = 0;
}

/* A thread may have a table of descriptors of its own. */
static void name_read(const struct look *l, struct wait *wait, const struct trc_slot_wait *open)
{
	char path[64], link[LINK_BYTES_MAX];
	ssize_t n;

	if (!trc_wait_has_descriptor(open->reason, open->object))
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%" PRIu32 "/fd/%" PRIu64, l->at->pid, open->tid,
		 open->object);
	n = readlink(path, link, sizeof(link));
	if (n <= 0 || n == sizeof(link))
		return;
	trc_descriptor_of_link(link, (size_t)n, wait->text);
	if (sscanf(wait->text, "socket:[%" SCNu64 "]", &wait->inode) != 1)
		wait->inode = 0;
}

static bool room_for_one(struct trc_open_waits *w)
{
	uint32_t capacity = 2 * w->capacity + 16;
	struct wait *grown;

	if (w->n < w->capacity)
		return true;
	grown = reallocarray(w->wait, capacity, sizeof(*grown));
	if (!grown)
		return false;
	w->wait = grown;
	w->capacity = capacity;
	return true;
}

/* What was found before of the wait that is in this slot now; it is the caller's. */
static bool take_over(struct look *l, struct wait *wait)
{
	struct trc_open_waits *old = l->old;

	while (old && l->i_old < old->n && old->wait[l->i_old].slot < wait->slot)
		l->i_old++;
	if (!old || l->i_old == old->n || old->wait[l->i_old].slot != wait->slot ||
	    old->wait[l->i_old].seq != wait->seq)
		return false;
	*wait = old->wait[l->i_old];
	old->wait[l->i_old].frame = NULL;
	return true;
}

static void slot_look(struct look *l, uint32_t i)
{
	struct trc_slot_wait open;
	struct wait wait = {.slot = i};
	uint64_t state;

	if (!slot_read(l, i, &open, &wait.seq, &state) || !room_for_one(l->now))
		return;
	if (!take_over(l, &wait)) {
		if (l->is_late)
			return;
		stack_read(l, &wait, &open);
		name_read(l, &wait, &open);
	}
	if (is_unchanged(l, i, state))
		l->now->wait[l->now->n++] = wait;
	else
		free(wait.frame);
}

/* An inode is never another socket's: this may come late. */
static void sockets_look(const struct trc_open_waits *w, int pid)
{
	struct trc_remote_socket *socket = calloc(w->n + 1, sizeof(*socket));
	size_t n = 0;

	for (uint32_t i = 0; socket && i < w->n; i++)
		if (w->wait[i].inode)
			socket[n++].inode = w->wait[i].inode;
	trc_remote_sockets(pid, socket, n);
	for (uint32_t i = 0; n && i < w->n; i++) {
		const char *text = trc_remote_socket_text(socket, n, w->wait[i].inode);

		if (w->wait[i].inode && text)
			snprintf(w->wait[i].text, sizeof(w->wait[i].text), "%s", text);
		w->wait[i].inode = 0; /* it is as it is */
	}
	free(socket);
}

static void look_at_all(struct look *l)
{
	uint64_t until_ns = trc_now_ns(CLOCK_MONOTONIC) + NS_MAX;
	uint32_t n = trc_slots_used(l->at->header, l->at->header->n_threads);

	for (uint32_t i = 0; i < n; i++) {
		l->is_late = l->is_late || trc_now_ns(CLOCK_MONOTONIC) >= until_ns;
		slot_look(l, i);
	}
	trc_remote_close(l->remote);
	sockets_look(l->now, l->at->pid);
}

void trc_open_waits_look(struct trc_open_waits **waits, const struct trc_open_waits_at *at,
			 uint64_t until)
{
	struct look l = {
		.at = at,
		.source = {.mapping = (const char *)at->mapping,
			   .fd = at->fd,
			   .grown_off = at->header->threads_off,
			   .grown_limit = at->header->cells_off},
		.old = *waits,
		.now = calloc(1, sizeof(*l.now)),
		.until = until,
	};

	if (l.now)
		look_at_all(&l);
	trc_open_waits_free(*waits);
	*waits = l.now;
}

void trc_open_waits_free(struct trc_open_waits *w)
{
	for (uint32_t i = 0; w && i < w->n; i++)
		free(w->wait[i].frame);
	if (w)
		free(w->wait);
	free(w);
}

/* ---- asked for ------------------------------------------------------------------------------- */

static int by_slot(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	return (x->slot > y->slot) - (x->slot < y->slot);
}

bool trc_open_waits_find(void *context, uint32_t slot, uint32_t seq, struct trc_wait_found *found)
{
	const struct trc_open_waits *w = context;
	const struct wait key = {.slot = slot};
	const struct wait *wait =
		w && w->n ? bsearch(&key, w->wait, w->n, sizeof(key), by_slot) : NULL;

	if (!wait || wait->seq != seq)
		return false;
	found->n_frames = wait->n_frames;
	if (wait->n_frames)
		memcpy(found->frame, wait->frame, wait->n_frames * sizeof(*wait->frame));
	found->n_bytes = (uint32_t)strlen(wait->text);
	memcpy(found->descriptor, wait->text, found->n_bytes);
	return true;
}
