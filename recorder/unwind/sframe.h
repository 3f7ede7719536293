/*
 * sframe.h - from the bytes of a section .sframe to the rule for one address.
 *
 * Version 3 of the format (binutils 2.46) and version 2 (2.41).  Believes none of the bytes, as
 * cfi.h does.
 */
#ifndef TRC_RECORDER_UNWIND_SFRAME_H
#define TRC_RECORDER_UNWIND_SFRAME_H

#include "rule.h"

/* Borrowed for the call: readable memory that holds the section, from its header on. */
struct trc_sframe_bytes {
	const uint8_t *start; /* NULL = there is none */
	const uint8_t *end;
};

/*
 * The rule for `pc`.
 *
 *   0         *rule is set; its kind is STEP or END
 *   -ENOENT   no row covers pc
 *   -EBADMSG  the bytes are malformed
 *   -ENOTSUP  well formed, but of a version, a processor or a kind that is not read
 *
 * On failure *rule is undefined.  Context: traced thread, signal handlers.
 */
int trc_sframe_rule(const struct trc_sframe_bytes *bytes, uintptr_t pc, struct trc_rule *rule);

#endif
