/* threads.c - the threads of a mapping: which thread had which tid, the threads' slots, labels and
 * fibers. */
#include <string.h>
#include "format/pages.h"
#include "recorder/shared/slot_look.h"
#include "private.h"

enum { TIDS_MAX = 1 << 17 };

/* ---- who had which tid ----------------------------------------------------------------- */

static struct trc_tid_entry *tid_find(struct trc_tid_entry *entry, uint32_t mask, uint32_t tid)
{
	uint32_t i = (uint32_t)trc_drain_hash(tid) & mask;

	while (entry[i].tid && entry[i].tid != tid)
		i = (i + 1) & mask;
	return &entry[i];
}

static void slots_enter_tids(struct trc_drain *d);

static void tids_move(struct trc_tid_entry *to, uint32_t to_mask, const struct trc_tid_entry *from,
		      uint32_t mask)
{
	for (uint64_t i = 0; i <= mask; i++)
		if (from[i].tid)
			*tid_find(to, to_mask, from[i].tid) = from[i];
}

/* Twice the room for both generations.  False if it cannot be had. */
static bool tids_grow(struct trc_tid_map *map)
{
	uint32_t mask = 2 * map->mask + 1;
	size_t n_bytes = (mask + UINT64_C(1)) * sizeof(*map->entry);
	struct trc_tid_entry *larger = mask < TIDS_MAX ? trc_pages_map(2 * n_bytes) : NULL;

	if (!larger)
		return false;
	tids_move(larger, mask, map->entry, map->mask);
	tids_move(larger + mask + 1, mask, map->before, map->mask);
	trc_drain_tids_free(map);
	map->pages = map->entry = larger;
	map->pages_bytes = 2 * n_bytes;
	map->before = larger + mask + 1;
	map->mask = mask;
	return true;
}

void trc_drain_tids_free(struct trc_tid_map *map)
{
	trc_pages_unmap(map->pages, map->pages_bytes);
}

/* Makes room: the older generation goes, but not what came in this pass. */
static void tids_pass_on(struct trc_drain *d)
{
	struct trc_tid_map *map = &d->tids;
	struct trc_tid_entry *full = map->entry;

	if (map->since == d->looked && tids_grow(map))
		return;
	map->since = d->looked;
	map->entry = map->before;
	map->before = full;
	map->used = 0;
	memset(map->entry, 0, (map->mask + UINT64_C(1)) * sizeof(*map->entry));
	slots_enter_tids(d);
}

static struct trc_tid_entry *tid_enter(struct trc_drain *d, uint32_t tid)
{
	struct trc_tid_map *map = &d->tids;
	struct trc_tid_entry *e = tid_find(map->entry, map->mask, tid);

	if (e->tid)
		return e;
	if (map->used > map->mask / 4 * 3) {
		tids_pass_on(d);
		e = tid_find(map->entry, map->mask, tid);
		if (e->tid)
			return e;
	}
	map->used++;
	*e = *tid_find(map->before, map->mask, tid);
	e->tid = tid;
	return e;
}

/* Serials count up, so that the larger one is the later owner. */
void trc_drain_tid_enter(struct trc_drain *d, uint32_t tid, uint32_t serial, uint64_t start,
			 uint64_t end)
{
	struct trc_tid_entry *e;

	if (!tid || !serial)
		return;
	e = tid_enter(d, tid);
	if (serial > e->serial) {
		e->before_serial = e->serial;
		e->before_end = start;
		e->before_ended = e->ended;
		e->serial = serial;
		e->start = start;
		e->ended = end;
		e->counts = 0;
		e->first_lacks = 0;
	} else if (serial == e->serial) {
		e->ended = end ? end : e->ended;
	} else if (serial >= e->before_serial) {
		e->before_serial = serial;
		e->before_end = end ? end : e->start;
		e->before_ended = end;
	}
}

