/* sampled.c - see sampled.h. */
#include <inttypes.h>
#include <stdio.h>
#include "sampled.h"
#include "schema.h"

void trc_sampled_text(char text[static TRC_SAMPLED_TEXT_BYTES], const struct trc_sampled *s)
{
	char rate[64];

	if (s->frequency_hz)
		snprintf(rate, sizeof(rate), "%" PRIu64 " time%s per second", s->frequency_hz,
			 s->frequency_hz == 1 ? "" : "s");
	else
		snprintf(rate, sizeof(rate), "every %" PRIu64 "%s", s->period,
			 s->is_clock ? " ns" : "");
	snprintf(text, TRC_SAMPLED_TEXT_BYTES, "%s was sampled %s, by %s%s%s", s->name, rate,
		 trc_sample_how_name(s->how), *s->note ? ": " : "", s->note);
}
