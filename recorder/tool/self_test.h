/*
 * self_test.h - --self-test: can this machine record?
 *
 * trace-record records a program of its own as it records any other program.  The program is
 * trace-record itself, which then waits for a lock, uses CPU time, and writes an account of both by
 * libc and the kernel alone.  Then the trace is read and compared with the account.
 */
#ifndef TRC_RECORDER_TOOL_SELF_TEST_H
#define TRC_RECORDER_TOOL_SELF_TEST_H

#include <stddef.h>
#include <stdint.h>

/* The command line of the recorded program is trace-record, this, and a path for the account. */
#define TRC_SELF_TEST_PROGRAM "--self-test-program"

enum { TRC_SELF_TEST_FRAMES = 16 };

/* The program's own account. */
struct trc_self_test_account {
	uint64_t lock;	   /* its address */
	uint32_t waits;	   /* for the lock, in which the kernel took the thread off its processor */
	uint32_t n_frames; /* of the place where it waits, by backtrace(3), innermost first */
	uint64_t waited_ns; /* in these waits, by CLOCK_MONOTONIC */
	uint64_t cpu_ns;    /* of the whole process */
	uint64_t frame[TRC_SELF_TEST_FRAMES];
};

/* The parts of the account that the trace has. */
struct trc_self_test_seen {
	uint32_t waits;
	uint32_t waits_with_stack; /* with the callers that the account has */
	uint64_t waited_ns;
	uint64_t ring_events, overflow_events, lost_events;
	uint64_t switches;
	uint64_t samples, sampled_ns, lost_samples;
	uint64_t
		samples_with_stack; /* that ends in the account's callers of the thread's function */
	char clock[32];
	uint64_t ticks_per_second;
	char switches_said[256]; /* whether the kernel tells of switches, and why not */
};

/* Context: the recorded program.  Returns the exit status: 0; 1 if the account could not be
 * written; or 2. */
int trc_self_test_program(const char *account_path);
/* 0, or -errno with a sentence in error. */
int trc_self_test_read(const char *trace_path, const struct trc_self_test_account *account,
		       struct trc_self_test_seen *seen, char *error, size_t n_bytes);

#endif
