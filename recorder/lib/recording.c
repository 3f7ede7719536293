/* recording.c - see recording.h */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "trc/trace.h"
#include "recorder/sampling/cpu_profile.h"
#include "drain_thread.h"
#include "recorder/guest/fork.h"
#include "recorder/sampling/heap.h"
#include "recorder/interpose/signal.h"
#include "recorder/shared/one_line.h"
#include "recorder/ring/rec.h"
#include "recorder/profile/kind.h"
#include "recording.h"
#include "service.h"
#include "recorder/profile/thread_profile.h"

/* Where nothing is interposed signals are not either. */
#pragma weak trc_signals_start
#pragma weak trc_signals_stop

struct trc_recording trc_recordings;
const struct trc_runtime *trc_elsewhere;

/* Guards trc_recordings; nothing else is locked inside. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__thread char trc_api_error[TRC_API_ERROR_BYTES] __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void find_runtime(void)
{
	const struct trc_runtime *const *found = dlsym(RTLD_DEFAULT, "trc_runtime");

	/* Whether it records is asked later: what is preloaded is initialized after what the
	 * program is linked with. */
	if (found && (*found)->version == TRC_RUNTIME_VERSION) {
		trc_elsewhere = *found;
		atomic_store_explicit(&trc_switch.api, TRC_API_ELSEWHERE, memory_order_relaxed);
	}
}

bool trc_recorded_elsewhere(void)
{
	return trc_elsewhere && trc_elsewhere->enabled();
}

/* ---- what is told to the caller -------------------------------------------------------- */

int trc_api_fail(int err, const char *what, const char *why)
{
	snprintf(trc_api_error, sizeof(trc_api_error), "%s%s%s", what, *what ? ": " : "", why);
	trc_one_line(trc_api_error);
	return err;
}

const char *trace_last_error(void)
{
	return trc_api_error;
}

/* ---- options --------------------------------------------------------------------------- */

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

int trc_recording_copy(void *known, size_t known_bytes, const void *from, const char *init)
{
	size_t struct_bytes;
	char why[80];

	memcpy(&struct_bytes, from, sizeof(struct_bytes));
	if (struct_bytes < sizeof(size_t) || struct_bytes > 4096) {
		snprintf(why, sizeof(why), "struct_bytes is wrong: use %s", init);
		return trc_api_fail(-EINVAL, "options", why);
	}
	memcpy(known, from, struct_bytes < known_bytes ? struct_bytes : known_bytes);
	return 0;
}

int trc_recording_options(struct trc_session_options *o, uint32_t locks, uint32_t unwind,
			  uint64_t min_wait_ns, const char *ring_dir)
{
	if (locks > TRACE_LOCKS_NONE || unwind > TRACE_UNWIND_NONE)
		return trc_api_fail(-EINVAL, "options", "a value that is not in its list");
	if (min_wait_ns)
		o->min_wait_ns = min_wait_ns;
	if (ring_dir)
		o->dir = ring_dir;
	if (locks)
		o->locks = (enum trc_locks)locks;
	if (unwind)
		o->unwind = unwind_mode((enum trace_unwind)unwind);
	return 0;
}

/* ---- the session ----------------------------------------------------------------------- */

bool trc_recording_any(void)
{
	return trc_recordings.flight || trc_recordings.service || trc_recordings.trace_path[0];
}

void trc_recording_notice_fork(void)
{
	if (trc_recording_any() && trc_recordings.pid != getpid())
		trc_fork_child();
}

void trc_recording_enter(void)
{
	trc_recording_notice_fork();
	pthread_mutex_lock(&lock);
	trc_self.quiet++;
}

void trc_recording_leave(void)
{
	trc_self.quiet--;
	pthread_mutex_unlock(&lock);
}

int trc_recording_adopt(const struct trc_session_options *o)
{
	int err = trc_session_publish();

	if (err) {
		trc_session_close();
		return err;
	}
	trc_recordings.options = *o;
	trc_recordings.options.dir = NULL;
	trc_recordings.pid = getpid();
	return 0;
}

