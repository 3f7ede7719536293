/* parks.c - see parks.h. */
#include <errno.h>
#include "parks.h"
#include "analyzer/model/charge.h"
#include "analyzer/model/order.h"

#define SINCE_SLACK_NS INT64_C(10000000000)

struct open_park {
	struct trc_open_park open; /* first: the two share an address */
	size_t park;		   /* index in trc_model.parks */
};

/* Who asks the engine for what. */
struct context {
	struct trc_park_rows *rows;
	struct trc_park_thread *thread;
};

static struct trc_park *park_of_open(const struct trc_park_rows *rows,
				     const struct trc_open_park *open)
{
	return (struct trc_park *)rows->m->parks.row + ((const struct open_park *)open)->park;
}

static void park_end(struct trc_park_thread *t, struct trc_park *park, int64_t end_ns, int result)
{
	park->end_ns = trc_later_ns(end_ns, park->start_ns);
	park->result = (int16_t)result;
	t->last_start_ns = park->start_ns;
	t->last_object = park->object;
	t->last_reason = park->reason;
}

/* How long it lasted is not known, and not told. */
static void park_doubt(struct trc_park *park)
{
	park->flags |= TRC_PARK_ABANDONED;
	park->end_ns = park->start_ns;
	park->result = -1;
}

/* K6 */
static void park_end_outside(const struct trc_model *m, struct trc_park *park)
{
	if (park->start_ns >= m->window_ns)
		return;
	if (park->end_ns >= m->window_ns) {
		park->start_ns = m->window_ns;
		park->start_place = TRC_PLACE_LAST;
		park->flags |= TRC_PARK_CUT;
	} else {
		park_doubt(park);
	}
}

/* ---- for the engine -------------------------------------------------------------------- */

static bool park_stack_frames(void *context, uint32_t stack, const uint64_t **frame,
			      uint32_t *n_frames)
{
	const struct context *of = context;
	struct trc_stack_view view;

	if (trc_reader_stack(of->rows->m->reader, stack, &view))
		return false;
	*frame = view.frame;
	*n_frames = view.n_frames;
	return true;
}

static void abandoned(const struct trc_model *m, struct trc_park_thread *t, struct trc_park *park,
		      int64_t end_ns)
{
	park->flags |= TRC_PARK_ABANDONED;
	park->end_ns = trc_later_ns(end_ns, park->start_ns);
	/* Of several that one event ended the innermost was the last to begin. */
	if (t->abandoned_place != t->place)
		park_end(t, park, end_ns, -1);
	t->abandoned_place = t->place;
	if (park->start_ns < m->window_ns) /* K6 */
		park_doubt(park);
}

static void park_ended(void *context, struct trc_open_park *open, uint64_t end, int result)
{
	const struct context *of = context;
	struct trc_park *park = park_of_open(of->rows, open);

	if (result < 0) {
		abandoned(of->rows->m, of->thread, park, trc_charge_ns(end));
	} else {
		park_end(of->thread, park, trc_charge_ns(end), result);
		park_end_outside(of->rows->m, park);
	}
	open->around = of->rows->free;
	of->rows->free = open;
}

static const struct trc_parks_owner owner = {park_stack_frames, park_ended};

/* ---- what begins ----------------------------------------------------------------------- */

static struct open_park *open_take(struct trc_park_rows *rows)
{
	struct trc_open_park *open = rows->free;

	if (!open)
		return trc_pool_take(&rows->open, sizeof(struct open_park));
	rows->free = open->around;
	return (struct open_park *)open;
}

static struct trc_park *park_add(struct trc_model *m, uint32_t thread, uint32_t proc)
{
	struct trc_park *park = trc_array_add(&m->parks);

	if (park) {
		park->thread = thread;
		park->proc = proc;
		park->end_ns = park->wake_ns = TRC_NEVER;
		park->start_place = TRC_PLACE_LAST;
		park->result = -1;
	}
	return park;
}

static int park_begin(struct context *of, const struct trc_columns *c, uint32_t row,
		      const struct trc_park_event *e)
{
	struct trc_park *park = park_add(of->rows->m, c->thread[row], c->proc[row]);
	struct open_park *open = park ? open_take(of->rows) : NULL;

	if (!open)
		return -ENOMEM;
	park->start_ns = c->time_ns[row];
	park->start_place = of->thread->place;
	park->reason = e->reason;
	park->object = e->object;
	park->holder = (uint32_t)TRC_ROW_ARG(c, row, park, holder);
	park->stack = e->stack;
	open->park = of->rows->m->parks.n - 1;
	trc_park_begin(&of->thread->parks, &open->open, e);
	return 0;
}

