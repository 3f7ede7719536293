/*
 * rows.c - see rows.h: threads, gaps, stacks, and the tables that all share.
 */
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/profile/profile.h"
#include "analyzer/report/report.h"
#include "format/module_owner.h"
#include "intervals.h"

uint32_t trc_rows_thread(const struct trc_rows *r, uint32_t serial)
{
	size_t n;
	const struct trc_thread *all = trc_model_threads(r->m, &n);
	const struct trc_thread *t = serial ? trc_model_thread(r->m, serial) : NULL;

	return t ? (uint32_t)(t - all) + 1 : 0;
}

uint64_t trc_rows_time(const struct trc_rows *r, int64_t ns)
{
	int64_t start = trc_model_start_ns(r->m), end = trc_model_end_ns(r->m);

	if (ns == TRC_NEVER || ns > end)
		return (uint64_t)(end - start);
	return ns < start ? 0 : (uint64_t)(ns - start);
}

uint64_t trc_rows_time_or_never(const struct trc_rows *r, int64_t ns)
{
	return ns == TRC_NEVER ? 0 : trc_rows_time(r, ns) + 1;
}

uint64_t trc_rows_keep_from(const uint64_t by_length[65], uint64_t n_max)
{
	uint64_t n = 0;

	for (unsigned int bits = 64; bits > 0; bits--) {
		n += by_length[bits];
		if (n > n_max)
			return bits < 64 ? (uint64_t)1 << bits : UINT64_MAX;
	}
	return n + by_length[0] > n_max ? 1 : 0;
}

void trc_rows_columns(struct trc_rows *r, struct trc_column *column, size_t n)
{
	for (size_t i = 0; i < n; i++)
		trc_page_column(r->page, &column[i]);
}

void trc_rows_leave_out(struct trc_rows *r, enum trc_rows_table table, size_t i, size_t n)
{
	if (!r->left_out[table])
		r->left_out[table] = calloc(n / 8 + 1, 1);
	r->failed |= !r->left_out[table];
	if (r->left_out[table])
		r->left_out[table][i / 8] |= (uint8_t)(1U << i % 8);
	r->n_left_out[table]++;
}

bool trc_rows_has(const struct trc_rows *r, enum trc_rows_table table, size_t i)
{
	const uint8_t *bits = table < TRC_ROWS_TABLES ? r->left_out[table] : NULL;

	return !bits || !(bits[i / 8] >> i % 8 & 1);
}

static bool object_names_reserve(struct trc_rows *r, uint32_t n)
{
	uint32_t capacity = r->object_names_capacity ? r->object_names_capacity : 256;
	struct trc_object_name *name;

	if (n <= r->object_names_capacity)
		return true;
	while (capacity < n)
		capacity *= 2;
	name = realloc(r->object_name, capacity * sizeof(*name));
	if (!name)
		return false;
	memset(name + r->object_names_capacity, 0,
	       (capacity - r->object_names_capacity) * sizeof(*name));
	r->object_name = name;
	r->object_names_capacity = capacity;
	return true;
}

/* The variable, and its member; the offset into that.  Without a variable, the module's section.  0 = not known. */
static uint32_t variable_text(struct trc_rows *r, uint64_t object, uint32_t stack, uint64_t *offset)
{
	const char *name = trc_model_variable(r->m, object, stack, offset);
	char *whole, data[TRC_DATA_NAME_BYTES];
	uint32_t text;

	if (!name && trc_model_data_name(data, r->m, object, stack))
		return trc_texts_id(&r->texts, data);
	if (!name)
		return 0;
	if (asprintf(&whole, "%s%s", name, trc_model_member(r->m, object, stack, offset)) < 0) {
		r->failed = true;
		return 0;
	}
	text = trc_texts_id(&r->texts, whole);
	free(whole);
	return text;
}

/* Once per object and epoch. */
static void object_look_up(struct trc_rows *r, struct trc_object_name *n, uint64_t object,
			   uint32_t stack)
{
	struct trc_stack_view view;
	uint64_t offset;
	uint32_t text;

	if (!stack || trc_reader_stack(trc_model_reader(r->m), stack, &view) ||
	    n->epoch == view.epoch + 1)
		return;
	text = variable_text(r, object, stack, &offset);
	n->several |= n->epoch && (n->text != text || n->offset != offset);
	n->epoch = view.epoch + 1;
	n->text = text;
	n->offset = offset;
}

