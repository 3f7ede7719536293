/* session.c - making the shared mapping, and giving it back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "format/raw.h"
#include "recorder/sampling/heap.h"
#include "recorder/ring/offproc.h"
#include "recorder/ring/otel.h"
#include "recorder/shared/boot_id.h"
#include "recorder/shared/pid_namespace.h"
#include "recorder/ring/rec.h"
#include "session.h"
#include "recorder/ring/share.h"
#include "recorder/ring/waiters.h"

/* Where nothing is interposed nobody waits for descriptors. */
#pragma weak trc_io_setup

#ifdef PIC
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char __etext[] __attribute__((visibility("hidden")));
#endif

static uint32_t sessions;   /* counts them; the number of the current one */
static char temporary[512]; /* the file until it is published */
static char name_prefix[32];
static char name_pid[TRC_PID_NAME_BYTES];
static struct trc_shared planned; /* of the last mapping: its sizes and offsets */
static void *retired;		  /* addresses of the last mapping (N2) */
static uint64_t retired_bytes;
static uint32_t n_procs_here; /* looked up once: a forked child may not */

/* ---- making the mapping ---------------------------------------------------------------- */

/* Reads a small file without allocating; zero-terminated. */
static size_t setting_read(const char *path, char *text, size_t n_bytes)
{
	int fd = (int)trc_raw4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? -1 : trc_raw3(SYS_read, fd, text, n_bytes - 1);

	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* Field 22 of /proc/self/stat, counted from behind the name, which may hold anything. */
static uint64_t process_start(void)
{
	char text[1024];
	const char *at;

	setting_read("/proc/self/stat", text, sizeof(text));
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static void fill_header(struct trc_shared *h, const struct trc_session_options *o)
{
	ssize_t n;

	memcpy(h->magic, TRC_LAYOUT_MAGIC, sizeof(h->magic));
	h->layout_version = TRC_LAYOUT_VERSION;
	h->schema_hash = trc_schema_hash();
	h->pid = (uint32_t)trc_raw1(SYS_getpid, 0);
	h->image = o->image;
	trc_boot_id(h->boot_id);
	if (trc_raw3(SYS_getrandom, h->uuid, sizeof(h->uuid), 0) != sizeof(h->uuid))
		memcpy(h->uuid, &h->start, sizeof(h->uuid));
	h->clock = trc_clock_kind;
	h->ticks_per_second = trc_clock_ticks_per_second();
	trc_clock_sync(&h->start);
	h->flags = (trc_rseq_usable ? TRC_SHARED_HAS_RSEQ : 0) |
		   (o->flight ? TRC_SHARED_OVERWRITE : 0);
	h->process_start = process_start();
	h->pid_namespace = trc_pid_namespace();
	h->window_ns = o->flight ? o->window_ns : 0;
	h->locks = o->locks;
	h->on_full = o->on_full;
	h->path = o->path;
	n = readlink("/proc/self/exe", h->exe, sizeof(h->exe) - 1);
	h->exe[n > 0 ? n : 0] = '\0';
	setting_read("/proc/self/cmdline", h->command, sizeof(h->command));
	/* Until a drainer says otherwise: one is expected, and writers may wait for it. */
	atomic_store_explicit(&h->drain_state, o->flight ? TRC_DRAIN_NONE : TRC_DRAIN_ACTIVE,
			      memory_order_relaxed);
}

static void file_remove(const char *path)
{
	trc_raw3(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* Of the file that is not published yet.  0 or -errno. */
static int file_rename(const char *path, unsigned int flags)
{
	return (int)trc_raw5(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, path, flags);
}

/* At the addresses of an earlier mapping if that one had the same areas (N2). */
static long ring_map(int fd, uint64_t n_bytes)
{
	bool again = retired && retired_bytes == n_bytes;

	return trc_raw6(SYS_mmap, again ? TRC_RAW_WORD(retired) : 0, (long)n_bytes,
			PROT_READ | PROT_WRITE, MAP_SHARED | (again ? MAP_FIXED : 0), fd, 0);
}

/* Of what the kernel returned: 0 or -errno. */
static int session_error_of(long result)
{
	return result < 0 && result > -4096 ? (int)result : 0;
}

static int create_file(const char *dir, uint64_t n_bytes, struct trc_shared **shared)
{
	char namespace[TRC_PID_NAME_BYTES];
	struct rlimit limit;
	long map = 0;
	int fd, err;

	/* The kernel would not only refuse, but send SIGXFSZ. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < n_bytes)
		return -EFBIG;
	/* The pid and its namespace make the name ours; a leftover of an earlier owner is replaced. */
	trc_pid_namespace_text(namespace);
	snprintf(temporary, sizeof(temporary), "%s/.trc-%u-%u%s.tmp", dir,
		 (unsigned int)trc_raw1(SYS_getuid, 0), (unsigned int)trc_raw1(SYS_getpid, 0),
		 namespace);
	file_remove(temporary);
	fd = (int)trc_raw4(SYS_openat, AT_FDCWD, temporary,
			   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fd;
	/* Late writers may be where it will be mapped: they find the sizes. */
	err = session_error_of(trc_raw2(SYS_ftruncate, fd, n_bytes));
	if (!err)
		err = session_error_of(trc_raw4(SYS_pwrite64, fd, &planned,
						offsetof(struct trc_shared, next_serial), 0));
	if (!err) {
		map = ring_map(fd, n_bytes);
		err = session_error_of(map);
	}
	trc_raw1(SYS_close, fd);
	if (err) {
		file_remove(temporary);
		return err;
	}
	*shared = (struct trc_shared *)(uintptr_t)map;
	return 0;
}

static void mapping_adopt(struct trc_shared *shared)
{
	trc_rec.shared = shared;
	trc_rec.overflow = trc_area(shared, shared->overflow_off);
	trc_rec.cells = trc_area(shared, shared->cells_off);
	trc_rec.slots = trc_area(shared, shared->threads_off);
	trc_rec.ring_mask = shared->ring_words - 1;
	for (uint32_t i = 0; i < shared->n_procs; i++) {
		trc_rec.procs[i].ring = trc_ring_at(shared, i);
		trc_rec.procs[i].data = trc_ring_data(shared, i);
		trc_rec.procs[i].ring->proc = i;
		trc_rec.procs[i].ring->data_off =
			(char *)trc_rec.procs[i].data - (char *)trc_rec.procs[i].ring;
	}
	trc_rec.n_procs = trc_rseq_usable ? shared->n_procs : 0;
}

/* Of these pages, for which there is one bit each, all have memory (layout:L5). */
static void note_grown(struct trc_shared *shared, uint64_t first, uint64_t last)
{
	for (uint64_t page = first; page <= last && page < TRC_GROWN_PAGES; page++)
		/* relaxed: published by the switch. */
		atomic_fetch_or_explicit(&shared->grown[page / 64], UINT64_C(1) << page % 64,
					 memory_order_relaxed);
}

/* All of it. */
static int allocate_all(struct trc_shared *shared, const struct trc_shared *plan)
{
	int err = trc_populate(shared, plan->total_bytes);

	if (err)
		return err;
	memcpy(shared, plan, offsetof(struct trc_shared, next_serial));
	note_grown(shared, 0, TRC_GROWN_PAGES - 1);
	atomic_store_explicit(&shared->ready_slots, plan->n_threads, memory_order_relaxed);
	((struct trc_overflow *)trc_area(shared, plan->overflow_off))->ready_cells = plan->n_cells;
	for (uint32_t i = 0; i < plan->n_procs; i++)
		atomic_store_explicit(&trc_ring_at(shared, i)->ready_words, plan->ring_words,
				      memory_order_relaxed);
	return 0;
}

/* What no bits tell of, and enough of the tables for a program's first steps; the rest as it comes
 * into use. */
static int allocate_some(struct trc_shared *shared, const struct trc_shared *plan)
{
	uint64_t first = plan->threads_off / TRC_AREA_BYTES, limit_off;
	const uint64_t to_begin_with[] = {plan->threads_off, plan->modules_off, plan->heap_off};
	int err = trc_populate(shared, plan->threads_off + TRC_AREA_BYTES);

	limit_off = TRC_GROWN_PAGES * (uint64_t)TRC_AREA_BYTES;
	if (!err && plan->cells_off > limit_off)
		err = trc_populate((char *)shared + limit_off, plan->cells_off - limit_off);
	if (err)
		return err;
	memcpy(shared, plan, offsetof(struct trc_shared, next_serial));
	note_grown(shared, first, first);
	for (size_t i = 0; i < sizeof(to_begin_with) / sizeof(*to_begin_with); i++)
		if (!trc_is_grown(shared, (char *)shared + to_begin_with[i], TRC_AREA_BYTES))
			return -ENOSPC;
	return 0;
}

/* Gives the file its memory before anybody can see it, as far as nobody does so later. */
static int mapping_allocate(struct trc_shared *shared, const struct trc_shared *plan, bool eager)
{
	int err;

	trc_rec.shared = shared;
	snprintf(trc_rec.ring_path, sizeof(trc_rec.ring_path), "%s", temporary);
	/* The counters behind the plan stay zero. */
	err = eager ? allocate_all(shared, plan) : allocate_some(shared, plan);
	if (err)
		return err;
	/* Not in forked children, and not in core files. */
	madvise(shared, plan->total_bytes, MADV_DONTFORK);
	madvise(shared, plan->total_bytes, MADV_DONTDUMP);
	return 0;
}

static int procs_table(uint32_t n_procs)
{
	void *table;

	if (trc_rec.procs)
		return 0;
	table = mmap(NULL, n_procs * sizeof(struct trc_proc_ref), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (table == MAP_FAILED)
		return -errno;
	trc_rec.procs = table;
	return 0;
}

/*
 * Late writers find the sizes and offsets that they know there, and zeros in place of the rest: no
 * room, and nothing that others see; a reader has its own mapping.  At no time are the sizes zero.
 */
static void drop_mapping(struct trc_shared *shared, uint64_t n_bytes)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *fresh = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (fresh != MAP_FAILED) {
		memcpy(fresh, &planned, offsetof(struct trc_shared, next_serial));
		fresh = mremap(fresh, n_bytes, n_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, shared);
	}
	if (fresh == MAP_FAILED && /* no memory: then for a moment they are */
	    mmap(shared, n_bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0) == shared)
		memcpy(shared, &planned, offsetof(struct trc_shared, next_serial));
	retired = shared;
	retired_bytes = n_bytes;
}

static int make_mapping(const struct trc_session_options *o)
{
	struct trc_layout_options layout = {.ring_bytes = o->ring_bytes,
					    .overflow_bytes = o->overflow_bytes,
					    .n_procs = n_procs_here,
					    .max_bytes = o->max_bytes};
	struct trc_shared plan;
	struct trc_shared *shared = NULL;
	int err;

	memset(&plan, 0, sizeof(plan));
	name_prefix[0] = '\0';
	if (o->shared_dir)
		snprintf(name_prefix, sizeof(name_prefix), "trc-%u-",
			 (unsigned int)trc_raw1(SYS_getuid, 0));
	trc_pid_name(name_pid, o->reader_namespace);
	err = trc_layout_plan(&plan, &layout);
	if (!err && trc_share_of_ring() && plan.total_bytes > trc_share_of_ring()) {
		layout.max_bytes = trc_share_of_ring();
		err = trc_layout_plan(&plan, &layout) ? -ERANGE : 0;
	}
	if (!err && memcmp(&plan, &planned, sizeof(plan)))
		retired = NULL; /* late writers would not find what they know there */
	planned = plan;
	if (!err)
		err = procs_table(plan.n_procs);
	if (!err)
		err = create_file(o->dir, plan.total_bytes, &shared);
	if (err)
		return err;
	err = mapping_allocate(shared, &plan, o->eager);
	if (err) {
		drop_mapping(shared, plan.total_bytes);
		trc_rec.shared = NULL;
		file_remove(temporary);
		return err;
	}
	fill_header(shared, o);
	mapping_adopt(shared);
	for (uint32_t i = 0; o->eager && i < shared->n_procs; i++)
		atomic_store_explicit(&trc_ring_at(shared, i)->state, TRC_RING_READY,
				      memory_order_relaxed); /* published by the switch */
	return 0;
}

static void set_up_process(const struct trc_session_options *o)
{
	static bool done;
	long n = done ? 0 : sysconf(_SC_NPROCESSORS_CONF);

	if (!done) {
		n_procs_here = n < 1 ? 1 : n > TRC_PROCS_MAX ? TRC_PROCS_MAX : (uint32_t)n;
#ifdef PIC /* in a static library the limits would be those of the whole program */
		trc_own_text[0] = (uintptr_t)__ehdr_start;
		trc_own_text[1] = (uintptr_t)__etext;
#endif
		/* A forked child reads the switch as off, whatever made it. */
		madvise(&trc_switch_page, sizeof(trc_switch_page), MADV_WIPEONFORK);
		trc_waiters_setup();
		trc_conds_setup();
		if (trc_io_setup)
			trc_io_setup();
	}
	done = true;
	trc_share_setup();
	trc_rseq_setup(o->path);
	trc_mark_setup();
	if (!o->no_otel)
		trc_otel_setup();
}

static const char *error_explain(const struct trc_session_options *o, int err)
{
	switch (-err) {
	case ENOSPC:
	case EFAULT:
	case ENOMEM:
		return o->flight
			       ? "no room for the ring there (a larger tmpfs, or a smaller --max-size)"
			       : "no room for the ring there (a larger tmpfs, or a smaller --ring-size)";
	case EFBIG:
		return "the limit on the size of files (ulimit -f) is below the ring's";
	case ERANGE:
		return "the limit on the address space (ulimit -v, ulimit -d) leaves no room for the ring";
	case EINVAL:
		return "ring size out of range, or a maximum too small for so many processors";
	default: /* not strerror(): another thread of who forked may have had what that locks */
		return strerrordesc_np(-err);
	}
}

static int open_mapping(const struct trc_session_options *o)
{
	int err = make_mapping(o);

	if (err)
		return err;
	trc_modules_publish();
	trc_switch.locks = o->locks;
	trc_switch.wait_ticks = trc_clock_ns_to_ticks(o->min_wait_ns);
	trc_triggers_set(o->trigger, o->n_triggers);
	trc_otel_begin(!o->no_otel);
	sessions = sessions % (TRC_API_ELSEWHERE - 1) + 1; /* never 0 */
	return 0;
}

void trc_session_count_from(uint32_t number)
{
	sessions = number;
}

int trc_session_open(const struct trc_session_options *o, char *error, size_t n_bytes)
{
	const char *note = NULL;
	int err;

	trc_self.quiet++;
	set_up_process(o);
	err = trc_clock_setup_at(o->clock, o->ticks_per_second);
	if (err) {
		snprintf(error, n_bytes, "the clock asked for is not trusted by the kernel");
	} else {
		trc_unwind_setup(o->unwind, &note);
		trc_modules_scan();
		err = open_mapping(o);
		if (err)
			snprintf(error, n_bytes, "%s: %s", o->dir, error_explain(o, err));
	}
	trc_self.quiet--;
	return err;
}

int trc_session_open_in_child(const struct trc_session_options *o, const char **why)
{
	struct trc_session_options lazy = *o;
	int err;

	trc_self.quiet++;
	lazy.eager = false;
	err = open_mapping(&lazy);
	trc_self.quiet--;
	if (err)
		*why = error_explain(o, err);
	return err;
}

struct trc_shared *trc_session_shared(void)
{
	return trc_rec.shared;
}

const char *trc_session_path(void)
{
	return trc_rec.ring_path;
}

int trc_session_publish(void)
{
	struct trc_shared *shared = trc_rec.shared;
	char path[sizeof(trc_rec.ring_path)];
	size_t dir_bytes = (size_t)(strrchr(temporary, '/') - temporary);
	int err = -EEXIST;

	/* release: pairs with the acquire of a reader that finds the file: all is in place. */
	atomic_store_explicit(&shared->state, TRC_SHARED_LIVE, memory_order_release);
	for (; err == -EEXIST && shared->image < 100000; shared->image++) {
		snprintf(path, sizeof(path), "%.*s/%s%s.%u.ring", (int)dir_bytes, temporary,
			 name_prefix, name_pid, shared->image);
		err = file_rename(path, RENAME_NOREPLACE);
		if (err == -EINVAL) /* a file system without the flag */
			err = trc_raw3(SYS_faccessat, AT_FDCWD, path, F_OK) == 0
				      ? -EEXIST
				      : file_rename(path, 0);
		if (!err)
			break;
	}
	if (!err)
		snprintf(trc_rec.ring_path, sizeof(trc_rec.ring_path), "%s", path);
	return err;
}

void trc_session_overwrite(bool on, uint64_t window_ns)
{
	struct trc_shared *shared = trc_rec.shared;

	/* relaxed: while a drainer is active writers do not overwrite in any case. */
	atomic_store_explicit(&shared->window_ns, on ? window_ns : 0, memory_order_relaxed);
	if (on)
		atomic_fetch_or_explicit(&shared->flags, TRC_SHARED_OVERWRITE,
					 memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&shared->flags, ~(uint32_t)TRC_SHARED_OVERWRITE,
					  memory_order_relaxed);
}

void trc_session_record(bool on)
{
	if (!on)
		trc_heap_settle();
	else
		trc_waiters_start(sessions);
	/* release: pairs with the acquire in trc_self_attach(): a thread that sees the session
	 * finds its mapping complete. */
	atomic_store_explicit(&trc_switch.on, on ? sessions : 0, memory_order_release);
	atomic_store_explicit(&trc_switch.api, on ? sessions : 0, memory_order_release);
	trc_heap_session(on);
}

void trc_session_exited(void)
{
	/* relaxed: it is read when the process has gone. */
	if (trc_rec.shared)
		atomic_fetch_or_explicit(&trc_rec.shared->flags, TRC_SHARED_EXITED,
					 memory_order_relaxed);
}

void trc_session_close(void)
{
	struct trc_shared *shared = trc_rec.shared;

	trc_session_record(false);
	if (!shared)
		return;
	/* release: who copies the file and finds it closed has every record that was committed
	 * (ring_file.c, snapshot.c: they read a copy). */
	atomic_store_explicit(&shared->state, TRC_SHARED_CLOSED, memory_order_release);
	file_remove(trc_rec.ring_path);
	drop_mapping(shared, shared->total_bytes);
}

void trc_session_forget(void)
{
	struct trc_shared *shared = trc_rec.shared;

	/* The parent's mapping is not here.  A signal handler may have forked in the middle of
	 * recording: it will return into code that writes to these addresses. */
	if (shared && trc_rec.procs) {
		uint64_t last =
			(uint64_t)((char *)trc_rec.procs[n_procs_here - 1].data - (char *)shared) +
			(trc_rec.ring_mask + 1) * 8;

		drop_mapping(shared, last);
	}
	memset(&trc_switch, 0, sizeof(trc_switch));
	trc_self.session = 0;
	trc_self.serial = 0;
	trc_self.locks_held = 0;
}
