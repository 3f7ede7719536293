/*
 * message.c - POSIX message queues, System V's queues and semaphores.  Context: traced thread.
 *
 * The object is the descriptor or id.  The kernel never restarts System V's calls.
 */
#include <sys/msg.h>
#include <sys/sem.h>
#include "restart.h"
#include "recorder/unwind/poison.h"

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

TRC_CALL_AGAIN(int, msgsnd, MSG, queue, !(flags & IPC_NOWAIT), trc_restart(&restart, NULL),
	       (int queue, const void *text, size_t n, int flags), (queue, text, n, flags))
TRC_CALL_AGAIN(ssize_t, msgrcv, MSG, queue, !(flags & IPC_NOWAIT), trc_restart(&restart, NULL),
	       (int queue, void *text, size_t n, long type, int flags),
	       (queue, text, n, type, flags))
TRC_CALL_AGAIN(int, semop, SEM, set, true, trc_restart(&restart, NULL),
	       (int set, struct sembuf *operations, size_t n), (set, operations, n))
TRC_CALL_AGAIN(int, semtimedop, SEM, set, true, trc_restart_time(&restart, NULL, &timeout),
	       (int set, struct sembuf *operations, size_t n, const struct timespec *timeout),
	       (set, operations, n, timeout))
