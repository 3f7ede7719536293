/*
 * symbols_types.h - from a type and an offset to the member there; see symbols_members.h (M1).
 */
#ifndef TRC_FORMAT_SYMBOLS_TYPES_H
#define TRC_FORMAT_SYMBOLS_TYPES_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

enum { TRC_MEMBER_BYTES = 160 };

/* The path to a member: ".gil.cond"; and the rest of the offset within the member. */
struct trc_member {
	char text[TRC_MEMBER_BYTES];
	size_t n_bytes;
	uint64_t offset;
	uint64_t parts_left; /* how many parts of classes are still looked at (M1) */
};

/*
 * Follows the type of this variable to the member at member->offset: through classes, their bases,
 * unions and arrays, down to a type without members that a program would name, such as a
 * pthread_mutex_t.  Private members of a C++ library (_M_mutex) are followed but not named.
 */
void trc_types_member(Dwarf_Die *variable, struct trc_member *member);

#endif
