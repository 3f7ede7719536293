/* api.c - the public functions of <trc/trace.h>. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "config.h"
#include "annotate.h"
#include "annotate_inline.h"
#include "drainer.h"
#include "fork.h"
#include "interpose/signal.h"
#include "rec.h"
#include "session.h"

#undef trace_task_begin
#undef trace_region_begin
#undef trace_log
#undef trace_counter

/* Who records if this object does not: libtrc-preload under trace-record; NULL = nobody. */
static const struct trc_runtime *elsewhere;

/* Guards the start and the end of a recording, and running_path. */
static pthread_mutex_t recording_lock = PTHREAD_MUTEX_INITIALIZER;
static char running_path[256]; /* "" = none runs */
static pid_t running_pid;

static __thread char last_error[256];

__attribute__((constructor)) static void find_runtime(void)
{
	const struct trc_runtime *const *found = dlsym(RTLD_DEFAULT, "trc_runtime");

	/* Whether it records is asked later: what is preloaded is initialized after what the program
	 * is linked with. */
	if (found && (*found)->version == TRC_RUNTIME_VERSION) {
		elsewhere = *found;
		atomic_store_explicit(&trc_switch.api, TRC_API_ELSEWHERE, memory_order_relaxed);
	}
}

static int fail(int err, const char *what, const char *why)
{
	snprintf(last_error, sizeof(last_error), "%s%s%s", what, *what ? ": " : "", why);
	return err;
}

const char *trace_last_error(void)
{
	return last_error;
}

const char *trace_version(void)
{
	return PACKAGE_VERSION;
}

bool trace_enabled(void)
{
	return trc_recording() || (elsewhere && elsewhere->enabled());
}

/* ---- start and stop ---------------------------------------------------------------------- */

static enum trc_unwind_mode unwind_mode(enum trace_unwind unwind)
{
	switch (unwind) {
	case TRACE_UNWIND_FP:
		return TRC_UNWIND_FP;
	case TRACE_UNWIND_LIBUNWIND:
		return TRC_UNWIND_LIBUNWIND;
	case TRACE_UNWIND_NONE:
		return TRC_UNWIND_NONE;
	case TRACE_UNWIND_AUTO:
		break;
	}
	return TRC_UNWIND_AUTO;
}

/* The environment first, then what the program says itself. */
static int read_options(struct trc_session_options *o, const struct trace_options *from)
{
	struct trace_options known = TRACE_OPTIONS_INIT;
	char why[128];

	if (trc_session_options_init(o, why, sizeof(why)))
		return fail(-EINVAL, "", why);
	if (!from)
		return 0;
	if (from->struct_bytes < sizeof(size_t) || from->struct_bytes > 4096)
		return fail(-EINVAL, "options", "struct_bytes is wrong: use TRACE_OPTIONS_INIT");
	memcpy(&known, from, from->struct_bytes < sizeof(known) ? from->struct_bytes : sizeof(known));
	if ((unsigned int)known.locks > TRACE_LOCKS_NONE ||
	    (unsigned int)known.on_full > TRACE_ON_FULL_DROP ||
	    (unsigned int)known.unwind > TRACE_UNWIND_NONE)
		return fail(-EINVAL, "options", "a value that is not in its list");
	if (known.ring_bytes)
		o->ring_bytes = known.ring_bytes;
	if (known.min_wait_ns)
		o->min_wait_ns = known.min_wait_ns;
	if (known.ring_dir)
		o->dir = known.ring_dir;
	if (known.locks)
		o->locks = (enum trc_locks)known.locks;
	if (known.on_full)
		o->on_full = (enum trc_on_full)known.on_full;
	if (known.unwind)
		o->unwind = unwind_mode(known.unwind);
	return 0;
}

static int start(const char *path, const struct trace_options *options)
{
	struct trc_session_options o;
	char why[200];
	int err;

	if (running_path[0]) {
		snprintf(why, sizeof(why), "a trace into %s runs", running_path);
		return fail(-EBUSY, path, why);
	}
	err = read_options(&o, options);
	if (err)
		return err;
	o.shared_dir = true;
	err = trc_session_open(&o, why, sizeof(why));
	if (err)
		return fail(err, "", why);
	err = trc_session_publish();
	if (err)
		fail(err, o.dir, strerror(-err));
	else if ((err = trc_drainer_start(trc_session_shared(), path, why, sizeof(why))))
		fail(err, "", why);
	if (err) {
		trc_session_close();
		return err;
	}
	snprintf(running_path, sizeof(running_path), "%s", path);
	running_pid = getpid();
	trc_session_record(true);
	trc_self_attach();
	trc_signals_start(o.crash);
	return 0;
}

/* After a fork that did not come by our fork(): a system call made directly, say. */
static void notice_fork(void)
{
	if (running_path[0] && running_pid != getpid())
		trc_fork_child();
}

