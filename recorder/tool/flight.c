/* flight.c - see flight.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "recorder/shared/clock.h"
#include "recorder/drain/open_waits.h"
#include "recorder/drain/otel_service.h"
#include "recorder/drain/snapshot.h"
#include "follow.h"
#include "snapshot.h"

enum {
	RESERVE_BYTES = 2 << 20,
	RESERVE_PAUSE_NS = 500000,
	NOTE_NS = 1000000000, /* how often open waits are looked at, and from which age on */
};

struct trc_flight {
	struct trc_trigger_watch watch;
	struct trc_shared header; /* checked copy of the present image's */
	uint64_t n_snapshots;	  /* tried, so that no name is used twice */
	uint64_t reserved_bytes;  /* of the ring's file */
	uint32_t wake_seen;
	struct trc_open_waits *open_waits;    /* of the present image, as they were seen last */
	uint64_t noted_ns;		      /* when open waits were looked at for its end */
	int mem_fd;			      /* of the present image (open_waits.h); -1 = none */
	struct trc_otel_asking asking;	      /* of the present image, as is what it said */
	char service[TRC_OTEL_SERVICE_BYTES]; /* "" = nothing yet */
	char ring_path[PATH_MAX];
};

void trc_flight_session_init(struct trc_flight_session *f, const struct trc_tool_options *options)
{
	*f = (struct trc_flight_session){.options = options, .last = &f->first};
}

void trc_flight_session_free(struct trc_flight_session *f)
{
	while (f->first) {
		struct trc_tool_taken *taken = f->first;

		f->first = taken->next;
		free(taken);
	}
}

int trc_flight_open(struct trc_process *p)
{
	const struct trc_tool_options *o = p->options;

	p->flight = calloc(1, sizeof(*p->flight));
	if (!p->flight)
		return -ENOMEM;
	p->flight->mem_fd = -1;
	trc_trigger_watch_init(&p->flight->watch, o->spec, o->n_specs, &o->limits);
	return 0;
}

static void waits_forget(struct trc_process *p)
{
	trc_open_waits_free(p->flight->open_waits);
	p->flight->open_waits = NULL;
	if (p->flight->mem_fd >= 0)
		close(p->flight->mem_fd);
	p->flight->mem_fd = -1;
}

void trc_flight_free(struct trc_process *p)
{
	if (p->flight)
		waits_forget(p);
	free(p->flight);
	p->flight = NULL;
}

/* ---- names ----------------------------------------------------------------------------- */

static int name_snapshot(const struct trc_tool_options *o, const char *process_name,
			 uint64_t number, char path[TRC_FILE_PATH_BYTES])
{
	return trc_trigger_path(path, TRC_FILE_PATH_BYTES, o->output,
				o->follow ? process_name : NULL, number);
}

int trc_flight_check_output(const struct trc_tool_options *o, const char *process_name)
{
	char path[TRC_FILE_PATH_BYTES], error[TRC_FILE_PATH_BYTES + 128];
	struct trc_file_sink sink;
	int err = name_snapshot(o, process_name, 1, path);

	if (err) {
		trc_tool_say("-o: %s", strerror(-err));
		return err;
	}
	err = trc_file_sink_plan(&sink, path, error, sizeof(error));
	if (!err)
		err = trc_file_sink_open(&sink, error, sizeof(error));
	if (err == -ENXIO && sink.fifo)
		return 0; /* whoever is to read it may come until there is a snapshot */
	if (err)
		trc_tool_say("%s", error);
	else
		trc_file_sink_close(&sink); /* nothing stays of it */
	return err;
}

/* ---- a snapshot ------------------------------------------------------------------------ */

static uint64_t flight_now_ns(void)
{
	return trc_clock_vdso();
}

