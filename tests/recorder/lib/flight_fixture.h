/* flight_fixture.h - a directory for files, one for rings, and short names for the flight
 * recorder's functions; for libcheck. */
#ifndef TRC_TESTS_FLIGHT_FIXTURE_H
#define TRC_TESTS_FLIGHT_FIXTURE_H

#include <check.h>
#include <stdint.h>
#include <trc/trace.h>

#define MiB (UINT64_C(1) << 20)

extern char dir[64], ring_dir[80];
extern char path[128], odd[128]; /* dir/t.trc, dir/odd.trc */

void set_up(void);
/* Fails if a ring is left. */
void tear_down(void);

/* How many files a directory holds; the first one's name goes to `name` if that is not NULL. */
int count_files(const char *where, char name[256]);

/* Starts it, or fails; in ring_dir and with 16 MiB, unless the options say otherwise. */
void start(const struct trace_flight_options *options);
/* As the options are: beside a trace, whose memory will do. */
void start_beside(const struct trace_flight_options *options);
void start_trace(const char *to);
void stop(void);
void snapshot(void); /* to path */

void wait_ms(int ms);
/* However slow the machine is: the test's own limit of time ends a wait for what never comes. */
void wait_for_file(const char *name);

/* Runs the tests that this adds.  The exit status. */
int run_tests(const char *name, void (*add)(TCase *c));

#endif
