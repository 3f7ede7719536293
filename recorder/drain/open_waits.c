/* open_waits.c - see open_waits.h. */
#include <fcntl.h>
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
	SOCKETS_NS_MAX =
		2000000, /* of a round that takes several calls: later lines are not read */
	LINK_BYTES_MAX = 1024,
};

struct wait {
	uint32_t n_frames;
	uint64_t *frame; /* owned */
	uint64_t inode;	 /* of a socket whose addresses are not known yet; 0 = it is none */
	char text[TRC_DESCRIPTOR_BYTES + 1];
};

/* What is known of a slot as it was. */
struct seen {
	uint32_t state, seq;
	bool done;	   /* as long as the slot is like that, there is nothing to be found out */
	struct wait *wait; /* owned; NULL = nothing was found out */
};

struct trc_open_waits {
	struct seen *slot;
	uint32_t n_slots;
	uint32_t next;	      /* where a round that is not over goes on; 0 = a new one begins */
	uint32_t young_left;  /* of this round */
	uint32_t young_first; /* slots before this one had their turn (Z2) */
	struct trc_remote *remote; /* in a round; NULL = not yet, or the kernel does not let us */
	bool is_refused;
	bool has_sockets; /* whose addresses are not known yet */
};

/* One call. */
struct look {
	const struct trc_open_waits_at *at;
	struct trc_snapshot_source source;
	struct trc_open_waits *waits;
	uint64_t until;
	uint64_t until_ns;
	bool is_late;
};

static bool is_sliced(const struct look *l)
{
	return l->at->slice_ns != 0;
}

/* ---- one slot ------------------------------------------------------------------------------ */

static uint64_t slot_off(const struct look *l, uint32_t i)
{
	return l->at->header->threads_off + i * sizeof(struct trc_slot);
}

/* False: it cannot be read. */
static bool state_read(const struct look *l, uint32_t i, struct seen *now)
{
	uint32_t word[2] = {0}; /* state and seq */

	_Static_assert(offsetof(struct trc_slot, state) == 0 && offsetof(struct trc_slot, seq) == 4,
		       "the first two words");
	if (trc_snapshot_read(&l->source, slot_off(l, i), word, sizeof(word)))
		return false;
	now->state = word[0];
	now->seq = word[1];
	return true;
}

static bool seen_is_same(const struct seen *a, const struct seen *b)
{
	return a->state == b->state && a->seq == b->seq;
}

/* Z1 */
static bool is_unchanged(const struct look *l, uint32_t i, const struct seen *seen)
{
	struct seen now;

	return state_read(l, i, &now) && seen_is_same(&now, seen);
}

/* A younger wait, that this round still looks at. */
static bool is_young_one(const struct look *l, uint32_t i, const struct trc_slot_wait *open)
{
	const struct trc_open_waits *w = l->waits;

	return open->since <= l->at->young_until && w->young_left && i >= w->young_first;
}

static void young_count(const struct look *l, uint32_t i)
{
	struct trc_open_waits *w = l->waits;

	if (!--w->young_left)
		w->young_first = i + 1;
}

/* Looks again at a slot that is not as it was.  True if it has a wait that is to be looked at, and of which
 * its thread has told too little. */
static bool open_wait_slot_read(const struct look *l, uint32_t i, struct seen *seen,
				struct trc_slot_wait *open)
{
	struct trc_slot slot; /* a copy */

	if ((seen->seq & 1) || trc_snapshot_read(&l->source, slot_off(l, i), &slot, sizeof(slot)) ||
	    !is_unchanged(l, i, seen))
		return false;
	trc_slot_wait_load(&slot, open);
	seen->done = !trc_slot_waits(open) || !open->from.pc;
	return !seen->done && (open->since <= l->until || is_young_one(l, i, open));
}

/* True if the process has executed another program: the memory that was opened is nobody's any more. */
static bool is_other_image(const struct look *l)
{
	char byte;

	return l->at->mem_fd && !pread(*l->at->mem_fd, &byte, 1, 0);
}

/* ---- what is found --------------------------------------------------------------------------- */

static void open_wait_stack_read(const struct look *l, struct wait *wait,
				 const struct trc_slot_wait *open)
{
	struct trc_open_waits *w = l->waits;
	uint64_t frame[TRC_STACK_DEPTH_MAX];

	if (open->stack || w->is_refused)
		return;
	if (!w->remote && trc_remote_open(&w->remote, l->at->pid)) {
		w->is_refused = true;
		return;
	}
	wait->n_frames = trc_remote_stack(w->remote, &open->from, true, frame);
	wait->frame = wait->n_frames ? malloc(wait->n_frames * sizeof(*frame)) : NULL;
	if (wait->frame)
		memcpy(wait->frame, frame, wait->n_frames * sizeof(*frame));
	else
		wait->n_frames = 0;
}

