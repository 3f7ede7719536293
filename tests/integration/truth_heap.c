/*
 * truth_heap.c - a program that knows what it allocated: truth_heap ROUNDS [no-pvalloc].
 *
 * Each way of allocating has a size of its own that nothing else here has, by which it is found
 * in the trace.  Of its objects one in eight stays; half of the others are freed at once, the rest
 * by another thread, when those that allocated them are gone; or at a thread's end, by a
 * destructor.  Output, one line a size, separated by tabs: bytes, allocated, live.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, BATCH = 4096 };

static atomic_ulong allocated[32], released[32];
static unsigned long rounds;
static bool has_pvalloc; /* an allocator may have none, and not know what libc's gives */
static pthread_key_t key;

/* An object begins with the number of its way, and may be linked. */
struct object {
	unsigned long way;
	struct object *next;
};

static void *by_malloc(size_t n)
{
	return malloc(n);
}
static void *by_calloc(size_t n)
{
	return calloc(7, n / 7);
}
static void *by_aligned_alloc(size_t n)
{
	return aligned_alloc(64, n);
}
static void *by_posix_memalign(size_t n)
{
	void *object = NULL;

	return posix_memalign(&object, 32, n) ? NULL : object;
}
static void *by_memalign(size_t n)
{
	return memalign(128, n);
}
static void *by_valloc(size_t n)
{
	return valloc(n);
}
static void *by_pvalloc(size_t n)
{
	return has_pvalloc ? pvalloc(n) : valloc(n);
}
static void *by_realloc(size_t n)
{
	return realloc(NULL, n);
}
static void *by_reallocarray(size_t n)
{
	return reallocarray(NULL, n / 3, 3);
}
static void *by_strdup(size_t n)
{
	char text[2048];

	memset(text, 'x', n - 1);
	text[n - 1] = '\0';
	return strdup(text);
}

static const struct {
	size_t bytes;
	void *(*allocate)(size_t n);
} ways[] = {
	{1009, by_malloc},	 {1211, by_calloc},   {3008, by_aligned_alloc},
	{4099, by_posix_memalign}, {1511, by_memalign}, {5003, by_valloc},
	{6007, by_pvalloc},	 {1709, by_realloc},  {2103, by_reallocarray},
	{907, by_strdup},	 {40009, by_malloc},  {200003, by_malloc},
};
enum {
	WAYS = sizeof(ways) / sizeof(*ways),
	BEFORE = WAYS,	/* realloc() from this size */
	AFTER = WAYS + 1, /* to this one */
	SHRUNK = WAYS + 2,
	ALL
};
static const size_t other_bytes[] = {2203, 9001, 1103};

static struct object *make(unsigned int way)
{
	struct object *object = ways[way].allocate(ways[way].bytes);

	if (!object)
		abort();
	object->way = way;
	allocated[way]++;
	return object;
}

static void release(struct object *object)
{
	released[object->way]++;
	free(object);
}

static void release_all(void *list)
{
	for (struct object *object = list, *next; object; object = next) {
		next = object->next;
		release(object);
	}
}

static struct object *put(struct object *list, struct object *object)
{
	object->next = list;
	return object;
}

/* One is changed to another size, and one fails to be: it stays what it was. */
static struct object *change(void)
{
	struct object *object = malloc(other_bytes[0]), *same;
	volatile size_t too_much = (size_t)1 << 62;

	allocated[BEFORE]++;
	same = realloc(object, too_much);
	if (same)
		abort();
	object = realloc(object, other_bytes[1]);
	allocated[AFTER]++;
	released[BEFORE]++;
	object = realloc(object, other_bytes[2]);
	allocated[SHRUNK]++;
	released[AFTER]++;
	if (!object)
		abort();
	object->way = SHRUNK;
	return object;
}

static struct object *kept_for_ever; /* by the main thread alone */
static struct object *handed_over[THREADS], *stays[THREADS];

static void *work(void *number)
{
	unsigned int n = (unsigned int)(size_t)number;
	struct object *at_end = NULL;

	for (unsigned long i = 0; i < rounds; i++) {
		for (unsigned int way = 0; way < WAYS; way++) {
			struct object *object = make(way);

			if (i % 8 == 0)
				stays[n] = put(stays[n], object);
			else if (i % 8 < 5)
				release(object);
			else if (i % 8 == 5)
				at_end = put(at_end, object);
			else
				handed_over[n] = put(handed_over[n], object);
		}
		if (i % 8 == 0)
			stays[n] = put(stays[n], change());
		else
			release(change());
		free(NULL);
	}
	pthread_setspecific(key, at_end);
	return NULL;
}

static void tell(unsigned int way, size_t bytes)
{
	printf("%zu\t%lu\t%lu\n", bytes, allocated[way], allocated[way] - released[way]);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 16;
	has_pvalloc = argc < 3 || strcmp(argv[2], "no-pvalloc") != 0;
	pthread_key_create(&key, release_all);
	for (size_t n = 0; n < THREADS; n++)
		if (pthread_create(&thread[n], NULL, work, (void *)n))
			return 1;
	for (size_t n = 0; n < THREADS; n++) {
		pthread_join(thread[n], NULL);
		release_all(handed_over[n]);
	}
	kept_for_ever = stays[0];
	for (unsigned int way = 0; way < ALL; way++)
		tell(way, way < WAYS ? ways[way].bytes : other_bytes[way - WAYS]);
	return kept_for_ever == NULL;
}
