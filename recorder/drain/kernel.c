/* kernel.c - merges the kernel's records into the events of a mapping: which thread runs on which
 * proc, and where threads are when a counter overflows. */
#include <string.h>
#include "private.h"
#include "perf_buffer.h"

/* A row in the stream of the record's proc; NULL if the writer takes no more. */
static void *row(struct trc_drain *d, const struct trc_perf_record *r, uint8_t kind,
		 uint32_t thread)
{
	if (d->past.used)
		trc_drain_past_named(d, thread);
	d->totals.events++;
	d->unflushed++;
	return trc_drain_row(d, &d->kernel[r->proc], kind, thread, r->raw_ns);
}

static void row_done(struct trc_drain *d, const struct trc_perf_record *r, uint8_t kind,
		     uint32_t thread, const void *arg)
{
	trc_drain_row_done(d, &d->kernel[r->proc], kind, thread, r->raw_ns, arg);
}

static void add_switch(struct trc_drain *d, const struct trc_perf_record *r, uint32_t thread)
{
	uint8_t kind = r->out ? TRC_KIND_PROC_STOP : TRC_KIND_PROC_START;
	void *args;

	if (!thread) /* it ran before it was first seen, or never records */
		return;
	args = row(d, r, kind, thread);
	if (!args)
		return;
	if (r->out)
		*(struct trc_args_proc_stop *)args =
			(struct trc_args_proc_stop){.preempted = r->preempted};
	row_done(d, r, kind, thread, args);
}

/* The module epoch that was in force at that time; the first one if that is not known any more. */
static uint32_t epoch_of(const struct trc_drain *d, uint64_t raw_ns)
{
	const struct trc_epoch_slot *slot = trc_area(d->shared, d->h.epochs_off);
	uint32_t epoch = atomic_load_explicit(&d->shared->module_epoch, memory_order_relaxed);
	uint64_t ticks = trc_drain_ticks(d, raw_ns);

	for (uint32_t i = 0; epoch && i < d->h.n_epochs; i++, epoch--) {
		const struct trc_epoch_slot *at = &slot[epoch % d->h.n_epochs];
		uint64_t off = d->h.epochs_off + (epoch % d->h.n_epochs) * sizeof(*at);

		if (!trc_page_is_grown(d->shared, off / TRC_AREA_BYTES))
			continue;

		/* acquire: pairs with the release: its time is there.  An epoch that has no time
		 * yet is just beginning. */
		if (atomic_load_explicit(&at->epoch, memory_order_acquire) == epoch &&
		    atomic_load_explicit(&at->ticks, memory_order_relaxed) <= ticks)
			return epoch;
	}
	return 0;
}

void trc_drain_look_at_epoch(struct trc_drain *d)
{
	uint32_t epoch = atomic_load_explicit(&d->shared->module_epoch, memory_order_relaxed);

	if (d->epoch != epoch)
		trc_drain_kernel_modules_end(d);
	d->epoch = epoch;
}

static uint32_t record_event_number(const struct trc_perf_record *r)
{
	return r->event < TRC_CPU_EVENTS_MAX ? TRC_DRAIN_KERNEL_EVENT + r->event : 0;
}

static void add_loss(struct trc_drain *d, const struct trc_perf_record *r, uint32_t thread,
		     uint64_t lost, enum trc_sample_loss cause)
{
	struct trc_args_samples_lost *args = row(d, r, TRC_KIND_SAMPLES_LOST, thread);

	d->totals.lost_samples += lost;
	if (!args)
		return;
	*args = (struct trc_args_samples_lost){
		.event = record_event_number(r), .lost_samples = lost, .cause = cause};
	row_done(d, r, TRC_KIND_SAMPLES_LOST, thread, args);
}

/* ---- modules that only the kernel has met ----------------------------------------------- */

void trc_drain_kernel_modules_end(struct trc_drain *d)
{
	for (uint32_t i = 0; i < d->n_kernel_modules; i++) {
		struct trc_drain_kernel_module *m = &d->kernel_module[i];

		if (!m->ended)
			trc_writer_module_end(d->w, m->id, m->epoch + d->options.epoch_base);
		m->ended = true;
	}
}

void trc_drain_kernel_module_taken(struct trc_drain *d, uint32_t id)
{
	struct trc_drain_kernel_module *m = d->kernel_module;
	uint32_t i = 0;

	while (i < d->n_kernel_modules && m[i].id != id)
		i++;
	if (!id || i == d->n_kernel_modules)
		return;
	if (m[i].ended)
		trc_writer_module_end(d->w, id, UINT32_MAX);
	memmove(m + i, m + i + 1, (--d->n_kernel_modules - i) * sizeof(*m));
}

