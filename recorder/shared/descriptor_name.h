/* descriptor_name.h - which waits are for a descriptor, and how the name of one is written. */
#ifndef TRC_RECORDER_SHARED_DESCRIPTOR_NAME_H
#define TRC_RECORDER_SHARED_DESCRIPTOR_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/schema.h"

/* As much as the table of strings takes. */
enum { TRC_DESCRIPTOR_BYTES = 248 };

/* True if that is what a wait is for.  sync() has no object, msync() an address. */
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

/* Of a link of /proc/PID/fd: the name, of which a long path keeps its end.  The text has a zero
 * behind it.  Returns its bytes.  Context: any. */
uint32_t trc_descriptor_of_link(const char *link, size_t n,
				char text[static TRC_DESCRIPTOR_BYTES + 1]);

#endif