/* K5 */
static int park_cut(struct context *of, const struct trc_columns *c, uint32_t row,
		    const struct trc_park_event *e)
{
	struct trc_model *m = of->rows->m;
	const struct trc_thread *thread = trc_model_thread(m, c->thread[row]);
	int64_t now_ns = c->time_ns[row];
	struct trc_park *park;

	if (m->window_ns == TRC_NEVER || of->thread->last_ns >= m->window_ns ||
	    (thread && thread->start_ns >= m->window_ns))
		return 0;
	park = park_add(m, c->thread[row], c->proc[row]);
	if (!park)
		return -ENOMEM;
	park->start_ns = now_ns < m->window_ns ? now_ns : m->window_ns;
	park->reason = e->reason;
	park->object = e->object;
	park->flags = TRC_PARK_CUT;
	park_end(of->thread, park, now_ns, e->result);
	return 0;
}

static int park_whole(struct context *of, const struct trc_columns *c, uint32_t row,
		      const struct trc_park_event *e)
{
	struct trc_model *m = of->rows->m;
	struct trc_park *park = park_add(m, c->thread[row], c->proc[row]);

	if (!park)
		return -ENOMEM;
	park->start_ns = trc_charge_ns(e->since);
	if (e->since == e->time)
		park->start_place = of->thread->place;
	park->reason = e->reason;
	park->object = e->object;
	park->stack = e->stack;
	park_end(of->thread, park, c->time_ns[row], e->result);
	return trc_descriptor_number(m, TRC_ROW_ARG(c, row, wait, descriptor), &park->descriptor);
}

/* ---- events ---------------------------------------------------------------------------- */

static int result_of(uint64_t arg)
{
	return (int)(arg & 0x7fff);
}

static void put_wait(struct trc_park_event *e, const struct trc_columns *c, uint32_t row)
{
	uint64_t since = trc_charge_time((int64_t)TRC_ROW_ARG(c, row, wait, since));

	e->reason = (uint8_t)TRC_ROW_ARG(c, row, wait, reason);
	e->object = TRC_ROW_ARG(c, row, wait, object);
	e->stack = (uint32_t)TRC_ROW_ARG(c, row, wait, stack);
	e->result = result_of(TRC_ROW_ARG(c, row, wait, result));
	e->since = since < e->time ? since : e->time;
}

static void put_event(struct trc_park_event *e, const struct trc_columns *c, uint32_t row)
{
	e->time = trc_charge_time(c->time_ns[row]);
	e->kind = c->kind[row];
	switch (e->kind) {
	case TRC_KIND_PARK:
		e->reason = (uint8_t)TRC_ROW_ARG(c, row, park, reason);
		e->object = TRC_ROW_ARG(c, row, park, object);
		e->stack = (uint32_t)TRC_ROW_ARG(c, row, park, stack);
		break;
	case TRC_KIND_RESUME:
		e->reason = (uint8_t)TRC_ROW_ARG(c, row, resume, reason);
		e->object = TRC_ROW_ARG(c, row, resume, object);
		e->result = result_of(TRC_ROW_ARG(c, row, resume, result));
		break;
	case TRC_KIND_WAIT:
		put_wait(e, c, row);
		break;
	case TRC_KIND_UNLOCK:
		e->stack = (uint32_t)TRC_ROW_ARG(c, row, unlock, stack);
		break;
	case TRC_KIND_UNPARK:
		e->stack = (uint32_t)TRC_ROW_ARG(c, row, unpark, stack);
		break;
	case TRC_KIND_ACQUIRE:
		e->reason = (uint8_t)TRC_ROW_ARG(c, row, acquire, reason);
		e->object = TRC_ROW_ARG(c, row, acquire, object);
		e->stack = (uint32_t)TRC_ROW_ARG(c, row, acquire, stack);
		break;
	case TRC_KIND_FIBER_READY:
		e->stack = (uint32_t)TRC_ROW_ARG(c, row, fiber_ready, stack);
		break;
	}
}

static int wait_event(struct context *of, const struct trc_columns *c, uint32_t row)
{
	struct trc_park_event e = {.time = 0};
	bool known;

	put_event(&e, c, row);
	known = trc_parks_event(&of->thread->parks, &e, &owner, of);
	switch (e.kind) {
	case TRC_KIND_PARK:
		return park_begin(of, c, row, &e);
	case TRC_KIND_RESUME:
		return known ? 0 : park_cut(of, c, row, &e);
	case TRC_KIND_WAIT:
		return park_whole(of, c, row, &e);
	default:
		return 0;
	}
}