/* The process's own table explains this address (modules:M1). */
static bool kernel_thread_is_known(const struct trc_drain *d, uint64_t address, uint32_t epoch)
{
	const struct trc_module_slot *slot = trc_area(d->shared, d->h.modules_off);
	uint32_t n = atomic_load_explicit(&d->shared->n_modules_used, memory_order_relaxed);

	for (uint32_t i = 0; i < n && i < d->h.n_modules; i++)
		if (d->module_id[i] && d->module_state[i] == slot[i].state &&
		    address >= slot[i].start && address < slot[i].limit &&
		    slot[i].first_epoch <= epoch &&
		    atomic_load_explicit(&slot[i].last_epoch, memory_order_relaxed) >= epoch)
			return true;
	return false;
}

static struct trc_drain_kernel_module *kernel_module_add(struct trc_drain *d)
{
	const uint32_t half = TRC_DRAIN_KERNEL_MODULES / 2;

	if (d->n_kernel_modules == TRC_DRAIN_KERNEL_MODULES) {
		for (uint32_t i = 0; i < half; i++)
			if (!d->kernel_module[i].ended)
				trc_writer_module_end(d->w, d->kernel_module[i].id,
						      d->kernel_module[i].epoch +
							      d->options.epoch_base);
		memmove(d->kernel_module, d->kernel_module + half,
			half * sizeof(*d->kernel_module));
		d->n_kernel_modules = half;
	}
	return &d->kernel_module[d->n_kernel_modules++];
}

/* As the file has it: what is there in the epoch that is in force is still loaded. */
static uint32_t last_epoch(const struct trc_drain *d, uint32_t epoch)
{
	return epoch == d->epoch ? UINT32_MAX : epoch + d->options.epoch_base;
}

static void write_module(struct trc_drain *d, const struct trc_perf_mapping *mapping,
			 uint32_t epoch)
{
	struct trc_drain_kernel_module *m = kernel_module_add(d);
	struct trc_module_entry entry = {
		.start = mapping->start,
		.limit = mapping->limit,
		.file_offset = mapping->file_offset,
		.load_bias = trc_perf_mapping_bias(mapping),
		.first_epoch = epoch + d->options.epoch_base,
		.last_epoch = last_epoch(d, epoch),
		.path = mapping->path,
		.build_id_bytes = mapping->build_id_bytes,
	};

	memcpy(entry.build_id, mapping->build_id, sizeof(mapping->build_id));
	*m = (struct trc_drain_kernel_module){
		.start = mapping->start,
		.limit = mapping->limit,
		.mapped_ns = mapping->raw_ns,
		.first_epoch = epoch,
		.epoch = epoch,
		.ended = epoch != d->epoch,
		.id = trc_writer_module(d->w, &entry),
	};
}

/* It is still there, in a later epoch: so it was in those between, and the file is told the new
 * end unless it knows none. */
static void move_end(struct trc_drain *d, struct trc_drain_kernel_module *m, uint32_t epoch)
{
	m->epoch = epoch;
	if (!m->ended)
		return;
	m->ended = epoch != d->epoch;
	trc_writer_module_end(d->w, m->id, last_epoch(d, epoch));
}

static void note_module(struct trc_drain *d, const struct trc_perf_mapping *mapping, uint32_t epoch)
{
	bool beneath = false; /* a later mapping has taken some of its place since */

	if (!*mapping->path)
		return;
	for (uint32_t i = d->n_kernel_modules; i-- > 0;) {
		struct trc_drain_kernel_module *m = &d->kernel_module[i];

		if (m->start != mapping->start || m->mapped_ns != mapping->raw_ns) {
			beneath |= m->mapped_ns > mapping->raw_ns && m->start < mapping->limit &&
				   m->limit > mapping->start;
		} else if (epoch >= m->first_epoch && (epoch <= m->epoch || !beneath)) {
			if (epoch > m->epoch)
				move_end(d, m, epoch);
			return;
		}
	}
	write_module(d, mapping, epoch);
}

static void note_modules(struct trc_drain *d, const struct trc_perf_record *r, uint32_t epoch,
			 uint32_t stack)
{
	uint32_t *looked_at = &d->stack_looked_at[stack % TRC_DRAIN_STACKS_LOOKED_AT];

	/* One may stand for many, each with another module there. */
	bool any = !epoch && d->epoch >= d->h.n_epochs;

	if (!r->maps || !stack || *looked_at == stack || any)
		return;
	*looked_at = stack;
	for (uint32_t i = 0; i < r->n_frames; i++) {
		uint64_t address = r->frame[i] - 1;
		const struct trc_perf_mapping *mapping;

		if (kernel_thread_is_known(d, address, epoch))
			continue;
		mapping = trc_perf_maps_find(r->maps, r->pid, address, r->raw_ns);
		if (mapping && trc_perf_maps_is_sure(r->maps, mapping, r->raw_ns))
			note_module(d, mapping, epoch);
	}
}

