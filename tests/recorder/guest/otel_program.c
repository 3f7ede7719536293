/*
 * otel_program.c - publishes OpenTelemetry contexts of its threads, as OTEP 4947 lays them out, and
 * its service's name, as OTEP 4719 does.  It prints what it did, for otel.sh to compare.
 *
 *   otel_program waits [FILE]       a wait in each of many spans, and waits outside of spans; ends when there
 *                                   is the file
 *   otel_program burn               processor time in spans and outside of spans
 *   otel_program garbage            pointers and records that nobody should believe
 *   otel_program plugin PATH PATH   the variable is that of an object that is opened, closed, and
 *                                   opened again; the other object has no such variable
 *   otel_program quiet              waits, and publishes nothing
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "tests/recorder/interpose/blocked.h"

struct record {
	uint8_t trace[16], span[8], valid, flags;
	uint16_t attribute_bytes;
};

#ifndef WITHOUT_VARIABLE
__attribute__((visibility("default"))) __thread struct record *volatile otel_thread_ctx_v1;
#endif

/* ---- the process ----------------------------------------------------------------------- */

struct header {
	char signature[8];
	uint32_t version, payload_bytes;
	uint64_t published_ns;
	const uint8_t *payload;
};

/* A Resource with two attributes, the second being service.name. */
static const uint8_t resource[] = "\x0a\x13\x0a\x08"
				  "other.id"
				  "\x12\x07\x0a\x05other"
				  "\x0a\x1d\x0a\x0cservice.name\x12\x0d\x0a\x0b"
				  "checkout-ng";

static void publish_process(void)
{
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
	struct header *h;
	uint8_t *payload = malloc(sizeof(resource));

	if (!payload || fd < 0 || ftruncate(fd, 4096))
		exit(77);
	h = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (h == MAP_FAILED)
		exit(77);
	madvise(h, 4096, MADV_DONTFORK);
	memcpy(payload, resource, sizeof(resource));
	h->version = 2;
	h->payload_bytes = sizeof(resource) - 1;
	h->published_ns = 1;
	h->payload = payload;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(h->signature, "OTEL_CTX", 8);
}

/* ---- spans ----------------------------------------------------------------------------- */

static void record_fill(struct record *r, uint64_t trace, uint64_t span)
{
	memset(r, 0, sizeof(*r));
	for (int i = 0; i < 8; i++) {
		r->trace[i] = (uint8_t)(0xc0 + i);
		r->trace[8 + i] = (uint8_t)(trace >> (56 - 8 * i));
		r->span[i] = (uint8_t)(span >> (56 - 8 * i));
	}
	r->valid = 1;
}

/* How often the thread was off its processor. */
static long n_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Where the machine takes the processor away just then, the time is over before the wait begins: that is no wait. */
static void wait_ns(long ns)
{
	struct timespec t = {0, ns};
	long before = n_switches();

	do
		nanosleep(&t, NULL);
	while (n_switches() == before);
}

#ifndef WITHOUT_VARIABLE
static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static volatile uint64_t sink;

static void burn_ms(double ms)
{
	double until = cpu_ms() + ms;

	while (cpu_ms() < until)
		for (int i = 0; i < 20000; i++)
			sink += (uint64_t)i * 7;
}

enum { THREADS = 4, SPANS = 40, WAITS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int n_at_lock;

/* Half of the threads change one record in place, the others change the pointer. */
static void *in_spans(void *arg)
{
	uint64_t number = (uint64_t)(uintptr_t)arg;
	struct record one, two[2];

	for (uint64_t i = 1; i <= SPANS; i++) {
		uint64_t trace = number << 32 | i, span = UINT64_C(0xabcd) << 48 | trace;

		if (number % 2) {
			one.valid = 0;
			otel_thread_ctx_v1 = &one;
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
			record_fill(&one, trace, span);
		} else {
			record_fill(&two[i % 2], trace, span);
			otel_thread_ctx_v1 = &two[i % 2];
		}
		for (int n = 0; n < WAITS; n++)
			wait_ns(200000);
		printf("span c0c1c2c3c4c5c6c7%016llx %016llx %d\n", (unsigned long long)trace,
		       (unsigned long long)span, WAITS);
		if (number % 2)
			one.valid = 0;
		else
			otel_thread_ctx_v1 = NULL;
		wait_ns(150000); /* outside */
	}
	/* A wait for a lock is announced by its begin. */
	record_fill(&one, number, number);
	otel_thread_ctx_v1 = &one;
	atomic_fetch_add(&n_at_lock, 1);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	otel_thread_ctx_v1 = NULL;
	return NULL;
}

static void waits(const char *until)
{
	pthread_t thread[THREADS];

	pthread_mutex_lock(&lock);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, in_spans, (void *)(i + 1));
	/* Until each waits for the mutex, its last wait. */
	while (atomic_load(&n_at_lock) < THREADS)
		usleep(1000);
	await_others();
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("outside %d\n", THREADS * SPANS);
	while (until && access(until, F_OK))
		usleep(1000);
}

