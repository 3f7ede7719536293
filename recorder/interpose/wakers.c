/*
 * wakers.c - see wakers.h.  Context: traced thread, signal handlers.
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <fcntl.h>
#include "format/raw.h"
#include "span.h"
#include "wakers.h"
#include "recorder/guest/descriptor.h"
#include "recorder/ring/content_hash.h"
#include "recorder/ring/waiters.h"
#include "recorder/unwind/poison.h"

struct trc_io_fd trc_io_fds[TRC_IO_FDS];

/* ---- what a descriptor is --------------------------------------------------------------- */

struct ends {
	uint64_t in, out;
};

enum { KEYS_OF_INODES = 0x11, KEYS_OF_NUMBERS = 0x22, KEYS_OF_ADDRESSES = 0x33 };

static uint64_t as_key(uint64_t h)
{
	h = trc_hash_add(h, 0) & ~(uint64_t)(TRC_IO_KEY_STEP - 1);
	return h ? h : TRC_IO_KEY_STEP;
}

static uint64_t key_of_inode(const struct stat *st)
{
	return as_key(trc_hash_add(trc_hash_add(KEYS_OF_INODES, st->st_dev), st->st_ino));
}

/* fstat() of any libc, and of none. */
static bool descriptor_stat(int fd, struct stat *st)
{
#ifdef SYS_fstat
	return !trc_raw2(SYS_fstat, fd, st);
#else
	return !trc_raw4(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
#endif
}

/* An address of IPv4 is written as IPv6 has it: a server's socket may take both. */
union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_storage largest;
};

static const uint8_t IPV4_IN_IPV6[12] = {[10] = 0xff, [11] = 0xff};

struct host {
	union {
		uint8_t byte[16];
		uint64_t word[2];
	};
	uint16_t port;
};

static bool host_of(const union address *a, struct host *host)
{
	switch (a->any.sa_family) {
	case AF_INET:
		memcpy(host->byte, IPV4_IN_IPV6, sizeof(IPV4_IN_IPV6));
		memcpy(host->byte + 12, &a->v4.sin_addr, 4);
		host->port = a->v4.sin_port;
		return true;
	case AF_INET6:
		memcpy(host->byte, &a->v6.sin6_addr, 16);
		host->port = a->v6.sin6_port;
		return true;
	default:
		return false;
	}
}

static uint64_t mix_host(uint64_t h, const struct host *host)
{
	return trc_hash_add(trc_hash_add(trc_hash_add(h, host->word[0]), host->word[1]),
			    host->port);
}

/* The peer is on this machine: its address is ours, or of the loopback interface. */
static bool is_near(const struct host *own, const struct host *peer)
{
	return !memcmp(own->byte, peer->byte, sizeof(own->byte)) ||
	       (!memcmp(peer->byte, IPV4_IN_IPV6, sizeof(IPV4_IN_IPV6)) &&
		peer->byte[12] == IN_LOOPBACKNET);
}

static _Atomic bool ask_no_sockets;

void trc_io_ask_no_sockets(void)
{
	atomic_store_explicit(&ask_no_sockets, true, memory_order_relaxed);
}

static const struct ends NONE = {TRC_IO_NOTHING, TRC_IO_NOTHING};

static struct ends ends_of_socket(int fd)
{
	union address own, peer;
	socklen_t own_bytes = sizeof(own), peer_bytes = sizeof(peer), type_bytes = sizeof(int);
	struct host here, there;
	int type = 0;
	uint64_t h;

	if (atomic_load_explicit(&ask_no_sockets, memory_order_relaxed) ||
	    trc_raw3(SYS_getpeername, fd, &peer, &peer_bytes) ||
	    trc_raw3(SYS_getsockname, fd, &own, &own_bytes) || !host_of(&own, &here) ||
	    !host_of(&peer, &there) || !is_near(&here, &there) ||
	    trc_raw5(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &type_bytes))
		return NONE;
	h = trc_hash_add(KEYS_OF_ADDRESSES, (uint64_t)type);
	return (struct ends){as_key(mix_host(mix_host(h, &here), &there)),
			     as_key(mix_host(mix_host(h, &there), &here))};
}

static struct ends ends_of(int fd, const struct stat *st)
{
	static _Atomic uint64_t numbers;
	uint64_t key;

	switch (st->st_mode & S_IFMT) {
	case S_IFIFO:
		key = key_of_inode(st);
		return (struct ends){key, key};
	case S_IFSOCK:
		return ends_of_socket(fd);
	case 0: /* an inode that all of them share */
		key = atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed);
		key = as_key(trc_hash_add(KEYS_OF_NUMBERS, key)) | TRC_IO_BY_NUMBER;
		return (struct ends){key, key};
	default:
		return NONE;
	}
}

