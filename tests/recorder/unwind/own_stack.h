/* own_stack.h - what trc_unwind_thread() is told in a thread that was created without attributes. */
#ifndef TRC_TESTS_OWN_STACK_H
#define TRC_TESTS_OWN_STACK_H

#include <pthread.h>
#include <stddef.h>

static inline size_t own_stack_bytes(void)
{
	pthread_attr_t attr;
	size_t n_bytes = 0;

	pthread_attr_init(&attr);
	pthread_attr_getstacksize(&attr, &n_bytes);
	pthread_attr_destroy(&attr);
	return n_bytes;
}

#endif
