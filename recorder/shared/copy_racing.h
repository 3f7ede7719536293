/*
 * copy_racing.h - copies from a mapping that other threads go on writing to.
 */
#ifndef TRC_RECORDER_SHARED_COPY_RACING_H
#define TRC_RECORDER_SHARED_COPY_RACING_H

#include <stdint.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__)
#define TRC_SANITIZED_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TRC_SANITIZED_THREADS 1
#endif
#endif

/*
 * Copies words that another thread may be writing to.  The caller finds out afterwards which words
 * were written meanwhile and discards them, or does not look at them.  The thread sanitizer would
 * report a race, and replaces memcpy().
 */
#ifdef TRC_SANITIZED_THREADS
__attribute__((noinline, no_sanitize("thread"))) static void
trc_copy_racing(void *to, const void *from, uint64_t n_bytes)
{
	for (uint64_t i = 0; i < n_bytes / 8; i++)
		((volatile uint64_t *)to)[i] = ((const volatile uint64_t *)from)[i];
}
#else
__attribute__((noinline)) static void trc_copy_racing(void *to, const void *from, uint64_t n_bytes)
{
	enum { WORDWISE_BYTES_MAX = 1024 };

	/* Word by word, so that each counter is read in one piece. */
	if (n_bytes > WORDWISE_BYTES_MAX)
		memcpy(to, from, n_bytes);
	else
		for (uint64_t i = 0; i < n_bytes / 8; i++)
			((uint64_t *)to)[i] = ((const volatile uint64_t *)from)[i];
}
#endif

#endif
