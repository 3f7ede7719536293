/*
 * known_model.h - a short trace that browser.mjs knows by heart.
 */
#ifndef TRC_TESTS_KNOWN_MODEL_H
#define TRC_TESTS_KNOWN_MODEL_H

#include "fake_model.h"

/* What a text from a trace may hold: ends of elements, quotes, a handler that would leave a mark,
 * bytes that are not UTF-8, a line separator, an override of the direction of writing. */
#define KNOWN_HOSTILE                                                                              \
	"</script><img src=x onerror=\"window.owned=1\">'\"&lt;\xff\xfe\xe2\x80\xa8\xe2\x80\xae"

extern const struct trc_model known_model;

#endif
