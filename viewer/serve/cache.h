/*
 * cache.h - files on disk that spare work in proportion to the trace: the page of the whole, and the rows that were derived
 * for the pages of parts (viewer/prepared.h).
 *
 *   serve:V8  a page that was kept is served only if its key and its checksum are right.  The key says that the page is of this
 *       trace (device, inode, size, when its bytes were last written, a checksum of its beginning and its end), was made by this
 *       program (device, inode, size, times of change), and with the same files for names of functions (trc_symbols_places(),
 *       TRC_JIT_MAP).  The checksum was written with the page's bytes
 *   serve:V9  pages are kept where only the user can write, in $XDG_CACHE_HOME/trc or ~/.cache/trc, and are taken only from
 *       there; the newest TRC_CACHE_PAGES_MAX at most
 *   serve:V10  derived rows are kept there, too, by the same rules: the newest files, TRC_CACHE_MODELS_MAX at most, of
 *       TRC_CACHE_MODELS_BYTES together, and no file that takes more than a quarter of the free space on the disk
 *   serve:V12  a file is written by one process, under a name of its own.  It is not changed once it has the name under which
 *       others open it.  A file that a killed process left behind is removed after an hour
 *   serve:V13  nothing is kept in a file system that may be on another machine: if it loses a file that is mapped, the
 *       process ends
 *   serve:V14  the checksum of derived rows is computed once: a file beside them says of which state of theirs it was right
 *       (device, inode, size, times of change, and the boot of the machine, as what a crash leaves half written has these, too)
 *
 * Whatever goes wrong, a page is made anew: nothing here is an error.
 */
#ifndef TRC_VIEWER_SERVE_CACHE_H
#define TRC_VIEWER_SERVE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	TRC_CACHE_PAGES_MAX = 16,
	TRC_CACHE_MODELS_MAX = 4,
	TRC_CACHE_KEY_BYTES = 512,
	TRC_CACHE_NAME_BYTES = 64,
};
#define TRC_CACHE_MODELS_BYTES (UINT64_C(16) << 30)

/* V8, as text. */
struct trc_cache_key {
	char text[TRC_CACHE_KEY_BYTES]; /* ends in zeroes; "" = no page is kept of this */
	uint64_t device, inode;		/* of the trace */
	uint64_t others;		/* checksum of what else was added */
};

/* Makes the key of the file `path` as it is now. */
void trc_cache_key_make(struct trc_cache_key *key, const char *path);
/* What else the page depends on: a text, and a file as it is now, if it is there; NULL = none. */
void trc_cache_key_add(struct trc_cache_key *key, const char *what, const char *path);
/* Whether the key is `before`, with additions since. */
bool trc_cache_key_has(const struct trc_cache_key *key, const struct trc_cache_key *before);
bool trc_cache_key_is_same(const struct trc_cache_key *a, const struct trc_cache_key *b);
/* Why a file that was kept under the key `kept` does not have this key, as half a sentence; NULL = it has. */
const char *trc_cache_key_differs(const struct trc_cache_key *key, const char *kept);

/* The page of this key: a file, the caller's to close, of which the first *n_bytes are the page; -1 = there is none. */
int trc_cache_find(const struct trc_cache_key *key, uint64_t *n_bytes);
/* Keeps the page, the first n_bytes of `fd`, in place of an older one of the same trace. */
void trc_cache_keep(const struct trc_cache_key *key, int fd, uint64_t n_bytes);

/* V14, of a file of derived rows, as text; "" = it cannot be told. */
struct trc_cache_state {
	char text[TRC_CACHE_KEY_BYTES];
};

void trc_cache_state_make(struct trc_cache_state *state, int fd);

/* The file of derived rows, the caller's to close; -1 = there is none.  trc_image_map() checks that it is whole, and has
 * this key.  *is_checked: in its state the checksum was right.  *state: the state that it has now. */
int trc_cache_find_model(const struct trc_cache_key *key, struct trc_cache_state *state,
			 bool *is_checked);
/* The checksum was right in this state, or later. */
void trc_cache_keep_checked(const struct trc_cache_key *key, const struct trc_cache_state *state);

/* A file of derived rows that is being written. */
struct trc_cache_making {
	int dir, fd;
	uint64_t most_bytes;		 /* it may not be larger (V10) */
	char name[TRC_CACHE_NAME_BYTES]; /* V12 */
	const char *why;		 /* half a sentence */
};
/* False: none can be kept; making->why says why. */
bool trc_cache_begin_model(struct trc_cache_making *making, const struct trc_cache_key *key);
/* Keeps it in place of an older one of the same trace if it is whole, else forgets it; closes fd.  Whether it is kept. */
bool trc_cache_end_model(struct trc_cache_making *making, const struct trc_cache_key *key,
			 bool is_whole);

#endif
