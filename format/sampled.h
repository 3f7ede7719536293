/*
 * sampled.h - how an event was sampled, in words, for writers of profiles; for which lost samples
 * others can stand.
 */
#ifndef TRC_FORMAT_SAMPLED_H
#define TRC_FORMAT_SAMPLED_H

#include <stdbool.h>
#include <stdint.h>
#include "schema.h"

struct trc_sampled {
	const char *name;
	uint64_t period, frequency_hz; /* as asked for; frequency_hz 0 = the period was */
	bool is_clock;		       /* its unit is nanoseconds */
	unsigned int how;	       /* enum trc_sample_how */
	const char *note;	       /* "" = nothing */
};

enum { TRC_SAMPLED_TEXT_BYTES = 640 };
/* "cycles was sampled every 1000000, by signal: user mode only: ..." */
void trc_sampled_text(char text[static TRC_SAMPLED_TEXT_BYTES], const struct trc_sampled *sampled);

/* Whether a sample that was lost for this reason (enum trc_sample_loss) may have met any thread: then
 * the other samples can stand for it. */
static inline bool trc_sample_loss_may_meet_any(uint64_t cause)
{
	return cause == TRC_SAMPLE_LOSS_BUSY || cause == TRC_SAMPLE_LOSS_NO_ROOM ||
	       cause == TRC_SAMPLE_LOSS_THROTTLED;
}

#endif
