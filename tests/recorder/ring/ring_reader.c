/* ring_reader.c - see ring_reader.h */
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "recorder/shared/clock.h"
#include "ring_reader.h"

void ring_reader_init(struct ring_reader *r, struct trc_shared *shared, size_t capacity)
{
	memset(r, 0, sizeof(*r));
	r->seen = malloc(capacity * sizeof(*r->seen));
	r->capacity = capacity;
	r->lost_seen = calloc(shared->n_procs, sizeof(*r->lost_seen));
	r->visit = calloc(shared->n_procs + 1, sizeof(*r->visit));
	for (uint32_t i = 0; i <= shared->n_procs; i++)
		r->visit[i].began_ns = trc_clock_vdso();
}

void ring_reader_free(struct ring_reader *r)
{
	free(r->seen);
	free(r->lost_seen);
	free(r->visit);
}

/* Room was given back in a visit that began then: nobody has waited for longer than since the visit before. */
static void visited(struct ring_reader *r, uint32_t ring, uint64_t began_ns,
		    _Atomic uint64_t *lost_total)
{
	uint64_t lost = atomic_load(lost_total);
	uint64_t away_ns = trc_clock_vdso() - r->visit[ring].began_ns;

	if (away_ns > r->away_ns)
		r->away_ns = away_ns;
	if (away_ns > PATIENCE_NS)
		r->absences++;
	else
		r->lost_soon += lost - r->visit[ring].lost;
	r->visit[ring].began_ns = began_ns;
	r->visit[ring].lost = lost;
}

static void keep(struct ring_reader *r, uint32_t stream, const uint64_t *word, uint32_t n)
{
	struct seen *s = &r->seen[r->n_seen];

	if (r->n_seen == r->capacity)
		abort();
	memset(s, 0, sizeof(*s));
	s->time = word[0];
	s->kind = TRC_REC_KIND(word[1]);
	s->flags = TRC_REC_FLAGS(word[1]);
	s->serial = TRC_REC_SERIAL(word[1]);
	s->stream = stream;
	s->a = n > 2 ? word[2] : 0;
	s->b = n > 3 ? word[3] : 0;
	s->c = n > 4 ? word[4] : 0;
	s->d = n > 5 ? word[5] : 0;
	s->e = n > 6 ? word[6] : 0;
	s->f = n > 7 ? word[7] : 0;
	r->n_seen++;
}

static void give_back(_Atomic uint64_t *tail, uint64_t to, _Atomic uint32_t *waiters,
		      _Atomic uint32_t *space)
{
	atomic_store(tail, to);
	if (atomic_load(waiters)) {
		atomic_fetch_add(space, 1);
		syscall(SYS_futex, space, FUTEX_WAKE, 1000, NULL, NULL, 0);
	}
}

static void take_record(struct ring_reader *r, uint32_t proc, const uint64_t *word, uint32_t n)
{
	if (TRC_REC_KIND(word[1]) == TRC_KIND_GAP) {
		r->lost += word[2] - r->lost_seen[proc];
		r->lost_seen[proc] = word[2];
		return;
	}
	keep(r, proc, word, n);
}

static size_t pass_ring(struct ring_reader *r, struct trc_shared *shared, uint32_t proc)
{
	struct trc_ring *ring = trc_ring_at(shared, proc);
	_Atomic uint64_t *data = trc_ring_data(shared, proc);
	uint64_t began_ns = trc_clock_vdso();
	uint64_t tail = atomic_load(&ring->tail);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	uint64_t mask = shared->ring_words - 1;
	size_t n_records = 0;

	while (tail < head) {
		const uint64_t *word = (const uint64_t *)&data[tail & mask];
		uint64_t page_end = (tail | (shared->page_words - 1)) + 1;
		uint32_t n = TRC_REC_WORDS(word[1]);

		if (word[0] == 0) {
			tail = page_end;
			continue;
		}
		if (n < 2 || tail + n > page_end || tail + n > head) {
			r->damaged++;
			tail = page_end;
			continue;
		}
		take_record(r, proc, word, n);
		n_records++;
		tail += n;
	}
	give_back(&ring->tail, tail < head ? tail : head, &ring->waiters, &ring->space);
	visited(r, proc, began_ns, &ring->lost_total);
	return n_records;
}

/* The words of a committed cell; false if it is not committed (yet). */
static bool read_cell(struct trc_shared *shared, uint64_t position, bool first, uint64_t word[7])
{
	struct trc_cell *cell = (struct trc_cell *)trc_area(shared, shared->cells_off) +
				(position & (shared->n_cells - 1));
	uint64_t commit = atomic_load_explicit(&cell->commit, memory_order_acquire);

	for (int i = 0; i < 7; i++)
		word[i] = atomic_load_explicit(&cell->word[i], memory_order_relaxed);
	return commit == trc_cell_commit(position, first, word);
}

static size_t pass_overflow(struct ring_reader *r, struct trc_shared *shared)
{
	struct trc_overflow *o = trc_area(shared, shared->overflow_off);
	uint64_t began_ns = trc_clock_vdso();
	uint64_t tail = atomic_load(&o->tail), head = atomic_load_explicit(&o->head, memory_order_acquire);
	size_t n_records = 0;

	while (tail < head) {
		uint64_t word[7], record[6 + 7 * 255];
		uint32_t cells, i;

		if (!read_cell(shared, tail, true, word))
			break;
		cells = TRC_CLAIM_CELLS(word[0]);
		memcpy(record, word + 1, 6 * 8);
		for (i = 1; i < cells && read_cell(shared, tail + i, false, word); i++)
			memcpy(record + 6 + (i - 1) * 7, word, sizeof(word));
		if (i < cells)
			break;
		keep(r, STREAM_OVERFLOW, record, TRC_REC_WORDS(record[1]));
		n_records++;
		tail += cells;
	}
	give_back(&o->tail, tail, &o->waiters, &o->space);
	if (n_records || tail == head) /* else it waits for a writer */
		visited(r, shared->n_procs, began_ns, &o->lost_total);
	return n_records;
}

size_t ring_reader_pass(struct ring_reader *r, struct trc_shared *shared)
{
	size_t n_records = pass_overflow(r, shared);

	for (uint32_t proc = 0; proc < shared->n_procs; proc++)
		if (atomic_load_explicit(&trc_ring_at(shared, proc)->state,
					 memory_order_acquire) == TRC_RING_READY)
			n_records += pass_ring(r, shared, proc);
		else
			r->visit[proc].began_ns = trc_clock_vdso();
	atomic_fetch_add(&shared->table_epoch, 1);
	return n_records;
}

void ring_reader_finish(struct ring_reader *r, struct trc_shared *shared)
{
	struct trc_overflow *o = trc_area(shared, shared->overflow_off);

	while (ring_reader_pass(r, shared))
		;
	r->lost += atomic_load(&o->lost_total);
	for (uint32_t proc = 0; proc < shared->n_procs; proc++)
		r->lost += atomic_load(&trc_ring_at(shared, proc)->lost_total) - r->lost_seen[proc];
}
