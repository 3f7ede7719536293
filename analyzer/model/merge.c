/*
 * merge.c - see merge.h.
 *
 * Blocks are wanted in the order of their first events, which their headers tell: so a
 * heap of streams, keyed by the time of each one's next event, needs a block only when
 * its stream gets to the top.  The thread that decodes ahead takes blocks in that order.
 * No thread waits for a block that the other has not begun: a thread that finds such a block
 * decodes it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "merge.h"
#include "array.h"

enum { AHEAD_BLOCKS = 6 };

enum slot_state { SLOT_NEW, SLOT_BEGUN, SLOT_READY, SLOT_TAKEN };

/* A block on its way from the file; all fields are guarded by trc_merge.lock, but that
 * columns, err and error are stored by whoever set SLOT_BEGUN before it sets SLOT_READY. */
struct slot {
	enum slot_state state;
	int err;
	struct trc_columns *columns;
	struct trc_error *error; /* set if err */
};

struct stream {
	uint32_t *block; /* indices, in file order; into trc_merge.order's storage */
	size_t n_blocks, at;
	struct trc_columns *columns; /* of block[at], or NULL: not loaded yet */
	uint32_t row;
	uint32_t rank;	   /* tie break: G1 */
	uint64_t n_events; /* of all its blocks */
	uint64_t place;	   /* of its first event */
	int64_t key;
};

struct trc_merge {
	const struct trc_reader *reader;
	struct trc_merge_options options;
	struct trc_kind_mask kinds;
	struct stream *stream;
	struct stream **heap;
	size_t n_streams, n_heap;
	uint32_t *by_stream;
	struct trc_key *order; /* blocks by first event */
	size_t n_blocks, n_done;
	uint32_t pending_last; /* where the span given last ends */
	bool pending;

	uint64_t *place;   /* by block index: of its first event (G3) */
	struct slot *slot; /* by block index */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* guards slots and what follows */
	pthread_cond_t changed;
	size_t n_ahead; /* ready or begun by the thread, and not yet taken */
	bool stop;
};

bool trc_block_has_kinds(const struct trc_block_info *block, const struct trc_kind_mask *kinds)
{
	if (!kinds)
		return true;
	for (unsigned int word = 0; word < 4; word++) {
		for (uint64_t bits = kinds->bits[word]; bits; bits &= bits - 1) {
			if (block->kind_count[word * 64 + (unsigned int)__builtin_ctzll(bits)])
				return true;
		}
	}
	return false;
}

static bool merge_block_wanted(const struct trc_merge *m, const struct trc_block_info *b)
{
	const struct trc_merge_options *o = &m->options;

	if (!b->n_events || b->last_ns < o->from_ns || b->first_ns > o->until_ns)
		return false;
	if (o->one_proc && b->proc != o->proc && b->proc != TRC_PROC_PER_EVENT)
		return false;
	return o->every_block || trc_block_has_kinds(b, o->kinds);
}

static uint64_t stream_key(const struct trc_block_info *b)
{
	return (uint64_t)b->source << 32 | b->proc;
}

/* Numbers the streams in order of appearance, wanted or not (G3), and counts the blocks wanted. */
static int merge_count_streams(struct trc_merge *m, struct trc_index *map, uint32_t *count)
{
	size_t n = trc_reader_blocks(m->reader);

	for (size_t i = 0; i < n; i++) {
		const struct trc_block_info *b = trc_reader_block(m->reader, i);
		uint32_t s;

		s = trc_index_get(map, stream_key(b));
		if (s == TRC_INDEX_NONE) {
			s = (uint32_t)m->n_streams++;
			if (trc_index_put(map, stream_key(b), s))
				return -ENOMEM;
		}
		if (!merge_block_wanted(m, b))
			continue;
		count[s]++;
		m->n_blocks++;
	}
	return 0;
}

static void fill_streams(struct trc_merge *m, const struct trc_index *map, const uint32_t *count)
{
	size_t n = trc_reader_blocks(m->reader), first = 0, k = 0;

	for (size_t s = 0; s < m->n_streams; s++) {
		m->stream[s].block = m->by_stream + first;
		m->stream[s].rank = (uint32_t)s;
		first += count[s];
	}
	for (size_t i = 0; i < n; i++) {
		const struct trc_block_info *b = trc_reader_block(m->reader, i);
		struct stream *s;

		if (!merge_block_wanted(m, b))
			continue;
		s = &m->stream[trc_index_get(map, stream_key(b))];
		s->block[s->n_blocks++] = (uint32_t)i;
		m->order[k].key = b->first_ns;
		m->order[k++].row = (uint32_t)i;
	}
	trc_keys_sort(m->order, m->order + m->n_blocks, m->n_blocks);
}

