/* writer_events.c - rows of events into streams, streams into blocks, and when a generation begins. */
#include <errno.h>
#include "block.h"
#include "writer_private.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

/* --- events --- */

static void index_add(struct trc_writer *w, const struct trc_rows *rows, uint64_t first,
		      uint64_t last)
{
	struct index_entry *e = &w->index[w->n_index - 1];

	if (w->n_index > w->max_index)
		return;
	e->n_blocks++;
	e->n_events += rows->n_events;
	if (rows->source == TRC_SOURCE_KERNEL)
		return;
	if (!e->first_ticks || first < e->first_ticks)
		e->first_ticks = first;
	if (last > e->last_ticks)
		e->last_ticks = last;
}

/* Brings words[] and n_events up to what has been added. */
static void stream_settle(struct stream *s)
{
	struct trc_rows *rows = &s->rows;

	if (!rows->n_chunks)
		return;
	rows->words[rows->n_chunks - 1] = (uint32_t)(s->cur - rows->chunk[rows->n_chunks - 1]);
	rows->n_events = 0;
	for (unsigned int k = 1; k <= TRC_KIND_MAX; k++)
		rows->n_events += rows->kind_count[k];
}

/* Writes the stream's block, if it has events; its chunks are free again. */
static void stream_flush(struct trc_writer *w, struct stream *s)
{
	struct trc_rows *rows = &s->rows;
	const uint8_t *section;
	size_t n_bytes;

	if (!rows->n_chunks)
		return;
	stream_settle(s);
	if (rows->n_events) {
		trc_block_encode(w->encoder, rows, &w->tables, &section, &n_bytes);
		trc_tables_flush(&w->tables);
		trc_section_put_bytes(&w->out, section, n_bytes);
		if (w->out.error) {
			w->lost_events += rows->n_events;
		} else {
			w->written_events += rows->n_events;
			w->blocks++;
			index_add(w, rows, rows->chunk[0][0], s->last_time);
		}
	}
	while (rows->n_chunks)
		w->free_chunk[w->n_free++] = rows->chunk[--rows->n_chunks];
	rows->n_events = 0;
	memset(rows->kind_count, 0, sizeof(rows->kind_count));
	s->cur = s->end = NULL;
}

/* Begins a generation if the present one has lasted long enough at `ticks`. */
static void generation_check(struct trc_writer *w, uint64_t ticks)
{
	if (!w->generation_has_time) {
		w->generation_has_time = true;
		w->generation_end = ticks + w->generation_ticks;
	} else if (ticks >= w->generation_end && !w->generating) {
		trc_writer_generation(w);
	}
}

static struct stream *largest_stream(struct trc_writer *w)
{
	struct stream *largest = &w->stream[0];

	for (uint32_t i = 1; i < w->n_streams; i++)
		if (w->stream[i].rows.n_chunks > largest->rows.n_chunks)
			largest = &w->stream[i];
	return largest;
}

/* Gives the stream a fresh chunk, after writing its block if that is full. */
static void stream_extend(struct trc_writer *w, struct stream *s, uint8_t source, uint32_t proc,
			  uint64_t time)
{
	struct trc_rows *rows = &s->rows;

	if (rows->n_chunks) {
		stream_settle(s);
		if (rows->n_chunks == w->block_chunks ||
		    rows->n_events + TRC_CHUNK_EVENTS_MAX > TRC_BLOCK_EVENTS_MAX)
			stream_flush(w, s);
	}
	if (source != TRC_SOURCE_KERNEL)
		generation_check(w, time);
	if (!w->n_free)
		stream_flush(w, largest_stream(w));
	rows->source = source;
	rows->proc = proc;
	rows->chunk[rows->n_chunks++] = s->cur = w->free_chunk[--w->n_free];
	s->end = s->cur + TRC_CHUNK_WORDS;
}

