/* record.c - one record: checked, its ids turned into the file's, handed to the writer. */
#include "private.h"

enum {
	STRING_BYTES_MAX = 256,
	HEAD_WORDS = 2,
};

static void plan_kind(struct trc_drain_plan *plan, const struct trc_kind_info *info)
{
	plan->known = true;
	plan->n_args = info->n_args;
	for (uint8_t i = 0; i < info->n_args; i++) {
		uint8_t bit = (uint8_t)(1U << i);

		switch (info->arg[i].type) {
		case TRC_ARG_THREAD:
			plan->threads |= bit;
			break;
		case TRC_ARG_TASK:
			plan->tasks |= bit;
			break;
		case TRC_ARG_STRING:
			plan->strings |= bit;
			break;
		case TRC_ARG_STACK:
			plan->stacks |= bit;
			break;
		case TRC_ARG_LABELS:
			plan->labels |= bit;
			break;
		case TRC_ARG_SAMPLE:
			plan->samples |= bit;
			break;
		case TRC_ARG_FIBER:
			plan->fibers |= bit;
			break;
		case TRC_ARG_TEXT:
			plan->has_text = true;
			break;
		default:
			break;
		}
	}
	plan->plain = !plan->threads && !plan->tasks && !plan->strings && !plan->stacks &&
		      !plan->labels && !plan->samples && !plan->fibers && !plan->has_text;
}

void trc_drain_plan_init(struct trc_drain *d)
{
	for (unsigned int kind = 1; kind <= TRC_KIND_MAX; kind++) {
		const struct trc_kind_info *info = trc_kind_info(kind);

		if (info->name)
			plan_kind(&d->plan[kind], info);
	}
	for (unsigned int kind = 1; kind <= TRC_KIND_MAX; kind++)
		d->plan[kind].light = d->plan[kind].known && !d->plan[kind].has_text &&
				      !d->windowed && kind != TRC_KIND_GAP &&
				      kind != TRC_KIND_SAMPLES_LOST && kind != TRC_KIND_SAMPLE &&
				      kind != TRC_KIND_THREAD_START;
	d->plan[TRC_KIND_GAP].plain = false;	      /* its count is a running total (R6) */
	d->plan[TRC_KIND_SAMPLES_LOST].plain = false; /* counted */
	if (d->windowed) {			      /* watched */
		d->plan[TRC_KIND_RESUME].plain = false;
		d->plan[TRC_KIND_THREAD_EXIT].plain = false;
	}
}

void trc_drain_observe_row(struct trc_drain *d, const struct trc_drain_stream *s, uint8_t kind,
			   uint32_t thread, uint64_t time, const void *args)
{
	const uint64_t *arg = args;
	bool kernel = s->source == TRC_SOURCE_KERNEL;
	struct trc_event event = {.time = kernel ? trc_drain_ticks(d, time) : time,
				  .thread = thread,
				  .proc = s->proc,
				  .kind = kind,
				  .source = s->source};

	for (unsigned int i = 0; i < d->plan[kind].n_args; i++)
		event.arg[i] = arg[i];
	if (kind == TRC_KIND_GAP && kernel)
		event.args.gap.since = trc_drain_ticks(d, event.args.gap.since);
	d->observer->event(d->observer->context, d->w, &event);
}

static void stream_pass_time(struct trc_drain_stream *s, uint64_t time)
{
	if (time > s->last_time)
		s->last_time = time;
}

/* A gap of a window: false if it is not one to tell, or not yet. */
static bool gap_is_inside(const struct trc_drain *d, struct trc_drain_stream *s,
			  uint64_t lost_events)
{
	if (!d->windowed || s->source == TRC_SOURCE_KERNEL)
		return true;
	if (s->last_time < d->from)
		s->lost_before += lost_events;
	return s->last_time >= d->from && s->last_time <= d->to;
}