static struct trc_tid_entry *tid_entry(const struct trc_drain *d, uint32_t tid)
{
	struct trc_tid_entry *e = tid_find(d->tids.entry, d->tids.mask, tid);

	return e->tid ? e : tid_find(d->tids.before, d->tids.mask, tid);
}

bool trc_drain_tid_is_settled(const struct trc_drain *d, uint32_t tid, uint64_t ticks)
{
	const struct trc_tid_entry *e = tid_entry(d, tid);

	if (e->serial && ticks >= e->start)
		return !e->ended || ticks <= e->ended;
	return e->before_serial && ticks <= e->before_ended;
}

uint32_t trc_drain_thread(struct trc_drain *d, uint32_t tid, uint64_t ticks)
{
	const struct trc_tid_entry *e;

	if (!tid)
		return 0;
	e = tid_entry(d, tid);
	return e->before_serial && ticks < e->start && ticks <= e->before_end ? e->before_serial
									      : e->serial;
}

void trc_drain_tid_lacks(struct trc_drain *d, const struct trc_slot_copy *copy)
{
	struct trc_tid_entry *e = tid_entry(d, copy->tid);

	if (e->tid && e->serial == trc_drain_serial(d, copy->serial))
		e->first_lacks = copy->first_lacks;
}

uint64_t *trc_drain_tid_counts(struct trc_drain *d, uint32_t tid, uint32_t serial, uint64_t since,
			       uint32_t i)
{
	struct trc_tid_entry *e = tid_entry(d, tid);

	return e->tid && e->serial == serial && e->start >= since && !(e->first_lacks >> i & 1)
		       ? &e->counts
		       : NULL;
}

/* ---- slots of threads ------------------------------------------------------------------ */

static void thread_slot_load(struct trc_slot *slot, struct trc_slot_copy *copy)
{
#define LOAD(field) atomic_load_explicit(&slot->field, memory_order_relaxed)
	copy->serial = LOAD(serial);
	copy->tid = LOAD(tid);
	copy->creator = LOAD(creator);
	copy->reason = LOAD(wait_reason);
	copy->start = LOAD(start);
	copy->end = LOAD(end);
	copy->object = LOAD(wait_object);
	copy->since = LOAD(wait_since);
	copy->stack = LOAD(wait_stack);
	copy->holder = LOAD(wait_holder);
	copy->from.pc = LOAD(wait_pc);
	copy->from.sp = LOAD(wait_sp);
	copy->from.fp = LOAD(wait_fp);
	copy->last_stack = LOAD(last_stack);
	copy->last_ticks = LOAD(last_ticks);
	copy->last_is_sample = LOAD(last_is_sample);
	copy->first_lacks = LOAD(first_lacks);
	copy->labels = LOAD(labels);
	copy->creation = LOAD(creation_stack);
	copy->fiber = LOAD(fiber);
	copy->fiber_name = LOAD(fiber_name);
	copy->name_bytes = LOAD(name_bytes);
	for (size_t i = 0; i < TRC_THREAD_NAME_BYTES / 8; i++)
		copy->name[i] = LOAD(name[i]);
#undef LOAD
	if (copy->name_bytes > TRC_THREAD_NAME_BYTES)
		copy->name_bytes = 0;
}

/* One consistent look.  A thread that was stopped in the middle of a change is taken as it stands. */
static uint32_t slot_copy(struct trc_slot *slot, struct trc_slot_copy *copy)
{
	uint32_t seq = 0;

	for (int i = 0; i < TRC_SLOT_TRIES; i++) {
		seq = trc_slot_look(slot);
		thread_slot_load(slot, copy);
		if (trc_slot_same(slot, seq))
			break;
	}
	copy->seq = seq;
	return seq;
}

/* Those of the slots, of threads that recorded before now. */
static void slots_enter_tids(struct trc_drain *d)
{
	uint32_t n = trc_slots_used(d->shared, d->h.n_threads);

	for (uint32_t i = 0; i < n; i++) {
		struct trc_slot_copy copy;

		slot_copy(trc_slot_of(d, i), &copy);
		if (!trc_drain_serial(d, copy.serial))
			continue;
		trc_drain_tid_enter(d, copy.tid, copy.serial, copy.start, copy.end);
		trc_drain_tid_lacks(d, &copy);
	}
}

