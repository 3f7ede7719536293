/* prepared.h - the rows that pages of all parts of a trace need (trc_html_prepare()), in a file that is mapped instead of making
 * the rows again. */
#ifndef TRC_VIEWER_PREPARED_H
#define TRC_VIEWER_PREPARED_H

#include "analyzer/model/image.h"

/* Writes the rows of a model that was prepared.  0 or -errno (image.h). */
int trc_prepared_write(struct trc_model *m, int fd, const struct trc_image_writing *writing);
/* Gives the file's rows to a model of which nothing was derived yet: afterwards it is as if it had been prepared.  pause: as for
 * trc_image_map().  0, or -errno,
 * also if the file cannot be used: then the model is to be closed. */
int trc_prepared_map(struct trc_model *m, int fd, const char *key,
		     const struct trc_image_pause *pause);

#endif