/* A thread may have a table of descriptors of its own. */
static void open_wait_name_read(const struct look *l, struct wait *wait,
				const struct trc_slot_wait *open)
{
	char path[64], link[LINK_BYTES_MAX];
	ssize_t n;

	if (l->at->no_names || !trc_wait_has_descriptor(open->reason, open->object))
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

static void wait_free(struct wait *wait)
{
	if (wait)
		free(wait->frame);
	free(wait);
}

static void wait_look(const struct look *l, uint32_t i, struct seen *seen,
		      const struct trc_slot_wait *open)
{
	struct wait *wait = calloc(1, sizeof(*wait));

	if (!wait)
		return;
	open_wait_stack_read(l, wait, open);
	open_wait_name_read(l, wait, open);
	if (!is_unchanged(l, i, seen) || is_other_image(l)) {
		wait_free(wait);
		return;
	}
	l->waits->has_sockets |= wait->inode != 0;
	seen->wait = wait;
	seen->done = true;
}

/* False: it is too late for this one. */
static bool open_wait_look(struct look *l, uint32_t i)
{
	struct seen *seen = &l->waits->slot[i], now = {0};
	struct trc_slot_wait open;

	if (!state_read(l, i, &now) || (seen_is_same(&now, seen) && seen->done))
		return true;
	wait_free(seen->wait);
	*seen = now;
	if (!open_wait_slot_read(l, i, seen, &open))
		return true;
	/* The clock is read before what takes long. */
	l->is_late = l->is_late || trc_now_ns(CLOCK_MONOTONIC) >= l->until_ns;
	if (l->is_late)
		return false;
	if (open.since > l->until)
		young_count(l, i);
	wait_look(l, i, seen, &open);
	return true;
}

/* ---- a round --------------------------------------------------------------------------------- */

static bool slots_room(struct trc_open_waits *w, uint32_t n)
{
	struct seen *grown;

	if (n <= w->n_slots)
		return true;
	grown = reallocarray(w->slot, n, sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + w->n_slots, 0, (n - w->n_slots) * sizeof(*grown));
	w->slot = grown;
	w->n_slots = n;
	return true;
}

/* An inode is never another socket's: this may come late. */
static void sockets_look(const struct look *l)
{
	const struct trc_open_waits *w = l->waits;
	uint64_t until_ns =
		is_sliced(l) ? trc_now_ns(CLOCK_MONOTONIC) + SOCKETS_NS_MAX : UINT64_MAX;
	struct trc_remote_socket *socket = calloc((size_t)w->n_slots + 1, sizeof(*socket));
	size_t n = 0;

	for (uint32_t i = 0; socket && i < w->n_slots; i++)
		if (w->slot[i].wait && w->slot[i].wait->inode)
			socket[n++].inode = w->slot[i].wait->inode;
	trc_remote_sockets(l->at->pid, socket, n, until_ns);
	for (uint32_t i = 0; n && i < w->n_slots; i++) {
		struct wait *wait = w->slot[i].wait;
		const char *text =
			wait && wait->inode ? trc_remote_socket_text(socket, n, wait->inode) : NULL;

		if (text)
			snprintf(wait->text, sizeof(wait->text), "%s", text);
		if (wait)
			wait->inode = 0; /* it is as it is */
	}
	free(socket);
}

static void round_begin(const struct look *l)
{
	l->waits->young_left = l->at->young_max;
}

static void round_end(const struct look *l)
{
	struct trc_open_waits *w = l->waits;

	if (w->young_left)
		w->young_first = 0;
	trc_remote_close(w->remote);
	w->remote = NULL;
	w->is_refused = false;
	w->next = 0;
	if (w->has_sockets)
		sockets_look(l);
	w->has_sockets = false;
}

bool trc_open_waits_look(struct trc_open_waits *w, const struct trc_open_waits_at *at,
			 uint64_t until)
{
	struct look l = {
		.at = at,
		.source = {.mapping = (const char *)at->mapping,
			   .fd = at->fd,
			   .grown_off = at->header->threads_off,
			   .grown_limit = at->header->cells_off},
		.waits = w,
		.until = until,
		.until_ns = trc_now_ns(CLOCK_MONOTONIC) + (at->slice_ns ? at->slice_ns : NS_MAX),
	};
	uint32_t n = trc_slots_used(at->header, at->header->n_threads);

	if (!slots_room(w, n))
		return true;
	if (!is_sliced(&l) || !w->next)
		round_begin(&l);
	for (uint32_t i = is_sliced(&l) ? w->next : 0; i < n; i++) {
		if (!open_wait_look(&l, i) && is_sliced(&l)) {
			w->next = i;
			return false;
		}
	}
	round_end(&l);
	return true;
}

int trc_open_waits_memory(int pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

struct trc_open_waits *trc_open_waits_new(void)
{
	return calloc(1, sizeof(struct trc_open_waits));
}

void trc_open_waits_free(struct trc_open_waits *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; i < w->n_slots; i++)
		wait_free(w->slot[i].wait);
	trc_remote_close(w->remote);
	free(w->slot);
	free(w);
}

/* ---- asked for ------------------------------------------------------------------------------- */

bool trc_open_waits_find(void *context, uint32_t slot, uint32_t seq, struct trc_wait_found *found)
{
	const struct trc_open_waits *w = context;
	const struct seen *seen = w && slot < w->n_slots ? &w->slot[slot] : NULL;
	const struct wait *wait = seen ? seen->wait : NULL;

	if (!wait || seen->seq != seq)
		return false;
	found->n_frames = wait->n_frames;
	if (wait->n_frames)
		memcpy(found->frame, wait->frame, wait->n_frames * sizeof(*wait->frame));
	found->n_bytes = (uint32_t)strlen(wait->text);
	memcpy(found->descriptor, wait->text, found->n_bytes);
	return true;
}