void trc_drain_slot_copy(const struct trc_drain *d, uint32_t i, struct trc_slot_copy *copy)
{
	struct trc_slot *slot = trc_slot_of(d, i);

	copy->slot = i;
	copy->seq = atomic_load_explicit(&slot->seq, memory_order_relaxed);
	thread_slot_load(slot, copy);
}

void trc_drain_thread_write(struct trc_drain *d, const struct trc_slot_copy *copy, uint64_t end)
{
	struct trc_thread_entry entry = {
		.serial = trc_drain_serial(d, copy->serial),
		.tid = copy->tid,
		.creator = trc_drain_serial(d, copy->creator),
		.start = copy->start,
		.end = end,
		.name = (const char *)copy->name,
		.name_bytes = copy->name_bytes,
	};

	if (!entry.serial)
		return;
	if (entry.start < d->joined)
		entry.start = 0; /* before the trace */
	trc_drain_tid_enter(d, copy->tid, entry.serial, copy->start, end);
	trc_drain_tid_lacks(d, copy);
	trc_writer_thread(d->w, &entry);
	d->unflushed++;
}

/* A slot whose thread is gone.  In flight mode a snapshot may want to know it still: the next
 * thread in need of one takes it as it is. */
static void slot_done(struct trc_drain *d, struct trc_slot *slot, struct trc_drain_slot *seen,
		      const struct trc_slot_copy *copy)
{
	if (d->options.follow || trc_is_overwritten(d->shared)) {
		/* Without an end it is the next thread's already. */
		seen->ended = copy->end ? copy->serial : 0;
		return;
	}
	seen->serial = 0;
	/* release: pairs with the acquire of the thread that takes the slot next: we have read all
	 * of it. */
	atomic_store_explicit(&slot->state, TRC_SLOT_FREE, memory_order_release);
}

static void slot_visit(struct trc_drain *d, uint32_t i, uint32_t state)
{
	struct trc_slot *slot = trc_slot_of(d, i);
	struct trc_drain_slot *seen = &d->slot[i];
	struct trc_slot_copy copy;
	uint32_t seq;

	if (state == TRC_SLOT_LIVE &&
	    seen->seq == atomic_load_explicit(&slot->seq, memory_order_relaxed) &&
	    seen->serial == atomic_load_explicit(&slot->serial, memory_order_relaxed))
		return;
	seq = slot_copy(slot, &copy);
	if (!trc_drain_serial(d, copy.serial))
		return; /* it has come after this pass began: the next one will know its serial */
	if (state == TRC_SLOT_ENDED) {
		if (seen->ended != copy.serial && copy.end >= d->joined)
			trc_drain_thread_write(d, &copy, copy.end);
	} else if (seen->serial != copy.serial ||
		   memcmp(seen->name, copy.name, sizeof(seen->name)) != 0) {
		trc_drain_thread_write(d, &copy, 0);
	}
	trc_drain_tid_lacks(d, &copy);
	seen->serial = copy.serial;
	seen->seq = seq;
	memcpy(seen->name, copy.name, sizeof(seen->name));
	if (state == TRC_SLOT_ENDED)
		slot_done(d, slot, seen, &copy);
}

void trc_drain_slots(struct trc_drain *d)
{
	uint32_t n = trc_slots_used(d->shared, d->h.n_threads);

	for (uint32_t i = 0; i < n; i++) {
		/* acquire: pairs with the release of LIVE and ENDED: the slot is filled in. */
		uint32_t state =
			atomic_load_explicit(&trc_slot_of(d, i)->state, memory_order_acquire);

		if (state == TRC_SLOT_LIVE || state == TRC_SLOT_ENDED)
			slot_visit(d, i, state);
	}
}

