/*
 * schema_wire.h - the schema as the payload of a SCHEMA section (docs/format.md, "SCHEMA").
 *
 * The schema hash is the checksum of exactly these bytes.
 */
#ifndef TRC_FORMAT_SCHEMA_WIRE_H
#define TRC_FORMAT_SCHEMA_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* What TRC_SCHEMA and TRC_REASONS need; a test watches how much is left. */
enum { TRC_SCHEMA_BYTES_MAX = 8192 };

/* Writes the payload into out[TRC_SCHEMA_BYTES_MAX]; returns its length. */
size_t trc_schema_put(uint8_t *out);

#endif
