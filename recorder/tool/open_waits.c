/* open_waits.c - see open_waits.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "open_waits.h"
#include "recorder/guest/descriptor.h"
#include "remote_sockets.h"
#include "remote_stack.h"

enum {
	NS_MAX = 200000000, /* so long at most; of the other threads it is not known */
	LINK_BYTES_MAX = 1024,
};

struct wait {
	uint32_t slot, seq;
	uint32_t n_frames;
	uint64_t *frame; /* owned */
	uint64_t inode;	 /* of a socket; 0 = it is none */
	char text[TRC_DESCRIPTOR_BYTES + 1];
};

struct trc_open_waits {
	struct wait *wait; /* by slot */
	uint32_t n, capacity;
	int pid;
	struct trc_remote *remote; /* while they are looked at; NULL = not yet */
	struct trc_remote_socket *sockets;
	size_t n_sockets;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- one slot ------------------------------------------------------------------------------ */

/* A wait of whose stack its thread has told nothing. */
struct open {
	struct trc_registers from;
	uint64_t object;
	uint32_t reason, tid, seq;
};

/* Z1 */
static bool is_unchanged(const struct trc_slot *slot, uint32_t seq)
{
	/* acquire fence: what was loaded before comes before the second look at the counter. */
	atomic_thread_fence(memory_order_acquire);
	return !(seq & 1) && atomic_load_explicit(&slot->seq, memory_order_relaxed) == seq;
}

/* True if the slot has such a wait. */
static bool slot_read(struct trc_slot *slot, struct open *open)
{
#define LOAD(field) atomic_load_explicit(&slot->field, memory_order_relaxed)
	/* acquire: pairs with the release that ends a change; the fields are loaded after it. */
	open->seq = atomic_load_explicit(&slot->seq, memory_order_acquire);
	open->from = (struct trc_registers){
		.pc = LOAD(wait_pc), .sp = LOAD(wait_sp), .fp = LOAD(wait_fp)};
	open->object = LOAD(wait_object);
	open->reason = LOAD(wait_reason);
	open->tid = LOAD(tid);
	return LOAD(state) == TRC_SLOT_LIVE && open->reason && !LOAD(wait_stack) && open->from.pc &&
	       is_unchanged(slot, open->seq);
#undef LOAD
}

/* ---- what is found --------------------------------------------------------------------------- */

static void stack_read(struct trc_open_waits *w, struct wait *wait, const struct open *open)
{
	uint64_t frame[TRC_STACK_DEPTH_MAX];

	if (!w->remote && trc_remote_open(&w->remote, w->pid))
		return;
	wait->n_frames = trc_remote_stack(w->remote, &open->from, true, frame);
	wait->frame = wait->n_frames ? malloc(wait->n_frames * sizeof(*frame)) : NULL;
	if (wait->frame)
		memcpy(wait->frame, frame, wait->n_frames * sizeof(*frame));
	else
		wait->n_frames = 0;
}

/* A thread may have a table of descriptors of its own. */
static void name_read(const struct trc_open_waits *w, struct wait *wait, const struct open *open)
{
	char path[64], link[LINK_BYTES_MAX];
	ssize_t n;

	if (!trc_wait_has_descriptor(open->reason, open->object))
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%" PRIu32 "/fd/%" PRIu64, w->pid, open->tid,
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

static void slot_look(struct trc_open_waits *w, struct trc_slot *slot, uint32_t i)
{
	struct open open;
	struct wait wait;

	if (!slot_read(slot, &open) || !room_for_one(w))
		return;
	wait = (struct wait){.slot = i, .seq = open.seq};
	stack_read(w, &wait, &open);
	name_read(w, &wait, &open);
	if (is_unchanged(slot, open.seq))
		w->wait[w->n++] = wait;
	else
		free(wait.frame);
}

/* An inode is never another socket's: this may come late. */
static void sockets_look(struct trc_open_waits *w)
{
	w->sockets = calloc(w->n + 1, sizeof(*w->sockets));
	for (uint32_t i = 0; w->sockets && i < w->n; i++)
		if (w->wait[i].inode)
			w->sockets[w->n_sockets++].inode = w->wait[i].inode;
	trc_remote_sockets(w->pid, w->sockets, w->n_sockets);
}

void trc_open_waits_take(struct trc_open_waits **out, struct trc_shared *shared,
			 const struct trc_shared *header, int pid)
{
	struct trc_slot *slot = trc_area(shared, header->threads_off);
	uint32_t n = trc_slots_used(header, header->n_threads);
	struct trc_open_waits *w = calloc(1, sizeof(*w));
	uint64_t until_ns = now_ns() + NS_MAX;

	*out = w;
	if (!w)
		return;
	w->pid = pid;
	for (uint32_t i = 0; i < n && now_ns() < until_ns; i++)
		slot_look(w, &slot[i], i);
	trc_remote_close(w->remote);
	w->remote = NULL;
	sockets_look(w);
}

void trc_open_waits_free(struct trc_open_waits *w)
{
	for (uint32_t i = 0; w && i < w->n; i++)
		free(w->wait[i].frame);
	if (w) {
		free(w->wait);
		free(w->sockets);
	}
	free(w);
}

/* ---- asked for ------------------------------------------------------------------------------- */

static int by_slot(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	return (x->slot > y->slot) - (x->slot < y->slot);
}

/* Its addresses, else what the kernel calls it. */
static const char *name_of(const struct trc_open_waits *w, const struct wait *wait)
{
	for (size_t i = 0; wait->inode && i < w->n_sockets; i++)
		if (w->sockets[i].inode == wait->inode && *w->sockets[i].text)
			return w->sockets[i].text;
	return wait->text;
}

bool trc_open_waits_find(void *context, uint32_t slot, uint32_t seq, struct trc_wait_found *found)
{
	const struct trc_open_waits *w = context;
	const struct wait key = {.slot = slot};
	const struct wait *wait =
		w && w->n ? bsearch(&key, w->wait, w->n, sizeof(key), by_slot) : NULL;
	const char *name;

	if (!wait || wait->seq != seq)
		return false;
	name = name_of(w, wait);
	found->n_frames = wait->n_frames;
	if (wait->n_frames)
		memcpy(found->frame, wait->frame, wait->n_frames * sizeof(*wait->frame));
	found->n_bytes = (uint32_t)strlen(name);
	memcpy(found->descriptor, name, found->n_bytes);
	return true;
}
