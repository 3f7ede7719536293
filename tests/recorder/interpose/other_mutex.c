/*
 * other_mutex.c - another library that interposes mutexes, preloaded after the recorder: it is to
 * see every call.
 */
#include <dlfcn.h>
#include <pthread.h>

static __thread unsigned int calls;
unsigned int other_mutex_calls(void);
unsigned int other_mutex_calls(void)
{
	return calls;
}

#define FORWARD(name)                                                                              \
	int name(pthread_mutex_t *mutex)                                                           \
	{                                                                                          \
		static __typeof__(name) *next;                                                     \
                                                                                                   \
		if (!next)                                                                         \
			next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);                        \
		calls++;                                                                           \
		return next(mutex);                                                                \
	}
FORWARD(pthread_mutex_lock)
FORWARD(pthread_mutex_trylock)
FORWARD(pthread_mutex_unlock)