void trc_drain_gap(struct trc_drain *d, struct trc_drain_stream *s, uint64_t lost_events,
		   uint64_t since, enum trc_gap_cause cause)
{
	struct trc_args_gap *args;

	if (!lost_events || !gap_is_inside(d, s, lost_events))
		return;
	if (!s->last_time) /* the very first of its stream */
		s->last_time = since ? since : d->earliest;
	args = trc_drain_row(d, s, TRC_KIND_GAP, 0, s->last_time);
	d->totals.lost_events += lost_events;
	d->unflushed++;
	if (!args)
		return;
	*args = (struct trc_args_gap){
		.lost_events = lost_events,
		.since = since && since < s->last_time ? since : s->last_time,
		.cause = cause,
	};
	trc_drain_row_done(d, s, TRC_KIND_GAP, 0, s->last_time, args);
}

/* A gap record: its count is everything that this stream has lost since birth. */
static void record_gap(struct trc_drain *d, struct trc_drain_stream *s, uint64_t time,
		       const struct trc_args_gap *args)
{
	/* In a copy the gap record before the first may be gone: at least one was lost since. */
	uint64_t lost = s->lost_known ? args->lost_events - s->lost_seen : 1;
	uint64_t cause = args->cause;

	stream_pass_time(s, time);
	/* Two threads may have reported at once: the later record may be the smaller one. */
	if (args->lost_events <= s->lost_seen)
		return;
	s->lost_seen = args->lost_events;
	s->lost_known = true;
	trc_drain_gap(d, s, lost, args->since,
		      cause < TRC_GAP_CAUSE_COUNT ? (enum trc_gap_cause)cause : TRC_GAP_RING_FULL);
}

struct inline_bytes {
	const char *bytes; /* NULL = none inline */
	uint32_t n_bytes;
};

/* The parts of a record behind its first two words. */
struct parts {
	const uint64_t *arg; /* n_args words, with TEXT the last one is the text's length */
	const char *text;
	struct inline_bytes string, labels[2];
	const uint64_t *frame;
	uint32_t text_bytes, n_frames, epoch;
	bool inline_stack;
};

/* Takes the next word; false at the end of the record. */
static bool record_word_take(const uint64_t **at, const uint64_t *end, uint64_t *word)
{
	if (*at == end)
		return false;
	*word = *(*at)++;
	return true;
}

static bool take_bytes(const uint64_t **at, const uint64_t *end, uint64_t n_bytes,
		       uint64_t bytes_max, const char **bytes)
{
	uint64_t n_words = (n_bytes + 7) / 8;

	if (n_bytes > bytes_max || n_words > (uint64_t)(end - *at))
		return false;
	*bytes = (const char *)*at;
	*at += n_words;
	return true;
}

/* A word with their number, then the bytes. */
static bool take_counted(const uint64_t **at, const uint64_t *end, uint64_t bytes_max,
			 struct inline_bytes *part)
{
	uint64_t n;

	if (!record_word_take(at, end, &n) || !take_bytes(at, end, n, bytes_max, &part->bytes))
		return false;
	part->n_bytes = (uint32_t)n;
	return true;
}

/* drain:G1: every part lies within the record, and they fill it exactly. */
static bool split_record(const struct trc_drain_plan *plan, const uint64_t *word, uint32_t n_words,
			 struct parts *p)
{
	const uint64_t *at = word + HEAD_WORDS, *end = word + n_words;
	unsigned int flags = TRC_REC_FLAGS(word[1]);
	uint64_t n;

