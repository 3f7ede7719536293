/* http_profiles.c - the profiles that this process serves, from its own recorders.
 *
 * A profile without a time covers everything since its recorder began; that recorder stays: see
 * struct trace_http_options.  Context: threads of the server, or a thread that calls
 * trace_http_answer(). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recorder/profile/http_kinds.h"
#include "recorder/sampling/heap.h"
#include "http_source.h"
#include "recorder/ring/rec.h"
#include "recorder/profile/kind.h"
#include "recording.h"
#include "recorder/profile/thread_profile.h"

enum { NAMES_MAX = 400 }; /* of profiles of the program's own */

/* ---- kinds ------------------------------------------------------------------------------- */

/* How much is kept: 0 = the default, less = nothing. */
static struct {
	int64_t block_ns, mutex_fraction, heap_bytes;
} rates;

static int rate_from_environment(const char *name, int64_t *rate, char *why, size_t n_bytes)
{
	const char *text = secure_getenv(name);
	uint64_t n = 0;

	*rate = 0;
	if (!text || !*text)
		return 0;
	if (trc_bytes_parse(text, &n) || n > TRC_HEAP_PERIOD_MAX) {
		snprintf(why, n_bytes, "%s: not a number of at most 1T", name);
		return -EINVAL;
	}
	*rate = n ? (int64_t)n : -1;
	return 0;
}

int trc_http_profiles_rates(const struct trace_http_options *o, char *why, size_t n_bytes)
{
	int err = rate_from_environment("TRC_HTTP_BLOCK_RATE", &rates.block_ns, why, n_bytes);

	if (!err)
		err = rate_from_environment("TRC_HTTP_MUTEX_FRACTION", &rates.mutex_fraction, why,
					    n_bytes);
	if (!err)
		err = rate_from_environment("TRC_HTTP_HEAP", &rates.heap_bytes, why, n_bytes);
	if (err || !o)
		return err;
	if (o->heap_sample_bytes > (int64_t)TRC_HEAP_PERIOD_MAX) {
		snprintf(why, n_bytes, "heap_sample_bytes: at most 1 TiB");
		return -EINVAL;
	}
	rates.block_ns = o->block_rate_ns ? o->block_rate_ns : rates.block_ns;
	rates.mutex_fraction = o->mutex_fraction ? o->mutex_fraction : rates.mutex_fraction;
	rates.heap_bytes = o->heap_sample_bytes ? o->heap_sample_bytes : rates.heap_bytes;
	return 0;
}

/* A window may be thinned by whoever asks; what costs the program more is not for him to say. */
static int heap_take_bytes(const struct trc_http_take *take, int64_t *bytes)
{
	const struct trace_heap_options preset = TRACE_HEAP_OPTIONS_INIT;
	int64_t wide = rates.heap_bytes ? rates.heap_bytes : preset.sample_bytes;
	char why[160];

	*bytes = take->rate ? take->rate : wide;
	if (!take->rate || (wide > 0 && take->rate >= wide))
		return 0;
	snprintf(why, sizeof(why),
		 wide > 0 ? "at least %" PRId64
			    ", as who starts the server has it by heap_sample_bytes or "
			    "TRC_HTTP_HEAP"
			  : "who started the server wants none to be sampled",
		 wide);
	return trc_api_fail(-EINVAL, "bytes", why);
}

static enum trace_profile_format format_of(const struct trc_http_take *take)
{
	return take->debug ? TRACE_PROFILE_FORMAT_TEXT : TRACE_PROFILE_FORMAT_PPROF;
}

static int make_block(struct trace_recorder **out, const struct trc_http_take *take)
{
	struct trace_block_options options = TRACE_BLOCK_OPTIONS_INIT;

	options.format = format_of(take);
	options.rate_ns = take->rate ? take->rate : rates.block_ns;
	return trace_recorder_create_block(out, &options);
}

static int make_mutex(struct trace_recorder **out, const struct trc_http_take *take)
{
	struct trace_mutex_options options = TRACE_MUTEX_OPTIONS_INIT;

	options.format = format_of(take);
	options.fraction = take->rate ? take->rate : rates.mutex_fraction;
	return trace_recorder_create_mutex(out, &options);
}

static int make_offcpu(struct trace_recorder **out, const struct trc_http_take *take)
{
	return trc_offcpu_recorder(out, format_of(take));
}

static int make_threadcreate(struct trace_recorder **out, const struct trc_http_take *take)
{
	struct trace_threadcreate_options options = TRACE_THREADCREATE_OPTIONS_INIT;

	options.format = format_of(take);
	return trace_recorder_create_threadcreate(out, &options);
}

static int make_cpu(struct trace_recorder **out, const struct trc_http_take *take)
{
	struct trace_cpu_options options = TRACE_CPU_OPTIONS_INIT;

	options.format = format_of(take);
	options.event = take->event;
	options.period = take->period;
	return trace_recorder_create_cpu(out, &options);
}

