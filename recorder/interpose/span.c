/*
 * span.c - waits that may be cancelled.  Context: traced thread, signal handlers.
 */
#include "span.h"
#include "recorder/shared/layout.h"
#include "recorder/unwind/walk.h"
#include "recorder/unwind/poison.h"

/* The thread is cancelled in the wait, or jumps out of it. */
static void span_abandoned(void *arg)
{
	struct trc_span *span = arg;

	trc_io_returned(&span->io);
	/* glibc's own handler ran before: a condition wait has its mutex again. */
	if (span->retakes_a_lock)
		trc_lock_taken();
	if (span->announced)
		trc_resume(&span->wait, ECANCELED);
	else
		trc_wait_abandoned(&span->wait, ECANCELED);
}

void trc_span_guard(struct trc_span *span, bool announced)
{
	span->announced = announced;
	span->retakes_a_lock = false;
	span->io.key = 0;
	_pthread_cleanup_push(&span->cleanup, span_abandoned, span);
}

/* Its caller's frame, which stays until the wait ends, is where the thread is found meanwhile. */
TRC_NO_SANITIZE void trc_span_begin(struct trc_span *span, enum trc_reason reason, uint64_t object)
{
	const struct trc_registers from = {
		.pc = trc_pc_plain((uintptr_t)__builtin_return_address(0)),
		.sp = (uintptr_t)__builtin_dwarf_cfa(),
		.fp = *(const volatile uintptr_t *)__builtin_frame_address(0),
	};

	trc_wait_begin(&span->wait, reason, object, &from);
	trc_span_guard(span, false);
}

void trc_span_park(struct trc_span *span, enum trc_reason reason, const void *object)
{
	trc_park(&span->wait, reason, object, 0);
	trc_span_guard(span, true);
}

static void wait_end(struct trc_span *span, int result)
{
	if (span->announced)
		trc_resume(&span->wait, result);
	else
		trc_wait_end(&span->wait, result);
}

void trc_span_end(struct trc_span *span, int result)
{
	_pthread_cleanup_pop(&span->cleanup, 0);
	wait_end(span, result);
}

static void nothing(void *unused)
{
}

/* Handlers are a list, which only its newest one shows.  A few are the call's own at most. */
void trc_span_end_inside(struct trc_span *span, int result)
{
	enum { OWN_MAX = 4 };
	struct _pthread_cleanup_buffer top, *newer = &top;

	_pthread_cleanup_push(&top, nothing, NULL);
	for (int i = 0; i < OWN_MAX && newer && newer->__prev != &span->cleanup; i++)
		newer = newer->__prev;
	if (newer && newer->__prev == &span->cleanup)
		newer->__prev = span->cleanup.__prev;
	_pthread_cleanup_pop(&top, 0);
	wait_end(span, result);
}
