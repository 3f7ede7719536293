/*
 * deflate.h - bytes deflated, as short as one of a few ways makes them; any inflater reads it.
 *
 *   deflate:D1  numbers hardly repeat: their codes alone are mostly shorter than codes and references to what was before, and shorter
 *       still if numbers of one distribution have codes of their own.  So pieces that differ much are deflated by themselves
 */
#ifndef TRC_VIEWER_DEFLATE_H
#define TRC_VIEWER_DEFLATE_H

#include "page.h"

/* A zlib stream, onto the end of *out.  Of what `hardly_repeats` no repetitions are looked for, which takes most of the time.  0 or
 * -ENOMEM. */
int trc_deflate(struct trc_bytes *out, const struct trc_bytes *in, bool hardly_repeats);

#endif
