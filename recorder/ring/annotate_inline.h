/*
 * annotate_inline.h - the shortest way to record an annotation whose name has an id already.
 */
#ifndef TRC_RECORDER_RING_ANNOTATE_INLINE_H
#define TRC_RECORDER_RING_ANNOTATE_INLINE_H

#include "annotate.h"
#include "names_met.h"
#include "ring_inline.h"

/*
 * Returns the id of a literal if this thread may record it at once, else 0: then the slow way finds
 * out why.  A site is filled in by a thread of the session that the site names.  A thread that has
 * the same session is attached to it.
 */
static inline uint64_t trc_site_ready(const struct trace_site *site, uint32_t session)
{
	/* acquire: pairs with site_fill(). */
	if (__builtin_expect(__atomic_load_n(&site->session, __ATOMIC_ACQUIRE) != session, 0) ||
	    __builtin_expect(trc_self.session_if_loud != session, 0))
		return 0;
	return __atomic_load_n(&site->id, __ATOMIC_RELAXED);
}

/* Both: true if the event was recorded.  `session` is the value of trc_switch.api, not 0. */

static inline bool trc_counter_put(uint64_t id, int64_t value)
{
	return __builtin_expect(
		rseq_put_two(TRC_REC_WORD1(TRC_KIND_COUNTER, 0, 4, 0) | trc_self.serial_word, id,
			     (uint64_t)value) == RSEQ_DONE,
		1);
}

static inline bool trc_counter_fast(const struct trace_site *site, uint32_t session, int64_t value)
{
	uint64_t id = trc_site_ready(site, session);

	return __builtin_expect(id != 0, 1) && trc_counter_put(id, value);
}

/* The same by a name that is no literal, and not NULL. */
static inline bool trc_counter_met(const char *name, uint32_t session, int64_t value)
{
	uint64_t id = 0;

	/* Attached to the session, as in trc_site_ready(). */
	if (__builtin_expect(trc_self.session_if_loud == session, 1))
		id = trc_name_met(name, (uint32_t)strnlen(name, TRC_STRING_BYTES_MAX), session);
	return id && trc_counter_put(id, value);
}

#endif