/* Of the condition "crash" the note has the signal: who ends a process by SIGTERM sees no crash. */
static void taken_note(struct trc_flight_session *f, const char *path, const char *why,
		       const struct trc_tool_snapshot *s)
{
	struct trc_tool_taken *taken = calloc(1, sizeof(*taken));
	size_t n = strlen("crash");
	bool killed = !strcmp(s->what, "crash") && !strncmp(why, "crash", n);

	if (!taken)
		return;
	snprintf(taken->path, sizeof(taken->path), "%s", path);
	snprintf(taken->why, sizeof(taken->why), "%s%s", killed ? s->ended : "",
		 killed ? why + n : why);
	taken->events = s->totals.events;
	taken->file_bytes = s->totals.file_bytes;
	taken->window_ns = s->window_ns;
	taken->samples = s->samples;
	*f->last = taken;
	f->last = &taken->next;
}

/* What the process wrote may be anything. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = ' ';
}

static void copy_kernel(struct trc_tool_snapshot *s)
{
	if (!s->kernel || !trc_perf_copy(s->kernel))
		return;
	s->kernel = NULL;
	s->sched = "no: no memory to copy the kernel's records";
}

static void flight_waits_look(struct trc_process *p, const struct trc_shared *header,
			      uint64_t until)
{
	const struct trc_open_waits_at at = {.mapping = p->shared,
					     .fd = -1,
					     .header = header,
					     .pid = p->pid,
					     .no_names = p->tids != NULL,
					     .mem_fd = p->flight->mem_fd < 0 ? NULL
									     : &p->flight->mem_fd};

	if (!p->flight->open_waits)
		p->flight->open_waits = trc_open_waits_new();
	if (p->flight->open_waits)
		trc_open_waits_look(p->flight->open_waits, &at, until);
}

/* When the process has died it is too late to ask. */
static void service_ask(struct trc_process *p, bool now)
{
	char name[TRC_OTEL_SERVICE_BYTES];

	if (trc_otel_service_ask(&p->flight->asking, (uint32_t)p->pid, flight_now_ns(), now, name))
		memcpy(p->flight->service, name, sizeof(name));
}

/* Copies the ring, and what the kernel's buffers hold: of a living process afterwards, so that they
 * have all up to the cut.  0, or -errno with a sentence in s->error. */
static int process_ring_copy(struct trc_process *p, struct trc_flight_session *f,
			     struct trc_tool_snapshot *s, uint64_t window_ns, bool dead,
			     struct trc_snapshot **out)
{
	struct trc_snapshot_options options = {.window_ns = window_ns, .dead = dead};
	const char *why = NULL;
	int err;

	if (dead)
		copy_kernel(s);
	if (dead && s->kernel)
		options.kernel_newest_ns = trc_perf_newest_ns(s->kernel, s->pid);
	err = trc_snapshot_take(out, p->shared, p->mapped_bytes, &options, &why);
	if (err) {
		snprintf(s->error, sizeof(s->error), "process %s: its ring cannot be read: %s",
			 p->name, why ? why : strerror(-err));
		return err;
	}
	if (!dead) {
		flight_waits_look(p, trc_snapshot_header(*out), UINT64_MAX);
		copy_kernel(s);
		service_ask(p, true);
	}
	s->service = *p->flight->service ? p->flight->service : NULL;
	trc_snapshot_wait_find(*out, trc_open_waits_find, p->flight->open_waits);
	trc_perf_table_fill(&f->sampled, s->kernel);
	if (!dead)
		trc_procs_look(&p->procs, p->pid, &p->shared->procs_told, flight_now_ns(), true);
	return 0;
}

static int write_copy(struct trc_process *p, struct trc_tool_snapshot *s,
		      struct trc_snapshot *snapshot, char path[TRC_FILE_PATH_BYTES])
{
	int err = name_snapshot(p->options, p->name, ++p->flight->n_snapshots, path);

	if (!err)
		return trc_tool_snapshot_write(s, snapshot, path);
	snprintf(s->error, sizeof(s->error), "%s: %s", p->options->output, strerror(-err));
	return err;
}

