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
/* The value of service.name in a Resource. */
bool trc_otel_service_in(const uint8_t *resource, size_t resource_bytes, char *name,
			 size_t n_bytes);

#endif
