/*
 * http_profiles.c - profiles of the process that trace-record records: views of the
 * fold, and its threads.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "format/now.h"
#include "recorder/profile/http_kinds.h"
#include "recorder/profile/kind.h"
#include "recorder/sampling/sample_table.h"
#include "recorder/profile/thread_samples.h"
#include "recorder/profile/thread_text.h"
#include "follow.h"
#include "http.h"

enum { KERNEL_EVENT = TRC_SAMPLE_EVENTS_MAX + 1 }; /* as the drain numbers them */

/* ---- kinds ------------------------------------------------------------------------------- */

static struct kind {
	const char *what; /* where it differs from what a process says of itself */
	enum trc_view_kind view;
	bool is_memory, is_cpu, is_threads, is_offcpu;
	struct trc_view *kept; /* since the process began; the main thread's */
} kinds[TRC_HTTP_KINDS] = {
	[TRC_HTTP_KIND_ALLOCS] = {.what = "Memory that was allocated, sampled: also what has been "
					  "freed since. Needs --heap.",
				  .view = TRC_VIEW_HEAP,
				  .is_memory = true},
	[TRC_HTTP_KIND_BLOCK] = {.view = TRC_VIEW_BLOCK},
	[TRC_HTTP_KIND_GOROUTINE] = {.is_threads = true},
	[TRC_HTTP_KIND_HEAP] = {.what = "Memory that is allocated now, sampled. seconds=10: what "
					"changes in that time. Needs --heap.",
				.view = TRC_VIEW_HEAP,
				.is_memory = true},
	[TRC_HTTP_KIND_MUTEX] = {.view = TRC_VIEW_MUTEX},
	[TRC_HTTP_KIND_OFFCPU] = {.view = TRC_VIEW_BLOCK, .is_offcpu = true},
	[TRC_HTTP_KIND_PROFILE] =
		{.what = "CPU time, or what else -F and -e have sampled, for the time that "
			 "seconds= says (30 if nothing). event=cycles takes another one of them.",
		 .view = TRC_VIEW_CPU,
		 .is_cpu = true},
	[TRC_HTTP_KIND_THREADCREATE] = {.view = TRC_VIEW_THREADCREATE},
	[TRC_HTTP_KIND_THREADS] =
		{.what = "What every thread is doing now, by stack; of those that run the stack is "
			 "that of their last wait. debug=2: a paragraph for each thread; debug=3: "
			 "a profile with a sample for each.",
		 .is_threads = true},
};

/* NULL = none is called so. */
static struct kind *tool_kind(const char *name)
{
	enum trc_http_kind kind = trc_http_kind(name);

	return kind < TRC_HTTP_KINDS ? &kinds[kind] : NULL;
}

static const struct trc_http_entry *kind_entry(const struct kind *kind)
{
	return &trc_http_entries[kind - kinds];
}

/* With --flight nothing is counted while nobody asks. */
static bool needs_seconds(const struct kind *kind)
{
	return trc_http_options()->flight && kind_entry(kind)->flags & TRC_HTTP_CUMULATIVE &&
	       !kind->is_threads;
}

void trc_http_profiles_each_entry(trc_http_each_fn *fn, void *context)
{
	for (size_t i = 0; i < TRC_HTTP_KINDS; i++) {
		struct trc_http_entry entry = trc_http_entries[i];

		if (kinds[i].what)
			entry.what = kinds[i].what;
		if (needs_seconds(&kinds[i]))
			entry.flags |= TRC_HTTP_NEEDS_SECONDS;
		fn(context, &entry);
	}
}

/* ---- one request ------------------------------------------------------------------------- */

struct request {
	struct trace_recorder base; /* for who writes it; begins with this */
	const struct kind *kind;
	const struct trc_http_take *take;
	struct trc_view *view;			/* of its window */
	uint32_t image;				/* that its window began in */
	uint64_t read_words, overwritten_words; /* by then */
	bool keeps;				/* the window goes on */
	struct trc_cpu_event event;
	uint64_t heap_bytes;
	struct trc_taken taken;
	char *why;
	size_t n_bytes;
};

__attribute__((format(printf, 3, 4))) static int request_refuse(const struct request *r, int err,
								const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->why, r->n_bytes, format, args);
	va_end(args);
	return err;
}

/* ---- in the main thread ------------------------------------------------------------------ */