/* Of threads that learn the same at once each has a number for it: the first one's is taken. */
static uint64_t seal_of(const struct stat *st, struct ends ends)
{
	uint64_t inode = key_of_inode(st);

	return ends.in & TRC_IO_BY_NUMBER ? inode
					  : trc_hash_add(trc_hash_add(inode, ends.in), ends.out);
}

static struct ends io_remembered(int fd)
{
	/* acquire: pairs with the release in io_remember(). */
	uint64_t in = atomic_load_explicit(&trc_io_fds[fd].in, memory_order_acquire);

	if (in & TRC_IO_BY_NUMBER)
		return (struct ends){in, in};
	return (struct ends){in, atomic_load_explicit(&trc_io_fds[fd].out, memory_order_relaxed)};
}

static _Atomic uint32_t n_used; /* no descriptor from this one on was ever remembered */

static void io_remember(int fd, struct ends ends, const struct stat *st)
{
	struct trc_io_fd *entry = &trc_io_fds[fd];
	uint32_t n = atomic_load_explicit(&n_used, memory_order_relaxed);
	uint64_t unknown = TRC_IO_UNKNOWN;

	while (n <= (uint32_t)fd &&
	       !atomic_compare_exchange_weak_explicit(&n_used, &n, (uint32_t)fd + 1,
						      memory_order_relaxed, memory_order_relaxed))
		;
	atomic_store_explicit(&entry->out, ends.out, memory_order_relaxed);
	atomic_store_explicit(&entry->seal, seal_of(st, ends), memory_order_relaxed);
	/* release: pairs with the acquire in io_remembered(). */
	atomic_compare_exchange_strong_explicit(&entry->in, &unknown, ends.in, memory_order_release,
						memory_order_relaxed);
}

static struct ends known(int fd)
{
	struct ends ends = io_remembered(fd);
	struct stat st;

	if (ends.in != TRC_IO_UNKNOWN)
		return ends;
	if (!descriptor_stat(fd, &st))
		return NONE;
	io_remember(fd, ends_of(fd, &st), &st);
	ends = io_remembered(fd);
	return ends.in == TRC_IO_UNKNOWN ? NONE : ends; /* it was closed meanwhile */
}

static void io_forget(int fd)
{
	if (atomic_load_explicit(&trc_io_fds[fd].in, memory_order_relaxed) != TRC_IO_UNKNOWN)
		atomic_store_explicit(&trc_io_fds[fd].in, TRC_IO_UNKNOWN, memory_order_relaxed);
}

void trc_io_pair(const int fd[2])
{
	struct stat a, b;

	if (trc_self.quiet || (unsigned int)fd[0] >= TRC_IO_FDS ||
	    (unsigned int)fd[1] >= TRC_IO_FDS || !descriptor_stat(fd[0], &a) ||
	    !descriptor_stat(fd[1], &b))
		return;
	io_forget(fd[0]);
	io_forget(fd[1]);
	io_remember(fd[0], (struct ends){key_of_inode(&a), key_of_inode(&b)}, &a);
	io_remember(fd[1], (struct ends){key_of_inode(&b), key_of_inode(&a)}, &b);
}

/* wakers:V2.  `key` is what is read from it, or written to it. */
static bool is_still(int fd, bool reads, uint64_t key)
{
	struct ends ends = io_remembered(fd);
	struct stat st;

	if ((reads ? ends.in : ends.out) != key)
		return false;
	/* relaxed: one that does not belong to the two does not fit. */
	if (descriptor_stat(fd, &st) &&
	    seal_of(&st, ends) == atomic_load_explicit(&trc_io_fds[fd].seal, memory_order_relaxed))
		return true;
	io_forget(fd);
	return false;
}

/* ---- who waits -------------------------------------------------------------------------- */

enum { BUCKETS = 512, IN_BUCKET = 4 };

/* Hashed by key; who finds no room waits unseen. */
static struct bucket {
	_Atomic uint64_t key[IN_BUCKET]; /* 0 = free; or taken_by() */
	_Atomic uint64_t who[IN_BUCKET]; /* reason << REASON_SHIFT | descriptor */
	_Atomic uint64_t since[IN_BUCKET];
	uint64_t padding[4];
} waiting[BUCKETS] __attribute__((aligned(65536)));
_Static_assert(sizeof(waiting) % 65536 == 0, "whole pages of any size");

void trc_io_setup(void)
{
	trc_raw3(SYS_madvise, waiting, sizeof(waiting), MADV_WIPEONFORK);
}

enum { REASON_SHIFT = 56 };

/* A key and its room have one bucket. */
static struct bucket *io_bucket(uint64_t key)
{
	return &waiting[key >> 32 & (BUCKETS - 1)];
}

/* In the place of a key: about to be filled by this call.  No key has this bit. */
static uint64_t taken_by(const struct trc_io *io)
{
	return (uintptr_t)io | TRC_IO_NOTHING;
}

