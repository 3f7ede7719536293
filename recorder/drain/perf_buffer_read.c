/* perf_buffer_read.c - the kernel's buffers: passes over them, and copies of them
 * (perf_buffer.h). */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include "format/now.h"
#include "format/pages.h"
#include "format/raw.h"
#include "perf_buffer_private.h"

static void copy_out(const struct trc_perf *p, const struct trc_perf_buffer *b, uint64_t at,
		     void *bytes, size_t n_bytes)
{
	trc_perf_copy_out((const char *)b->page + p->page_bytes, p->data_bytes, at, bytes, n_bytes);
}

/* Where the first bytes of a record are: in the buffer itself unless it wraps there. */
static const char *record_at(struct trc_perf *p, const struct trc_perf_buffer *b, uint64_t at,
			     size_t n_bytes)
{
	const char *data = (const char *)b->page + p->page_bytes;
	uint64_t off = at & (p->data_bytes - 1);

	if (n_bytes <= p->data_bytes - off)
		return data + off;
	copy_out(p, b, at, p->record, n_bytes);
	return p->record;
}

static bool is_loss(const struct trc_perf_record *r)
{
	return r->what == TRC_PERF_LOST ||
	       (r->what == TRC_PERF_SAMPLES_LOST && r->event == TRC_PERF_ANY_EVENT);
}

static void hand_out(struct trc_perf *p, uint32_t proc, uint64_t *last_ns,
		     struct trc_perf_record *r, trc_perf_fn *fn, void *context)
{
	r->proc = proc;
	if (r->raw_ns < *last_ns) /* perf_buffer:V1 */
		r->raw_ns = *last_ns;
	*last_ns = r->raw_ns;
	/* The record does not say what was lost; the counters do. */
	if (is_loss(r) && p->tells_lost)
		trc_perf_look_at_losses(p, proc, r->raw_ns, fn, context);
	else
		fn(context, r);
}

/* The record at `at`, of *record_bytes, which may be cut to *n_bytes; NULL: the kernel writes no such
 * thing. */
static const char *next_record(struct trc_perf *p, const struct trc_perf_buffer *b, uint64_t at,
			       uint64_t head, uint64_t *record_bytes, size_t *n_bytes)
{
	struct perf_event_header header;

	memcpy(&header, record_at(p, b, at, sizeof(header)), sizeof(header));
	if (header.size < sizeof(header) || header.size > head - at)
		return NULL;
	*record_bytes = header.size;
	*n_bytes = header.size < sizeof(p->record) ? header.size : sizeof(p->record);
	return record_at(p, b, at, *n_bytes);
}

/* perf_deferred:D1. */
static void chains_look(struct trc_perf *p)
{
	if (!p->defers)
		return;
	trc_perf_chains_begin(&p->chains);
	for (uint32_t i = 0; i < p->n_procs; i++) {
		const struct trc_perf_buffer *b = &p->buffer[i];
		uint64_t at = b->page ? b->page->data_tail : 0, bytes;
		/* acquire: as in buffer_read_pass(). */
		uint64_t head =
			b->page ? __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE) : 0;
		const char *record;
		size_t n_bytes;

		for (; at < head && (record = next_record(p, b, at, head, &bytes, &n_bytes));
		     at += bytes)
			trc_perf_chains_note(p, i, at, record, n_bytes);
	}
}

/* From *tail on, which moves past what was handed out. */
static uint64_t buffer_read_pass(struct trc_perf *p, uint32_t proc, uint64_t until_ns, bool room,
				 trc_perf_fn *fn, void *context, uint64_t *tail_out)
{
	struct trc_perf_buffer *b = &p->buffer[proc];
	/* acquire: pairs with the kernel's store: the records below head are complete. */
	uint64_t head = __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = *tail_out, n = 0, record_bytes;

	while (tail < head) {
		struct trc_perf_record r;
		bool full = room && head - tail > p->data_bytes / 2; /* perf_buffer:V2 */
		size_t n_bytes;
		const char *record = next_record(p, b, tail, head, &record_bytes, &n_bytes);

		if (!record || (p->defers && !full &&
				trc_perf_chain_ns(p, record, n_bytes) > until_ns)) /* D3 */
			break;
		if (trc_perf_record_read(p, proc, record, n_bytes, &r)) {
			if (r.raw_ns > until_ns && !full)
				break;
			hand_out(p, proc, &b->last_ns, &r, fn, context);
			n++;
		}
		tail += record_bytes;
	}
	*tail_out = tail;
	return n;
}

