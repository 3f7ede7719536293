/* heap_users.c - the users of samples of allocations (heap.h).  Context: any thread, may block. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "recorder/ring/annotate.h"
#include "recorder/ring/hot.h"
#include "heap.h"
#include "heap_table.h"

enum { USERS_MAX = 64 };

/* Guards what follows, and trc_switch.heap_*; nothing else is locked inside. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t asked[USERS_MAX]; /* each user's period; 0 = no such user */
static bool recording;

static void heap_switch_enter(void)
{
	trc_self.quiet++;
	pthread_mutex_lock(&lock);
}

static void heap_switch_leave(void)
{
	pthread_mutex_unlock(&lock);
	trc_self.quiet--;
}

static uint64_t finest(void)
{
	uint64_t least = 0;

	for (unsigned int i = 0; i < USERS_MAX; i++)
		if (asked[i] && (!least || asked[i] < least))
			least = asked[i];
	return least;
}

/* heap:U1, heap:U2. */
static int heap_switch_apply(void)
{
	uint64_t period = recording ? finest() : 0;
	int err = 0;

	if (period && !atomic_load_explicit(&trc_switch.heap_filter, memory_order_relaxed)) {
		err = trc_heap_table_open();
		/* release: who finds the filter finds the table. */
		if (!err)
			atomic_store_explicit(&trc_switch.heap_filter, trc_heap_table_filter(),
					      memory_order_release);
	}
	if (!recording)
		atomic_store_explicit(&trc_switch.heap_filter, NULL, memory_order_relaxed);
	/* release: who finds the period finds the filter. */
	atomic_store_explicit(&trc_switch.heap_period, err ? 0 : period, memory_order_release);
	return err;
}

#pragma weak trc_malloc_is_foreign

/*
 * Asked once if it is not.  In a forked child what is known of its parent stays: other threads may
 * have held the allocator's locks, and the loader's.
 */
static enum { UNKNOWN, SEEN, FOREIGN } verdict;
static char whose[256];
static bool is_forked;

static bool is_foreign(void)
{
	uint64_t period = atomic_load_explicit(&trc_switch.heap_period, memory_order_relaxed);

	if (!trc_malloc_is_foreign)
		return false;
	if (verdict == UNKNOWN || (verdict == FOREIGN && !is_forked)) {
		if (!period)
			atomic_store_explicit(&trc_switch.heap_period, TRC_HEAP_PROBED,
					      memory_order_relaxed);
		verdict = trc_malloc_is_foreign(whose, sizeof(whose)) ? FOREIGN : SEEN;
		atomic_store_explicit(&trc_switch.heap_period, period, memory_order_relaxed);
	}
	return verdict == FOREIGN;
}

void trc_heap_why(int err, char *why, size_t n_bytes)
{
	if (err == -ENOTSUP) {
		heap_switch_enter();
		snprintf(why, n_bytes,
			 "malloc() of this program is that of %s, which comes before the recorder",
			 whose);
		heap_switch_leave();
	} else if (err == -EBUSY) {
		snprintf(why, n_bytes, "too many recorders of memory at once");
	} else if (err == -ENOMEM) {
		snprintf(why, n_bytes, "no memory for the table of the heap's samples");
	} else {
		snprintf(why, n_bytes, "%s", strerror(-err));
	}
}

void trc_heap_tell(const char *why)
{
	uint32_t quiet = trc_self.quiet;
	char text[400];

	snprintf(text, sizeof(text), "the heap is not sampled: %s", why);
	trc_self.quiet = 0;
	trc_annotate_log(NULL, 0, "trc", text, strlen(text));
	trc_self.quiet = quiet;
}

static bool is_period(uint64_t period_bytes)
{
	return period_bytes && period_bytes <= TRC_HEAP_PERIOD_MAX;
}

int trc_heap_begin(uint64_t period_bytes, unsigned int *user)
{
	unsigned int i = 0;
	int err = -EBUSY;

	if (!is_period(period_bytes))
		return -EINVAL;
	heap_switch_enter();
	while (i < USERS_MAX && asked[i])
		i++;
	if (is_foreign()) {
		err = -ENOTSUP;
	} else if (i < USERS_MAX) {
		asked[i] = period_bytes;
		err = heap_switch_apply();
		if (err)
			asked[i] = 0;
		else
			*user = i;
	}
	heap_switch_leave();
	return err;
}

int trc_heap_rate(unsigned int user, uint64_t period_bytes)
{
	int err;

	if (!is_period(period_bytes) || user >= USERS_MAX)
		return -EINVAL;
	heap_switch_enter();
	err = asked[user] ? 0 : -EINVAL;
	if (!err) {
		asked[user] = period_bytes;
		err = heap_switch_apply();
	}
	heap_switch_leave();
	return err;
}

void trc_heap_end(unsigned int user)
{
	if (user >= USERS_MAX)
		return;
	heap_switch_enter();
	asked[user] = 0;
	heap_switch_apply();
	heap_switch_leave();
}

uint64_t trc_heap_period(void)
{
	return atomic_load_explicit(&trc_switch.heap_period, memory_order_relaxed);
}

void trc_heap_session(bool on)
{
	int saved_errno = errno;

	heap_switch_enter();
	recording = on;
	heap_switch_apply();
	heap_switch_leave();
	errno = saved_errno;
}

void trc_heap_forget(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	lock = unlocked;
	recording = false;
	is_forked = true;
	for (unsigned int i = 0; i < USERS_MAX; i++)
		asked[i] = 0;
	trc_self.heap_busy = false;
	/* Siblings are not to draw the same. */
	trc_self.heap_random = trc_self.heap_period = 0;
}
