/* fold.c - a fold, and how the fold takes the events that are handed to it. */
#include <errno.h>
#include <string.h>
#include "private.h"
#include "format/waits/charges.h"
#include "format/waits.h"
#include "format/wire.h"

enum { PROC_BYTES = 128 }; /* for its streams */
#define MEMORY_BYTES_DEFAULT (UINT64_C(256) << 20)
#define MEMORY_BYTES_MIN     (UINT64_C(8) << 20)
#define MEMORY_BYTES_MAX     (UINT64_C(64) << 30)
#define UNLOCK_LAG_NS	     UINT64_C(20000000)
#define GONE_NS		     UINT64_C(10000000000)

/* ---- opening --------------------------------------------------------------------------- */

/* Shares of the memory, in 1/64; the rest is for rounding. */
enum {
	QUEUE_SHARE = 17,
	STACKS_SHARE = 10,
	LABELS_SHARE = 3,
	LIVE_SHARE = 16,
	THREADS_SHARE = 2,
	PARKS_SHARE = 2,
	NESTS_SHARE = 2,
	FIBERS_SHARE = 2,
	LOCK_WAITS_SHARE = 2,
	LOCKS_SHARE = 3,
	LOCK_EVENTS_SHARE = 4,
};

static int fold_memory_take(struct trc_fold *f, struct trc_arena *arena)
{
	size_t share = f->options.memory_bytes / 64;
	int err = trc_fold_queue_init(&f->queue, arena, f->options.n_procs, QUEUE_SHARE * share);

	if (!err)
		err = trc_fold_intern_init(&f->stacks, arena, STACKS_SHARE * share);
	if (!err)
		err = trc_fold_intern_init(&f->label_sets, arena, LABELS_SHARE * share);
#define TABLE(table, type, n)                                                                      \
	do {                                                                                       \
		if (!err)                                                                          \
			err = trc_fold_table_init(&f->table, arena, sizeof(struct type),           \
						  (n)*share);                                      \
	} while (0)
	TABLE(live, trc_fold_live, LIVE_SHARE);
	TABLE(threads, trc_fold_thread, THREADS_SHARE);
	TABLE(parks, trc_fold_park, PARKS_SHARE);
	TABLE(nests, trc_fold_nest, NESTS_SHARE);
	TABLE(fibers, trc_fold_fiber, FIBERS_SHARE);
	TABLE(lock_waits, trc_fold_lock_wait, LOCK_WAITS_SHARE);
	TABLE(locks, trc_fold_lock, LOCKS_SHARE);
#undef TABLE
	f->max_lock_events = (uint32_t)(LOCK_EVENTS_SHARE * share / sizeof(*f->lock_event));
	f->lock_event = trc_arena_take(arena, f->max_lock_events * sizeof(*f->lock_event));
	return f->lock_event ? err : -ENOMEM;
}

static uint64_t fold_ticks(uint64_t ns, uint64_t ticks_per_second)
{
	return (uint64_t)((unsigned __int128)ns * ticks_per_second / 1000000000);
}

int trc_fold_open(struct trc_fold **out, const struct trc_fold_options *options)
{
	uint64_t bytes = options->memory_bytes ? options->memory_bytes : MEMORY_BYTES_DEFAULT;
	struct trc_arena arena = {0};
	struct trc_fold *f;
	int err;

	if (!options->n_procs || options->n_procs > TRC_PROCS_MAX || !options->ticks_per_second)
		return -EINVAL;
	bytes = bytes < MEMORY_BYTES_MIN ? MEMORY_BYTES_MIN : bytes;
	bytes = bytes < MEMORY_BYTES_MAX ? bytes : MEMORY_BYTES_MAX;
	arena.size_bytes = bytes + sizeof(*f) + options->n_procs * (size_t)PROC_BYTES;
	arena.base = trc_pages_map(arena.size_bytes);
	if (!arena.base)
		return -ENOMEM;
	f = trc_arena_take(&arena, sizeof(*f));
	f->options = *options;
	f->options.memory_bytes = bytes;
	f->memory_bytes = arena.size_bytes;
	f->ns_per_tick = 1e9 / (double)options->ticks_per_second;
	f->lag_ticks = fold_ticks(options->unlock_lag_ns ? options->unlock_lag_ns : UNLOCK_LAG_NS,
				  options->ticks_per_second);
	f->gone_ticks = fold_ticks(GONE_NS, options->ticks_per_second);
	f->between_ticks = fold_ticks(TRC_CHARGE_BETWEEN_NS, options->ticks_per_second);
	err = fold_memory_take(f, &arena);
	if (err) {
		trc_fold_close(f);
		return err;
	}
	*out = f;
	return 0;
}

