/* otel.c - reads the calling thread's OpenTelemetry context, and records it; see otel.h. */
#include "otel.h"
#include "recorder/shared/clock.h"
#include "recorder/unwind/memory.h"
#include "recorder/unwind/poison.h"

/* The record as OTEP 4947 lays it out, without gaps; attributes follow. */
struct otel_record {
	uint8_t trace[16], span[8];
	uint8_t valid, flags;
	uint16_t attribute_bytes;
};
_Static_assert(sizeof(struct otel_record) == 28, "as in OTEP 4947");

enum { PAGE_BYTES = 4096 }; /* the smallest page of any kernel */

/* glibc's table of the thread's blocks.  Element -1 has the number of elements in place of an
 * address. */
struct block {
	uint64_t address, to_free;
};
#define BLOCK_NONE UINT64_MAX /* the thread has not used it yet */

static const struct block *own_blocks(void)
{
	const struct block *const *head = __builtin_thread_pointer();

#if defined(__x86_64__)
	return head[1];
#else
	return head[0];
#endif
}

/* The calling thread's variable; 0 = it has none yet. */
static TRC_NO_SANITIZE uintptr_t variable_at(uint64_t where)
{
	uint64_t module = where >> TRC_OTEL_MODULE_SHIFT;
	const struct block *block;
	uintptr_t at;

	if (TRC_OTEL_KIND(where) == TRC_OTEL_GONE)
		return 0;
	if (TRC_OTEL_KIND(where) == TRC_OTEL_STATIC)
		return (uintptr_t)__builtin_thread_pointer() +
		       (uintptr_t)((int64_t)where >> TRC_OTEL_KIND_BITS);
	/* A signal may have come while glibc moves the blocks, and a block may be that of an object that
	 * had the module's number before: it may be anything, but is asked for first (C1). */
	block = own_blocks();
	if (!block || module > block[-1].address ||
	    !trc_memory_readable((uintptr_t)&block[module]) ||
	    block[module].address == BLOCK_NONE || !block[module].address)
		return 0;
	at = block[module].address +
	     ((where & ((UINT64_C(1) << TRC_OTEL_MODULE_SHIFT) - 1)) >> TRC_OTEL_KIND_BITS);
	return at % sizeof(at) || !trc_memory_readable(at) ? 0 : at;
}

/* Between the variable and the thread pointer lie only the thread's own variables, and both have a
 * page that is mapped whole. */
static bool is_beside(uintptr_t at, uintptr_t last, uint64_t where, uintptr_t variable)
{
	uintptr_t self = (uintptr_t)__builtin_thread_pointer();
	uintptr_t lo = variable < self ? variable : self, hi = variable < self ? self : variable;

	return TRC_OTEL_KIND(where) == TRC_OTEL_STATIC && at >= lo - lo % PAGE_BYTES &&
	       last <= (hi | (PAGE_BYTES - 1));
}

/* otel:C1 */
static bool record_readable(uintptr_t at, uint64_t where, uintptr_t variable)
{
	uintptr_t last = at + sizeof(struct otel_record) - 1;

	if (at % 2 || last < at)
		return false;
	if (is_beside(at, last, where, variable) ||
	    trc_memory_is_own(at, sizeof(struct otel_record)))
		return true;
	if (!trc_memory_readable(at))
		return false;
	return at / PAGE_BYTES == last / PAGE_BYTES || trc_memory_readable(last);
}

static uint64_t big_endian(const uint8_t *byte)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | byte[i];
	return value;
}

static TRC_NO_SANITIZE void record_copy(struct otel_record *to, uintptr_t from)
{
	const volatile uint8_t *byte = (const volatile uint8_t *)from;

	for (size_t i = 0; i < sizeof(*to); i++)
		((uint8_t *)to)[i] = byte[i];
}

static TRC_NO_SANITIZE uintptr_t pointer_at(uintptr_t variable)
{
	return *(const volatile uintptr_t *)variable;
}

/* otel:C2.  All zero: there is no context. */
static void context_read(uint64_t where, struct trc_otel_context *is)
{
	uintptr_t variable = variable_at(where);
	uintptr_t at = variable ? pointer_at(variable) : 0;
	struct otel_record record;

	*is = (struct trc_otel_context){{0, 0}, 0};
	if (!at || !record_readable(at, where, variable))
		return;
	record_copy(&record, at);
	if (record.valid != 1 || pointer_at(variable) != at)
		return;
	is->trace[0] = big_endian(record.trace);
	is->trace[1] = big_endian(record.trace + 8);
	is->span = big_endian(record.span);
	if (!is->span || !(is->trace[0] | is->trace[1]))
		*is = (struct trc_otel_context){{0, 0}, 0};
}

static bool context_is_same(const struct trc_otel_context *a, const struct trc_otel_context *b)
{
	return a->span == b->span && a->trace[0] == b->trace[0] && a->trace[1] == b->trace[1];
}

/* otel:C3 */
static void context_record(const struct trc_otel_context *is, uint64_t now)
{
	struct trc_args_otel_context args = {.trace_high = is->trace[0],
					     .trace_low = is->trace[1],
					     .span = is->span,
					     .before = trc_self.otel.span};

	/* One that is lost is made again before the thread's next wait. */
	if (!TRC_RECORD(args))
		return;
	trc_self.otel = *is;
	trc_self.otel_told = now;
}

void trc_otel_look(uint64_t where, uint64_t now)
{
	struct trc_otel_context is;

	if (now >= atomic_load_explicit(&trc_switch.otel_search, memory_order_relaxed) &&
	    !trc_self.locks_held) {
		trc_otel_search(now);
		where = atomic_load_explicit(&trc_switch.otel, memory_order_relaxed);
	}
	/* Who left this by a longjmp() out of a handler has left the mark. */
	if (!where || (trc_self.otel_busy &&
		       now - trc_self.otel_busy < trc_clock_ns_to_ticks(TRC_OTEL_SEARCH_NS)))
		return;
	trc_self.otel_busy = now;
	/* seq_cst, both: a handler finds the flag set while the thread's context is half stored. */
	atomic_signal_fence(memory_order_seq_cst);
	context_read(where, &is);
	if (!context_is_same(&is, &trc_self.otel) ||
	    (is.span && now - trc_self.otel_told >= trc_clock_ns_to_ticks(TRC_OTEL_AGAIN_NS)))
		context_record(&is, now);
	atomic_signal_fence(memory_order_seq_cst);
	trc_self.otel_busy = 0;
}
