/*
 * model_waits_test.c - what the model makes of parks, resumes, unlocks and unparks.
 *
 * Each row is a trace and all the parks and unlocks that must come of it.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model_fixture.h"
#include "tests/suite.h"

#define THREADS                                                                                    \
	"thread 1 tid=101 name=\"main\"\n"                                                         \
	"thread 2 tid=102 creator=1\n"                                                             \
	"thread 3 tid=103 creator=1\n"                                                             \
	"thread 4 tid=104 creator=1\n"
#define STACKS                                                                                     \
	"stack main 0x1f\n"                                                                        \
	"stack wait 0x300 0x200 0x1f\n"                                                            \
	"stack elsewhere 0x310 0x210 0x1f\n"                                                       \
	"stack deep_elsewhere 0x900 0x910 0x920 0x930 0x940 0x1f\n"                                      \
	"stack handler 0x900 0x910 0x301 0x200 0x1f\n"

enum { NEVER = -1, OPEN = TRC_PARK_OPEN, LEFT = TRC_PARK_ABANDONED, ROWS_MAX = 8 };

struct park_row {
	uint32_t thread;
	uint8_t reason;
	int64_t start_ns, end_ns;
	uint8_t flags;
	int result;
	uint32_t waker;
	int64_t wake_ns;
	uint32_t unlock;
};

struct unlock_row {
	uint32_t thread;
	int64_t ts_ns, caused_ns;
	uint32_t caused_waits;
};

static const struct waits_case {
	const char *what;
	const char *text;
	struct park_row park[ROWS_MAX];
	struct unlock_row unlock[ROWS_MAX];
} cases[] = {
	{"a convoy: each section is charged the waiting between the unlocks around it",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@2000 thread=3 park reason=mutex object=0x10 holder=1\n"
		 "@3000 thread=4 park reason=mutex object=0x10 holder=1\n"
		 "@5000 thread=1 unlock reason=mutex object=0x10 waiters=3\n"
		 "@5100 thread=2 resume reason=mutex object=0x10\n"
		 "@8000 thread=2 unlock reason=mutex object=0x10 waiters=2\n"
		 "@8200 thread=3 resume reason=mutex object=0x10\n"
		 "@8300 thread=3 unlock reason=mutex object=0x10 waiters=1\n"
		 "@8500 thread=4 resume reason=mutex object=0x10\n",
	 {{2, TRC_REASON_MUTEX, 1000, 5100, 0, 0, 1, 5000, 1},
	  {3, TRC_REASON_MUTEX, 2000, 8200, 0, 0, 2, 8000, 2},
	  {4, TRC_REASON_MUTEX, 3000, 8500, 0, 0, 3, 8300, 3}},
	 {{1, 5000, 9000, 3}, {2, 8000, 6000, 2}, {3, 8300, 300, 1}}},

	{"an unlock happened when it says, though it was recorded after the waiter went on",
	 THREADS "@1000 proc=0 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@4100 proc=0 thread=2 resume reason=mutex object=0x10\n"
		 "@9000 proc=1 thread=1 unlock reason=mutex object=0x10 waiters=1 at=4000\n",
	 {{2, TRC_REASON_MUTEX, 1000, 4100, 0, 0, 1, 4000, 1}},
	 {{1, 4000, 3000, 1}}},

	{"who parks between the unlock's time and the release is still let in by it",
	 THREADS "@4050 proc=0 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@4250 proc=0 thread=2 resume reason=mutex object=0x10\n"
		 "@9000 proc=1 thread=1 unlock reason=mutex object=0x10 waiters=1 at=4000\n",
	 {{2, TRC_REASON_MUTEX, 4050, 4250, 0, 0, 1, NEVER, 1}},
	 {{1, 4000, 200, 1}}},

	{"a lock taken by a third before the waiter woke: both sections are charged their part",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@2000 thread=1 unlock reason=mutex object=0x10\n"
		 "@6000 thread=3 unlock reason=mutex object=0x10\n"
		 "@6300 thread=2 resume reason=mutex object=0x10\n",
	 {{2, TRC_REASON_MUTEX, 1000, 6300, 0, 0, 3, 6000, 2}},
	 {{1, 2000, 1000, 1}, {3, 6000, 4000, 1}}},

	{"another lock's unlock has no part in it",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10\n"
		 "@2000 thread=1 unlock reason=mutex object=0x20\n"
		 "@3000 thread=2 resume reason=mutex object=0x10\n",
	 {{2, TRC_REASON_MUTEX, 1000, 3000, 0, 0, 0, NEVER, 0}},
	 {{1, 2000, 0, 0}}},

	{"a timed wait that gave up is charged to the holder's unlock, and woken by nobody",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@3000 thread=2 resume reason=mutex object=0x10 result=ETIMEDOUT\n"
		 "@5000 thread=1 unlock reason=mutex object=0x10\n",
	 {{2, TRC_REASON_MUTEX, 1000, 3000, 0, ETIMEDOUT, 0, NEVER, 0}},
	 {{1, 5000, 2000, 1}}},

	{"a timed wait is not charged to a section of its holder that began after it gave up",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@3000 thread=2 resume reason=mutex object=0x10 result=ETIMEDOUT\n"
		 "@4500 thread=3 park reason=mutex object=0x10 holder=1\n"
		 "@5000 thread=1 unlock reason=mutex object=0x10 held=1000\n"
		 "@5100 thread=3 resume reason=mutex object=0x10\n",
	 {{2, TRC_REASON_MUTEX, 1000, 3000, 0, ETIMEDOUT, 0, NEVER, 0},
	  {3, TRC_REASON_MUTEX, 4500, 5100, 0, 0, 1, 5000, 1}},
	 {{1, 5000, 500, 1}}},

	{"while nobody holds the lock nobody is charged, and who gives up meets the next section",
	 THREADS "@100 thread=1 park reason=mutex object=0x10 holder=4\n"
		 "@120 thread=2 park reason=mutex object=0x10 holder=4\n"
		 "@200 thread=4 unlock reason=mutex object=0x10\n"
		 "@300 thread=3 unlock reason=mutex object=0x10 held=50\n"
		 "@310 thread=1 resume reason=mutex object=0x10\n"
		 "@320 thread=2 resume reason=mutex object=0x10 result=ETIMEDOUT\n"
		 "@340 thread=1 unlock reason=mutex object=0x10 held=30\n",
	 {{1, TRC_REASON_MUTEX, 100, 310, 0, 0, 3, 300, 2},
	  {2, TRC_REASON_MUTEX, 120, 320, 0, ETIMEDOUT, 0, NEVER, 0}},
	 {{4, 200, 180, 2}, {3, 300, 100, 2}, {1, 340, 10, 1}}},

	{"readers let in together are each charged to the writer",
	 THREADS "@1000 thread=2 park reason=rwlock_read object=0x10 holder=1\n"
		 "@2000 thread=3 park reason=rwlock_read object=0x10 holder=1\n"
		 "@4000 thread=1 unlock reason=rwlock_write object=0x10\n"
		 "@4100 thread=2 resume reason=rwlock_read object=0x10\n"
		 "@4200 thread=3 resume reason=rwlock_read object=0x10\n",
	 {{2, TRC_REASON_RWLOCK_READ, 1000, 4100, 0, 0, 1, 4000, 1},
	  {3, TRC_REASON_RWLOCK_READ, 2000, 4200, 0, 0, 1, 4000, 1}},
	 {{1, 4000, 5000, 2}}},

	{"... also if the first of them has left before the other one ran",
	 THREADS "@1000 thread=2 park reason=rwlock_read object=0x10 holder=1\n"
		 "@2000 thread=3 park reason=rwlock_read object=0x10 holder=1\n"
		 "@2500 thread=4 park reason=rwlock_write object=0x10 holder=1\n"
		 "@4000 thread=1 unlock reason=rwlock_write object=0x10\n"
		 "@4100 thread=2 resume reason=rwlock_read object=0x10\n"
		 "@6000 thread=2 unlock reason=rwlock_read object=0x10 held=1900\n"
		 "@6200 thread=3 resume reason=rwlock_read object=0x10\n"
		 "@7000 thread=3 unlock reason=rwlock_read object=0x10\n"
		 "@7100 thread=4 resume reason=rwlock_write object=0x10\n",
	 {{2, TRC_REASON_RWLOCK_READ, 1000, 4100, 0, 0, 1, 4000, 1},
	  {3, TRC_REASON_RWLOCK_READ, 2000, 6200, 0, 0, 1, 4000, 1},
	  {4, TRC_REASON_RWLOCK_WRITE, 2500, 7100, 0, 0, 3, 7000, 3}},
	 {{1, 4000, 6500, 3}, {2, 6000, 1900, 1}, {3, 7000, 1000, 1}}},

	{"a writer that waits for two readers: each is charged until it left",
	 THREADS "@1000 thread=2 park reason=rwlock_write object=0x10\n"
		 "@3000 thread=3 unlock reason=rwlock_write object=0x10\n"
		 "@7000 thread=4 unlock reason=rwlock_write object=0x10\n"
		 "@7100 thread=2 resume reason=rwlock_write object=0x10\n",
	 {{2, TRC_REASON_RWLOCK_WRITE, 1000, 7100, 0, 0, 4, 7000, 2}},
	 {{3, 3000, 2000, 1}, {4, 7000, 4000, 1}}},

	{"a broadcast wakes all that wait then, not those that come later",
	 THREADS "@1000 thread=2 park reason=cond object=0x30\n"
		 "@2000 thread=3 park reason=cond object=0x30\n"
		 "@3000 thread=1 unpark reason=cond object=0x30 count=~0\n"
		 "@3100 thread=2 resume reason=cond object=0x30\n"
		 "@3500 thread=4 park reason=cond object=0x30\n"
		 "@3900 thread=3 resume reason=cond object=0x30\n"
		 "@4000 thread=4 resume reason=cond object=0x30\n",
	 {{2, TRC_REASON_COND, 1000, 3100, 0, 0, 1, 3000, 0},
	  {3, TRC_REASON_COND, 2000, 3900, 0, 0, 1, 3000, 0},
	  {4, TRC_REASON_COND, 3500, 4000, 0, 0, 0, NEVER, 0}},
	 {{0}}},

	{"a signal wakes one: the waiter that goes on first, and each signal another one",
	 THREADS "@1000 thread=2 park reason=cond object=0x30\n"
		 "@2000 thread=3 park reason=cond object=0x30\n"
		 "@3000 thread=1 unpark reason=cond object=0x30 count=1\n"
		 "@3200 thread=3 resume reason=cond object=0x30\n"
		 "@6000 thread=4 unpark reason=cond object=0x30 count=1\n"
		 "@6300 thread=2 resume reason=cond object=0x30\n",
	 {{2, TRC_REASON_COND, 1000, 6300, 0, 0, 4, 6000, 0},
	  {3, TRC_REASON_COND, 2000, 3200, 0, 0, 1, 3000, 0}},
	 {{0}}},

	{"a signal is not spent on a wait that timed out",
	 THREADS "@1000 thread=2 park reason=cond object=0x30\n"
		 "@1500 thread=3 park reason=cond object=0x30\n"
		 "@2000 thread=1 unpark reason=cond object=0x30 count=1\n"
		 "@2100 thread=2 resume reason=cond object=0x30 result=ETIMEDOUT\n"
		 "@2200 thread=3 resume reason=cond object=0x30\n",
	 {{2, TRC_REASON_COND, 1000, 2100, 0, ETIMEDOUT, 0, NEVER, 0},
	  {3, TRC_REASON_COND, 1500, 2200, 0, 0, 1, 2000, 0}},
	 {{0}}},

	{"taking the mutex again is in the condition wait: from the signal to its end, once",
	 THREADS "@1000 thread=2 park reason=cond object=0x30\n"
		 "@2000 thread=1 unpark reason=cond object=0x30 count=1\n"
		 "@2010 thread=2 park reason=cond_mutex object=0x10 holder=1\n"
		 "@5000 thread=1 unlock reason=mutex object=0x10\n"
		 "@5100 thread=2 resume reason=cond_mutex object=0x10\n"
		 "@5101 thread=2 resume reason=cond object=0x30\n",
	 {{2, TRC_REASON_COND, 1000, 5101, 0, 0, 1, 2000, 0},
	  {2, TRC_REASON_COND_MUTEX, 2010, 5100, 0, 0, 1, 5000, 1}},
	 {{1, 5000, 2990, 1}}},

	{"a barrier's last thread wakes the others; a post wakes one",
	 THREADS "@1000 thread=2 park reason=barrier object=0x40\n"
		 "@1100 thread=3 park reason=barrier object=0x40\n"
		 "@1200 thread=4 park reason=sem object=0x50\n"
		 "@2000 thread=1 unpark reason=barrier object=0x40 count=~0\n"
		 "@2100 thread=3 resume reason=barrier object=0x40\n"
		 "@2200 thread=2 resume reason=barrier object=0x40\n"
		 "@2300 thread=2 unpark reason=sem object=0x50 count=1\n"
		 "@2400 thread=4 resume reason=sem object=0x50\n",
	 {{2, TRC_REASON_BARRIER, 1000, 2200, 0, 0, 1, 2000, 0},
	  {3, TRC_REASON_BARRIER, 1100, 2100, 0, 0, 1, 2000, 0},
	  {4, TRC_REASON_SEM, 1200, 2400, 0, 0, 2, 2300, 0}},
	 {{0}}},

	{"a post that a third took ended nothing: who waited on was woken by the last",
	 THREADS "@1000 thread=2 park reason=sem object=0x50\n"
		 "@2000 thread=1 unpark reason=sem object=0x50 count=1\n"
		 "@5000 thread=3 unpark reason=sem object=0x50 count=1\n"
		 "@5100 thread=2 resume reason=sem object=0x50\n",
	 {{2, TRC_REASON_SEM, 1000, 5100, 0, 0, 3, 5000, 0}},
	 {{0}}},

	{"each post ends one wait, and none before it",
	 THREADS "@1000 thread=2 park reason=sem object=0x50\n"
		 "@1100 thread=3 park reason=sem object=0x50\n"
		 "@2000 thread=1 unpark reason=sem object=0x50 count=1\n"
		 "@2100 thread=1 unpark reason=sem object=0x50 count=1\n"
		 "@2200 thread=2 resume reason=sem object=0x50\n"
		 "@2300 thread=3 resume reason=sem object=0x50\n"
		 "@2400 thread=4 park reason=sem object=0x50\n"
		 "@2500 thread=4 resume reason=sem object=0x50\n",
	 {{2, TRC_REASON_SEM, 1000, 2200, 0, 0, 1, 2100, 0},
	  {3, TRC_REASON_SEM, 1100, 2300, 0, 0, 1, 2000, 0},
	  {4, TRC_REASON_SEM, 2400, 2500, 0, 0, 0, NEVER, 0}},
	 {{0}}},

	{"who reads is woken by the first that writes, who writes by the last that made room",
	 THREADS "@2000 thread=1 unpark reason=recv object=4 count=1\n"
		 "@2500 thread=4 unpark reason=recv object=4 count=1\n"
		 "@3000 thread=1 unpark reason=send object=4 count=1\n"
		 "@4000 thread=4 unpark reason=send object=4 count=1\n"
		 "@5000 thread=2 wait reason=recv object=4 since=1000\n"
		 "@6000 thread=3 wait reason=send object=4 since=1500\n"
		 "@6100 thread=4 unpark reason=send object=4 count=1\n",
	 {{2, TRC_REASON_RECV, 1000, 5000, 0, 0, 1, 2000, 0},
	  {3, TRC_REASON_SEND, 1500, 6000, 0, 0, 4, 4000, 0}},
	 {{0}}},

	{"nobody has ended a wait for another descriptor, for another reason, or that failed",
	 THREADS "@2000 thread=1 unpark reason=read object=4 count=1\n"
		 "@2000 thread=1 unpark reason=write object=7 count=1\n"
		 "@5000 thread=2 wait reason=read object=5 since=1000\n"
		 "@6000 thread=3 wait reason=recv object=4 since=1100\n"
		 "@7000 thread=4 wait reason=read object=4 since=1200 result=EINTR\n"
		 "@8000 thread=4 wait reason=write object=7 since=7100\n",
	 {{2, TRC_REASON_READ, 1000, 5000, 0, 0, 0, NEVER, 0},
	  {3, TRC_REASON_RECV, 1100, 6000, 0, 0, 0, NEVER, 0},
	  {4, TRC_REASON_READ, 1200, 7000, 0, EINTR, 0, NEVER, 0},
	  {4, TRC_REASON_WRITE, 7100, 8000, 0, 0, 0, NEVER, 0}},
	 {{0}}},

	{"a join ends with the thread that it waits for",
	 THREADS "@1000 thread=1 park reason=join object=0x7000 holder=2\n"
		 "@4000 thread=2 thread_exit\n"
		 "@4200 thread=1 resume reason=join object=0x7000\n",
	 {{1, TRC_REASON_JOIN, 1000, 4200, 0, 0, 2, 4000, 0}},
	 {{0}}},

	{"a join of a thread that had recorded nothing yet: it began and ended in the wait",
	 THREADS "thread 5 tid=105 creator=1 start=1500 end=4000\n"
		 "thread 6 tid=106 creator=2 start=1600 end=4100\n"
		 "thread 7 tid=107 creator=1 start=1700\n"
		 "@1000 thread=1 park reason=join object=0x7000\n"
		 "@4200 thread=1 resume reason=join object=0x7000\n",
	 {{1, TRC_REASON_JOIN, 1000, 4200, 0, 0, 5, 4000, 0}},
	 {{0}}},

	{"of two that did so nobody knows which was joined",
	 THREADS "thread 5 tid=105 creator=1 start=1500 end=4000\n"
		 "thread 6 tid=106 creator=1 start=1600 end=4100\n"
		 "@1000 thread=1 park reason=join object=0x7000\n"
		 "@4200 thread=1 resume reason=join object=0x7000\n",
	 {{1, TRC_REASON_JOIN, 1000, 4200, 0, 0, 0, NEVER, 0}},
	 {{0}}},

	{"a handler that parks inside a park: each resume ends its own",
	 THREADS STACKS "@1000 thread=2 park reason=cond object=0x30 stack=wait\n"
			"@2000 thread=2 park reason=mutex object=0x10 stack=handler\n"
			"@3000 thread=2 resume reason=mutex object=0x10\n"
			"@4000 thread=2 resume reason=cond object=0x30\n",
	 {{2, TRC_REASON_COND, 1000, 4000, 0, 0, 0, NEVER, 0},
	  {2, TRC_REASON_MUTEX, 2000, 3000, 0, 0, 0, NEVER, 0}},
	 {{0}}},

	{"a jump out of a wait: its thread at the same place again shows that it left",
	 THREADS STACKS "@1000 thread=2 park reason=cond object=0x30 stack=wait\n"
			"@5000 thread=2 park reason=cond object=0x30 stack=wait\n"
			"@6000 thread=2 resume reason=cond object=0x30\n",
	 {{2, TRC_REASON_COND, 1000, 5000, LEFT, -1, 0, NEVER, 0},
	  {2, TRC_REASON_COND, 5000, 6000, 0, 0, 0, NEVER, 0}},
	 {{0}}},

	{"a jump out of a wait: a stack that does not hold the wait's shows that it left",
	 THREADS STACKS "@1000 thread=2 park reason=cond object=0x30 stack=wait\n"
			"@4000 thread=2 log\n"
			"@5000 thread=2 wait reason=read object=4 since=4500 stack=elsewhere\n"
			"@9000 thread=2 log\n",
	 {{2, TRC_REASON_COND, 1000, 5000, LEFT, -1, 0, NEVER, 0},
	  {2, TRC_REASON_READ, 4500, 5000, 0, 0, 0, NEVER, 0}},
	 {{0}}},

	{"a jump out of a deep wait: a deep stack that is another one shows that it left, too",
	 THREADS STACKS "stack deep 0x400 0x300 0x200 0x100 0x1f\n"
			"@1000 thread=2 park reason=cond object=0x30 stack=deep\n"
			"@4000 thread=2 log\n"
			"@5000 thread=2 unpark reason=cond object=0x40 stack=deep_elsewhere\n",
	 {{2, TRC_REASON_COND, 1000, 5000, LEFT, -1, 0, NEVER, 0}},
	 {{0}}},

	{"a stack that was not followed to its end shows nothing",
	 THREADS "stack deep 0x400 0x300 0x200 0x100 0x1f\n"
		 "stack cut 0x900 0x910\n"
		 "@1000 thread=2 park reason=cond object=0x30 stack=deep\n"
		 "@5000 thread=2 unpark reason=cond object=0x40 stack=cut\n"
		 "@6000 thread=2 resume reason=cond object=0x30\n",
	 {{2, TRC_REASON_COND, 1000, 6000, 0, 0, 0, NEVER, 0}},
	 {{0}}},

	{"a handler's jump out of two waits: the outer resume abandons the inner wait",
	 THREADS "@1000 thread=2 park reason=cond object=0x30\n"
		 "@2000 thread=2 park reason=mutex object=0x10\n"
		 "@3000 thread=2 resume reason=cond object=0x30\n",
	 {{2, TRC_REASON_COND, 1000, 3000, 0, 0, 0, NEVER, 0},
	  {2, TRC_REASON_MUTEX, 2000, 3000, LEFT, -1, 0, NEVER, 0}},
	 {{0}}},

	{"a thread that exits while parked was cancelled",
	 THREADS "@1000 thread=2 park reason=cond object=0x30\n"
		 "@3000 thread=2 thread_exit\n",
	 {{2, TRC_REASON_COND, 1000, 3000, LEFT, -1, 0, NEVER, 0}},
	 {{0}}},

	{"a region that was open at the park ends: the thread runs",
	 THREADS "@500 thread=2 region_begin\n"
		 "@1000 thread=2 park reason=cond object=0x30\n"
		 "@1500 thread=2 region_begin\n"
		 "@1600 thread=2 region_end\n"
		 "@3000 thread=2 region_end\n",
	 {{2, TRC_REASON_COND, 1000, 3000, LEFT, -1, 0, NEVER, 0}},
	 {{0}}},

	{"a wait for a condition gives up a mutex that others wait for, and goes on",
	 THREADS STACKS "@1000 thread=2 park reason=cond object=0x30 stack=wait\n"
			"@1100 thread=2 unlock reason=mutex object=0x10 stack=wait at=990\n"
			"@3000 thread=2 resume reason=cond object=0x30\n"
			"@4000 thread=2 park reason=cond object=0x30 stack=wait\n"
			"@4100 thread=2 unlock reason=mutex object=0x10 stack=elsewhere\n",
	 {{2, TRC_REASON_COND, 1000, 3000, 0, 0, 0, NEVER, 0},
	  {2, TRC_REASON_COND, 4000, 4100, LEFT, -1, 0, NEVER, 0}},
	 {{2, 990, 0, 0}, {2, 4100, 0, 0}}},

	{"that a wait has taken its lock, or its mutex again, does not show that it had ended before",
	 THREADS STACKS "@1000 thread=2 park reason=mutex object=0x10 holder=1 stack=wait\n"
			"@2000 thread=1 unlock reason=mutex object=0x10 at=1900\n"
			"@2100 thread=2 acquire reason=mutex object=0x10 stack=wait\n"
			"@2200 thread=2 resume reason=mutex object=0x10\n"
			"@3000 thread=2 park reason=cond object=0x30 stack=wait\n"
			"@4000 thread=2 acquire reason=mutex object=0x10 stack=wait\n"
			"@4100 thread=2 resume reason=cond object=0x30\n"
			"@5000 thread=2 park reason=mutex object=0x10 stack=wait\n"
			"@6000 thread=2 acquire reason=mutex object=0x20 stack=wait\n",
	 {{2, TRC_REASON_MUTEX, 1000, 2200, 0, 0, 1, 1900, 1},
	  {2, TRC_REASON_COND, 3000, 4100, 0, 0, 0, NEVER, 0},
	  {2, TRC_REASON_MUTEX, 5000, 6000, LEFT, -1, 0, NEVER, 0}},
	 {{1, 1900, 900, 1}}},

	{"a wait for a condition ends at the signal; then it waits for its mutex",
	 THREADS STACKS "@1000 thread=2 park reason=cond object=0x30 stack=wait\n"
			"@2010 thread=1 unpark reason=cond object=0x30 count=1 at=2000\n"
			"@4010 thread=1 unlock reason=mutex object=0x10 at=4000\n"
			"@4100 thread=2 wait reason=cond_mutex object=0x10 since=2000 stack=wait\n"
			"@4110 thread=2 resume reason=cond object=0x30\n",
	 {{2, TRC_REASON_COND, 1000, 2000, 0, 0, 1, 2000, 0},
	  {2, TRC_REASON_COND_MUTEX, 2000, 4100, 0, 0, 1, 4000, 1}},
	 {{1, 4000, 2000, 1}}},

	{"a thread that runs another fiber has left its wait, whatever that one's stack is like",
	 THREADS "stack other 0x400 0x500 0x600 0x700\n" STACKS
		 "@1000 thread=2 park reason=mutex object=0x10 stack=wait\n"
		 "@2000 thread=2 fiber_switch fiber=5 left=6\n"
		 "@3000 thread=2 park reason=cond object=0x30 stack=other\n",
	 {{2, TRC_REASON_MUTEX, 1000, 2000, LEFT, -1, 0, NEVER, 0},
	  {2, TRC_REASON_COND, 3000, NEVER, OPEN, -1, 0, NEVER, 0}},
	 {{0}}},

	{"but not a wait that the program announced",
	 THREADS "@1000 thread=2 park reason=user object=0x60\n"
		 "@2000 thread=2 fiber_switch fiber=5 left=6\n"
		 "@3000 thread=2 resume reason=user object=0x60\n",
	 {{2, TRC_REASON_USER, 1000, 3000, 0, 0, 0, NEVER, 0}},
	 {{0}}},

	{"a thread waits on the stack of one fiber, then of another, and of none",
	 THREADS "stack other 0x400 0x500 0x600 0x700\n" STACKS
		 "@1000 thread=2 park reason=mutex object=0x10 stack=wait\n"
		 "@2000 thread=2 resume reason=mutex object=0x10\n"
		 "@2100 thread=2 fiber_switch fiber=5 left=6 reason=user stack=wait\n"
		 "@3000 thread=2 park reason=mutex object=0x10 stack=other\n"
		 "@4000 thread=2 resume reason=mutex object=0x10\n"
		 "@4100 thread=2 fiber_switch fiber=0 left=5 reason=user stack=other\n"
		 "@5000 thread=2 park reason=mutex object=0x10 stack=main\n"
		 "@6000 thread=2 resume reason=mutex object=0x10\n",
	 {{2, TRC_REASON_MUTEX, 1000, 2000, 0, 0, 0, NEVER, 0},
	  {2, TRC_REASON_MUTEX, 3000, 4000, 0, 0, 0, NEVER, 0},
	  {2, TRC_REASON_MUTEX, 5000, 6000, 0, 0, 0, NEVER, 0}},
	 {{0}}},

	{"a handler says that a fiber may go on: the wait that it interrupted goes on too",
	 THREADS STACKS "@1000 thread=2 park reason=mutex object=0x10 stack=wait\n"
			"@1500 thread=2 fiber_ready fiber=5 stack=handler\n"
			"@2000 thread=2 resume reason=mutex object=0x10\n"
			"@3000 thread=2 park reason=cond object=0x30 stack=wait\n"
			"@3500 thread=2 fiber_ready fiber=5 stack=elsewhere\n",
	 {{2, TRC_REASON_MUTEX, 1000, 2000, 0, 0, 0, NEVER, 0},
	  {2, TRC_REASON_COND, 3000, 3500, LEFT, -1, 0, NEVER, 0}},
	 {{0}}},

	{"regions that were begun in other fibers, and end elsewhere, are none of a thread's wait",
	 THREADS "@500 thread=2 region_begin\n"
		 "@600 thread=2 fiber_switch fiber=5 left=6\n"
		 "@1000 thread=2 park reason=cond object=0x30\n"
		 "@1500 thread=2 region_begin\n"
		 "@1600 thread=2 region_end\n"
		 "@2000 thread=2 resume reason=cond object=0x30\n"
		 "@2100 thread=2 fiber_switch fiber=7 left=5\n"
		 "@2200 thread=2 region_end\n"
		 "@2300 thread=2 park reason=cond object=0x30\n"
		 "@2400 thread=2 resume reason=cond object=0x30\n",
	 {{2, TRC_REASON_COND, 1000, 2000, 0, 0, 0, NEVER, 0},
	  {2, TRC_REASON_COND, 2300, 2400, 0, 0, 0, NEVER, 0}},
	 {{0}}},

	{"a resume that was lost in a gap: the wait ends with the thread's next event",
	 THREADS "@1000 proc=0 thread=2 park reason=mutex object=0x10\n"
		 "@2000 proc=1 thread=1 gap lost_events=3 since=1500 cause=ring_full\n"
		 "@3000 proc=1 thread=2 log\n"
		 "@4000 proc=1 thread=2 park reason=cond object=0x30\n",
	 {{2, TRC_REASON_MUTEX, 1000, 3000, LEFT, -1, 0, NEVER, 0},
	  {2, TRC_REASON_COND, 4000, NEVER, OPEN, -1, 0, NEVER, 0}},
	 {{0}}},

	{"a resume whose park was lost is no wait",
	 THREADS "@1000 proc=1 thread=1 gap lost_events=1 since=500 cause=overwritten\n"
		 "@3000 thread=2 resume reason=mutex object=0x10\n",
	 {{0}},
	 {{0}}},

	{"what waits when the trace ends has no end, and unlocks before then are charged",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@2000 thread=1 unlock reason=mutex object=0x10\n"
		 "@9000 thread=1 log\n",
	 {{2, TRC_REASON_MUTEX, 1000, NEVER, OPEN, -1, 0, NEVER, 0}},
	 {{1, 2000, 1000, 1}}},

	{"the status table tells of a read that never returned",
	 THREADS STACKS "@1000 thread=2 log\n"
			"status thread=2 reason=read object=7 since=4000 stack=wait\n"
			"status thread=3 reason=0\n",
	 {{2, TRC_REASON_READ, 4000, NEVER, OPEN, -1, 0, NEVER, 0}},
	 {{0}}},

	{"the status table adds nothing to a wait that is known to be open",
	 THREADS STACKS "@1000 thread=2 park reason=mutex object=0x10 stack=wait\n"
			"@1500 thread=2 log\n"
			"status thread=2 reason=mutex object=0x10 since=1000 stack=wait\n",
	 {{2, TRC_REASON_MUTEX, 1000, NEVER, OPEN, -1, 0, NEVER, 0}},
	 {{0}}},

	{"the status of an earlier generation does not bring back a wait that ended",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10\n"
		 "status thread=2 reason=mutex object=0x10 since=990\n"
		 "generation\n"
		 "@5000 thread=2 resume reason=mutex object=0x10\n",
	 {{2, TRC_REASON_MUTEX, 1000, 5000, 0, 0, 0, NEVER, 0}},
	 {{0}}},

	{"a wait that the program announced is made of others at the same place",
	 THREADS STACKS "@1000 thread=2 park reason=user object=0x60 stack=wait\n"
			"@1100 thread=2 park reason=cond object=0x30 stack=wait\n"
			"@2000 thread=2 resume reason=cond object=0x30\n"
			"@2100 thread=2 resume reason=user object=0x60\n",
	 {{2, TRC_REASON_USER, 1000, 2100, 0, 0, 0, NEVER, 0},
	  {2, TRC_REASON_COND, 1100, 2000, 0, 0, 0, NEVER, 0}},
	 {{0}}},

	{"events of two procs are put in order before they are paired",
	 THREADS "@1000 proc=0 thread=2 park reason=mutex object=0x10\n"
		 "@6000 proc=0 thread=3 park reason=mutex object=0x10\n"
		 "@3000 proc=1 thread=2 resume reason=mutex object=0x10\n"
		 "@7000 proc=1 thread=3 resume reason=mutex object=0x10\n"
		 "@2900 proc=2 thread=1 unlock reason=mutex object=0x10\n",
	 {{2, TRC_REASON_MUTEX, 1000, 3000, 0, 0, 1, 2900, 1},
	  {3, TRC_REASON_MUTEX, 6000, 7000, 0, 0, 0, NEVER, 0}},
	 {{1, 2900, 1900, 1}}},
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

static int64_t never(int64_t ns)
{
	return ns == NEVER ? TRC_NEVER : ns;
}

static void check_park(const char *what, size_t i, const struct trc_park *park,
		       const struct park_row *row)
{
	ck_assert_msg(park->thread == row->thread && park->reason == row->reason &&
			      park->start_ns == row->start_ns,
		      "%s: park %zu: thread %u reason %u start %lld", what, i, park->thread,
		      park->reason, (long long)park->start_ns);
	ck_assert_msg(park->end_ns == never(row->end_ns), "%s: park %zu: end %lld", what, i,
		      (long long)park->end_ns);
	ck_assert_msg(park->flags == row->flags, "%s: park %zu: flags %u", what, i, park->flags);
	ck_assert_msg(park->result == row->result || (row->flags && park->result == -1),
		      "%s: park %zu: result %d", what, i, park->result);
	ck_assert_msg(park->waker == row->waker, "%s: park %zu: waker %u", what, i, park->waker);
	ck_assert_msg(park->wake_ns == never(row->wake_ns), "%s: park %zu: wake %lld", what, i,
		      (long long)park->wake_ns);
	ck_assert_msg(park->unlock == row->unlock, "%s: park %zu: unlock %u", what, i,
		      park->unlock);
}

static void check_unlock(const char *what, size_t i, const struct trc_unlock *unlock,
			 const struct unlock_row *row)
{
	ck_assert_msg(unlock->thread == row->thread && unlock->ts_ns == row->ts_ns,
		      "%s: unlock %zu: thread %u at %lld", what, i, unlock->thread,
		      (long long)unlock->ts_ns);
	ck_assert_msg(unlock->caused_ns == row->caused_ns, "%s: unlock %zu: caused %lld", what, i,
		      (long long)unlock->caused_ns);
	ck_assert_msg(unlock->caused_waits == row->caused_waits, "%s: unlock %zu: waits %u", what,
		      i, unlock->caused_waits);
}

START_TEST(test_case)
{
	const struct waits_case *c = &cases[_i];
	struct trc_model *m = model_of(c->text, TRC_PART_WAITS);
	size_t n_parks, n_unlocks, want_parks = 0, want_unlocks = 0;
	const struct trc_park *park = trc_model_parks(m, &n_parks);
	const struct trc_unlock *unlock = trc_model_unlocks(m, &n_unlocks);

	while (want_parks < ROWS_MAX && c->park[want_parks].thread)
		want_parks++;
	while (want_unlocks < ROWS_MAX && c->unlock[want_unlocks].thread)
		want_unlocks++;
	ck_assert_msg(n_parks == want_parks, "%s: %zu parks", c->what, n_parks);
	ck_assert_msg(n_unlocks == want_unlocks, "%s: %zu unlocks", c->what, n_unlocks);
	for (size_t i = 0; i < n_parks; i++)
		check_park(c->what, i, &park[i], &c->park[i]);
	for (size_t i = 0; i < n_unlocks; i++)
		check_unlock(c->what, i, &unlock[i], &c->unlock[i]);
	model_close(m);
}
END_TEST

/* wakers:W1: nothing is charged twice. */
START_TEST(test_charges_stay_within_waits)
{
	for (size_t k = 0; k < N_CASES; k++) {
		struct trc_model *m = model_of(cases[k].text, TRC_PART_WAITS);
		int64_t waited_ns = 0, caused_ns = 0;
		size_t n;
		const struct trc_park *park = trc_model_parks(m, &n);
		const struct trc_unlock *unlock;

		for (size_t i = 0; i < n; i++)
			waited_ns += (park[i].end_ns == TRC_NEVER ? trc_model_end_ns(m)
								  : park[i].end_ns) -
				     park[i].start_ns;
		unlock = trc_model_unlocks(m, &n);
		for (size_t i = 0; i < n; i++)
			caused_ns += unlock[i].caused_ns;
		ck_assert_msg(caused_ns <= waited_ns, "%s", cases[k].what);
		model_close(m);
	}
}
END_TEST

