/* process.c - from the ring files of one process to its trace. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "format/path.h"
#include "recorder/shared/clock.h"
#include "recorder/drain/trace_info.h"
#include "follow.h"
#include "noted_waits.h"

/* ---- the file -------------------------------------------------------------------------- */

/* dump.trc, or with --follow dump.PID.trc. */
static int name_file(struct trc_process *p, const struct trc_tool_options *o)
{
	const char *name = trc_path_name(o->output);
	const char *dot = strrchr(name, '.');
	size_t n = dot && dot != name ? (size_t)(dot - o->output) : strlen(o->output);

	int used;

	if (!o->follow)
		used = snprintf(p->path, sizeof(p->path), "%s", o->output);
	else
		used = snprintf(p->path, sizeof(p->path), "%.*s.%s%s", (int)n, o->output, p->name,
				o->output + n);
	return used < (int)sizeof(p->path) ? 0 : -ENAMETOOLONG;
}

/* The command, which has not begun yet, is to end or has ended: there will be nothing to read. */
static bool has_gone(void *context)
{
	const struct trc_process *p = context;
	siginfo_t info = {0};

	return trc_child_ending ||
	       (!waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid);
}

int trc_process_open_file(struct trc_process *p, const struct trc_tool_options *o)
{
	char error[TRC_FILE_PATH_BYTES + 128];
	int err;

	err = name_file(p, o);
	if (err)
		snprintf(error, sizeof(error), "-o: %s", strerror(-err));
	else
		err = trc_file_sink_plan(&p->sink, p->path, error, sizeof(error));
	if (!err)
		err = trc_file_sink_open_waiting(&p->sink, has_gone, p, error, sizeof(error));
	if (err)
		trc_tool_say("%s", error);
	p->sink_open = !err;
	return err;
}

static void write_options(struct trc_process *p)
{
	const char *unwind = p->options->unwind ? p->options->unwind : getenv("TRC_UNWIND");
	char text[2048];

	trc_tool_options_text(p->options, text, sizeof(text));
	trc_writer_info(p->w, "options", text);
	trc_writer_info(p->w, "unwind", unwind && *unwind ? unwind : "auto");
}

/* The writer, once the first mapping tells of procs and clock. */
static int process_open_writer(struct trc_process *p, const struct trc_shared *h, const char *sched)
{
	struct trc_writer_options options = {
		.clock = (enum trc_clock_kind)h->clock,
		.ticks_per_second = h->ticks_per_second,
		.n_procs = h->n_procs,
		.creation_realtime_ns = h->start.realtime_ns,
	};
	int err;

	memcpy(options.trace_uuid, h->uuid, sizeof(options.trace_uuid));
	err = trc_writer_open(&p->w, &options, trc_file_sink_write, &p->sink);
	if (err)
		return err;
	trc_trace_info(p->w, h);
	write_options(p);
	return trc_writer_info(p->w, "sched", sched);
}

/* ---- the mapping ----------------------------------------------------------------------- */

int trc_process_adopt_clock(const struct trc_shared *h)
{
	static bool adopted;
#if defined(__x86_64__)
	bool known = h->clock == TRC_CLOCK_TSC || h->clock == TRC_CLOCK_MONOTONIC_RAW;
#else
	bool known = h->clock == TRC_CLOCK_CNTVCT || h->clock == TRC_CLOCK_MONOTONIC_RAW;
#endif
	if (!known || (adopted && h->clock != (uint32_t)trc_clock_kind))
		return -ENOTSUP;
	trc_clock_kind = (enum trc_clock_kind)h->clock;
	adopted = true;
	return 0;
}

/* Whose rings are mapped. */
static struct trc_process *mapped;
static struct sigaction bus_before; /* what SIGBUS did before */

/*
 * The process may cut its ring's file short at any time: the pages that are gone become zeros, so
 * that whatever reads them gets to its end (trc_process_pass() then sees the flag).  Context: the main
 * thread, anywhere; no other one looks at a ring (http:E1).
 */
static void on_bus(int number, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	struct trc_process *p = mapped;
	int saved = errno;

	while (p && at - (uintptr_t)p->shared >= p->mapped_bytes)
		p = p->next_mapped;
	if (info->si_code <= 0 && bus_before.sa_flags & SA_SIGINFO)
		bus_before.sa_sigaction(number, info, context);
	else if (!p || info->si_code <= 0 ||
		 mmap((void *)at, p->mapped_bytes - (at - (uintptr_t)p->shared),
		      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		      0) == MAP_FAILED)
		sigaction(number, &bus_before, NULL); /* it comes again */
	else
		atomic_store_explicit(&p->ring_cut, true, memory_order_relaxed);
	errno = saved;
}

