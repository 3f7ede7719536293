/*
 * causes_test.c - what the causes of a wait are, for traces that are written as text.
 *
 * A line for each row: its depth, the thread, what that was in, from when to when; then the reason of its
 * wait, the unlock that ended the section, and whose stack it has.
 */
#include <errno.h>
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/causes/blame.h"
#include "analyzer/causes/causes.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/suite.h"

#define THREADS                                                                                    \
	"thread 1 tid=101 name=\"main\"\n"                                                         \
	"thread 2 tid=102 creator=1\n"                                                             \
	"thread 3 tid=103 creator=1\n"                                                             \
	"thread 4 tid=104 creator=1\n"                                                             \
	"stack a 0x300 0x200 0x1f\n"                                                               \
	"stack b 0x310 0x210 0x1f\n"

static const struct causes_case {
	const char *what;
	const char *text;
	uint32_t wait; /* id in parks */
	const char *rows;
} cases[] = {
	{"a wait for a lock is what its holder did until it let go, and then waking up",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1 stack=a\n"
		 "@5000 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=b\n"
		 "@5300 thread=2 resume reason=mutex object=0x10\n",
	 1,
	 "0 t2 waiting 1000-5300 mutex wait\n"
	 "1 t1 active 1000-5000 unlock=1 end\n"
	 "1 t2 waking 5000-5300 mutex wait\n"},

	{"each section is a piece; between them nobody held the lock",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@2000 thread=1 unlock reason=mutex object=0x10\n"
		 "@6000 thread=3 unlock reason=mutex object=0x10 held=3500\n"
		 "@6300 thread=2 resume reason=mutex object=0x10\n",
	 1,
	 "0 t2 waiting 1000-6300 mutex\n"
	 "1 t1 active 1000-2000 unlock=1\n"
	 "1 t2 lock_free 2000-2500 mutex\n"
	 "1 t3 active 2500-6000 unlock=2\n"
	 "1 t2 waking 6000-6300 mutex\n"},

	{"the holder's own waits are explained in turn, within the time that it was waited for",
	 THREADS "@500 thread=1 park reason=cond object=0x30 stack=a\n"
		 "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@1500 thread=3 park reason=recv object=5\n"
		 "@3500 thread=3 resume reason=recv object=5\n"
		 "@4000 thread=3 unpark reason=cond object=0x30 count=1 stack=b\n"
		 "@4100 thread=1 resume reason=cond object=0x30\n"
		 "@5000 thread=1 unlock reason=mutex object=0x10 waiters=1\n"
		 "@5300 thread=2 resume reason=mutex object=0x10\n",
	 2,
	 "0 t2 waiting 1000-5300 mutex\n"
	 "1 t1 waiting 1000-4100 cond unlock=1 wait\n"
	 "2 t3 active 1000-1500 end\n"
	 "2 t3 io 1500-3500 recv\n"
	 "2 t3 active 3500-4000 end\n"
	 "2 t1 waking 4000-4100 cond wait\n"
	 "1 t1 active 4100-5000 unlock=1\n"
	 "1 t2 waking 5000-5300 mutex\n"},

	{"who waits on a condition has the mutex up to its release, and waits for nobody until then",
	 THREADS "@1000 thread=1 park reason=cond object=0x30 stack=a\n"
		 "@1100 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@1310 thread=1 unlock reason=mutex object=0x10 at=1300 waiters=1 stack=a\n"
		 "@1350 thread=2 resume reason=mutex object=0x10\n"
		 "@2000 thread=2 unpark reason=cond object=0x30 count=1\n"
		 "@2100 thread=1 resume reason=cond object=0x30\n",
	 2,
	 "0 t2 waiting 1100-1350 mutex\n"
	 "1 t1 active 1100-1300 cond unlock=1 wait\n"
	 "1 t2 waking 1300-1350 mutex\n"},

	{"... nor does its own wait tell of another one up to then",
	 THREADS "@1000 thread=1 park reason=cond object=0x30 stack=a\n"
		 "@1100 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@1310 thread=1 unlock reason=mutex object=0x10 at=1300 waiters=1 stack=a\n"
		 "@1350 thread=2 resume reason=mutex object=0x10\n"
		 "@2000 thread=2 unpark reason=cond object=0x30 count=1\n"
		 "@2100 thread=1 resume reason=cond object=0x30\n",
	 1,
	 "0 t1 waiting 1000-2100 cond wait\n"
	 "1 t1 active 1000-1300 cond wait\n"
	 "1 t2 waking 1300-1350 mutex\n"
	 "1 t2 active 1350-2000\n"
	 "1 t1 waking 2000-2100 cond wait\n"},

	{"who loses its proc in a call that sends waits for a proc meanwhile, and not for the peer",
	 THREADS "@500 source=kernel proc=0 thread=2 proc_start\n"
		 "@1000 thread=2 park reason=send object=5 stack=a\n"
		 "@2000 source=kernel proc=0 thread=2 proc_stop preempted=1\n"
		 "@2000 source=kernel proc=0 thread=3 proc_start\n"
		 "@5000 source=kernel proc=0 thread=3 proc_stop\n"
		 "@5000 source=kernel proc=0 thread=2 proc_start\n"
		 "@6000 thread=2 resume reason=send object=5\n",
	 1,
	 "0 t2 waiting 1000-6000 send wait\n"
	 "1 t2 io 1000-2000 send wait\n"
	 "1 t2 preempted 2000-5000 send wait instead=t3,3000\n"
	 "1 t2 io 5000-6000 send wait\n"},

	{"... and to the end, if it never runs again",
	 THREADS "@500 source=kernel proc=0 thread=2 proc_start\n"
		 "@1000 thread=2 park reason=send object=5 stack=a\n"
		 "@2000 source=kernel proc=0 thread=2 proc_stop preempted=1\n"
		 "@5000 thread=3 log message=\"x\"\n",
	 1,
	 "0 t2 waiting 1000-5000 send wait\n"
	 "1 t2 io 1000-2000 send wait\n"
	 "1 t2 preempted 2000-5000 send wait\n"},

	{"... but of a trace that is cut nobody knows when it ran again",
	 THREADS "@500 source=kernel proc=0 thread=2 proc_start\n"
		 "@1000 thread=2 park reason=send object=5 stack=a\n"
		 "@2000 source=kernel proc=0 thread=2 proc_stop preempted=1\n"
		 "@5000 thread=3 log message=\"x\"\n"
		 "unfinished\n",
	 1,
	 "0 t2 io 1000-5000 send wait\n"},

	{"... also where it holds a lock in it; but not if a thread ended its wait",
	 THREADS "@500 source=kernel proc=0 thread=1 proc_start\n"
		 "@800 thread=1 park reason=write object=5 stack=a\n"
		 "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@2000 source=kernel proc=0 thread=1 proc_stop preempted=1\n"
		 "@3000 source=kernel proc=0 thread=1 proc_start\n"
		 "@3500 thread=1 resume reason=write object=5\n"
		 "@4000 thread=1 park reason=read object=6 stack=b\n"
		 "@4500 source=kernel proc=0 thread=1 proc_stop preempted=1\n"
		 "@4800 thread=3 unpark reason=read object=6 count=1\n"
		 "@4900 source=kernel proc=0 thread=1 proc_start\n"
		 "@5000 thread=1 resume reason=read object=6\n"
		 "@6000 thread=1 unlock reason=mutex object=0x10 waiters=1\n"
		 "@6100 thread=2 resume reason=mutex object=0x10\n",
	 2,
	 "0 t2 waiting 1000-6100 mutex\n"
	 "1 t1 io 1000-2000 write unlock=1 wait\n"
	 "1 t1 preempted 2000-3000 write unlock=1 wait\n"
	 "1 t1 io 3000-3500 write unlock=1 wait\n"
	 "1 t1 running 3500-4000 unlock=1\n"
	 "1 t1 waiting 4000-5000 read unlock=1 wait\n"
	 "2 t3 active 4000-4800\n"
	 "2 t1 waking 4800-5000 read wait\n"
	 "1 t1 running 5000-6000 unlock=1\n"
	 "1 t2 waking 6000-6100 mutex\n"},

	{"who waits for a thread of its own that has not begun is held up by that one, as it starts",
	 "thread 1 tid=101\nthread 2 tid=102 creator=1 start=3000\n"
	 "stack a 0x300 0x200 0x1f\nstack b 0x310 0x210 0x1f\n"
		 "@1000 thread=1 park reason=cond object=97 stack=a\n"
		 "@4000 thread=2 unpark reason=cond object=97 count=1 stack=b\n"
		 "@4100 thread=1 resume reason=cond object=97\n",
	 1,
	 "0 t1 waiting 1000-4100 cond wait\n"
	 "1 t2 starting 1000-3000 end\n"
	 "1 t2 active 3000-4000 end\n"
	 "1 t1 waking 4000-4100 cond wait\n"},

	{"... and by the cycle, once it has begun and waits for who waits for it",
	 "thread 1 tid=101\nthread 2 tid=102 creator=1 start=3000\n"
	 "stack a 0x300 0x200 0x1f\nstack b 0x310 0x210 0x1f\n"
		 "@1000 thread=1 park reason=cond object=97\n"
		 "@3000 thread=2 park reason=mutex object=16 holder=1\n"
		 "@6000 thread=2 resume reason=mutex object=16 result=ETIMEDOUT\n"
		 "@7000 thread=2 unpark reason=cond object=97 count=1\n"
		 "@7100 thread=1 resume reason=cond object=97\n"
		 "@8000 thread=1 unlock reason=mutex object=16 waiters=0\n",
	 1,
	 "0 t1 waiting 1000-7100 cond\n"
	 "1 t2 starting 1000-3000\n"
	 "1 t2 waiting 3000-6000 mutex\n"
	 "2 t1 cycle 3000-6000 cond unlock=1\n"
	 "1 t2 active 6000-7000\n"
	 "1 t1 waking 7000-7100 cond\n"},

	{"who is waited for has been created, and not begun, since its creator waits for who waits for it",
	 "thread 1 tid=101\nthread 2 tid=102 creator=1 start=500 end=4000\n"
	 "thread 3 tid=103 creator=1 start=3000\n"
	 "stack a 0x300 0x200 0x1f\nstack b 0x310 0x210 0x1f\n"
		 "@1000 thread=2 park reason=barrier object=97 stack=a\n"
		 "@1500 thread=1 park reason=join holder=2 stack=a\n"
		 "@3500 thread=3 unpark reason=barrier object=97 count=1 stack=b\n"
		 "@3600 thread=2 resume reason=barrier object=97\n"
		 "@4100 thread=1 resume reason=join\n",
	 1,
	 "0 t2 waiting 1000-3600 barrier wait\n"
	 "1 t1 active 1000-1500\n"
	 "1 t3 starting 1500-3000 end\n"
	 "1 t3 active 3000-3500 end\n"
	 "1 t2 waking 3500-3600 barrier wait\n"},

	{"... or for another thread, which has nothing to do with it",
	 "thread 1 tid=101\nthread 2 tid=102 creator=1 start=500\n"
	 "thread 3 tid=103 creator=1 start=3000\nthread 4 tid=104 creator=1 start=500 end=5000\n"
		 "@1000 thread=2 park reason=barrier object=97\n"
		 "@1500 thread=1 park reason=join holder=4\n"
		 "@3500 thread=3 unpark reason=barrier object=97 count=1\n"
		 "@3600 thread=2 resume reason=barrier object=97\n"
		 "@5100 thread=1 resume reason=join\n",
	 1,
	 "0 t2 waiting 1000-3600 barrier\n"
	 "1 t1 active 1000-1500\n"
	 "1 t3 starting 1500-3000\n"
	 "1 t3 active 3000-3500\n"
	 "1 t2 waking 3500-3600 barrier\n"},

	{"... or since its creator has ended",
	 "thread 1 tid=101 end=1500\nthread 2 tid=102 creator=1 start=500\n"
	 "thread 3 tid=103 creator=1 start=3000\n"
		 "@1000 thread=2 park reason=barrier object=97\n"
		 "@3500 thread=3 unpark reason=barrier object=97 count=1\n"
		 "@3600 thread=2 resume reason=barrier object=97\n",
	 1,
	 "0 t2 waiting 1000-3600 barrier\n"
	 "1 t1 active 1000-1500\n"
	 "1 t3 starting 1500-3000\n"
	 "1 t3 active 3000-3500\n"
	 "1 t2 waking 3500-3600 barrier\n"},

	{"a creator that waited before, or in a wait that it announced, is waited for",
	 "thread 1 tid=101\nthread 2 tid=102 creator=1 start=500\n"
	 "thread 3 tid=103 creator=1 start=3000\n"
		 "@1000 thread=2 park reason=barrier object=97\n"
		 "@1200 thread=1 park reason=sleep\n"
		 "@1600 thread=1 resume reason=sleep\n"
		 "@2000 thread=1 park reason=user object=5\n"
		 "@3500 thread=3 unpark reason=barrier object=97 count=1\n"
		 "@3600 thread=2 resume reason=barrier object=97\n"
		 "@4100 thread=1 resume reason=user object=5\n",
	 1,
	 "0 t2 waiting 1000-3600 barrier\n"
	 "1 t1 active 1000-1200\n"
	 "1 t1 sleeping 1200-1600 sleep\n"
	 "1 t1 active 1600-2000\n"
	 "1 t1 unknown 2000-3000 user\n"
	 "1 t3 active 3000-3500\n"
	 "1 t2 waking 3500-3600 barrier\n"},

	{"who comes last to a barrier waits for nobody: it runs, or has no proc",
	 "thread 1 tid=101\nthread 2 tid=102 creator=1\n"
	 "stack a 0x300 0x200 0x1f\nstack b 0x310 0x210 0x1f\n"
		 "@500 source=kernel proc=0 thread=2 proc_start\n"
		 "@600 source=kernel proc=1 thread=1 proc_start\n"
		 "@1000 thread=1 park reason=barrier object=97 stack=a\n"
		 "@1050 source=kernel proc=1 thread=1 proc_stop\n"
		 "@2000 thread=2 park reason=barrier object=97 stack=b\n"
		 "@2100 source=kernel proc=0 thread=2 proc_stop preempted=1\n"
		 "@2500 source=kernel proc=0 thread=2 proc_start\n"
		 "@2600 thread=2 unpark reason=barrier object=97 count=18446744073709551615\n"
		 "@2700 thread=2 resume reason=barrier object=97\n"
		 "@3000 source=kernel proc=1 thread=1 proc_start\n"
		 "@3100 thread=1 resume reason=barrier object=97\n",
	 1,
	 "0 t1 waiting 1000-3100 barrier wait\n"
	 "1 t2 running 1000-2000\n"
	 "1 t2 waiting 2000-2600 barrier wait\n"
	 "2 t2 running 2000-2100 barrier wait\n"
	 "2 t2 preempted 2100-2500 barrier wait\n"
	 "2 t2 running 2500-2600 barrier wait\n"
	 "1 t1 waking 2600-3100 barrier wait\n"},

	{"... which nobody knows without switch records",
	 "thread 1 tid=101\nthread 2 tid=102 creator=1\n"
		 "@1000 thread=1 park reason=barrier object=97\n"
		 "@2000 thread=2 park reason=barrier object=97\n"
		 "@2600 thread=2 unpark reason=barrier object=97 count=18446744073709551615\n"
		 "@2700 thread=2 resume reason=barrier object=97\n"
		 "@3100 thread=1 resume reason=barrier object=97\n",
	 1,
	 "0 t1 waiting 1000-3100 barrier\n"
	 "1 t2 active 1000-2000\n"
	 "1 t2 active 2000-2600 barrier\n"
	 "1 t1 waking 2600-3100 barrier\n"},

	{"who finds that a futex has changed did not wait, and nobody woke it, nor a time limit",
	 THREADS "@1000 thread=2 park reason=futex object=0x10 stack=a\n"
		 "@1500 thread=2 resume reason=futex object=0x10 result=EAGAIN\n",
	 1, "0 t2 active 1000-1500 futex wait\n"},

	{"a sleep under a lock is what the others wait for",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@1200 thread=1 park reason=sleep stack=a\n"
		 "@4200 thread=1 resume reason=sleep\n"
		 "@5000 thread=1 unlock reason=mutex object=0x10 waiters=1\n"
		 "@5000 thread=2 resume reason=mutex object=0x10\n",
	 1,
	 "0 t2 waiting 1000-5000 mutex\n"
	 "1 t1 active 1000-1200 unlock=1\n"
	 "1 t1 sleeping 1200-4200 sleep unlock=1 wait\n"
	 "1 t1 active 4200-5000 unlock=1\n"},

	{"with switch records: on a proc, preempted, or off it for another reason",
	 THREADS "@900 proc=0 source=kernel thread=1 proc_start\n"
		 "@1000 proc=1 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@300000 proc=0 source=kernel thread=1 proc_stop preempted=1\n"
		 "@500000 proc=0 source=kernel thread=1 proc_start\n"
		 "@600000 proc=0 source=kernel thread=1 proc_stop preempted=0\n"
		 "@900000 proc=0 source=kernel thread=1 proc_start\n"
		 "@1000000 proc=0 thread=1 unlock reason=mutex object=0x10 waiters=1\n"
		 "@1000300 proc=1 thread=2 resume reason=mutex object=0x10\n",
	 1,
	 "0 t2 waiting 1000-1000300 mutex\n"
	 "1 t1 running 1000-300000 unlock=1\n"
	 "1 t1 preempted 300000-500000 unlock=1\n"
	 "1 t1 running 500000-600000 unlock=1\n"
	 "1 t1 off_cpu 600000-900000 unlock=1\n"
	 "1 t1 running 900000-1000000 unlock=1\n"
	 "1 t2 waking 1000000-1000300 mutex\n"},

	{"who ran instead is who ran longest, of the program, on the proc that the thread was taken off, in the "
	 "time that is explained",
	 THREADS "@900 proc=0 source=kernel thread=1 proc_start\n"
		 "@250000 proc=0 source=kernel thread=1 proc_stop preempted=1\n"
		 "@250000 proc=0 source=kernel thread=4 proc_start\n"
		 "@300000 proc=1 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@330000 proc=0 source=kernel thread=4 proc_stop preempted=0\n"
		 "@340000 proc=0 source=kernel thread=3 proc_start\n"
		 "@345000 proc=2 source=kernel thread=4 proc_start\n"
		 "@380000 proc=0 source=kernel thread=3 proc_stop preempted=0\n"
		 "@500000 proc=2 source=kernel thread=4 proc_stop preempted=0\n"
		 "@510000 proc=0 source=kernel thread=1 proc_start\n"
		 "@900000 proc=0 source=kernel thread=1 proc_stop preempted=1\n"
		 "@910000 proc=0 source=kernel thread=1 proc_start\n"
		 "@1000000 proc=0 thread=1 unlock reason=mutex object=0x10 waiters=1\n"
		 "@1000000 proc=1 thread=2 resume reason=mutex object=0x10\n",
	 1,
	 "0 t2 waiting 300000-1000000 mutex\n"
	 "1 t1 preempted 300000-510000 unlock=1 instead=t3,40000\n"
	 "1 t1 running 510000-900000 unlock=1\n"
	 "1 t1 preempted 900000-910000 unlock=1\n"
	 "1 t1 running 910000-1000000 unlock=1\n"},

	{"with switch records, before a thread's first: one that began in the trace is starting; of another "
	 "nobody knows",
	 "thread 1 tid=101 name=\"main\"\n"
	 "thread 2 tid=102 creator=1 start=500\n"
	 "thread 3 tid=103 creator=1\n"
	 "@900 thread=3 park reason=join holder=2\n"
	 "@2000 proc=0 source=kernel thread=2 proc_start\n"
	 "@2100 proc=0 thread=2 park reason=cond object=0x30\n"
	 "@3000 proc=0 source=kernel thread=2 proc_stop preempted=0\n"
	 "@7000 proc=1 source=kernel thread=1 proc_start\n"
	 "@8000 proc=1 thread=1 unpark reason=cond object=0x30 count=1\n"
	 "@8100 proc=0 thread=2 resume reason=cond object=0x30\n"
	 "@8200 proc=0 thread=2 thread_exit\n"
	 "@8300 thread=3 resume reason=join\n",
	 1,
	 "0 t3 waiting 900-8300 join\n"
	 "1 t2 starting 900-2000\n"
	 "1 t2 running 2000-2100\n"
	 "1 t2 waiting 2100-8100 cond\n"
	 "2 t1 active 2100-7000\n"
	 "2 t1 running 7000-8000\n"
	 "2 t2 waking 8000-8100 cond\n"
	 "1 t2 running 8100-8200\n"
	 "1 t3 waking 8200-8300 join\n"},

	{"where the holder was sampled each piece has the stack of its sample",
	 THREADS "sample_event 1\n"
		 "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@2000 thread=1 sample event=1 value=1000 period=1000 stack=a\n"
		 "@3000 thread=1 sample event=1 value=1000 period=1000 stack=b\n"
		 "@4000 thread=1 sample event=1 value=1000 period=1000 stack=b\n"
		 "@5000 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=a\n"
		 "@5000 thread=2 resume reason=mutex object=0x10\n",
	 1,
	 "0 t2 waiting 1000-5000 mutex\n"
	 "1 t1 active 1000-2500 unlock=1 sample\n"
	 "1 t1 active 2500-5000 unlock=1 sample\n"},

	{"a condition variable is waited for until somebody signals; who was not there is asked for "
	 "its creator",
	 "thread 1 tid=101 name=\"main\"\n"
	 "thread 2 tid=102 creator=1\n"
	 "thread 3 tid=103 creator=1 start=3000\n"
	 "@1000 thread=2 park reason=cond object=0x30\n"
	 "@4000 thread=3 unpark reason=cond object=0x30 count=1\n"
	 "@4200 thread=2 resume reason=cond object=0x30\n",
	 1,
	 "0 t2 waiting 1000-4200 cond\n"
	 "1 t1 active 1000-3000\n"
	 "1 t3 active 3000-4000\n"
	 "1 t2 waking 4000-4200 cond\n"},

	{"a join is waited for as long as the other thread lives",
	 "thread 1 tid=101 name=\"main\"\n"
	 "thread 2 tid=102 creator=1 start=500 end=4000\n"
	 "@1000 thread=1 park reason=join holder=2\n"
	 "@4300 thread=1 resume reason=join\n",
	 1,
	 "0 t1 waiting 1000-4300 join\n"
	 "1 t2 active 1000-4000\n"
	 "1 t1 waking 4000-4300 join\n"},

	{"who is joined has been created, and not begun; another one waits for who joins it",
	 "thread 1 tid=101 name=\"main\"\n"
	 "thread 2 tid=102 creator=1 start=3000 end=4000\n"
	 "thread 3 tid=103 creator=1\n"
	 "stack a 0x300 0x200 0x1f\n"
	 "stack b 0x310 0x210 0x1f\n"
	 "@1000 thread=1 park reason=join holder=2 stack=a\n"
	 "@1500 thread=3 park reason=mutex object=0x10 holder=1\n"
	 "@4300 thread=1 resume reason=join\n"
	 "@5000 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=b\n"
	 "@5000 thread=3 resume reason=mutex object=0x10\n",
	 2,
	 "0 t3 waiting 1500-5000 mutex\n"
	 "1 t1 waiting 1500-4300 join unlock=1 wait\n"
	 "2 t2 starting 1500-3000\n"
	 "2 t2 active 3000-4000\n"
	 "2 t1 waking 4000-4300 join wait\n"
	 "1 t1 active 4300-5000 unlock=1 end\n"},

	{"what was given up was waited for on purpose, if nobody held anything",
	 THREADS "@1000 thread=2 park reason=cond object=0x30\n"
		 "@3000 thread=2 resume reason=cond object=0x30 result=ETIMEDOUT\n",
	 1, "0 t2 sleeping 1000-3000 cond\n"},

	{"a wait that goes on after its time limit is for who ends the last, if who signals it waits for it, too, as for a lock",
	 THREADS "@100 thread=1 park reason=cond object=0x30 stack=a\n"
		 "@200 thread=2 unpark reason=cond object=0x30 count=1 stack=b\n"
		 "@300 thread=1 resume reason=cond object=0x30\n"
		 "@1000 thread=2 park reason=cond object=0x30 stack=a\n"
		 "@3000 thread=2 resume reason=cond object=0x30 result=ETIMEDOUT\n"
		 "@3005 thread=2 park reason=cond_mutex object=0x40 stack=a\n"
		 "@3010 thread=2 resume reason=cond_mutex object=0x40\n"
		 "@3020 thread=2 park reason=cond object=0x30 stack=a\n"
		 "@5000 thread=1 unpark reason=cond object=0x30 count=1 stack=b\n"
		 "@5100 thread=2 resume reason=cond object=0x30\n",
	 2, "0 t2 waiting 1000-3000 cond wait\n1 t1 active 1000-3000 end\n"},

	{"it is up to its time limit, if nobody who signals it waits for it: the thread is a timer's",
	 THREADS "@1000 thread=2 park reason=cond object=0x30 stack=a\n"
		 "@3000 thread=2 resume reason=cond object=0x30 result=ETIMEDOUT\n"
		 "@3020 thread=2 park reason=cond object=0x30 stack=a\n"
		 "@5000 thread=1 unpark reason=cond object=0x30 count=1 stack=b\n"
		 "@5100 thread=2 resume reason=cond object=0x30\n",
	 1, "0 t2 sleeping 1000-3000 cond wait\n"},

	{"a thread that has ended waits no more, though the end of its wait was lost",
	 "thread 1 tid=101\nthread 2 tid=102 creator=1 start=500 end=4000\nstack a 0x300 0x200 0x1f\n"
	 "@1000 thread=2 park reason=mutex object=0x10 holder=1 stack=a\n"
	 "@3000 proc=1 gap lost_events=2 since=1500 cause=ring_full\n"
	 "@9000 thread=1 log message=\"x\"\n",
	 1, "0 t2 events_lost 1000-4000 mutex wait\n"},

	{"nor does it if the thread woke another in between, as those do that take from a queue and put into it: no circle",
	 THREADS "@1000 thread=2 park reason=cond object=0x30 stack=a\n"
		 "@2000 thread=1 park reason=cond object=0x30 stack=a\n"
		 "@3000 thread=2 resume reason=cond object=0x30 result=ETIMEDOUT\n"
		 "@3020 thread=2 park reason=cond object=0x30 stack=a\n"
		 "@4000 thread=1 resume reason=cond object=0x30 result=ETIMEDOUT\n"
		 "@4010 thread=1 unpark reason=cond object=0x30 count=1 stack=b\n"
		 "@4050 thread=2 resume reason=cond object=0x30\n"
		 "@4060 thread=1 park reason=cond object=0x30 stack=a\n"
		 "@5000 thread=2 unpark reason=cond object=0x30 count=1 stack=b\n"
		 "@5100 thread=1 resume reason=cond object=0x30\n",
	 1,
	 "0 t2 waiting 1000-3000 cond wait\n"
	 "1 t1 active 1000-2000 end\n"
	 "1 t1 sleeping 2000-3000 cond wait\n"},

	{"nor does it go on if the thread did something else for longer than it had waited",
	 THREADS "@100 thread=1 park reason=cond object=0x30 stack=a\n"
		 "@200 thread=2 unpark reason=cond object=0x30 count=1 stack=b\n"
		 "@300 thread=1 resume reason=cond object=0x30\n"
		 "@1000 thread=2 park reason=cond object=0x30 stack=a\n"
		 "@1100 thread=2 resume reason=cond object=0x30 result=ETIMEDOUT\n"
		 "@3020 thread=2 park reason=cond object=0x30 stack=a\n"
		 "@5000 thread=1 unpark reason=cond object=0x30 count=1 stack=b\n"
		 "@5100 thread=2 resume reason=cond object=0x30\n",
	 2, "0 t2 sleeping 1000-1100 cond wait\n"},

	{"a lock that is given up was held by somebody, until then",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@3000 thread=2 resume reason=mutex object=0x10 result=ETIMEDOUT\n"
		 "@5000 thread=1 unlock reason=mutex object=0x10\n",
	 1, "0 t2 waiting 1000-3000 mutex\n1 t1 active 1000-3000 unlock=1\n"},

	{"threads that wait for each other at the end are a deadlock",
	 THREADS "@1000 thread=1 park reason=mutex object=0x20 holder=2\n"
		 "@2000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@9000 thread=3 log message=\"x\"\n"
		 "status thread=1 reason=mutex object=0x20 since=1000 holder=2\n"
		 "status thread=2 reason=mutex object=0x10 since=2000 holder=1\n",
	 2,
	 "0 t2 waiting 2000-9000 mutex\n"
	 "1 t1 waiting 2000-9000 mutex\n"
	 "2 t2 deadlock 2000-9000 mutex\n"},

	{"a condition that nobody has signalled at the end",
	 THREADS "@1000 thread=2 park reason=cond object=0x30\n"
		 "@9000 thread=3 log message=\"x\"\n"
		 "status thread=2 reason=cond object=0x30 since=1000\n",
	 1, "0 t2 unwoken 1000-9000 cond\n"},

	{"nobody is known to have ended it; or events were lost",
	 THREADS "@1000 thread=2 park reason=sem object=0x30\n"
		 "@2000 thread=2 resume reason=sem object=0x30\n",
	 1, "0 t2 unknown 1000-2000 sem\n"},
	{"two that gave up in turn what the other held: the chain comes back to the first wait",
	 THREADS "@1000 thread=1 park reason=mutex object=0x20 holder=2 stack=a\n"
		 "@1500 thread=2 park reason=mutex object=0x10 holder=1 stack=a\n"
		 "@4000 thread=1 resume reason=mutex object=0x20 result=ETIMEDOUT\n"
		 "@5000 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=a\n"
		 "@5100 thread=2 resume reason=mutex object=0x10\n"
		 "@6000 thread=2 unlock reason=mutex object=0x20 stack=b\n",
	 2,
	 "0 t2 waiting 1500-5100 mutex wait\n"
	 "1 t1 waiting 1500-4000 mutex unlock=1 wait\n"
	 "2 t2 cycle 1500-4000 mutex unlock=2 wait\n"
	 "1 t1 active 4000-5000 unlock=1 end\n"
	 "1 t2 waking 5000-5100 mutex wait\n"},

	{"behind a holder: who ended its wait is not known, or not in the trace",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@1200 thread=1 park reason=sem object=0x30 stack=a\n"
		 "@1900 proc=1 gap lost_events=2 since=1500 cause=ring_full\n"
		 "@2000 thread=1 resume reason=sem object=0x30\n"
		 "@3000 thread=1 park reason=sem object=0x30 stack=a\n"
		 "@4000 thread=1 resume reason=sem object=0x30\n"
		 "@5000 thread=1 unlock reason=mutex object=0x10 waiters=1\n"
		 "@5000 thread=2 resume reason=mutex object=0x10\n",
	 1,
	 "0 t2 waiting 1000-5000 mutex\n"
	 "1 t1 active 1000-1200 unlock=1\n"
	 "1 t1 events_lost 1200-2000 sem unlock=1 wait\n"
	 "1 t1 active 2000-3000 unlock=1\n"
	 "1 t1 unknown 3000-4000 sem unlock=1 wait\n"
	 "1 t1 active 4000-5000 unlock=1\n"},

	{"the same, where events were lost",
	 THREADS "@1000 thread=2 park reason=sem object=0x30\n"
		 "@1900 proc=1 gap lost_events=2 since=1500 cause=ring_full\n"
		 "@2000 thread=2 resume reason=sem object=0x30\n",
	 1, "0 t2 events_lost 1000-2000 sem\n"},

	{"... and after the wait: who ended it may have recorded that only when it ran on",
	 THREADS "@1000 thread=2 park reason=sem object=0x30\n"
		 "@2000 thread=2 resume reason=sem object=0x30\n"
		 "@9000 proc=1 gap lost_events=2 since=8000 cause=ring_full\n",
	 1, "0 t2 events_lost 1000-2000 sem\n"},
	{"... of a lock, too",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@2000 thread=2 resume reason=mutex object=0x10\n"
		 "@9000 proc=1 gap lost_events=2 since=8000 cause=ring_full\n",
	 1, "0 t2 events_lost 1000-2000 mutex\n"},
	{"... but not long after it",
	 THREADS "@1000 thread=2 park reason=sem object=0x30\n"
		 "@2000 thread=2 resume reason=sem object=0x30\n"
		 "@500000000 proc=1 gap lost_events=2 since=400000000 cause=ring_full\n",
	 1, "0 t2 unknown 1000-2000 sem\n"},
	{"... but of a trace that is cut the event that tells may be behind the end",
	 THREADS "@1000 thread=2 park reason=sem object=0x30\n"
		 "@2000 thread=2 resume reason=sem object=0x30\n"
		 "unfinished\n",
	 1, "0 t2 events_lost 1000-2000 sem\n"},
	{"of a wait in the chain they may have been lost before others came to wait",
	 THREADS "@1000 thread=1 park reason=sem object=0x30 stack=a\n"
		 "@1900 proc=1 gap lost_events=2 since=1500 cause=ring_full\n"
		 "@2000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@3000 thread=1 resume reason=sem object=0x30\n"
		 "@4000 thread=1 unlock reason=mutex object=0x10 waiters=1\n"
		 "@4000 thread=2 resume reason=mutex object=0x10\n",
	 2,
	 "0 t2 waiting 2000-4000 mutex\n"
	 "1 t1 events_lost 2000-3000 sem unlock=1 wait\n"
	 "1 t1 active 3000-4000 unlock=1\n"},
	{"who seems to wait for a lock that it gives back later may have had it since events were lost: no cycle",
	 THREADS "@1000 thread=1 park reason=mutex object=0x10 holder=3\n"
		 "@1500 thread=2 park reason=mutex object=0x10 holder=3\n"
		 "@2000 thread=3 unlock reason=mutex object=0x10 waiters=2\n"
		 "@3000 proc=1 gap lost_events=2 since=2500 cause=ring_full\n"
		 "@5000 thread=1 unlock reason=mutex object=0x10 waiters=1\n"
		 "@5100 thread=2 resume reason=mutex object=0x10\n",
	 2,
	 "0 t2 waiting 1500-5100 mutex\n"
	 "1 t3 active 1500-2000 unlock=1\n"
	 "1 t1 waiting 2000-5000 mutex unlock=2\n"
	 "2 t1 events_lost 2000-5000 mutex unlock=2\n"
	 "1 t2 waking 5000-5100 mutex\n"},
	{"off its proc in no recorded wait: not if the wait may be among lost events, but for those of other times",
	 THREADS "@900 proc=0 source=kernel thread=1 proc_start\n"
		 "@1000 proc=1 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@600000 proc=0 gap lost_events=2 since=500000 cause=ring_full\n"
		 "@600500 proc=0 source=kernel thread=1 proc_stop preempted=0\n"
		 "@900000 proc=0 source=kernel thread=1 proc_start\n"
		 "@910000 proc=0 source=kernel thread=1 proc_stop preempted=0\n"
		 "@950000 proc=0 source=kernel thread=1 proc_start\n"
		 "@1000000 proc=0 thread=1 unlock reason=mutex object=0x10 waiters=1\n"
		 "@1000300 proc=1 thread=2 resume reason=mutex object=0x10\n",
	 1,
	 "0 t2 waiting 1000-1000300 mutex\n"
	 "1 t1 running 1000-600500 unlock=1\n"
	 "1 t1 events_lost 600500-900000 unlock=1\n"
	 "1 t1 running 900000-910000 unlock=1\n"
	 "1 t1 off_cpu 910000-950000 unlock=1\n"
	 "1 t1 running 950000-1000000 unlock=1\n"
	 "1 t2 waking 1000000-1000300 mutex\n"},

	{"that nobody held a lock is not known where events were lost: an unlock may be among them",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@2000 thread=1 unlock reason=mutex object=0x10\n"
		 "@2300 proc=1 gap lost_events=2 since=2200 cause=ring_full\n"
		 "@6000 thread=3 unlock reason=mutex object=0x10 held=3500\n"
		 "@6300 thread=2 resume reason=mutex object=0x10\n",
	 1,
	 "0 t2 waiting 1000-6300 mutex\n"
	 "1 t1 active 1000-2000 unlock=1\n"
	 "1 t2 events_lost 2000-2500 mutex\n"
	 "1 t3 active 2500-6000 unlock=2\n"
	 "1 t2 waking 6000-6300 mutex\n"},

	{"... nor who let go last, if that may be lost",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@2000 thread=1 unlock reason=mutex object=0x10\n"
		 "@5000 proc=1 gap lost_events=2 since=3000 cause=ring_full\n"
		 "@6300 thread=2 resume reason=mutex object=0x10\n",
	 1,
	 "0 t2 waiting 1000-6300 mutex\n"
	 "1 t1 active 1000-2000 unlock=1\n"
	 "1 t2 events_lost 2000-6300 mutex\n"},

	{"... nor, of who gave up, when the lock was free",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@2000 thread=1 unlock reason=mutex object=0x10\n"
		 "@3000 proc=1 gap lost_events=2 since=2500 cause=ring_full\n"
		 "@6000 thread=2 resume reason=mutex object=0x10 result=ETIMEDOUT\n"
		 "@7000 thread=3 unlock reason=mutex object=0x10 held=3000\n",
	 1,
	 "0 t2 waiting 1000-6000 mutex\n"
	 "1 t1 active 1000-2000 unlock=1\n"
	 "1 t2 events_lost 2000-4000 mutex\n"
	 "1 t3 active 4000-6000 unlock=2\n"},

	{"lost records of scheduling hide neither unlocks nor who woke whom",
	 THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@2000 thread=1 unlock reason=mutex object=0x10\n"
		 "@5000 source=kernel proc=1 gap lost_events=2 since=3000 cause=kernel\n"
		 "@6300 thread=2 resume reason=mutex object=0x10\n"
		 "@7000 thread=3 park reason=sem object=0x30\n"
		 "@8000 source=kernel proc=1 gap lost_events=2 since=7500 cause=kernel\n"
		 "@9000 thread=3 resume reason=sem object=0x30\n",
	 1,
	 "0 t2 waiting 1000-6300 mutex\n"
	 "1 t1 active 1000-2000 unlock=1\n"
	 "1 t2 waking 2000-6300 mutex\n"},

	{"a reader that leaves let no reader in: who was let in by the writer and ran late was waking",
	 THREADS "@1000 thread=2 park reason=rwlock_read object=0x10 holder=1\n"
		 "@2000 thread=3 park reason=rwlock_read object=0x10 holder=1\n"
		 "@4000 thread=1 unlock reason=rwlock_write object=0x10\n"
		 "@4100 thread=2 resume reason=rwlock_read object=0x10\n"
		 "@6000 thread=2 unlock reason=rwlock_read object=0x10 held=1900\n"
		 "@6200 thread=3 resume reason=rwlock_read object=0x10\n",
	 2,
	 "0 t3 waiting 2000-6200 rwlock_read\n"
	 "1 t1 active 2000-4000 unlock=1\n"
	 "1 t3 waking 4000-6200 rwlock_read\n"},

	{"a reader behind a writer that waits for another reader is held up by that reader",
	 THREADS "@1000 thread=1 park reason=rwlock_write object=0x10\n"
		 "@2000 thread=3 park reason=rwlock_read object=0x10\n"
		 "@4000 thread=2 unlock reason=rwlock_read object=0x10\n"
		 "@4100 thread=1 resume reason=rwlock_write object=0x10\n"
		 "@6000 thread=1 unlock reason=rwlock_write object=0x10\n"
		 "@6200 thread=3 resume reason=rwlock_read object=0x10\n",
	 2,
	 "0 t3 waiting 2000-6200 rwlock_read\n"
	 "1 t1 waiting 2000-4100 rwlock_write unlock=2\n"
	 "2 t2 active 2000-4000 unlock=1\n"
	 "2 t1 waking 4000-4100 rwlock_write\n"
	 "1 t1 active 4100-6000 unlock=2\n"
	 "1 t3 waking 6000-6200 rwlock_read\n"},

	{"what is written out is waited for",
	 THREADS "@1000 thread=2 park reason=fsync object=3\n"
		 "@2000 thread=2 resume reason=fsync object=3\n",
	 1, "0 t2 io 1000-2000 fsync\n"},
};

