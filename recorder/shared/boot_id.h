/*
 * boot_id.h - which boot of the machine this is: the clock of a ring of another boot means nothing.
 */
#ifndef TRC_RECORDER_SHARED_BOOT_ID_H
#define TRC_RECORDER_SHARED_BOOT_ID_H

#include <stdbool.h>
#include <stdint.h>

enum { TRC_BOOT_ID_BYTES = 16 };

/* False, and zeros, if the kernel does not say it.  Async-signal-safe. */
bool trc_boot_id(uint8_t id[TRC_BOOT_ID_BYTES]);
/* Whether this boot is known to be `id`. */
bool trc_boot_is(const uint8_t id[TRC_BOOT_ID_BYTES]);

#endif