int trc_recording_open(const struct trc_session_options *o, char *why, size_t n_bytes)
{
	int err = trc_session_open(o, why, n_bytes);

	if (err)
		return err;
	err = trc_recording_adopt(o);
	if (err)
		snprintf(why, n_bytes, "%s: %s", o->dir, strerror(-err));
	return err;
}

void trc_recording_join(const struct trc_session_options *o)
{
	struct trc_session_options *runs = &trc_recordings.options;

	if (trc_recordings.flight || trc_recordings.trace_path[0])
		return;
	memcpy(runs->cpu_event, o->cpu_event, sizeof(runs->cpu_event));
	runs->n_cpu_events = o->n_cpu_events;
}

static void signals_start(void)
{
	if (trc_signals_start)
		trc_signals_start(trc_recordings.options.crash);
}

static void signals_stop(void)
{
	if (trc_signals_stop)
		trc_signals_stop();
}

static void recording_sample(void)
{
	const struct trc_session_options *o = &trc_recordings.options;
	char why[160];

	if (!o->n_cpu_events || !(trc_recordings.flight || trc_recordings.trace_path[0]))
		return;
	if (trc_cpu_profile_session(o->cpu_event, o->n_cpu_events, why, sizeof(why)))
		trc_api_fail(0, "not sampled", why);
}

static struct {
	unsigned int number;
	bool is;
} heap_user[TRC_RECORDING_WHOS];

static void heap_forget(void)
{
	for (unsigned int i = 0; i < TRC_RECORDING_WHOS; i++)
		heap_user[i].is = false;
}

void trc_recording_heap(enum trc_recording_who who, uint64_t period_bytes)
{
	char why[300];
	int err = 0;

	if (heap_user[who].is)
		trc_heap_end(heap_user[who].number);
	heap_user[who].is = false;
	if (period_bytes)
		err = trc_heap_begin(period_bytes, &heap_user[who].number);
	heap_user[who].is = period_bytes && !err;
	if (!err)
		return;
	trc_heap_why(err, why, sizeof(why));
	trc_api_fail(0, "the heap is not sampled", why);
	trc_heap_tell(why);
}

/* Those of whom there is nothing to recover are told from those of whom there is. */
static void tell_who_records(void)
{
	const uint32_t alone = TRC_SHARED_FOR_RECORDERS;
	struct trc_shared *shared = trc_session_shared();

	/* relaxed: of interest when this process is gone. */
	if (trc_recordings.flight || trc_recordings.trace_path[0])
		atomic_fetch_and_explicit(&shared->flags, ~alone, memory_order_relaxed);
	else
		atomic_fetch_or_explicit(&shared->flags, alone, memory_order_relaxed);
}

void trc_recording_on(void)
{
	tell_who_records();
	trc_keeper_now();
	if (!trc_recording())
		trc_session_record(true);
	trc_self.quiet--;
	trc_self_ready();
	trc_self.quiet++;
	signals_start();
	recording_sample();
}

void trc_recording_conditions(const struct trc_trigger_spec *specs, unsigned int n)
{
	signals_stop();
	trc_triggers_set(specs, n);
	signals_start();
}

void trc_recording_off(void)
{
	trc_cpu_profile_session_end(true);
	signals_stop();
	trc_session_record(false);
}

void trc_recording_close(void)
{
	if (trc_recordings.service && !trc_recordings.flight && !trc_recordings.trace_path[0])
		trc_cpu_profile_session_end(false);
	if (trc_recording_any())
		tell_who_records();
	else
		trc_session_close();
}

/* ---- fork and exit --------------------------------------------------------------------- */

void trc_recording_forget(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	trc_recordings.trace_path[0] = '\0';
	trc_recordings.flight = trc_recordings.service = false;
	lock = unlocked;
	heap_forget();
	if (trc_elsewhere)
		atomic_store_explicit(&trc_switch.api, TRC_API_ELSEWHERE, memory_order_relaxed);
	trc_drainer_forget();
	trc_http_forget();
	trc_service_forget();
	trc_recorders_forget();
	trc_recorder_cpu_forget();
	trc_recorder_custom_forget();
	trc_flight_forget();
	trc_thread_profile_forget();
	trc_flight_in_child();
}

__attribute__((constructor)) static void set_child_hook(void)
{
	trc_child_hook = trc_recording_forget;
}