static void add_row(struct text *t, const struct trc_model *m, const struct trc_cause *row)
{
	add(t, "%" PRIu32 " t%" PRIu32 " %s %" PRId64 "-%" PRId64, row->depth, row->thread,
	    trc_cause_name(row->kind), row->from_ns, row->to_ns);
	if (row->reason)
		add(t, " %s", trc_reader_reason_name(trc_model_reader(m), row->reason));
	if (row->unlock)
		add(t, " unlock=%" PRIu32, row->unlock);
	if (row->stack_of)
		add(t, " %s", trc_cause_stack_name(row->stack_of));
	if (row->instead)
		add(t, " instead=t%" PRIu32 ",%" PRId64, row->instead, row->instead_ns);
	add(t, "\n");
}

START_TEST(test_case)
{
	const struct causes_case *test = &cases[_i];
	struct trc_model *m = model_of(test->text, TRC_CAUSES_PARTS);
	const struct trc_cause *rows;
	struct trc_causes *causes;
	struct text text = {.n = 0};
	size_t n;

	ck_assert_int_eq(trc_causes_open(&causes, m), 0);
	ck_assert_int_eq(trc_causes_of_wait(causes, test->wait, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		add_row(&text, m, &rows[i]);
	ck_assert_msg(!strcmp(text.at, test->rows), "%s:\n%snot:\n%s", test->what, text.at,
		      test->rows);
	trc_causes_close(causes);
	model_close(m);
}
END_TEST

/* Of all waits, by kind, by stack and whose it is, and by thread. */
enum { STACKS = 8, STACKS_OF = TRC_CAUSE_STACK_END + 1, SUM_THREADS = 8 };
struct sums {
	int64_t ns[TRC_CAUSE_KINDS][STACKS][STACKS_OF][SUM_THREADS];
};

static bool all_wanted(void *context, const struct trc_park *park, uint32_t *labels)
{
	*labels = 0;
	return true;
}

/* In a cycle either may be charged (blame:U2); a lock that nobody has, or nobody knows who, is no thread's. */
static bool is_of_one(uint8_t kind)
{
	return kind != TRC_CAUSE_CYCLE && kind != TRC_CAUSE_DEADLOCK && kind != TRC_CAUSE_FREE &&
	       kind != TRC_CAUSE_LOST;
}

static void sums_add(struct sums *sums, uint8_t kind, uint32_t stack, uint8_t stack_of,
		     uint32_t thread, int64_t ns)
{
	ck_assert(stack < STACKS && stack_of < STACKS_OF && thread < SUM_THREADS);
	sums->ns[kind][stack][stack_of][is_of_one(kind) ? thread : 0] += ns;
}

static int sum_blame(void *context, const struct trc_blame *blame)
{
	sums_add(context, blame->kind, blame->stack, blame->stack_of, blame->thread, blame->ns);
	return 0;
}

static void sum_leaves(struct sums *sums, const struct trc_cause *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].leaf)
			sums_add(sums, rows[i].kind, rows[i].stack, rows[i].stack_of,
				 rows[i].thread, rows[i].to_ns - rows[i].from_ns);
}

