/*
 * descriptors.h - what descriptors were when threads waited for them (docs/format.md, "Descriptors").
 *
 * A name in the trace is a text from the recorder, or from a file with any content.  So a text that is not
 * understood is used as a name unchanged.
 */
#ifndef TRC_ANALYZER_MODEL_DESCRIPTORS_H
#define TRC_ANALYZER_MODEL_DESCRIPTORS_H

#include "array.h"
#include "model.h"

/* All texts are terminated, and as old as the model. */
struct trc_descriptor_name {
	const char *text;	/* as recorded */
	const char *kind;	/* "file", "pipe", "tcp", "unix", "eventfd", ..., "other" */
	const char *name;	/* as a person calls it: a path, the peer, else the own address */
	const char *own, *peer; /* a socket's addresses; NULL = none, or no socket */
	bool listens;
};

/* The name with this number, which is that of trc_park.descriptor; NULL for 0. */
const struct trc_descriptor_name *trc_model_descriptor(const struct trc_model *m, uint32_t number);

/* A descriptor number while it stood for one thing: from the begin of the first wait for it to the end of the last. */
struct trc_descriptor {
	uint64_t fd;
	int64_t from_ns, to_ns;
	uint64_t waits;
	int64_t waited_ns;
	uint32_t number; /* of the name */
};

/* The descriptors that were named, by from_ns.  Needs TRC_PART_WAITS.  The rows are the caller's to free, also
 * after a failure; a model that keeps such rows (trc_model_keep()) has them, and makes them once (array:A4).  0 or -ENOMEM. */
int trc_model_descriptors(const struct trc_model *m, struct trc_array *rows);

struct trc_image;
/* The walk of the descriptors that a model keeps, in an image (image.h). */
int trc_descriptors_walk(struct trc_image *image, struct trc_model *m);

#endif
