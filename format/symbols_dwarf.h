/*
 * symbols_dwarf.h - functions, inlined calls and lines by address, from DWARF.
 *
 * .debug_aranges is optional (clang leaves it out), so units are found by their own
 * ranges, and the functions of a unit are listed when an address first falls in it.
 */
#ifndef TRC_FORMAT_SYMBOLS_DWARF_H
#define TRC_FORMAT_SYMBOLS_DWARF_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

struct trc_dwarf;

/* What DWARF says of one frame; strings live as long as the Dwarf.  As struct trc_symbol,
 * but names are as they stand there: `linkage` is set where it differs from `function`.  A C++ function
 * without has the names of its scopes before its own, which `linkage` is then. */
struct trc_dwarf_frame {
	const char *function, *linkage, *file;
	const char *directory; /* in which the file was compiled */
	uint32_t line, start_line;
};

/* `dwarf` is borrowed.  0 or -ENOMEM. */
int trc_dwarf_open(struct trc_dwarf **out, Dwarf *dwarf);
void trc_dwarf_close(struct trc_dwarf *d);
/* Frames of this ELF address, innermost first, at most `room` > 0; 0 = DWARF knows nothing.
 * One frame without `function` when only the line is known. */
size_t trc_dwarf_find(struct trc_dwarf *d, uint64_t address, struct trc_dwarf_frame *out,
		      size_t room);

/*
 * What a call that returns to this ELF address has entered and left for good: functions that ended in
 * a jump to another one, as optimized code does where the last thing is a call, have no frame.  Gives
 * the ELF address of each jump, innermost first; of the function's beginning if several could be it.
 * The innermost has jumped to code that is not of its unit.  At most `room`; 0 = the call was none to
 * such a function, or nobody knows.
 */
size_t trc_dwarf_tail_calls(struct trc_dwarf *d, uint64_t return_address, uint64_t *out,
			    size_t room);

#endif
