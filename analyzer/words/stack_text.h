/* stack_text.h - stacks as the report writes them, for others. */
#ifndef TRC_ANALYZER_WORDS_STACK_TEXT_H
#define TRC_ANALYZER_WORDS_STACK_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include "analyzer/model/model.h"

/* "settings_price trc-demo.c:153 < request_handle :270": the first `max` of the frames that are the
 * program's own, without those of libc and of the recorder that lead and end a stack; "" if there are none.
 * Needs TRC_PART_SYMBOLS.  The caller's to free; NULL without memory. */
char *trc_stack_text(struct trc_model *m, uint32_t stack, size_t max);

#endif