/* At each instruction a handler may jump out of the call, and trc_io_leave() then comes next. */
static void io_enter(struct trc_io *io, uint64_t key, enum trc_reason reason, int fd,
		     uint64_t since)
{
	struct bucket *b = io_bucket(key);

	for (uint32_t i = 0; i < IN_BUCKET; i++) {
		uint64_t none = 0;

		if (atomic_load_explicit(&b->key[i], memory_order_relaxed))
			continue;
		io->place = (uint32_t)(b - waiting) * IN_BUCKET + i;
		io->key = key;
		/* seq_cst: for a signal handler: the call knows its place before it has it. */
		atomic_signal_fence(memory_order_seq_cst);
		if (!atomic_compare_exchange_strong_explicit(&b->key[i], &none, taken_by(io),
							     memory_order_relaxed,
							     memory_order_relaxed)) {
			io->key = 0;
			continue;
		}
		atomic_store_explicit(&b->who[i], (uint64_t)reason << REASON_SHIFT | (uint32_t)fd,
				      memory_order_relaxed);
		atomic_store_explicit(&b->since[i], since, memory_order_relaxed);
		/* release: pairs with the acquire in waker_find(). */
		atomic_store_explicit(&b->key[i], key, memory_order_release);
		return;
	}
}

void trc_io_leave(struct trc_io *io)
{
	_Atomic uint64_t *key = &waiting[io->place / IN_BUCKET].key[io->place % IN_BUCKET];
	uint64_t there = atomic_load_explicit(key, memory_order_relaxed);

	/* Neither: wakers:V5.  release: who takes the place next stores after this. */
	if (there == io->key || there == taken_by(io))
		atomic_store_explicit(key, 0, memory_order_release);
	io->key = 0;
}

struct found {
	uint64_t since; /* UINT64_MAX = nobody */
	uint32_t reason;
	int fd;
};

/* Who has waited longest for `key`: the kernel wakes in that order. */
static bool waker_find(uint64_t key, struct found *found)
{
	const struct bucket *b = io_bucket(key);

	found->since = UINT64_MAX;
	for (unsigned int i = 0; i < IN_BUCKET; i++) {
		uint64_t since, who;

		/* acquire: pairs with the release in io_enter(). */
		if (atomic_load_explicit(&b->key[i], memory_order_acquire) != key)
			continue;
		since = atomic_load_explicit(&b->since[i], memory_order_relaxed);
		if (since >= found->since)
			continue;
		found->since = since;
		who = atomic_load_explicit(&b->who[i], memory_order_relaxed);
		found->reason = (uint32_t)(who >> REASON_SHIFT);
		found->fd = (int)(uint32_t)who;
	}
	return found->since != UINT64_MAX;
}

static void name(struct trc_io *io, const struct found *found, uint64_t now)
{
	if (!now)
		now = trc_now();
	io->wakes = found->reason;
	io->object = (uint32_t)found->fd;
	/* Whoever came between the clock and the look waits since a little later. */
	io->at = found->since > now ? found->since : now;
}

/* Somebody waits for `key`, if that is so. */
static __attribute__((noinline)) void io_check(struct trc_io *io, bool reads, int fd, uint64_t key,
					       uint64_t now, const struct found *found)
{
	key &= ~(uint64_t)TRC_IO_ROOM;
	if (is_still(fd, reads, key) && is_still(found->fd, !reads, key))
		name(io, found, now);
}

/* ---- who is watched by epoll descriptors (wakers:V7) -------------------------------------------- */

enum { WATCHES = 512, OF_KEY = 2 };

/* Hashed by key; who finds no room takes another's. */
static struct watch {
	_Atomic uint64_t key[OF_KEY];
	_Atomic uint64_t by[OF_KEY]; /* epoll << 32 | fd */
} watches[WATCHES] __attribute__((aligned(32)));
static _Atomic bool is_watched; /* anything, since the process began */

static struct watch *watch_of(uint64_t key)
{
	return &watches[key >> 32 & (WATCHES - 1)];
}

static uint64_t watcher(int epoll, int fd)
{
	return (uint64_t)(uint32_t)epoll << 32 | (uint32_t)fd;
}

enum { EVERY_EPOLL = -1 };

static void watch_ends(uint64_t key, int epoll, int fd)
{
	struct watch *w = watch_of(key);

	for (unsigned int i = 0; i < OF_KEY; i++) {
		uint64_t by = atomic_load_explicit(&w->by[i], memory_order_relaxed);

		if (atomic_load_explicit(&w->key[i], memory_order_relaxed) == key &&
		    (uint32_t)by == (uint32_t)fd &&
		    (epoll == EVERY_EPOLL || by >> 32 == (uint32_t)epoll))
			atomic_store_explicit(&w->key[i], 0, memory_order_relaxed);
	}
}