void trc_fold_close(struct trc_fold *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++)
		trc_view_unmap(f->view[i]);
	trc_pages_unmap(f, f->memory_bytes);
}

/* ---- events ---------------------------------------------------------------------------- */

static bool event_is_wanted(const struct trc_event *e)
{
	switch (e->kind) {
	case TRC_KIND_GAP: /* the kernel's records are of no use here but for samples, told
			      otherwise */
		return e->source != TRC_SOURCE_KERNEL;
	case TRC_KIND_SAMPLE:
	case TRC_KIND_SAMPLES_LOST:
	case TRC_KIND_ALLOC:
	case TRC_KIND_FREE:
		return true;
	default:
		return e->thread && trc_kind_is_own(e->kind);
	}
}

static uint32_t event_stream(const struct trc_fold *f, const struct trc_event *e)
{
	switch (e->source) {
	case TRC_SOURCE_RING:
		return e->proc < f->options.n_procs ? e->proc : 2 * f->options.n_procs;
	case TRC_SOURCE_KERNEL:
		return f->options.n_procs + (e->proc < f->options.n_procs ? e->proc : 0);
	default:
		return 2 * f->options.n_procs;
	}
}

static uint8_t arg_reason(uint64_t arg)
{
	return arg < TRC_REASON_COUNT ? (uint8_t)arg : 0;
}

static void put_unlock(struct trc_fold_event *to, const struct trc_args_unlock *args, uint64_t time)
{
	to->reason = arg_reason(args->reason);
	to->a = args->object;
	to->b = args->held;
	to->c = args->at && args->at < time ? args->at : time;
}

static void event_put_wait(struct trc_fold_event *to, const struct trc_event *e)
{
	const union trc_args *args = &e->args;

	switch (e->kind) {
	case TRC_KIND_PARK:
		to->reason = arg_reason(args->park.reason);
		to->a = args->park.object;
		to->b = args->park.holder;
		break;
	case TRC_KIND_RESUME:
		to->reason = arg_reason(args->resume.reason);
		to->a = args->resume.object;
		to->b = args->resume.result & 0x7fff;
		break;
	case TRC_KIND_WAIT:
		to->reason = arg_reason(args->wait.reason);
		to->a = args->wait.object;
		to->b = args->wait.result & 0x7fff;
		to->c = args->wait.since;
		break;
	}
}

static void put_alloc(struct trc_fold_event *to, const struct trc_args_alloc *args)
{
	to->a = args->address;
	to->b = args->bytes;
	to->c = args->period;
	to->d = args->sample;
}

static void put_free(struct trc_fold_event *to, const struct trc_args_free *args)
{
	to->a = args->address;
	to->b = args->bytes;
	to->c = args->period;
	to->d = args->sample;
}

static uint16_t sampled_event(struct trc_fold *f, uint64_t number)
{
	if (f->options.sample_event && number < UINT16_MAX)
		number = f->options.sample_event((uint32_t)number);
	return number < UINT16_MAX ? (uint16_t)number : UINT16_MAX;
}

static void event_put_sample(struct trc_fold *f, struct trc_fold_event *to,
			     const struct trc_event *e)
{
	if (e->kind == TRC_KIND_SAMPLE) {
		to->sampled = sampled_event(f, e->args.sample.event);
		to->a = e->args.sample.value;
		to->b = e->args.sample.period;
	} else {
		to->sampled = sampled_event(f, e->args.samples_lost.event);
		to->a = e->args.samples_lost.lost_samples;
		to->b = e->args.samples_lost.cause;
	}
}

/* Which argument is a stack, and which are labels; TRC_ARGS_MAX = none. */
static void put_ids(struct trc_fold *f, const struct trc_writer *tables, struct trc_fold_event *to,
		    const struct trc_event *e)
{
	const struct trc_kind_info *info = trc_kind_info(e->kind);
	bool stack = false, labels = false;

	for (unsigned int i = 0; i < info->n_args; i++) {
		if (info->arg[i].type == TRC_ARG_STACK && !stack) {
			to->stack = trc_fold_stack(f, tables, e->arg[i]);
			stack = true;
		} else if (info->arg[i].type == TRC_ARG_LABELS && !labels) {
			to->labels = trc_fold_labels(f, tables, e->arg[i]);
			labels = true;
		}
	}
}

