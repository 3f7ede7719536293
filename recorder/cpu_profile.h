/*
 * cpu_profile.h - CPU profiles that the program itself starts and stops, in whichever object
 * records it: behind trace_cpu_profile_start().
 */
#ifndef TRC_RECORDER_CPU_PROFILE_H
#define TRC_RECORDER_CPU_PROFILE_H

#include <stddef.h>

struct trace_cpu_event;

/* As trace_cpu_profile_start(), with its sentence in error.  One at a time.
 * Context: any thread, may block; this process is being recorded. */
int trc_cpu_profile_start(const struct trace_cpu_event *events, size_t n, char *error,
			  size_t n_bytes);
int trc_cpu_profile_stop(char *error, size_t n_bytes);

#endif
