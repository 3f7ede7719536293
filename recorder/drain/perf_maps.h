/*
 * perf_maps.h - where the code of processes lies, as the kernel tells while it is mapped.
 *
 *   perf_maps:P1  of what covers an address, the latest mapped before a time counts.  Where there
 *       is no more room, what has long been gone for another mapping is forgotten, and nothing else
 *   perf_maps:P2  a forked process has what its parent had then
 *   perf_maps:P3  what finds no room, here or in the kernel's buffer, makes the whole incomplete
 */
#ifndef TRC_RECORDER_DRAIN_PERF_MAPS_H
#define TRC_RECORDER_DRAIN_PERF_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRC_PERF_BUILD_ID_BYTES = 20 };

struct trc_perf_mapping {
	uint64_t raw_ns, start, limit, file_offset;
	const char *path; /* "" = no file */
	uint32_t pid;
	uint8_t build_id_bytes; /* 0 = not known */
	uint8_t build_id[TRC_PERF_BUILD_ID_BYTES];
};

struct trc_perf_maps;

/* NULL without memory. */
struct trc_perf_maps *trc_perf_maps_make(void);
void trc_perf_maps_free(struct trc_perf_maps *m); /* accepts NULL */

/* m->path is copied. */
void trc_perf_maps_add(struct trc_perf_maps *m, const struct trc_perf_mapping *mapping);
void trc_perf_maps_fork(struct trc_perf_maps *m, uint32_t pid, uint32_t parent, uint64_t raw_ns);
/* P3; between these times. */
void trc_perf_maps_lost(struct trc_perf_maps *m, uint64_t from_ns, uint64_t to_ns);

/* What lay at this address at that time; NULL = nothing is known.  Until something is added. */
const struct trc_perf_mapping *trc_perf_maps_find(const struct trc_perf_maps *m, uint32_t pid,
						  uint64_t address, uint64_t raw_ns);
/* False if another one, of which nothing is known, may have come to this place before that time:
 * something was lost since it was mapped, and the place has had others. */
bool trc_perf_maps_is_sure(const struct trc_perf_maps *m, const struct trc_perf_mapping *mapping,
			   uint64_t raw_ns);
/* False if there is certainly no code: the caller has followed something that is no stack. */
bool trc_perf_maps_may_be_code(struct trc_perf_maps *m, uint32_t pid, uint64_t address,
			       uint64_t raw_ns);

/* What to subtract from addresses in it to get those in the ELF file. */
uint64_t trc_perf_mapping_bias(const struct trc_perf_mapping *mapping);

#endif