static void event_put(struct trc_fold *f, const struct trc_writer *tables,
		      struct trc_fold_event *to, const struct trc_event *e)
{
	to->thread = e->thread;
	to->kind = e->kind;
	put_ids(f, tables, to, e);
	switch (e->kind) {
	case TRC_KIND_PARK:
	case TRC_KIND_RESUME:
	case TRC_KIND_WAIT:
		event_put_wait(to, e);
		break;
	case TRC_KIND_UNLOCK:
		put_unlock(to, &e->args.unlock, e->time);
		break;
	case TRC_KIND_ACQUIRE:
		to->reason = arg_reason(e->args.acquire.reason);
		to->a = e->args.acquire.object;
		break;
	case TRC_KIND_SAMPLE:
	case TRC_KIND_SAMPLES_LOST:
		event_put_sample(f, to, e);
		break;
	case TRC_KIND_ALLOC:
		put_alloc(to, &e->args.alloc);
		break;
	case TRC_KIND_FREE:
		put_free(to, &e->args.free);
		break;
	case TRC_KIND_GAP:
		to->a = e->args.gap.lost_events;
		break;
	case TRC_KIND_THREAD_START:
		to->a = e->args.thread_start.creator;
		break;
	case TRC_KIND_FIBER_SWITCH:
		to->a = e->args.fiber_switch.fiber;
		to->b = e->args.fiber_switch.left;
		to->reason = arg_reason(e->args.fiber_switch.reason);
		break;
	case TRC_KIND_FIBER_END:
		to->a = e->args.fiber_end.fiber;
		break;
	default:
		break;
	}
}

static void tell_lost(struct trc_fold *f, uint64_t time, uint64_t events)
{
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++)
		if (f->view[i] && time >= f->view[i]->begin)
			f->view[i]->lost_events += events;
}

/* What has come before is not merged yet, and in no doubt. */
static void fold_has_no_room(struct trc_fold *f, uint64_t time)
{
	if (!f->full_until) {
		f->full_since = time;
		trc_fold_lock_gap(f, time);
	}
	f->full_since = time < f->full_since ? time : f->full_since;
	f->full_until = time > f->full_until ? time : f->full_until;
	tell_lost(f, time, 1);
}

static void in_doubt_until(struct trc_fold *f, uint64_t time)
{
	f->gap_time = time > f->gap_time ? time : f->gap_time;
	trc_fold_lock_gap(f, time);
}

void trc_fold_event(struct trc_fold *f, const struct trc_writer *tables, const struct trc_event *e)
{
	struct trc_fold_event *to;

	if (!event_is_wanted(e))
		return;
	to = trc_fold_queue_put(&f->queue, event_stream(f, e), e->time);
	if (to)
		event_put(f, tables, to, e);
	else
		fold_has_no_room(f, e->time);
}

void trc_fold_thread_labels(struct trc_fold *f, const struct trc_writer *tables, uint32_t thread,
			    uint32_t labels)
{
	struct trc_fold_thread *t = thread ? trc_fold_thread_get(f, thread, f->merged) : NULL;

	if (t)
		t->item.extra = trc_fold_labels(f, tables, labels);
}

void trc_fold_thread_wait(struct trc_fold *f, const struct trc_writer *tables,
			  const struct trc_status_entry *wait)
{
	const struct trc_fold_event e = {.time = wait->since,
					 .thread = wait->thread,
					 .kind = TRC_KIND_PARK,
					 .reason = wait->reason,
					 .stack = trc_fold_stack(f, tables, wait->stack),
					 .a = wait->object,
					 .b = wait->holder};

	if (wait->thread && wait->reason && wait->reason < TRC_REASON_COUNT)
		trc_fold_park_told(f, &e);
}

void trc_fold_new_tables(struct trc_fold *f)
{
	trc_fold_forget_ids(&f->stacks);
	trc_fold_forget_ids(&f->label_sets);
}

/* ---- merging --------------------------------------------------------------------------- */

static void thread_began(struct trc_fold *f, const struct trc_fold_event *e)
{
	const double one[TRC_VIEW_VALUES] = {1};
	struct trc_view *view;

	if (!e->a) /* not new, only seen for the first time */
		return;
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		view = trc_fold_view(f, i, TRC_VIEW_THREADCREATE);
		if (view && e->time >= view->begin)
			trc_view_sum(view, e->stack, e->labels, one);
	}
}

static void merge(struct trc_fold *f, const struct trc_fold_event *e)
{
	switch (e->kind) {
	case TRC_KIND_GAP:
		trc_fold_lost(f, e->time, e->time, e->a);
		return;
	case TRC_KIND_SAMPLE:
		trc_fold_sample(f, e);
		return;
	case TRC_KIND_SAMPLES_LOST:
		trc_fold_samples_lost(f, e);
		return;
	case TRC_KIND_ALLOC:
		trc_fold_alloc(f, e);
		break;
	case TRC_KIND_FREE:
		trc_fold_free(f, e);
		break;
	case TRC_KIND_THREAD_START:
		thread_began(f, e);
		break;
	default:
		break;
	}
	if (e->thread)
		trc_fold_thread_event(f, e);
}

/* What may come in between is told when it is over: waits that ended meanwhile have been counted.
 */