static struct stream *stream_find(struct trc_writer *w, uint8_t source, uint32_t proc)
{
	if (unlikely(proc >= w->n_procs))
		return NULL;
	switch (source) {
	case TRC_SOURCE_RING:
		return &w->stream[proc];
	case TRC_SOURCE_KERNEL:
		return &w->stream[w->n_procs + proc];
	case TRC_SOURCE_OVERFLOW:
		return &w->stream[2 * w->n_procs];
	default:
		return NULL;
	}
}

/* The arguments' words of a new row of n_words, or NULL and the event is lost. */
static inline __attribute__((always_inline)) uint64_t *row_begin(struct trc_writer *w,
								 uint8_t source, uint32_t proc,
								 uint8_t kind, uint32_t thread,
								 uint64_t time, uint32_t n_words)
{
	struct stream *s = stream_find(w, source, proc);
	uint64_t *row;

	if (unlikely(!s || w->out.closed)) {
		w->lost_events++;
		return NULL;
	}
	if (unlikely(w->discarded != NULL)) {
		w->written_events++;
		return w->discarded;
	}
	if (unlikely((size_t)(s->end - s->cur) < n_words)) {
		stream_extend(w, s, source, proc, time);
		if (w->out.closed) {
			w->lost_events++;
			return NULL;
		}
	}
	if (unlikely(time < s->last_time)) {
		time = s->last_time;
		w->clamped_times++;
	}
	row = s->cur;
	s->cur += n_words;
	s->last_time = time;
	s->rows.kind_count[kind]++;
	row[0] = time;
	row[1] = trc_row_word(kind, n_words, proc, thread);
	return row + 2;
}

uint64_t *trc_writer_row(struct trc_writer *w, uint8_t source, uint32_t proc, uint8_t kind,
			 uint32_t thread, uint64_t time)
{
	uint32_t n_words = w->row_words[kind];

	if (unlikely(!n_words || w->has_text[kind])) {
		w->lost_events++;
		return NULL;
	}
	return row_begin(w, source, proc, kind, thread, time, n_words);
}

static void text_put(uint64_t *word, const char *text, uint32_t n_bytes)
{
	word[0] = n_bytes;
	if (n_bytes) {
		word[(n_bytes + 7) / 8] = 0;
		memcpy(word + 1, text, n_bytes);
	}
}

int trc_writer_event(struct trc_writer *w, const struct trc_event *event)
{
	uint32_t n_words = w->row_words[event->kind];
	uint32_t n_args = n_words - TRC_ROW_WORDS_MIN;
	bool has_text = w->has_text[event->kind];
	uint64_t *word;

	if (unlikely(!n_words || event->text_bytes > TRC_TEXT_BYTES_MAX ||
		     (event->text_bytes && !has_text))) {
		w->lost_events++;
		return -EINVAL;
	}
	if (has_text)
		n_words += ((uint32_t)event->text_bytes + 7) / 8;
	word = row_begin(w, event->source, event->proc, event->kind, event->thread, event->time,
			 n_words);
	if (unlikely(!word))
		return w->out.closed ? w->out.closed : -EINVAL;
	for (uint32_t a = 0; a < n_args; a++)
		word[a] = event->arg[a];
	if (has_text)
		text_put(word + n_args - 1, event->text, event->text_bytes);
	return 0;
}

/* --- blocks and generations --- */

int trc_writer_flush(struct trc_writer *w)
{
	if (w->out.closed == -EBADF)
		return -EBADF;
	for (uint32_t i = 0; i < w->n_streams; i++)
		stream_flush(w, &w->stream[i]);
	trc_tables_flush(&w->tables);
	return w->out.closed;
}

int trc_writer_generation(struct trc_writer *w)
{
	int err;

	w->generating = true;
	err = trc_writer_flush(w);
	w->generating = false;
	return err ? err : trc_writer_generation_write(w, w->tables.generation + 1);
}

unsigned int trc_writer_make_room(struct trc_writer *w)
{
	unsigned int tables = trc_tables_crowded(&w->tables);

	if (!tables)
		return 0;
	if (!w->out.discard) {
		trc_tables_complete(&w->tables, tables);
		trc_writer_generation(w); /* an error is told by what comes next */
	}
	trc_tables_forget(&w->tables, tables);
	return tables;
}
