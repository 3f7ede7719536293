/* otel_service_ask.c - the name of another process's service, in bounded time (otel_service:Q2). */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "format/now.h"
#include "otel_service.h"

enum { WAIT_NS = 200000000, LEFT_BEHIND_MAX = 16 };

/* Shared by who asks and the thread that reads; whoever is the last to go frees it. */
struct question {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	uint32_t pid;
	int result; /* 1 = no answer yet */
	bool left_behind;
	char name[TRC_OTEL_SERVICE_BYTES];
};

static _Atomic int n_left_behind;

static void question_free(struct question *q)
{
	pthread_cond_destroy(&q->answered);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

static struct question *question_make(uint32_t pid)
{
	struct question *q = calloc(1, sizeof(*q));
	pthread_condattr_t attr;

	if (!q)
		return NULL;
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&q->answered, &attr);
	pthread_condattr_destroy(&attr);
	q->pid = pid;
	q->result = 1;
	return q;
}

static void *read_it(void *question)
{
	struct question *q = question;
	char name[TRC_OTEL_SERVICE_BYTES];
	int result = trc_otel_service_read(q->pid, name, sizeof(name)) ? 0 : -ENOENT;
	bool left_behind;

	pthread_mutex_lock(&q->lock);
	left_behind = q->left_behind;
	q->result = result;
	if (!result)
		memcpy(q->name, name, sizeof(name));
	pthread_cond_signal(&q->answered);
	pthread_mutex_unlock(&q->lock);
	if (left_behind) {
		n_left_behind--;
		question_free(q);
	}
	return NULL;
}

/* No signal of the program's that asks is meant for this thread. */
static int question_thread_begin(struct question *q)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attr, read_it, q);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

static int answer_wait(struct question *q, char name[TRC_OTEL_SERVICE_BYTES])
{
	struct timespec until = trc_from_now(CLOCK_MONOTONIC, WAIT_NS);
	int err = 0, result;

	pthread_mutex_lock(&q->lock);
	while (q->result > 0 && !err)
		err = pthread_cond_timedwait(&q->answered, &q->lock, &until);
	result = q->result;
	if (!result)
		memcpy(name, q->name, sizeof(q->name));
	q->left_behind = result > 0;
	n_left_behind += q->left_behind;
	pthread_mutex_unlock(&q->lock);
	if (result <= 0)
		question_free(q);
	return result > 0 ? -ETIMEDOUT : result;
}

int trc_otel_service(uint32_t pid, char name[TRC_OTEL_SERVICE_BYTES])
{
	struct question *q;
	int err;

	/* Its own process is as hostile as the program itself. */
	if (pid == (uint32_t)getpid())
		return trc_otel_service_read(pid, name, TRC_OTEL_SERVICE_BYTES) ? 0 : -ENOENT;
	/* As if it published nothing yet: it may be asked again. */
	if (n_left_behind >= LEFT_BEHIND_MAX)
		return -ENOENT;
	q = question_make(pid);
	if (!q)
		return -ENOENT;
	err = question_thread_begin(q);
	if (err) {
		question_free(q);
		return -ENOENT;
	}
	return answer_wait(q, name);
}

bool trc_otel_service_ask(struct trc_otel_asking *a, uint32_t pid, uint64_t raw_ns, bool now,
			  char name[TRC_OTEL_SERVICE_BYTES])
{
	enum { FIRST_NS = 20000000, TIMES_MAX = 12 };
	int err;

	if (!a->due_ns)
		a->due_ns = raw_ns + FIRST_NS;
	if (a->over || !pid || (!now && raw_ns < a->due_ns))
		return false;
	err = trc_otel_service(pid, name);
	a->over = !err || err == -ETIMEDOUT;
	if (a->n_asked < TIMES_MAX)
		a->due_ns = raw_ns + ((uint64_t)FIRST_NS << a->n_asked++);
	else
		a->due_ns = UINT64_MAX;
	return !err;
}
