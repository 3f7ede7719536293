/*
 * <trc/labels.h> - say whose work it is: labels on everything that a thread does.
 *
 * A label set maps keys to values: tenant=42, phase=parse.  What a thread does while a set is in
 * force carries it in the trace: samples, waits, unlocks.  Threads that it creates begin with the
 * same set, and so does a forked child.  Sets work whether anything records or not; a recording
 * that begins later sees what is in force.
 *
 * There is no way to read a value back: labels tell the reader of a trace something, never the
 * program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRC_LABELS_H
#define TRC_LABELS_H

#include <trc/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An immutable set.  NULL is the empty one. */
struct trace_labels;

/** One label.  `value` NULL: it is a number. */
struct trace_label {
	const char
		*key; /* 1 to 63 bytes; not trc::..., which profiles use for labels of their own */
	const char *value; /* at most 200 bytes */
	int64_t number;
	const char *unit; /* of a number, at most 15 bytes: "bytes", "nanoseconds"; NULL = none */
};

/**
 * Makes the set that has the labels of `base` (NULL: none) and these `n`; of one key the later one
 * wins.  On success *out is a reference of the caller's, to be given back; what the labels point to
 * is only read during the call.  The new set keeps its base instead of copying it.
 * Returns 0; -EINVAL: no key, one that begins with trc::, or a unit beside a string; -ENAMETOOLONG: a
 * key, value or unit that is too long; -E2BIG: more than 32 labels, or more than 1000 bytes in all (keys, values, units,
 * 2 bytes for each label, 8 more if it is a number); -ENOMEM.  trace_last_error() then says which, and
 * *out is untouched: nothing is ever cut off.  Thread safe, not signal safe.
 */
TRC_API int trace_labels_with(const struct trace_labels **out, const struct trace_labels *base,
			      const struct trace_label *label, size_t n);

/** Another reference to a set, and one given back.  NULL is fine.  Thread safe; giving the last one
 * back is not signal safe. */
TRC_API const struct trace_labels *trace_labels_ref(const struct trace_labels *labels);
TRC_API void trace_labels_unref(const struct trace_labels *labels);

/**
 * Puts a set in force for the calling thread, until the next call.  Takes over the caller's
 * reference, and returns the thread's to the set that was in force: pass it back to restore that,
 * or give it back.  A set may be in force for any number of threads.
 * A signal handler may use it if it restores what it found before it returns.
 */
TRC_API const struct trace_labels *trace_labels_set(const struct trace_labels *labels);

/**
 * Calls fn(arg) with this set in force, and restores what was before however that is left: by
 * return, a C++ exception, pthread_exit(), cancellation, or longjmp().  The caller's reference
 * stays the caller's.
 */
TRC_API void trace_labels_do(const struct trace_labels *labels, void (*fn)(void *arg), void *arg);

/* ---- labels for the rest of a block -------------------------------------------------------- */

/* What TRACE_LABELS keeps on the stack. */
struct trace_labels_scope {
	const struct trace_labels *before;
	bool entered;
};

/** Puts what is in force, and these labels, in force; trace_labels_leave() restores.  If that set
 * cannot be had (as trace_labels_with() would say) nothing changes.  Not signal safe. */
TRC_API struct trace_labels_scope trace_labels_enter(const struct trace_label *label, size_t n);
/** The same for one number.  One above INT64_MAX is none that a label can have: nothing changes, and
 * trace_last_error() says so. */
TRC_API struct trace_labels_scope trace_labels_enter_unsigned(const char *key, uint64_t number);
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

/* Bytes of a text, as UTF-8 often is declared. */
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
/* A sum of any integer, a bit-field too, and 0LL is one of two types. */
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
 * A label beside those in force, from here to the end of the block, however that is left (in C
 * with exceptions and cancellation only under -fexceptions):
 *
 *	TRACE_LABELS("tenant", id);
 *
 * The value is a string or an integer, and nothing else compiles; of an integer above INT64_MAX see
 * trace_labels_enter_unsigned().  Making a set costs an allocation: where the same labels
 * come again and again make the set once, and use trace_labels_set().
 */
#define TRACE_LABELS(key, value)                                                                   \
	__attribute__((cleanup(trace_labels_leave), unused)) struct trace_labels_scope TRC_PASTE_( \
		trc_labels_, __COUNTER__) = TRC_LABELS_ANY_(key, value)

#endif
