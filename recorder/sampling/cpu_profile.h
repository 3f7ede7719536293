/*
 * cpu_profile.h - CPU profiles that the program itself starts and stops, in whichever object
 * records it: behind trace_sampling_start().
 */
#ifndef TRC_RECORDER_SAMPLING_CPU_PROFILE_H
#define TRC_RECORDER_SAMPLING_CPU_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

struct trace_sampling_event;
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

/* As trace_sampling_start(), with its sentence in error.  One at a time.
 * Context: any thread, may block; this process is being recorded. */
int trc_cpu_profile_start(const struct trace_sampling_event *events, size_t n, char *error,
			  size_t n_bytes);
int trc_cpu_profile_stop(char *error, size_t n_bytes);

/*
 * What the session's own options say is sampled, settled, unless the program has started a profile.
 * 0, or -errno with a sentence in error.  Context: any thread, may block; this process is being
 * recorded.
 */
int trc_cpu_profile_session(const struct trc_cpu_event *events, unsigned int n, char *error,
			    size_t n_bytes);
/* The trace or flight recorder has ended: what was sampled for it is not any more; with `all`
 * nothing is.  Context: any thread, may block; nobody starts or stops a profile. */
void trc_cpu_profile_session_end(bool all);

/*
 * What recorders (recorder_cpu.c) want sampled from now on, in place of what they wanted before, by
 * signals, at least as often as each says.  0, or -errno with a sentence in error: then as before.
 * Context: as trc_cpu_profile_session().
 */
int trc_cpu_profile_want(const struct trc_cpu_event *events, unsigned int n, char *error,
			 size_t n_bytes);
/* Understands and settles one event, to be sampled by signals; NULL = "auto".  0 or -errno with a
 * sentence in error; -ENOTSUP: there is no such event here, or not for us.  Context: any thread. */
int trc_cpu_profile_event(struct trc_cpu_event *out, const struct trace_sampling_event *event,
			  char *error, size_t n_bytes);
/* In a forked child: whoever was starting or stopping one is not there.  Context: its only thread. */
void trc_cpu_profile_forget(void);

#endif
