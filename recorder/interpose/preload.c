/*
 * preload.c - libtrc-preload: records a program that knows nothing of trc, for trace-record.
 *
 * trace-record sets TRC_SESSION to a directory; there this object makes the ring's file, and
 * trace-record drains it from outside.  TRC_SESSION_PID is the process to record; other processes
 * that inherit the environment are recorded only if TRC_FOLLOW is set.  TRC_SESSION_NAMESPACE is
 * the pid namespace of that pid, and of trace-record.  TRC_SESSION_HZ is the rate of the counter,
 * which would take each process 2 ms to measure.  TRC_SESSION_FILTERS is the number of
 * trace-record's seccomp filters.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "format/raw.h"
#include "recorder/guest/runtime.h"
#include "recorder/sampling/cpu_profile.h"
#include "recorder/guest/exec_target.h"
#include "recorder/guest/fork.h"
#include "recorder/sampling/heap.h"
#include "signal.h"
#include "recorder/shared/pid_namespace.h"
#include "recorder/ring/rec.h"
#include "recorder/sampling/sample.h"
#include "recorder/shared/seccomp_filters.h"
#include "recorder/guest/session.h"
#include "recorder/shared/signals.h"
#include "recorder/shared/text.h"
#include "recorder/unwind/valgrind.h"

/* Found by a libtrc that the program is linked with, now or later by dlopen(). */
extern const struct trc_runtime *const trc_runtime;
__attribute__((visibility("default"))) const struct trc_runtime *const trc_runtime =
	&trc_own_runtime;

static struct trc_session_options options;
static unsigned int heap_user;
static char session_dir[256]; /* a copy: the program may change its environment */
static bool follows;
static pid_t recorded_pid;	   /* the only one unless it follows */
static uint64_t reader_namespace;  /* the pid namespace of trace-record; 0 = not known */
static uint64_t n_session_filters; /* of system calls that trace-record has */

/* 0 = the environment does not say. */
static uint64_t variable_number(const char *variable)
{
	const char *text = secure_getenv(variable);

	return text ? strtoull(text, NULL, 10) : 0;
}

/* trace-record looks for new files when something comes here.  Opened for reading too: a write without
 * a reader would be a SIGPIPE of the program's. */
static void wake_reader(void)
{
	char path[320];
	int fd;

	snprintf(path, sizeof(path), "%s/" TRC_WAKE_NAME, session_dir);
	fd = (int)trc_raw4(SYS_openat, AT_FDCWD, path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW,
			   0);
	if (fd < 0)
		return;
	trc_raw3(SYS_write, fd, "", 1);
	trc_raw1(SYS_close, fd);
}

/* Into a new file, which stays empty where the program may write no file of this size: the kernel
 * would not only refuse, but send SIGXFSZ. */
static void preload_file_write(int fd, const char *text)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < strlen(text))
		return;
	trc_raw3(SYS_write, fd, text, strlen(text));
}

/* What keeps this process from being recorded is told to trace-record: by a file, as the
 * program's output is its own.  Where there is no room for the text either the file is empty. */
static void session_tell(const char *why)
{
	char path[320], whole[320], pid[TRC_PID_NAME_BYTES];
	int fd;

	trc_pid_name(pid, reader_namespace);
	snprintf(path, sizeof(path), "%s/.trc-%u-%s.tmp", session_dir,
		 (unsigned int)trc_raw1(SYS_getuid, 0), pid);
	snprintf(whole, sizeof(whole), "%s/%s.error", session_dir, pid);
	fd = (int)trc_raw4(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			   0600);
	if (fd < 0)
		return;
	preload_file_write(fd, why);
	trc_raw1(SYS_close, fd);
	if (trc_raw5(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, whole, RENAME_NOREPLACE))
		trc_raw3(SYS_unlinkat, AT_FDCWD, path, 0);
	wake_reader();
}

/* Of many processes trace-record counts those for which there was no room. */
static void tell_unopened(int err, const char *why)
{
	session_tell(follows && (err == -ENOSPC || err == -EFAULT) ? "" : why);
}

/* In a pid namespace of its own somebody else may have that pid. */
static bool is_for_us(const char *pid)
{
	return secure_getenv("TRC_FOLLOW") ||
	       (pid && strtoul(pid, NULL, 10) == (unsigned long)trc_raw1(SYS_getpid, 0) &&
		(!reader_namespace || trc_pid_namespace() == reader_namespace));
}

static void preload_begin(void)
{
	char error[256];
	int err = trc_session_publish();

	if (err) {
		session_tell(strerror(-err));
		trc_session_close();
		return;
	}
	wake_reader();
	trc_session_record(true);
	trc_self_attach();
	trc_signals_start(options.crash);
	if (options.n_cpu_events &&
	    trc_cpu_profile_session(options.cpu_event, options.n_cpu_events, error, sizeof(error)))
		session_tell(error);
	if (options.heap_bytes)
		err = trc_heap_begin(options.heap_bytes, &heap_user);
	if (err) {
		trc_heap_why(err, error, sizeof(error));
		trc_heap_tell(error);
	}
}

/* What samples the threads that are still there have lost is told before the end.  A child that
 * runs in our memory may come here. */
__attribute__((destructor)) static void preload_end(void)
{
	trc_heap_settle();
	if (!trc_signal_recorded())
		return;
	trc_session_exited();
	trc_sample_stop();
}

/* These follow every lock and access to memory, and take what is lock-free for errors.  Valgrind
 * names its tool's own part in LD_PRELOAD. */
