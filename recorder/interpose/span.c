/*
 * span.c - waits that may be cancelled.  Context: traced thread, signal handlers.
 */
#include "recorder/interpose/span.h"

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
		trc_wait_end(&span->wait, ECANCELED);
}

void trc_span_guard(struct trc_span *span, bool announced)
{
	span->announced = announced;
	span->retakes_a_lock = false;
	span->io.key = 0;
	_pthread_cleanup_push(&span->cleanup, span_abandoned, span);
}

void trc_span_begin(struct trc_span *span, enum trc_reason reason, uint64_t object)
{
	trc_wait_begin(&span->wait, reason, object);
	trc_span_guard(span, false);
}

void trc_span_park(struct trc_span *span, enum trc_reason reason, const void *object)
{
	trc_park(&span->wait, reason, object, 0);
	trc_span_guard(span, true);
}

void trc_span_end(struct trc_span *span, int result)
{
	_pthread_cleanup_pop(&span->cleanup, 0);
	if (span->announced)
		trc_resume(&span->wait, result);
	else
		trc_wait_end(&span->wait, result);
}