/* What there is of a thread and a kind, as text. */
static void sums_tell(struct text *t, const struct sums *sums)
{
	for (int kind = 0; kind < TRC_CAUSE_KINDS; kind++)
		for (int stack = 0; stack < STACKS; stack++)
			for (int of = 0; of < STACKS_OF; of++)
				for (int thread = 0; thread < SUM_THREADS; thread++)
					if (sums->ns[kind][stack][of][thread])
						add(t, "%s, thread %d, stack %d, %s: %" PRId64 "\n",
						    trc_cause_name((enum trc_cause_kind)kind), thread, stack,
						    of ? trc_cause_stack_name((enum trc_cause_stack)of) : "none",
						    sums->ns[kind][stack][of][thread]);
}

/* Two ways to the same: each wait by itself, and all of them in one pass. */
START_TEST(test_sum_of_case)
{
	const struct causes_case *test = &cases[_i];
	struct trc_model *m = model_of(test->text, TRC_CAUSES_PARTS);
	static struct sums leaves, blame;
	struct text of_leaves = {.n = 0}, of_blame = {.n = 0};
	const struct trc_blame_target target = {
		.wanted = all_wanted, .charge = sum_blame, .context = &blame};
	const struct trc_cause *rows;
	struct trc_causes *causes;
	size_t n, n_parks;

	memset(&leaves, 0, sizeof(leaves));
	memset(&blame, 0, sizeof(blame));
	trc_model_parks(m, &n_parks);
	ck_assert_int_eq(trc_causes_open(&causes, m), 0);
	for (uint32_t i = 1; i <= n_parks; i++) {
		ck_assert_int_eq(trc_causes_of_wait(causes, i, &rows, &n), 0);
		sum_leaves(&leaves, rows, n);
	}
	ck_assert_int_eq(trc_blame_sum(m, &target), 0);
	sums_tell(&of_leaves, &leaves);
	sums_tell(&of_blame, &blame);
	ck_assert_msg(!strcmp(of_leaves.at, of_blame.at), "%s: causes\n%sblame\n%s", test->what,
		      of_leaves.at, of_blame.at);
	trc_causes_close(causes);
	model_close(m);
}
END_TEST

