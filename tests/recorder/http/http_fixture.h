/*
 * http_fixture.h - what the tests of <trc/http.h> share: a server of this process, and the traces
 * that it writes.
 */
#ifndef TRC_TESTS_RECORDER_HTTP_FIXTURE_H
#define TRC_TESTS_RECORDER_HTTP_FIXTURE_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The parts of the suite, in files of their own: each test with a server at `port`, or none. */
void http_access(TCase *served, TCase *alone);
void http_profiles(TCase *served, TCase *alone);
void http_server(TCase *alone);

extern unsigned int port;

void start_server(void); /* at any port of 127.0.0.1 */
void stop_server(void);
void sleep_ms(long ms);

/* How many directories of a server's lie about; `last` gets one of them. */
int count_files_of(pid_t pid, char *last, size_t n_bytes);
int count_files(void); /* of this process */

/* A thread's function: asks for a trace of a thousand seconds. */
void *ask_for_long(void *unused);
/* Whether one is written: its file says so, for something else may record as well. */
bool trace_runs(void);
void wait_for_trace(bool runs);

#endif
