/*
 * fuzz_sframe.c - sections .sframe that somebody damaged, or made up: a libFuzzer target.
 *
 * The first two bytes of an input are the distance of the address that is asked for from the section,
 * the rest is the section.  Its copy ends with the heap's block, so that the address sanitizer sees a
 * read beyond it.
 */
#include <stdlib.h>
#include <string.h>
#include "recorder/unwind/cache.h"
#include "recorder/unwind/sframe.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	struct trc_sframe_bytes section;
	struct trc_rule rule;
	uint8_t *copy;
	int16_t off;

	if (n_bytes <= sizeof(off))
		return 0;
	memcpy(&off, bytes, sizeof(off));
	n_bytes -= sizeof(off);
	copy = malloc(n_bytes);
	if (!copy)
		return 0;
	memcpy(copy, bytes + sizeof(off), n_bytes);
	section = (struct trc_sframe_bytes){copy, copy + n_bytes};
	if (trc_sframe_rule(&section, (uintptr_t)copy + (uintptr_t)off, &rule) == 0) {
		trc_short_make(&rule);
		if (rule.cfa.reg >= TRC_REGS || rule.ra.reg >= TRC_REGS || rule.fp.reg >= TRC_REGS)
			abort();
	}
	free(copy);
	return 0;
}
