/* parks.c - see parks.h. */
#include <errno.h>
#include <stdlib.h>
#include "parks.h"

#define SINCE_SLACK_NS INT64_C(10000000000)

static struct trc_park *park_at(struct trc_model *m, const struct trc_open_park *open)
{
	return (struct trc_park *)m->parks.row + open->park;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void park_end(struct trc_park_thread *t, struct trc_park *park, int64_t end_ns, int result)
{
	park->end_ns = later(end_ns, park->start_ns);
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

/* The parks from `first` up ended unseen, at the latest now (K2, K3). */
static void parks_abandon(struct trc_model *m, struct trc_park_thread *t, uint32_t first,
			  int64_t now_ns)
{
	for (uint32_t i = first; i < t->n_open; i++) {
		struct trc_park *park = park_at(m, &t->open[i]);

		park->flags |= TRC_PARK_ABANDONED;
		park_end(t, park, now_ns, -1);
		if (park->start_ns < m->window_ns) /* K6 */
			park_doubt(park);
	}
	t->n_open = first < t->n_open ? first : t->n_open;
}

/* Events with a stack that a wait makes itself, where it is: a wait for a condition gives up its
 * mutex when it has begun, and has it again before it ends; one for a lock has taken the lock. */
static bool is_of_park(const struct trc_park *park, const struct trc_columns *c, uint32_t row)
{
	switch (c->kind[row]) {
	case TRC_KIND_UNLOCK:
		return park->reason == TRC_REASON_COND;
	case TRC_KIND_ACQUIRE:
		return park->reason == TRC_REASON_COND ||
		       (park->reason == TRC_ROW_ARG(c, row, acquire, reason) &&
			park->object == TRC_ROW_ARG(c, row, acquire, object));
	default:
		return false;
	}
}

/* K3; no stack proves nothing. */
static bool stack_disproves(const struct trc_model *m, const struct trc_park *park, uint32_t now,
			    const struct trc_columns *c, uint32_t row)
{
	struct trc_stack_view a, b;

	/* A wait that the program announced is made of others. */
	if (!park->stack || !now || park->reason == TRC_REASON_USER)
		return false;
	if (trc_reader_stack(m->reader, park->stack, &a) || trc_reader_stack(m->reader, now, &b))
		return false;
	if (is_of_park(park, c, row) && trc_stack_is_same(a.frame, a.n_frames, b.frame, b.n_frames))
		return false;
	return park->stack == now ||
	       trc_stack_disproves_park(a.frame, a.n_frames, b.frame, b.n_frames);
}

/* K3: it is on another stack now.  A region may end on another thread: depths must not add up. */
static void fiber_switch(struct trc_model *m, struct trc_park_thread *t, int64_t now_ns)
{
	uint32_t i = 0;

	while (i < t->n_open && park_at(m, &t->open[i])->reason == TRC_REASON_USER)
		i++;
	parks_abandon(m, t, i, now_ns);
	if (!t->n_open)
		t->region_depth = 0;
}

static uint32_t event_stack(const struct trc_columns *c, uint32_t row)
{
	switch (c->kind[row]) {
	case TRC_KIND_PARK:
		/* Taken again inside the condition wait, at its stack. */
		if (TRC_ROW_ARG(c, row, park, reason) == TRC_REASON_COND_MUTEX)
			return 0;
		return (uint32_t)TRC_ROW_ARG(c, row, park, stack);
	case TRC_KIND_WAIT:
		if (TRC_ROW_ARG(c, row, wait, reason) == TRC_REASON_COND_MUTEX)
			return 0;
		return (uint32_t)TRC_ROW_ARG(c, row, wait, stack);
	case TRC_KIND_UNLOCK:
		return (uint32_t)TRC_ROW_ARG(c, row, unlock, stack);
	case TRC_KIND_UNPARK:
		return (uint32_t)TRC_ROW_ARG(c, row, unpark, stack);
	case TRC_KIND_ACQUIRE:
		return (uint32_t)TRC_ROW_ARG(c, row, acquire, stack);
	case TRC_KIND_FIBER_READY:
		return (uint32_t)TRC_ROW_ARG(c, row, fiber_ready, stack);
	default:
		return 0;
	}
}

static void abandon_by_stack(struct trc_model *m, struct trc_park_thread *t,
			     const struct trc_columns *c, uint32_t row)
{
	uint32_t stack = event_stack(c, row);

	for (uint32_t i = 0; stack && i < t->n_open; i++) {
		if (stack_disproves(m, park_at(m, &t->open[i]), stack, c, row)) {
			parks_abandon(m, t, i, c->time_ns[row]);
			return;
		}
	}
}

/* An event while parks are open: notes it, and looks whether it disproves any of them. */
static void open_parks_check(struct trc_model *m, struct trc_park_thread *t,
			     const struct trc_columns *c, uint32_t row)
{
	int64_t now_ns = c->time_ns[row];

	for (uint32_t i = t->n_open; i-- > 0 && t->open[i].next_ns == TRC_NEVER;)
		t->open[i].next_ns = now_ns;
	abandon_by_stack(m, t, c, row);
}

static struct trc_open_park *open_push(struct trc_park_thread *t)
{
	if (t->n_open == t->capacity) {
		uint32_t capacity = t->capacity ? t->capacity * 2 : 4;
		struct trc_open_park *open = realloc(t->open, capacity * sizeof(*open));

		if (!open)
			return NULL;
		t->open = open;
		t->capacity = capacity;
	}
	return &t->open[t->n_open++];
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

static int park_begin(struct trc_model *m, struct trc_park_thread *t, const struct trc_columns *c,
		      uint32_t row)
{
	struct trc_park *park = park_add(m, c->thread[row], c->proc[row]);
	struct trc_open_park *open = park ? open_push(t) : NULL;

	if (!open)
		return -ENOMEM;
	park->start_ns = c->time_ns[row];
	park->start_place = t->place;
	park->reason = (uint8_t)TRC_ROW_ARG(c, row, park, reason);
	park->object = TRC_ROW_ARG(c, row, park, object);
	park->holder = (uint32_t)TRC_ROW_ARG(c, row, park, holder);
	park->stack = (uint32_t)TRC_ROW_ARG(c, row, park, stack);
	*open = (struct trc_open_park){m->parks.n - 1, t->region_depth, TRC_NEVER, TRC_NEVER};
	return 0;
}

/* K5 */
static int park_cut(struct trc_model *m, struct trc_park_thread *t, const struct trc_columns *c,
		    uint32_t row)
{
	const struct trc_thread *thread = trc_model_thread(m, c->thread[row]);
	int64_t now_ns = c->time_ns[row];
	struct trc_park *park;

	if (m->window_ns == TRC_NEVER || t->last_ns >= m->window_ns ||
	    (thread && thread->start_ns >= m->window_ns))
		return 0;
	park = park_add(m, c->thread[row], c->proc[row]);
	if (!park)
		return -ENOMEM;
	park->start_ns = now_ns < m->window_ns ? now_ns : m->window_ns;
	park->reason = (uint8_t)TRC_ROW_ARG(c, row, resume, reason);
	park->object = TRC_ROW_ARG(c, row, resume, object);
	park->flags = TRC_PARK_CUT;
	park_end(t, park, now_ns, (int)(TRC_ROW_ARG(c, row, resume, result) & 0x7fff));
	return 0;
}

/* K6 */
static void park_end_outside(struct trc_model *m, struct trc_park *park)
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

static int park_resume(struct trc_model *m, struct trc_park_thread *t, const struct trc_columns *c,
		       uint32_t row)
{
	uint64_t reason = TRC_ROW_ARG(c, row, resume, reason);
	uint64_t object = TRC_ROW_ARG(c, row, resume, object);

	for (uint32_t i = t->n_open; i-- > 0;) {
		struct trc_park *park = park_at(m, &t->open[i]);

		if (park->reason != reason || park->object != object)
			continue;
		parks_abandon(m, t, i + 1, c->time_ns[row]);
		t->n_open = i;
		park_end(t, park,
			 t->open[i].woken_ns == TRC_NEVER ? c->time_ns[row] : t->open[i].woken_ns,
			 (int)(TRC_ROW_ARG(c, row, resume, result) & 0x7fff));
		park_end_outside(m, park);
		return 0;
	}
	return park_cut(m, t, c, row);
}

/* K7 */
static void cond_woken(struct trc_model *m, struct trc_park_thread *t, int64_t now_ns)
{
	struct trc_open_park *open = t->n_open ? &t->open[t->n_open - 1] : NULL;

	if (open && park_at(m, open)->reason == TRC_REASON_COND)
		open->woken_ns = now_ns;
}

static int park_whole(struct trc_model *m, struct trc_park_thread *t, const struct trc_columns *c,
		      uint32_t row)
{
	struct trc_park *park = park_add(m, c->thread[row], c->proc[row]);
	int64_t since_ns = (int64_t)TRC_ROW_ARG(c, row, wait, since);

	if (!park)
		return -ENOMEM;
	park->start_ns = since_ns;
	if (since_ns >= c->time_ns[row]) {
		park->start_ns = c->time_ns[row];
		park->start_place = t->place;
	}
	park->reason = (uint8_t)TRC_ROW_ARG(c, row, wait, reason);
	park->object = TRC_ROW_ARG(c, row, wait, object);
	park->stack = (uint32_t)TRC_ROW_ARG(c, row, wait, stack);
	if (park->reason == TRC_REASON_COND_MUTEX)
		cond_woken(m, t, park->start_ns);
	park_end(t, park, c->time_ns[row], (int)(TRC_ROW_ARG(c, row, wait, result) & 0x7fff));
	return trc_descriptor_number(m, TRC_ROW_ARG(c, row, wait, descriptor), &park->descriptor);
}

static void region_end(struct trc_model *m, struct trc_park_thread *t, int64_t now_ns)
{
	t->region_depth--;
	for (uint32_t i = 0; i < t->n_open; i++) {
		if (t->open[i].region_depth > t->region_depth) {
			parks_abandon(m, t, i, now_ns);
			return;
		}
	}
}

static int own_event(struct trc_model *m, struct trc_park_thread *t, const struct trc_columns *c,
		     uint32_t row)
{
	switch (c->kind[row]) {
	case TRC_KIND_PARK:
		return park_begin(m, t, c, row);
	case TRC_KIND_RESUME:
		return park_resume(m, t, c, row);
	case TRC_KIND_WAIT:
		return park_whole(m, t, c, row);
	case TRC_KIND_REGION_BEGIN:
		t->region_depth++;
		break;
	case TRC_KIND_REGION_END:
		region_end(m, t, c->time_ns[row]);
		break;
	case TRC_KIND_FIBER_SWITCH:
		fiber_switch(m, t, c->time_ns[row]);
		break;
	case TRC_KIND_THREAD_EXIT:
		parks_abandon(m, t, 0, c->time_ns[row]);
		break;
	}
	return 0;
}

int trc_parks_event(struct trc_model *m, struct trc_park_thread *t, const struct trc_span *span,
		    uint32_t row)
{
	const struct trc_columns *c = span->columns;
	int err;

	if (!trc_kind_is_own(c->kind[row]))
		return 0;
	t->place = span->place + row;
	if (t->n_open)
		open_parks_check(m, t, c, row);
	err = own_event(m, t, c, row);
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

/* Decides over what is still open (K4); true if `status` is among what stays open. */
static bool open_parks_finish(struct trc_model *m, struct trc_park_thread *t,
			      const struct trc_status_entry *status, int64_t last_gap_ns)
{
	bool confirmed = false, inner_open = false;

	for (uint32_t i = t->n_open; i-- > 0;) {
		struct trc_park *park = park_at(m, &t->open[i]);
		bool is_status = !confirmed && status_is(status, park);
		bool open = is_status || t->open[i].next_ns == TRC_NEVER ||
			    (inner_open && last_gap_ns < park->start_ns);

		confirmed |= is_status;
		if (is_status)
			park_confirm(m, park, status);
		else if (park->start_ns < m->window_ns) {
			park_doubt(park); /* K6 */
			continue;
		}
		inner_open |= open;
		park->flags |= open ? TRC_PARK_OPEN : TRC_PARK_ABANDONED;
		if (!open)
			park_end(t, park, t->open[i].next_ns, -1);
	}
	t->n_open = 0;
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
	m->end_ns = later(m->end_ns, since_ns);
	park->reason = s->reason;
	park->object = s->object;
	park->holder = s->holder;
	park->stack = s->stack;
	park->flags = TRC_PARK_OPEN;
	return trc_descriptor_number(m, s->descriptor, &park->descriptor);
}

int trc_parks_finish(struct trc_model *m, struct trc_park_thread *t,
		     const struct trc_status_entry *status, int64_t last_gap_ns)
{
	int64_t since_ns;

	if (open_parks_finish(m, t, status, last_gap_ns) || !status)
		return 0;
	since_ns = trc_model_since_ns(m, status->since);
	if (status_is_stale(m, t, status, since_ns))
		return 0;
	return status_add(m, status, since_ns);
}

void trc_parks_free(struct trc_park_thread *t)
{
	free(t->open);
	t->open = NULL;
}
