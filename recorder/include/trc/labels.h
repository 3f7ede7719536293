/*
 * <trc/labels.h> - say for whom a thread works: labels on everything that the thread does.
 *
 * A label set maps keys to values: tenant=42, phase=parse.  While a set is in force for a thread,
 * the thread's samples, waits, unlocks, regions and logs carry the set in the trace.  A new thread
 * begins with the set of its creator, and a forked child with the set of its parent thread.  Sets
 * work whether anything records or not; a recording that begins later sees the sets in force.
 *
 * A program cannot read the value of a label back: labels are for the reader of a trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRC_LABELS_H
#define TRC_LABELS_H

#include <trc/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A set of labels, which never changes.  NULL is the empty set. */
struct trace_labels;

/** One label: a string, or a number with an optional unit. */
struct trace_label {
	const char *key;   /* 1 to 63 bytes; must not begin with trc::, as labels of trc's own do */
	const char *value; /* a string of at most 200 bytes; NULL = the label is a number */
	int64_t number;	   /* used if value is NULL */
	const char *unit; /* of the number, at most 15 bytes: "bytes", "nanoseconds"; NULL = none */
};

/**
 * Makes a set from the labels of `base` (NULL = none) and the `n` labels at `label`.  If a key
 * occurs more than once, the last label wins.  All arguments are only read during the call.
 *
 * On success *out is the caller's, to be given back by trace_labels_destroy().  The new set shares
 * the memory of its base.  On failure *out is untouched; text is never cut off.
 *
 * Returns 0; -EINVAL: a label without a key, a key that begins with trc::, or a unit beside a
 * string; -ENAMETOOLONG: a key, value or unit is too long; -E2BIG: more than 32 labels, or more
 * than 1000 bytes in all (keys, values and units, 2 bytes for each label, 8 more for a number); or
 * -ENOMEM.  trace_last_error() says which label it is.
 * Thread safe, not signal safe.
 */
TRC_API int trace_labels_create(const struct trace_labels **out, const struct trace_labels *base,
				const struct trace_label *label, size_t n);

/**
 * Returns a copy of a set, which the caller gives back by trace_labels_destroy().  Sets never
 * change, so a copy shares the memory of the set (the pointers are equal) and costs one atomic
 * addition.  A copy of NULL is NULL.
 * Thread safe and signal safe.
 */
TRC_API const struct trace_labels *trace_labels_copy(const struct trace_labels *labels);

/**
 * Gives back a set that the caller has from trace_labels_create(), _copy() or _set().  Copies, and
 * sets made from this set, stay valid.  NULL does nothing.
 * Thread safe; signal safe only if another copy exists, as the last one frees memory.
 */
TRC_API void trace_labels_destroy(const struct trace_labels *labels);

/**
 * Puts a set in force for the calling thread, instead of the set before.  The thread takes `labels`
 * over: the caller must have made or copied it, and no longer owns it.
 * Returns the set that was in force before, which the caller now owns: either restore it later by
 * another trace_labels_set(), or give it back by trace_labels_destroy().
 * Thread safe.  A signal handler may call it if it restores the set before it returns.
 */
TRC_API const struct trace_labels *trace_labels_set(const struct trace_labels *labels);

/**
 * Calls fn(arg) with a set in force, and then restores the set before: after a return, a C++
 * exception, pthread_exit(), cancellation or longjmp() out of fn.  `labels` stays the caller's.
 * Thread safe, not signal safe.
 */
TRC_API void trace_labels_do(const struct trace_labels *labels, void (*fn)(void *arg), void *arg);

/* ---- labels for the rest of a block -------------------------------------------------------- */

/* What TRACE_LABELS keeps on the stack.  The fields are not for callers. */
struct trace_labels_scope {
	const struct trace_labels *before;
	bool entered;
};

/**
 * Adds `n` labels to the set in force, until trace_labels_leave() restores the set before.  If
 * trace_labels_create() would refuse the labels, nothing changes and trace_last_error() says why.
 * Thread safe, not signal safe.
 */
TRC_API struct trace_labels_scope trace_labels_enter(const struct trace_label *label, size_t n);