static bool is_thread_checker(void)
{
	const char *preload = trc_on_valgrind() ? getenv("LD_PRELOAD") : NULL;

	return preload &&
	       (strstr(preload, "vgpreload_helgrind") || strstr(preload, "vgpreload_drd"));
}

/* Leaves word of a program that is not recorded, once, whoever meets it: a file is named for what
 * it says.  exec_target:Y1. */
static __attribute__((noinline)) void unrecorded_told(const struct trc_exec_look *look)
{
	char text[TRC_EXEC_PATH_BYTES + 40], word[320];
	struct trc_text t = TRC_TEXT_IN(text), w = TRC_TEXT_IN(word);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	int fd;

	trc_text_put(&t, look->path);
	trc_text_put(&t, " (");
	trc_text_put(&t, look->why);
	trc_text_put(&t, ")");
	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	trc_text_put(&w, session_dir);
	trc_text_put(&w, "/");
	trc_text_put_number(&w, hash, 16);
	trc_text_put(&w, ".unrecorded");
	fd = (int)trc_raw4(SYS_openat, AT_FDCWD, word, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			   0600);
	if (fd < 0)
		return;
	preload_file_write(fd, text);
	trc_raw1(SYS_close, fd);
}

/* A filter may kill for a look at the next program: then what is executed is not looked at.  A
 * process that was executed behind one knows of it only here. */
static __attribute__((noinline)) bool may_look(void)
{
	int n = trc_seccomp_filters();

	if (n >= 0)
		return (uint64_t)n <= n_session_filters;
	return !n_session_filters && !trc_raw5(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0);
}

/* Also in processes that are not recorded: they pass the recorder on in their environment. */
static void exec_told(const struct trc_exec_target *target, struct trc_exec_env *env)
{
	struct trc_exec_look look;

	if (!may_look())
		return;
	trc_exec_target_look(target, &look);
	if (look.without)
		trc_exec_env_plan(target->envp, env);
	if (look.why && (follows || (pid_t)trc_raw1(SYS_getpid, 0) == recorded_pid))
		unrecorded_told(&look);
}

/* As the loader was told of this object. */
static void exec_hook_set(void)
{
	Dl_info own;

	if (!dladdr(&trc_runtime, &own))
		return;
	trc_exec_preload = own.dli_fname;
	trc_exec_hook = exec_told;
}

/* By the first one: also of what is meant by it, and so not recorded (is_behind_filter()). */
static const char filter_word[] = "filter.unrecorded";

static void filter_told(void)
{
	char word[320], text[120], name[16] = "";
	int fd;

	if (!follows && (pid_t)trc_raw1(SYS_getpid, 0) != recorded_pid)
		return;
	trc_raw2(SYS_prctl, PR_GET_NAME, name);
	snprintf(text, sizeof(text), "what %s %u executes (its seccomp filter forbids it)", name,
		 (unsigned int)trc_raw1(SYS_getpid, 0));
	snprintf(word, sizeof(word), "%s/%s", session_dir, filter_word);
	fd = (int)trc_raw4(SYS_openat, AT_FDCWD, word, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			   0600);
	if (fd < 0)
		return;
	preload_file_write(fd, text);
	trc_raw1(SYS_close, fd);
}

/*
 * A filter may kill for what the recorder does.  So where somebody has set one that would, a
 * process with more filters than trace-record has begins nothing; nor does one that cannot see the
 * session.
 */
static bool is_behind_filter(const char *dir)
{
	int fd = (int)trc_raw4(SYS_openat, AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	int word =
		fd < 0 ? fd : (int)trc_raw4(SYS_openat, fd, filter_word, O_RDONLY | O_CLOEXEC, 0);
	int n;

	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	if (word < 0)
		return fd < 0;
	trc_raw1(SYS_close, word);
	n = trc_seccomp_filters();
	return n < 0 || (uint64_t)n > n_session_filters;
}

/* Context: a forked child (fork.h). */
static void follow_child(void)
{
	const char *why;
	int err = trc_start_is_forbidden ? 0 : trc_session_open_in_child(&options, &why);

	if (err)
		tell_unopened(err, why);
	else if (!trc_start_is_forbidden)
		preload_begin();
}

__attribute__((constructor)) static void preload_start(void)
{
	const char *dir = secure_getenv("TRC_SESSION");
	int saved_errno = errno;
	char error[512];
	int err;

	n_session_filters = variable_number("TRC_SESSION_FILTERS");
	exec_hook_set();
	reader_namespace = variable_number("TRC_SESSION_NAMESPACE");
	if (!dir || strlen(dir) >= sizeof(session_dir) || is_behind_filter(dir) ||
	    !is_for_us(secure_getenv("TRC_SESSION_PID")))
		return;
	strcpy(session_dir, dir);
	trc_session_count_from(TRC_SESSIONS_OF_PRELOAD);
	if (is_thread_checker()) {
		session_tell("valgrind's helgrind and drd would check the recorder, too");
		return;
	}
	if (trc_session_options_init(&options, error, sizeof(error))) {
		session_tell(error);
		return;
	}
	options.dir = session_dir;
	options.reader_namespace = reader_namespace;
	options.ticks_per_second = variable_number("TRC_SESSION_HZ");
	follows = secure_getenv("TRC_FOLLOW") != NULL;
	err = trc_session_open(&options, error, sizeof(error));
	if (err) {
		tell_unopened(err, error);
	} else {
		preload_begin();
		if (follows)
			trc_child_hook = follow_child;
		recorded_pid = (pid_t)trc_raw1(SYS_getpid, 0);
		trc_filter_hook = filter_told;
	}
	errno = saved_errno;
}
