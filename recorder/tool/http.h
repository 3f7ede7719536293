/*
 * http.h - trace-record --http: serves profiles of the command while the command is recorded.
 *
 *	main thread                            threads of libtrc-http.so's
 *	drain -- observer --> fold, views  <-- calls --   what is wanted
 *	                                   -- copies -->  encoded, named, sent
 *
 *   http:E1  mappings, drains, writers, folds and views belong to the main thread.  Other threads
 *       ask the main thread to work for them between two passes (trc_http_call()), and use copies
 *       of the results
 *   http:E2  only the command's own process is served, also with --follow.  When the process
 *       executes another program, everything begins anew
 *   http:E3  when the process has ended, nothing is served any more, not even to clients that are
 *       being answered
 */
#ifndef TRC_RECORDER_TOOL_HTTP_H
#define TRC_RECORDER_TOOL_HTTP_H

#include "recorder/profile/encode.h"
#include "recorder/fold/fold.h"
#include "recorder/http/http.h"
#include "recorder/profile/thread_profile.h"
#include "flight.h"

/* ---- for the session; context: the main thread ------------------------------------------ */

/* Begins to serve, if the options ask for a server; called before the command runs.  0, or -errno
 * after saying why.
 */
int trc_tool_http_start(const struct trc_tool_options *options);
/* The drain of the command's process has begun, for its first image or a later image; with
 * --flight, its ring is there. */
void trc_tool_http_attach(struct trc_process *p);
/* After each pass of the process's drain. */
void trc_tool_http_pass(struct trc_process *p);
/* True if a client waits for trc_tool_http_answer().  Before that function, everything recorded
 * before `now` has to be drained.  `flight` is what belongs to --flight. */
bool trc_tool_http_asked(void);
void trc_tool_http_answer(struct trc_process *p, struct trc_flight_session *flight, uint64_t now);
/* The process has ended: E3.  Called before its drain is closed. */
void trc_tool_http_leave(void);
/* Ends serving.  Waits up to a second for clients that are being answered. */
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
/* Has the main thread call fn, and waits.  Returns fn's result, or -ECANCELED: the command has
 * ended.  Context: a thread of the server's. */
int trc_http_call(trc_http_fn *fn, void *context);

/*
 * With --flight there is a drain, and a fold, only while a client wants them: from here to
 * trc_http_unfollow(), or until the command executes another program.  Without --flight the call
 * does nothing, since there is a drain all the time. *image is for trc_http_unfollow(). 0, -EBUSY:
 * the process is not recorded; or what trc_http_call() says.  Context: a thread of the server's.
 */
int trc_http_follow(uint32_t *image);
void trc_http_unfollow(uint32_t image);

/* Waits for the time that a request asks for; false: the client is gone, or the command has ended.
 * Context: a thread of the server's. */
bool trc_http_pause(const struct trc_http_wait *wait, uint64_t ns);

/* The options of trace-record. */
const struct trc_tool_options *trc_http_options(void);
/* Modules that the stacks of this image refer to, also those that were unloaded since; free() the
 * list's module.  0 or -ENOMEM.  Context: main thread. */
int trc_http_modules(const struct trc_http_now *now, struct trc_module_list *list);
/* Modules that are loaded now: for present addresses, without an epoch. */
int trc_http_modules_loaded(const struct trc_http_now *now, struct trc_module_list *list);

/* ---- http_profiles.c ---- */

/* Begins the views that count from the beginning, `begin` in ticks.  Context: main thread. */
void trc_http_views_begin(struct trc_fold *fold, const struct trc_tool_options *options,
			  uint64_t begin);
void trc_http_profiles_each_entry(trc_http_each_fn *fn, void *context);
uint64_t trc_http_profile_count(const char *name);
int trc_http_profile_take(const struct trc_http_take *take, const struct trace_writer *writer,
			  char *why, size_t n_bytes);

/* ---- http_threads.c ---- */

/* The results belong to the caller, also after an error: trc_http_threads_free() the profile,
 * free() the list's module.  0, -ENOMEM, -EBUSY: the process is not recorded yet; -ECANCELED, or
 * what /proc failed with.  Context: a thread of the server's. */
int trc_http_threads(struct trc_thread_profile **out, struct trc_module_list *modules);
/* Accepts NULL. */
void trc_http_threads_free(struct trc_thread_profile *p);

#endif
