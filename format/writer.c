/* writer.c - opens and ends a file, and writes its sections but for blocks; see writer.h. */
#include <errno.h>
#include <lz4.h>
#include "block.h"
#include "check.h"
#include "schema_wire.h"
#include "writer_private.h"

enum {
	KEY_BYTES_MAX = 255,
	VALUE_BYTES_MAX = 32 << 10,
	ROW_WORDS_MAX = TRC_ROW_WORDS_MIN + TRC_ARGS_MAX + (TRC_TEXT_BYTES_MAX + 7) / 8,
};
#define MEMORY_BYTES_DEFAULT  (UINT64_C(64) << 20)
#define MEMORY_BYTES_MIN      (UINT64_C(8) << 20)
#define MEMORY_BYTES_MAX      (UINT64_C(2) << 30)
#define GENERATION_NS_DEFAULT UINT64_C(5000000000)

_Static_assert(ROW_WORDS_MAX < 1024, "ten bits hold the words of a row");
_Static_assert(ROW_WORDS_MAX <= (int)TRC_CHUNK_WORDS, "any row fits into a chunk");

/* --- sections --- */

static int header_write(struct trc_writer *w, const struct trc_writer_options *options)
{
	uint8_t h[TRC_HEADER_BYTES];

	memcpy(h, TRC_MAGIC, 4);
	trc_put16(h + 4, TRC_MAJOR);
	trc_put16(h + 6, TRC_MINOR);
	trc_put32(h + 8, TRC_ENDIAN_MARK);
	trc_put32(h + 12, TRC_HEADER_BYTES);
	trc_put64(h + 16, trc_schema_hash());
	memcpy(h + 24, options->trace_uuid, 16);
	trc_put32(h + 40, (uint32_t)options->clock);
	trc_put32(h + 44, options->n_procs);
	trc_put64(h + 48, options->ticks_per_second);
	trc_put64(h + 56, options->creation_realtime_ns);
	trc_put64(h + 64, trc_check64(h, 64, 0));
	return trc_section_put_bytes(&w->out, h, sizeof(h));
}

static int sync_write(struct trc_writer *w)
{
	const struct trc_sync_point *s = &w->last_sync;
	uint8_t *p = trc_writer_payload(w);

	p = trc_varint_put(p, s->ticks);
	p = trc_varint_put(p, s->monotonic_raw_ns);
	p = trc_varint_put(p, s->monotonic_ns);
	p = trc_varint_put(p, s->realtime_ns);
	p = trc_varint_put(p, s->uncertainty_ns);
	return trc_writer_payload_write(w, p, TRC_SECTION_SYNC);
}

/* GENERATION, SCHEMA, the last SYNC; the modules are pending after it. */
int trc_writer_generation_write(struct trc_writer *w, uint32_t generation)
{
	uint8_t *p = trc_writer_payload(w);

	if (w->n_index < w->max_index)
		w->index[w->n_index] = (struct index_entry){.file_off = w->out.file_bytes};
	if (w->n_index <= w->max_index)
		w->n_index++;
	trc_writer_payload_write(w, trc_varint_put(p, generation), TRC_SECTION_GENERATION);
	p += trc_schema_put(p);
	trc_writer_payload_write(w, p, TRC_SECTION_SCHEMA);
	if (w->has_sync)
		sync_write(w);
	w->generation_has_time = false;
	trc_tables_generation(&w->tables, generation);
	return w->out.error;
}

/* --- opening --- */

static int chunks_init(struct trc_writer *w, struct trc_arena *memory)
{
	w->n_chunks = (uint32_t)(memory->size_bytes / 4 / (TRC_CHUNK_WORDS * 8));
	w->free_chunk = trc_arena_take(memory, w->n_chunks * sizeof(*w->free_chunk));
	if (!w->free_chunk)
		return -ENOMEM;
	for (uint32_t i = w->n_chunks; i-- > 0;) {
		w->free_chunk[w->n_free] = trc_arena_take(memory, TRC_CHUNK_WORDS * 8);
		if (!w->free_chunk[w->n_free++])
			return -ENOMEM;
	}
	return 0;
}

static int memory_init(struct trc_writer *w, struct trc_arena *memory)
{
	size_t share = memory->size_bytes / 64;
	uint32_t block_chunks = (uint32_t)(memory->size_bytes >> 21);

	w->block_chunks = block_chunks < TRC_BLOCK_CHUNKS_MAX ? block_chunks : TRC_BLOCK_CHUNKS_MAX;
	w->out.lz4 = trc_arena_take(memory, (size_t)LZ4_sizeofState());
	w->out.packed = trc_arena_take(memory, TRC_SECTION_BUFFER_BYTES);
	w->section.base = trc_arena_take(memory, TRC_SECTION_BUFFER_BYTES);
	w->section.room_bytes = TRC_SECTION_ROOM_BYTES;
	w->max_index = (uint32_t)(share / sizeof(*w->index));
	if (w->max_index > 1024) /* what fits into a section */
		w->max_index = 1024;
	w->index = trc_arena_take(memory, w->max_index * sizeof(*w->index));
	if (w->out.discard)
		w->discarded = trc_arena_take(memory, ROW_WORDS_MAX * sizeof(*w->discarded));
	if (!w->out.lz4 || !w->out.packed || !w->section.base || !w->index ||
	    (w->out.discard && !w->discarded))
		return -ENOMEM;
	w->encoder =
		trc_block_encoder_init(memory, w->block_chunks, w->out.lz4, w->out.acceleration);
	if (!w->encoder)
		return -ENOMEM;
	if (trc_tables_init(&w->tables, &w->out, memory) < 0)
		return -ENOMEM;
	return chunks_init(w, memory);
}

