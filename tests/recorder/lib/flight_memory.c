/* flight_memory.c - the flight recorder's memory: never more than allowed, and where there is less. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "flight_fixture.h"
#include "flight_parts.h"
#include "trace_look.h"

static const uint64_t caps[] = {2 * MiB, 3 * MiB, 8 * MiB, 50000000, 64 * MiB};

START_TEST(max_bytes_is_never_exceeded)
{
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;
	char ring[256];
	struct stat st;

	o.max_bytes = caps[_i];
	start(&o);
	make_noise();
	ck_assert_int_eq(count_files(ring_dir, ring), 1);
	ck_assert_int_eq(stat(ring, &st), 0);
	ck_assert_uint_le((uint64_t)st.st_size, caps[_i]);
	ck_assert_uint_le((uint64_t)st.st_blocks * 512, caps[_i]);
	ck_assert_uint_gt((uint64_t)st.st_size, caps[_i] / 4);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	stop();
}
END_TEST

START_TEST(without_room_it_takes_less_and_says_so)
{
	struct rlimit before, small = {5000000, RLIM_INFINITY};
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;

	signal(SIGXFSZ, count_signal);
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &small);
	o.max_bytes = 64 * MiB;
	start(&o);
	setrlimit(RLIMIT_FSIZE, &before);
	ck_assert_int_eq(strncmp(trace_last_error(), "4096 KiB of memory instead of 65536: ", 37),
			 0);
	ck_assert_int_eq(n_signals, 0);
	make_noise();
	snapshot();
	look_check(path);
	stop();
}
END_TEST

START_TEST(with_no_room_at_all_it_refuses)
{
	struct rlimit before, small = {5000, RLIM_INFINITY};
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;

	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &small);
	o.ring_dir = ring_dir;
	ck_assert_int_eq(trace_flight_start(&o), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &before);
	ck_assert_str_ne(trace_last_error(), "");
	ck_assert(!trace_flight_enabled());
	ck_assert_int_eq(count_files(ring_dir, NULL), 0);
}
END_TEST

static bool write_text(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY);
	bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return written;
}

/* A small tmpfs over ring_dir that only this process sees.  False: not allowed here. */
static bool mount_small(const char *size)
{
	char uid[32], gid[32];

	snprintf(uid, sizeof(uid), "0 %u 1", (unsigned int)getuid());
	snprintf(gid, sizeof(gid), "0 %u 1", (unsigned int)getgid());
	if (unshare(CLONE_NEWNS) &&
	    (unshare(CLONE_NEWUSER | CLONE_NEWNS) || !write_text("/proc/self/setgroups", "deny") ||
	     !write_text("/proc/self/uid_map", uid) || !write_text("/proc/self/gid_map", gid)))
		puts("no mount name space here");
	else if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		 mount("tmpfs", ring_dir, "tmpfs", 0, size))
		puts("nothing may be mounted here");
	else
		return true;
	return false;
}

static void fill(const char *where)
{
	static const char zeros[4096];
	char name[160];
	int fd;

	snprintf(name, sizeof(name), "%s/filler", where);
	fd = open(name, O_WRONLY | O_CREAT, 0600);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	close(fd);
}

/* On each processor in turn: most find no memory for their events, and none gets a SIGBUS. */
static void record_everywhere(void)
{
	cpu_set_t allowed, only;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_ZERO(&only);
		CPU_SET(cpu, &only);
		sched_setaffinity(0, sizeof(only), &only);
		make_noise();
	}
	trace_log(0, "note", "still there");
}

START_TEST(in_a_tmpfs_that_is_full_it_does_with_what_there_is)
{
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;
	struct trc_reader *reader;
	char filler[160];

	if (!mount_small("size=6m"))
		return; /* nothing can be mounted here */
	o.max_bytes = 64 * MiB;
	start(&o);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), " instead of 65536: "));
	fill(ring_dir);
	record_everywhere();
	snapshot();
	reader = look_open(path);
	ck_assert(look_message(reader, "still there"));
	trc_reader_close(reader);
	stop();
	snprintf(filler, sizeof(filler), "%s/filler", ring_dir);
	unlink(filler);
	umount(ring_dir);
}
END_TEST

START_TEST(in_a_tmpfs_without_room_it_refuses)
{
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;

	if (!mount_small("size=64k"))
		return; /* nothing can be mounted here */
	o.ring_dir = ring_dir;
	ck_assert_int_eq(trace_flight_start(&o), -ENOSPC);
	ck_assert_str_ne(trace_last_error(), "");
	ck_assert_int_eq(count_files(ring_dir, NULL), 0);
	umount(ring_dir);
}
END_TEST

#ifndef __SANITIZE_ADDRESS__
static void *take_one(void *arg)
{
	snapshot();
	return arg;
}
#endif

START_TEST(a_thread_with_64_KiB_of_stack_can_take_one)
{
#ifndef __SANITIZE_ADDRESS__
	pthread_attr_t attr;
	pthread_t thread;

	start(NULL);
	make_noise();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	ck_assert_int_eq(pthread_create(&thread, &attr, take_one, NULL), 0);
	pthread_attr_destroy(&attr);
	pthread_join(thread, NULL);
	look_check(path);
	stop();
#endif
}
END_TEST

void flight_memory(TCase *c)
{
	tcase_add_loop_test(c, max_bytes_is_never_exceeded, 0, sizeof(caps) / sizeof(*caps));
	tcase_add_test(c, without_room_it_takes_less_and_says_so);
	tcase_add_test(c, with_no_room_at_all_it_refuses);
	tcase_add_test(c, in_a_tmpfs_that_is_full_it_does_with_what_there_is);
	tcase_add_test(c, in_a_tmpfs_without_room_it_refuses);
	tcase_add_test(c, a_thread_with_64_KiB_of_stack_can_take_one);
}
