/*
 * runtime.h - what the recording object of trc offers the other object in the process.
 *
 * Under trace-record the preloaded object records.  If the program is linked with libtrc, libtrc
 * passes its calls on to the preloaded object, which it finds by the symbol trc_runtime.
 */
#ifndef TRC_RECORDER_GUEST_RUNTIME_H
#define TRC_RECORDER_GUEST_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "trc/fiber.h"

struct trc_shared;
struct trace_labels;
struct trc_fiber_state;

enum { TRC_RUNTIME_VERSION = 4 };

/* Grows only at its end.  `site` is NULL where the name is no literal. */
struct trc_runtime {
	uint32_t version;
	uint32_t struct_bytes;
	bool (*enabled)(void);
	trace_task (*task_begin)(struct trace_site *site, const char *type, trace_task parent);
	void (*task_end)(trace_task task);
	void (*region_begin)(struct trace_site *site, trace_task task, const char *type);
	void (*region_end)(void);
	void (*log)(struct trace_site *site, trace_task task, const char *category,
		    const char *message, size_t message_bytes);
	void (*counter)(struct trace_site *site, const char *name, int64_t value);
	void (*thread_name)(const char *name);
	/* Asks for a snapshot, as trace_flight_trigger() does. */
	void (*trigger)(const char *reason, size_t n_bytes);
	/* The mapping to take a snapshot of; NULL = nothing records.  Its addresses stay valid. */
	const struct trc_shared *(*ring)(void);
	/* As trace_labels_set(), and the labels in force now (labels.h). */
	const struct trace_labels *(*labels_set)(const struct trace_labels *labels);
	const struct trace_labels *(*labels_now)(void);
	/* As trace_sampling_start() and _stop(), with the sentence in error (cpu_profile.h). */
	int (*cpu_profile_start)(const struct trace_sampling_event *events, size_t n, char *error,
				 size_t n_bytes);
	int (*cpu_profile_stop)(char *error, size_t n_bytes);
	/* As trace_fiber_create() and so on; and fiber:F6. */
	struct trace_fiber *(*fiber_create)(const char *name);
	struct trace_fiber *(*fiber_switch)(struct trace_fiber *to, enum trace_fiber_leave how,
					    const void *object);
	void (*fiber_ready)(struct trace_fiber *fiber);
	void (*fiber_destroy)(struct trace_fiber *fiber);
	bool (*fiber_give_up)(struct trc_fiber_state *state);
	void (*fiber_take_over)(const struct trc_fiber_state *state);
};

/* The functions of this object. */
extern __attribute__((visibility("hidden"))) const struct trc_runtime trc_own_runtime;

#endif
