/* fake_ring.c - see fake_ring.h. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "recorder/shared/clock.h"
#include "recorder/shared/labels_bytes.h"
#include "fake_ring.h"
#include "tests/often.h"

int fake_sink(void *context, const void *bytes, size_t n_bytes)
{
	struct fake *f = context;

	if (f->sink_error)
		return f->sink_error;
	if (f->file_bytes + n_bytes > f->room_bytes) {
		f->room_bytes = 2 * (f->file_bytes + n_bytes);
		f->file = realloc(f->file, f->room_bytes);
		ck_assert_ptr_nonnull(f->file);
	}
	memcpy(f->file + f->file_bytes, bytes, n_bytes);
	f->file_bytes += n_bytes;
	return 0;
}

void fake_init_in(struct fake *f, int fd, const struct trc_layout_options *layout)
{
	struct trc_shared header = {0};
	struct trc_shared *s;

	memset(f, 0, sizeof(*f));
	trc_clock_setup(0);
	ck_assert_int_eq(trc_layout_plan(&header, layout), 0);
	memcpy(header.magic, TRC_LAYOUT_MAGIC, sizeof(header.magic));
	header.layout_version = TRC_LAYOUT_VERSION;
	header.schema_hash = trc_schema_hash();
	header.clock = (uint32_t)trc_clock_kind;
	header.ticks_per_second = trc_clock_ticks_per_second();
	trc_clock_sync(&header.start);
	f->fd = fd;
	ck_assert_int_ge(f->fd, 0);
	ck_assert_int_eq(ftruncate(f->fd, (off_t)header.total_bytes), 0);
	s = mmap(NULL, header.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	ck_assert_ptr_ne(s, MAP_FAILED);
	memcpy(s, &header, sizeof(header));
	atomic_store(&s->state, TRC_SHARED_LIVE);
	atomic_store(&s->next_serial, 1000);
	atomic_store(&s->ready_slots, header.n_threads);
	for (int i = 0; i < TRC_GROWN_PAGES / 64; i++)
		atomic_store(&s->grown[i], UINT64_MAX);
	for (uint32_t i = 0; i < FAKE_PROCS; i++)
		atomic_store(&trc_ring_at(s, i)->state, TRC_RING_READY);
	f->shared = s;
	f->mapped_bytes = header.total_bytes;
}

void fake_init_alone(struct fake *f, uint64_t ring_bytes)
{
	const struct trc_layout_options layout = {.ring_bytes = ring_bytes,
						  .n_procs = FAKE_PROCS,
						  .n_threads = 8,
						  .overflow_bytes = 16384};

	fake_init_in(f, memfd_create("ring", MFD_CLOEXEC), &layout);
}

void fake_init(struct fake *f, uint64_t ring_bytes, const struct trc_drain_options *options)
{
	static const struct trc_drain_options defaults;

	fake_init_alone(f, ring_bytes);
	fake_begin(f, options ? options : &defaults);
}

void fake_begin(struct fake *f, const struct trc_drain_options *options)
{
	const struct trc_writer_options wo = {.clock = trc_clock_kind,
					      .ticks_per_second = trc_clock_ticks_per_second(),
					      .n_procs = FAKE_PROCS,
					      .memory_bytes = 8 << 20};

	ck_assert_int_eq(trc_writer_open(&f->w, &wo, fake_sink, f), 0);
	ck_assert_int_eq(trc_drain_open(&f->drain, f->shared, f->mapped_bytes, f->w, options), 0);
}

void fake_go_on(struct fake *f)
{
	struct trc_drain *left = f->drain;
	const struct trc_drain_options options = {.join = true, .after = left};

	ck_assert_int_eq(trc_drain_finish(left, TRC_DRAIN_LEFT), 0);
	trc_writer_close(f->w);
	f->file_bytes = 0;
	trc_clock_sync(&f->went_on);
	fake_begin(f, &options);
	ck_assert(trc_drain_goes_on(f->drain));
	trc_drain_close(left);
}

void fake_free(struct fake *f)
{
	trc_drain_close(f->drain);
	trc_writer_close(f->w);
	munmap(f->shared, f->mapped_bytes);
	close(f->fd);
	free(f->file);
}

uint64_t fake_time(const struct fake *f, uint64_t after)
{
	return f->shared->start.ticks + after;
}

/* ---- rings ----------------------------------------------------------------------------- */

static _Atomic uint64_t *word_at(struct fake *f, uint32_t proc, uint64_t pos)
{
	return trc_ring_data(f->shared, proc) + (pos & (f->shared->ring_words - 1));
}

