/*
 * signal_names.h - signals and their codes in words.
 */
#ifndef TRC_ANALYZER_MODEL_SIGNAL_NAMES_H
#define TRC_ANALYZER_MODEL_SIGNAL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* "SEGV"; NULL if there is no such signal. */
const char *trc_signal_name(unsigned int number);
/* "SEGV_MAPERR"; NULL if the code has none.  *words says what it means. */
const char *trc_signal_code_name(unsigned int number, int64_t code, const char **words);
/* True if a signal of this code comes with an address. */
bool trc_signal_has_address(unsigned int number, int64_t code);

#endif
