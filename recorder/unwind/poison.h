/*
 * poison.h - included last by every file whose functions record events: no such function may
 * allocate, print, take a lock, or call an interposed function that would record (raw.h).
 *
 * A file of recorder/interpose that defines some of these names for the program says so before it
 * includes this header, by TRC_DEFINES_HEAP, TRC_DEFINES_STDIO, TRC_DEFINES_MUTEX or
 * TRC_DEFINES_SYSCALL: the file calls these functions as REAL(name), and may not call them
 * otherwise.
 */
#ifndef TRC_DEFINES_HEAP
#pragma GCC poison malloc calloc realloc free
#endif
#ifndef TRC_DEFINES_STDIO
#pragma GCC poison printf fprintf
#endif
#ifndef TRC_DEFINES_MUTEX
#pragma GCC poison pthread_mutex_lock pthread_mutex_unlock
#endif
#ifndef TRC_DEFINES_SYSCALL
#pragma GCC poison syscall
#endif
#pragma GCC poison strdup sprintf snprintf perror exit
#ifndef TRC_MAY_ABORT
#pragma GCC poison abort
#endif
