/* written.h - what the tests of the writer share: a writer into memory, and what it wrote. */
#ifndef TRC_TESTS_FORMAT_WRITTEN_H
#define TRC_TESTS_FORMAT_WRITTEN_H

#include "common.h"

/* Two procs, ticks of a nanosecond, 8 MB. */
extern const struct trc_writer_options written_options;

TCase *writer_tables(void); /* a part of suite_writer(), in a file of its own */

struct trc_writer *open_writer(struct bytes *b);
/* The smallest there is, of proc 0. */
struct trc_event an_event(uint64_t time);
/* Finishes it and opens what it wrote: no error is expected. */
struct trc_reader *read_written(struct trc_writer *w, const struct bytes *b);
void close_written(struct trc_reader *r, struct trc_writer *w, struct bytes *b);

#endif
