/*
 * poison.h - included last by every file whose functions record events: none of them may
 * allocate, print or take a lock, nor call what is interposed and would record (raw.h).
 */
#pragma GCC poison malloc calloc realloc free strdup printf fprintf sprintf snprintf perror
#pragma GCC poison abort exit pthread_mutex_lock pthread_mutex_unlock
#pragma GCC poison syscall