/* Room for n words below limit, as a writer makes it; false if the ring is full. */
static bool make_room(struct fake *f, uint32_t proc, uint32_t n)
{
	struct trc_ring *ring = trc_ring_at(f->shared, proc);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint64_t limit = atomic_load_explicit(&ring->limit, memory_order_relaxed);
	uint64_t page = f->shared->page_words;

	if (head + n <= limit)
		return true;
	if (!f->overwrite &&
	    limit + page - atomic_load_explicit(&ring->tail, memory_order_acquire) >
		    f->shared->ring_words)
		return false;
	if (head < limit) {
		atomic_store_explicit(word_at(f, proc, head), 0, memory_order_relaxed);
		atomic_store_explicit(&ring->head, limit, memory_order_release);
	}
	if (limit + page > f->shared->ring_words)
		atomic_store_explicit(&ring->floor, limit + page - f->shared->ring_words,
				      memory_order_relaxed);
	/* release fence: floor is moved before words are overwritten (R5). */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&ring->limit, limit + page, memory_order_release);
	return true;
}

void fake_put_raw(struct fake *f, uint32_t proc, const uint64_t *words, uint32_t n_words)
{
	struct trc_ring *ring = trc_ring_at(f->shared, proc);
	uint64_t head;

	expect(make_room(f, proc, n_words));
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	for (uint32_t i = 0; i < n_words; i++)
		atomic_store_explicit(word_at(f, proc, head + i), words[i], memory_order_relaxed);
	atomic_store_explicit(&ring->head, head + n_words, memory_order_release);
}

bool fake_put(struct fake *f, uint32_t proc, uint64_t after, unsigned int kind, unsigned int flags,
	      uint32_t serial, const uint64_t *words, uint32_t n_words)
{
	uint64_t record[TRC_REC_WORDS_MAX];

	if (!make_room(f, proc, n_words + 2))
		return false;
	record[0] = fake_time(f, after);
	record[1] = TRC_REC_WORD1(kind, flags, n_words + 2, serial);
	if (n_words)
		memcpy(record + 2, words, n_words * sizeof(*words));
	fake_put_raw(f, proc, record, n_words + 2);
	return true;
}

/* ---- the overflow stream --------------------------------------------------------------- */

struct trc_overflow *fake_overflow(struct fake *f)
{
	return trc_area(f->shared, f->shared->overflow_off);
}

static struct trc_cell *cell_at(struct fake *f, uint64_t position)
{
	return (struct trc_cell *)trc_area(f->shared, f->shared->cells_off) +
	       (position & (f->shared->n_cells - 1));
}

uint64_t fake_reserve(struct fake *f, uint32_t n_cells)
{
	return atomic_fetch_add(&fake_overflow(f)->head, n_cells);
}

static uint64_t claim_of(struct fake *f, uint64_t position, uint32_t n_cells, uint32_t proc,
			 uint32_t tid)
{
	return TRC_CLAIM(tid, proc, position / f->shared->n_cells, n_cells);
}

void fake_claim(struct fake *f, uint64_t position, uint32_t n_cells, uint32_t proc, uint32_t tid)
{
	atomic_store(&cell_at(f, position)->word[0], claim_of(f, position, n_cells, proc, tid));
}

void fake_commit(struct fake *f, uint64_t position, uint32_t n_cells, uint32_t proc, uint32_t tid,
		 const uint64_t *words, uint32_t n_words)
{
	uint32_t used = 0;

	for (uint32_t c = 0; c < n_cells; c++) {
		uint64_t word[7] = {0};
		int i = 0;

		if (!c)
			word[i++] = claim_of(f, position, n_cells, proc, tid);
		for (; i < 7 && used < n_words; i++)
			word[i] = words[used++];
		for (i = 0; i < 7; i++)
			atomic_store(&cell_at(f, position + c)->word[i], word[i]);
		atomic_store(&cell_at(f, position + c)->commit,
			     trc_cell_commit(position + c, !c, word));
	}
}

void fake_cell_put(struct fake *f, uint64_t after, uint32_t tid, uint64_t a, uint64_t b)
{
	uint64_t words[4] = {fake_time(f, after), TRC_REC_WORD1(TRC_KIND_RELEASE, 0, 4, 1), a, b};
	uint64_t position = fake_reserve(f, 1);

	fake_commit(f, position, 1, 1, tid, words, 4);
}

/* ---- tables ---------------------------------------------------------------------------- */

static void entry_fill(struct trc_entry_head *e, uint64_t hash, uint32_t epoch, const void *content,
		       uint32_t n, size_t n_bytes)
{
	memcpy(e + 1, content, n_bytes);
	atomic_store(&e->epoch, epoch);
	atomic_store(&e->n, n);
	atomic_store(&e->key, TRC_ID_HASH(hash) << 2 | TRC_KEY_VALID);
}

