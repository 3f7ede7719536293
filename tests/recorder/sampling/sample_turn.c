/*
 * sample_turn.c - a child that is forked while a timer takes a counter's place.
 *
 * A filter holds the thread in the system call that starts the timer, and another thread forks
 * meanwhile: there the counter has left its old place.  And a thread that keeps its counter.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "format/raw.h"
#include "sample_fixture.h"

static _Atomic int listener, in_child = -1; /* the child's status */

static void *fork_meanwhile(void *unused)
{
	struct seccomp_notif held = {.id = 0};
	struct seccomp_notif_resp answer = {.error = -EAGAIN}; /* the timer cannot be had */
	int status = -1, lowest;
	pid_t child;

	while (!listener)
		usleep(1000);
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &held))
		return unused;
	child = fork();
	if (!child)
		_exit((int)counters(&lowest));
	if (child > 0)
		waitpid(child, &status, 0);
	answer.id = held.id;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	in_child = status;
	return unused;
}

/* Of the calling thread.  Behind the recorder's back, who would end the recording. */
static bool hold_timers(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_settime, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};
	long fd;

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	fd = trc_raw3(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		      &filter);
	listener = (int)fd;
	return fd > 0;
}

START_TEST(a_child_forked_while_a_counter_leaves_has_no_counter)
{
	struct trace_sampling_event event = TRACE_SAMPLING_EVENT_INIT;
	pthread_t forks;
	int lowest;

	event.name = "auto";
	event.frequency_hz = 100;
	start_trace();
	ck_assert_int_eq(pthread_create(&forks, NULL, fork_meanwhile, NULL), 0);
	ck_assert_int_eq(trace_sampling_start(&event, 1), 0);
	/* Else perf is not permitted, or the kernel is too old for this. */
	if (counters(&lowest) && hold_timers()) {
		for (int i = 0; i < 200 && in_child < 0; i++)
			burn(20);
		ck_assert_int_eq(in_child, 0);
		ck_assert_uint_gt(counters(&lowest), 0); /* the parent's goes on */
		ck_assert_int_eq(close(listener), 0);
		pthread_join(forks, NULL);
	} else {
		printf("sample_turn: not tried\n");
		pthread_cancel(forks);
	}
	ck_assert_int_eq(trace_sampling_stop(), 0);
	stop_trace();
	expect_nothing_left();
}
END_TEST

/* So much as a thread has a counter for, twice. */
static void burn_until_it_turns(bool makes_threads)
{
	struct timespec tick;
	uint64_t until_ns;

	ck_assert_int_eq(clock_getres(CLOCK_MONOTONIC_COARSE, &tick), 0);
	until_ns = cpu_ns() + 200 * (uint64_t)tick.tv_nsec;
	while (cpu_ns() < until_ns) {
		if (makes_threads)
			burn_in_threads(1, 1);
		burn(5);
	}
}

START_TEST(a_thread_that_makes_threads_keeps_its_counter)
{
	struct trace_sampling_event event = TRACE_SAMPLING_EVENT_INIT;
	int lowest;

	event.name = "auto";
	event.frequency_hz = 100;
	start_trace();
	ck_assert_int_eq(trace_sampling_start(&event, 1), 0);
	if (counters(&lowest)) {
		burn_until_it_turns(true);
		ck_assert_uint_eq(counters(&lowest), 1);
		ck_assert_uint_eq(timers(), 0);
		burn_until_it_turns(false);
		ck_assert_uint_eq(counters(&lowest), 0);
		ck_assert_uint_eq(timers(), 1);
	} else {
		printf("sample_turn: perf is not permitted\n");
	}
	ck_assert_int_eq(trace_sampling_stop(), 0);
	stop_trace();
	expect_nothing_left();
}
END_TEST

void sample_turn(TCase *t)
{
	tcase_add_test(t, a_thread_that_makes_threads_keeps_its_counter);
	tcase_add_test(t, a_child_forked_while_a_counter_leaves_has_no_counter);
}
