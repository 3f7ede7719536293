/* perf_buffer_record.c - what one of the kernel's records says (perf_buffer.h). */
#include <string.h>
#include "perf_buffer_private.h"

/* ---- samples --------------------------------------------------------------------------- */

/* PERF_RECORD_SAMPLE, by attr_of_event(), up to its call chain; the counter's own words, which
 * come before n_frames where there are any, left out. */
struct sample {
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t raw_ns;
	uint64_t n_frames;
};

/* One frame more than there is room for: the last ones move up. */
static void push_outermost(uint64_t frame[TRC_STACK_DEPTH_MAX], uint64_t address)
{
	uint64_t *outermost = frame + TRC_STACK_DEPTH_MAX - TRC_STACK_OUTERMOST;

	outermost[-1] = TRC_FRAMES_ELIDED;
	memmove(outermost, outermost + 1, (TRC_STACK_OUTERMOST - 1) * sizeof(*outermost));
	outermost[TRC_STACK_OUTERMOST - 1] = address;
}

static uint64_t word_of(const char *chain, uint64_t i)
{
	uint64_t word;

	memcpy(&word, chain + i * sizeof(word), sizeof(word));
	return word;
}

/* The user's frames of a call chain, in which PERF_CONTEXT_ marks say whose follow.  It ends where
 * the kernel took something for a frame pointer that was none, or where it stops in any case, after
 * `max` frames; only then it is not whole. */
static uint32_t record_frames_take(struct trc_perf *p, const struct sample *s, const char *chain,
				   uint64_t n, uint32_t max)
{
	uint32_t n_frames = 0, n_all = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t address = word_of(chain, i);

		if (address == TRC_PERF_CONTEXT_DEFERRED) /* a cookie follows, which is no frame */
			i++;
		if (address >= (uint64_t)PERF_CONTEXT_MAX)
			continue;
		n_all++;
		if (n_frames &&
		    (!address || (p->maps && !trc_perf_maps_may_be_code(p->maps, s->pid,
									address - 1, s->raw_ns))))
			return n_frames;
		if (n_frames < TRC_STACK_DEPTH_MAX)
			p->frame[n_frames++] = address;
		else
			push_outermost(p->frame, address);
	}
	if (!n_frames || (n_all < max && n == s->n_frames))
		return n_frames;
	if (n_frames < TRC_STACK_DEPTH_MAX)
		n_frames++;
	p->frame[n_frames - 1] = TRC_FRAMES_ELIDED;
	return n_frames;
}

/* The same, also where the chain ends with the cookie of one that came later. */
static uint32_t take_chain(struct trc_perf *p, const struct sample *s, const char *chain,
			   uint64_t room)
{
	uint64_t n = s->n_frames < room ? s->n_frames : room, n_later;
	struct sample later = *s;

	if (p->defers && n >= 2 && word_of(chain, n - 2) == TRC_PERF_CONTEXT_DEFERRED) {
		chain = trc_perf_chain_find(p, s->tid, word_of(chain, n - 1), &later.n_frames,
					    &n_later);
		if (!chain)
			return 0;
		return record_frames_take(p, &later, chain,
					  later.n_frames < n_later ? later.n_frames : n_later,
					  TRC_PERF_CHAIN_MAX);
	}
	return record_frames_take(p, s, chain, n, p->chain_max);
}

static bool read_sample(struct trc_perf *p, const char *bytes, size_t n_bytes,
			struct trc_perf_record *r)
{
	const char *body = bytes + sizeof(struct perf_event_header), *chain;
	size_t body_bytes = n_bytes - sizeof(struct perf_event_header);
	const struct trc_perf_share *share;
	const uint32_t *event;
	uint32_t count_bytes;
	struct sample s;
	uint64_t room, period;

	if (n_bytes < sizeof(struct perf_event_header) + sizeof(s))
		return false;
	memcpy(&s, body, sizeof(s));
	event = trc_perf_id_find(&p->ids, s.id);
	if (!event)
		return false;
	period = p->event[*event].period;
	count_bytes = p->count_bytes[*event];
	if (body_bytes < sizeof(s) + count_bytes)
		return false;
	chain = body + sizeof(s) + count_bytes;
	memcpy(&s.n_frames, chain - sizeof(s.n_frames), sizeof(s.n_frames));
	room = (body_bytes - sizeof(s) - count_bytes) / sizeof(uint64_t);
	*r = (struct trc_perf_record){
		.what = TRC_PERF_SAMPLE,
		.raw_ns = s.raw_ns,
		.pid = s.pid,
		.tid = s.tid,
		.event = *event,
		.period = period,
		.frame = p->frame,
		.n_frames = take_chain(p, &s, chain, room),
		.maps = p->maps,
	};
	share = &p->share[*event];
	r->value = trc_cpu_event_scaled(period, share->new_enabled_ns, share->new_running_ns);
	if (!r->n_frames) { /* not to be followed: where it was is known all the same */
		p->frame[0] = s.ip;
		r->n_frames = 1;
	}
	/* The rest are return addresses, and readers look before them for the call. */
	p->frame[0]++;
	return true;
}