uint64_t fake_stack(struct fake *f, uint32_t index, uint32_t epoch, const uint64_t *frame,
		    uint32_t n)
{
	uint64_t hash = 0x1234567 + index * 77 + frame[0];
	uint64_t id = TRC_ID(0, index, hash);

	entry_fill(trc_stack_entry(f->shared, id), hash, epoch, frame, n, n * 8);
	return id;
}

uint64_t fake_string(struct fake *f, uint32_t index, const char *text)
{
	uint64_t hash = 0x7654321 + index * 99 + (unsigned char)text[0];
	uint64_t id = TRC_ID(0, index, hash);

	entry_fill(trc_string_entry(f->shared, id), hash, 0, text, (uint32_t)strlen(text),
		   strlen(text));
	return id;
}

uint32_t fake_labels_bytes(char bytes[64], const char *key, const char *value)
{
	struct trc_label label = {.key = key,
				  .value = value,
				  .key_bytes = (uint32_t)strlen(key),
				  .value_bytes = (uint32_t)strlen(value)};
	char *at = bytes;

	ck_assert(trc_label_put(&at, bytes + 64, &label));
	return (uint32_t)(at - bytes);
}

uint64_t fake_labels(struct fake *f, uint32_t index, const char *key, const char *value)
{
	uint64_t hash = 0x5555555 + index * 55 + (unsigned char)value[0];
	uint64_t id = TRC_ID(0, index, hash);
	char bytes[64];
	uint32_t n_bytes = fake_labels_bytes(bytes, key, value);

	entry_fill(trc_labels_entry(f->shared, id), hash, 0, bytes, n_bytes, n_bytes);
	return id;
}

struct trc_slot *fake_slot(struct fake *f, uint32_t i, uint32_t serial, uint32_t tid,
			   const char *name)
{
	struct trc_slot *slot = (struct trc_slot *)trc_area(f->shared, f->shared->threads_off) + i;

	atomic_store(&slot->serial, serial);
	atomic_store(&slot->tid, tid);
	atomic_store(&slot->start, fake_time(f, 0));
	atomic_store(&slot->name_bytes, (uint32_t)strlen(name));
	memcpy((void *)slot->name, name, strlen(name));
	atomic_fetch_add(&slot->seq, 2);
	atomic_store(&slot->state, TRC_SLOT_LIVE);
	return slot;
}

void fake_module(struct fake *f, uint32_t i, uint64_t start, uint64_t limit, const char *path)
{
	struct trc_module_slot *slot =
		(struct trc_module_slot *)trc_area(f->shared, f->shared->modules_off) + i;
	uint64_t off = 1 + 64 * (uint64_t)i;

	strcpy((char *)trc_area(f->shared, f->shared->heap_off) + off, path);
	slot->start = start;
	slot->limit = limit;
	slot->path_off = off;
	slot->build_id[0] = 0xab;
	slot->build_id_bytes = 20;
	atomic_store(&slot->last_epoch, UINT32_MAX);
	atomic_store(&slot->state, TRC_MODULE_READY);
	if (atomic_load(&f->shared->n_modules_used) < i + 1)
		atomic_store(&f->shared->n_modules_used, i + 1);
}

/* ---- reading back ---------------------------------------------------------------------- */

static void add_rows(struct fake_file *file, const struct trc_block_info *info,
		     const struct trc_columns *c)
{
	for (uint32_t i = 0; i < c->n_events; i++) {
		struct fake_row *row = &file->row[file->n_rows++];
		const struct trc_kind_info *kind = trc_kind_info(c->kind[i]);

		expect(file->n_rows < FAKE_ROWS_MAX);
		*row = (struct fake_row){.kind = c->kind[i],
					 .source = info->source,
					 .proc = c->proc[i],
					 .thread = c->thread[i],
					 .ns = c->time_ns[i]};
		for (unsigned int a = 0; a < kind->n_args; a++) {
			uint32_t rank = c->rank[i];

			if (kind->arg[a].type != TRC_ARG_TEXT) {
				row->arg[a] = c->arg[row->kind][a][rank];
			} else {
				const uint32_t *off = c->text_off[row->kind];
				uint32_t n = off[rank + 1] - off[rank];

				memcpy(row->text, c->text[row->kind] + off[rank],
				       n < sizeof(row->text) ? n : sizeof(row->text) - 1);
			}
		}
	}
}