	*p = (struct parts){.arg = at};
	if (plan->n_args > end - at ||
	    (flags & ~(unsigned int)(TRC_REC_INLINE_STACK | TRC_REC_INLINE_STRING |
				     TRC_REC_INLINE_LABELS | TRC_REC_INLINE_BEFORE)))
		return false;
	at += plan->n_args;
	if (plan->has_text) {
		n = at[-1];
		if (!take_bytes(&at, end, n, TRC_TEXT_BYTES_MAX, &p->text))
			return false;
		p->text_bytes = (uint32_t)n;
	}
	if (flags & TRC_REC_INLINE_STRING) {
		if (!plan->strings || !take_counted(&at, end, STRING_BYTES_MAX, &p->string))
			return false;
	}
	if (flags & TRC_REC_INLINE_LABELS) {
		if (!plan->labels || !take_counted(&at, end, TRC_LABELS_BYTES_MAX, &p->labels[0]))
			return false;
	}
	if (flags & TRC_REC_INLINE_BEFORE) {
		if (!(plan->labels & (plan->labels - 1)) ||
		    !take_counted(&at, end, TRC_LABELS_BYTES_MAX, &p->labels[1]))
			return false;
	}
	if (flags & TRC_REC_INLINE_STACK) {
		const char *bytes;

		if (!plan->stacks || !record_word_take(&at, end, &n) ||
		    !take_bytes(&at, end, 8 * (n & UINT32_MAX), 8 * TRC_STACK_DEPTH_MAX, &bytes))
			return false;
		p->inline_stack = true;
		p->epoch = (uint32_t)(n >> 32);
		p->n_frames = (uint32_t)n;
		p->frame = (const uint64_t *)bytes;
	}
	return at == end;
}

uint32_t trc_drain_thread_of(struct trc_drain *d, uint64_t value, uint64_t time)
{
	return value & TRC_THREAD_IS_TID ? trc_drain_thread(d, (uint32_t)value, time)
					 : trc_drain_serial(d, value);
}

uint32_t trc_drain_thread_argument(struct trc_drain *d, uint64_t value, uint64_t time)
{
	uint32_t serial = trc_drain_thread_of(d, value, time);

	if (d->past.used)
		trc_drain_past_named(d, serial);
	return serial;
}

/* The same for the file: a tid that no thread is known to have had then stays what it is, for the
 * reader, who knows all threads.  A window has them all already. */
static uint64_t thread_for_file(struct trc_drain *d, uint64_t value, uint64_t time)
{
	uint32_t tid = (uint32_t)value;

	if (value & TRC_THREAD_IS_TID && tid && !d->windowed &&
	    !trc_drain_tid_is_settled(d, tid, time))
		return TRC_THREAD_IS_TID | tid;
	return trc_drain_thread_argument(d, value, time);
}

/* One that is lost, with its end, leaves no trace: its number may be used again. */
static uint64_t sample_number(struct trc_drain *d, uint64_t number)
{
	if (number > d->max_sample && number < INT64_MAX / 2)
		d->max_sample = number;
	return number + d->options.sample_base;
}

/* The first of these arguments. */
static unsigned int record_first_arg(uint8_t arguments)
{
	return (unsigned int)__builtin_ctz(arguments);
}

/* The file's ids in place of the ring's, in arguments that are in their tables. */
static inline __attribute__((always_inline)) void
translate_known(struct trc_drain *d, struct trc_drain_plan these, uint64_t time, uint64_t *arg)
{
#define EACH(i, arguments)                                                                         \
	for (unsigned int i; arguments && (i = record_first_arg(arguments), true);                 \
	     arguments &= (uint8_t)(arguments - 1))
	EACH(i, these.threads)
	arg[i] = thread_for_file(d, arg[i], time);
	EACH(i, these.tasks)
	arg[i] += arg[i] ? d->options.task_base : 0;
	EACH(i, these.samples)
	arg[i] = sample_number(d, arg[i]);
	EACH(i, these.fibers)
	arg[i] = trc_drain_fiber(d, arg[i]);
	EACH(i, these.strings)
	arg[i] = trc_drain_string(d, arg[i]);
	EACH(i, these.stacks)
	arg[i] = trc_drain_stack(d, arg[i]);
	EACH(i, these.labels)
	arg[i] = trc_drain_labels(d, arg[i]);
#undef EACH
}

