/* http_server.c - a server starts and stops, and the process forks and ends. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "http_client.h"
#include "http_fixture.h"
#include "tests/forks.h"
#include "tests/recorder/interpose/blocked.h"
#include "trc/http.h"
#include "trc/trace.h"

START_TEST(one_server_at_a_time_and_the_port_is_free_again)
{
	char address[40];

	ck_assert_int_eq(trace_http_stop(), -EINVAL);
	start_server();
	ck_assert_int_eq(trace_http_start("127.0.0.1:0", NULL), -EBUSY);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), "already"));
	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	stop_server();
	for (int i = 0; i < 10; i++) {
		ck_assert_msg(!trace_http_start(address, NULL), "%s", trace_last_error());
		stop_server();
	}
}
END_TEST

START_TEST(a_port_that_is_taken_is_an_error)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n_bytes = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char address[40];

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &n_bytes), 0);
	snprintf(address, sizeof(address), "127.0.0.1:%u", ntohs(at.sin_port));
	ck_assert_int_eq(trace_http_start(address, NULL), -EADDRINUSE);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), address));
	close(fd);
}
END_TEST

/* Descriptors of this thread's table: the server's are in none of the program's. */
static int count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Checks nothing: libcheck's own descriptors are closed. */
static bool is_served(void)
{
	static const char request[] = "GET /debug/pprof/ HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char text[13] = "";
	bool is = fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof(to)) &&
		  send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request) &&
		  recv(fd, text, 12, MSG_WAITALL) == 12 && !strcmp(text, "HTTP/1.1 200");

	close(fd);
	return is;
}

