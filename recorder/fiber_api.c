/* fiber_api.c - the public functions of <trc/fiber.h>. */
#include "fiber.h"
#include "recording.h"

struct trace_fiber *trace_fiber_create(const char *name)
{
	const struct trc_runtime *r = trc_keeper();

	return __builtin_expect(r != NULL, 0) ? r->fiber_create(name) : trc_fiber_create(name);
}

struct trace_fiber *trace_fiber_switch(struct trace_fiber *to, enum trace_fiber_leave how,
				       const void *object)
{
	const struct trc_runtime *r = trc_keeper();

	return __builtin_expect(r != NULL, 0) ? r->fiber_switch(to, how, object)
					      : trc_fiber_switch(to, how, object);
}

void trace_fiber_ready(struct trace_fiber *fiber)
{
	const struct trc_runtime *r = trc_keeper();

	if (__builtin_expect(r != NULL, 0))
		r->fiber_ready(fiber);
	else
		trc_fiber_ready(fiber);
}

void trace_fiber_destroy(struct trace_fiber *fiber)
{
	const struct trc_runtime *r = trc_keeper();

	if (!fiber)
		return;
	if (__builtin_expect(r != NULL, 0)) {
		trc_fiber_forget(fiber);
		r->fiber_destroy(fiber);
		return;
	}
	/* In a forked child that is not recorded any more it is the other object that knows what
	 * the thread was in. */
	if (trc_elsewhere && trc_elsewhere->struct_bytes >= sizeof(*trc_elsewhere))
		trc_elsewhere->fiber_forget(fiber);
	trc_fiber_destroy(fiber);
}