uint32_t trc_rows_object(struct trc_rows *r, uint64_t object, uint32_t stack)
{
	enum { DESCRIPTORS = 65536 }; /* no address is as low */
	uint32_t number = trc_index_number(&r->objects, object);

	if (!number || !object_names_reserve(r, number)) {
		r->failed = true;
		return 0;
	}
	r->object_name[number - 1].object = object;
	if (object >= DESCRIPTORS)
		object_look_up(r, &r->object_name[number - 1], object, stack);
	return number;
}

static void rows_write_threads(struct trc_rows *r)
{
	enum { SERIAL, TID, NAME, CREATOR, STACK, START, END, EVENTS, WAITS, IDLE, COUNTS, N };
	struct trc_column c[N] = {
		[SERIAL] = trc_column_make("thread.serial", TRC_COLUMN_DELTA),
		[TID] = trc_column_make("thread.tid", TRC_COLUMN_VARINT),
		[NAME] = trc_column_make("thread.name", TRC_COLUMN_VARINT),
		[CREATOR] = trc_column_make("thread.creator", TRC_COLUMN_VARINT),
		[STACK] = trc_column_make("thread.stack", TRC_COLUMN_VARINT),
		[START] = trc_column_make("thread.start", TRC_COLUMN_VARINT),
		[END] = trc_column_make("thread.end", TRC_COLUMN_VARINT),
		[EVENTS] = trc_column_make("thread.events", TRC_COLUMN_VARINT),
		[WAITS] = trc_column_make("thread.parks", TRC_COLUMN_VARINT),
		[IDLE] = trc_column_make("thread.idle", TRC_COLUMN_BYTES),
		[COUNTS] = trc_column_make("thread.counts", TRC_COLUMN_BYTES),
	};
	size_t n;
	const struct trc_thread *t = trc_model_threads(r->m, &n);
	uint8_t *idle = calloc(n + 1, sizeof(*idle));
	struct trc_error error;

	if (!idle || trc_report_idle_threads(r->m, idle, r->idle_park, &error)) {
		r->failed = true;
		n = 0;
	}
	for (size_t i = 0; i < n; i++, t++) {
		trc_column_add(&c[SERIAL], t->serial);
		trc_column_add(&c[TID], t->tid);
		trc_column_add(&c[NAME], trc_texts_id(&r->texts, t->name));
		trc_column_add(&c[CREATOR], trc_rows_thread(r, t->creator));
		trc_column_add(&c[STACK], t->creator_stack);
		trc_column_add(&c[START], trc_rows_time_or_never(r, t->start_ns));
		trc_column_add(&c[END], trc_rows_time_or_never(r, t->end_ns));
		trc_column_add(&c[EVENTS], t->n_events);
		trc_column_add(&c[WAITS], t->n_parks);
		trc_column_add(&c[IDLE], idle[i]);
		trc_column_add(&c[COUNTS], trc_model_thread_counts(r->m, i));
	}
	free(idle);
	trc_rows_columns(r, c, N);
}

static void write_gaps(struct trc_rows *r)
{
	enum { SINCE, TIME, LOST, PROC, CAUSE, N };
	struct trc_column c[N] = {
		[SINCE] = trc_column_make("gap.start", TRC_COLUMN_DELTA),
		[TIME] = trc_column_make("gap.end", TRC_COLUMN_DELTA),
		[LOST] = trc_column_make("gap.lost", TRC_COLUMN_VARINT),
		[PROC] = trc_column_make("gap.proc", TRC_COLUMN_VARINT),
		[CAUSE] = trc_column_make("gap.cause", TRC_COLUMN_BYTES),
	};
	size_t n;
	const struct trc_gap *g = trc_model_gaps(r->m, &n);

	for (size_t i = 0; i < n; i++, g++) {
		int64_t since = g->since_ns == TRC_NEVER ? g->ts_ns : g->since_ns;

		if (!trc_cut_overlaps(r->cut, 0, since, g->ts_ns))
			continue;
		r->lost_events += g->lost_events;
		trc_column_add(&c[SINCE], trc_rows_time(r, since < g->ts_ns ? since : g->ts_ns));
		trc_column_add(&c[TIME], trc_rows_time(r, g->ts_ns));
		trc_column_add(&c[LOST], g->lost_events);
		trc_column_add(&c[PROC], g->proc == TRC_NO_PROC ? 0 : g->proc + 1);
		trc_column_add(&c[CAUSE], g->cause);
	}
	trc_rows_columns(r, c, N);
}