/* A wait of each thread for the next, and the last one runs. */
START_TEST(test_long_chain)
{
	enum { N = 3 * TRC_CAUSES_DEPTH_MAX };
	static char trace[N * 300];
	const struct trc_cause *rows;
	struct trc_causes *causes;
	struct trc_model *m;
	int64_t length_ns = 0;
	size_t n = 0, n_rows;

	for (int i = 1; i <= N; i++)
		n += (size_t)snprintf(trace + n, sizeof(trace) - n, "thread %d tid=%d\n", i,
				      100 + i);
	for (int i = 1; i < N; i++)
		n += (size_t)snprintf(trace + n, sizeof(trace) - n,
				      "@%d thread=%d park reason=mutex object=%d holder=%d\n",
				      1000 + i, i, i, i + 1);
	for (int i = N - 1; i > 0; i--)
		n += (size_t)snprintf(trace + n, sizeof(trace) - n,
				      "@%d thread=%d unlock reason=mutex object=%d waiters=1\n"
				      "@%d thread=%d resume reason=mutex object=%d\n",
				      3000 + 10 * (N - i), i + 1, i, 3001 + 10 * (N - i), i, i);
	m = model_of(trace, TRC_CAUSES_PARTS);
	ck_assert_int_eq(trc_causes_open(&causes, m), 0);
	ck_assert_int_eq(trc_causes_of_wait(causes, 1, &rows, &n_rows), 0);
	for (size_t i = 0; i < n_rows; i++) {
		ck_assert_uint_le(rows[i].depth, TRC_CAUSES_DEPTH_MAX);
		length_ns += rows[i].leaf ? rows[i].to_ns - rows[i].from_ns : 0;
	}
	ck_assert_int_eq(length_ns, rows[0].to_ns - rows[0].from_ns);
	trc_causes_close(causes);
	model_close(m);
}
END_TEST

