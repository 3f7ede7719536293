/*
 * message.c - POSIX message queues.  Context: traced thread.
 */
#include "recorder/interpose/span.h"

TRC_CALL(int, mq_send, MSG, queue, true,
	 (mqd_t queue, const char *text, size_t n, unsigned int priority),
	 (queue, text, n, priority))
TRC_CALL(int, mq_timedsend, MSG, queue, true,
	 (mqd_t queue, const char *text, size_t n, unsigned int priority,
	  const struct timespec *deadline),
	 (queue, text, n, priority, deadline))
TRC_CALL(ssize_t, mq_receive, MSG, queue, true,
	 (mqd_t queue, char *text, size_t n, unsigned int *priority), (queue, text, n, priority))
TRC_CALL(ssize_t, mq_timedreceive, MSG, queue, true,
	 (mqd_t queue, char *restrict text, size_t n, unsigned int *restrict priority,
	  const struct timespec *restrict deadline),
	 (queue, text, n, priority, deadline))
