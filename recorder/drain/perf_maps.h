/*
 * perf_maps.h - where the code of processes lies, by the kernel's records of mappings.
 *
 *   perf_maps:P1  of all mappings that cover an address, the latest before a time counts.  When
 *       there is no more room, only mappings that other mappings replaced long ago are forgotten
 *   perf_maps:P2  a forked process has the mappings that its parent had at the fork
 *   perf_maps:P3  a mapping that finds no room, here or in the kernel's buffer, makes the whole
 *       incomplete
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
/* Mappings were lost between these times (P3). */
void trc_perf_maps_lost(struct trc_perf_maps *m, uint64_t from_ns, uint64_t to_ns);

/* The mapping at this address at that time; NULL = not known.  Valid until a mapping is added. */
const struct trc_perf_mapping *trc_perf_maps_find(const struct trc_perf_maps *m, uint32_t pid,
						  uint64_t address, uint64_t raw_ns);
/* False if an unknown mapping may have come to this place before that time: mappings were lost
 * since this one was made, and the place has had other mappings. */
bool trc_perf_maps_is_sure(const struct trc_perf_maps *m, const struct trc_perf_mapping *mapping,
			   uint64_t raw_ns);
/* False if there is certainly no code at this address: the caller has followed something that is no
 * stack. */
bool trc_perf_maps_may_be_code(struct trc_perf_maps *m, uint32_t pid, uint64_t address,
			       uint64_t raw_ns);

/* An address in the mapping less this bias is the address in the ELF file. */
uint64_t trc_perf_mapping_bias(const struct trc_perf_mapping *mapping);

#endif
