/* http.c - the server of trace-record --http; see http.h */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "recorder/shared/clock.h"
#include "recorder/profile/http_names.h"
#include "recorder/guest/own_thread.h"
#include "recorder/profile/part.h"
#include "recorder/sampling/sample_table.h"
#include "follow.h"
#include "http.h"

enum { SLICE_NS = 200000000 }; /* the end of the command is seen after that */

struct call {
	struct call *next;
	trc_http_fn *fn;
	void *context;
	int answer;
	bool is_done;
};

static struct {
	const struct trc_tool_options *options; /* NULL = nothing is served */
	const struct trc_http_part *part;
	struct trc_http_server *server;

	pthread_mutex_t lock; /* of what follows; nothing is locked inside */
	pthread_cond_t changed;
	struct call *first, **last;
	bool has_ended; /* E3 */

	/* The main thread's. */
	struct trc_fold *fold;
	const struct trc_shared *shared; /* that it counts */
	uint32_t image;
	uint32_t n_followers;	    /* with --flight: who want the drain */
	uint64_t overwritten_words; /* of its totals, as the fold was told */
} http = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- what the main thread is asked for --------------------------------------------------- */

const struct trc_tool_options *trc_http_options(void)
{
	return http.options;
}

static void wake_main(void)
{
	/* release: pairs with the acquire in trc_tool_session_run(): the request is stored. */
	atomic_fetch_add_explicit(&trc_child_wake, 1, memory_order_release);
	syscall(SYS_futex, &trc_child_wake, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

int trc_http_call(trc_http_fn *fn, void *context)
{
	struct call call = {.fn = fn, .context = context, .answer = -ECANCELED};

	pthread_mutex_lock(&http.lock);
	if (!http.has_ended) {
		*http.last = &call;
		http.last = &call.next;
		wake_main();
		while (!call.is_done)
			pthread_cond_wait(&http.changed, &http.lock);
	}
	pthread_mutex_unlock(&http.lock);
	return call.answer;
}

static bool session_has_ended(void)
{
	bool ended;

	pthread_mutex_lock(&http.lock);
	ended = http.has_ended;
	pthread_mutex_unlock(&http.lock);
	return ended;
}

/* With --follow the server goes on behind the end of the command. */
bool trc_http_pause(const struct trc_http_wait *wait, uint64_t ns)
{
	uint64_t until_ns = trc_clock_vdso() + ns, now_ns;

	while (!session_has_ended()) {
		now_ns = trc_clock_vdso();
		if (now_ns >= until_ns)
			return true;
		ns = until_ns - now_ns < SLICE_NS ? until_ns - now_ns : SLICE_NS;
		if (!wait->wait(wait->context, ns))
			return false;
	}
	return false;
}

bool trc_tool_http_asked(void)
{
	bool asked;

	if (!http.server)
		return false;
	pthread_mutex_lock(&http.lock);
	asked = http.first != NULL;
	pthread_mutex_unlock(&http.lock);
	return asked;
}

static struct call *take_calls(void)
{
	struct call *first;

	pthread_mutex_lock(&http.lock);
	first = http.first;
	http.first = NULL;
	http.last = &http.first;
	pthread_mutex_unlock(&http.lock);
	return first;
}

/* A call is its caller's again as soon as it is done. */
static void calls_give_back(struct call *call)
{
	pthread_mutex_lock(&http.lock);
	while (call) {
		struct call *next = call->next;

		call->is_done = true;
		call = next;
	}
	pthread_cond_broadcast(&http.changed);
	pthread_mutex_unlock(&http.lock);
}

/* ---- the fold ---------------------------------------------------------------------------- */

static uint32_t tool_sample_event(uint32_t number)
{
	return trc_sample_event_first(http.shared, number);
}

static void tool_fold_event(void *context, const struct trc_writer *writer,
			    const struct trc_event *event)
{
	trc_fold_event(http.fold, writer, event);
}

static void tool_fold_labels(void *context, const struct trc_writer *writer, uint32_t thread,
			     uint32_t labels)
{
	trc_fold_thread_labels(http.fold, writer, thread, labels);
}

static void tool_fold_wait(void *context, const struct trc_writer *writer,
			   const struct trc_status_entry *wait)
{
	trc_fold_thread_wait(http.fold, writer, wait);
}

static const struct trc_drain_observer observer = {tool_fold_event, tool_fold_labels, NULL};

static void close_fold(void)
{
	trc_fold_close(http.fold);
	http.fold = NULL;
	http.image++;
}

/* `begin`: ticks when what is recorded began.  0 or -ENOMEM. */
static int tool_open_fold(struct trc_process *p, uint64_t *begin)
{
	struct trc_shared h;
	struct trc_fold_options options = {.sample_event = tool_sample_event};
	int err;

	memcpy(&h, p->shared, sizeof(h)); /* checked when the drain was opened */
	options.ticks_per_second = h.ticks_per_second;
	options.n_procs = h.n_procs;
	http.shared = p->shared;
	http.overwritten_words = 0;
	err = trc_fold_open(&http.fold, &options);
	if (err)
		return err;
	trc_drain_observe(p->drain, &observer);
	trc_drain_tell_waits(p->drain, tool_fold_wait, NULL);
	*begin = h.start.ticks;
	return 0;
}

void trc_tool_http_attach(struct trc_process *p)
{
	uint64_t begin;

	if (!http.server)
		return;
	close_fold();
	if (!p->drain)
		return;
	if (tool_open_fold(p, &begin))
		trc_tool_say("--http: no memory for what is to be counted: there are no profiles");
	else
		trc_http_views_begin(http.fold, http.options, begin);
}

/* Something was overwritten before it was read: what is in progress may have ended, and something
 * else begun. */
static void tool_look_again(struct trc_process *p)
{
	struct trc_drain_totals totals;

	trc_drain_totals(p->drain, &totals);
	if (totals.overwritten_words == http.overwritten_words)
		return;
	http.overwritten_words = totals.overwritten_words;
	trc_fold_lost(http.fold, 0, trc_drain_settled(p->drain), 0);
	trc_drain_tell_waits(p->drain, tool_fold_wait, NULL);
}

void trc_tool_http_pass(struct trc_process *p)
{
	if (!http.fold || !p->drain)
		return;
	trc_fold_pass(http.fold, trc_follow_settled(p));
	tool_look_again(p);
}

void trc_tool_http_answer(struct trc_process *p, struct trc_flight_session *flight, uint64_t ticks)
{
	struct call *first = take_calls();

	if (http.fold && p->drain) {
		trc_fold_pass(http.fold, ticks);
		tool_look_again(p);
	}
	for (struct call *call = first; call; call = call->next) {
		/* With --flight the fold may be there from one call to the next. */
		const struct trc_http_now now = {.p = p,
						 .flight = flight,
						 .fold = p->drain ? http.fold : NULL,
						 .image = http.image,
						 .ticks = ticks,
						 .options = http.options};

		call->answer = call->fn(call->context, &now);
	}
	calls_give_back(first);
}

static int begin_to_follow(void *context, const struct trc_http_now *now)
{
	uint32_t *image = context;
	uint64_t begin;
	int err = 0;

	if (!now->p->drain) {
		close_fold();
		http.n_followers = 0;
		err = trc_follow_begin(now->p, now->flight);
		if (!err)
			err = tool_open_fold(now->p, &begin);
		if (err)
			trc_follow_end(now->p);
		else
			trc_follow_pass(now->p); /* modules are known then */
	}
	if (err)
		return err;
	http.n_followers++;
	*image = http.image;
	return 0;
}

static int end_to_follow(void *context, const struct trc_http_now *now)
{
	const uint32_t *image = context;

	if (*image != http.image)
		return 0;
	/* Without a drain, if the ring was cut meanwhile, nobody has anything of it any more. */
	if (now->p->drain && --http.n_followers)
		return 0;
	close_fold();
	trc_follow_end(now->p);
	return 0;
}

int trc_http_follow(uint32_t *image)
{
	return http.options->flight ? trc_http_call(begin_to_follow, image) : 0;
}

void trc_http_unfollow(uint32_t image)
{
	if (http.options->flight)
		trc_http_call(end_to_follow, &image);
}

void trc_tool_http_leave(void)
{
	if (!http.server)
		return;
	pthread_mutex_lock(&http.lock);
	http.has_ended = true;
	pthread_mutex_unlock(&http.lock);
	calls_give_back(take_calls());
}

/* ---- what there is to serve, but profiles ------------------------------------------------ */

static const char *session_dir(void)
{
	const char *given = secure_getenv("TRC_RING_DIR");

	return given && *given ? given : "/dev/shm";
}

struct snapshot {
	const char *path;
	uint64_t window_ns;
	char *why;
	size_t n_bytes;
};

static int take_snapshot(void *context, const struct trc_http_now *now)
{
	const struct snapshot *s = context;

	return trc_flight_write(now->p, now->flight, s->path, s->window_ns, s->why, s->n_bytes);
}

static int say_ended(int err, char *why, size_t n_bytes)
{
	if (err == -ECANCELED)
		snprintf(why, n_bytes, "the command has ended");
	return err;
}

static int session_flight(const char *path, uint64_t window_ns, char *why, size_t n_bytes)
{
	struct snapshot s = {path, window_ns, why, n_bytes};

	if (!http.options->flight) {
		snprintf(why, n_bytes,
			 "no flight recorder runs: trace-record --flight --http is one, and serves "
			 "it");
		return -EBUSY;
	}
	return say_ended(trc_http_call(take_snapshot, &s), why, n_bytes);
}

static int session_trace(const char *path, uint64_t duration_ns, const struct trc_http_wait *wait,
			 char *why, size_t n_bytes)
{
	if (!http.options->flight) {
		snprintf(
			why, n_bytes,
			"trace-record writes the trace already, all of it, to %s; with --flight it "
			"can serve a part of it here",
			http.options->output);
		return -EBUSY;
	}
	if (!trc_http_pause(wait, duration_ns)) {
		snprintf(why, n_bytes, "given up, or the command has ended");
		return -ECANCELED;
	}
	return session_flight(path, duration_ns, why, n_bytes);
}

struct cmdline {
	char *out;
	size_t n_bytes;
	long n;
};

static int read_cmdline(void *context, const struct trc_http_now *now)
{
	struct cmdline *c = context;
	char path[32];
	size_t used = 0;
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", now->p->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (used < c->n_bytes && (n = read(fd, c->out + used, c->n_bytes - used)) > 0)
		used += (size_t)n;
	close(fd);
	c->n = (long)used;
	return n < 0 ? -EIO : 0;
}

static long session_cmdline(char *out, size_t n_bytes)
{
	struct cmdline c = {out, n_bytes, 0};
	int err = trc_http_call(read_cmdline, &c);

	return err ? err : c.n;
}

/* ---- names of functions ------------------------------------------------------------------ */

/* Modules, and behind them their paths, in one piece of memory. */
struct filling {
	uint32_t epoch;			 /* those that went before it are left out */
	struct trc_module_entry *module; /* NULL = nothing but counted */
	char *path;
	size_t n, path_bytes;
};

static void add_module(void *context, const struct trc_module_entry *module)
{
	struct filling *f = context;
	const char *path = module->path ? module->path : "";
	size_t n_bytes = strlen(path) + 1;

	if (module->last_epoch < f->epoch)
		return;
	if (f->module) {
		f->module[f->n] = *module;
		f->module[f->n].path = memcpy(f->path + f->path_bytes, path, n_bytes);
	}
	f->n++;
	f->path_bytes += n_bytes;
}

/* One writer has the modules of all images, those of the first one first. */
static int modules_fill(const struct trc_http_now *now, uint32_t epoch,
			struct trc_module_list *list)
{
	struct filling f = {.epoch = epoch};
	struct trc_module_entry *module;

	if (now->p->w)
		trc_writer_each_module(now->p->w, add_module, &f);
	module = malloc((f.n + 1) * sizeof(*module) + f.path_bytes);
	if (!module)
		return -ENOMEM;
	f = (struct filling){epoch, module, (char *)(module + f.n + 1), 0, 0};
	if (now->p->w)
		trc_writer_each_module(now->p->w, add_module, &f);
	*list = (struct trc_module_list){module, f.n};
	return 0;
}

int trc_http_modules(const struct trc_http_now *now, struct trc_module_list *list)
{
	return modules_fill(now, now->p->bases.epoch_base, list);
}

int trc_http_modules_loaded(const struct trc_http_now *now, struct trc_module_list *list)
{
	return modules_fill(now, UINT32_MAX, list);
}

static int list_of_now(void *context, const struct trc_http_now *now)
{
	return trc_http_modules_loaded(now, context);
}

static int tool_list_modules(struct trc_module_list *list)
{
	uint32_t image;
	int err = trc_http_follow(&image);

	if (err)
		return err;
	err = trc_http_call(list_of_now, list);
	trc_http_unfollow(image);
	return err;
}

static struct trc_http_names *tool_names_open(void)
{
	return trc_http_names_open(tool_list_modules);
}

static const struct trc_http_source source = {
	.each = trc_http_profiles_each_entry,
	.count = trc_http_profile_count,
	.take = trc_http_profile_take,
	.trace = session_trace,
	.flight = session_flight,
	.dir = session_dir,
	.cmdline = session_cmdline,
	.names_open = tool_names_open,
	.names_close = trc_http_names_close,
	.name = trc_http_name,
};

/* ---- beginning and end ------------------------------------------------------------------- */

/* Descriptors are nobody's but ours here. */
static int http_thread_begin(const char *thread_name, bool own_descriptors)
{
	prctl(PR_SET_NAME, thread_name);
	return 0;
}

static void http_thread_end(void)
{
}

static const struct trc_http_host host = {trc_own_thread_create, http_thread_begin,
					  http_thread_end};

static const struct trc_http_part *open_part(char *why, size_t n_bytes)
{
	const struct trc_http_part *part =
		trc_part_open("libtrc-http.so", "trc_http_part", why, n_bytes);

	if (!part || part->version == TRC_HTTP_PART_VERSION)
		return part;
	snprintf(why, n_bytes, "libtrc-http.so is of another version than trace-record");
	return NULL;
}

static int tool_server_start(const struct trc_tool_options *o, char *why, size_t n_bytes)
{
	const struct trc_http_server_options options = {
		.address = o->http,
		.token = getenv("TRC_HTTP_TOKEN"),
		.source = &source,
		.host = &host,
	};

	/* Nobody who sets one up wants everybody to be let in when it comes out empty. */
	if (options.token && !*options.token) {
		snprintf(why, n_bytes, "%s: the token is empty", o->http);
		return -EINVAL;
	}
	http.part = open_part(why, n_bytes);
	return http.part ? http.part->start(&http.server, &options, why, n_bytes) : -ENOTSUP;
}

int trc_tool_http_start(const struct trc_tool_options *o)
{
	char why[400] = "";
	int err;

	if (!o->http)
		return 0;
	http.options = o;
	http.last = &http.first;
	err = tool_server_start(o, why, sizeof(why));
	if (*why)
		trc_tool_say("--http: %s", why);
	else if (err)
		trc_tool_say("--http: %s", strerror(-err));
	if (!err && !o->quiet)
		trc_tool_say("profiles are served at port %u: /debug/pprof/",
			     http.part->port(http.server));
	return err;
}

void trc_tool_http_stop(void)
{
	struct trc_http_server *server = http.server;

	if (!server)
		return;
	trc_tool_http_leave();
	http.server = NULL;
	/* Those that go on work on copies, and end with this process. */
	http.part->stop(server, true);
	trc_fold_close(http.fold);
	http.fold = NULL;
}
