/*
 * unwind.h - the calling thread's stack, as return addresses.
 *
 * A guest's unwinder: it runs inside other people's locks and signal handlers.  The unwinder never
 * allocates, locks, prints or changes errno.  It reads only memory that is known to be readable, so
 * a broken stack can only end a walk early.
 *
 *   unwind:U1  frame[0..n) are addresses, innermost first.  All are return addresses (the call lies
 *       before the address), except the addresses that a signal interrupted, which are exact: the
 *       first of trc_unwind_context(), and an address that follows the kernel's signal return
 *       trampoline
 *   unwind:U2  by rules, the result is a prefix of the true stack: frames that cannot be known are
 *       left out, never made up.  Where mode auto crosses code without rules, it may miss a caller
 *       that keeps no frame pointer, as mode fp does
 *   unwind:U3  each frame lies above the frame that it called, except across a signal frame
 *   unwind:U4  before trc_unwind_setup() every capture returns 0
 */
#ifndef TRC_RECORDER_UNWIND_UNWIND_H
#define TRC_RECORDER_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

enum { TRC_UNWIND_FRAMES_MAX = 128 + 16 }; /* a stack as it is kept, and trc's own frames */

enum trc_unwind_mode {
	TRC_UNWIND_AUTO,      /* as CFI; code without rules is crossed by its frame pointer
			       * where what is found there proves to be a return address */
	TRC_UNWIND_FP,	      /* frame pointers, from the first function that keeps one */
	TRC_UNWIND_LIBUNWIND, /* libunwind's unw_backtrace() */
	TRC_UNWIND_CFI,	      /* .eh_frame rules, cached */
	TRC_UNWIND_NONE,
};

/* The mode by its name in TRC_UNWIND and --unwind.  Returns false, and leaves *mode alone, for an
 * unknown name.  Context: any. */
bool trc_unwind_mode_parse(const char *name, enum trc_unwind_mode *mode);
const char *trc_unwind_mode_name(enum trc_unwind_mode mode);

/*
 * Chooses how stacks are captured from now on.  May be called again, also with another mode.
 * Returns 0 or -errno: then nothing is captured.  When it had to fall back to another mode
 * it returns 0 and *note says why (a constant; NULL = no fall back).
 * Context: any thread, may block; not signal safe.
 */
int trc_unwind_setup(enum trc_unwind_mode mode, const char **note);

/*
 * Tells the bounds of the calling thread's stack, which saves a check by system call at each
 * capture.  Called at the start of a thread, before it changes to another stack; the main
 * thread needs none.  `stack_bytes` is what the thread's attributes say; 0 = not known.
 * Context: the thread itself.
 */
void trc_unwind_thread(size_t stack_bytes);

/*
 * Captures the calling thread's stack into frame[0..max).  Say trc_unwind() is called by A, A by
 * B, B by C: with `skip` 0 the first frame is the address in B that A returns to; with `skip` 1
 * the one in C.  At most TRC_UNWIND_FRAMES_MAX are captured.  Returns the number of frames.
 * Not to be called in tail position: a jump leaves no frame of A.
 *
 * Context: traced thread, signal handlers.  Mode libunwind excepted: at the first sight of an
 * address it takes the dynamic linker's lock, which a handler may have interrupted.
 */
uint32_t trc_unwind(uint64_t *frame, uint32_t max, uint32_t skip);

/* Registers of a frame of the calling thread's, as they are once its callee has returned. */
struct trc_unwind_start {
	uintptr_t pc, sp, fp;
};

/* The registers of the caller of the function that this macro stands in; the function must not be
 * inlined. */
#define TRC_UNWIND_CALLER()                                                                        \
	((struct trc_unwind_start){(uintptr_t)__builtin_return_address(0),                         \
				   (uintptr_t)__builtin_dwarf_cfa(),                               \
				   *(const volatile uintptr_t *)__builtin_frame_address(0)})

/*
 * Captures the calling thread's stack from a given frame on, which is frame[0].  Mode libunwind
 * captures the whole stack, and frame[0] is a frame of trc's.  Otherwise as trc_unwind().
 */
uint32_t trc_unwind_from(const struct trc_unwind_start *start, uint64_t *frame, uint32_t max);
/* True if captures take pthread mutexes, as libunwind's do.  Context: any. */
bool trc_unwind_takes_locks(void);

/*
 * The stack that a signal interrupted: `ucontext` is the third argument of an SA_SIGINFO handler.
 * The first frame is the interrupted instruction.  Mode libunwind captures as auto does.
 * Context: signal handlers of the interrupted thread.
 */
uint32_t trc_unwind_context(const void *ucontext, uint64_t *frame, uint32_t max);

/*
 * Shortens a stack that has more frames than are kept.  frame[0..TRC_STACK_DEPTH_MAX) are its
 * innermost frames, taken by the same function just before: by trc_unwind() with `skip` 0, the
 * first `before` frames left out, or, where `ucontext` is not NULL, by trc_unwind_context().  If
 * the stack has more frames, TRC_FRAMES_ELIDED and the TRC_STACK_OUTERMOST outermost frames take
 * the place of the last of these frames.  A walk that does not reach the outermost frame in
 * TRC_UNWIND_WALK_MAX frames, or without more than TRC_COPIES_MAX copies of memory (memory.h), leaves the
 * outermost frames out: then TRC_FRAMES_ELIDED comes last.
 * Context: traced thread, signal handlers.
 */
enum { TRC_UNWIND_WALK_MAX = 4096 };
void trc_unwind_elide(const void *ucontext, uint64_t *frame, uint32_t before);
/* trc_unwind_elide() for a stack taken by trc_unwind_from(), with the same start. */
void trc_unwind_elide_from(const struct trc_unwind_start *start, uint64_t *frame, uint32_t before);

/*
 * The stack of another thread, from a frame on that stays meanwhile.  The caller checks before and
 * after the call that the frame has stayed; if not, the result is worth nothing.  The thread may go
 * on, and its stack may be unmapped, all the same: the kernel copies the memory that is read
 * (memory:M2).  Mode libunwind captures as auto does.  Context: any thread that records.
 */
uint32_t trc_unwind_other(const struct trc_unwind_start *start, uint64_t *frame, uint32_t max);
/* As trc_unwind_elide_from(), of a stack taken by trc_unwind_other(). */
void trc_unwind_elide_other(const struct trc_unwind_start *start, uint64_t *frame, uint32_t before);

/*
 * As trc_unwind_other(), and tells whether frames are missing.  Walks by unwind rules alone; in
 * modes fp and none finds nothing. start->fp 0: the frame pointer is not known, and is not guessed.
 * *is_whole: the last frame is the outermost; otherwise the walk ended for want of a rule or a
 * register, or at `max`, which may be up to TRC_UNWIND_WALK_MAX. *copied (memory.h) has the part of
 * the stack that the caller has copied already, and room.
 */
struct trc_copied;
uint32_t trc_unwind_whole(const struct trc_unwind_start *start, struct trc_copied *copied,
			  uint64_t *frame, uint32_t max, bool *is_whole);

/*
 * Forgets what is known about addresses: they may now belong to another module.  To be called after
 * every dlclose() and every dlopen(): a loaded object may lie where another thread has just
 * unloaded an object, without having called this function yet.  Context: any thread, may block; not
 * signal safe.
 */
void trc_unwind_modules_changed(void);

#endif
