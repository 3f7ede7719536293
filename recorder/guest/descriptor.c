/*
 * descriptor.c - see descriptor.h.  Context: traced thread, signal handlers.
 *
 * A small table remembers names by descriptor number.  Any thread may change an entry at any time.
 * Entries carry a check of their content: a mixture of two entries reads as unknown.
 */
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include "descriptor.h"
#include "format/raw.h"
#include "recorder/ring/content_hash.h"
#include "recorder/ring/rec.h"
#include "recorder/unwind/poison.h"

enum { PLACES = 4096 }; /* by the number's lowest bits */

static struct place {
	_Atomic uint64_t identity;
	_Atomic uint64_t name; /* string id */
	_Atomic uint64_t check;
} places[PLACES];

static _Atomic uint64_t changed_at[PLACES], all_changed_at; /* ticks */

static _Atomic bool ask_nothing, ask_no_sockets;

void trc_descriptors_ask_nothing(void)
{
	atomic_store_explicit(&ask_nothing, true, memory_order_relaxed);
}

void trc_descriptors_ask_no_sockets(void)
{
	atomic_store_explicit(&ask_no_sockets, true, memory_order_relaxed);
}

bool trc_descriptors_ask_sockets(void)
{
	return !atomic_load_explicit(&ask_nothing, memory_order_relaxed) &&
	       !atomic_load_explicit(&ask_no_sockets, memory_order_relaxed);
}

/* ---- changes ----------------------------------------------------------------------------- */

static struct place *descriptor_place(int fd)
{
	return &places[(unsigned int)fd % PLACES];
}

void trc_descriptor_changed(int fd)
{
	/* release, both: pair with the acquires in has_changed(): who finds another descriptor
	 * behind the number finds the time as well, since the kernel orders close and open. */
	atomic_store_explicit(&changed_at[(unsigned int)fd % PLACES], trc_clock_now(),
			      memory_order_release);
	atomic_store_explicit(&descriptor_place(fd)->check, 0, memory_order_relaxed);
}

void trc_descriptors_changed(void)
{
	atomic_store_explicit(&all_changed_at, trc_clock_now(), memory_order_release);
	for (unsigned int i = 0; i < PLACES; i++)
		if (atomic_load_explicit(&places[i].check, memory_order_relaxed))
			atomic_store_explicit(&places[i].check, 0, memory_order_relaxed);
}

static bool has_changed(int fd, uint64_t since)
{
	return atomic_load_explicit(&changed_at[(unsigned int)fd % PLACES], memory_order_acquire) >=
		       since ||
	       atomic_load_explicit(&all_changed_at, memory_order_acquire) >= since;
}

/* ---- what it is -------------------------------------------------------------------------- */

struct identity {
	uint64_t key; /* 0 = it may be anything: not remembered */
	bool is_socket, is_epoll;
};

/* N4: of what a file system would have to ask others for, nothing is wanted. */
static bool descriptor_look(int fd, struct statx *st)
{
	return !trc_raw5(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			 STATX_TYPE | STATX_INO | STATX_BTIME, st);
}

/* N1.  False if there is no such descriptor. */
static bool identify(int fd, struct identity *identity)
{
	struct statx st;
	uint64_t h = trc_hash_add(trc_self.session, (unsigned int)fd);

	if (!descriptor_look(fd, &st))
		return false;
	identity->is_socket = S_ISSOCK(st.stx_mode);
	if (!(st.stx_mode & S_IFMT)) { /* an inode that all of them share */
		identity->key = 0;
		return true;
	}
	h = trc_hash_add(trc_hash_add(h, st.stx_mode & S_IFMT), st.stx_ino);
	h = trc_hash_add(h, (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor);
	if (st.stx_mask & STATX_BTIME)
		h = trc_hash_add(trc_hash_add(h, (uint64_t)st.stx_btime.tv_sec),
				 st.stx_btime.tv_nsec);
	identity->key = h | 1;
	return true;
}

/* ---- names ------------------------------------------------------------------------------- */

/* What a waiter for events has waited for is known without a question. */
static const char EPOLL_TEXT[] = "anon_inode:[eventpoll]";

static uint64_t check_of(uint64_t identity, uint64_t name)
{
	return trc_hash_add(trc_hash_add(1, identity), name) | 1;
}

/* 0 if it is not known, or another string has its place now. */
static uint64_t remembered(int fd, const struct identity *identity)
{
	const struct place *p = descriptor_place(fd);
	uint64_t name = atomic_load_explicit(&p->name, memory_order_relaxed);
	struct trc_entry_head *entry;

	/* relaxed: what does not belong together does not fit the check. */
	if (!identity->key ||
	    atomic_load_explicit(&p->identity, memory_order_relaxed) != identity->key ||
	    atomic_load_explicit(&p->check, memory_order_relaxed) != check_of(identity->key, name))
		return 0;
	entry = trc_string_entry(trc_rec.shared, name);
	return entry && trc_entry_touch(entry, name) ? name : 0;
}

static void remember(int fd, const struct identity *identity, uint64_t name)
{
	struct place *p = descriptor_place(fd);

	if (!identity->key || !name)
		return;
	atomic_store_explicit(&p->identity, identity->key, memory_order_relaxed);
	atomic_store_explicit(&p->name, name, memory_order_relaxed);
	atomic_store_explicit(&p->check, check_of(identity->key, name), memory_order_relaxed);
}

static uint32_t descriptor_ask(int fd, const struct identity *identity,
			       char text[static TRC_DESCRIPTOR_BYTES + 1])
{
	uint32_t n = 0;

	if (identity->is_epoll) {
		memcpy(text, EPOLL_TEXT, sizeof(EPOLL_TEXT));
		return sizeof(EPOLL_TEXT) - 1;
	}
	if (identity->is_socket && !atomic_load_explicit(&ask_no_sockets, memory_order_relaxed))
		n = trc_descriptor_socket(fd, text);
	return n ? n : trc_descriptor_path(fd, text);
}

static __attribute__((noinline)) void learn(int fd, const struct identity *identity, uint64_t since,
					    struct trc_descriptor_name *name)
{
	uint32_t n = descriptor_ask(fd, identity, name->text);

	/* N2: the last look, after all questions. */
	if (!n || has_changed(fd, since))
		return;
	name->id = trc_string_intern_if_spare(name->text, n);
	name->n_bytes = name->id ? 0 : n;
	remember(fd, identity, name->id);
	if (has_changed(fd, since))
		atomic_store_explicit(&descriptor_place(fd)->check, 0, memory_order_relaxed);
}

void trc_descriptor_name(const struct trc_wait *wait, struct trc_descriptor_name *name)
{
	struct identity identity = {.is_epoll = wait->reason == TRC_REASON_EPOLL};
	int fd = (int)wait->object;

	name->id = 0;
	name->n_bytes = 0;
	if (!trc_wait_has_descriptor(wait->reason, wait->object) ||
	    atomic_load_explicit(&ask_nothing, memory_order_relaxed))
		return;
	if (identity.is_epoll)
		identity.key = trc_hash_add(trc_hash_add(trc_self.session, (unsigned int)fd),
					    TRC_REASON_EPOLL) |
			       1;
	else if (!identify(fd, &identity))
		return;
	name->id = remembered(fd, &identity);
	if (!name->id)
		learn(fd, &identity, wait->since, name);
	else if (has_changed(fd, wait->since))
		name->id = 0;
}