static void buffer_free(struct trc_perf_buffer *b, uint64_t tail)
{
	/* release: we are done with the bytes below tail. */
	__atomic_store_n(&b->page->data_tail, tail, __ATOMIC_RELEASE);
}

/* ---- losses, and shares of counters ---------------------------------------------------- */

/* What read() of a counter fills in, by attr_of_event(). */
struct reading {
	uint64_t enabled_ns, running_ns, lost;
};

static bool counter_read(const struct trc_perf *p, const struct trc_perf_counter *c,
			 struct reading *r)
{
	bool shares = c->event != TRC_PERF_ANY_EVENT && p->event[c->event].is_hardware;
	uint64_t word[4];
	size_t n_words = 1u + 2u * shares + p->tells_lost;
	long n = trc_raw3(SYS_read, c->fd, word, sizeof(word));

	if (n < 0 || (size_t)n != n_words * sizeof(*word))
		return false;
	*r = (struct reading){.lost = p->tells_lost ? word[n_words - 1] : 0};
	if (shares) {
		r->enabled_ns = word[1];
		r->running_ns = word[2];
	}
	return true;
}

static void tell_record_loss(const struct trc_perf *p, uint32_t proc, uint32_t event,
			     uint64_t raw_ns, uint64_t lost, trc_perf_fn *fn, void *context)
{
	struct trc_perf_record r = {
		.what = event == TRC_PERF_ANY_EVENT ? TRC_PERF_LOST : TRC_PERF_SAMPLES_LOST,
		.raw_ns = raw_ns,
		.proc = proc,
		.event = event,
		.lost = lost,
		.cause = TRC_SAMPLE_LOSS_NO_ROOM,
	};

	if (lost && (r.what != TRC_PERF_LOST || p->switches))
		fn(context, &r);
}

static uint64_t new_losses(const struct trc_perf *p, const struct trc_perf_counter *c,
			   uint64_t *lost_seen)
{
	struct reading r;
	uint64_t lost;

	if (!counter_read(p, c, &r) || r.lost <= *lost_seen)
		return 0;
	lost = r.lost - *lost_seen;
	*lost_seen = r.lost;
	return lost;
}

void trc_perf_look_at_losses(struct trc_perf *p, uint32_t proc, uint64_t raw_ns, trc_perf_fn *fn,
			     void *context)
{
	struct trc_perf_buffer *b = &p->buffer[proc];
	const struct trc_perf_counter own = {.fd = b->fd, .event = TRC_PERF_ANY_EVENT};
	uint64_t samples[TRC_CPU_EVENTS_MAX] = {0};
	uint64_t switches = new_losses(p, &own, &b->lost_seen);

	for (uint32_t i = 0; i < p->n_counters; i++) {
		struct trc_perf_counter *c = &p->counter[i];
		uint64_t lost = c->proc == proc ? new_losses(p, c, &c->lost_seen) : 0;

		if (c->event == TRC_PERF_ANY_EVENT)
			switches += lost;
		else
			samples[c->event] += lost;
	}
	tell_record_loss(p, proc, TRC_PERF_ANY_EVENT, raw_ns, switches, fn, context);
	for (uint32_t e = 0; e < p->n_events; e++)
		tell_record_loss(p, proc, e, raw_ns, samples[e], fn, context);
}

/* Each counter is enabled while its thread runs anywhere, and runs on its own proc only: what one of
 * a thread's was enabled for all of them together may have run. */
void trc_perf_look_at_shares(struct trc_perf *p)
{
	uint64_t enabled_ns[TRC_CPU_EVENTS_MAX] = {0}, running_ns[TRC_CPU_EVENTS_MAX] = {0};
	uint32_t n_online = 0;

	for (uint32_t i = 0; i < p->n_procs; i++)
		n_online += p->buffer[i].page != NULL;
	for (uint32_t i = 0; i < p->n_counters; i++) {
		const struct trc_perf_counter *c = &p->counter[i];
		struct reading r;

		if (c->event == TRC_PERF_ANY_EVENT || !p->event[c->event].is_hardware ||
		    !counter_read(p, c, &r))
			continue;
		enabled_ns[c->event] += r.enabled_ns / n_online;
		running_ns[c->event] += r.running_ns;
	}
	for (uint32_t e = 0; e < p->n_events; e++) {
		struct trc_perf_share *s = &p->share[e];

		s->new_enabled_ns = enabled_ns[e] - s->enabled_ns;
		s->new_running_ns = running_ns[e] - s->running_ns;
		s->enabled_ns = enabled_ns[e];
		s->running_ns = running_ns[e];
	}
}