static int writer_streams_init(struct trc_writer *w, uint32_t n_procs)
{
	w->n_procs = n_procs;
	w->n_streams = 2 * n_procs + 1;
	w->stream_bytes = w->n_streams * sizeof(*w->stream);
	w->stream = trc_pages_map(w->stream_bytes);
	if (!w->stream)
		return -ENOMEM;
	return 0;
}

static void writer_kinds_init(struct trc_writer *w)
{
	for (unsigned int k = 1; k <= TRC_KIND_MAX; k++) {
		const struct trc_kind_info *info = trc_kind_info(k);

		if (!info->name)
			continue;
		w->row_words[k] = (uint8_t)(TRC_ROW_WORDS_MIN + info->n_args);
		w->has_text[k] = info->n_args && info->arg[info->n_args - 1].type == TRC_ARG_TEXT;
	}
}

static uint64_t writer_ticks(uint64_t ns, uint64_t ticks_per_second)
{
	unsigned __int128 ticks = (unsigned __int128)ns * ticks_per_second / 1000000000;

	return ticks < UINT64_MAX ? (uint64_t)ticks : UINT64_MAX;
}

/* Where address space is short a part of it, but the least at least. */
static int memory_map(struct trc_arena *memory, uint64_t n_bytes)
{
	if (n_bytes > MEMORY_BYTES_MAX)
		n_bytes = MEMORY_BYTES_MAX;
	for (;; n_bytes /= 2) {
		if (n_bytes < MEMORY_BYTES_MIN)
			n_bytes = MEMORY_BYTES_MIN;
		memory->size_bytes = n_bytes & ~(size_t)4095;
		memory->base = trc_pages_map(memory->size_bytes);
		if (memory->base || n_bytes == MEMORY_BYTES_MIN)
			return memory->base ? 0 : -ENOMEM;
	}
}

int trc_writer_open(struct trc_writer **out, const struct trc_writer_options *options,
		    trc_sink_fn *sink, void *context)
{
	uint64_t bytes = options->memory_bytes ? options->memory_bytes : MEMORY_BYTES_DEFAULT;
	struct trc_arena memory = {0};
	struct trc_writer *w;
	int err;

	if (!options->n_procs || options->n_procs > TRC_PROCS_MAX)
		return -EINVAL;
	err = memory_map(&memory, bytes);
	if (err)
		return err;
	w = trc_arena_take(&memory, sizeof(*w));
	w->memory_bytes = memory.size_bytes;
	w->out.sink = sink;
	w->out.context = context;
	w->out.discard = options->discard;
	w->out.acceleration = options->compression > 0 ? options->compression : 1;
	w->generation_ticks = writer_ticks(options->generation_ns ? options->generation_ns
								  : GENERATION_NS_DEFAULT,
					   options->ticks_per_second);
	writer_kinds_init(w);
	err = memory_init(w, &memory);
	if (!err)
		err = writer_streams_init(w, options->n_procs);
	if (!err)
		err = header_write(w, options);
	if (!err)
		err = trc_writer_generation_write(w, 1);
	if (err) {
		trc_writer_close(w);
		return err;
	}
	*out = w;
	return 0;
}

void trc_writer_close(struct trc_writer *w)
{
	if (!w)
		return;
	trc_pages_unmap(w->stream, w->stream_bytes);
	trc_pages_unmap(w, w->memory_bytes);
}

/* --- information, sync points, tables --- */

int trc_writer_info(struct trc_writer *w, const char *key, const char *value)
{
	uint8_t *p = trc_writer_payload(w);

	if (w->out.closed)
		return w->out.closed;
	p = trc_put_counted(p, key, strnlen(key, KEY_BYTES_MAX));
	return trc_writer_payload_write(
		w, trc_put_counted(p, value, strnlen(value, VALUE_BYTES_MAX)), TRC_SECTION_INFO);
}

int trc_writer_sync(struct trc_writer *w, const struct trc_sync_point *sync)
{
	if (w->out.closed)
		return w->out.closed;
	w->last_sync = *sync;
	w->has_sync = true;
	return sync_write(w);
}

