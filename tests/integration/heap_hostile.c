/*
 * heap_hostile.c - what programs do to a heap at its worst, by one that counts what it does.
 *
 *   heap_hostile all PLUGIN    in several threads at once: objects that others give back; realloc()
 *                              in all its ways; alignments; handlers that allocate, and that do not
 *                              return; vfork(), posix_spawn() and fork() children that give back
 *                              what is their parent's; threads that allocate and give back at
 *                              their end, up to the last round of destructors and by libc behind
 *                              it; a plugin's constructor and destructor
 *   heap_hostile million       a million objects that live; a tenth of them ends
 *   heap_hostile behind        three objects are allocated behind the end of a thread's recording
 *   heap_hostile exits PLUGIN  what is given back, and allocated, by exit()
 *
 * Each place that allocates is a function of its own, named site_..., with a size of its own.
 * errno is what it was after every call that succeeds.  Output, separated by tabs: a line bytes,
 * allocated, live for each size, and a line "site", name, live objects, live bytes.  Status 1 and
 * what was wrong on stderr otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check_or_exit.h"
#include "heap_plugin.h"

extern char **environ;

enum { THREADS = 4, ROUNDS = 12, MARK = EXDEV };

/* ---- places that allocate --------------------------------------------------------------- */

struct site {
	const char *name;
	size_t bytes;
	atomic_ulong allocated, released;
};

/* An object begins with the place that it is of, and may be linked. */
struct object {
	struct site *site;
	struct object *next;
};

static struct site *sites[64];
static unsigned int n_sites; /* by constructors alone */

static struct object *made(struct site *site, void *memory)
{
	struct object *object = memory;

	CHECK(object && errno == MARK);
	object->site = site;
	object->next = NULL;
	site->allocated++;
	return object;
}

static void gone(struct site *site)
{
	site->released++;
}

static void release(struct object *object)
{
	gone(object->site);
	errno = MARK;
	free(object);
	CHECK(errno == MARK);
}

