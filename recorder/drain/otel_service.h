/*
 * otel_service.h - the name of the service that a process publishes for OpenTelemetry.
 *
 * The process may be hostile.
 *
 *   otel_service:Q1  only memory is read: anonymous mappings, and those of memfd.  To read a file's
 *       mapping may wait for whoever serves the file, for ever, and no signal ends that
 *   otel_service:Q2  memory may be of that kind as well (userfaultfd).  So a thread of its own reads
 *       another process, and is left behind if it takes too long
 */
#ifndef TRC_RECORDER_DRAIN_OTEL_SERVICE_H
#define TRC_RECORDER_DRAIN_OTEL_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRC_OTEL_SERVICE_BYTES = 128 }; /* a name, with its 0 */

/*
 * Reads the process context of OTEP 4719: a mapping named OTEL_CTX, whose header leads to a Resource
 * in protobuf.  Returns 0; -ENOENT: the process publishes none, or none with a service.name, or its
 * memory may not be read; -ETIMEDOUT: the process does not let itself be read, and should not be
 * asked again.  Context: drainer.
 */
int trc_otel_service(uint32_t pid, char name[TRC_OTEL_SERVICE_BYTES]);
/* The same, which may take for ever.  Context: any thread. */
bool trc_otel_service_read(uint32_t pid, char *name, size_t n_bytes);
/* The value of service.name in such a Resource. */
bool trc_otel_service_in(const uint8_t *resource, size_t resource_bytes, char *name,
			 size_t n_bytes);

#endif