/* ---- samples --------------------------------------------------------------------------- */

static void kernel_add_sample(struct trc_drain *d, const struct trc_perf_record *r, uint32_t thread)
{
	uint32_t stack, epoch = epoch_of(d, r->raw_ns);
	uint64_t value;
	struct trc_args_sample *args;

	if (!thread) {
		add_loss(d, r, 0, 1, TRC_SAMPLE_LOSS_NO_THREAD);
		return;
	}
	value = trc_drain_kernel_value(d, r, thread);
	if (!value)
		return;
	if (!d->windowed)
		trc_drain_make_room(d);
	d->had_room = false;
	stack = trc_writer_stack(d->w, epoch + d->options.epoch_base, r->frame, r->n_frames);
	note_modules(d, r, epoch, stack);
	args = row(d, r, TRC_KIND_SAMPLE, thread);
	d->totals.samples++;
	if (!args)
		return;
	*args = (struct trc_args_sample){
		.event = record_event_number(r),
		.value = value,
		.period = r->period,
		.stack = stack,
		.labels = 0, /* the thread's, at that time: for the reader to find */
	};
	row_done(d, r, TRC_KIND_SAMPLE, thread, args);
}

void trc_drain_kernel(struct trc_drain *d, const struct trc_perf_record *r)
{
	struct trc_drain_stream *s;
	uint64_t ticks;

	if (r->proc >= d->h.n_procs || r->raw_ns < d->h.start.monotonic_raw_ns)
		return;
	s = &d->kernel[r->proc];
	if (r->raw_ns > s->last_time)
		s->last_time = r->raw_ns;
	s->seen = true;
	ticks = trc_drain_ticks(d, r->raw_ns);
	if (ticks - d->from > d->span)
		return;
	switch (r->what) {
	case TRC_PERF_SWITCH:
		add_switch(d, r, trc_drain_thread(d, r->tid, ticks));
		break;
	case TRC_PERF_LOST:
		trc_drain_gap(d, s, r->lost, 0, TRC_GAP_KERNEL);
		break;
	case TRC_PERF_SAMPLE:
		kernel_add_sample(d, r, trc_drain_thread(d, r->tid, ticks));
		break;
	case TRC_PERF_SAMPLES_LOST:
		add_loss(d, r, trc_drain_thread(d, r->tid, ticks), r->lost, r->cause);
		break;
	}
}

void trc_drain_procs(struct trc_drain *d, uint64_t raw_ns, uint32_t procs)
{
	struct trc_drain_stream *s = &d->kernel[0];
	struct trc_args_procs_change *args;

	if (raw_ns < d->h.start.monotonic_raw_ns || trc_drain_ticks(d, raw_ns) - d->from > d->span)
		return;
	if (raw_ns > s->last_time)
		s->last_time = raw_ns;
	args = trc_drain_row(d, s, TRC_KIND_PROCS_CHANGE, 0, raw_ns);
	if (args) {
		*args = (struct trc_args_procs_change){.procs = procs};
		trc_drain_row_done(d, s, TRC_KIND_PROCS_CHANGE, 0, raw_ns, args);
	}
	d->totals.events++;
	d->unflushed++;
}

void trc_drain_kernel_held(struct trc_drain *d, uint32_t proc, uint64_t raw_ns)
{
	if (proc < d->h.n_procs && raw_ns >= d->h.start.monotonic_raw_ns)
		d->kernel[proc].held = trc_drain_ticks(d, raw_ns);
}

bool trc_drain_kernel_seen(const struct trc_drain *d, uint32_t proc, uint64_t *held)
{
	*held = d->kernel[proc].held;
	return d->kernel[proc].seen;
}

void trc_drain_kernel_events(struct trc_drain *d, const struct trc_sample_event_entry *entry,
			     uint32_t n)
{
	d->kernel_event = entry;
	d->n_kernel_events = n < TRC_CPU_EVENTS_MAX ? n : TRC_CPU_EVENTS_MAX;
	d->kernel_events_told = !n;
}

uint32_t trc_drain_kernel_entries(const struct trc_drain *d,
				  struct trc_sample_event_entry entry[TRC_CPU_EVENTS_MAX])
{
	for (uint32_t i = 0; i < d->n_kernel_events; i++) {
		entry[i] = d->kernel_event[i];
		entry[i].event = TRC_DRAIN_KERNEL_EVENT + i;
	}
	return d->n_kernel_events;
}
