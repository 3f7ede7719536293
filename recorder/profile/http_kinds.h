/* http_kinds.h - the profiles that each source (http.h) serves, in the order of their names. */
#ifndef TRC_RECORDER_PROFILE_HTTP_KINDS_H
#define TRC_RECORDER_PROFILE_HTTP_KINDS_H

#include "encode.h"
#include "recorder/http/http.h"

enum trc_http_kind {
	TRC_HTTP_KIND_ALLOCS,
	TRC_HTTP_KIND_BLOCK,
	TRC_HTTP_KIND_GOROUTINE,
	TRC_HTTP_KIND_HEAP,
	TRC_HTTP_KIND_MUTEX,
	TRC_HTTP_KIND_OFFCPU,
	TRC_HTTP_KIND_PROFILE,
	TRC_HTTP_KIND_THREADCREATE,
	TRC_HTTP_KIND_THREADS,
	TRC_HTTP_KINDS,
};

/* The kinds as a process itself serves them; a source may say more in `what` and `flags`. */
extern __attribute__((visibility("hidden")))
const struct trc_http_entry trc_http_entries[TRC_HTTP_KINDS];

/* The kind with this name; TRC_HTTP_KINDS = there is none. */
enum trc_http_kind trc_http_kind(const char *name);

/* The writer of a profile asks `wait` whether the client is still there. *wait is borrowed. */
struct trc_encode_wanted trc_http_wanted(const struct trc_http_wait *wait);

#endif
