/* near.h - the name that was perhaps meant where there is none like it. */
#ifndef TRC_ANALYZER_WHATIF_NEAR_H
#define TRC_ANALYZER_WHATIF_NEAR_H

#include <stddef.h>

/* Names longer than this are not compared, nor need more names be than so many: a trace may have any number. */
enum { TRC_NEAR_BYTES = 64, TRC_NEAR_NAMES = 100000 };

struct trc_near {
	const char *wanted, *best; /* best: NULL = none is near; the caller's */
	size_t far;		   /* how many letters best is off; another name must be less */
};

struct trc_near trc_near_to(const char *wanted);
/* A name that there is, which may be NULL.  It is near if a third of the wanted one's letters, or less, are others, or if it
 * is the wanted one behind "::" or "."; of several that are equally near the first is taken. */
void trc_near_add(struct trc_near *near, const char *name);

#endif
