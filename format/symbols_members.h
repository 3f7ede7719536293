/*
 * symbols_members.h - which member of a variable lies at an address, by the variable's type in
 * DWARF: ".gil.cond", "[3].lock".
 *
 *   symbols_members:M1  nothing in the file is believed: circular or very long chains of types are
 *       followed for a bounded number of steps
 *   symbols_members:M2  a file's variables are listed at the first question.  Variables within
 *       functions are listed at the first question that the other variables do not answer.  The
 *       number of entries read is bounded
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
 * The member that lies *offset bytes into the variable at this ELF address, as written behind the
 * variable's name; "" = not known.  *offset becomes the offset in the member.  Valid until
 * trc_members_close(); never NULL.
 */
const char *trc_members_find(struct trc_members *m, uint64_t variable, uint64_t *offset);

#endif
