/*
 * waits.h - the classes of reasons for waiting, and the objects of waits.  Rules: format/waits.
 */
#ifndef TRC_FORMAT_WAITS_H
#define TRC_FORMAT_WAITS_H

#include <stdbool.h>
#include <stdint.h>
#include "schema.h"

/* Classes of waits, by the event that ends a wait. */
enum trc_wait_class {
	TRC_WAIT_LOCKS,	  /* a lock that somebody holds */
	TRC_WAIT_THREADS, /* something that another thread of the program does */
	TRC_WAIT_FILES,	  /* data or a file, once the program has asked for it */
	TRC_WAIT_OUTSIDE, /* requests, timers, signals, children: whatever comes next */
	TRC_WAIT_CLASSES
};
enum trc_wait_class trc_wait_class(unsigned int reason);

enum { TRC_WAIT_OBJECT_BYTES = 32 };
/*
 * What a wait is for, to follow the name of its reason: " fd 5", " 4711" and " of group 42" for
 * children, "" for any child.  False if the object is an address, or is not known.
 */
bool trc_wait_object(char text[static TRC_WAIT_OBJECT_BYTES], unsigned int reason, uint64_t object);

/* True if the thread itself made such an event; the kernel's records, samples and gaps come
 * whatever the thread does. */
static inline bool trc_kind_is_own(unsigned int kind)
{
	return kind != TRC_KIND_PROC_START && kind != TRC_KIND_PROC_STOP && kind != TRC_KIND_GAP &&
	       kind != TRC_KIND_SAMPLE && kind != TRC_KIND_SAMPLES_LOST;
}

#endif
