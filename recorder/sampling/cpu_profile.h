/*
 * cpu_profile.h - CPU profiles that the program itself starts and stops, in the object that
 * records: the work of trace_sampling_start().
 */
#ifndef TRC_RECORDER_SAMPLING_CPU_PROFILE_H
#define TRC_RECORDER_SAMPLING_CPU_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

struct trace_sampling_event;
struct trc_cpu_event;

/* The functions that take the kernel's samples of this process, in the thread that drains a
 * trace. */
struct trc_kernel_sampler {
	/* The events come settled.  0, or -errno with a sentence in error. */
	int (*start)(const struct trc_cpu_event *events, unsigned int n, char *error,
		     size_t n_bytes);
	void (*stop)(void);
};
/* Sets the taker of the kernel's samples; NULL = none.  Context: any thread. */
void trc_cpu_profile_kernel(const struct trc_kernel_sampler *sampler);

/* As trace_sampling_start(), with its sentence in error.  One at a time.
 * Context: any thread, may block; this process is being recorded. */
int trc_cpu_profile_start(const struct trace_sampling_event *events, size_t n, char *error,
			  size_t n_bytes);
int trc_cpu_profile_stop(char *error, size_t n_bytes);

/*
 * Samples the settled events of the session's own options, unless the program has started a
 * profile.  0, or -errno with a sentence in error.  Context: any thread, may block; this process is
 * being recorded.
 */
int trc_cpu_profile_session(const struct trc_cpu_event *events, unsigned int n, char *error,
			    size_t n_bytes);
/* The trace or flight recorder has ended: stops sampling for it; with `all` stops all sampling.
 * Context: any thread, may block; nobody starts or stops a profile. */
void trc_cpu_profile_session_end(bool all);

/*
 * Sets the events that recorders (recorder_cpu.c) want sampled by signals from now on, each at
 * least as often as it says.  These events replace the events of the call before. 0, or -errno with
 * a sentence in error: nothing has changed.  Context: as trc_cpu_profile_session().
 */
int trc_cpu_profile_want(const struct trc_cpu_event *events, unsigned int n, char *error,
			 size_t n_bytes);
/* Understands and settles one event, to be sampled by signals; NULL = "auto".  0 or -errno with a
 * sentence in error; -ENOTSUP: this machine does not have the event, or does not allow it to us.
 * Context: any thread. */
int trc_cpu_profile_event(struct trc_cpu_event *out, const struct trace_sampling_event *event,
			  char *error, size_t n_bytes);
/* In a forked child, which does not have the thread that was starting or stopping a profile.
 * Context: the child's only thread. */
void trc_cpu_profile_forget(void);

#endif
