/*
 * deflate.h - bytes deflated in the shortest of a few ways; any inflater reads the result.
 *
 *   deflate:D1  numbers hardly repeat.  Codes alone are mostly shorter for them than codes and references to earlier bytes, and
 *       are shorter still if numbers of one distribution have codes of their own.  So pieces that differ much are deflated
 *       separately
 */
#ifndef TRC_VIEWER_DEFLATE_H
#define TRC_VIEWER_DEFLATE_H

#include "page.h"

/* A zlib stream, onto the end of *out.  `hardly_repeats`: no repetitions are looked for, since looking takes most of the time.  0 or
 * -ENOMEM. */
int trc_deflate(struct trc_bytes *out, const struct trc_bytes *in, bool hardly_repeats);

#endif