/* How far the frame is into its function, if this has no name, + 1; 0 = it has one, or where it begins is not known. */
static uint64_t frame_inside(const struct trc_stacks *s, size_t i)
{
	uint64_t start = s->origin ? s->origin[i].start : 0;

	return start && start <= s->frame[i].address && !s->frame[i].function
		       ? s->frame[i].address - start + 1
		       : 0;
}

static void write_frames(struct trc_rows *r, const struct trc_stacks *s)
{
	enum { LOW, HIGH, INSIDE, FUNCTION, FILE_NAME, LINE, MODULE, INLINED, OWNER, N };
	struct trc_column c[N] = {
		[LOW] = trc_column_make("frame.low", TRC_COLUMN_VARINT),
		[HIGH] = trc_column_make("frame.high", TRC_COLUMN_VARINT),
		[INSIDE] = trc_column_make("frame.inside", TRC_COLUMN_VARINT),
		[FUNCTION] = trc_column_make("frame.function", TRC_COLUMN_VARINT),
		[FILE_NAME] = trc_column_make("frame.file", TRC_COLUMN_VARINT),
		[LINE] = trc_column_make("frame.line", TRC_COLUMN_VARINT),
		[MODULE] = trc_column_make("frame.module", TRC_COLUMN_VARINT),
		[INLINED] = trc_column_make("frame.inlined", TRC_COLUMN_BYTES),
		[OWNER] = trc_column_make("frame.owner", TRC_COLUMN_BYTES),
	};
	const struct trc_reader *reader = trc_model_reader(r->m);
	size_t n_modules = trc_reader_modules(reader);

	for (size_t i = 0; s && i < s->n_frames; i++) {
		const struct trc_frame *f = &s->frame[i];
		const struct trc_module_entry *module = NULL;
		uint64_t address = f->address;

		if (f->module && f->module < n_modules)
			module = trc_reader_module(reader, f->module);
		if (module) /* as objdump shows it; where it was loaded is another place each time */
			address -= module->load_bias;
		trc_column_add(&c[LOW], (uint32_t)address);
		trc_column_add(&c[HIGH], address >> 32);
		trc_column_add(&c[INSIDE], frame_inside(s, i));
		trc_column_add(&c[FUNCTION], trc_texts_id(&r->texts, f->function));
		trc_column_add(&c[FILE_NAME], trc_texts_id(&r->texts, f->file));
		trc_column_add(&c[LINE], f->line);
		trc_column_add(&c[MODULE], trc_texts_id(&r->texts, module ? module->path : NULL));
		trc_column_add(&c[INLINED], f->inlined);
		trc_column_add(&c[OWNER], trc_module_owner(module ? module->path : NULL));
	}
	trc_rows_columns(r, c, N);
}

static void write_stacks(struct trc_rows *r)
{
	enum { COUNT, FRAME, SKIP, N };
	struct trc_column c[N] = {
		[COUNT] = trc_column_make("stack.count", TRC_COLUMN_VARINT),
		[FRAME] = trc_column_make("stack.frame", TRC_COLUMN_VARINT),
		[SKIP] = trc_column_make("stack.skip", TRC_COLUMN_VARINT),
	};
	const struct trc_stacks *s = trc_model_stacks(r->m);

	for (size_t i = 0; s && i < s->n_stacks; i++) {
		uint32_t n = s->stack_first[i + 1] - s->stack_first[i];
		size_t end, skip = n ? trc_profile_own(s, r->m, (uint32_t)i, &end) : 0;

		trc_column_add(&c[COUNT], n);
		trc_column_add(&c[SKIP], skip < n ? skip : 0);
		for (uint32_t f = s->stack_first[i]; f < s->stack_first[i + 1]; f++)
			trc_column_add(&c[FRAME], s->stack_frame[f]);
	}
	trc_rows_columns(r, c, N);
	write_frames(r, s);
}

