/* flight_parts.h - what the files of flight_test share. */
#ifndef TRC_TESTS_FLIGHT_PARTS_H
#define TRC_TESTS_FLIGHT_PARTS_H

#include <check.h>
#include <signal.h>

/* A handler that counts in n_signals. */
extern volatile sig_atomic_t n_signals;
void count_signal(int sig);
/* Records a lot. */
void make_noise(void);

/* The part of the suite that is in flight_memory.c. */
void flight_memory(TCase *c);

#endif
