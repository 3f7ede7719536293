/*
 * image.h - what was derived from a trace, as a file that is mapped instead of deriving it again.
 *
 * The file is a head, the texts, and one list of rows after another.  Who has such lists has one function, a walk, that
 * names them in their order.  It is called to learn how large they are, to write them, and to read them: so the order is the same.
 *
 *   image:G1  pointers in rows are to texts.  They are written as the addresses that the texts have if the file is mapped at an
 *       address that the file names; where that is taken, the pointers are moved
 *   image:G2  a file is mapped only if its key and the checksum of all of it are right.  Then its rows are believed, as those that
 *       were derived: whether somebody else could have written the file, the caller has to know
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
/* The next list: *n rows.  When it is written `rows` are these, and come back; when it is read, those of the file come back, and
 * *n is theirs.  texts: NULL = rows have no pointers.  After a failure, which trc_image_error() tells, there are none. */
void *trc_image_rows(struct trc_image *image, const void *rows, size_t *n, size_t row_bytes,
		     const size_t *texts);
/* The same of an array, which then does not own its rows (array:A4). */
void trc_image_array(struct trc_image *image, struct trc_array *rows, const size_t *texts);
int trc_image_error(const struct trc_image *image); /* 0 or -errno, of all lists so far */

/* All that trc_model_need() makes but symbols, which are looked up again, and what is kept of it: which rows lie where (between.h),
 * and unlocks by lock. */
trc_image_walk trc_model_walk;

/* ---- for those who keep files ---- */

enum { TRC_IMAGE_KEY_BYTES = 1024 };

/* Called now and then while something takes long; call: NULL = nobody asks.  Not 0: it is to be given up. */
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
/* Of what the file is: its key, or "" if it is no such file. */
void trc_image_key(int fd, char key[TRC_IMAGE_KEY_BYTES]);
/* Has a model, of which nothing has been derived yet, have what the file has; fd may be closed then.  pause: while the
 * checksum is looked at.  After a failure the model is to be closed, except if it is -ENOENT: the file is of something else, or damaged,
 * or it was given up, and the model is as it was. */
int trc_image_map(struct trc_model *m, trc_image_walk *walk, int fd, const char *key,
		  const struct trc_image_pause *pause);

/* Of a model that is closed, after everything that has its rows; accepts NULL. */
void trc_image_close(struct trc_image *image);
/* Whether these rows are of the model's image, and nobody's to free. */
bool trc_image_has(const struct trc_model *m, const void *rows);

#endif
