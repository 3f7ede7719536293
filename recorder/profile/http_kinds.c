/* http_kinds.c - see http_kinds.h */
#include <string.h>
#include "http_kinds.h"

enum {
	NOW_OR_WINDOW = TRC_HTTP_CUMULATIVE | TRC_HTTP_WINDOW,
	THREADS = NOW_OR_WINDOW | TRC_HTTP_EACH,
};

const struct trc_http_entry trc_http_entries[TRC_HTTP_KINDS] = {
	[TRC_HTTP_KIND_ALLOCS] =
		{"allocs", "Memory that was allocated, sampled: also what has been freed since.",
		 NOW_OR_WINDOW, 0, "bytes"},
	[TRC_HTTP_KIND_BLOCK] =
		{"block",
		 "Where threads waited, for locks, conditions and each other, and for how long.",
		 NOW_OR_WINDOW, 0, "rate"},
	[TRC_HTTP_KIND_GOROUTINE] = {"goroutine", "The same as threads, where tools look for it.",
				     THREADS, 0, NULL},
	[TRC_HTTP_KIND_HEAP] =
		{"heap",
		 "Memory that is allocated now, sampled. seconds=10: what changes in that time.",
		 NOW_OR_WINDOW, 0, "bytes"},
	[TRC_HTTP_KIND_MUTEX] = {"mutex",
				 "Which unlocks ended the waiting of others, and how much of it.",
				 NOW_OR_WINDOW, 0, "fraction"},
	[TRC_HTTP_KIND_OFFCPU] =
		{"offcpu",
		 "Where threads waited, for whatever it was: for each other, files, sockets, "
		 "timers; for the time that seconds= says (30 if nothing).",
		 0, 0, NULL},
	[TRC_HTTP_KIND_PROFILE] =
		{"profile",
		 "CPU time, for the time that seconds= says (30 if nothing). event=cycles draws it "
		 "from another event, period=100000 as often as that.",
		 0, 0, NULL},
	[TRC_HTTP_KIND_THREADCREATE] = {"threadcreate", "Stacks that created threads.",
					NOW_OR_WINDOW, 0, NULL},
	[TRC_HTTP_KIND_THREADS] =
		{"threads",
		 "What every thread is doing now, by stack. debug=2: a paragraph for each thread; "
		 "debug=3: a profile with a sample for each.",
		 THREADS, 0, NULL},
};

enum trc_http_kind trc_http_kind(const char *name)
{
	enum trc_http_kind kind = 0;

	while (kind < TRC_HTTP_KINDS && strcmp(trc_http_entries[kind].name, name))
		kind++;
	return kind;
}

static bool wait_goes_on(void *context)
{
	const struct trc_http_wait *wait = context;

	return wait->wait(wait->context, 0);
}

struct trc_encode_wanted trc_http_wanted(const struct trc_http_wait *wait)
{
	return (struct trc_encode_wanted){wait_goes_on, (void *)(uintptr_t)wait};
}