/* The same of what a record brings along as well: of each table its first arguments. */
static void translate(struct trc_drain *d, const struct trc_drain_plan *plan, const struct parts *p,
		      uint64_t time, uint64_t *arg)
{
	struct trc_drain_plan known = *plan;

	for (unsigned int i = 0; i < plan->n_args; i++)
		arg[i] = p->arg[i];
	if (p->string.bytes) {
		d->had_room = false;
		arg[record_first_arg(plan->strings)] =
			trc_writer_string(d->w, p->string.bytes, p->string.n_bytes);
		known.strings &= (uint8_t)(known.strings - 1);
	}
	if (p->inline_stack) {
		d->had_room = false;
		arg[record_first_arg(plan->stacks)] = trc_writer_stack(
			d->w, p->epoch + d->options.epoch_base, p->frame, p->n_frames);
		known.stacks &= (uint8_t)(known.stacks - 1);
	}
	for (unsigned int k = 0, left = plan->labels; k < 2 && left; k++, left &= left - 1) {
		if (!p->labels[k].bytes)
			continue;
		arg[record_first_arg((uint8_t)left)] =
			trc_drain_labels_of(d, p->labels[k].bytes, p->labels[k].n_bytes);
		known.labels &= (uint8_t) ~(left & -left);
	}
	translate_known(d, known, time, arg);
}

/* An observer is told which thread it is now, or none: it reads no file. */
static void observe(struct trc_drain *d, const struct trc_drain_plan *plan, const struct parts *p,
		    struct trc_event *event)
{
	for (unsigned int i = 0; i < plan->n_args; i++)
		if (plan->threads >> i & 1 && event->arg[i] & TRC_THREAD_IS_TID)
			event->arg[i] = trc_drain_thread_argument(d, p->arg[i], event->time);
	d->observer->event(d->observer->context, d->w, event);
}

/* A record that cites tables, or has a text. */
static void record_general(struct trc_drain *d, struct trc_drain_stream *s, const uint64_t *word,
			   const struct trc_drain_plan *plan, const struct parts *p)
{
	struct trc_event event = {
		.time = word[0],
		.thread = trc_drain_serial(d, TRC_REC_SERIAL(word[1])),
		.proc = s->proc,
		.kind = TRC_REC_KIND(word[1]),
		.source = s->source,
		.text_bytes = (uint16_t)p->text_bytes,
		.text = p->text,
	};

	if (!d->windowed)
		trc_drain_make_room(d);
	translate(d, plan, p, word[0], event.arg);
	if (event.kind == TRC_KIND_THREAD_NAME &&
	    (!event.args.thread_name.named || event.args.thread_name.named & TRC_THREAD_IS_TID))
		return; /* nobody knows whose */
	if (event.kind == TRC_KIND_THREAD_START && d->slots_full)
		trc_drain_thread_seen(d, event.thread, (uint32_t)event.args.thread_start.tid,
				      (uint32_t)event.args.thread_start.creator, event.time);
	if (d->windowed)
		trc_drain_watch_event(d, &event);
	if (event.kind == TRC_KIND_SAMPLE || event.kind == TRC_KIND_SAMPLES_LOST)
		trc_drain_first_sample(d, &event);
	d->totals.samples += event.kind == TRC_KIND_SAMPLE;
	if (event.kind == TRC_KIND_SAMPLES_LOST)
		d->totals.lost_samples += event.args.samples_lost.lost_samples;
	trc_writer_event(d->w, &event);
	if (__builtin_expect(d->observer != NULL, 0))
		observe(d, plan, p, &event);
}

/* A record of ids that are all in tables: most of those that are not plain. */
static void record_light(struct trc_drain *d, struct trc_drain_stream *s, const uint64_t *word,
			 const struct trc_drain_plan *plan)
{
	uint64_t *arg;

	trc_drain_make_room(d);
	arg = trc_writer_row(d->w, s->source, s->proc, TRC_REC_KIND(word[1]),
			     trc_drain_serial(d, TRC_REC_SERIAL(word[1])), word[0]);
	if (!arg)
		return;
	for (unsigned int i = 0; i < plan->n_args; i++)
		arg[i] = word[HEAD_WORDS + i];
	translate_known(d, *plan, word[0], arg);
}

