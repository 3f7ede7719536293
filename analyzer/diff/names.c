/* names.c - names by which rows of different traces are found to be the same (diff:D1). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "analyzer/model/process.h"
#include "analyzer/profile/profile.h"
#include "format/path.h"

/* Longer names are cut: they may be anything. */
#define NAME "%.300s"

/* asprintf() that has NULL without memory. */
static char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *text(const char *format, ...)
{
	va_list args;
	char *out;
	int n;

	va_start(args, format);
	n = vasprintf(&out, format, args);
	va_end(args);
	return n < 0 ? NULL : out;
}

/* Where the function begins in its module is its name in traces of one build. */
static char *nameless(const struct trc_diff_names *names, const struct trc_frame *frame,
		      const struct trc_module_entry *module)
{
	uint64_t start = names->stacks->origin[frame - names->stacks->frame].start;
	char name[TRC_PROGRAM_NAME_BYTES];

	trc_module_name(name, trc_model_reader(names->m), module);
	if (names->by_place && start)
		return text(NAME "+0x%" PRIx64, name, start - module->load_bias);
	return text("functions without names in " NAME, name);
}

/* The innermost frame that is the program's own. */
char *trc_diff_function_name(const struct trc_diff_names *names, uint32_t stack)
{
	const struct trc_stacks *stacks = names->stacks;
	size_t end, first = trc_profile_own(stacks, names->m, stack, &end);
	const struct trc_module_entry *module;
	const struct trc_frame *frame;
	char name[TRC_PROGRAM_NAME_BYTES];

	if (first >= end)
		return strdup("(no stack)");
	frame = &stacks->frame[stacks->stack_frame[stacks->stack_first[stack] + first] - 1];
	module =
		frame->module ? trc_reader_module(trc_model_reader(names->m), frame->module) : NULL;
	if (frame->function && (frame->file || module))
		return text(NAME " " NAME, frame->function,
			    frame->file
				    ? trc_path_name(frame->file)
				    : trc_module_name(name, trc_model_reader(names->m), module));
	if (frame->function)
		return text(NAME, frame->function);
	return module ? nameless(names, frame, module) : strdup("code outside of modules");
}

char *trc_diff_cpu_name(const struct trc_diff_names *names, uint32_t stack, const char *threads)
{
	char *function = trc_diff_function_name(names, stack), *name = NULL;

	if (function)
		name = text("%s (%s)", function, threads);
	free(function);
	return name;
}

char *trc_diff_threads_name(const struct trc_diff_names *names, uint32_t thread)
{
	const struct trc_thread *t = trc_model_thread(names->m, thread);
	char *name = strndup(t && *t->name ? t->name : "threads without a name", 100);
	size_t n = 0;

	for (const char *at = name; at && *at;) {
		size_t digits = strspn(at, "0123456789");

		name[n++] = *at;
		if (digits)
			name[n - 1] = '*';
		at += digits ? digits : 1;
	}
	if (name)
		name[n] = '\0';
	return name;
}

/* One name for the ways to wait for an object. */
static const char *kind_name(unsigned int reason)
{
	switch (reason) {
	case TRC_REASON_COND_MUTEX:
		return trc_reason_name(TRC_REASON_MUTEX);
	case TRC_REASON_RWLOCK_READ:
	case TRC_REASON_RWLOCK_WRITE:
		return "rwlock";
	default:
		return trc_reason_name(reason);
	}
}

/* "mutex settings.lock", or NULL: it is not in a variable.  What lies where in a variable is the same
 * in one build only, but for members with names. */
static char *variable_name(const struct trc_diff_names *names, unsigned int reason, uint64_t object,
			   uint32_t stack)
{
	uint64_t offset;
	const char *variable = object ? trc_model_variable(names->m, object, stack, &offset) : NULL;
	const char *member;

	if (!variable)
		return NULL;
	member = trc_model_member(names->m, object, stack, &offset);
	if (offset && names->by_place)
		return text("%s " NAME NAME "+%" PRIu64, kind_name(reason), variable, member,
			    offset);
	return text("%s " NAME NAME, kind_name(reason), variable, member);
}

char *trc_diff_wait_name(const struct trc_diff_names *names, const struct trc_park *park)
{
	char *name = variable_name(names, park->reason, park->object, park->stack), *function;

	if (name)
		return name;
	function = trc_diff_function_name(names, park->stack);
	name = function ? text("%s at %s", kind_name(park->reason), function) : NULL;
	free(function);
	return name;
}

char *trc_diff_section_name(const struct trc_diff_names *names, const struct trc_unlock *unlock)
{
	char *lock = variable_name(names, unlock->reason, unlock->object, unlock->stack);
	char *function = trc_diff_function_name(names, unlock->stack), *name = NULL;

	if (function)
		name = text("%s, %s", function, lock ? lock : kind_name(unlock->reason));
	free(lock);
	free(function);
	return name;
}
