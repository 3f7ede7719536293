/*
 * cpu_profile.h - CPU profiles that the program itself starts and stops, in whichever object
 * records it: behind trace_cpu_profile_start().
 */
#ifndef TRC_RECORDER_CPU_PROFILE_H
#define TRC_RECORDER_CPU_PROFILE_H

#include <stddef.h>

struct trace_cpu_event;
struct trc_cpu_event;

/* Whoever can take what the kernel samples in this process: the thread that drains a trace. */
struct trc_kernel_sampler {
	/* The events come settled.  0, or -errno with a sentence in error. */
	int (*start)(const struct trc_cpu_event *events, unsigned int n, char *error,
		     size_t n_bytes);
	void (*stop)(void);
};
/* From now on, until it is NULL.  Context: any thread. */
void trc_cpu_profile_kernel(const struct trc_kernel_sampler *sampler);

/* As trace_cpu_profile_start(), with its sentence in error.  One at a time.
 * Context: any thread, may block; this process is being recorded. */
int trc_cpu_profile_start(const struct trace_cpu_event *events, size_t n, char *error,
			  size_t n_bytes);
int trc_cpu_profile_stop(char *error, size_t n_bytes);
/* In a forked child: whoever was starting or stopping one is not there.  Context: its only thread. */
void trc_cpu_profile_forget(void);

#endif
