/*
 * otel_service.h - the name of the service that a process publishes for OpenTelemetry.
 *
 * The process may be hostile.
 *
 *   otel_service:Q1  only memory is read: anonymous mappings, and mappings of memfd.  Reading a
 *       file's mapping may wait for ever for the server of the file, and no signal ends that wait
 *   otel_service:Q2  reading memory may wait for ever as well (userfaultfd).  So a separate thread
 *       reads another process, and is left behind if the reading takes too long
 */
#ifndef TRC_RECORDER_DRAIN_OTEL_SERVICE_H
#define TRC_RECORDER_DRAIN_OTEL_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRC_OTEL_SERVICE_BYTES = 128 }; /* a name, with its 0 */

/*
 * Reads the process context of OTEP 4719: a mapping named OTEL_CTX, whose header leads to a
 * Resource in protobuf.  Returns 0; -ENOENT: the process publishes none, or none with a
 * service.name, or its memory may not be read; -ETIMEDOUT: reading the process took too long, and
 * should not be tried again.  Context: drainer.
 */
int trc_otel_service(uint32_t pid, char name[TRC_OTEL_SERVICE_BYTES]);
/* trc_otel_service() without a time limit: may take for ever.  Context: any thread. */
bool trc_otel_service_read(uint32_t pid, char *name, size_t n_bytes);
/* One process that is asked now and then; begins as zeros. */
struct trc_otel_asking {
	uint64_t due_ns; /* when it is asked next */
	uint32_t n_asked;
	bool over; /* the name is known, or will not be */
};
/*
 * A program publishes the name when it has begun; most do so soon, and some later.  So the process
 * is asked 20 ms after the first call, then ever more seldom, for about a minute and a half; with `now`
 * in any case.  True once: the name has come.  pid 0: nobody.  Context: drainer.
 */
bool trc_otel_service_ask(struct trc_otel_asking *a, uint32_t pid, uint64_t raw_ns, bool now,
			  char name[TRC_OTEL_SERVICE_BYTES]);
/* The value of service.name in a Resource. */
bool trc_otel_service_in(const uint8_t *resource, size_t resource_bytes, char *name,
			 size_t n_bytes);

#endif