uint32_t trc_perf_counted_percent(const struct trc_perf *p, uint32_t event)
{
	const struct trc_perf_share *s = &p->share[event];

	if (!s->enabled_ns || s->running_ns >= s->enabled_ns)
		return 100;
	return (uint32_t)((unsigned __int128)s->running_ns * 100 / s->enabled_ns);
}

/* ---- flight mode (perf_buffer:V4) ----------------------------------------------------- */

/* Of the least records that there are. */
static uint64_t record_bytes_min(const struct trc_perf *p)
{
	return sizeof(struct perf_event_header) + p->id_bytes;
}

/* Finds the records of a copy, which ends where the kernel had begun to overwrite one. */
static void read_copy_index(struct trc_perf *p, uint32_t proc, const char *copy,
			    uint64_t copy_bytes, bool overwritten, uint32_t *record_off)
{
	struct trc_perf_buffer *b = &p->buffer[proc];
	struct trc_perf_record r;
	uint64_t at = 0;

	b->copy = copy;
	b->record_off = record_off;
	b->n_records = 0;
	b->oldest_ns = 0;
	while (copy_bytes - at >= record_bytes_min(p)) {
		struct perf_event_header header;

		memcpy(&header, copy + at, sizeof(header));
		if (header.size < record_bytes_min(p) || header.size > copy_bytes - at)
			break;
		record_off[b->n_records++] = (uint32_t)at;
		if (overwritten && trc_perf_record_read(p, proc, copy + at, header.size, &r))
			b->oldest_ns = r.raw_ns;
		at += header.size;
	}
}

/* acquire: pairs with the kernel's store: the records from head on are complete. */
static uint64_t head_of(const struct trc_perf_buffer *b)
{
	return __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE);
}