/* ---- throttling ------------------------------------------------------------------------ */

/* PERF_RECORD_THROTTLE and UNTHROTTLE. */
struct throttle {
	uint64_t raw_ns, id, stream_id;
};

/* The thread's place, or that of the one who was stopped longest ago. */
static struct trc_perf_stopped *stopped_find(struct trc_perf_buffer *b, uint32_t tid,
					     uint32_t event)
{
	struct trc_perf_stopped *place = &b->stopped[0];

	for (int i = 0; i < TRC_PERF_STOPPED_MAX; i++) {
		struct trc_perf_stopped *s = &b->stopped[i];

		if (s->since_ns && s->tid == tid && s->event == event)
			return s;
		if (s->since_ns < place->since_ns)
			place = s;
	}
	return place;
}

/* The kernel goes on at the next tick of the clock in which the thread runs. */
static uint64_t throttled_samples(const struct trc_cpu_event *e, uint64_t stopped_ns)
{
	uint64_t tick_ns = trc_cpu_tick_ns();

	if (!e->is_clock)
		return 1; /* or more */
	if (stopped_ns > tick_ns)
		stopped_ns = tick_ns;
	return stopped_ns > e->period ? stopped_ns / e->period : 1;
}

/* A record may be read more than once, until it is handed out: the end changes nothing. */
static bool read_throttle(struct trc_perf *p, uint32_t proc, const char *bytes, bool begins,
			  struct trc_perf_record *r)
{
	struct trc_perf_stopped *stopped;
	const uint32_t *event;
	struct throttle t;

	memcpy(&t, bytes + sizeof(struct perf_event_header), sizeof(t));
	event = trc_perf_id_find(&p->ids, t.id);
	if (!event)
		return false;
	stopped = stopped_find(&p->buffer[proc], r->tid, *event);
	if (begins)
		*stopped = (struct trc_perf_stopped){r->tid, *event, t.raw_ns};
	if (begins || stopped->tid != r->tid || stopped->event != *event || !stopped->since_ns ||
	    stopped->since_ns > t.raw_ns)
		return false;
	r->what = TRC_PERF_SAMPLES_LOST;
	r->event = *event;
	r->cause = TRC_SAMPLE_LOSS_THROTTLED;
	r->lost = throttled_samples(&p->event[*event], t.raw_ns - stopped->since_ns);
	return true;
}

/* ---- the others ------------------------------------------------------------------------ */

/* PERF_RECORD_LOST; which of those that write here it concerns is not in it. */
struct lost {
	uint64_t id, lost;
};

static bool read_lost(const struct trc_perf *p, const char *bytes, struct trc_perf_record *r)
{
	struct lost lost;

	memcpy(&lost, bytes + sizeof(struct perf_event_header), sizeof(lost));
	r->what = p->switches ? TRC_PERF_LOST : TRC_PERF_SAMPLES_LOST;
	r->event = TRC_PERF_ANY_EVENT;
	r->cause = TRC_SAMPLE_LOSS_NO_ROOM;
	r->lost = lost.lost;
	r->mixed = p->switches && p->n_events;
	r->pid = r->tid = 0;
	return lost.lost != 0;
}

bool trc_perf_record_read(struct trc_perf *p, uint32_t proc, const char *bytes, size_t n_bytes,
			  struct trc_perf_record *r)
{
	struct perf_event_header header;
	struct trc_perf_id id;
	size_t n_more;

	memcpy(&header, bytes, sizeof(header));
	if (header.type == PERF_RECORD_SAMPLE)
		return read_sample(p, bytes, n_bytes, r);
	if (n_bytes < sizeof(header) + p->id_bytes || header.size != n_bytes)
		return false;
	memcpy(&id, bytes + n_bytes - p->id_bytes, sizeof(id));
	n_more = n_bytes - sizeof(header) - p->id_bytes;
	*r = (struct trc_perf_record){.raw_ns = id.raw_ns, .pid = id.pid, .tid = id.tid};
	switch (header.type) {
	case PERF_RECORD_SWITCH:
		r->out = header.misc & PERF_RECORD_MISC_SWITCH_OUT;
		r->preempted = r->out && (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
		return true;
	case PERF_RECORD_EXIT: /* V8 */
		r->out = true;
		return p->switches;
	case PERF_RECORD_LOST:
		return n_more >= sizeof(struct lost) && read_lost(p, bytes, r);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return n_more >= sizeof(struct throttle) &&
		       read_throttle(p, proc, bytes, header.type == PERF_RECORD_THROTTLE, r);
	default:
		return false;
	}
}
