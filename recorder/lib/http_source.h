/* http_source.h - the profiles and traces that this process serves; see http.h. */
#ifndef TRC_RECORDER_LIB_HTTP_SOURCE_H
#define TRC_RECORDER_LIB_HTTP_SOURCE_H

#include "recorder/http/http.h"
#include "trc/http.h"

extern __attribute__((visibility("hidden"))) const struct trc_http_source trc_http_own;
extern __attribute__((visibility("hidden"))) const struct trc_http_host trc_http_own_host;

/* ---- http_profiles.c ---- */

void trc_http_profiles_each(trc_http_each_fn *fn, void *context);
uint64_t trc_http_profiles_count(const char *name);
int trc_http_profiles_take(const struct trc_http_take *take, const struct trace_writer *writer,
			   char *why, size_t n_bytes);
/* Sets what is kept, by the options or else by the environment; options may be NULL. 0, or -EINVAL
 * with a sentence in why.  Context: any thread; nobody serves. */
int trc_http_profiles_rates(const struct trace_http_options *options, char *why, size_t n_bytes);
/* Begins the recorders that must run before the first request.  A recorder that cannot begin is
 * tried again at a request. */
void trc_http_profiles_begin(void);
void trc_http_profiles_end(void);
/* In a forked child. */
void trc_http_profiles_forget(void);

#endif
