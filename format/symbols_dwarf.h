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

/* What DWARF says of one frame; strings live as long as the Dwarf.  As struct trc_symbol, but names
 * are as DWARF has them: `linkage` is set where it differs from `function`.  A C++ function without
 * a linkage name gets its scopes' names before its own name; `linkage` is then its own name. */
struct trc_dwarf_frame {
	const char *function, *linkage, *file;
	const char *directory; /* in which the file was compiled */
	uint32_t line, start_line;
};

/* `dwarf` is borrowed.  0 or -ENOMEM. */
int trc_dwarf_open(struct trc_dwarf **out, Dwarf *dwarf);
void trc_dwarf_close(struct trc_dwarf *d);
/* Frames at this ELF address, innermost first, at most `room` > 0; 0 = DWARF knows nothing.  If
 * only the line is known, there is one frame without `function`. */
size_t trc_dwarf_find(struct trc_dwarf *d, uint64_t address, struct trc_dwarf_frame *out,
		      size_t room);

/*
 * The tail calls behind the call that returns to this ELF address.  Optimized code may end a
 * function in a jump to another function; the function that jumped has no frame.  Stores the ELF
 * address of each jump, innermost first.  If several jumps are possible, stores the address of the
 * jumping function's beginning.  The innermost jump leads to code outside of its unit.  Stores at
 * most `room` addresses; 0 = the call entered no such function, or the functions are not known.
 */
size_t trc_dwarf_tail_calls(struct trc_dwarf *d, uint64_t return_address, uint64_t *out,
			    size_t room);

#endif