static void watch_begins(uint64_t key, uint64_t by)
{
	struct watch *w = watch_of(key);
	unsigned int i = atomic_load_explicit(&w->key[0], memory_order_relaxed) ? 1 : 0;

	/* relaxed, all: `by` of another key does not fit this one (wakers:V2). */
	atomic_store_explicit(&w->key[i], 0, memory_order_relaxed);
	atomic_store_explicit(&w->by[i], by, memory_order_relaxed);
	atomic_store_explicit(&w->key[i], key, memory_order_relaxed);
	atomic_store_explicit(&is_watched, true, memory_order_relaxed);
}

void trc_io_watch(int epoll, int fd, const struct epoll_event *event)
{
	const uint32_t unsure = EPOLLONESHOT | EPOLLEXCLUSIVE;
	struct ends ends;

	/* relaxed: a watch that begins only now goes on. */
	if (!event && !atomic_load_explicit(&is_watched, memory_order_relaxed))
		return;
	if (trc_self.quiet || (unsigned int)fd >= TRC_IO_FDS || (unsigned int)epoll >= TRC_IO_FDS)
		return;
	ends = known(fd);
	if (ends.in == TRC_IO_NOTHING)
		return;
	if (!event)
		watch_ends(ends.in, epoll, fd);
	else if (event->events & EPOLLIN && !(event->events & unsure))
		watch_begins(ends.in, watcher(epoll, fd));
}

/* What is written to `fd` may be watched. */
static __attribute__((noinline)) void check_watchers(struct trc_io *io, int fd, uint64_t key,
						     uint64_t now)
{
	const struct watch *w = watch_of(key);
	struct found found;

	for (unsigned int i = 0; i < OF_KEY; i++) {
		uint64_t by, set;

		if (atomic_load_explicit(&w->key[i], memory_order_relaxed) != key)
			continue;
		by = atomic_load_explicit(&w->by[i], memory_order_relaxed);
		set = io_remembered((int)(by >> 32)).in;
		if (set & TRC_IO_BY_NUMBER && waker_find(set, &found) && is_still(fd, false, key) &&
		    is_still((int)(uint32_t)by, true, key) && is_still(found.fd, true, set)) {
			name(io, &found, now);
			return;
		}
	}
}

/* What a vfork child does to its descriptors is not done to its parent's. */
void trc_io_forget(int fd)
{
	if (fd < 0 || trc_self.quiet)
		return;
	if (trc_recording())
		trc_descriptor_changed(fd);
	if (fd >= TRC_IO_FDS)
		return;
	if (atomic_load_explicit(&is_watched, memory_order_relaxed))
		watch_ends(io_remembered(fd).in, EVERY_EPOLL, fd);
	io_forget(fd);
}

void trc_io_forget_from(unsigned int first, unsigned int last)
{
	uint32_t n = atomic_load_explicit(&n_used, memory_order_relaxed);

	if (trc_recording() && !trc_self.quiet)
		trc_descriptors_changed();
	for (unsigned int fd = first; fd < n && fd <= last; fd++)
		trc_io_forget((int)fd);
}

/* ---- calls ---------------------------------------------------------------------------------- */

void trc_io_enter(struct trc_io *io, enum trc_reason reason, int fd, uint64_t since, bool waits)
{
	bool reads = reason == TRC_REASON_READ || reason == TRC_REASON_RECV;
	uint64_t mine, theirs;
	struct found found;
	struct ends ends;

	if (trc_self.quiet)
		return;
	ends = known(fd);
	if (ends.in == TRC_IO_NOTHING)
		return;
	mine = reads ? ends.in : ends.out | TRC_IO_ROOM;
	theirs = mine ^ TRC_IO_ROOM;
	if (waker_find(theirs, &found))
		io_check(io, reads, fd, theirs, since, &found);
	else if (!reads && atomic_load_explicit(&is_watched, memory_order_relaxed))
		check_watchers(io, fd, theirs, since);
	if (waits && (reads || !(mine & TRC_IO_BY_NUMBER)))
		io_enter(io, mine, reason, fd, since);
}

void trc_io_epoll(struct trc_io *io, int epoll, uint64_t since)
{
	uint64_t key;

	/* relaxed: who is watched by now is not always seen by now. */
	if (!since || (unsigned int)epoll >= TRC_IO_FDS ||
	    !atomic_load_explicit(&is_watched, memory_order_relaxed))
		return;
	key = known(epoll).in;
	if (key & TRC_IO_BY_NUMBER)
		io_enter(io, key, TRC_REASON_EPOLL, epoll, since);
}

void trc_io_wake(const struct trc_io *io)
{
	trc_unparked((enum trc_reason)io->wakes, (const void *)(uintptr_t)io->object, 1, io->at);
}