void trc_drain_thread_seen(struct trc_drain *d, uint32_t serial, uint32_t tid, uint32_t creator,
			   uint64_t start)
{
	struct trc_thread_entry entry = {
		.serial = serial, .tid = tid, .creator = creator, .start = start, .name = ""};

	if (!serial || trc_drain_thread(d, tid, start) == serial)
		return; /* its slot told */
	trc_drain_tid_enter(d, tid, serial, start, 0);
	trc_writer_thread(d->w, &entry);
}

/* Calls fn for each thread that has not ended. */
static void each_live(struct trc_drain *d,
		      void (*fn)(struct trc_drain *, const struct trc_slot_copy *, void *),
		      void *context)
{
	uint32_t n = trc_slots_used(d->shared, d->h.n_threads);

	for (uint32_t i = 0; i < n; i++) {
		struct trc_slot_copy copy;

		/* acquire: pairs with the release in slot_fill(): the slot is filled in. */
		if (atomic_load_explicit(&trc_slot_of(d, i)->state, memory_order_acquire) !=
		    TRC_SLOT_LIVE)
			continue;
		slot_copy(trc_slot_of(d, i), &copy);
		copy.slot = i;
		fn(d, &copy, context);
	}
}

static void thread_end_write(struct trc_drain *d, const struct trc_slot_copy *copy, void *context)
{
	trc_drain_thread_write(d, copy, d->now);
}

void trc_drain_threads_end(struct trc_drain *d)
{
	each_live(d, thread_end_write, NULL);
}

/* What it waits for; nothing if it does not. */
static void thread_status(struct trc_drain *d, const struct trc_slot_copy *copy,
			  struct trc_status_entry *e)
{
	uint64_t holder = copy->holder;

	*e = (struct trc_status_entry){.thread = trc_drain_serial(d, copy->serial)};
	if (!copy->reason || copy->reason >= TRC_REASON_COUNT)
		return;
	e->reason = (uint8_t)copy->reason;
	e->holder = holder & TRC_THREAD_IS_TID ? trc_drain_thread(d, (uint32_t)holder, copy->since)
					       : trc_drain_serial(d, holder);
	e->object = copy->object;
	e->since = copy->since;
	e->stack = trc_drain_stack(d, copy->stack);
}

static void threads_add_status(struct trc_drain *d, const struct trc_slot_copy *copy, void *context)
{
	if (d->n_status < d->h.n_threads && trc_drain_serial(d, copy->serial))
		thread_status(d, copy, &d->status[d->n_status++]);
}

void trc_drain_tell_waits(struct trc_drain *d,
			  void (*tell)(void *context, const struct trc_writer *writer,
				       const struct trc_status_entry *wait),
			  void *context)
{
	trc_drain_make_room(d);
	trc_drain_see_serials(d);
	d->n_status = 0;
	each_live(d, threads_add_status, NULL);
	for (uint32_t i = 0; i < d->n_status; i++)
		if (d->status[i].reason)
			tell(context, d->w, &d->status[i]);
}

struct telling {
	void (*tell)(void *context, const struct trc_writer *writer,
		     const struct trc_drain_thread *thread);
	void *context;
};

static void tell_thread(struct trc_drain *d, const struct trc_slot_copy *copy, void *context)
{
	const struct telling *t = context;
	struct trc_drain_thread thread = {
		.tid = copy->tid,
		.creator = trc_drain_serial(d, copy->creator),
		.name = (const char *)copy->name,
		.name_bytes = copy->name_bytes,
	};

	if (!trc_drain_serial(d, copy->serial))
		return;
	trc_drain_make_room(d); /* what was told before is not cited any more */
	thread_status(d, copy, &thread.status);
	thread.last = trc_drain_stack(d, copy->last_stack);
	thread.last_ticks = copy->last_ticks;
	thread.last_is_sample = copy->last_is_sample;
	thread.seq = copy->seq;
	if (copy->reason && !copy->stack)
		thread.from = copy->from;
	thread.creation = trc_drain_stack(d, copy->creation);
	thread.labels = trc_drain_labels(d, copy->labels);
	t->tell(t->context, d->w, &thread);
}