static void write_objects(struct trc_rows *r)
{
	enum { LOW, HIGH, NAME, OFFSET, N };
	struct trc_column c[N] = {
		[LOW] = trc_column_make("object.low", TRC_COLUMN_VARINT),
		[HIGH] = trc_column_make("object.high", TRC_COLUMN_VARINT),
		[NAME] = trc_column_make("object.name", TRC_COLUMN_VARINT),
		[OFFSET] = trc_column_make("object.offset", TRC_COLUMN_VARINT),
	};

	for (uint32_t i = 0; i < r->objects.n && i < r->object_names_capacity; i++) {
		const struct trc_object_name *name = &r->object_name[i];

		trc_column_add(&c[LOW], (uint32_t)name->object);
		trc_column_add(&c[HIGH], name->object >> 32);
		trc_column_add(&c[NAME], name->several ? 0 : name->text);
		trc_column_add(&c[OFFSET], name->offset);
	}
	trc_rows_columns(r, c, N);
}

static void write_tracks(struct trc_rows *r, struct trc_tracks *t)
{
	struct trc_intervals packed;

	if (trc_intervals_pack(&packed, t)) {
		r->failed = true;
		return;
	}
	trc_bytes_free(&t->duration.bytes);
	trc_bytes_free(&t->state.bytes);
	trc_bytes_free(&t->park.bytes);
	trc_page_column(r->page, &t->interval_count);
	trc_page_column(r->page, &packed.after);
	trc_page_column(r->page, &packed.state);
	trc_page_column(r->page, &packed.duration_after);
	trc_page_column(r->page, &packed.duration);
	trc_page_column(r->page, &packed.duration_byte);
	trc_page_column(r->page, &packed.duration_low);
	trc_page_column(r->page, &packed.park);
	trc_page_column(r->page, &t->proc);
	trc_page_column(r->page, &t->merged);
	trc_page_column(r->page, &t->time_thread);
	trc_page_column(r->page, &t->time_state);
	trc_page_column(r->page, &t->time_ns);
	trc_page_column(r->page, &t->beyond);
}

int trc_rows_write(struct trc_rows *r, struct trc_tracks *tracks)
{
	size_t n_parks;

	trc_model_parks(r->m, &n_parks);
	trc_texts_init(&r->texts);
	r->park_idx = calloc(n_parks + 1, sizeof(*r->park_idx));
	r->idle_park = calloc(n_parks + 1, sizeof(*r->idle_park));
	if (!r->park_idx || !r->idle_park)
		return -ENOMEM;
	rows_write_threads(r);
	write_tracks(r, tracks);
	trc_rows_unlocks(r);
	if (r->failed)
		return -ENOMEM;
	trc_rows_parks(r, tracks);
	trc_rows_fibers(r);
	if (r->failed)
		return -ENOMEM;
	trc_rows_user(r);
	trc_rows_labels(r);
	trc_rows_selected(r);
	trc_rows_samples(r);
	trc_rows_heap(r);
	trc_rows_blame(r);
	trc_rows_paths(r);
	trc_rows_causes(r);
	trc_rows_top(r);
	trc_rows_locks(r);
	trc_rows_sched(r);
	trc_rows_report(r);
	trc_rows_end(r);
	trc_rows_now(r);
	write_gaps(r);
	write_stacks(r);
	write_objects(r);
	trc_rows_source(r);
	if (r->texts.failed)
		return -ENOMEM;
	trc_page_column(r->page, &r->texts.length);
	trc_page_column(r->page, &r->texts.bytes);
	return r->failed ? -ENOMEM : 0;
}

void trc_rows_free(struct trc_rows *r)
{
	free(r->caused);
	free(r->pathed);
	trc_texts_free(&r->texts);
	trc_index_free(&r->objects);
	free(r->object_name);
	trc_index_free(&r->tasks);
	free(r->unlock_idx);
	free(r->task_idx);
	free(r->task_shown);
	free(r->park_idx);
	free(r->idle_park);
	free(r->fiber_idx);
	free(r->fiber_wait_idx);
	for (size_t i = 0; i < TRC_ROWS_TABLES; i++)
		free(r->left_out[i]);
	free(r->sql_head);
}