/* Five waits of 73 years each, for one section. */
START_TEST(test_charges_stay_within_what_fits)
{
	char text[2048] = "thread 1 tid=101\n";
	size_t n = strlen(text), n_unlocks;
	const struct trc_unlock *unlock;
	struct trc_model *m;

	for (int i = 2; i < 7; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "@1000 thread=%d park reason=mutex object=0x10 holder=1\n", i);
	n += (size_t)snprintf(text + n, sizeof(text) - n,
			      "@2305843009213693950 thread=1 unlock reason=mutex object=0x10 "
			      "waiters=5\n");
	for (int i = 2; i < 7; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "@2305843009213693951 thread=%d resume reason=mutex "
				      "object=0x10\n",
				      i);
	m = model_of(text, TRC_PART_WAITS);
	unlock = trc_model_unlocks(m, &n_unlocks);
	ck_assert_uint_eq(n_unlocks, 1);
	ck_assert_uint_eq(unlock->caused_waits, 5);
	ck_assert_int_eq(unlock->caused_ns, INT64_MAX);
	model_close(m);
}
END_TEST

START_TEST(test_threads)
{
	struct trc_model *m = model_of(
		"thread 1 tid=101 name=\"main\"\n"
		"thread 2 tid=0 creator=0\n"
		"thread 3 tid=103 start=700 end=9000 name=\"early\"\n"
		"stack s 0x1 0x2\n"
		"@100 thread=1 thread_start tid=101\n"
		"@1000 proc=1 thread=2 thread_start tid=102 creator=1 stack=s\n"
		"@1100 proc=1 thread=2 thread_name named=2 name=\"worker\"\n"
		"@2000 proc=1 thread=2 park reason=cond object=0x30\n"
		"@2500 proc=1 thread=2 park reason=mutex object=0x10\n"
		"@2600 proc=1 thread=2 resume reason=mutex object=0x10\n"
		"@3000 proc=1 thread=2 resume reason=cond object=0x30\n"
		"@4000 proc=1 thread=2 thread_exit\n"
		"@5000 proc=1 thread=0 gap lost_events=7 since=4500 cause=ring_full\n",
		TRC_PART_WAITS);
	size_t n;
	const struct trc_thread *thread = trc_model_threads(m, &n);
	const struct trc_gap *gap;
	const struct trc_proc *proc;

	ck_assert_uint_eq(n, 3);
	ck_assert_str_eq(thread[0].name, "main");
	/* Seen first, not created, at 100: it began before. */
	ck_assert_int_eq(thread[0].start_ns, TRC_NEVER);
	ck_assert_int_eq(thread[0].end_ns, TRC_NEVER);
	ck_assert_uint_eq(thread[1].tid, 102);
	ck_assert_uint_eq(thread[1].creator, 1);
	ck_assert_uint_eq(thread[1].creator_stack, 1);
	ck_assert_str_eq(thread[1].name, "worker");
	ck_assert_int_eq(thread[1].start_ns, 1000);
	ck_assert_int_eq(thread[1].end_ns, 4000);
	ck_assert_int_eq(thread[1].first_ns, 1000);
	ck_assert_int_eq(thread[1].last_ns, 4000);
	/* The wait inside the wait counts once. */
	ck_assert_int_eq(thread[1].parked_ns, 1000);
	ck_assert_uint_eq(thread[1].n_parks, 2);
	ck_assert_uint_eq(thread[1].n_events, 7);
	ck_assert_int_eq(thread[1].on_cpu_ns, TRC_NEVER);
	ck_assert_int_eq(thread[2].start_ns, 700);
	ck_assert_int_eq(thread[2].end_ns, 9000);
	ck_assert_ptr_eq(trc_model_thread(m, 2), &thread[1]);
	ck_assert_ptr_null(trc_model_thread(m, 9));
	gap = trc_model_gaps(m, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(gap->lost_events, 7);
	ck_assert_int_eq(gap->since_ns, 4500);
	ck_assert_uint_eq(gap->cause, TRC_GAP_RING_FULL);
	ck_assert_uint_eq(trc_model_lost_events(m), 7);
	proc = trc_model_procs(m, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(proc[1].n_events, 8);
	ck_assert_uint_eq(proc[1].lost_events, 7);
	ck_assert_int_eq(proc[1].first_ns, 1000);
	ck_assert_int_eq(proc[1].last_ns, 5000);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model_waits");
	TCase *tcase = tcase_create("waits");

	tcase_add_loop_test(tcase, test_case, 0, N_CASES);
	tcase_add_test(tcase, test_charges_stay_within_waits);
	tcase_add_test(tcase, test_charges_stay_within_what_fits);
	tcase_add_test(tcase, test_threads);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