static uint64_t next_seed(uint64_t now)
{
	static uint64_t n_seeds;

	return (now ^ ++n_seeds << 48) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t rate_of(const struct kind *kind, const struct trc_tool_options *o)
{
	return kind->is_memory ? o->heap_bytes : 1;
}

void trc_http_views_begin(struct trc_fold *fold, const struct trc_tool_options *o, uint64_t begin)
{
	for (size_t i = 0; i < TRC_HTTP_KINDS; i++) {
		struct kind *kind = &kinds[i];
		const struct trc_view_options options = {
			.kind = kind->view, .rate = rate_of(kind, o), .seed = next_seed(i)};

		kind->kept = NULL; /* it went with its fold */
		if (!(kind_entry(kind)->flags & TRC_HTTP_CUMULATIVE) || kind->is_threads ||
		    !options.rate)
			continue;
		if (trc_view_add(fold, &kind->kept, &options, begin))
			kind->kept = NULL; /* who asks for it is told */
	}
}

/* The number that samples of this event have; 0 = none yet. */
static uint32_t now_event_number(const struct trc_http_now *now, const struct trc_cpu_event *event)
{
	const struct trc_sampling *s = &now->options->sampling;

	if (event->how != TRC_SAMPLE_KERNEL)
		return trc_sample_event_find(now->p->shared, event->how, event->name);
	for (uint32_t i = 0; i < s->n_kernel; i++)
		if (!strcmp(s->kernel[i].name, event->name))
			return KERNEL_EVENT + i;
	return 0;
}

static int check_fold(const struct request *r, const struct trc_http_now *now)
{
	return now->fold ? 0
			 : request_refuse(r, -EBUSY,
					  "the command is not recorded yet, or not any more");
}

static int request_has_no_room(const struct request *r)
{
	return request_refuse(r, -ENOSPC,
			      "too many windows at once: ask again when one of them has ended");
}

static int request_add_view(struct request *r, const struct trc_http_now *now,
			    const struct trc_view_options *options, struct trc_view **view)
{
	int err = trc_view_add(now->fold, view, options, now->ticks);

	return err == -ENOSPC ? request_has_no_room(r) : err;
}

static int begin_window(void *context, const struct trc_http_now *now)
{
	struct request *r = context;
	struct trc_view_options options = {.kind = r->kind->view,
					   .rate = rate_of(r->kind, now->options),
					   .all_waits = r->kind->is_offcpu,
					   .seed = next_seed(now->ticks)};
	struct trc_drain_totals totals;
	int err = check_fold(r, now);

	if (r->take->rate)
		options.rate = (uint64_t)r->take->rate;
	if (!err && r->kind->is_cpu) {
		options.rate = r->take->period;
		options.sample_event = now_event_number(now, &r->event);
		if (!options.sample_event)
			err = request_refuse(r, -EBUSY, "%s has not been sampled yet",
					     r->event.name);
		else if (r->event.how == TRC_SAMPLE_KERNEL)
			trc_follow_kernel(now->p);
	}
	if (err)
		return err;
	trc_drain_totals(now->p->drain, &totals);
	r->read_words = totals.read_words;
	r->overwritten_words = totals.overwritten_words;
	r->image = now->image;
	return request_add_view(r, now, &options, &r->view);
}

/* With --flight: how much there was that nobody could read. */
static void request_tell_overwritten(struct request *r, const struct trc_http_now *now)
{
	struct trc_drain_totals totals;
	uint64_t overwritten, all;

	trc_drain_totals(now->p->drain, &totals);
	overwritten = totals.overwritten_words - r->overwritten_words;
	all = totals.read_words - r->read_words + overwritten;
	if (overwritten)
		r->taken.overwritten_percent =
			1 + (unsigned int)((unsigned __int128)overwritten * 99 / all);
}

static int take_view(struct request *r, const struct trc_http_now *now, struct trc_view *view)
{
	int err = trc_view_copy(now->fold, view, now->ticks, &r->taken.folded[0]);
	struct trc_folded_head head;

	if (err)
		return err;
	r->taken.n_folded = 1;
	trc_folded_head(r->taken.folded[0], &head);
	r->taken.duration_ns = (int64_t)head.duration_ns;
	if (r->kind->is_cpu)
		r->taken.missing_threads =
			trc_sample_event_missing(now->p->shared, r->event.how, r->event.name);
	return trc_http_modules(now, &r->taken.modules);
}

static int end_window(void *context, const struct trc_http_now *now)
{
	struct request *r = context;
	int err = 0;

	if (r->image != now->image)
		err = request_refuse(r, -EBUSY,
				     "the command has executed another program meanwhile");
	if (!err)
		err = check_fold(r, now);
	if (!err && !r->keeps) {
		request_tell_overwritten(r, now);
		err = take_view(r, now, r->view);
	}
	if (now->fold && r->image == now->image)
		trc_view_remove(now->fold, r->view);
	return err;
}

/* What lives now, of all time. */
static int request_heap_look(struct request *r, const struct trc_http_now *now)
{
	int err = trc_heap_copy(now->fold, r->kind->kept, now->options->heap_bytes, now->ticks,
				r->taken.folded, &r->taken.n_folded);

	if (err)
		return err == -ENOSPC ? request_has_no_room(r) : err;
	return trc_http_modules(now, &r->taken.modules);
}

static int request_take_all(void *context, const struct trc_http_now *now)
{
	struct request *r = context;
	int err = check_fold(r, now);

	if (err)
		return err;
	if (!r->kind->kept)
		return request_refuse(r, -ENOMEM, "no memory for what is to be counted");
	r->taken.begin_realtime_ns = (int64_t)now->p->shared->start.realtime_ns;
	return take_view(r, now, r->kind->kept);
}

/* ---- in the server's threads ------------------------------------------------------------- */

/* The values are scaled already; pprof would do it again with a sampling period in text. */
static int64_t request_fraction(const struct request *r)
{
	return r->kind->view == TRC_VIEW_MUTEX && !r->base.text && r->take->rate ? r->take->rate
										 : 1;
}

static void request_describe(const struct trace_recorder *base, struct trc_encode_info *info)
{
	const struct request *r = (const struct request *)base;

	if (r->kind->is_cpu) {
		trc_describe_cpu(info, &r->event);
		info->period = (int64_t)(r->take->period > r->event.period ? r->take->period
									   : r->event.period);
	} else if (r->kind->is_offcpu) {
		trc_describe_offcpu(info);
	} else if (r->kind->is_threads) {
		trc_describe_threads(info);
	} else if (r->kind->is_memory) {
		trc_describe_heap(info, r->kind == &kinds[TRC_HTTP_KIND_ALLOCS],
				  (int64_t)r->heap_bytes);
	} else if (r->kind->view == TRC_VIEW_THREADCREATE) {
		trc_describe_threadcreate(info);
	} else {
		trc_describe_waits(info, r->kind->view == TRC_VIEW_MUTEX, request_fraction(r));
	}
}

static void request_remark(const struct trace_recorder *base,
			   char text[static TRC_SAMPLED_TEXT_BYTES])
{
	trc_remark_cpu(text, &((const struct request *)base)->event);
}

static void request_emit(const struct trace_recorder *base, const struct trc_taken *taken,
			 trc_emit_fn *fn, void *context)
{
	const struct request *r = (const struct request *)base;

	if (taken->rows_before)
		trc_thread_samples(taken->rows_before, -1, r->take->debug >= 3, fn, context);
	if (taken->rows)
		trc_thread_samples(taken->rows, 1, r->take->debug >= 3, fn, context);
}

static int write_profile(struct request *r, const struct trace_writer *writer)
{
	const struct trc_recorder_kind kind = {
		.name = r->kind->is_threads ? "threads" : kind_entry(r->kind)->name,
		.remark = r->kind->is_cpu ? request_remark : NULL,
		.describe = request_describe,
		.emit = request_emit,
	};
	struct trace_recorder *base = &r->base;
	char why[TRC_RECORDER_WHY_BYTES] = "";
	int err;

	base->kind = &kind;
	/* Of threads: pprof, text, text, pprof, text. */
	base->text = r->take->debug && !(r->kind->is_threads && r->take->debug == 3);
	err = trc_recorders_write(&base, 1, &r->taken, writer, why);
	if (err && *why)
		request_refuse(r, err, "%s", why);
	return err;
}

/* Samples are only of what the recording was told to sample. */
static int find_event(struct request *r, const struct trc_sampling *s)
{
	const char *name = r->take->event;

	for (unsigned int i = 0; i < s->n_events; i++)
		if (name ? !strcmp(s->event[i].name, name) : s->event[i].is_clock) {
			r->event = s->event[i];
			return 0;
		}
	if (!s->n_events)
		return request_refuse(
			r, -ENOTSUP,
			"nothing is sampled: trace-record has to be told what, by -F 100 or "
			"-e auto");
	if (name && strcmp(name, "auto"))
		return request_refuse(r, -ENOTSUP,
				      "%s is not sampled: trace-record has to be told so, by -e",
				      name);
	r->event = s->event[0];
	return 0;
}

static int request_take_window(struct request *r)
{
	int err = trc_http_call(begin_window, r), ended;

	if (err)
		return err;
	r->keeps = !trc_http_pause(r->take->wait, r->take->window_ns);
	ended = trc_http_call(end_window, r);
	return r->keeps ? -ECANCELED : ended;
}

/* Begins to look, with --flight. */
static int follow_window(struct request *r)
{
	uint32_t image;
	int err = trc_http_follow(&image);

	if (err == -EBUSY)
		return request_refuse(r, err, "the command is not recorded yet, or not any more");
	if (err)
		return err;
	err = request_take_window(r);
	trc_http_unfollow(image);
	return err;
}

static int take_live(void *context, const struct trc_http_now *now)
{
	struct request *r = context;
	int err = check_fold(r, now);

	return err ? err : request_heap_look(r, now);
}

static int request_write_threads(struct request *r, const struct trace_writer *writer)
{
	char *text = NULL;
	size_t n_bytes = 0;
	int err;

	if (r->take->debug != 2)
		return write_profile(r, writer);
	err = trc_thread_text(r->taken.rows, &r->taken.modules, r->base.wanted, &text, &n_bytes,
			      r->why, r->n_bytes);
	if (!err)
		err = writer->write(writer->context, text, n_bytes);
	free(text);
	return err;
}

/* What is there now, if need be with what was there before the window. */
static int look_at_threads(struct request *r, struct trc_thread_profile **before,
			   struct trc_thread_profile **now)
{
	struct trc_module_list modules = {.module = NULL};
	int err = 0;

	if (r->take->window_ns) {
		err = trc_http_threads(before, &modules);
		free(modules.module); /* those of the end are more */
		if (!err && !trc_http_pause(r->take->wait, r->take->window_ns))
			err = -ECANCELED;
	}
	return err ? err : trc_http_threads(now, &r->taken.modules);
}

static int take_threads(struct request *r, const struct trace_writer *writer)
{
	struct trc_thread_profile *before = NULL, *now = NULL;
	int err = look_at_threads(r, &before, &now);

	if (err == -EBUSY)
		request_refuse(r, err, "the command is not recorded yet, or not any more");
	if (!err) {
		r->taken.rows_before = before;
		r->taken.rows = now;
		err = request_write_threads(r, writer);
		r->taken.rows_before = r->taken.rows = NULL;
	}
	trc_http_threads_free(before);
	trc_http_threads_free(now);
	return err;
}

static int request_take(struct request *r, const struct trace_writer *writer)
{
	int err = 0;

	r->taken.begin_realtime_ns = (int64_t)trc_now_ns(CLOCK_REALTIME);
	if (r->kind->is_threads)
		return take_threads(r, writer);
	if (r->take->window_ns)
		err = follow_window(r);
	else
		err = trc_http_call(
			r->kind == &kinds[TRC_HTTP_KIND_HEAP] ? take_live : request_take_all, r);
	return err ? err : write_profile(r, writer);
}

struct count {
	const struct kind *kind;
	uint64_t n;
};

static int stacks_count(void *context, const struct trc_http_now *now)
{
	struct count *c = context;
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", now->p->pid);
	if (c->kind->is_threads && !stat(path, &st) && st.st_nlink > 2)
		c->n = st.st_nlink - 2; /* each is a directory */
	else if (now->fold && c->kind->kept)
		c->n = trc_view_count(c->kind->kept);
	return 0;
}

uint64_t trc_http_profile_count(const char *name)
{
	struct count c = {.kind = tool_kind(name)};

	return c.kind && !trc_http_call(stacks_count, &c) ? c.n : 0;
}

int trc_http_profile_take(const struct trc_http_take *asked, const struct trace_writer *writer,
			  char *why, size_t n_bytes)
{
	const struct trc_encode_wanted wanted = trc_http_wanted(asked->wait);
	const struct trc_tool_options *o = trc_http_options();
	struct request r = {.base.wanted = &wanted,
			    .kind = tool_kind(asked->name),
			    .take = asked,
			    .heap_bytes = o->heap_bytes,
			    .why = why,
			    .n_bytes = n_bytes};
	int err = 0;

	if (!r.kind)
		return request_refuse(&r, -ENOENT, "there is no such profile");
	if (r.kind->is_memory && !o->heap_bytes)
		return request_refuse(
			&r, -ENOTSUP,
			"allocations are not sampled: trace-record --heap has them sampled");
	if (needs_seconds(r.kind) && !asked->window_ns)
		return request_refuse(
			&r, -ENOTSUP,
			"with --flight nothing is counted while nobody asks: seconds=10 is a profile "
			"of the ten seconds to come; flight is a trace of the last ones, of which "
			"trace-analyze --pprof makes any profile");
	if (r.kind->is_memory && asked->rate && (uint64_t)asked->rate < o->heap_bytes)
		return request_refuse(&r, -EINVAL, "bytes: at least %" PRIu64 ", as --heap has it",
				      o->heap_bytes);
	if (r.kind->is_memory && asked->rate)
		r.heap_bytes = (uint64_t)asked->rate;
	if (r.kind->is_cpu)
		err = find_event(&r, &o->sampling);
	if (!err)
		err = request_take(&r, writer);
	trc_taken_free(&r.taken);
	if (err == -ECANCELED && !*why)
		request_refuse(&r, err, "given up, or the command has ended");
	return err;
}
