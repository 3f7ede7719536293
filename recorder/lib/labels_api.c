/* labels_api.c - the public functions of <trc/labels.h>. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "recorder/guest/labels.h"
#include "recording.h"

/* <pthread.h> declares it without the functions. */
void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer, void (*routine)(void *),
			   void *arg);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int execute);

static int explain(int err, const struct trace_label *label, size_t n, size_t bad)
{
	const char *key = bad < n && label[bad].key ? label[bad].key : "";
	char what[100];

	snprintf(what, sizeof(what), "label %zu (%.63s)", bad + 1, key);
	switch (err) {
	case -EINVAL:
		return trc_api_fail(err, what,
				    !*key ? "it has no key"
				    : !strncmp(key, "trc::", 5)
					    ? "keys that begin with trc:: are trc's own"
					    : "a unit beside a string");
	case -ENAMETOOLONG:
		return trc_api_fail(err, what,
				    "a key has at most 63 bytes, a value 200, a unit 15");
	case -ERANGE:
		return trc_api_fail(err, what, "a number is at most 9223372036854775807");
	case -E2BIG:
		return trc_api_fail(err, "", "a set has at most 32 labels, and 1000 bytes");
	default:
		return trc_api_fail(err, "", "no memory for a label set");
	}
}

/* trc_labels_with(), or the same for a scope. */
typedef int make_fn(const struct trace_labels **out, const struct trace_labels *base,
		    const struct trace_label *label, size_t n, size_t *bad);

static inline int labels_api_make(make_fn *fn, const struct trace_labels **out,
				  const struct trace_labels *base, const struct trace_label *label,
				  size_t n)
{
	int saved_errno = errno;
	size_t bad = n;
	int err;

	trc_api_clear();
	err = fn(out, base, label, n, &bad);
	errno = saved_errno;
	return err ? explain(err, label, n, bad) : 0;
}

int trace_labels_create(const struct trace_labels **out, const struct trace_labels *base,
			const struct trace_label *label, size_t n)
{
	return labels_api_make(trc_labels_with, out, base, label, n);
}

const struct trace_labels *trace_labels_copy(const struct trace_labels *labels)
{
	return trc_labels_ref(labels);
}

void trace_labels_destroy(const struct trace_labels *labels)
{
	trc_labels_unref(labels);
}

static inline const struct trace_labels *set(const struct trace_labels *labels)
{
	const struct trc_runtime *r = trc_keeper_now();

	return __builtin_expect(r != NULL, 0) ? r->labels_set(labels) : trc_labels_set(labels);
}

const struct trace_labels *trace_labels_set(const struct trace_labels *labels)
{
	return set(labels);
}

/* Any labels, whoever keeps what is in force. */
static __attribute__((noinline)) struct trace_labels_scope
enter_slow(const struct trace_label *label, size_t n)
{
	const struct trc_runtime *r = trc_keeper_now();
	const struct trace_labels *base = r ? r->labels_now() : trc_labels_in_force, *labels;
	struct trace_labels_scope scope = {NULL, false};

	labels = n == 1 ? trc_labels_scope_met(base, label) : NULL;
	if (labels)
		trc_api_clear();
	else if (labels_api_make(trc_labels_scope_begin, &labels, base, label, n))
		return scope;
	scope.before = set(labels);
	scope.entered = true;
	return scope;
}

struct trace_labels_scope trace_labels_enter(const struct trace_label *label, size_t n)
{
	const struct trace_labels *labels;

	if (__builtin_expect(n != 1 || trc_elsewhere != NULL, 0))
		return enter_slow(label, n);
	labels = trc_labels_scope_met(trc_labels_in_force, label);
	if (!labels)
		return enter_slow(label, n);
	trc_api_clear();
	return (struct trace_labels_scope){trc_labels_set(labels), true};
}

struct trace_labels_scope trace_labels_enter_unsigned(const char *key, uint64_t number)
{
	const struct trace_label label = {key, NULL, (int64_t)number, NULL};
	struct trace_labels_scope scope = {NULL, false};
	int saved_errno = errno;

	if (number <= INT64_MAX)
		return trace_labels_enter(&label, 1);
	explain(-ERANGE, &label, 1, 0);
	errno = saved_errno;
	return scope;
}

void trace_labels_leave(struct trace_labels_scope *scope)
{
	if (scope->entered)
		trc_labels_scope_end(set(scope->before));
	scope->entered = false;
}

/*
 * Two ways to learn that a call is left, as each sees what the other does not: the C library's
 * list of handlers (cancellation, pthread_exit(), longjmp()), and the unwinder's landing pad
 * (exceptions).  Cancellation may come by both.
 */
struct call {
	struct _pthread_cleanup_buffer handler;
	struct trace_labels_scope scope;
};

static void call_abandoned(void *scope)
{
	trace_labels_leave(scope);
}

static void call_left(struct call *call)
{
	if (call->scope.entered)
		_pthread_cleanup_pop(&call->handler, 1);
}

void trace_labels_do(const struct trace_labels *labels, void (*fn)(void *arg), void *arg)
{
	__attribute__((cleanup(call_left))) struct call call;

	call.scope.before = set(trace_labels_copy(labels));
	call.scope.entered = true;
	_pthread_cleanup_push(&call.handler, call_abandoned, &call.scope);
	fn(arg);
}
