/* waits.c - see waits.h. */
#include <inttypes.h>
#include <stdio.h>
#include "waits.h"

enum trc_wait_class trc_wait_class(unsigned int reason)
{
	switch ((enum trc_reason)reason) {
	case TRC_REASON_MUTEX:
	case TRC_REASON_RWLOCK_READ:
	case TRC_REASON_RWLOCK_WRITE:
	case TRC_REASON_SPIN:
	case TRC_REASON_COND_MUTEX:
	case TRC_REASON_ONCE:
	case TRC_REASON_FLOCK:
	case TRC_REASON_FUTEX_LOCK:
	case TRC_REASON_SEM_LOCK:
		return TRC_WAIT_LOCKS;
	case TRC_REASON_COND:
	case TRC_REASON_SEM: /* with room for several, a queue's, or a lock that nothing shows to be one */
	case TRC_REASON_BARRIER:
	case TRC_REASON_JOIN:
	case TRC_REASON_FUTEX: /* idling, or a lock of the program's making that nothing shows to be one */
	case TRC_REASON_MSG:
	case TRC_REASON_USER:
		return TRC_WAIT_THREADS;
	case TRC_REASON_FSYNC:
	case TRC_REASON_READ:
	case TRC_REASON_WRITE:
	case TRC_REASON_RECV:
	case TRC_REASON_SEND:
	case TRC_REASON_CONNECT:
	case TRC_REASON_OPEN:
	case TRC_REASON_AIO:
		return TRC_WAIT_FILES;
	case TRC_REASON_NONE:
	case TRC_REASON_SLEEP:
	case TRC_REASON_POLL:
	case TRC_REASON_EPOLL:
	case TRC_REASON_CHILD:
	case TRC_REASON_SIGNAL:
	case TRC_REASON_ACCEPT:
	case TRC_REASON_RECORDED:
	case TRC_REASON_COUNT:
		break;
	}
	return TRC_WAIT_OUTSIDE;
}

static bool is_descriptor(unsigned int reason)
{
	return reason == TRC_REASON_EPOLL || reason == TRC_REASON_FLOCK ||
	       reason == TRC_REASON_ACCEPT ||
	       (reason != TRC_REASON_AIO && trc_wait_class(reason) == TRC_WAIT_FILES);
}

/* As docs/schema.md tells of `object`. */
static bool child_text(char *text, int64_t object)
{
	if (object >> 32 == 1)
		snprintf(text, TRC_WAIT_OBJECT_BYTES, " of pidfd %" PRIu32, (uint32_t)object);
	else if (object < INT32_MIN || object > INT32_MAX)
		return false;
	else if (object > 0)
		snprintf(text, TRC_WAIT_OBJECT_BYTES, " %" PRId64, object);
	else if (!object)
		snprintf(text, TRC_WAIT_OBJECT_BYTES, " of its own group");
	else if (object < -1)
		snprintf(text, TRC_WAIT_OBJECT_BYTES, " of group %" PRId64, -object);
	return true;
}

bool trc_wait_object(char text[static TRC_WAIT_OBJECT_BYTES], unsigned int reason, uint64_t object)
{
	*text = '\0';
	if (reason == TRC_REASON_CHILD)
		return child_text(text, (int64_t)object);
	if (!object || object > INT32_MAX || !is_descriptor(reason))
		return false;
	snprintf(text, TRC_WAIT_OBJECT_BYTES, " fd %" PRIu64, object);
	return true;
}
