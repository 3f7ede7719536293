/* unlocks_of.h - the unlocks of each lock, by time: made once for a model. */
#ifndef TRC_ANALYZER_MODEL_UNLOCKS_OF_H
#define TRC_ANALYZER_MODEL_UNLOCKS_OF_H

#include "array.h"
#include "model.h"

struct trc_unlocks_of {
	struct trc_index
		lock; /* by trc_charge_key(): its number, 1, 2, ...; that of readers after the lock's */
	/* Rows of unlocks: those of the lock `number` are row[first[number]] up to row[first[number + 1]]. */
	uint32_t *first, *row;
	bool is_mapped; /* both are an image's */
};

/* The unlocks by lock of a model that has TRC_PART_WAITS; borrowed from the model.  NULL without memory. */
const struct trc_unlocks_of *trc_model_unlocks_of(const struct trc_model *m);
struct trc_image;
/* image.h */
int trc_unlocks_of_walk(struct trc_image *image, struct trc_model *m);
void trc_unlocks_of_free(struct trc_unlocks_of *of); /* accepts NULL */

#endif