/* What the trace says of it; the texts are the caller's. */
static struct trc_tool_snapshot snapshot_describe(struct trc_process *p,
						  const struct trc_flight_session *f,
						  const char *what, const char *trigger,
						  char ended[64], char asked[2048])
{
	trc_process_ended(p, ended, 64);
	trc_tool_options_text(f->options, asked, 2048);
	trc_process_look_at_title(p);
	return (struct trc_tool_snapshot){
		.what = what,
		.trigger = trigger,
		.ended = ended,
		.title = trc_process_own_title(p),
		.sched = f->sched,
		.asked = asked,
		.unwind = f->options->unwind ? f->options->unwind : "auto",
		.passed_over = trc_trigger_watch_passed_over(&p->flight->watch),
		.kernel = f->kernel,
		.sampled = &f->sampled,
		.pid = (uint32_t)p->pid,
		.tids = p->tids,
		.procs = &p->procs,
	};
}

/* 0, or -errno after saying why: `or_else` is what remains to be done then. */
static int snapshot_take(struct trc_process *p, struct trc_flight_session *f, const char *what,
			 char *trigger, bool dead, const char *or_else)
{
	char path[TRC_FILE_PATH_BYTES], ended[64], asked[2048];
	struct trc_tool_snapshot s = snapshot_describe(p, f, what, trigger, ended, asked);
	struct trc_snapshot *snapshot = NULL;
	int err = process_ring_copy(p, f, &s, 0, dead, &snapshot);

	make_printable(trigger);
	if (!err)
		err = write_copy(p, &s, snapshot, path);
	f->any_failed |= err != 0;
	if (err)
		trc_tool_say("%s%s", s.error, or_else);
	else
		taken_note(f, path, trigger, &s);
	trc_snapshot_free(snapshot);
	return err;
}

int trc_flight_write(struct trc_process *p, struct trc_flight_session *f, const char *path,
		     uint64_t window_ns, char *why, size_t n_bytes)
{
	char ended[64], asked[2048];
	struct trc_snapshot *snapshot = NULL;
	struct trc_tool_snapshot s;
	int err;

	if (!p->flight || !p->shared) {
		snprintf(why, n_bytes, "the command is not recorded yet, or not any more");
		return -EBUSY;
	}
	s = snapshot_describe(p, f, "http", NULL, ended, asked);
	err = process_ring_copy(p, f, &s, window_ns, false, &snapshot);
	if (!err)
		err = trc_tool_snapshot_write(&s, snapshot, path);
	if (err)
		snprintf(why, n_bytes, "%s", s.error);
	trc_snapshot_free(snapshot);
	return err;
}

/* ---- watching -------------------------------------------------------------------------- */

static uint64_t now_ticks(const struct trc_process *p)
{
	uint64_t ticks = 0;

	trc_clock_now_of((enum trc_clock_kind)p->flight->header.clock, &ticks);
	return ticks;
}

/* Signals that were sent to trace-record in the process's place. */
static void look_at_signals(struct trc_process *p, uint64_t asked)
{
	struct trc_trigger_watch *w = &p->flight->watch;

	for (unsigned int i = 0; i < p->options->n_specs; i++) {
		const struct trc_trigger_spec *spec = &p->options->spec[i];
		struct trc_trigger_due due = {.ticks = now_ticks(p)};

		if (spec->kind != TRC_TRIGGER_SIGNAL || !(asked >> (spec->signal - 1) & 1))
			continue;
		snprintf(due.text, sizeof(due.text), "%s: sent to trace-record", spec->text);
		trc_trigger_watch_ask(w, flight_now_ns(), &due);
	}
}

/*
 * Memory that the ring will want, piece by piece, in the process's place, which has begun meanwhile:
 * later there may be none.  With --follow not: of many processes most want little.
 */
