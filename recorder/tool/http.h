/*
 * http.h - trace-record --http: what is recorded of the command, served meanwhile.
 *
 *	main thread                            threads of libtrc-http.so's
 *	drain -- observer --> fold, views  <-- calls --   what is wanted
 *	                                   -- copies -->  encoded, named, sent
 *
 *   http:E1  mappings, drains, writers, folds and views are the main thread's.  Others have it do
 *       what they want between two passes (trc_http_call()), and work on copies of it
 *   http:E2  what is served is the command's own process, also with --follow.  When it executes
 *       another program everything begins anew
 *   http:E3  when it has ended nothing is served any more, whoever is being answered
 */
#ifndef TRC_RECORDER_TOOL_HTTP_H
#define TRC_RECORDER_TOOL_HTTP_H

#include "recorder/profile/encode.h"
#include "recorder/fold/fold.h"
#include "recorder/http/http.h"
#include "recorder/profile/thread_profile.h"
#include "flight.h"

/* ---- for the session; context: the main thread ------------------------------------------ */

/* Begins to serve, if that was asked for; before the command runs.  0, or -errno after saying why.
 */
int trc_tool_http_start(const struct trc_tool_options *options);
/* The drain of the command's process has begun, of its first image or of another one; with --flight,
 * its ring is there. */
void trc_tool_http_attach(struct trc_process *p);
/* After each pass of its drain. */
void trc_tool_http_pass(struct trc_process *p);
/* Whether somebody waits for trc_tool_http_answer(), which wants all that was recorded before `now`
 * to have been drained.  `flight` is what belongs to --flight. */
bool trc_tool_http_asked(void);
void trc_tool_http_answer(struct trc_process *p, struct trc_flight_session *flight, uint64_t now);
/* The process has ended: E3.  Before its drain is closed. */
void trc_tool_http_leave(void);
/* Nobody is served any more.  Waits a second for whoever is being answered. */
void trc_tool_http_stop(void);

/* ---- inside ------------------------------------------------------------------------------ */

struct trc_http_now {
	struct trc_process *p;
	struct trc_flight_session *flight;
	struct trc_fold *fold; /* NULL = nothing is counted */
	uint32_t image;	       /* another one's fold is another one */
	uint64_t ticks;
	const struct trc_tool_options *options;
};
typedef int trc_http_fn(void *context, const struct trc_http_now *now);
/* Has the main thread call fn, and waits.  What it returned; or -ECANCELED: the command has ended.
 * Context: a thread of the server's. */
int trc_http_call(trc_http_fn *fn, void *context);

/*
 * With --flight there is a drain, and a fold, only while somebody wants them: from here to
 * trc_http_unfollow(), or until the command executes another program.  Else does nothing, since there is
 * one all the time.  *image is for trc_http_unfollow().  0, -EBUSY: the process is not recorded; or
 * what trc_http_call() says.  Context: a thread of the server's.
 */
int trc_http_follow(uint32_t *image);
void trc_http_unfollow(uint32_t image);

/* Waits for what is asked for; false: whoever asked is gone, or the command has ended.
 * Context: a thread of the server's. */
bool trc_http_pause(const struct trc_http_wait *wait, uint64_t ns);

/* What trace-record was asked for. */
const struct trc_tool_options *trc_http_options(void);
/* Modules that the stacks of this image refer to, also those that were unloaded since; free() the
 * list's module.  0 or -ENOMEM.  Context: main thread. */
int trc_http_modules(const struct trc_http_now *now, struct trc_module_list *list);
/* Those that are loaded now: for addresses of now, without an epoch. */
int trc_http_modules_loaded(const struct trc_http_now *now, struct trc_module_list *list);

/* ---- http_profiles.c ---- */

/* What is counted from the beginning, `begin` in ticks.  Context: main thread. */
void trc_http_views_begin(struct trc_fold *fold, const struct trc_tool_options *options,
			  uint64_t begin);
void trc_http_profiles_each_entry(trc_http_each_fn *fn, void *context);
uint64_t trc_http_profile_count(const char *name);
int trc_http_profile_take(const struct trc_http_take *take, const struct trace_writer *writer,
			  char *why, size_t n_bytes);

/* ---- http_threads.c ---- */

/* What it takes belongs to the caller: trc_http_threads_free(), free() of the list's module, also
 * where it failed.  0, -ENOMEM, -EBUSY: the process is not recorded yet; -ECANCELED, or what /proc
 * failed with.  Context: a thread of the server's. */
int trc_http_threads(struct trc_thread_profile **out, struct trc_module_list *modules);
/* Accepts NULL. */
void trc_http_threads_free(struct trc_thread_profile *p);

#endif