/* What a thread did in a stretch of time: its waits and what lies between. */
START_TEST(test_of_thread)
{
	struct trc_model *m =
		model_of(THREADS "@1000 thread=2 park reason=mutex object=0x10 holder=1\n"
				 "@5000 thread=1 unlock reason=mutex object=0x10 waiters=1\n"
				 "@5300 thread=2 resume reason=mutex object=0x10\n"
				 "@9000 thread=2 log message=\"x\"\n",
			 TRC_CAUSES_PARTS);
	const struct trc_cause *rows;
	struct trc_causes *causes;
	struct text text = {.n = 0};
	size_t n;

	ck_assert_int_eq(trc_causes_open(&causes, m), 0);
	ck_assert_int_eq(trc_causes_of_thread(causes, 2, 500, 6000, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		add_row(&text, m, &rows[i]);
	ck_assert_str_eq(text.at, "0 t2 active 500-1000\n"
				  "0 t2 waiting 1000-5300 mutex\n"
				  "1 t1 active 1000-5000 unlock=1\n"
				  "1 t2 waking 5000-5300 mutex\n"
				  "0 t2 active 5300-6000\n");

	/* What takes more rows than are allowed is refused, and what does not is as before. */
	trc_causes_limit(causes, 4);
	ck_assert_int_eq(trc_causes_of_thread(causes, 2, 500, 6000, &rows, &n), -E2BIG);
	ck_assert_uint_eq(n, 0);
	trc_causes_limit(causes, 5);
	ck_assert_int_eq(trc_causes_of_thread(causes, 2, 500, 6000, &rows, &n), 0);
	ck_assert_uint_eq(n, 5);
	trc_causes_close(causes);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("causes");
	TCase *tcase = tcase_create("causes");

	tcase_add_loop_test(tcase, test_case, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tcase, test_sum_of_case, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, test_long_chain);
	tcase_add_test(tcase, test_of_thread);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
