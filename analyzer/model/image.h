/*
 * image.h - what was derived from a trace, as a file that is mapped instead of deriving it again.
 *
 * The file is a head, the texts, and one list of rows after another.  The code that owns such lists has one function, a walk, which
 * names the lists in their order.  The same walk measures, writes and reads the lists, so the order is always the same.
 *
 *   image:G1  pointers in rows point to texts.  They are written for a file that is mapped at an address that the file
 *       names.  If this address is taken, the pointers are moved
 *   image:G2  a file is mapped only if its key and the checksum of the whole file are right; whoever keeps the file may know
 *       that the checksum was right, and that the file has not changed since.  After that its rows are
 *       believed like derived rows: the caller has to make sure that nobody else could have written the file
 *   image:G3  rows that are mapped are only read, and belong to the model that has the image
 */
#ifndef TRC_ANALYZER_MODEL_IMAGE_H
#define TRC_ANALYZER_MODEL_IMAGE_H

#include "array.h"
#include "model.h"

struct trc_image;

/* Names all lists.  0 or -errno. */
typedef int trc_image_walk(struct trc_image *image, struct trc_model *m);

/* ---- for walks ---- */

/* Where in a row pointers to texts are: offsets, up to the first that is TRC_IMAGE_NO_TEXT. */
enum { TRC_IMAGE_TEXTS_MAX = 6 };
#define TRC_IMAGE_NO_TEXT SIZE_MAX

bool trc_image_is_read(const struct trc_image *image);
/* The next list: *n rows.  When the image is written, `rows` are the rows to write, and are returned.  When it is read, the
 * rows of the file are returned, and *n is their number.  texts: NULL = rows have no pointers.  After a failure, which
 * trc_image_error() tells, nothing is returned. */
void *trc_image_rows(struct trc_image *image, const void *rows, size_t *n, size_t row_bytes,
		     const size_t *texts);
/* The same for an array, which then does not own its rows (array:A4). */
void trc_image_array(struct trc_image *image, struct trc_array *rows, const size_t *texts);
int trc_image_error(const struct trc_image *image); /* 0 or -errno, of all lists so far */

/* All that trc_model_need() makes, except symbols, which are looked up again; and what is kept of it: the blocks of between.h,
 * and unlocks by lock. */
trc_image_walk trc_model_walk;

/* ---- for those who keep files ---- */

enum { TRC_IMAGE_KEY_BYTES = 1024 };

/* Called now and then while something takes long; call: NULL = nothing is called.  If it returns not 0, the work is given up. */
struct trc_image_pause {
	int (*call)(void *context);
	void *context;
};

struct trc_image_writing {
	const char *key;     /* what the file is of; shorter than TRC_IMAGE_KEY_BYTES */
	uint64_t most_bytes; /* a larger file is not begun */
	/* What is written must stay as it is meanwhile; rows and texts may be added elsewhere. */
	struct trc_image_pause pause;
};
/* Whether it is to be given up. */
bool trc_image_pauses(const struct trc_image_pause *pause);

/* To an empty file.  -EFBIG: it would be larger than wanted; -ECANCELED: it was given up. */
int trc_image_write(struct trc_model *m, trc_image_walk *walk, int fd,
		    const struct trc_image_writing *writing);
/* The key of the image in a file, or "" if the file is no image. */
void trc_image_key(int fd, char key[TRC_IMAGE_KEY_BYTES]);
/* Gives the rows of the file to a model of which nothing has been derived yet; fd may be closed afterwards.  pause: while the
 * checksum is computed; NULL = it is known to be right.  -ENOENT: the file is of something else, or damaged, or the work was given up, and the model is as it
 * was.  After any other failure the model is to be closed. */
int trc_image_map(struct trc_model *m, trc_image_walk *walk, int fd, const char *key,
		  const struct trc_image_pause *pause);

/* Closes the image of a model, after everything that has the image's rows; accepts NULL. */
void trc_image_close(struct trc_image *image);
/* Whether these rows belong to the model's image, and so must not be freed. */
bool trc_image_has(const struct trc_model *m, const void *rows);

#endif
