/* fiber.c - making fibers, and giving them back.  Context: any thread, may block. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "fiber.h"
#include "recorder/ring/hot.h"

struct trace_fiber *trc_fiber_create(const char *name)
{
	int saved_errno = errno;
	struct trace_fiber *fiber = calloc(1, sizeof(*fiber));

	if (fiber && name) {
		fiber->name_bytes = (uint32_t)strnlen(name, TRC_FIBER_NAME_BYTES - 1);
		memcpy(fiber->name, name, fiber->name_bytes);
	}
	if (fiber) {
		fiber->labels = trc_labels_ref(trc_labels_now());
		trc_fiber_made(fiber);
	}
	errno = saved_errno;
	return fiber;
}

void trc_fiber_destroy(struct trace_fiber *fiber)
{
	int saved_errno = errno;

	if (!fiber)
		return;
	trc_fiber_forget(fiber);
	trc_fiber_ended(fiber);
	trc_labels_unref(fiber->labels);
	free(fiber);
	errno = saved_errno;
}

void trc_fiber_stack(struct trace_fiber *fiber, const void *lowest, size_t bytes)
{
	if (fiber)
		fiber->stack = (struct trc_range){.lo = (uintptr_t)lowest,
						  .hi = ((uintptr_t)lowest + bytes) & ~(uintptr_t)7,
						  .whole = true};
}
