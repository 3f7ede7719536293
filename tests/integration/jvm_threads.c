/* jvm_threads.c - threads that enter monitors and wait in them, of the library that it is given (jvm.cc). */
#include <dlfcn.h>
#include <err.h>
#include <pthread.h>
#include <time.h>

enum { THREADS = 3, TIMES = 4 };

static void (*enter)(long), (*wait_in)(long);
static volatile int after;

__attribute__((noinline)) static void java_synchronized(void)
{
	enter(5);
	after = 1;
}

__attribute__((noinline)) static void java_wait(void)
{
	wait_in(10);
	after = 2;
}

/* Who only waits is idle. */
static void work(void)
{
	struct timespec t;
	long from_ms;

	clock_gettime(CLOCK_MONOTONIC, &t);
	from_ms = t.tv_sec * 1000 + t.tv_nsec / 1000000;
	do
		clock_gettime(CLOCK_MONOTONIC, &t);
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < from_ms + 15);
}

static void *run(void *unused)
{
	for (int i = 0; i < TIMES; i++) {
		java_synchronized();
		java_wait();
		work();
	}
	return unused;
}

int main(int argc, char **argv)
{
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	pthread_t thread[THREADS];

	if (!library)
		errx(1, "usage: jvm_threads LIBRARY");
	*(void **)&enter = dlsym(library, "jvm_enter");
	*(void **)&wait_in = dlsym(library, "JVM_MonitorWait");
	if (!enter || !wait_in)
		errx(1, "%s", dlerror());
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, run, NULL))
			errx(1, "no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