/**
 * Adds a label with an unsigned number, as trace_labels_enter() does.  A label's number is at most
 * INT64_MAX: for a larger `number` nothing changes, and trace_last_error() says why.
 */
TRC_API struct trace_labels_scope trace_labels_enter_unsigned(const char *key, uint64_t number);

/** Restores the set that was in force before *scope was entered.  Thread safe, not signal safe. */
TRC_API void trace_labels_leave(struct trace_labels_scope *scope);

static inline struct trace_labels_scope trc_labels_string_(const char *key, const char *value)
{
	struct trace_label label = {key, value ? value : "", 0, NULL};

	return trace_labels_enter(&label, 1);
}

static inline struct trace_labels_scope trc_labels_number_(const char *key, int64_t number)
{
	struct trace_label label = {key, NULL, number, NULL};

	return trace_labels_enter(&label, 1);
}

/* For text of unsigned char, as UTF-8 often is declared. */
static inline struct trace_labels_scope trc_labels_bytes_(const char *key,
							  const unsigned char *value)
{
	return trc_labels_string_(key, (const char *)value);
}

static inline struct trace_labels_scope trc_labels_signed_bytes_(const char *key,
								 const signed char *value)
{
	return trc_labels_string_(key, (const char *)value);
}

#ifdef __cplusplus
}

static inline struct trace_labels_scope trc_labels_any_(const char *key, const char *value)
{
	return trc_labels_string_(key, value);
}
#define TRC_LABELS_OF_(type, function)                                                             \
	static inline struct trace_labels_scope trc_labels_any_(const char *key, type value)       \
	{                                                                                          \
		return function(key, value);                                                       \
	}
TRC_LABELS_OF_(const unsigned char *, trc_labels_bytes_)
TRC_LABELS_OF_(const signed char *, trc_labels_signed_bytes_)
TRC_LABELS_OF_(int, trc_labels_number_)
TRC_LABELS_OF_(long, trc_labels_number_)
TRC_LABELS_OF_(long long, trc_labels_number_)
TRC_LABELS_OF_(unsigned int, trc_labels_number_)
TRC_LABELS_OF_(unsigned long, trace_labels_enter_unsigned)
TRC_LABELS_OF_(unsigned long long, trace_labels_enter_unsigned)
#undef TRC_LABELS_OF_
#define TRC_LABELS_ANY_(key, value) trc_labels_any_((key), (value))
#else
/* The sum of 0LL and any integer, also a bit-field, has one of two types. */
#define TRC_LABELS_ANY_(key, value)                                                                \
	__extension__ _Generic((value) + 0LL,                                                      \
		char *: trc_labels_string_,                                                        \
		const char *: trc_labels_string_,                                                  \
		unsigned char *: trc_labels_bytes_,                                                \
		const unsigned char *: trc_labels_bytes_,                                          \
		signed char *: trc_labels_signed_bytes_,                                           \
		const signed char *: trc_labels_signed_bytes_,                                     \
		long long: trc_labels_number_,                                                     \
		unsigned long long: trace_labels_enter_unsigned)((key), (value))
#endif

/**
 * Adds one label to the set in force, from here to the end of the block:
 *
 *	TRACE_LABELS("tenant", id);
 *
 * The set before is restored however the block is left; in C, exceptions and cancellation need
 * -fexceptions.  The value is a string or an integer; other types do not compile.  An integer
 * above INT64_MAX is refused: see trace_labels_enter_unsigned().
 * The thread keeps the sets of the last scopes that it left, at most 64 and one that gives its
 * memory to the next set, until it ends: a scope with the same label in the same set takes its set
 * from there.  Otherwise the macro makes a new set, which may allocate memory.  Least of all costs
 * a set that is made once, and used by trace_labels_set().
 */
#define TRACE_LABELS(key, value)                                                                   \
	__attribute__((cleanup(trace_labels_leave), unused)) struct trace_labels_scope TRC_PASTE_( \
		trc_labels_, __COUNTER__) = TRC_LABELS_ANY_(key, value)

#endif