/* Streams follow each other as they are ranked, each with its blocks as they come in the file. */
static void give_places(struct trc_merge *m, const struct trc_index *map)
{
	size_t n = trc_reader_blocks(m->reader);
	uint64_t place = 1;

	for (size_t i = 0; i < n; i++) {
		const struct trc_block_info *b = trc_reader_block(m->reader, i);
		struct stream *s = &m->stream[trc_index_get(map, stream_key(b))];

		m->place[i] = s->n_events;
		s->n_events += b->n_events;
	}
	for (size_t s = 0; s < m->n_streams; s++) {
		m->stream[s].place = place;
		place += m->stream[s].n_events;
	}
	for (size_t i = 0; i < n; i++) {
		const struct trc_block_info *b = trc_reader_block(m->reader, i);

		m->place[i] += m->stream[trc_index_get(map, stream_key(b))].place;
	}
}

static int build_streams(struct trc_merge *m)
{
	size_t n = trc_reader_blocks(m->reader);
	struct trc_index map = {0};
	uint32_t *count = calloc(n + 1, sizeof(*count));
	int err = -ENOMEM;

	if (count && !merge_count_streams(m, &map, count)) {
		m->stream = calloc(m->n_streams + 1, sizeof(*m->stream));
		m->heap = calloc(m->n_streams + 1, sizeof(struct stream *));
		m->by_stream = calloc(m->n_blocks + 1, sizeof(*m->by_stream));
		m->order = calloc(2 * m->n_blocks + 1, sizeof(*m->order));
		m->place = calloc(n + 1, sizeof(*m->place));
		m->slot = calloc(n + 1, sizeof(*m->slot));
		if (m->stream && m->heap && m->by_stream && m->order && m->place && m->slot) {
			fill_streams(m, &map, count);
			give_places(m, &map);
			err = 0;
		}
	}
	trc_index_free(&map);
	free(count);
	return err;
}

static bool stream_before(const struct stream *a, const struct stream *b)
{
	return a->key < b->key || (a->key == b->key && a->rank < b->rank);
}

static void merge_heap_sink(struct trc_merge *m, size_t i)
{
	struct stream *s = m->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= m->n_heap)
			break;
		if (child + 1 < m->n_heap && stream_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!stream_before(m->heap[child], s))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = s;
}

static void heap_build(struct trc_merge *m)
{
	for (size_t s = 0; s < m->n_streams; s++) {
		struct stream *stream = &m->stream[s];

		if (!stream->n_blocks)
			continue;
		stream->key = trc_reader_block(m->reader, stream->block[0])->first_ns;
		m->heap[m->n_heap++] = stream;
	}
	for (size_t i = m->n_heap / 2; i-- > 0;)
		merge_heap_sink(m, i);
}

/* Decodes a block that this caller has marked SLOT_BEGUN; without the lock. */
static void slot_decode(struct trc_merge *m, size_t block)
{
	struct slot *slot = &m->slot[block];
	struct trc_error error = {""};

	slot->err = trc_reader_load(m->reader, block, m->options.want | TRC_WANT_TIME,
				    m->options.kinds, &slot->columns, &error);
	if (slot->err) {
		slot->columns = NULL;
		slot->error = malloc(sizeof(error));
		if (slot->error)
			*slot->error = error;
	}
}

/* The thread that decodes ahead: at most AHEAD_BLOCKS wait to be taken. */
static void *decode_ahead(void *context)
{
	struct trc_merge *m = context;

	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->n_blocks && !m->stop;) {
		size_t block = m->order[i].row;

		if (m->slot[block].state != SLOT_NEW) {
			i++;
			continue;
		}
		if (m->n_ahead >= AHEAD_BLOCKS) {
			pthread_cond_wait(&m->changed, &m->lock);
			continue;
		}
		m->slot[block].state = SLOT_BEGUN;
		m->n_ahead++;
		pthread_mutex_unlock(&m->lock);
		slot_decode(m, block);
		pthread_mutex_lock(&m->lock);
		m->slot[block].state = SLOT_READY;
		pthread_cond_broadcast(&m->changed);
		i++;
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

int trc_merge_open(struct trc_merge **out, const struct trc_reader *reader,
		   const struct trc_merge_options *options)
{
	struct trc_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->reader = reader;
	m->options = *options;
	if (options->kinds) {
		m->kinds = *options->kinds;
		m->options.kinds = &m->kinds;
	}
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->changed, NULL);
	if (build_streams(m)) {
		trc_merge_close(m);
		return -ENOMEM;
	}
	heap_build(m);
	/* Without a second thread everything is decoded here: slower, and that is all. */
	if (options->ahead && m->n_blocks > 2)
		m->has_thread = !pthread_create(&m->thread, NULL, decode_ahead, m);
	*out = m;
	return 0;
}