void trc_fold_lost(struct trc_fold *f, uint64_t since, uint64_t until, uint64_t events)
{
	(void)since;
	in_doubt_until(f, until);
	tell_lost(f, until, events ? events : 1);
}

static void merge_upto(struct trc_fold *f, uint64_t upto)
{
	const struct trc_fold_event *e;

	while ((e = trc_fold_queue_take(&f->queue, upto)))
		merge(f, e);
	if (upto > f->merged)
		f->merged = upto;
	if (f->full_until && f->full_until <= f->merged) {
		in_doubt_until(f, f->full_until);
		f->full_since = f->full_until = 0;
	}
}

void trc_fold_pass(struct trc_fold *f, uint64_t upto)
{
	merge_upto(f, upto);
	if (f->merged > f->lag_ticks)
		trc_fold_locks_pass(f, f->merged - f->lag_ticks);
	trc_fold_make_room(f);
}

/* ---- views ----------------------------------------------------------------------------- */

int trc_view_add(struct trc_fold *f, struct trc_view **out, const struct trc_view_options *options,
		 uint64_t now)
{
	struct trc_view model = {.options = *options,
				 .begin = now > f->merged ? now : f->merged,
				 .end = UINT64_MAX,
				 .rate = (double)options->rate};
	int err;

	if ((unsigned int)options->kind > TRC_VIEW_THREADCREATE)
		return -EINVAL;
	while (model.number < TRC_VIEWS_MAX && f->view[model.number])
		model.number++;
	if (model.number == TRC_VIEWS_MAX)
		return -ENOSPC;
	if (options->kind == TRC_VIEW_BLOCK)
		model.rate /= f->ns_per_tick;
	err = trc_view_map(out, &model);
	if (err)
		return err;
	f->view[model.number] = *out;
	for (uint32_t id = 1; id <= f->nests.used; id++) {
		struct trc_fold_nest *nest = trc_fold_table_at(&f->nests, id);

		if (nest)
			nest->ticks[model.number] = 0;
	}
	f->n_heap_views += options->kind == TRC_VIEW_HEAP;
	f->n_all_waits_views += options->kind == TRC_VIEW_BLOCK && options->all_waits;
	if (options->kind == TRC_VIEW_HEAP && options->live)
		trc_fold_live_add(f, *out);
	return 0;
}

void trc_view_remove(struct trc_fold *f, struct trc_view *view)
{
	if (!view)
		return;
	f->view[view->number] = NULL;
	f->n_all_waits_views -= view->options.kind == TRC_VIEW_BLOCK && view->options.all_waits;
	if (view->options.kind == TRC_VIEW_HEAP && !--f->n_heap_views)
		trc_fold_live_forget(f);
	trc_view_unmap(view);
}

int trc_view_copy(struct trc_fold *f, struct trc_view *view, uint64_t until,
		  struct trc_folded **out)
{
	struct trc_view *copy;
	int err;

	merge_upto(f, until);
	trc_fold_locks_pass(f, f->merged);
	err = trc_view_map(&copy, view);
	if (err)
		return err;
	trc_fold_table_copy(&copy->rows, &view->rows);
	copy->end = f->merged > view->begin ? f->merged : view->begin;
	if (view->options.kind == TRC_VIEW_BLOCK) {
		trc_fold_waits_so_far(f, copy);
		if (!view->options.all_waits)
			trc_fold_fibers_so_far(f, copy);
	}
	err = trc_folded_make(f, copy, out);
	trc_view_unmap(copy);
	return err;
}

static int copy_live(struct trc_fold *f, const struct trc_view_options *options, uint64_t until,
		     struct trc_folded **out)
{
	struct trc_view *view;
	int err = trc_view_add(f, &view, options, until);

	if (err)
		return err;
	err = trc_view_copy(f, view, until, out);
	trc_view_remove(f, view);
	return err;
}

int trc_heap_copy(struct trc_fold *f, struct trc_view *since, uint64_t rate, uint64_t until,
		  struct trc_folded *out[2], unsigned int *n)
{
	struct trc_view_options options = {
		.kind = TRC_VIEW_HEAP, .rate = rate, .live = true, .seed = until};
	int err = 0;

	*n = 0;
	if (since) { /* first: what comes up to now is in its window, and in no other */
		err = trc_view_copy(f, since, until, &out[0]);
		*n += !err;
		options.seed = since->options.seed; /* they are thinned as one */
		options.live_before = since->begin ? since->begin : 1;
	}
	if (!err)
		err = copy_live(f, &options, until, &out[*n]);
	*n += !err;
	return err;
}

void trc_fold_leave_out(struct trc_fold *f, enum trc_view_kind kind, uint64_t time)
{
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		struct trc_view *view = trc_fold_view(f, i, kind);

		if (view && time >= view->begin)
			view->left_out++;
	}
}