/* From where it is now back to `since`: it counts down, from 0. */
static uint64_t buffer_copy(struct trc_perf *p, uint32_t proc, uint64_t since, char *copy)
{
	struct trc_perf_buffer *b = &p->buffer[proc];
	uint64_t head, n_bytes;

	trc_raw3(SYS_ioctl, b->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	head = head_of(b);
	n_bytes = since - head < p->data_bytes ? since - head : p->data_bytes;
	copy_out(p, b, head, copy, (size_t)n_bytes);
	trc_raw3(SYS_ioctl, b->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	read_copy_index(p, proc, copy, n_bytes, since - head > p->data_bytes,
			(uint32_t *)(copy + p->data_bytes));
	return head;
}

void trc_perf_heads(const struct trc_perf *p, uint64_t *head)
{
	for (uint32_t i = 0; i < p->n_procs; i++)
		head[i] = p->buffer[i].page ? head_of(&p->buffer[i]) : 0;
}

int trc_perf_copy(struct trc_perf *p)
{
	return trc_perf_copy_since(p, NULL);
}

int trc_perf_copy_since(struct trc_perf *p, uint64_t *since)
{
	/* The copy of a buffer, then an offset for each record of the least size. */
	uint64_t n_records = p->data_bytes / record_bytes_min(p) + 1;
	uint64_t one_bytes = p->data_bytes + (n_records * sizeof(uint32_t) + 7) / 8 * 8;

	if (!p->copies) {
		p->copies_bytes = one_bytes * p->n_procs;
		p->copies = trc_pages_map(p->copies_bytes);
	}
	if (!p->copies)
		return -ENOMEM;
	trc_perf_look_at_shares(p);
	trc_perf_look_at_maps(p);
	p->is_more = since != NULL;
	for (uint32_t i = 0; i < p->n_procs; i++) {
		uint64_t head = 0;

		if (p->buffer[i].page)
			head = buffer_copy(p, i, since ? since[i] : 0,
					   (char *)p->copies + i * one_bytes);
		if (since)
			since[i] = head;
	}
	return 0;
}

void trc_perf_look(struct trc_perf *p)
{
	trc_perf_look_at_maps(p);
}

uint64_t trc_perf_oldest_ns(const struct trc_perf *p, uint32_t proc)
{
	return proc < p->n_procs ? p->buffer[proc].oldest_ns : 0;
}

static uint64_t copy_newest(struct trc_perf *p, uint32_t proc, uint32_t pid)
{
	const struct trc_perf_buffer *b = &p->buffer[proc];

	for (uint32_t i = 0; i < b->n_records; i++) {
		const char *bytes = b->copy + b->record_off[i];
		struct perf_event_header header;
		struct trc_perf_record r;

		memcpy(&header, bytes, sizeof(header));
		if (trc_perf_record_read(p, proc, bytes, header.size, &r) && r.pid == pid)
			return r.raw_ns;
	}
	return 0;
}

uint64_t trc_perf_newest_ns(struct trc_perf *p, uint32_t pid)
{
	uint64_t newest_ns = 0;

	for (uint32_t i = 0; i < p->n_procs; i++) {
		uint64_t ns = copy_newest(p, i, pid);

		newest_ns = ns > newest_ns ? ns : newest_ns;
	}
	return newest_ns;
}

/* perf_deferred:D1, of the copies. */
static void copy_chains_look(struct trc_perf *p)
{
	if (!p->defers)
		return;
	trc_perf_chains_begin(&p->chains);
	for (uint32_t i = 0; i < p->n_procs; i++) {
		const struct trc_perf_buffer *b = &p->buffer[i];

		for (uint32_t k = 0; k < b->n_records; k++) {
			const char *bytes = b->copy + b->record_off[k];
			struct perf_event_header header;

			memcpy(&header, bytes, sizeof(header));
			trc_perf_chains_note(p, i, b->record_off[k], bytes, header.size);
		}
	}
}

static uint64_t copy_pass(struct trc_perf *p, uint32_t proc, trc_perf_fn *fn, void *context)
{
	struct trc_perf_buffer *b = &p->buffer[proc];
	uint64_t last_ns = 0, n = 0;

	if (!p->is_more)
		memset(b->stopped, 0, sizeof(b->stopped));
	for (uint32_t i = b->n_records; i-- > 0;) {
		const char *bytes = b->copy + b->record_off[i];
		struct perf_event_header header;
		struct trc_perf_record r;

		memcpy(&header, bytes, sizeof(header));
		if (!trc_perf_record_read(p, proc, bytes, header.size, &r))
			continue;
		hand_out(p, proc, &last_ns, &r, fn, context);
		n++;
	}
	return n;
}

/* ---- both ------------------------------------------------------------------------------ */

static bool may_share_counters(const struct trc_perf *p)
{
	for (uint32_t e = 0; e < p->n_events; e++)
		if (p->event[e].is_hardware)
			return true;
	return false;
}

uint64_t trc_perf_pass_until(struct trc_perf *p, uint64_t until_ns, bool room, trc_perf_fn *fn,
			     void *context)
{
	uint64_t n = 0;

	if (may_share_counters(p))
		trc_perf_look_at_shares(p);
	trc_perf_look_at_maps(p);
	chains_look(p);
	for (uint32_t i = 0; i < p->n_procs; i++) {
		struct trc_perf_buffer *b = &p->buffer[i];

		if (!b->page)
			continue;
		b->tail = b->page->data_tail;
		n += buffer_read_pass(p, i, until_ns, room, fn, context, &b->tail);
		if (!p->defers)
			buffer_free(b, b->tail);
		/* What no record has told of yet. */
		if (!room && p->tells_lost && p->n_events)
			trc_perf_look_at_losses(p, i, b->last_ns, fn, context);
	}
	for (uint32_t i = 0; p->defers && i < p->n_procs; i++) /* perf_deferred:D1 */
		if (p->buffer[i].page)
			buffer_free(&p->buffer[i], p->buffer[i].tail);
	return n;
}

uint64_t trc_perf_pass(struct trc_perf *p, bool all, trc_perf_fn *fn, void *context)
{
	uint64_t n = 0;

	if (!p->flight)
		return trc_perf_pass_until(
			p, all ? UINT64_MAX : trc_now_ns(CLOCK_MONOTONIC_RAW) - TRC_PERF_HOLD_NS,
			!all, fn, context);
	copy_chains_look(p);
	for (uint32_t i = 0; i < p->n_procs; i++)
		n += copy_pass(p, i, fn, context);
	return n;
}