void trc_drain_each_thread(struct trc_drain *d,
			   void (*tell)(void *context, const struct trc_writer *writer,
					const struct trc_drain_thread *thread),
			   void *context)
{
	struct telling telling = {tell, context};

	trc_drain_see_serials(d);
	each_live(d, tell_thread, &telling);
}

void trc_drain_status_found(struct trc_drain *d, struct trc_status_entry *e,
			    const struct trc_slot_copy *copy)
{
	uint32_t epoch = atomic_load_explicit(&d->shared->module_epoch, memory_order_relaxed);
	struct trc_wait_found f;

	if (!d->options.wait_find ||
	    !d->options.wait_find(d->options.wait_find_context, copy->slot, copy->seq, &f))
		return;
	if (f.n_frames && !copy->stack)
		e->stack =
			trc_writer_stack(d->w, epoch + d->options.epoch_base, f.frame, f.n_frames);
	if (f.n_bytes)
		e->descriptor = trc_writer_string(d->w, f.descriptor, f.n_bytes);
}

static void add_last_status(struct trc_drain *d, const struct trc_slot_copy *copy, void *context)
{
	uint32_t n = d->n_status;

	threads_add_status(d, copy, context);
	if (d->n_status > n && d->status[n].reason)
		trc_drain_status_found(d, &d->status[n], copy);
}

void trc_drain_status(struct trc_drain *d)
{
	d->n_status = 0;
	each_live(d, add_last_status, NULL);
	trc_writer_status(d->w, d->status, d->n_status);
}

/* ---- labels and fibers of threads ------------------------------------------------------ */

void trc_drain_thread_labels_add(struct trc_drain *d, uint32_t thread, uint32_t labels)
{
	if (thread && labels && d->n_thread_labels < d->h.n_threads)
		d->thread_labels[d->n_thread_labels++] =
			(struct trc_thread_labels_entry){.thread = thread, .labels = labels};
}

void trc_drain_thread_fiber_add(struct trc_drain *d, uint32_t thread, uint64_t fiber, uint32_t name)
{
	if (thread && fiber && d->n_thread_fibers < d->h.n_threads)
		d->thread_fibers[d->n_thread_fibers++] = (struct trc_thread_fiber_entry){
			.thread = thread, .fiber = fiber, .name = name};
}

static void look_at_thread(struct trc_drain *d, const struct trc_slot_copy *copy)
{
	uint32_t thread = trc_drain_serial(d, copy->serial);

	trc_drain_thread_labels_add(d, thread, trc_drain_labels(d, copy->labels));
	if (copy->fiber)
		trc_drain_thread_fiber_add(d, thread, trc_drain_fiber(d, copy->fiber),
					   trc_drain_string(d, copy->fiber_name));
}

void trc_drain_look_at_threads(struct trc_drain *d)
{
	uint32_t n = trc_slots_used(d->shared, d->h.n_threads);

	trc_drain_see_serials(d);
	d->n_thread_labels = d->n_thread_fibers = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct trc_slot *slot = trc_slot_of(d, i);
		/* acquire: as in trc_drain_slots(). */
		uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
		struct trc_slot_copy copy;

		if (state != TRC_SLOT_LIVE && state != TRC_SLOT_ENDED)
			continue;
		slot_copy(slot, &copy);
		if (state == TRC_SLOT_LIVE || copy.end >= d->joined)
			look_at_thread(d, &copy);
	}
}

void trc_drain_threads_at_end(struct trc_drain *d)
{
	trc_writer_thread_labels(d->w, d->thread_labels, d->n_thread_labels);
	trc_writer_thread_fibers(d->w, d->thread_fibers, d->n_thread_fibers);
}
