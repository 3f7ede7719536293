/*
 * cfi.h - from the bytes of .eh_frame_hdr and .eh_frame to the rule for one address.
 *
 * Believes none of the bytes: every byte is fetched within the bounds given, every loop ends with
 * the bytes that feed it.  Uses less than 1 kB of stack: signal stacks are small.
 */
#ifndef TRC_RECORDER_UNWIND_CFI_H
#define TRC_RECORDER_UNWIND_CFI_H

#include "rule.h"

/* Borrowed for the call: readable memory that holds the header (from `hdr`), its table and the
 * .eh_frame that it points to. */
struct trc_cfi_bytes {
	const uint8_t *start;
	const uint8_t *end;
	const uint8_t *hdr;
};

/*
 * The rule for `pc`.
 *
 *   0         *rule is set; its kind is STEP or END
 *   -ENOENT   no rules cover pc
 *   -EBADMSG  the bytes are malformed
 *   -ENOTSUP  well formed, but in an encoding that no linker writes for us
 *
 * On failure *rule is undefined.  Context: traced thread, signal handlers.
 */
int trc_cfi_rule(const struct trc_cfi_bytes *bytes, uintptr_t pc, struct trc_rule *rule);

/* As trc_cfi_rule(); also stores in *place where the caller's value of `reg` is, for registers that
 * a rule does not hold.  Context: traced thread, signal handlers. */
int trc_cfi_register(const struct trc_cfi_bytes *bytes, uintptr_t pc, uint32_t reg,
		     struct trc_rule *rule, struct trc_place *place);

#endif
