/* fiber_api.c - the public functions of <trc/fiber.h>. */
#include "recorder/guest/fiber.h"
#include "recording.h"

/* In the middle of saying what the thread is in: a signal handler hands over nothing then.  The signal
 * fences below keep it set for the whole call; their partner is trc_keeper_of_two() in a handler. */
static __thread bool busy;

static void hand_over(const struct trc_runtime *keeper)
{
	const struct trc_runtime *elsewhere = trc_elsewhere;
	struct trc_fiber_state state;

	if (keeper && trc_fiber_give_up(&state))
		keeper->fiber_take_over(&state);
	else if (!keeper && elsewhere->fiber_give_up(&state))
		trc_fiber_take_over(&state);
}

const struct trc_runtime *trc_keeper_of_two(void)
{
	const struct trc_runtime *keeper = trc_keeper(), *elsewhere = trc_elsewhere;

	if (!busy && elsewhere->struct_bytes >= sizeof(*elsewhere)) {
		busy = true;
		hand_over(keeper);
		busy = false;
	}
	return keeper;
}

struct trace_fiber *trace_fiber_create(const char *name)
{
	const struct trc_runtime *r = trc_keeper_now();

	return __builtin_expect(r != NULL, 0) ? r->fiber_create(name) : trc_fiber_create(name);
}

struct trace_fiber *trace_fiber_switch(struct trace_fiber *to, enum trace_fiber_leave how,
				       const void *object)
{
	const struct trc_runtime *r = trc_keeper_now();
	struct trace_fiber *left;

	busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	left = __builtin_expect(r != NULL, 0) ? r->fiber_switch(to, how, object)
					      : trc_fiber_switch(to, how, object);
	atomic_signal_fence(memory_order_seq_cst);
	busy = false;
	return left;
}

/* What has it is the same in both objects. */
void trace_fiber_set_stack(struct trace_fiber *fiber, const void *lowest, size_t bytes)
{
	trc_fiber_stack(fiber, lowest, bytes);
}

void trace_fiber_ready(struct trace_fiber *fiber)
{
	const struct trc_runtime *r = trc_keeper_now();

	if (__builtin_expect(r != NULL, 0))
		r->fiber_ready(fiber);
	else
		trc_fiber_ready(fiber);
}

void trace_fiber_destroy(struct trace_fiber *fiber)
{
	const struct trc_runtime *r = trc_keeper_now();

	busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(r != NULL, 0))
		r->fiber_destroy(fiber);
	else
		trc_fiber_destroy(fiber);
	atomic_signal_fence(memory_order_seq_cst);
	busy = false;
}
