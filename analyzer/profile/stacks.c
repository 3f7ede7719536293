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

		if (frame_owner(stacks, m, first + i - 1) == TRC_OWNER_PROGRAM &&
		    !(frame->function && !strcmp(frame->function, "_start")))
			return i;
	}
	return n;
}