int trc_park_rows_event(struct trc_park_rows *rows, struct trc_park_thread *t,
			const struct trc_span *span, uint32_t row)
{
	const struct trc_columns *c = span->columns;
	struct context of = {rows, t};
	int err = 0;

	if (!trc_kind_is_own(c->kind[row]))
		return 0;
	t->place = span->place + row;
	if (t->parks.top || trc_parks_need(c->kind[row]))
		err = wait_event(&of, c, row);
	t->last_ns = c->time_ns[row];
	return err;
}

static bool status_is(const struct trc_status_entry *s, const struct trc_park *park)
{
	return s && s->reason == park->reason && s->object == park->object;
}

/* The status table is newer: who holds the lock may have become known since; and it tells of a later
 * wait for the same, if what came in between is missing. */
static void park_confirm(struct trc_model *m, struct trc_park *park,
			 const struct trc_status_entry *status)
{
	int64_t since_ns = trc_model_since_ns(m, status->since);

	if (!park->holder)
		park->holder = status->holder;
	if (since_ns <= park->start_ns)
		return;
	park->start_ns = since_ns;
	park->start_place = TRC_PLACE_LAST;
	park->stack = status->stack;
	park->holder = status->holder;
}

/* Decides over what is still open (parks:K4); true if `status` is among what stays open. */
static bool open_parks_finish(struct trc_park_rows *rows, struct trc_park_thread *t,
			      const struct trc_status_entry *status, int64_t last_gap_ns)
{
	bool confirmed = false, inner_open = false;

	for (struct trc_open_park *of = t->parks.top; of; of = of->around) {
		struct trc_park *park = park_of_open(rows, of);
		const struct trc_thread *thread = trc_model_thread(rows->m, park->thread);
		bool is_status = !confirmed && status_is(status, park);
		bool goes_on =
			is_status || trc_park_goes_on(of, inner_open, trc_charge_time(last_gap_ns));
		/* Its resume was lost. */
		bool ended = goes_on && thread && thread->end_ns >= park->start_ns;
		bool open = goes_on && !ended;

		confirmed |= is_status;
		if (is_status)
			park_confirm(rows->m, park, status);
		else if (park->start_ns < rows->m->window_ns) {
			park_doubt(park); /* K6 */
			continue;
		}
		inner_open |= open;
		park->flags |= open ? TRC_PARK_OPEN : TRC_PARK_ABANDONED;
		if (!open)
			park_end(t, park, ended ? thread->end_ns : trc_charge_ns(of->next), -1);
	}
	t->parks = (struct trc_parks){.top = NULL};
	return confirmed;
}

/* True if the wait of a status entry had ended after all when the trace did. */
static bool status_is_stale(const struct trc_model *m, const struct trc_park_thread *t,
			    const struct trc_status_entry *s, int64_t since_ns)
{
	const struct trc_thread *thread = trc_model_thread(m, s->thread);

	if (t->last_reason == s->reason && t->last_object == s->object &&
	    t->last_start_ns >= since_ns - 1000)
		return true;
	/* A file that was cut has the status of an earlier generation. */
	if (!trc_reader_info(m->reader)->complete && thread && thread->last_ns > since_ns)
		return true;
	/* Slots are read after the last event, but not that much later: it is not to be believed. */
	return since_ns - m->end_ns > SINCE_SLACK_NS;
}

static int status_add(struct trc_model *m, const struct trc_status_entry *s, int64_t since_ns)
{
	struct trc_park *park = park_add(m, s->thread, TRC_NO_PROC);

	if (!park)
		return -ENOMEM;
	park->start_ns = since_ns;
	m->end_ns = trc_later_ns(m->end_ns, since_ns);
	park->reason = s->reason;
	park->object = s->object;
	park->holder = s->holder;
	park->stack = s->stack;
	park->flags = TRC_PARK_OPEN;
	return trc_descriptor_number(m, s->descriptor, &park->descriptor);
}

int trc_park_rows_finish(struct trc_park_rows *rows, struct trc_park_thread *t,
			 const struct trc_status_entry *status, int64_t last_gap_ns)
{
	int64_t since_ns;

	if (open_parks_finish(rows, t, status, last_gap_ns) || !status)
		return 0;
	since_ns = trc_model_since_ns(rows->m, status->since);
	if (status_is_stale(rows->m, t, status, since_ns))
		return 0;
	return status_add(rows->m, status, since_ns);
}

void trc_park_rows_free(struct trc_park_rows *rows)
{
	trc_pool_free(&rows->open);
}
