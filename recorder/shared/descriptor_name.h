/* descriptor_name.h - which waits are for a descriptor, and how a descriptor's name is written. */
#ifndef TRC_RECORDER_SHARED_DESCRIPTOR_NAME_H
#define TRC_RECORDER_SHARED_DESCRIPTOR_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/schema.h"

/* As much as the table of strings takes. */
enum { TRC_DESCRIPTOR_BYTES = 248 };

/* True if waits for this reason are for a descriptor. sync() has no object, and msync() has an
 * address. */
static inline bool trc_wait_has_descriptor(unsigned int reason, uint64_t object)
{
	switch (reason) {
	case TRC_REASON_FSYNC:
		return object && object <= INT32_MAX;
	case TRC_REASON_READ:
	case TRC_REASON_WRITE:
	case TRC_REASON_RECV:
	case TRC_REASON_SEND:
	case TRC_REASON_ACCEPT:
	case TRC_REASON_CONNECT:
	case TRC_REASON_EPOLL:
	case TRC_REASON_FLOCK:
		return object <= INT32_MAX;
	default:
		return false;
	}
}

/* Makes the name of a descriptor from its link in /proc/PID/fd; of a long path the end is kept.  A
 * zero follows the text.  Returns the bytes of the text.  Context: any. */
uint32_t trc_descriptor_of_link(const char *link, size_t n,
				char text[static TRC_DESCRIPTOR_BYTES + 1]);

#endif
