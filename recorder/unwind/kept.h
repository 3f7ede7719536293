/*
 * kept.h - a stack that was met before is found again without being walked.
 *
 * The result of a walk (walk.h) depends only on the registers that the walk starts from, the words
 * of the stack, the unwind rules, and the bounds of the stack.  A kept stack lists the words that
 * its walk read and used, with their values, and the number by which its owner knows the result.
 * If all of these are unchanged, a walk would take the same steps and find the same return
 * addresses: so the words are compared, and nothing is walked.  (A walk by frame pointers takes
 * more steps by rules while rules are not cached yet.  The result with cached rules is kept.)
 *
 *   kept:K1  all that a walk depends on is compared: - the program counter that it starts from, and
 *         the frame pointer if a step used it - the depth of the stack: an address beyond the end
 *         of the stack is beyond it again - the walk's mode and the epoch of the module list: the
 *         rules of an address change only with the epoch (cache:H3) - each return address, and each
 *         saved frame pointer that a step used Nothing is taken to be unchanged because it should
 *         be.  So changes of stacks need not be told: longjmp(), alloca(), a switch of stacks, a
 *         new thread on an old stack
 *   kept:K2  places on the stack, and frame pointers, are kept relative to the stack pointer that
 *       the walk starts from.  All conditions of the walk compare such values with one another, or
 *       with the depth: so what one thread kept is also true of another thread
 *   kept:K3  only walks that depend on nothing else, or on what K6 says, are kept: by rules in short (cache.h)
 *       or by frame pointers, on a stack whose bounds are known, up to a frame that the rules or the
 *       frame pointers say is the outermost.  A walk that crosses a signal frame or an expression
 *       is never kept, nor one that was cut
 *   kept:K4  an entry changes only while its `seq` is odd.  A thread that compares reads `seq`
 *       before and after; a thread that finds `seq` odd does not wait.  The same rules hold for a
 *       signal handler that interrupts a change or a comparison
 *   kept:K5  an offset is checked against the depth before the stack is read there, as the entry
 *       may be changing meanwhile
 *   kept:K6  a walk that crosses code without rules also depends on that code: that there are no rules, and that
 *       a call lies before the return address that the frame pointer leads to.  It is found CROSSING_USES
 *       times, and then walked anew.  Meanwhile a walk could end otherwise only where the same words of the
 *       stack are no frames, and other code lies where they point: code to which a thread is yet to
 *       return does not change (module:O2)
 */
#ifndef TRC_RECORDER_UNWIND_KEPT_H
#define TRC_RECORDER_UNWIND_KEPT_H

#include <stdint.h>
#include "unwind.h"

/*
 * The number of the stack that trc_unwind_from() would find from `start`, if it was kept with this
 * `tag`; 0 = it was not, or has been dropped.  A tag says how long numbers are valid: the owner
 * changes the tag when all numbers change.  Context: traced thread, signal handlers.
 */
uint64_t trc_kept_find(const struct trc_unwind_start *start, uint64_t tag);

/*
 * `frame[0..n)`, all frames that trc_unwind_from() has just found from `start`, are stack `number`,
 * not 0.  A stack is kept when it is met for the second time.  The return address frame[telling] is
 * one by which stacks of this depth are likely to differ.  Context: traced thread, signal handlers.
 */
void trc_kept_add(const struct trc_unwind_start *start, uint64_t tag, uint64_t number,
		  const uint64_t *frame, uint32_t n, uint32_t telling);

/* Drops a found number that is no longer valid.  Context: as above. */
void trc_kept_drop(const struct trc_unwind_start *start, uint64_t number);

/* Maps the table, once.  Returns 0 or -errno: then nothing is kept.  Context: any thread, may block,
 * one at a time. */
int trc_kept_setup(void);

#endif
