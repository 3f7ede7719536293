/*
 * rows_locks.c - the sums of locks as columns of a page: the rows of the SQL table `locks`, in its order.
 */
#include "analyzer/model/descriptors.h"
#include "analyzer/model/lock_sums.h"
#include "rows.h"

enum { LOCKS_MAX = 20000 };

enum lock_column {
	OBJECT,
	KIND,
	NAME,
	ALLOCATED,
	WAITS,
	THREADS,
	WAITED,
	WAIT_P50,
	WAIT_P99,
	WAIT_MAX,
	TIMED_OUT,
	WRITE_WAITS,
	WRITE_WAITED,
	HOLDS_FROM,
	HOLDS,
	HELD,
	HOLD_P50,
	HOLD_P99,
	HOLD_MAX,
	HOLDS_PREEMPTED,
	WRITE_HOLDS,
	WRITE_HELD,
	SECTIONS,
	CAUSED_WAITS,
	CAUSED,
	PREEMPTED_WAITS,
	CONVOYS,
	CONVOY,
	CONVOY_HANDOVERS,
	CONVOY_START,
	N
};

static const char *const column_name[N] = {
	[OBJECT] = "lock.object",
	[KIND] = "lock.kind",
	[NAME] = "lock.name",
	[ALLOCATED] = "lock.allocated",
	[WAITS] = "lock.waits",
	[THREADS] = "lock.threads",
	[WAITED] = "lock.waited",
	[WAIT_P50] = "lock.wait_p50",
	[WAIT_P99] = "lock.wait_p99",
	[WAIT_MAX] = "lock.wait_max",
	[TIMED_OUT] = "lock.timed_out",
	[WRITE_WAITS] = "lock.write_waits",
	[WRITE_WAITED] = "lock.write_waited",
	[HOLDS_FROM] = "lock.holds_from",
	[HOLDS] = "lock.holds",
	[HELD] = "lock.held",
	[HOLD_P50] = "lock.hold_p50",
	[HOLD_P99] = "lock.hold_p99",
	[HOLD_MAX] = "lock.hold_max",
	[HOLDS_PREEMPTED] = "lock.holds_preempted",
	[WRITE_HOLDS] = "lock.write_holds",
	[WRITE_HELD] = "lock.write_held",
	[SECTIONS] = "lock.sections",
	[CAUSED_WAITS] = "lock.caused_waits",
	[CAUSED] = "lock.caused",
	[PREEMPTED_WAITS] = "lock.preempted_waits",
	[CONVOYS] = "lock.convoys",
	[CONVOY] = "lock.convoy",
	[CONVOY_HANDOVERS] = "lock.convoy_handovers",
	[CONVOY_START] = "lock.convoy_start",
};

/* + 1; 0 = not known. */
static uint64_t known_ns(int64_t ns)
{
	return ns == TRC_NEVER ? 0 : (uint64_t)ns + 1;
}

static uint64_t whole_ns(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

/* Of a lock in memory the variable with its member, or the address; of a file its path. */
static const char *name_of(const struct trc_rows *r, const struct trc_object *object,
			   const struct trc_lock_sum *sum)
{
	const struct trc_descriptor_name *file;

	if (object)
		return object->name;
	file = trc_model_descriptor(r->m, sum->descriptor);
	return file ? file->name : NULL;
}

static void put_what(struct trc_rows *r, const struct trc_lock_sum *sum, uint64_t value[N])
{
	const struct trc_object *object = trc_model_object(r->m, sum->kind, sum->object);

	value[OBJECT] = trc_rows_object(r, sum->object, sum->stack);
	value[KIND] = sum->kind;
	value[NAME] = trc_texts_id(&r->texts, name_of(r, object, sum));
	value[ALLOCATED] = object ? object->allocated_at : 0;
}

static void put_waits(const struct trc_lock_sum *sum, uint64_t value[N])
{
	value[WAITS] = sum->waits.n;
	value[THREADS] = sum->threads;
	value[WAITED] = whole_ns(sum->waits.total_ns);
	value[WAIT_P50] = known_ns(sum->waits.p50_ns);
	value[WAIT_P99] = known_ns(sum->waits.p99_ns);
	value[WAIT_MAX] = known_ns(sum->waits.max_ns);
	value[TIMED_OUT] = sum->timed_out;
	value[WRITE_WAITS] = sum->write_waits;
	value[WRITE_WAITED] = whole_ns(sum->write_waited_ns);
}

static void put_holds(const struct trc_lock_sum *sum, uint64_t value[N])
{
	value[HOLDS_FROM] = sum->holds_from;
	value[HOLDS] = sum->holds.n;
	value[HELD] = whole_ns(sum->holds.total_ns);
	value[HOLD_P50] = known_ns(sum->holds.p50_ns);
	value[HOLD_P99] = known_ns(sum->holds.p99_ns);
	value[HOLD_MAX] = known_ns(sum->holds.max_ns);
	value[HOLDS_PREEMPTED] = sum->holds.n ? known_ns(sum->holds_preempted_ns) : 0;
	value[WRITE_HOLDS] = sum->write_holds;
	value[WRITE_HELD] = whole_ns(sum->write_held_ns);
}

static void put_caused(const struct trc_rows *r, const struct trc_lock_sum *sum, uint64_t value[N])
{
	value[SECTIONS] = sum->sections;
	value[CAUSED_WAITS] = sum->caused_waits;
	value[CAUSED] = whole_ns(sum->caused_ns);
	value[PREEMPTED_WAITS] = known_ns(sum->preempted_waits_ns);
	value[CONVOYS] = sum->convoys;
	value[CONVOY] = whole_ns(sum->convoy_ns);
	value[CONVOY_HANDOVERS] = sum->convoy_handovers;
	value[CONVOY_START] = sum->convoy_handovers ? trc_rows_time(r, sum->convoy_start_ns) : 0;
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
	for (size_t row = 0; row < sums->rows.n && row < LOCKS_MAX; row++) {
		uint64_t value[N];

		put_what(r, &sum[row], value);
		put_waits(&sum[row], value);
		put_holds(&sum[row], value);
		put_caused(r, &sum[row], value);
		for (size_t i = 0; i < N; i++)
			trc_column_add(&c[i], value[i]);
	}
	trc_rows_columns(r, c, N + 1);
}

void trc_rows_locks(struct trc_rows *r)
{
	struct trc_lock_sums sums = {0};
	struct trc_error error;
	int err = trc_model_need(r->m, TRC_PART_OBJECTS, &error);

	if (!err)
		err = trc_lock_sums_make(&sums, r->m, true, &error);
	if (err)
		r->failed = true;
	else
		write_sums(r, &sums);
	trc_lock_sums_free(&sums);
}