uint32_t trc_writer_string(struct trc_writer *w, const char *bytes, uint32_t n_bytes)
{
	return trc_tables_string(&w->tables, bytes, n_bytes);
}

uint32_t trc_writer_stack(struct trc_writer *w, uint32_t epoch, const uint64_t *frame,
			  uint32_t n_frames)
{
	return trc_tables_stack(&w->tables, epoch, frame, n_frames);
}

uint32_t trc_writer_label_set(struct trc_writer *w, const struct trc_label *label, uint32_t n)
{
	return trc_tables_label_set(&w->tables, label, n);
}

uint32_t trc_writer_string_of(const struct trc_writer *w, uint64_t id, const char **bytes)
{
	return trc_tables_string_of(&w->tables, id, bytes);
}

uint32_t trc_writer_stack_of(const struct trc_writer *w, uint64_t id, uint32_t *epoch,
			     const uint64_t **frame)
{
	return trc_tables_stack_of(&w->tables, id, epoch, frame);
}

uint32_t trc_writer_label_set_of(const struct trc_writer *w, uint64_t id,
				 struct trc_label label[TRC_LABELS_MAX])
{
	return trc_tables_label_set_of(&w->tables, id, label);
}

uint32_t trc_writer_module(struct trc_writer *w, const struct trc_module_entry *module)
{
	return trc_tables_module(&w->tables, module);
}

int trc_writer_module_end(struct trc_writer *w, uint32_t module_id, uint32_t last_epoch)
{
	int err = w->out.closed;

	return err ? err : trc_tables_module_end(&w->tables, module_id, last_epoch);
}

void trc_writer_each_module(const struct trc_writer *w,
			    void (*fn)(void *context, const struct trc_module_entry *module),
			    void *context)
{
	for (uint32_t id = 1; id <= w->tables.modules.n; id++)
		fn(context, &w->tables.modules.entry[id]);
}

int trc_writer_thread(struct trc_writer *w, const struct trc_thread_entry *thread)
{
	uint64_t full = w->tables.full;
	int err = w->out.closed;

	if (!err)
		err = trc_tables_thread(&w->tables, thread);
	if (err != -ENOMEM || w->generating)
		return err;
	/* Threads that ended give room once no event of this generation can cite them. */
	w->tables.full = full;
	err = trc_writer_generation(w);
	return err ? err : trc_tables_thread(&w->tables, thread);
}

/* --- the end --- */

void trc_writer_had_no_room(struct trc_writer *w, uint64_t n)
{
	w->tables.full += n;
}

void trc_writer_totals(const struct trc_writer *w, struct trc_writer_totals *totals)
{
	totals->events = w->written_events;
	for (uint32_t i = 0; i < w->n_streams; i++)
		for (unsigned int k = 1; w->stream[i].rows.n_chunks && k <= TRC_KIND_MAX; k++)
			totals->events += w->stream[i].rows.kind_count[k];
	totals->blocks = w->blocks;
	totals->generations = w->tables.generation;
	totals->file_bytes = w->out.file_bytes;
	totals->lost_events = w->lost_events;
	totals->clamped_times = w->clamped_times;
	totals->table_full = w->tables.full;
	totals->error = w->out.error;
}

static int end_write(struct trc_writer *w)
{
	uint8_t *p = trc_writer_payload(w);

	p = trc_varint_put(p, w->written_events);
	p = trc_varint_put(p, w->blocks);
	p = trc_varint_put(p, w->tables.generation);
	p = trc_varint_put(p, w->lost_events);
	p = trc_varint_put(p, w->clamped_times);
	p = trc_varint_put(p, w->tables.full);
	return trc_writer_payload_write(w, p, TRC_SECTION_END);
}

/* The last section of a file: its last eight bytes say where it begins. */
static int index_write(struct trc_writer *w)
{
	uint8_t *p = trc_writer_payload(w);

	if (w->n_index > w->max_index)
		return w->out.error;
	p = trc_varint_put(p, w->n_index);
	for (uint32_t i = 0; i < w->n_index; i++) {
		const struct index_entry *e = &w->index[i];

		p = trc_varint_put(p, e->file_off);
		p = trc_varint_put(p, e->n_blocks);
		p = trc_varint_put(p, e->n_events);
		p = trc_varint_put(p, e->first_ticks);
		p = trc_varint_put(p, e->last_ticks);
	}
	while ((p - trc_writer_payload(w)) % 8)
		*p++ = 0;
	trc_put64(p, w->out.file_bytes);
	w->section.used_bytes = (uint32_t)(p + 8 - trc_writer_payload(w));
	return trc_section_write_plain(&w->out, &w->section, TRC_SECTION_INDEX);
}

int trc_writer_finish(struct trc_writer *w)
{
	int err = trc_writer_flush(w);

	if (!err)
		err = end_write(w);
	if (!err)
		err = index_write(w);
	w->out.closed = w->out.error ? w->out.error : -EBADF;
	return err;
}
