/* parks.c - see parks.h. */
#include "parks.h"

#include <stddef.h>
#include <string.h>
#include "format/schema.h"
#include "format/wire.h"

/* ---- ends ------------------------------------------------------------------------------ */

static void end_innermost(struct trc_parks *parks, uint64_t end, int result,
			  const struct trc_parks_owner *owner, void *context)
{
	struct trc_open_park *park = parks->top;

	parks->top = park->around;
	parks->n_open--;
	owner->ended(context, park, end > park->start ? end : park->start, result);
}

/* Those inside of `last`, without that one: they ended unseen, at the latest now. */
static void abandon_inside(struct trc_parks *parks, const struct trc_open_park *last, uint64_t now,
			   const struct trc_parks_owner *owner, void *context)
{
	while (parks->top != last)
		end_innermost(parks, now, -1, owner, context);
}

void trc_parks_abandon(struct trc_parks *parks, uint64_t now, const struct trc_parks_owner *owner,
		       void *context)
{
	abandon_inside(parks, NULL, now, owner, context);
}

/* ---- what a stack says (K3) ------------------------------------------------------------ */

static bool frames_are_same(const uint64_t *a, uint32_t n_a, const uint64_t *b, uint32_t n_b)
{
	return n_a == n_b && (!n_a || !memcmp(a, b, n_a * sizeof(*a)));
}

/* How many outermost frames two stacks share. */
static uint32_t stacks_common(const uint64_t *a, uint32_t n_a, const uint64_t *b, uint32_t n_b)
{
	uint32_t n = n_a < n_b ? n_a : n_b, common = 0;

	while (common < n && a[n_a - 1 - common] == b[n_b - 1 - common])
		common++;
	return common;
}

/*
 * True if a thread that parked at `parked` and is now at `now` cannot be in a signal handler that
 * interrupted the park.  A handler's stack holds the park's frames (but perhaps for the innermost,
 * inside the waiting function) and more.  A stack that was not followed to its end proves nothing.
 */
static bool is_no_handler(const uint64_t *parked, uint32_t n_parked, const uint64_t *now,
			  uint32_t n_now)
{
	uint32_t common;

	if (n_parked >= TRC_STACK_DEPTH_MAX || n_now >= TRC_STACK_DEPTH_MAX)
		return false;
	common = stacks_common(parked, n_parked, now, n_now);
	return common && (n_now <= n_parked || common + 2 < n_parked);
}

/* Events with a stack that a wait makes itself, where it is: a wait for a condition gives up its
 * mutex when it has begun, and has it again before it ends; one for a lock has taken the lock. */
static bool is_of_park(const struct trc_open_park *park, const struct trc_park_event *e)
{
	switch (e->kind) {
	case TRC_KIND_UNLOCK:
		return park->reason == TRC_REASON_COND;
	case TRC_KIND_ACQUIRE:
		return park->reason == TRC_REASON_COND ||
		       (park->reason == e->reason && park->object == e->object);
	default:
		return false;
	}
}

static bool disproves(const struct trc_open_park *park, const struct trc_park_event *e,
		      const struct trc_parks_owner *owner, void *context)
{
	const uint64_t *parked, *now;
	uint32_t n_parked, n_now;

	/* A wait that the program announced is made of others. */
	if (!park->stack || park->reason == TRC_REASON_USER)
		return false;
	if (!owner->stack(context, park->stack, &parked, &n_parked) ||
	    !owner->stack(context, e->stack, &now, &n_now))
		return false;
	if (is_of_park(park, e) && frames_are_same(parked, n_parked, now, n_now))
		return false;
	return park->stack == e->stack || is_no_handler(parked, n_parked, now, n_now);
}

/* Where the thread itself is, and not what it tells of. */
static bool has_own_stack(const struct trc_park_event *e)
{
	switch (e->kind) {
	case TRC_KIND_PARK:
	case TRC_KIND_WAIT:
		/* Taken again inside the condition wait, at its stack. */
		return e->stack && e->reason != TRC_REASON_COND_MUTEX;
	case TRC_KIND_UNLOCK:
	case TRC_KIND_UNPARK:
	case TRC_KIND_ACQUIRE:
	case TRC_KIND_FIBER_READY:
		return e->stack;
	default:
		return false;
	}
}

