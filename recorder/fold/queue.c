/*
 * queue.c - the events that have come and are not merged yet: see private.h.
 *
 * Each stream has a chain of chunks, with its events in the order in which they came.  A heap has
 * the streams that have events, by the time of their first event.  At equal times the stream with
 * the lower number comes first.
 */
#include <errno.h>
#include "private.h"

int trc_fold_queue_init(struct trc_fold_queue *q, struct trc_arena *arena, uint32_t n_procs,
			size_t n_bytes)
{
	q->n_streams = 2 * n_procs + 1;
	q->stream = trc_arena_take(arena, q->n_streams * sizeof(*q->stream));
	q->heap = trc_arena_take(arena, q->n_streams * sizeof(*q->heap));
	q->max = (uint32_t)(n_bytes / sizeof(*q->chunk));
	q->chunk = trc_arena_take(arena, q->max * sizeof(*q->chunk));
	return q->stream && q->heap && q->chunk ? 0 : -ENOMEM;
}

static struct trc_fold_chunk *chunk_of(const struct trc_fold_queue *q, uint32_t id)
{
	return &q->chunk[id - 1];
}

static uint64_t first_event_time(const struct trc_fold_queue *q, uint32_t stream)
{
	const struct trc_fold_stream *s = &q->stream[stream];

	return chunk_of(q, s->first)->event[s->at].time;
}

static bool stream_is_before(const struct trc_fold_queue *q, uint32_t a, uint32_t b)
{
	uint64_t a_time = first_event_time(q, a), b_time = first_event_time(q, b);

	return a_time < b_time || (a_time == b_time && a < b);
}

static void heap_up(struct trc_fold_queue *q, uint32_t stream)
{
	uint32_t i = q->n_heap++;

	for (; i && stream_is_before(q, stream, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
		q->heap[i] = q->heap[(i - 1) / 2];
	q->heap[i] = stream;
}

/* `stream` takes the place of the first. */
static void heap_down(struct trc_fold_queue *q, uint32_t stream)
{
	uint32_t i = 0;

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= q->n_heap)
			break;
		if (child + 1 < q->n_heap &&
		    stream_is_before(q, q->heap[child + 1], q->heap[child]))
			child++;
		if (!stream_is_before(q, q->heap[child], stream))
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = stream;
}

/* A chunk at the end of the stream; false if there is none left. */
static bool extend(struct trc_fold_queue *q, struct trc_fold_stream *s)
{
	uint32_t id = q->free ? q->free : q->n_used + 1;

	if (id > q->max)
		return false;
	if (q->free)
		q->free = chunk_of(q, id)->next;
	else
		q->n_used++;
	chunk_of(q, id)->next = 0;
	chunk_of(q, id)->n = 0;
	if (s->last)
		chunk_of(q, s->last)->next = id;
	else
		s->first = id;
	s->last = id;
	return true;
}

struct trc_fold_event *trc_fold_queue_put(struct trc_fold_queue *q, uint32_t stream, uint64_t time)
{
	struct trc_fold_stream *s = &q->stream[stream];
	struct trc_fold_chunk *chunk = s->last ? chunk_of(q, s->last) : NULL;
	bool is_first = !s->first;
	struct trc_fold_event *e;

	if (!chunk || chunk->n == TRC_FOLD_CHUNK_EVENTS) {
		if (!extend(q, s))
			return NULL;
		chunk = chunk_of(q, s->last);
	}
	if (time > s->last_time)
		s->last_time = time;
	e = &chunk->event[chunk->n++];
	*e = (struct trc_fold_event){.time = s->last_time};
	if (is_first)
		heap_up(q, stream);
	return e;
}

/* The first event of the stream has been taken. */
static void queue_advance(struct trc_fold_queue *q, struct trc_fold_stream *s)
{
	struct trc_fold_chunk *chunk = chunk_of(q, s->first);
	uint32_t id = s->first;

	if (++s->at < chunk->n)
		return;
	s->first = chunk->next;
	s->at = 0;
	if (!s->first)
		s->last = 0;
	chunk->next = q->free; /* the events stay until it is used again */
	q->free = id;
}

const struct trc_fold_event *trc_fold_queue_take(struct trc_fold_queue *q, uint64_t upto)
{
	struct trc_fold_stream *s;
	const struct trc_fold_event *e;
	uint32_t stream;

	if (!q->n_heap || first_event_time(q, q->heap[0]) > upto)
		return NULL;
	stream = q->heap[0];
	s = &q->stream[stream];
	e = &chunk_of(q, s->first)->event[s->at];
	queue_advance(q, s);
	if (!s->first)
		stream = q->heap[--q->n_heap];
	if (q->n_heap)
		heap_down(q, stream);
	return e;
}

void trc_fold_queue_mark(struct trc_fold *fold)
{
	const struct trc_fold_queue *q = &fold->queue;

	for (uint32_t i = 0; i < q->n_streams; i++) {
		uint32_t at = q->stream[i].at;

		for (uint32_t id = q->stream[i].first; id; id = chunk_of(q, id)->next, at = 0) {
			const struct trc_fold_chunk *chunk = chunk_of(q, id);

			for (; at < chunk->n; at++) {
				const struct trc_fold_event *e = &chunk->event[at];

				trc_fold_intern_mark(&fold->stacks, e->stack);
				trc_fold_intern_mark(&fold->label_sets, e->labels);
			}
		}
	}
}