static void memory_reserve(struct trc_process *p)
{
	uint64_t from = p->flight->reserved_bytes, left = p->mapped_bytes - from;
	uint64_t n = left < RESERVE_BYTES ? left : RESERVE_BYTES;
	int fd = left ? open(p->flight->ring_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
	int err = fd >= 0 && fallocate(fd, 0, (off_t)from, (off_t)n) ? errno : 0;

	if (fd >= 0)
		close(fd);
	p->flight->reserved_bytes = fd < 0 || err ? p->mapped_bytes : from + n;
	if (err != ENOSPC)
		return;
	trc_tool_say("process %s: no room for all of its ring, %" PRIu64
		     " KiB: it holds what there is "
		     "room for (a larger tmpfs, or a smaller --max-size)",
		     p->name, p->mapped_bytes >> 10);
	p->no_room_told = true;
}

static const struct trc_trigger_spec *find_kind(const struct trc_tool_options *o,
						enum trc_trigger_kind kind)
{
	for (unsigned int i = 0; i < o->n_specs; i++)
		if (o->spec[i].kind == kind)
			return &o->spec[i];
	return NULL;
}

/* Of waits that have lasted for a second: when the process has died it is too late to look. */
static void waits_note(struct trc_process *p)
{
	struct trc_shared *header = &p->flight->header;
	uint64_t ticks = now_ticks(p), age = header->ticks_per_second;

	if (flight_now_ns() - p->flight->noted_ns < NOTE_NS || ticks < age ||
	    (!find_kind(p->options, TRC_TRIGGER_CRASH) && !find_kind(p->options, TRC_TRIGGER_EXIT)))
		return;
	p->flight->noted_ns = flight_now_ns();
	/* acquire: as in trc_slots_used(). */
	atomic_store_explicit(&header->ready_slots,
			      atomic_load_explicit(&p->shared->ready_slots, memory_order_acquire),
			      memory_order_relaxed);
	atomic_store_explicit(&header->next_serial,
			      atomic_load_explicit(&p->shared->next_serial, memory_order_relaxed),
			      memory_order_relaxed);
	flight_waits_look(p, header, ticks - age);
}

void trc_flight_pass(struct trc_process *p, struct trc_flight_session *f, uint64_t asked)
{
	struct trc_trigger_due due;

	if (!p->shared)
		return;
	trc_procs_look(&p->procs, p->pid, &p->shared->procs_told, flight_now_ns(), false);
	if (p->ended)
		return; /* what is due then is taken at the end */
	memory_reserve(p);
	waits_note(p);
	service_ask(p, false);
	/* acquire: what is asked for after this look changes the word, and ends the sleep. */
	p->flight->wake_seen = atomic_load_explicit(&p->shared->trigger_wake, memory_order_acquire);
	look_at_signals(p, asked);
	if (trc_trigger_watch_look(&p->flight->watch, flight_now_ns(), now_ticks(p), &due))
		snapshot_take(p, f, "trigger", due.text, false, "");
}

const _Atomic uint32_t *trc_flight_wake(const struct trc_process *p, uint32_t *seen)
{
	if (!p->shared)
		return NULL;
	*seen = p->flight->wake_seen;
	return &p->shared->trigger_wake;
}

uint64_t trc_flight_sleep_ns(const struct trc_process *p, uint64_t now)
{
	if (p->shared && p->flight->reserved_bytes < p->mapped_bytes)
		return RESERVE_PAUSE_NS;
	return p->shared ? trc_trigger_watch_sleep_ns(&p->flight->watch, now) : UINT64_MAX;
}

/* ---- beginning and end ----------------------------------------------------------------- */

/* The image before has ended: what was due of it is taken now. */
static void leave_image(struct trc_process *p, struct trc_flight_session *f)
{
	struct trc_trigger_due due;

	if (p->shared &&
	    trc_trigger_watch_last(&p->flight->watch, flight_now_ns(), now_ticks(p), &due))
		snapshot_take(p, f, "trigger", due.text, true, "");
	trc_follow_end(p);
	waits_forget(p);
	trc_process_unmap(p);
	/* Its memory goes, its name stays: the next image is to take a higher number, not this one
	 * again. */
	if (p->flight->ring_path[0] && truncate(p->flight->ring_path, 0))
		trc_tool_say("%s: %s", p->flight->ring_path, strerror(errno));
	p->flight->ring_path[0] = '\0';
}

int trc_flight_attach(struct trc_process *p, struct trc_flight_session *f, const char *ring_path,
		      uint32_t image)
{
	struct trc_shared *header = &p->flight->header;
	const char *why = NULL;
	uint64_t ticks;
	int err;

	leave_image(p, f);
	p->image = image;
	p->flight->asking = (struct trc_otel_asking){0};
	p->flight->service[0] = '\0';
	err = trc_process_map(p, ring_path, PROT_READ);
	if (!err) {
		memcpy(header, p->shared, sizeof(*header));
		trc_process_begin_title(p, header);
		err = trc_layout_check(header, p->mapped_bytes, &why);
	}
	if (!err)
		err = trc_clock_now_of((enum trc_clock_kind)header->clock, &ticks);
	if (!err && !(header->flags & TRC_SHARED_OVERWRITE)) {
		why = "it is not one of a flight recorder";
		err = -EBADMSG;
	}
	if (err) {
		trc_process_unmap(p);
		trc_tool_say("process %s: its ring cannot be read: %s", p->name,
			     why ? why : strerror(-err));
		p->failed = true;
		return err;
	}
	p->flight->reserved_bytes = p->options->follow ? p->mapped_bytes : 0;
	snprintf(p->flight->ring_path, sizeof(p->flight->ring_path), "%s", ring_path);
	p->flight->mem_fd = trc_open_waits_memory(p->pid);
	trc_trigger_watch_attach(&p->flight->watch, p->shared, header, 0);
	return 0;
}

/* Of a process whose status is not known only a signal that it saw itself tells that it did not end
 * in good order. */
static enum trc_trigger_kind end_kind(const struct trc_process *p)
{
	bool crashed = p->status_known
			       ? WIFSIGNALED(p->status)
			       : atomic_load_explicit(&p->shared->crash.state,
						      memory_order_relaxed) == TRC_CRASH_COMPLETE;

	return crashed ? TRC_TRIGGER_CRASH : TRC_TRIGGER_EXIT;
}

/* 0 if all that was wanted has been written. */
static int last_snapshot(struct trc_process *p, struct trc_flight_session *f)
{
	const struct trc_trigger_spec *spec = p->ended ? find_kind(p->options, end_kind(p)) : NULL;
	struct trc_trigger_due due = {0};
	bool pending =
		trc_trigger_watch_last(&p->flight->watch, flight_now_ns(), now_ticks(p), &due);
	char why[2 * TRC_TRIGGER_TEXT_BYTES], keep[PATH_MAX + 128];

	snprintf(keep, sizeof(keep), "; the ring is kept: trace-record --recover %s -o FILE",
		 p->flight->ring_path);
	if (spec) {
		snprintf(why, sizeof(why), "%s%s%s", spec->text, pending ? "; " : "", due.text);
		return snapshot_take(p, f, spec->text, why, true, keep);
	}
	return pending ? snapshot_take(p, f, "trigger", due.text, p->ended, keep) : 0;
}

void trc_flight_finish(struct trc_process *p, struct trc_flight_session *f)
{
	if (p->closed)
		return;
	p->closed = true;
	trc_follow_end(p);
	if (p->shared && last_snapshot(p, f)) {
		f->dir->keep_rings = true;
		p->flight->ring_path[0] = '\0'; /* F2 */
	}
	f->passed_over += trc_trigger_watch_passed_over(&p->flight->watch);
	trc_process_unmap(p);
	if (p->flight->ring_path[0])
		remove(p->flight->ring_path);
}
