/* profile_stacks.c - which frames of a stack are the program's own (profile.h, L4). */
#include <fnmatch.h>
#include <string.h>
#include "analyzer/profile.h"

/* Modules whose innermost frames are how a program waits, not why (L4). */
static const char *const TRC_OBJECTS[] = {"libtrc.so*", "libtrc-*.so*", "libtrc_*.so*"};
static const char *const LIBRARIES[] = {
	"libc.so*",	 "libc-*.so*", "libpthread.so*", "libpthread-*.so*", "librt.so*",
	"librt-*.so*",	 "ld-*.so*",   "ld.so*",	 "libc.musl-*",	     "ld-musl-*",
	"libstdc++.so*", "libc++.so*", "libc++abi.so*",
};

static bool name_in(const char *name, const char *const *pattern, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(pattern[i], name, 0))
			return true;
	return false;
}

enum owner { OWNER_PROGRAM, OWNER_LIBRARY, OWNER_TRC };

static enum owner module_owner(const struct trc_module_entry *module)
{
	const char *slash, *name;

	if (!module || !module->path)
		return OWNER_PROGRAM;
	slash = strrchr(module->path, '/');
	name = slash ? slash + 1 : module->path;
	if (name[0] != 'l') /* all of them begin so */
		return OWNER_PROGRAM;
	if (name_in(name, TRC_OBJECTS, sizeof(TRC_OBJECTS) / sizeof(*TRC_OBJECTS)))
		return OWNER_TRC;
	if (name_in(name, LIBRARIES, sizeof(LIBRARIES) / sizeof(*LIBRARIES)))
		return OWNER_LIBRARY;
	return OWNER_PROGRAM;
}

static enum owner frame_owner(const struct trc_stacks *stacks, const struct trc_model *m,
			      uint32_t at)
{
	const struct trc_frame *frame = &stacks->frame[stacks->stack_frame[at] - 1];

	if (!frame->module)
		return OWNER_PROGRAM;
	return module_owner(trc_reader_module(trc_model_reader(m), frame->module));
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
		enum owner owner = frame_owner(stacks, m, first + i);

		if (owner == OWNER_PROGRAM)
			return i;
		only_trc = only_trc && owner == OWNER_TRC;
		if (only_trc)
			n_trc = i + 1;
	}
	return n_trc < n ? n_trc : 0;
}

size_t trc_profile_limit(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack)
{
	uint32_t first, n;

	if (stack >= stacks->n_stacks)
		return 0;
	first = stacks->stack_first[stack];
	n = stacks->stack_first[stack + 1] - first;
	for (uint32_t i = n; i > 0; i--) {
		const struct trc_frame *frame =
			&stacks->frame[stacks->stack_frame[first + i - 1] - 1];

		if (frame_owner(stacks, m, first + i - 1) == OWNER_PROGRAM &&
		    !(frame->function && !strcmp(frame->function, "_start")))
			return i;
	}
	return n;
}