/* ---- what events say (K3) -------------------------------------------------------------- */

static bool runs_on(const struct trc_parks *parks, const struct trc_open_park *park,
		    const struct trc_park_event *e, const struct trc_parks_owner *owner,
		    void *context)
{
	switch (e->kind) {
	case TRC_KIND_REGION_END:
		return park->region_depth > parks->region_depth;
	case TRC_KIND_FIBER_SWITCH:
		return park->reason != TRC_REASON_USER;
	case TRC_KIND_THREAD_EXIT:
		return true;
	default:
		return disproves(park, e, owner, context);
	}
}

/* The outermost park that cannot go on, and those inside of it. */
static void abandon_disproved(struct trc_parks *parks, const struct trc_park_event *e,
			      const struct trc_parks_owner *owner, void *context)
{
	struct trc_open_park *outermost = NULL;

	for (struct trc_open_park *park = parks->top; park; park = park->around)
		if (runs_on(parks, park, e, owner, context))
			outermost = park;
	if (outermost)
		abandon_inside(parks, outermost->around, e->time, owner, context);
}

/* A park within a park is the outer one's next event: only the innermost may wait for one. */
static void look_at_open(struct trc_parks *parks, const struct trc_park_event *e,
			 const struct trc_parks_owner *owner, void *context)
{
	if (!parks->top->next)
		parks->top->next = e->time;
	if (has_own_stack(e))
		abandon_disproved(parks, e, owner, context);
}

/* K2 */
static bool resume(struct trc_parks *parks, const struct trc_park_event *e,
		   const struct trc_parks_owner *owner, void *context)
{
	struct trc_open_park *park = parks->top;

	while (park && (park->reason != e->reason || park->object != e->object))
		park = park->around;
	if (!park)
		return false;
	abandon_inside(parks, park, e->time, owner, context);
	end_innermost(parks, park->woken ? park->woken : e->time, e->result, owner, context);
	return true;
}

static bool is_of_condition(const struct trc_parks *parks, const struct trc_park_event *wait)
{
	return wait->reason == TRC_REASON_COND_MUTEX && parks->top &&
	       parks->top->reason == TRC_REASON_COND;
}

struct trc_open_park *trc_park_around(const struct trc_parks *parks,
				      const struct trc_park_event *wait)
{
	return is_of_condition(parks, wait) ? parks->top->around : parks->top;
}

bool trc_parks_need(unsigned int kind)
{
	return kind == TRC_KIND_PARK || kind == TRC_KIND_RESUME || kind == TRC_KIND_WAIT ||
	       kind == TRC_KIND_REGION_BEGIN || kind == TRC_KIND_REGION_END ||
	       kind == TRC_KIND_FIBER_SWITCH;
}

bool trc_parks_event(struct trc_parks *parks, const struct trc_park_event *e,
		     const struct trc_parks_owner *owner, void *context)
{
	if (parks->top && e->time >= parks->top->start)
		look_at_open(parks, e, owner, context);
	switch (e->kind) {
	case TRC_KIND_RESUME:
		return resume(parks, e, owner, context);
	case TRC_KIND_WAIT:
		if (is_of_condition(parks, e)) /* K7: it had ended by then */
			parks->top->woken = e->since;
		break;
	case TRC_KIND_REGION_BEGIN:
		parks->region_depth++;
		break;
	case TRC_KIND_REGION_END:
		parks->region_depth--;
		abandon_disproved(parks, e, owner, context);
		break;
	case TRC_KIND_FIBER_SWITCH:
		/* A region may end on another thread: depths must not add up. */
		abandon_disproved(parks, e, owner, context);
		if (!parks->top)
			parks->region_depth = 0;
		break;
	case TRC_KIND_THREAD_EXIT:
		abandon_disproved(parks, e, owner, context);
		break;
	}
	return true;
}

void trc_park_begin(struct trc_parks *parks, struct trc_open_park *park,
		    const struct trc_park_event *e)
{
	park->around = parks->top;
	park->start = e->time;
	park->object = e->object;
	park->next = park->woken = 0;
	park->stack = e->stack;
	park->region_depth = parks->region_depth;
	park->reason = e->reason;
	parks->top = park;
	parks->n_open++;
}