/* SITE(name, bytes, call, parameters...): a function that allocates so many bytes, `n`. */
#define SITE(tag, n_bytes, call, ...)                                                              \
	static struct site of_##tag = {.name = "site_" #tag, .bytes = n_bytes};                    \
	__attribute__((constructor)) static void add_##tag(void)                                   \
	{                                                                                          \
		sites[n_sites++] = &of_##tag;                                                      \
	}                                                                                          \
	static __attribute__((noinline)) struct object *site_##tag(__VA_ARGS__)                    \
	{                                                                                          \
		const size_t n = n_bytes;                                                          \
		void *memory;                                                                      \
                                                                                                   \
		errno = MARK;                                                                      \
		memory = call;                                                                     \
		return made(&of_##tag, memory);                                                    \
	}

static char text[1024]; /* full of the same character */

static void *by_posix_memalign(size_t alignment, size_t n)
{
	void *memory = &memory;
	int result = posix_memalign(&memory, alignment, n);

	return result ? NULL : memory;
}

SITE(malloc, 1009, malloc(n), void)
SITE(calloc, 1211, calloc(1, n), void)
SITE(strndup, 907, strndup(text, n - 1), void)
SITE(large, 200003, malloc(n), void)
SITE(page, 4 * 4096 + 48, by_posix_memalign(4096, n), void)
SITE(huge_page, 5003, memalign(2 << 20, n), void)
SITE(line, 64 * 47, aligned_alloc(64, n), void)
SITE(before_realloc, 2203, malloc(n), void)
SITE(shrunk, 2129, realloc(o, n), struct object *o)
SITE(grown, 300007, realloc(o, n), struct object *o)
SITE(remapped, 3000017, realloc(o, n), struct object *o)
SITE(back, 1103, realloc(o, n), struct object *o)
SITE(array, 3 * 701, reallocarray(o, 3, n / 3), struct object *o)
SITE(to_nothing, 1301, malloc(n), void)
SITE(handler, 1427, malloc(n), void)
SITE(handler_leaves, 1433, malloc(n), void)
SITE(before_vfork, 1511, malloc(n), void)
SITE(vfork_ends, 487, malloc(n), void)
SITE(before_fork, 1523, malloc(n), void)
SITE(destructor, 1601, malloc(n), void)
SITE(last_round, 1607, malloc(n), void)
SITE(behind, 1613, malloc(n), void)
SITE(at_exit, 1709, malloc(n), void)
SITE(of_a_million, 41, malloc(n), void)

/* ---- objects that change hands ---------------------------------------------------------- */

static struct object *_Atomic exchange[64];

static void hand_over(struct object *object, unsigned int place)
{
	object = atomic_exchange(&exchange[place % 64], object);
	if (object)
		release(object);
}

static void end_exchange(void)
{
	for (unsigned int place = 0; place < 64; place++)
		hand_over(NULL, place);
}

static struct object *_Atomic stays; /* to the end; linked */

static void keep(struct object *object)
{
	object->next = atomic_load(&stays);
	while (!atomic_compare_exchange_weak(&stays, &object->next, object))
		;
}

/* One in three stays, one ends elsewhere, one at once. */
static void dispose(struct object *object, unsigned int i)
{
	if (i % 3 == 0)
		keep(object);
	else if (i % 3 == 1)
		hand_over(object, i);
	else
		release(object);
}

static void allocates(unsigned int i)
{
	dispose(site_malloc(), i);
	dispose(site_calloc(), i + 1);
	dispose(site_strndup(), i + 2);
	dispose(site_large(), i);
	dispose(site_page(), i + 1);
	dispose(site_huge_page(), i + 2);
	dispose(site_line(), i);
	errno = MARK;
	free(NULL);
	CHECK(errno == MARK);
}

/* ---- what fails changes nothing --------------------------------------------------------- */

static void fails(void)
{
	volatile size_t too_much = (size_t)1 << 62;
	void *memory = &memory;

	errno = MARK;
	CHECK(posix_memalign(&memory, 3, 64) == EINVAL && errno == MARK);
	CHECK(memory == &memory);
	CHECK(!malloc(too_much) && errno == ENOMEM);
	errno = MARK;
	CHECK(!calloc(too_much, 8) && errno == ENOMEM);
	errno = MARK;
	CHECK(!aligned_alloc(64, too_much) && errno == ENOMEM);
}

/* ---- realloc() -------------------------------------------------------------------------- */

static struct object *resized(struct object *(*site)(struct object *), struct object *object)
{
	gone(object->site);
	return site(object);
}

static void reallocates(unsigned int i)
{
	volatile size_t too_much = (size_t)1 << 62, nothing = 0;
	struct object *object = resized(site_shrunk, site_before_realloc()), *same = object;

	CHECK(!realloc(object, too_much) && errno == ENOMEM);
	errno = MARK;
	CHECK(!reallocarray(object, too_much, 8) && errno == ENOMEM);
	CHECK(object->site == &of_shrunk && object == same);
	object = resized(site_grown, object);
	object = resized(site_remapped, object);
	object = resized(site_back, object);
	dispose(resized(site_array, object), i);
	object = site_to_nothing();
	gone(object->site);
	errno = MARK;
	CHECK(!realloc(object, nothing) && errno == MARK);
	dispose(resized(site_shrunk, site_before_realloc()), i + 1);
}

/* ---- handlers --------------------------------------------------------------------------- */

static __thread sigjmp_buf past;
static __thread unsigned int n_handled;

static void on_usr1(int number)
{
	int saved = errno;

	(void)number;
	dispose(site_handler(), n_handled++);
	reallocates(n_handled);
	errno = saved;
}

static void on_usr2(int number)
{
	(void)number;
	dispose(site_handler_leaves(), n_handled++);
	siglongjmp(past, 1);
}

/* Both are blocked wherever the program may be inside malloc(). */
static void handles(void)
{
	sigset_t both, none;

	sigemptyset(&none);
	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	pthread_kill(pthread_self(), SIGUSR1);
	errno = MARK;
	CHECK(sigsuspend(&none) == -1 && errno == EINTR);
	if (!sigsetjmp(past, 1)) {
		raise(SIGUSR2);
		pthread_sigmask(SIG_UNBLOCK, &both, NULL);
		CHECK(false); /* the handler has come back */
	}
	pthread_sigmask(SIG_UNBLOCK, &both, NULL);
	raise(SIGUSR1);
}

/* ---- children --------------------------------------------------------------------------- */

static void wait_for(pid_t child)
{
	int status = -1;

	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(status == 0);
}

/* The second one gives back what is in the memory of both; the third one leaves a leak in it. */
static void vforks(unsigned int i)
{
	static char *const argv[] = {"true", NULL};
	struct object *mine = site_before_vfork(), *its = site_vfork_ends();
	void *volatile leak;
	pid_t child;

	child = vfork();
	if (!child) {
		execv("/bin/true", argv);
		_exit(1);
	}
	wait_for(child);
	gone(its->site);
	child = vfork();
	if (!child) {
		free(its);
		execv("/nowhere/to/be/found", argv);
		execv("/bin/true", argv);
		_exit(1);
	}
	wait_for(child);
	child = vfork();
	if (!child) {
		leak = malloc(7919);
		_exit(leak == NULL);
	}
	wait_for(child);
	CHECK(!posix_spawnp(&child, "true", NULL, NULL, argv, environ));
	wait_for(child);
	dispose(mine, i);
}

/* A child that is not recorded: nothing of what it does is its parent's. */
static void forks(unsigned int i)
{
	struct object *mine[16];
	pid_t child;

	for (unsigned int k = 0; k < 16; k++)
		mine[k] = site_before_fork();
	child = fork();
	if (!child) {
		for (unsigned int k = 0; k < 16; k++)
			free(k % 2 ? mine[k] : realloc(mine[k], 9001));
		allocates(i);
		reallocates(i);
		_exit(0);
	}
	wait_for(child);
	for (unsigned int k = 0; k < 16; k++)
		dispose(mine[k], k);
}

/* ---- threads that end ------------------------------------------------------------------- */

static pthread_key_t keys[48]; /* values under the last ones lie in memory that libc allocates */
enum { LAST_KEY = 47 };

/* Once a round, of which there are four; the last one comes behind the end of the recording. */
static void on_end(void *value)
{
	struct object *object = value, *next = object->next;

	release(object);
	if (!next)
		return;
	hand_over(site_destructor(), 7);
	pthread_setspecific(keys[LAST_KEY], next);
}

static void *ends(void *unused)
{
	struct object *list = NULL, *object;

	for (unsigned int round = 0; round < 4; round++) {
		object = site_last_round();
		object->next = list;
		list = object;
	}
	pthread_setspecific(keys[LAST_KEY], list);
	/* libc keeps the text for as long as the thread lives. */
	CHECK(strerror(54321) != NULL);
	return unused;
}

/* The round counts down. */
static void on_end_behind(void *round)
{
	uintptr_t left = (uintptr_t)round - 1;

	if (left)
		pthread_setspecific(keys[0], (void *)left);
	else
		for (unsigned int i = 0; i < 3; i++)
			keep(site_behind());
}

static void *ends_behind(void *unused)
{
	pthread_setspecific(keys[0], (void *)4);
	return unused;
}

static int behind(void)
{
	pthread_t thread;

	CHECK(!pthread_key_create(&keys[0], on_end_behind));
	CHECK(!pthread_create(&thread, NULL, ends_behind, NULL));
	CHECK(!pthread_join(thread, NULL));
	printf("%u are left\n", (unsigned int)of_behind.allocated);
	return 0;
}

static void threads_end(void)
{
	pthread_t thread[4];

	for (unsigned int i = 0; i < 4; i++)
		CHECK(!pthread_create(&thread[i], NULL, ends, NULL));
	for (unsigned int i = 0; i < 4; i++)
		CHECK(!pthread_join(thread[i], NULL));
}

/* ---- a plugin ---------------------------------------------------------------------------- */

static struct site of_plugin_load = {.name = "site_plugin_load", .bytes = PLUGIN_LOAD_BYTES},
		   of_plugin_unload = {.name = "site_plugin_unload", .bytes = PLUGIN_UNLOAD_BYTES};

__attribute__((constructor)) static void add_plugin(void)
{
	sites[n_sites++] = &of_plugin_load;
	sites[n_sites++] = &of_plugin_unload;
}

/* Two of what its constructor allocates, and one of what its destructor does, are left. */
static void plugs_in(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *(*give)(void);

	CHECK(plugin != NULL);
	give = (void *(*)(void))dlsym(plugin, "plugin_gives");
	CHECK(give != NULL);
	errno = MARK;
	free(give());
	CHECK(errno == MARK);
	CHECK(!dlclose(plugin));
	CHECK(!dlopen(path, RTLD_NOW | RTLD_NOLOAD));
	of_plugin_load.allocated += PLUGIN_LOAD_OBJECTS;
	of_plugin_load.released += PLUGIN_LOAD_OBJECTS - PLUGIN_LOAD_LEFT;
	of_plugin_unload.allocated += PLUGIN_UNLOAD_OBJECTS;
	of_plugin_unload.released += PLUGIN_UNLOAD_OBJECTS - PLUGIN_UNLOAD_LEFT;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static const char *plugin_path;

static void *work(void *number)
{
	unsigned int n = (unsigned int)(size_t)number;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		allocates(i + n);
		fails();
		reallocates(i);
		handles();
		if (i % 4 == n)
			vforks(i);
		if (i % 4 == n)
			forks(i);
		threads_end();
		if (n == 0)
			plugs_in(plugin_path);
	}
	return NULL;
}

static void tell(void)
{
	for (unsigned int i = 0; i < n_sites; i++) {
		const struct site *s = sites[i];
		unsigned long live = s->allocated - s->released;

		if (!s->allocated)
			continue;
		printf("%zu\t%lu\t%lu\n", s->bytes, (unsigned long)s->allocated, live);
		printf("site\t%s\t%lu\t%lu\n", s->name, live, live * s->bytes);
	}
}

static int all(void)
{
	pthread_t thread[THREADS];

	memset(text, 'x', sizeof(text) - 1);
	CHECK(signal(SIGUSR1, on_usr1) != SIG_ERR);
	CHECK(signal(SIGUSR2, on_usr2) != SIG_ERR);
	for (unsigned int i = 0; i <= LAST_KEY; i++)
		CHECK(!pthread_key_create(&keys[i], i == LAST_KEY ? on_end : NULL));
	for (size_t n = 0; n < THREADS; n++)
		CHECK(!pthread_create(&thread[n], NULL, work, (void *)n));
	for (size_t n = 0; n < THREADS; n++)
		CHECK(!pthread_join(thread[n], NULL));
	end_exchange();
	tell();
	return 0;
}

/* A little at a time, so that whoever writes a trace of it keeps up. */
static int million(void)
{
	static struct object *object[1000000];
	static const struct timespec pause = {.tv_nsec = 1000000};
	enum { N = sizeof(object) / sizeof(*object) };

	for (unsigned int i = 0; i < N; i++) {
		object[i] = site_of_a_million();
		if (i % 1000 == 0)
			nanosleep(&pause, NULL);
	}
	for (unsigned int i = 0; i < N; i += 10) {
		release(object[i]);
		if (i % 1000 == 0)
			nanosleep(&pause, NULL);
	}
	tell();
	return 0;
}

/* ---- at the end ---------------------------------------------------------------------------- */

static struct object *at_end[3];

static void on_exit_of_all(void)
{
	release(at_end[0]);
	keep(site_at_exit());
}

/* It is told before, what follows from it included. */
static int exits(void)
{
	for (unsigned int i = 0; i < 3; i++)
		at_end[i] = site_at_exit();
	CHECK(dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL) != NULL);
	CHECK(!atexit(on_exit_of_all));
	of_at_exit.allocated++;
	of_at_exit.released += 2;
	of_plugin_load.allocated += PLUGIN_LOAD_OBJECTS;
	of_plugin_load.released += PLUGIN_LOAD_OBJECTS - PLUGIN_LOAD_LEFT - 1;
	of_plugin_unload.allocated += PLUGIN_UNLOAD_OBJECTS;
	of_plugin_unload.released += PLUGIN_UNLOAD_OBJECTS - PLUGIN_UNLOAD_LEFT;
	tell();
	return 0;
}

__attribute__((destructor)) static void last(void)
{
	if (at_end[1])
		release(at_end[1]);
}

int main(int argc, char **argv)
{
	CHECK(argc > 1);
	plugin_path = argc > 2 ? argv[2] : NULL;
	if (!strcmp(argv[1], "million"))
		return million();
	if (!strcmp(argv[1], "behind"))
		return behind();
	CHECK(plugin_path != NULL);
	return strcmp(argv[1], "exits") ? all() : exits();
}