static void mapped_add(struct trc_process *p)
{
	struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};
	static bool handles;

	if (!handles)
		sigaction(SIGBUS, &action, &bus_before);
	handles = true;
	p->next_mapped = mapped;
	mapped = p;
}

static void mapped_remove(const struct trc_process *p)
{
	struct trc_process **at = &mapped;

	while (*at && *at != p)
		at = &(*at)->next_mapped;
	if (*at)
		*at = p->next_mapped;
}

int trc_process_map(struct trc_process *p, const char *path, int how)
{
	int fd = open(path,
		      (how & PROT_WRITE ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	void *map;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		err = -EBADMSG;
	else if (st.st_uid != geteuid() && geteuid())
		err = -EPERM;
	else if ((size_t)st.st_size < sizeof(*p->shared))
		err = -EBADMSG;
	map = err ? MAP_FAILED : mmap(NULL, (size_t)st.st_size, how, MAP_SHARED, fd, 0);
	if (!err && map == MAP_FAILED)
		err = -errno;
	close(fd);
	if (err)
		return err;
	p->shared = map;
	p->mapped_bytes = (uint64_t)st.st_size;
	p->ring_cut = false;
	mapped_add(p);
	return 0;
}

void trc_process_unmap(struct trc_process *p)
{
	if (p->shared) {
		p->no_room |= atomic_load_explicit(&p->shared->no_room, memory_order_relaxed) != 0;
		mapped_remove(p);
		munmap(p->shared, p->mapped_bytes);
	}
	p->shared = NULL;
}

static int begin_drain(struct trc_process *p, const char *sched, const char **why)
{
	struct trc_shared h;
	int err;

	memcpy(&h, p->shared, sizeof(h));
	err = trc_layout_check(&h, p->mapped_bytes, why);
	if (!err)
		err = trc_process_adopt_clock(&h);
	if (!err && !p->w)
		err = process_open_writer(p, &h, sched);
	if (!err && p->bases.serial_base)
		trc_trace_info(p->w, &h); /* command and exe are the new image's */
	if (!err)
		trc_noted_waits_begin(p, &h);
	if (!err)
		err = trc_drain_open(&p->drain, p->shared, p->mapped_bytes, p->w, &p->bases);
	return err;
}

/* What the present mapping still holds, and what the next one adds to. */
static void end_drain(struct trc_process *p, enum trc_drain_end how)
{
	struct trc_drain_totals totals;

	if (!p->drain)
		return;
	if (how == TRC_DRAIN_STOPPED)
		trc_noted_waits_last(p);
	trc_drain_finish(p->drain, how);
	if (p->ring_cut)
		trc_tool_say("process %s: its ring was cut short: its trace ends there", p->name);
	trc_drain_totals(p->drain, &totals);
	p->lost_events += totals.lost_events;
	p->samples += totals.samples;
	p->lost_samples += totals.lost_samples;
	for (uint32_t i = 0; i < TRC_CPU_EVENTS_MAX; i++)
		p->first_ns[i] += trc_drain_first_ns(p->drain, i);
	trc_drain_next(p->drain, &p->bases);
	trc_drain_close(p->drain);
	p->drain = NULL;
	trc_noted_waits_end(p);
	trc_process_unmap(p);
}

int trc_process_attach(struct trc_process *p, const char *ring_path, uint32_t image,
		       const char *sched)
{
	const char *why = NULL;
	int err;

	end_drain(p, TRC_DRAIN_REPLACED);
	p->image = image;
	p->bases.pid =
		p->tids || p->pid < 0 ? 0 : (uint32_t)p->pid; /* threads are called otherwise */
	err = trc_process_map(p, ring_path, PROT_READ | PROT_WRITE);
	if (!err)
		trc_process_begin_title(p, p->shared);
	if (!err)
		err = begin_drain(p, sched, &why);
	if (!err)
		return 0;
	/* relaxed: nobody is to wait for us from now on. */
	if (p->shared)
		atomic_store_explicit(&p->shared->drain_state, TRC_DRAIN_NONE,
				      memory_order_relaxed);
	trc_noted_waits_end(p);
	trc_process_unmap(p);
	if (p->sink.error)
		trc_tool_say("%s: %s: nothing is recorded", p->path, strerror(-p->sink.error));
	else
		trc_tool_say("process %s: its ring cannot be read: %s", p->name,
			     why ? why : strerror(-err));
	p->failed = true;
	return err;
}

void trc_process_procs(struct trc_process *p, uint64_t until_ns)
{
	unsigned int n = 0;

	if (!p->drain)
		return;
	for (; n < p->procs.n_changes && p->procs.change[n].raw_ns <= until_ns; n++)
		trc_drain_procs(p->drain, p->procs.change[n].raw_ns, p->procs.change[n].procs);
	trc_procs_drop(&p->procs, n);
}

uint64_t trc_process_pass(struct trc_process *p)
{
	uint64_t n = p->drain ? trc_drain_pass(p->drain) : 0;

	if (p->drain && p->ring_cut)
		end_drain(p, TRC_DRAIN_STOPPED);
	if (p->drain && !p->ended)
		trc_procs_look(&p->procs, p->pid, &p->shared->procs_told, trc_clock_vdso(), false);
	trc_noted_waits_pass(p);
	if (p->drain && !p->sink.committed) {
		trc_writer_totals(p->w, &p->totals);
		if (p->totals.blocks)
			trc_file_sink_commit(&p->sink); /* it can be read now */
	}
	return n;
}

/* ---- its title ------------------------------------------------------------------------- */

void trc_process_begin_title(struct trc_process *p, const struct trc_shared *h)
{
	memcpy(p->command_line, h->command, sizeof(p->command_line));
	p->title[0] = '\0';
}

void trc_process_look_at_title(struct trc_process *p)
{
	if (p->pid >= 0 && !p->ended)
		trc_title_read(p->title, p->pid);
}

const char *trc_process_own_title(const struct trc_process *p)
{
	return trc_title_if_changed(p->title, p->command_line, sizeof(p->command_line));
}

/* ---- the end --------------------------------------------------------------------------- */

void trc_process_ended(const struct trc_process *p, char *text, size_t n_bytes)
{
	const struct trc_crash *crash = p->shared ? &p->shared->crash : NULL;

	if (p->status_known)
		trc_child_status_text(p->status, text, n_bytes);
	/* acquire: pairs with the release in crash.c; the signal was stored before the state. */
	else if (p->ended && crash &&
		 atomic_load_explicit(&crash->state, memory_order_acquire) == TRC_CRASH_COMPLETE)
		trc_child_status_text(atomic_load_explicit(&crash->signal, memory_order_relaxed) &
					      0x7f,
				      text, n_bytes);
	else
		snprintf(text, n_bytes, "%s", p->ended ? "exit status not known" : "still running");
}

static void write_end(struct trc_process *p)
{
	char text[64];

	trc_process_ended(p, text, sizeof(text));
	trc_writer_info(p->w, "ended", text);
	if (trc_process_own_title(p))
		trc_writer_info(p->w, "title", trc_process_own_title(p));
	trc_writer_finish(p->w);
	trc_writer_totals(p->w, &p->totals);
}

/* What went wrong with the file, and how much of what happened is not in it. */
static void say_write_error(const struct trc_process *p, int err)
{
	uint64_t n = p->lost_events + p->totals.lost_events;
	const char *why = strerror(p->totals.error ? -p->totals.error : -err);

	if (!err && p->totals.blocks) {
		trc_tool_say("%s: %s: the trace ends early, %" PRIu64 " event%s not in it", p->path,
			     why, n, n == 1 ? " is" : "s are");
		return;
	}
	n += p->totals.events;
	trc_tool_say("%s: %s: nothing was kept of %" PRIu64 " event%s", p->path, why, n,
		     n == 1 ? "" : "s");
}

void trc_process_finish(struct trc_process *p)
{
	int err = 0;

	if (p->closed)
		return;
	p->closed = true;
	end_drain(p, p->ended ? TRC_DRAIN_DEAD : TRC_DRAIN_STOPPED);
	if (p->w)
		write_end(p);
	/* A trace cut short by a full disk is worth having, if there is anything in it. */
	if (p->w && (!p->totals.error || p->totals.blocks))
		err = trc_file_sink_commit(&p->sink);
	if (p->w && (p->totals.error || err))
		say_write_error(p, err);
	if (p->sink_open)
		trc_file_sink_close(&p->sink);
}

void trc_process_free(struct trc_process *p)
{
	trc_follow_end(p);
	trc_drain_close(p->drain);
	trc_noted_waits_end(p);
	trc_writer_close(p->w);
	trc_process_unmap(p);
	trc_flight_free(p);
	trc_tids_free(p->tids);
	if (p->sink_open && !p->closed)
		trc_file_sink_close(&p->sink);
	if (p->pidfd >= 0)
		close(p->pidfd);
	free(p);
}
