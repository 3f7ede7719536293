/*
 * text.h - puts short texts together without libc, for signal handlers and for code that must not
 * allocate.  Text that does not fit is left out.  Context: any thread, signal handlers.
 */
#ifndef TRC_RECORDER_SHARED_TEXT_H
#define TRC_RECORDER_SHARED_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct trc_text {
	char *at, *end; /* behind `end` there is one more byte, for the zero */
};

/* An empty text in an array; the array ends with a zero after each call. */
#define TRC_TEXT_IN(array) trc_text_in(array, sizeof(array))

static inline struct trc_text trc_text_in(char *bytes, size_t n_bytes)
{
	bytes[0] = '\0';
	return (struct trc_text){bytes, bytes + n_bytes - 1};
}

static inline void trc_text_put_bytes(struct trc_text *t, const char *bytes, size_t n)
{
	if (n > (size_t)(t->end - t->at))
		n = (size_t)(t->end - t->at);
	memcpy(t->at, bytes, n);
	t->at += n;
	*t->at = '\0';
}

static inline void trc_text_put(struct trc_text *t, const char *string)
{
	trc_text_put_bytes(t, string, strlen(string));
}

/* base: 2 to 16 */
static inline void trc_text_put_number(struct trc_text *t, uint64_t n, unsigned int base)
{
	char digits[64];
	size_t at = sizeof(digits);

	do
		digits[--at] = "0123456789abcdef"[n % base];
	while (n /= base);
	trc_text_put_bytes(t, digits + at, sizeof(digits) - at);
}

#endif