/* A record before or behind the window.  The words that it takes up, 0 if it is damaged. */
static uint32_t record_outside(struct trc_drain *d, struct trc_drain_stream *s,
			       const uint64_t *word, const struct trc_drain_plan *plan)
{
	uint32_t n_words = TRC_REC_WORDS(word[1]);
	struct trc_event event = {.time = word[0],
				  .thread = trc_drain_serial(d, TRC_REC_SERIAL(word[1])),
				  .kind = TRC_REC_KIND(word[1])};
	struct parts parts;

	if (!plan->known)
		return 0;
	if (event.kind == TRC_KIND_THREAD_START || event.kind == TRC_KIND_THREAD_NAME ||
	    event.kind == TRC_KIND_GAP) {
		if (!split_record(plan, word, n_words, &parts))
			return 0;
		for (unsigned int i = 0; i < plan->n_args; i++)
			event.arg[i] = parts.arg[i];
		event.text = parts.text;
		event.text_bytes = (uint16_t)parts.text_bytes;
		trc_drain_outside(d, s, &event);
	}
	if (word[0] < d->from)
		s->lost_before = 0; /* whatever was lost was lost before this record */
	stream_pass_time(s, word[0]);
	return n_words;
}

static bool head_is_sane(const struct trc_drain *d, const uint64_t *word, uint32_t n)
{
	return n >= HEAD_WORDS && word[0] >= d->earliest && word[0] <= d->now &&
	       TRC_REC_WORDS(word[1]) <= n && TRC_REC_WORDS(word[1]) >= HEAD_WORDS &&
	       TRC_REC_SERIAL(word[1]) <= d->max_serial;
}

uint32_t trc_drain_record(struct trc_drain *d, struct trc_drain_stream *s, const uint64_t *word,
			  uint32_t n)
{
	const struct trc_drain_plan *plan;
	uint32_t n_words;
	struct parts parts;

	if (!head_is_sane(d, word, n))
		return 0;
	plan = &d->plan[TRC_REC_KIND(word[1])];
	n_words = TRC_REC_WORDS(word[1]);
	if (__builtin_expect(word[0] - d->from > d->span, 0))
		return record_outside(d, s, word, plan);
	if (__builtin_expect(s->last_time < d->from, 0))
		trc_drain_window_enter(d, s);
	if (__builtin_expect(d->past.used != 0, 0) && TRC_REC_SERIAL(word[1]) != s->last_serial) {
		s->last_serial = TRC_REC_SERIAL(word[1]);
		trc_drain_past_named(d, trc_drain_serial(d, s->last_serial));
	}
	if (__builtin_expect(plan->plain && n_words == HEAD_WORDS + (uint32_t)plan->n_args &&
				     !TRC_REC_FLAGS(word[1]),
			     1)) {
		uint8_t kind = TRC_REC_KIND(word[1]);
		uint32_t thread = trc_drain_serial(d, TRC_REC_SERIAL(word[1]));
		uint64_t *arg = trc_writer_row(d->w, s->source, s->proc, kind, thread, word[0]);

		for (unsigned int i = 0; arg && i < plan->n_args; i++)
			arg[i] = word[HEAD_WORDS + i];
		trc_drain_row_done(d, s, kind, thread, word[0], word + HEAD_WORDS);
	} else if (plan->light && n_words == HEAD_WORDS + (uint32_t)plan->n_args &&
		   !TRC_REC_FLAGS(word[1]) && !d->observer) {
		record_light(d, s, word, plan);
	} else if (!plan->known || !split_record(plan, word, n_words, &parts)) {
		return 0;
	} else if (TRC_REC_KIND(word[1]) == TRC_KIND_GAP) {
		record_gap(d, s, word[0], (const struct trc_args_gap *)parts.arg);
		return n_words;
	} else {
		record_general(d, s, word, plan, &parts);
	}
	stream_pass_time(s, word[0]);
	d->totals.events++;
	return n_words;
}
