/*
 * thread_text.h - what every thread is doing, as text: a paragraph for each.
 *
 *	thread 4711 "worker 3" [mutex 0x5581c0de, 1.5 s, held by thread 4702]:
 *	labels: {"route": "/search"}
 *	take_turn
 *		/src/queue.c:88 0x5581b0a4
 *	...
 *	created by thread 4700
 *	start_workers
 *		/src/main.c:31 0x5581b1c2
 *	...
 */
#ifndef TRC_RECORDER_PROFILE_THREAD_TEXT_H
#define TRC_RECORDER_PROFILE_THREAD_TEXT_H

#include <stddef.h>
#include "encode.h"
#include "thread_profile.h"

/* A row's state in a word: "running", a name of `reason` for a wait, "waiting", "did not
 * answer". */
const char *trc_thread_state(const struct trc_thread_row *row);

/* *text is the caller's, who free()s it; the modules come from trc_module_list(). 0 or -errno, with
 * a sentence in why; -ECANCELED: the text is not wanted any more (NULL = it is wanted to the end).
 * Context: any thread that records nothing meanwhile, may block. */
int trc_thread_text(const struct trc_thread_profile *profile, const struct trc_module_list *modules,
		    const struct trc_encode_wanted *wanted, char **text, size_t *n_bytes, char *why,
		    size_t why_bytes);

#endif
