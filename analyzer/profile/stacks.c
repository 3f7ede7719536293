/* stacks.c - which frames of a stack are the program's own (profile:L4). */
#include <string.h>
#include "profile.h"
#include "format/module_owner.h"

/* Modules whose innermost frames are how a program waits, not why (profile:L4). */
static enum trc_module_owner frame_owner(const struct trc_stacks *stacks, const struct trc_model *m,
					 uint32_t at)
{
	const struct trc_frame *frame = &stacks->frame[stacks->stack_frame[at] - 1];
	const struct trc_module_entry *module =
		frame->module ? trc_reader_module(trc_model_reader(m), frame->module) : NULL;

	return trc_module_owner(module ? module->path : NULL);
}

size_t trc_profile_skip(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack)
{
	uint32_t first, n, n_trc = 0;
	bool only_trc = true;

	if (stack >= stacks->n_stacks)
		return 0;
	first = stacks->stack_first[stack];
	n = stacks->stack_first[stack + 1] - first;
	for (uint32_t i = 0; i < n; i++) {
		enum trc_module_owner owner = frame_owner(stacks, m, first + i);

		if (owner == TRC_OWNER_PROGRAM)
			return i;
		only_trc = only_trc && owner == TRC_OWNER_TRC;
		if (only_trc)
			n_trc = i + 1;
	}
	return n_trc < n ? n_trc : 0;
}

size_t trc_profile_skip_trc(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack)
{
	uint32_t first, n, i = 0;

	if (stack >= stacks->n_stacks)
		return 0;
	first = stacks->stack_first[stack];
	n = stacks->stack_first[stack + 1] - first;
	while (i < n && frame_owner(stacks, m, first + i) == TRC_OWNER_TRC)
		i++;
	return i < n ? i : 0;
}

/* Where the process began: what called __libc_start_main(), which may have no name. */
static bool is_start(const struct trc_stacks *stacks, uint32_t first, uint32_t at)
{
	static const char MAIN[] = "__libc_start_main";
	const uint32_t *id = stacks->stack_frame;
	const struct trc_frame *frame = &stacks->frame[id[at] - 1];
	const struct trc_frame *called = at > first ? &stacks->frame[id[at - 1] - 1] : NULL;

	if (frame->function)
		return !strcmp(frame->function, "_start");
	return called && called->function && !strncmp(called->function, MAIN, sizeof(MAIN) - 1);
}

size_t trc_profile_limit(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack)
{
	uint32_t first, n;

	if (stack >= stacks->n_stacks)
		return 0;
	first = stacks->stack_first[stack];
	n = stacks->stack_first[stack + 1] - first;
	for (uint32_t i = n; i > 0; i--)
		if (frame_owner(stacks, m, first + i - 1) == TRC_OWNER_PROGRAM &&
		    !is_start(stacks, first, first + i - 1))
			return i;
	return n;
}

/* "/usr/bin/../lib/gcc" is /usr/lib/gcc: clang calls its headers so.  Cut if it is too long. */
static void plain_path(char *out, size_t n_bytes, const char *path)
{
	size_t n = 0;

	while (*path) {
		size_t length = 1 + strcspn(path + 1, "/"); /* with the slash before it */

		if (length == 3 && !strncmp(path, "/..", 3))
			while (n && out[--n] != '/')
				;
		else if (!(length == 2 && !strncmp(path, "/.", 2)) && n + length < n_bytes) {
			memcpy(out + n, path, length);
			n += length;
		}
		path += length;
	}
	out[n] = '\0';
}

/*
 * "std::sync::Once::call", or Rust's "<std::io::Stdout as core::fmt::Write>::write", of which both are of the library.
 * Rust's function that runs the program's main() or a thread's closure mostly has it inlined: it is the program's.
 */
static bool has_name_of_the_system(const char *function)
{
	static const char *const names[] = {"std::", "__gnu_cxx::", "core::", "alloc::"};
	const char *trait = *function == '<' ? strstr(function, " as ") : NULL;

	if (strstr(function, "::__rust_begin_short_backtrace"))
		return false;
	function += *function == '<';
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(function, names[i], strlen(names[i])))
			return !trait || has_name_of_the_system(trait + strlen(" as "));
	return false;
}

