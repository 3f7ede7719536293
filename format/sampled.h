/*
 * sampled.h - how an event was sampled, in words, for writers of profiles.
 */
#ifndef TRC_FORMAT_SAMPLED_H
#define TRC_FORMAT_SAMPLED_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
