/*
 * rows_locks.c - locks as columns of a page: their sums, the rows of the SQL table `locks`, in its order; and in which order threads take
 * them, the rows of `lock_order`: those that could be a deadlock first, then the others by time.
 */
#include "analyzer/model/descriptors.h"
#include "analyzer/model/lock_sums.h"
#include "rows.h"

enum { LOCKS_MAX = 20000, EDGES_MAX = 20000 };

/* A column of a page and its value a line, of the lock `sum`. */
#define LOCK_COLUMNS(C)                                                                            \
	C(object, trc_rows_object(r, sum->object, sum->stack))                                     \
	C(kind, sum->kind)                                                                         \
	C(name, trc_texts_id(&r->texts, lock_name(r, object, sum)))                                \
	C(allocated, object ? object->allocated_at : 0)                                            \
	C(waits, sum->waits.n)                                                                     \
	C(threads, sum->threads)                                                                   \
	C(waited, trc_rows_positive(sum->waits.total_ns))                                          \
	C(wait_p50, known_ns(sum->waits.p50_ns))                                                   \
	C(wait_p99, known_ns(sum->waits.p99_ns))                                                   \
	C(wait_max, known_ns(sum->waits.max_ns))                                                   \
	C(timed_out, sum->timed_out)                                                               \
	C(write_waits, sum->write_waits)                                                           \
	C(write_waited, trc_rows_positive(sum->write_waited_ns))                                   \
	C(holds_from, sum->holds_from)                                                             \
	C(holds, sum->holds.n)                                                                     \
	C(held, trc_rows_positive(sum->holds.total_ns))                                            \
	C(hold_p50, known_ns(sum->holds.p50_ns))                                                   \
	C(hold_p99, known_ns(sum->holds.p99_ns))                                                   \
	C(hold_max, known_ns(sum->holds.max_ns))                                                   \
	C(holds_preempted, sum->holds.n ? known_ns(sum->holds_preempted_ns) : 0)                   \
	C(write_holds, sum->write_holds)                                                           \
	C(write_held, trc_rows_positive(sum->write_held_ns))                                       \
	C(sections, sum->sections)                                                                 \
	C(caused_waits, sum->caused_waits)                                                         \
	C(caused, trc_rows_positive(sum->caused_ns))                                               \
	C(preempted_waits, known_ns(sum->preempted_waits_ns))                                      \
	C(convoys, sum->convoys)                                                                   \
	C(convoy, trc_rows_positive(sum->convoy_ns))                                               \
	C(convoy_handovers, sum->convoy_handovers)                                                 \
	C(convoy_start, sum->convoy_handovers ? trc_rows_time(r, sum->convoy_start_ns) : 0)

#define COLUMN_NAME(name, value) "lock." #name,
static const char *const column_name[] = {LOCK_COLUMNS(COLUMN_NAME)};
#undef COLUMN_NAME
enum { N = sizeof(column_name) / sizeof(*column_name) };

/* + 1; 0 = not known. */
static uint64_t known_ns(int64_t ns)
{
	return ns == TRC_NEVER ? 0 : (uint64_t)ns + 1;
}

/* Of a lock in memory the variable with its member, or the address; of a file its path. */
static const char *lock_name(const struct trc_rows *r, const struct trc_object *object,
			     const struct trc_lock_sum *sum)
{
	const struct trc_descriptor_name *file;

	if (object)
		return object->name;
	file = trc_model_descriptor(r->m, sum->descriptor);
	return file ? file->name : NULL;
}

static void lock_row_add(struct trc_rows *r, struct trc_column *c, const struct trc_lock_sum *sum)
{
	const struct trc_object *object = trc_model_object(r->m, sum->kind, sum->object);

#define COLUMN_ADD(name, value) trc_column_add(c++, value);
	LOCK_COLUMNS(COLUMN_ADD)
#undef COLUMN_ADD
}