static int make_alloc(struct trace_recorder **out, const struct trc_http_take *take)
{
	struct trace_alloc_options options = TRACE_ALLOC_OPTIONS_INIT;

	int err = heap_take_bytes(take, &options.sample_bytes);

	options.format = format_of(take);
	return err ? err : trace_recorder_create_alloc(out, &options);
}

static int make_heap(struct trace_recorder **out, const struct trc_http_take *take)
{
	struct trace_heap_options options = TRACE_HEAP_OPTIONS_INIT;

	int err = heap_take_bytes(take, &options.sample_bytes);

	options.format = format_of(take);
	return err ? err : trace_recorder_create_heap(out, &options);
}

static int make_threads(struct trace_recorder **out, const struct trc_http_take *take)
{
	static const struct {
		enum trace_profile_format format;
		enum trace_thread_details details;
	} by_debug[] = {
		{TRACE_PROFILE_FORMAT_PPROF, TRACE_THREAD_DETAILS_BY_STACK},
		{TRACE_PROFILE_FORMAT_TEXT, TRACE_THREAD_DETAILS_BY_STACK},
		{TRACE_PROFILE_FORMAT_TEXT, TRACE_THREAD_DETAILS_PARAGRAPHS},
		{TRACE_PROFILE_FORMAT_PPROF, TRACE_THREAD_DETAILS_EACH},
		{TRACE_PROFILE_FORMAT_TEXT, TRACE_THREAD_DETAILS_EACH},
	};
	struct trace_thread_options options = TRACE_THREAD_OPTIONS_INIT;

	options.format = by_debug[take->debug].format;
	options.details = by_debug[take->debug].details;
	return trace_recorder_create_thread(out, &options);
}

/* `kept` and `lock`: what is served without a time. */
static struct kind {
	int (*make)(struct trace_recorder **out, const struct trc_http_take *take);
	bool keeps;
	struct trace_recorder *kept;
	pthread_mutex_t lock;
} kinds[TRC_HTTP_KINDS] = {
	[TRC_HTTP_KIND_ALLOCS] = {make_alloc, true, NULL, PTHREAD_MUTEX_INITIALIZER},
	[TRC_HTTP_KIND_BLOCK] = {make_block, true, NULL, PTHREAD_MUTEX_INITIALIZER},
	[TRC_HTTP_KIND_GOROUTINE] = {make_threads, false, NULL, PTHREAD_MUTEX_INITIALIZER},
	[TRC_HTTP_KIND_HEAP] = {make_heap, true, NULL, PTHREAD_MUTEX_INITIALIZER},
	[TRC_HTTP_KIND_MUTEX] = {make_mutex, true, NULL, PTHREAD_MUTEX_INITIALIZER},
	[TRC_HTTP_KIND_OFFCPU] = {make_offcpu, false, NULL, PTHREAD_MUTEX_INITIALIZER},
	[TRC_HTTP_KIND_PROFILE] = {make_cpu, false, NULL, PTHREAD_MUTEX_INITIALIZER},
	[TRC_HTTP_KIND_THREADCREATE] = {make_threadcreate, true, NULL, PTHREAD_MUTEX_INITIALIZER},
	[TRC_HTTP_KIND_THREADS] = {make_threads, false, NULL, PTHREAD_MUTEX_INITIALIZER},
};

/* NULL = none is called so. */
static struct kind *own_kind(const char *name)
{
	enum trc_http_kind kind = trc_http_kind(name);

	return kind < TRC_HTTP_KINDS ? &kinds[kind] : NULL;
}

/* ---- the index --------------------------------------------------------------------------- */

struct names {
	trc_http_each_fn *fn;
	void *context;
	unsigned int n;
};

static int tell_custom(void *context, struct trace_custom_profile *profile)
{
	const struct trc_http_entry entry = {
		.name = trace_custom_profile_name(profile),
		.flags = TRC_HTTP_CUMULATIVE | TRC_HTTP_WINDOW | TRC_HTTP_COUNTED,
		.count = trace_custom_profile_count(profile),
	};
	struct names *names = context;

	names->fn(names->context, &entry);
	return ++names->n == NAMES_MAX;
}

void trc_http_profiles_each(trc_http_each_fn *fn, void *context)
{
	struct names names = {fn, context, 0};

	for (size_t i = 0; i < TRC_HTTP_KINDS; i++)
		fn(context, &trc_http_entries[i]);
	trace_custom_profile_each(tell_custom, &names);
}

/* Records: stacks, of threadcreate and of threads threads. */
uint64_t trc_http_profiles_count(const char *name)
{
	struct kind *kind = own_kind(name);
	uint64_t n = 0;

	if (!kind)
		return 0;
	if (kind->make == make_threads)
		return trc_thread_count();
	pthread_mutex_lock(&kind->lock);
	if (kind->kept)
		n = trc_recorder_count(kind->kept);
	pthread_mutex_unlock(&kind->lock);
	return n;
}

/* ---- taking one -------------------------------------------------------------------------- */

static int profile_ignore(void *context, const void *bytes, size_t n_bytes)
{
	return 0;
}