int trace_start(const char *path, const struct trace_options *options)
{
	int err;

	last_error[0] = '\0';
	if (!path || !*path)
		return fail(-EINVAL, "", "no path to record into");
	if (elsewhere && elsewhere->enabled())
		return fail(0, path, "not written: trace-record records this process, and what it "
				     "would hold goes into that trace");
	notice_fork();
	pthread_mutex_lock(&recording_lock);
	trc_self.quiet++;
	err = start(path, options);
	trc_self.quiet--;
	pthread_mutex_unlock(&recording_lock);
	return err;
}

static int stop(void)
{
	char why[200] = "";
	int err;

	if (!running_path[0])
		return fail(-EINVAL, "", "no trace runs");
	trc_signals_stop();
	trc_session_record(false);
	err = trc_drainer_stop(why, sizeof(why));
	trc_session_close();
	if (err)
		fail(err, "", why);
	running_path[0] = '\0';
	return err;
}

int trace_stop(void)
{
	int err;

	last_error[0] = '\0';
	if (elsewhere && elsewhere->enabled())
		return fail(0, "", "trace-record goes on recording this process");
	notice_fork();
	pthread_mutex_lock(&recording_lock);
	trc_self.quiet++;
	err = stop();
	trc_self.quiet--;
	pthread_mutex_unlock(&recording_lock);
	return err;
}

__attribute__((destructor)) static void stop_at_exit(void)
{
	if (trc_recording())
		trace_stop();
}

/* Context: a forked child: it has no drainer, and records nothing until it starts a trace. */
static void forget_in_child(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	running_path[0] = '\0';
	recording_lock = unlocked;
	if (elsewhere)
		atomic_store_explicit(&trc_switch.api, TRC_API_ELSEWHERE, memory_order_relaxed);
	trc_drainer_forget();
}

__attribute__((constructor)) static void set_child_hook(void)
{
	trc_child_hook = forget_in_child;
}

/* ---- annotations: here, elsewhere, or nowhere --------------------------------------------- */

static inline const struct trc_runtime *runtime(void)
{
	/* relaxed: see trc_recording(). */
	uint32_t api = atomic_load_explicit(&trc_switch.api, memory_order_relaxed);

	if (__builtin_expect(!api, 1))
		return NULL;
	return api == TRC_API_ELSEWHERE ? elsewhere : &trc_own_runtime;
}

trace_task trace_task_begin_at(struct trace_site *site, const char *type, trace_task parent)
{
	const struct trc_runtime *r = runtime();

	return r ? r->task_begin(site, type, parent) : 0;
}

trace_task trace_task_begin(const char *type, trace_task parent)
{
	return trace_task_begin_at(NULL, type, parent);
}

void trace_task_end(trace_task task)
{
	const struct trc_runtime *r = runtime();

	if (r)
		r->task_end(task);
}

void trace_region_begin_at(struct trace_site *site, trace_task task, const char *type)
{
	const struct trc_runtime *r = runtime();

	if (r)
		r->region_begin(site, task, type);
}

void trace_region_begin(trace_task task, const char *type)
{
	trace_region_begin_at(NULL, task, type);
}

void trace_region_end(void)
{
	const struct trc_runtime *r = runtime();

	if (r)
		r->region_end();
}

void trace_log_at(struct trace_site *site, trace_task task, const char *category,
		  const char *message)
{
	const struct trc_runtime *r = runtime();

	if (r)
		r->log(site, task, category, message ? message : "", message ? strlen(message) : 0);
}

void trace_log(trace_task task, const char *category, const char *message)
{
	trace_log_at(NULL, task, category, message);
}

void trace_vlogf(trace_task task, const char *category, const char *format, va_list args)
{
	const struct trc_runtime *r = runtime();
	int saved_errno = errno;
	char text[1024];
	int n;

	if (!r || !r->enabled())
		return;
	n = vsnprintf(text, sizeof(text), format, args);
	if (n >= 0)
		r->log(NULL, task, category, text,
		       (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
	errno = saved_errno;
}

void trace_logf(trace_task task, const char *category, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	trace_vlogf(task, category, format, args);
	va_end(args);
}

static __attribute__((noinline)) void counter_slow(struct trace_site *site, const char *name,
						    int64_t value)
{
	const struct trc_runtime *r = runtime();

	if (r)
		r->counter(site, name, value);
}

void trace_counter_at(struct trace_site *site, const char *name, int64_t value)
{
	/* relaxed: see trc_recording(). */
	uint32_t session = atomic_load_explicit(&trc_switch.api, memory_order_relaxed);

	if (__builtin_expect(session != 0, 0) && !trc_counter_fast(site, session, value))
		counter_slow(site, name, value);
}

void trace_counter(const char *name, int64_t value)
{
	const struct trc_runtime *r = runtime();

	if (r)
		r->counter(NULL, name, value);
}

void trace_thread_name(const char *name)
{
	const struct trc_runtime *r = runtime();

	if (r)
		r->thread_name(name);
}