static void burn(void)
{
	struct record r;
	double begin, in_ms[2] = {0, 0}, out_ms = 0;

	for (int i = 0; i < 60; i++) {
		record_fill(&r, 7, 0x100 + (uint64_t)(i % 2));
		begin = cpu_ms();
		otel_thread_ctx_v1 = &r;
		burn_ms(i % 2 ? 10 : 5);
		otel_thread_ctx_v1 = NULL;
		in_ms[i % 2] += cpu_ms() - begin;
		begin = cpu_ms();
		burn_ms(5);
		out_ms += cpu_ms() - begin;
	}
	printf("cpu_ms %.3f %.3f %.3f\n", in_ms[0], in_ms[1], out_ms);
}

/* ---- garbage --------------------------------------------------------------------------- */

static void *other_thread_tears(void *arg)
{
	struct record *r = arg;

	for (uint64_t i = 1; !__atomic_load_n(&r->flags, __ATOMIC_RELAXED); i++) {
		((volatile uint8_t *)r)[i % 16] = (uint8_t)i;
		((volatile uint8_t *)r)[24] = i % 64 != 0;
	}
	return NULL;
}

static void garbage(void)
{
	uint8_t *pages =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct record bad, whole;
	void *pointers[] = {(void *)1,
			    (void *)2,
			    (void *)8,
			    (void *)0x7ffffffff000,
			    (void *)0x8000000000000000,
			    (void *)0xffffffffffffffff,
			    (void *)0xfffffffffffffffe,
			    (void *)0xffffffffffffffe6,
			    (void *)0xffffffffff600000,
			    pages + 4096,      /* not readable */
			    pages + 4096 - 2,  /* ends in what is not readable */
			    pages + 4096 - 26, /* likewise, by two bytes */
			    pages + 8192,      /* unmapped */
			    pages + 1,	       /* odd */
			    (void *)(uintptr_t)&garbage /* code */};
	pthread_t thread;

	memset(pages, 1, 4096);
	mprotect(pages + 4096, 4096, PROT_NONE);
	munmap(pages + 8192, 4096);
	for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
		otel_thread_ctx_v1 = pointers[i];
		wait_ns(100000);
		burn_ms(8); /* samples */
	}
	for (int valid = 0; valid < 256; valid++) {
		record_fill(&bad, 5, 5);
		bad.valid = (uint8_t)(valid == 1 ? 0 : valid);
		otel_thread_ctx_v1 = &bad;
		wait_ns(50000);
	}
	record_fill(&bad, 9, 0);
	otel_thread_ctx_v1 = &bad; /* no span */
	wait_ns(100000);
	/* The last bytes of a page that can be read are a record as any other. */
	record_fill(&whole, 3, 3);
	memcpy(pages + 4096 - sizeof(whole), &whole, sizeof(whole));
	otel_thread_ctx_v1 = (struct record *)(pages + 4096 - sizeof(whole));
	wait_ns(100000);
	/* Another thread writes into the record: against the rules, and no reason to fail. */
	record_fill(&bad, 0, 0xee);
	memset(bad.trace, 0, sizeof(bad.trace));
	bad.trace[0] = 1;
	otel_thread_ctx_v1 = &bad;
	pthread_create(&thread, NULL, other_thread_tears, &bad);
	for (int i = 0; i < 200; i++)
		wait_ns(20000);
	__atomic_store_n(&bad.flags, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	otel_thread_ctx_v1 = NULL;
	wait_ns(100000);
	printf("survived\n");
}

#endif

/* ---- an object that is opened ----------------------------------------------------------- */

typedef void set_fn(void *record);

static void *opened_thread(void *arg)
{
	set_fn *set = arg;
	struct record r;

	record_fill(&r, 0x77, 0x77);
	set(&r);
	for (int i = 0; i < 5; i++)
		wait_ns(200000);
	set(NULL);
	return NULL;
}

static void open_and_use(const char *path, uint64_t number)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	set_fn *set = handle ? (set_fn *)(uintptr_t)dlsym(handle, "plugin_set") : NULL;
	pthread_t thread;
	struct record r;

	if (!set) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	/* Until the recorder has looked again. */
	usleep(1200000);
	wait_ns(200000);
	record_fill(&r, number, number);
	set(&r);
	for (int i = 0; i < 5; i++)
		wait_ns(200000);
	pthread_create(&thread, NULL, opened_thread, (void *)(uintptr_t)set);
	pthread_join(thread, NULL);
	/* Closed while its pointer leads somewhere. */
	dlclose(handle);
	for (int i = 0; i < 5; i++)
		wait_ns(200000);
}

static void plugin(const char *with, const char *without)
{
	void *handle;

	wait_ns(200000); /* looked for, and not there */
	open_and_use(with, 0x55);
	handle = dlopen(without, RTLD_NOW | RTLD_LOCAL);
	wait_ns(200000);
	if (handle)
		dlclose(handle);
	open_and_use(with, 0x66);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "quiet"))
		publish_process();
	else
		for (int i = 0; i < 50; i++)
			wait_ns(200000);
#ifndef WITHOUT_VARIABLE
	if (!strcmp(what, "waits"))
		waits(argc > 2 ? argv[2] : NULL);
	else if (!strcmp(what, "burn"))
		burn();
	else if (!strcmp(what, "garbage"))
		garbage();
#endif
	if (!strcmp(what, "plugin") && argc == 4)
		plugin(argv[2], argv[3]);
	return fflush(stdout) ? 1 : 0;
}