/* Locked. */
static int profile_keep(struct kind *kind)
{
	static const struct trace_writer nowhere = {.write = profile_ignore};
	static const struct trc_http_take plain = {.debug = 0};
	struct trace_recorder *r;
	int err = kind->kept ? 0 : kind->make(&r, &plain);

	if (err || kind->kept)
		return err;
	err = trace_recorder_start(r, &nowhere);
	if (err)
		trace_recorder_destroy(r);
	else
		kind->kept = r;
	return err;
}

static int take_fail(const struct kind *kind, int err, const char *why)
{
	return trc_api_fail(err, trc_http_entries[kind - kinds].name, *why ? why : strerror(-err));
}

/* What was counted so far; the names are looked for without the lock.  0 or -errno, with
 * trace_last_error(). */
static int look_at_kept(struct kind *kind, struct trc_taken *taken)
{
	char why[TRC_RECORDER_WHY_BYTES] = "";
	int err;

	pthread_mutex_lock(&kind->lock);
	err = profile_keep(kind);
	if (!err) {
		err = trc_recorders_take(&kind->kept, 1, taken, true, false, why);
		if (err)
			take_fail(kind, err, why);
	}
	pthread_mutex_unlock(&kind->lock);
	return err;
}

/* The same for what comes behind it. */
static int write_kept(const struct kind *kind, struct trace_recorder *as,
		      const struct trc_taken *taken, const struct trace_writer *writer)
{
	char why[TRC_RECORDER_WHY_BYTES] = "";
	int err = trc_recorders_write(&as, 1, taken, writer, why);

	return err ? take_fail(kind, err, why) : 0;
}

/* `as`: how it is to be written. */
static int take_kept(struct kind *kind, struct trace_recorder *as,
		     const struct trace_writer *writer)
{
	struct trc_taken taken = {.n_folded = 0};
	int saved_errno = errno, err, finished;

	trc_self.quiet++;
	err = look_at_kept(kind, &taken);
	if (!err)
		err = write_kept(kind, as, &taken, writer);
	finished = trc_writer_finished(writer, err);
	if (!err && finished)
		err = take_fail(kind, finished, "");
	trc_taken_free(&taken);
	trc_self.quiet--;
	errno = saved_errno;
	return err;
}

static int own_take_window(struct trace_recorder *r, const struct trc_http_take *take,
			   const struct trace_writer *writer)
{
	int err = trace_recorder_start(r, writer);

	if (err)
		return err;
	if (take->wait->wait(take->wait->context, take->window_ns))
		return trace_recorder_stop(r);
	return trc_api_fail(-ECANCELED, "", "given up");
}

static int recorder_make(struct trace_recorder **out, const struct kind *kind,
			 const struct trc_http_take *take)
{
	struct trace_custom_options options = TRACE_CUSTOM_OPTIONS_INIT;
	struct trace_custom_profile *profile;

	if (kind)
		return kind->make(out, take);
	profile = trace_custom_profile_find(take->name);
	if (!profile)
		return trc_api_fail(-ENOENT, "", "there is no such profile");
	options.format = format_of(take);
	return trace_recorder_create_custom(out, profile, &options);
}

static int take_from(struct trace_recorder *r, struct kind *kind, const struct trc_http_take *take,
		     const struct trace_writer *writer)
{
	if (take->window_ns)
		return own_take_window(r, take, writer);
	return kind && kind->keeps ? take_kept(kind, r, writer)
				   : trace_recorder_snapshot(r, writer);
}

int trc_http_profiles_take(const struct trc_http_take *take, const struct trace_writer *writer,
			   char *why, size_t n_bytes)
{
	const struct trc_encode_wanted wanted = trc_http_wanted(take->wait);
	struct kind *kind = own_kind(take->name);
	struct trace_recorder *r = NULL;
	int err;

	trc_api_clear();
	err = recorder_make(&r, kind, take);
	if (!err) {
		r->wanted = &wanted;
		err = take_from(r, kind, take, writer);
	}
	if (err)
		snprintf(why, n_bytes, "%s", trace_last_error());
	trace_recorder_destroy(r);
	return err;
}

/* ---- beginning and end ------------------------------------------------------------------- */

void trc_http_profiles_begin(void)
{
	for (size_t i = 0; i < TRC_HTTP_KINDS; i++) {
		pthread_mutex_lock(&kinds[i].lock);
		if (kinds[i].keeps)
			/* If this fails, the first request tries again, and says why not. */
			profile_keep(&kinds[i]);
		pthread_mutex_unlock(&kinds[i].lock);
	}
}

void trc_http_profiles_end(void)
{
	for (size_t i = 0; i < TRC_HTTP_KINDS; i++) {
		pthread_mutex_lock(&kinds[i].lock);
		trace_recorder_destroy(kinds[i].kept);
		kinds[i].kept = NULL;
		pthread_mutex_unlock(&kinds[i].lock);
	}
}

void trc_http_profiles_forget(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	for (size_t i = 0; i < TRC_HTTP_KINDS; i++) {
		kinds[i].lock = unlocked;
		kinds[i].kept = NULL;
	}
}
