/* otel_service.h - the name of the service that a process publishes for OpenTelemetry. */
#ifndef TRC_RECORDER_DRAIN_OTEL_SERVICE_H
#define TRC_RECORDER_DRAIN_OTEL_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads the process context of OTEP 4719: a mapping named OTEL_CTX, whose header leads to a Resource
 * in protobuf.  False if the process publishes none, or none with a service.name, or its memory may
 * not be read.  The process may be hostile.  Context: drainer.
 */
bool trc_otel_service(uint32_t pid, char *name, size_t n_bytes);
/* The value of service.name in such a Resource. */
bool trc_otel_service_in(const uint8_t *resource, size_t resource_bytes, char *name,
			 size_t n_bytes);

#endif
