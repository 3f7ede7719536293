/*
 * jvm.cc - a library that is called as HotSpot's, and waits as HotSpot does: each thread has a condition of its
 * own, for all that it waits for.
 */
#include <ctime>
#include <pthread.h>
#include "jvm.h"

#define NOINLINE __attribute__((noinline))

static volatile int after; /* keeps calls from being jumps */

namespace os
{
struct PlatformEvent {
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	NOINLINE void park(long ms);
};

void PlatformEvent::park(long ms)
{
	timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&cond, &mutex, &until);
	pthread_mutex_unlock(&mutex);
	after = 1;
}
} // namespace os

static thread_local os::PlatformEvent event;

struct ObjectMonitor {
	NOINLINE static void enter(long ms);
	NOINLINE static void wait(long ms);
};

void ObjectMonitor::enter(long ms)
{
	event.park(ms);
	after = 2;
}

void ObjectMonitor::wait(long ms)
{
	event.park(ms);
	after = 3;
}

struct SharedRuntime {
	NOINLINE static void complete_monitor_locking_C(long ms);
};

void SharedRuntime::complete_monitor_locking_C(long ms)
{
	ObjectMonitor::enter(ms);
	after = 4;
}

void jvm_enter(long ms)
{
	SharedRuntime::complete_monitor_locking_C(ms);
	after = 5;
}

void JVM_MonitorWait(long ms)
{
	ObjectMonitor::wait(ms);
	after = 6;
}
