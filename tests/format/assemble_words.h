/*
 * assemble_words.h - a line of assemble.h's text, cut into words.
 *
 * All functions that fail return -EINVAL, and have said why in `error`, with the line's number.
 */
#ifndef TRC_TESTS_ASSEMBLE_WORDS_H
#define TRC_TESTS_ASSEMBLE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORDS_MAX = 160 };

struct word {
	const char *key; /* before the first '=' outside quotes; NULL = there is none */
	const char *value;
	uint32_t n_bytes; /* of the value: it may contain zeros */
	bool quoted;
};

struct words {
	struct word word[WORDS_MAX];
	size_t n;
	unsigned int number; /* of the line */
	char *error;	     /* 256 bytes, the caller's */
};

/* Where the number behind a key goes; key NULL ends a list. */
struct words_key {
	const char *key;
	uint64_t *value;
};

/* -EINVAL, always. */
int words_fail(struct words *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Cuts the text, which is overwritten, and which the words point into. */
int words_cut(struct words *line, char *text);

bool words_is_number(const char *text, uint64_t *value);
int words_number(struct words *line, const struct word *w, uint64_t *value);
/* The value of key=..., from word `from` on; `value` stays as it is if there is none. */
int words_option(struct words *line, size_t from, const char *key, uint64_t *value);
/* All the numbers of a line; every other key must be in `also`, a blank-separated list. */
int words_options(struct words *line, size_t from, const struct words_key *keys, const char *also);
/* The word with this key; without one a word of no bytes. */
const struct word *words_text(const struct words *line, const char *key);
/* What the hexadecimal digits stand for, at most `max` bytes; how many. */
size_t words_bytes(const char *hex, uint8_t *out, size_t max);
/* Long texts are compared with many names, which differ in the first letter mostly. */
bool words_same(const char *a, const char *b);

#endif