/* Takes the columns of a block, decoding them here unless the thread has begun to. */
static int slot_take(struct trc_merge *m, size_t block, struct trc_columns **columns,
		     struct trc_error *error)
{
	struct slot *slot = &m->slot[block];

	pthread_mutex_lock(&m->lock);
	if (slot->state == SLOT_NEW) {
		slot->state = SLOT_TAKEN;
		pthread_mutex_unlock(&m->lock);
		slot_decode(m, block);
	} else {
		while (slot->state != SLOT_READY)
			pthread_cond_wait(&m->changed, &m->lock);
		slot->state = SLOT_TAKEN;
		m->n_ahead--;
		pthread_cond_broadcast(&m->changed);
		pthread_mutex_unlock(&m->lock);
	}
	*columns = slot->columns;
	slot->columns = NULL;
	if (slot->err && slot->error)
		*error = *slot->error;
	return slot->err;
}

/* Moves the stream at the top past its block. */
static void stream_next_block(struct trc_merge *m, struct stream *s)
{
	if (s->columns)
		trc_columns_free(s->columns);
	s->columns = NULL;
	s->row = 0;
	m->n_done++;
	if (++s->at < s->n_blocks) {
		s->key = trc_reader_block(m->reader, s->block[s->at])->first_ns;
	} else {
		m->heap[0] = m->heap[--m->n_heap];
		if (!m->n_heap)
			return;
	}
	merge_heap_sink(m, 0);
}

static void span_finish(struct trc_merge *m)
{
	struct stream *s;

	if (!m->pending)
		return;
	m->pending = false;
	s = m->heap[0];
	s->row = m->pending_last;
	if (s->row == s->columns->n_events) {
		stream_next_block(m, s);
	} else {
		s->key = s->columns->time_ns[s->row];
		merge_heap_sink(m, 0);
	}
}

/* How far the stream at the top may go before another one has its turn. */
static uint32_t span_limit(const struct trc_merge *m, const struct stream *s)
{
	const struct stream *next = NULL;
	uint32_t row = s->row + 1;

	for (size_t i = 1; i < 3 && i < m->n_heap; i++)
		if (!next || stream_before(m->heap[i], next))
			next = m->heap[i];
	if (!next)
		return s->columns->n_events;
	while (row < s->columns->n_events &&
	       (s->columns->time_ns[row] < next->key ||
		(s->columns->time_ns[row] == next->key && s->rank < next->rank)))
		row++;
	return row;
}

/* Loads the top stream's block; its events may begin later than others'. */
static int stream_load(struct trc_merge *m, struct stream *s, struct trc_error *error)
{
	int err = slot_take(m, s->block[s->at], &s->columns, error);

	if (err || !s->columns->n_events) {
		stream_next_block(m, s);
		return err;
	}
	s->key = s->columns->time_ns[0];
	merge_heap_sink(m, 0);
	return 0;
}

int trc_merge_next(struct trc_merge *m, struct trc_span *span, struct trc_error *error)
{
	struct stream *s;
	int err;

	span_finish(m);
	while (m->n_heap && !m->heap[0]->columns) {
		err = stream_load(m, m->heap[0], error);
		if (err)
			return err;
	}
	if (!m->n_heap)
		return 0;
	s = m->heap[0];
	m->pending = true;
	m->pending_last = span_limit(m, s);
	*span = (struct trc_span){.block = trc_reader_block(m->reader, s->block[s->at]),
				  .columns = s->columns,
				  .block_idx = s->block[s->at],
				  .first = s->row,
				  .last = m->pending_last,
				  .place = m->place[s->block[s->at]]};
	return 1;
}

double trc_merge_fraction(const struct trc_merge *m)
{
	return m->n_blocks ? (double)m->n_done / (double)m->n_blocks : 1;
}

static void stop_thread(struct trc_merge *m)
{
	if (!m->has_thread)
		return;
	pthread_mutex_lock(&m->lock);
	m->stop = true;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
}

void trc_merge_close(struct trc_merge *m)
{
	if (!m)
		return;
	stop_thread(m);
	for (size_t s = 0; m->stream && s < m->n_streams; s++)
		if (m->stream[s].columns)
			trc_columns_free(m->stream[s].columns);
	for (size_t i = 0; m->slot && i < trc_reader_blocks(m->reader); i++) {
		if (m->slot[i].columns)
			trc_columns_free(m->slot[i].columns);
		free(m->slot[i].error);
	}
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->changed);
	free(m->slot);
	free(m->place);
	free(m->order);
	free(m->by_stream);
	free(m->heap);
	free(m->stream);
	free(m);
}