/* Code that the program has from headers of the system, or from the library of its language. */
static bool is_of_the_system(const struct trc_frame *frame)
{
	static const char *const directories[] = {
		"/usr/include/", "/usr/lib/", "/usr/local/include/", "/rustc/",
		/* of Rust's own objects, from where they were made */
		"library/std/src/", "library/core/src/", "library/alloc/src/"};
	char path[512];

	if (frame->file)
		plain_path(path, sizeof(path), frame->file);
	for (size_t i = 0; frame->file && i < sizeof(directories) / sizeof(*directories); i++)
		if (!strncmp(path, directories[i], strlen(directories[i])))
			return true;
	return !frame->file && frame->function && has_name_of_the_system(frame->function);
}

/* The function of a frame of HotSpot; NULL = it is another's, or not known. */
static const char *hotspot_function(const struct trc_stacks *stacks, const struct trc_model *m,
				    uint32_t at)
{
	static const char LIBRARY[] = "/libjvm.so";
	const struct trc_frame *frame = &stacks->frame[stacks->stack_frame[at] - 1];
	const struct trc_module_entry *module =
		frame->function && frame->module
			? trc_reader_module(trc_model_reader(m), frame->module)
			: NULL;
	size_t n_bytes = module && module->path ? strlen(module->path) : 0;

	if (n_bytes < sizeof(LIBRARY) - 1 ||
	    strcmp(module->path + n_bytes - (sizeof(LIBRARY) - 1), LIBRARY) != 0)
		return NULL;
	return frame->function;
}

static bool begins_with(const char *text, const char *const *with, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(text, with[i], strlen(with[i])))
			return true;
	return false;
}

/* How HotSpot waits and wakes, below what was asked for: synchronized is then complete_monitor_locking_C() or monitorenter(),
 * Object.wait() is JVM_MonitorWait(), LockSupport.park() is Unsafe_Park(). */
static bool is_of_hotspot(const struct trc_stacks *stacks, const struct trc_model *m, uint32_t at)
{
	static const char *const NAMES[] = {"ObjectMonitor::",
					    "ObjectSynchronizer::",
					    "os::PlatformEvent::",
					    "PlatformEvent::",
					    "os::PlatformMonitor::",
					    "PlatformMonitor::",
					    "os::PlatformMutex::",
					    "PlatformMutex::",
					    "Mutex::",
					    "Monitor::",
					    "MutexLocker::",
					    "MonitorLocker::",
					    "Parker::",
					    "PosixSemaphore::",
					    "Semaphore::",
					    "JavaThread::sleep",
					    "os::sleep"};
	const char *function = hotspot_function(stacks, m, at);

	return function && begins_with(function, NAMES, sizeof(NAMES) / sizeof(*NAMES));
}

bool trc_profile_is_hotspot_event(const struct trc_stacks *stacks, const struct trc_model *m,
				  uint32_t stack)
{
	static const char *const NAMES[] = {"os::PlatformEvent::park", "PlatformEvent::park"};
	uint32_t at = stack < stacks->n_stacks ? stacks->stack_first[stack] : 0;
	uint32_t end = stack < stacks->n_stacks ? stacks->stack_first[stack + 1] : 0;
	const char *function;

	while (at < end && frame_owner(stacks, m, at) != TRC_OWNER_PROGRAM)
		at++;
	function = at < end ? hotspot_function(stacks, m, at) : NULL;
	return function && begins_with(function, NAMES, sizeof(NAMES) / sizeof(*NAMES));
}

/* std::thread::join(), inlined into the program, may have been called by libc, through pthread_once(). */
static bool frame_is_own(const struct trc_stacks *stacks, const struct trc_model *m, uint32_t at)
{
	return frame_owner(stacks, m, at) == TRC_OWNER_PROGRAM &&
	       !is_of_the_system(&stacks->frame[stacks->stack_frame[at] - 1]) &&
	       !is_of_hotspot(stacks, m, at);
}

bool trc_profile_is_trc(const struct trc_stacks *stacks, const struct trc_model *m, uint32_t at)
{
	return frame_owner(stacks, m, at) == TRC_OWNER_TRC;
}

size_t trc_profile_own(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack,
		       size_t *end)
{
	size_t skip = trc_profile_skip(stacks, m, stack),
	       limit = trc_profile_limit(stacks, m, stack);
	size_t first = skip;
	uint32_t base;

	*end = limit;
	if (limit <= skip) {
		*end = skip;
		return skip;
	}
	base = stacks->stack_first[stack];
	while (first < *end && !frame_is_own(stacks, m, base + (uint32_t)first))
		first++;
	while (*end > first && !frame_is_own(stacks, m, base + (uint32_t)*end - 1))
		--*end;
	if (first < *end)
		return first;
	*end = limit;
	return skip;
}
