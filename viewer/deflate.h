/*
 * deflate.h - bytes deflated in the shortest of a few ways, or in a quick one; any inflater reads the result.
 *
 *   deflate:D1  numbers hardly repeat.  Codes alone are mostly shorter for them than codes and references to earlier bytes, and
 *       are shorter still if numbers of one distribution have codes of their own.  So pieces that differ much are deflated
 *       separately
 */
#ifndef TRC_VIEWER_DEFLATE_H
#define TRC_VIEWER_DEFLATE_H

#include "page.h"

enum trc_deflate_way {
	TRC_DEFLATE_SHORTEST,
	TRC_DEFLATE_CODES, /* of bytes that hardly repeat: no repetitions are looked for, since looking takes most of the time */
	TRC_DEFLATE_QUICK, /* one way, which takes a third of the time */
};

/* A zlib stream, onto the end of *out.  0 or -ENOMEM. */
int trc_deflate(struct trc_bytes *out, const struct trc_bytes *in, enum trc_deflate_way way);

#endif