static void write_sums(struct trc_rows *r, const struct trc_lock_sums *sums)
{
	struct trc_column c[N + 1];
	const struct trc_lock_sum *sum = sums->rows.row;

	for (size_t i = 0; i < N; i++)
		c[i] = trc_column_make(column_name[i], TRC_COLUMN_VARINT);
	/* One value: how many locks there are, with those that the page leaves out. */
	c[N] = trc_column_make("locks.all", TRC_COLUMN_VARINT);
	trc_column_add(&c[N], sums->rows.n);
	for (size_t row = 0; row < sums->rows.n && row < LOCKS_MAX; row++)
		lock_row_add(r, c, &sum[row]);
	trc_rows_columns(r, c, N + 1);
}

/* ---- the order in which they are taken ---- */

/* Of the end of a thread, which one waits for; 0 of others. */
static uint64_t joined(const struct trc_rows *r, uint8_t reason, uint32_t life)
{
	return reason == TRC_REASON_JOIN ? trc_rows_thread(r, life) : 0;
}

#define EDGE_COLUMNS(C)                                                                            \
	C(held, trc_rows_object(r, edge->held, edge->held_stack))                                  \
	C(held_reason, edge->held_reason)                                                          \
	C(held_thread, joined(r, edge->held_reason, edge->held_life))                              \
	C(held_stack, edge->held_stack)                                                            \
	C(taken, trc_rows_object(r, edge->taken, edge->taken_stack))                               \
	C(taken_reason, edge->taken_reason)                                                        \
	C(taken_thread, joined(r, edge->taken_reason, edge->taken_life))                           \
	C(taken_stack, edge->taken_stack)                                                          \
	C(thread, trc_rows_thread(r, edge->thread))                                                \
	C(several, edge->several_threads)                                                          \
	C(times, edge->count)                                                                      \
	C(deadlock, edge->deadlock)

#define COLUMN_NAME(name, value) "order." #name,
static const char *const edge_column[] = {EDGE_COLUMNS(COLUMN_NAME)};
#undef COLUMN_NAME
enum { N_OF_EDGE = sizeof(edge_column) / sizeof(*edge_column) };

static void lock_edge_row_add(struct trc_rows *r, struct trc_column *c,
			      const struct trc_lock_edge *edge)
{
#define COLUMN_ADD(name, value) trc_column_add(c++, value);
	EDGE_COLUMNS(COLUMN_ADD)
#undef COLUMN_ADD
}

static void write_order(struct trc_rows *r)
{
	struct trc_column c[N_OF_EDGE + 1];
	size_t n, left = EDGES_MAX;
	const struct trc_lock_edge *edge = trc_model_lock_edges(r->m, &n);

	for (size_t i = 0; i < N_OF_EDGE; i++)
		c[i] = trc_column_make(edge_column[i], TRC_COLUMN_VARINT);
	/* One value: how many pairs there are, with those that the page leaves out. */
	c[N_OF_EDGE] = trc_column_make("orders.all", TRC_COLUMN_VARINT);
	trc_column_add(&c[N_OF_EDGE], n);
	for (int risky = 1; risky >= 0; risky--)
		for (size_t i = 0; i < n && left; i++)
			if ((edge[i].deadlock != 0) == risky) {
				lock_edge_row_add(r, c, &edge[i]);
				left--;
			}
	trc_rows_columns(r, c, N_OF_EDGE + 1);
}

void trc_rows_locks(struct trc_rows *r)
{
	struct trc_lock_sums sums = {0};
	struct trc_error error;
	int err = trc_model_need(r->m, TRC_PART_OBJECTS | TRC_PART_LOCK_ORDER, &error);

	if (!err)
		err = trc_lock_sums_make(&sums, r->m, true, &error);
	if (err) {
		r->failed = true;
	} else {
		write_sums(r, &sums);
		write_order(r);
	}
	trc_lock_sums_free(&sums);
}
