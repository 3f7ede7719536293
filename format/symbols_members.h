/*
 * symbols_members.h - which member of a variable lies at an address, as DWARF has its type:
 * ".gil.cond", "[3].lock".
 *
 *   symbols_members:M1  nothing of the file is believed: types that go in circles, or on for long,
 *       are followed for a bounded number of steps
 *   symbols_members:M2  a file's variables are listed when the first one is asked for, those within
 *       functions when one is asked for that is not among the others; at most so many entries are
 *       looked at
 *   symbols_members:M3  answers are kept: asking again costs one look-up
 */
#ifndef TRC_FORMAT_SYMBOLS_MEMBERS_H
#define TRC_FORMAT_SYMBOLS_MEMBERS_H

#include <elfutils/libdw.h>
#include <stdint.h>

struct trc_members;

/* `dwarf` is borrowed.  NULL = no memory. */
struct trc_members *trc_members_open(Dwarf *dwarf);
void trc_members_close(struct trc_members *m); /* accepts NULL */
/*
 * The member that lies *offset bytes into the variable at this ELF address, as one writes it behind
 * the variable's name; "" if that is not known.  *offset becomes that into the member.  Valid until
 * trc_members_close(); never NULL.
 */
const char *trc_members_find(struct trc_members *m, uint64_t variable, uint64_t *offset);

#endif