START_TEST(the_program_has_no_descriptor_of_the_server)
{
	int before = count_descriptors(), status;
	pid_t pid;

	start_server();
	ck_assert_int_eq(count_descriptors(), before);
	stop_server();
	pid = fork();
	if (!pid) { /* a daemon that closes whatever it does not know */
		start_server();
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
		_exit(is_served() && !trace_http_stop() ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(the_end_cuts_off_whoever_waits)
{
	pthread_t thread;

	start_server();
	ck_assert_int_eq(pthread_create(&thread, NULL, ask_for_long, NULL), 0);
	wait_for_trace(true);
	stop_server();
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert(!trace_runs());
}
END_TEST

static atomic_bool asks_on;

static void *ask_on(void *unused)
{
	while (atomic_load(&asks_on))
		is_served();
	return unused;
}

START_TEST(the_end_may_come_at_any_moment_of_a_request)
{
	enum { N = 3, TIMES = 40 };
	pthread_t thread[N];

	start_server();
	atomic_store(&asks_on, true);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, ask_on, NULL), 0);
	for (int i = 0; i < TIMES; i++) {
		char address[40];

		sleep_ms(i % 5);
		snprintf(address, sizeof(address), "127.0.0.1:%u", port);
		stop_server();
		ck_assert_msg(!trace_http_start(address, NULL), "%s", trace_last_error());
	}
	atomic_store(&asks_on, false);
	for (int i = 0; i < N; i++)
		pthread_join(thread[i], NULL);
	stop_server();
}
END_TEST

/* Others may make links of any name in the directory of the rings. */
START_TEST(a_trace_is_written_where_nobody_else_can)
{
	pthread_t thread;
	char dir[400];
	struct stat st;

	start_server();
	ck_assert_int_eq(pthread_create(&thread, NULL, ask_for_long, NULL), 0);
	wait_for_trace(true);
	ck_assert_int_eq(count_files_of(getpid(), dir, sizeof(dir)), 1);
	ck_assert_int_eq(lstat(dir, &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFDIR | 0700);
	stop_server();
	pthread_join(thread, NULL);
	ck_assert_int_eq(lstat(dir, &st), -1);
}
END_TEST

/* A child that serves, or has a flight recorder, until it is killed; how many files it leaves. */
static int left_by(void (*begin)(void), int sent)
{
	int ready[2], n = 0;
	char name[40], byte;
	struct dirent *e;
	pid_t pid;
	DIR *d;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		signal(SIGTERM, SIG_DFL);
		begin();
		_exit(write(ready[1], "", 1) == 1 && pause() ? 1 : 2);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	kill(pid, sent);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	d = opendir(getenv("TRC_RING_DIR"));
	snprintf(name, sizeof(name), "-%d.", (int)pid);
	while ((e = readdir(d)))
		n += strstr(e->d_name, name) != NULL;
	closedir(d);
	return n;
}

static int count_left(void)
{
	DIR *d = opendir(getenv("TRC_RING_DIR"));
	struct dirent *e;
	int n = 0;

	while ((e = readdir(d)))
		n += *e->d_name != '.';
	closedir(d);
	return n;
}

static void serve(void)
{
	if (trace_http_start("127.0.0.1:0", NULL))
		_exit(3);
}

static void fly(void)
{
	if (trace_flight_start(NULL))
		_exit(3);
}

static void serve_and_fly(void)
{
	serve();
	fly();
}

static void serve_after_flight(void)
{
	serve_and_fly();
	if (trace_flight_stop())
		_exit(3);
}

/* Each server that is killed leaves its ring to the next one's start; what might be recovered is left
 * to --clean. */
START_TEST(a_start_removes_what_servers_have_left)
{
	char rings[] = "/tmp/trc-http-test-XXXXXX", command[60];

	ck_assert_ptr_nonnull(mkdtemp(rings));
	setenv("TRC_RING_DIR", rings, 1);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(left_by(serve, SIGTERM), 1);
		ck_assert_int_eq(count_left(), 1);
	}
	ck_assert_int_eq(left_by(serve_after_flight, SIGKILL), 1);
	ck_assert_int_eq(count_left(), 1);
	ck_assert_int_eq(left_by(fly, SIGKILL), 1);
	ck_assert_int_eq(left_by(serve_and_fly, SIGKILL), 1);
	start_server();
	stop_server();
	ck_assert_int_eq(count_left(), 2); /* the two flight recorders' */
	snprintf(command, sizeof(command), "rm -r %s", rings);
	ck_assert_int_eq(system(command), 0);
	unsetenv("TRC_RING_DIR");
}
END_TEST

START_TEST(what_a_kill_leaves_behind_can_be_cleaned)
{
	char rings[] = "/tmp/trc-http-test-XXXXXX", dir[400], command[600];
	const char *build = getenv("top_builddir");
	pid_t pid;

	ck_assert_ptr_nonnull(mkdtemp(rings));
	setenv("TRC_RING_DIR", rings, 1);
	pid = fork();
	if (!pid) {
		if (trace_http_start("127.0.0.1:0", NULL))
			_exit(2);
		port = trace_http_port();
		ask_for_long(NULL);
		_exit(3);
	}
	for (int i = 0; i < 3000 && !count_files_of(pid, dir, sizeof(dir)); i++)
		sleep_ms(10);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(count_files_of(pid, dir, sizeof(dir)), 1);
	snprintf(command, sizeof(command), "'%s/recorder/trace-record' --clean",
		 build ? build : ".");
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(count_files_of(pid, dir, sizeof(dir)), 0);
	snprintf(command, sizeof(command), "rm -r %s", rings);
	ck_assert_int_eq(system(command), 0);
	unsetenv("TRC_RING_DIR");
}
END_TEST

/* In a child: begins to serve, and has a thread ask. */
static void serve_and_ask(void *(*ask)(void *unused))
{
	pthread_t thread;

	if (trace_http_start("127.0.0.1:0", NULL))
		_exit(2);
	port = trace_http_port();
	if (pthread_create(&thread, NULL, ask, NULL))
		_exit(3);
}

START_TEST(exit_ends_the_server_too)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		serve_and_ask(ask_for_long);
		wait_for_trace(true);
		exit(7);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

enum { BY_FORK, BY_SYSTEM_CALL };
/* No allocator is seen to in a system call. */
enum { WAYS_TO_FORK = ALLOCATOR_NOT_FOR_FORKS ? 1 : 2 };

static pid_t fork_by(int way)
{
	if (way == BY_SYSTEM_CALL)
		await_others(); /* what the server's threads begin with is done */
	return way == BY_FORK ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* 0; and 1: not ended within a minute, 2: by something else than exit(0). */
static int outcome(pid_t pid)
{
	int status;

	for (int i = 0; i < 6000; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status ? 2 : 0;
		sleep_ms(10);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return 1;
}

/* Nothing is waited for that only the parent has. */
START_TEST(a_child_may_call_exit)
{
	struct http_got got;
	pid_t pid;

	start_server();
	pid = fork_by(_i);
	if (!pid) {
		if (trace_http_port())
			_exit(2);
		exit(0);
	}
	ck_assert_int_eq(outcome(pid), 0);
	got = http_ask(port, "GET", "/debug/pprof/cmdline", "");
	ck_assert_int_eq(got.status, 200);
	http_got_free(&got);
	stop_server();
}
END_TEST

static void *ask_for_names(void *unused)
{
	static char text[70000];
	size_t used =
		(size_t)sprintf(text, "POST /debug/pprof/symbol HTTP/1.1\r\nHost: localhost\r\n"
				      "Content-Length: 60000\r\n\r\n");
	struct http_got got;

	while (used + 40 < 60000)
		used += (size_t)sprintf(text + used, "%#lx+",
					(unsigned long)(uintptr_t)trace_http_start + used % 64);
	memset(text + used, '0', sizeof(text) - used);
	got = http_raw(port, text, sizeof(text));
	http_got_free(&got);
	return unused;
}

START_TEST(exit_does_not_wait_for_names)
{
	pid_t pid = fork();

	if (!pid) {
		serve_and_ask(ask_for_names);
		sleep_ms(50);
		exit(0);
	}
	ck_assert_int_eq(outcome(pid), 0);
}
END_TEST

START_TEST(a_child_has_no_server_and_may_start_one)
{
	struct http_got got;
	int status;
	pid_t pid;

	start_server();
	pid = fork_by(_i);
	if (!pid) {
		if (trace_http_port() || trace_http_stop() != -EINVAL)
			_exit(2);
		if (trace_http_start("127.0.0.1:0", NULL) || !trace_http_port())
			_exit(3);
		_exit(trace_http_stop() ? 4 : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	got = http_ask(port, "GET", "/debug/pprof/cmdline", "");
	ck_assert_int_eq(got.status, 200);
	http_got_free(&got);
	stop_server();
}
END_TEST

/* Runs this program, which tests nothing, with TRC_HTTP=`address`; what it says of itself begins with
 * `says`. */
static void run_at(const char *address, const char *file, const char *says)
{
	pid_t pid = fork();

	if (!pid) {
		setenv("TRC_HTTP", address, 1);
		setenv("HTTP_TEST_SAYS", says, 1);
		setenv("TRC_HTTP_FILE", file, 1);
		setenv("CK_RUN_CASE", "none", 1);
		execl("/proc/self/exe", "http_test", NULL);
		_exit(9);
	}
	ck_assert_int_eq(outcome(pid), 0);
}

static void expect_beginning(const char *file, const char *text)
{
	char is[100] = "";
	FILE *f = fopen(file, "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(is, sizeof(is), f));
	fclose(f);
	ck_assert_msg(!strncmp(is, text, strlen(text)), "%s", is);
}

START_TEST(the_first_one_says_where_it_is)
{
	char dir[] = "/tmp/trc-http-test-XXXXXX", file[60];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/served", dir);
	run_at("127.0.0.1:0", file, "");
	expect_beginning(file, "port: ");
	run_at("nonsense", file, "nonsense: no address like");
	expect_beginning(file, "port: ");
	ck_assert_int_eq(unlink(file), 0);
	run_at("nonsense", file, "nonsense: no address like");
	expect_beginning(file, "error: nonsense: no address like");
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

void http_server(TCase *alone)
{
	tcase_add_test(alone, one_server_at_a_time_and_the_port_is_free_again);
	tcase_add_test(alone, a_port_that_is_taken_is_an_error);
	tcase_add_test(alone, the_program_has_no_descriptor_of_the_server);
	tcase_add_test(alone, the_end_cuts_off_whoever_waits);
	tcase_add_test(alone, the_end_may_come_at_any_moment_of_a_request);
	tcase_add_test(alone, a_trace_is_written_where_nobody_else_can);
	tcase_add_test(alone, a_start_removes_what_servers_have_left);
	tcase_add_test(alone, what_a_kill_leaves_behind_can_be_cleaned);
	tcase_add_test(alone, exit_ends_the_server_too);
	tcase_add_test(alone, exit_does_not_wait_for_names);
	if (!ALLOCATOR_NOT_FOR_FORKS) /* which takes what a child forgets for a leak, at exit() */
		tcase_add_loop_test(alone, a_child_may_call_exit, 0, WAYS_TO_FORK);
	tcase_add_loop_test(alone, a_child_has_no_server_and_may_start_one, 0, WAYS_TO_FORK);
	tcase_add_test(alone, the_first_one_says_where_it_is);
}