void fake_read_back(struct fake *f, struct fake_file *file)
{
	struct trc_error error;

	memset(file, 0, sizeof(*file));
	file->row = calloc(FAKE_ROWS_MAX, sizeof(*file->row));
	ck_assert_ptr_nonnull(file->row);
	ck_assert_msg(!trc_reader_open_memory(&file->r, f->file, f->file_bytes, &error), "%s",
		      error.text);
	for (size_t i = 0; i < trc_reader_blocks(file->r); i++) {
		struct trc_columns *c;

		ck_assert_msg(!trc_reader_load(file->r, i, TRC_WANT_ALL, NULL, &c, &error), "%s",
			      error.text);
		add_rows(file, trc_reader_block(file->r, i), c);
		trc_columns_free(c);
	}
}

static void check_file(struct fake_file *file)
{
	ck_assert_ptr_null(trc_reader_warning(file->r));
	ck_assert(trc_reader_info(file->r)->complete);
	ck_assert_uint_eq(trc_reader_info(file->r)->dangling_ids, 0);
}

void fake_finish(struct fake *f, enum trc_drain_end how, struct fake_file *file)
{
	int err = trc_drain_finish(f->drain, how);

	ck_assert_int_eq(err, f->sink_error);
	ck_assert_int_eq(trc_writer_finish(f->w), f->sink_error);
	fake_read_back(f, file);
	if (f->sink_error)
		return;
	check_file(file);
}

void fake_snapshot(struct fake *f, const struct trc_snapshot_options *options,
		   struct fake_file *file)
{
	struct trc_writer_options wo;
	struct trc_snapshot *s;
	struct trc_writer *w;
	uint64_t from, cut;
	const char *why;

	ck_assert_msg(!(f->from_file
				? trc_snapshot_take_file(&s, f->fd, options, &why)
				: trc_snapshot_take(&s, f->shared, f->mapped_bytes, options, &why)),
		      "%s", why);
	trc_snapshot_window(s, &from, &cut);
	trc_snapshot_writer_options(s, &wo);
	wo.memory_bytes = 8 << 20;
	f->file_bytes = 0;
	ck_assert_int_eq(trc_writer_open(&w, &wo, fake_sink, f), 0);
	ck_assert_int_eq(trc_snapshot_info(s, w), 0);
	ck_assert_int_eq(trc_snapshot_write(s, w, NULL, NULL), 0);
	ck_assert_int_eq(trc_writer_finish(w), 0);
	trc_writer_close(w);
	fake_read_back(f, file);
	check_file(file);
	file->from = from;
	file->cut = cut;
	trc_snapshot_totals(s, &file->totals);
	trc_snapshot_free(s);
}

void fake_file_free(struct fake_file *file)
{
	trc_reader_close(file->r);
	free(file->row);
}

const struct fake_row *fake_row(const struct fake_file *file, unsigned int kind, size_t i)
{
	for (size_t k = 0; k < file->n_rows; k++)
		if (file->row[k].kind == kind && !i--)
			return &file->row[k];
	return NULL;
}

size_t fake_count(const struct fake_file *file, unsigned int kind)
{
	size_t n = 0;

	while (fake_row(file, kind, n))
		n++;
	return n;
}

const char *fake_labels_text(const struct fake_file *file, uint64_t id)
{
	static char text[100];
	const struct trc_label *label;
	uint32_t n;

	text[0] = '\0';
	if (!id)
		return text;
	ck_assert_int_eq(trc_reader_label_set(file->r, (uint32_t)id, &label, &n), 0);
	ck_assert_uint_eq(n, 1);
	snprintf(text, sizeof(text), "%.*s=%.*s", (int)label->key_bytes, label->key,
		 (int)label->value_bytes, label->value);
	return text;
}

const char *fake_thread_labels(const struct fake_file *file, uint32_t thread)
{
	const struct trc_thread_labels_entry *entry;
	size_t n = trc_reader_thread_labels(file->r, &entry);

	for (size_t i = 0; i < n; i++)
		if (entry[i].thread == thread)
			return fake_labels_text(file, entry[i].labels);
	return "";
}

const char *fake_thread_fiber(const struct fake_file *file, uint32_t thread)
{
	static char text[100];
	const struct trc_thread_fiber_entry *entry;
	size_t n = trc_reader_thread_fibers(file->r, &entry);

	for (size_t i = 0; i < n; i++) {
		uint32_t n_bytes = 0;
		const char *name = trc_reader_string(file->r, entry[i].name, &n_bytes);

		if (entry[i].thread != thread)
			continue;
		snprintf(text, sizeof(text), "%lu %.*s", entry[i].fiber, (int)n_bytes,
			 name ? name : "");
		return text;
	}
	return "";
}

uint64_t fake_lost(const struct fake_file *file, unsigned int cause)
{
	uint64_t lost = 0;

	for (size_t k = 0; k < file->n_rows; k++)
		if (file->row[k].kind == TRC_KIND_GAP && (!cause || file->row[k].arg[2] == cause))
			lost += file->row[k].arg[0];
	return lost;
}
