/*
 * signal_frame.c - moves the frame that the kernel has pushed for a handler (signal_own.h).
 *
 * The kernel reads the frame when the handler returns, and debuggers and unwinders look for the
 * frame behind the handler.  So the whole frame is copied, as the kernel lays it out:
 *
 *   return address | the kernel's ucontext | siginfo       ...       the state of wide registers
 *
 * Context: signal handlers, all signals blocked.
 */
#include <string.h>
#include "format/raw.h"
#include "signal_own.h"
#include "recorder/unwind/memory.h"
#include "recorder/unwind/poison.h"

#ifdef __x86_64__
enum {
	RED_ZONE = 128,
	CONTEXT_BYTES = 304, /* the kernel's, which is shorter than libc's */
	FRAME_BYTES = 8 + CONTEXT_BYTES + 128,
	CALLS_BYTES = 512, /* what the entry needs before the handler runs */
	/* Of the state of wide registers: the part that there always is, and what is said in it. */
	LEGACY_BYTES = 512,
	SAID_OFF = 464,
	SAID_MAGIC = 0x46505853, /* FP_XSTATE_MAGIC1 */
	PAGE = 4096
};

static bool frame_is_within(const stack_t *stack, uintptr_t at, size_t n_bytes)
{
	uintptr_t off = at - (uintptr_t)stack->ss_sp;

	return off <= stack->ss_size && n_bytes <= stack->ss_size - off;
}

/* Of the state at `state`; 0 if it is none that we know. */
static size_t state_bytes(uintptr_t state, const stack_t *stack)
{
	struct {
		uint32_t magic, n_bytes;
	} said;

	if (!frame_is_within(stack, state, LEGACY_BYTES))
		return 0;
	memcpy(&said, (const void *)(state + SAID_OFF), sizeof(said));
	if (said.magic != SAID_MAGIC)
		return LEGACY_BYTES;
	return said.n_bytes >= LEGACY_BYTES && said.n_bytes % 4 == 0 &&
			       frame_is_within(stack, state, said.n_bytes)
		       ? said.n_bytes
		       : 0;
}

/* What lies there is dead: the kernel is made to write to each page, as it would have. */
static bool is_writable(uintptr_t lo, uintptr_t hi)
{
	for (uintptr_t at = hi - 8; at > lo; at = at - lo > PAGE ? at - PAGE : lo)
		if (trc_raw4(SYS_rt_sigprocmask, SIG_BLOCK, 0, at, 8))
			return false;
	return !trc_raw4(SYS_rt_sigprocmask, SIG_BLOCK, 0, lo, 8);
}

static TRC_NO_SANITIZE void frame_copy(uintptr_t to, uintptr_t from, size_t n_bytes)
{
	for (size_t off = 0; off + 4 <= n_bytes; off += 4)
		*(volatile uint32_t *)(to + off) = *(const volatile uint32_t *)(from + off);
}

bool trc_signal_frame_move(struct trc_signal_call *call)
{
	const ucontext_t *context = call->context;
	const stack_t *stack = &context->uc_stack;
	uintptr_t sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
	uintptr_t from = call->frame, from_state = (uintptr_t)context->uc_mcontext.fpregs;
	size_t n_bytes = state_bytes(from_state, stack);
	uintptr_t state = (sp - RED_ZONE - n_bytes) & ~(uintptr_t)63;
	uintptr_t to = ((state - FRAME_BYTES) & ~(uintptr_t)15) - 8;

	/* On that stack already, or not as we know it. */
	if (!n_bytes || frame_is_within(stack, sp, 0) ||
	    !frame_is_within(stack, from, FRAME_BYTES) || (uintptr_t)context != from + 8 ||
	    (uintptr_t)call->info != from + 8 + CONTEXT_BYTES ||
	    !is_writable(to - CALLS_BYTES, sp - RED_ZONE))
		return false;
	frame_copy(state, from_state, n_bytes);
	frame_copy(to, from, FRAME_BYTES);
	call->frame = to;
	call->context = (void *)(to + 8);
	call->info = (siginfo_t *)(to + 8 + CONTEXT_BYTES);
	((ucontext_t *)call->context)->uc_mcontext.fpregs = (fpregset_t)state;
	return true;
}
#else
bool trc_signal_frame_move(struct trc_signal_call *call)
{
	return false;
}
#endif
