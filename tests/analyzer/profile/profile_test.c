/* Which waits are in which profile, and with how much (analyzer/profile/profile.h). */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/selection.h"
#include "analyzer/profile/profile.h"
#include "profile_parts.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/suite.h"

enum { SAMPLES_MAX = 8 };

static const char PROLOGUE[] =
	"module trc path=\"/usr/lib/libtrc-preload.so.0\" start=0x1000 limit=0x2000 bias=0x1000\n"
	"module libc path=\"/lib/libc.so.6\" start=0x2000 limit=0x3000 bias=0x2000\n"
	"module program path=\"/none/program\" start=0x3000 limit=0x4000 bias=0x3000\n"
	"stack s1 0x1010 0x3010 0x3020\n"
	"stack s2 0x1010 0x3030 0x3020\n"
	"stack s3 0x1010 0x3040 0x3020\n"
	"labels acme tenant=\"acme\"\n"
	"labels zeta tenant=\"zeta\"\n"
	"thread 1 tid=1\n"
	"thread 2 tid=2\n"
	"thread 3 tid=1\n"; /* as after an exec */

enum { PREEMPTED = TRC_OFF_PREEMPTED, UNKNOWN = TRC_OFF_UNKNOWN };

/* Beside why a thread is off: what the stack is. */
enum { BEFORE = TRC_STACK_BEFORE << 8, LONG_BEFORE = TRC_STACK_LONG_BEFORE << 8,
       UNSEEN = TRC_STACK_UNSEEN << 8 };

struct wanted { /* ids in order of the text */
	uint32_t stack, labels;
	uint32_t off; /* and BEFORE, ... */
	int64_t value[TRC_PROFILE_VALUES_MAX];
};

static const struct {
	const char *what, *name, *filter;
	const char *events;
	size_t n;
	struct wanted sample[SAMPLES_MAX];
} ROWS[] = {
	{"waits of one stack are summed", "block", NULL,
	 "@100 thread=1 park reason=mutex object=0x10 stack=s1\n"
	 "@150 thread=1 resume reason=mutex object=0x10\n"
	 "@200 thread=1 park reason=mutex object=0x20 stack=s1\n"
	 "@230 thread=1 resume reason=mutex object=0x20\n",
	 1,
	 {{1, 0, 0, {2, 80}}}},
	{"largest first", "block", NULL,
	 "@100 thread=1 park reason=mutex object=0x10 stack=s1\n"
	 "@150 thread=1 resume reason=mutex object=0x10\n"
	 "@200 thread=1 park reason=sem object=0x20 stack=s2\n"
	 "@300 thread=1 resume reason=sem object=0x20\n",
	 2,
	 {{2, 0, 0, {1, 100}}, {1, 0, 0, {1, 50}}}},
	{"a wait in progress counts up to the end of the trace", "block", NULL,
	 "@100 thread=1 park reason=mutex object=0x10 stack=s1\n"
	 "@1100 thread=2 counter name=\"c\" value=1\n",
	 1,
	 {{1, 0, 0, {1, 1000}}}},
	{"a fiber waits from where it is left until any thread runs it, or it ends", "block", NULL,
	 "@100 thread=1 fiber_switch fiber=6 left=5 reason=user stack=s1\n"
	 "@120 thread=2 fiber_ready fiber=5\n"
	 "@150 thread=2 fiber_switch fiber=5\n"
	 "@200 thread=2 fiber_switch left=5 reason=user stack=s1\n"
	 "@205 thread=1 fiber_switch left=6 reason=mutex stack=s2\n"
	 "@215 thread=1 fiber_end fiber=6\n"
	 "@280 thread=2 fiber_end fiber=5\n",
	 2,
	 {{1, 0, 0, {2, 130}}, {2, 0, 0, {1, 10}}}},
	{"one that waits in the end counts up to there", "block", NULL,
	 "@100 thread=1 fiber_switch left=5 reason=user stack=s1\n"
	 "@1100 thread=2 counter name=\"c\" value=1\n",
	 1,
	 {{1, 0, 0, {1, 1000}}}},
	{"one that sleeps, polls or could go on is not in it, nor is a root fiber", "block", NULL,
	 "@100 thread=1 fiber_switch fiber=6 left=5 reason=sleep stack=s1\n"
	 "@110 thread=1 fiber_switch fiber=7 left=6 reason=poll stack=s2\n"
	 "@120 thread=1 fiber_switch left=7 stack=s3\n"
	 "@130 thread=1 fiber_switch fiber=5 left=0 reason=user stack=s3\n"
	 "@140 thread=1 fiber_switch fiber=6 left=5\n"
	 "@150 thread=1 fiber_switch fiber=7 left=6\n",
	 0,
	 {{0}}},
	{"waits of fibers and of the threads that run them are apart", "block", NULL,
	 "@100 thread=1 fiber_switch fiber=6 left=5 reason=user stack=s1\n"
	 "@150 thread=1 park reason=mutex object=0x10 stack=s2\n"
	 "@170 thread=1 resume reason=mutex object=0x10\n"
	 "@180 thread=1 fiber_switch left=6\n"
	 "@190 thread=1 park reason=cond object=0x20 stack=s3\n"
	 "@200 thread=2 fiber_switch fiber=5\n"
	 "@230 thread=1 resume reason=cond object=0x20\n",
	 3,
	 {{1, 0, 0, {1, 100}}, {3, 0, 0, {1, 40}}, {2, 0, 0, {1, 20}}}},
	{"a fiber waits with the labels that it was left with", "block", "tenant=acme",
	 "@50 thread=1 labels labels=acme\n"
	 "@100 thread=1 fiber_switch fiber=6 left=5 reason=user stack=s1\n"
	 "@101 thread=1 labels labels=zeta before=acme\n"
	 "@110 thread=1 fiber_switch left=6 reason=user stack=s1\n"
	 "@111 thread=1 labels labels=0 before=zeta\n"
	 "@150 thread=1 fiber_switch fiber=5\n"
	 "@190 thread=1 fiber_switch fiber=6 left=5\n",
	 1,
	 {{1, 1, 0, {1, 50}}}},
	{"offcpu is of threads: a fiber that waits is off nothing", "offcpu", NULL,
	 "@100 thread=1 fiber_switch left=5 reason=user stack=s1\n"
	 "@150 thread=1 park reason=cond object=0x20 stack=s3\n"
	 "@170 thread=1 resume reason=cond object=0x20\n"
	 "@1100 thread=1 fiber_switch fiber=5\n",
	 1,
	 {{3, 0, TRC_REASON_COND, {1, 20}}}},
	{"sleep, polls and I/O are not in it", "block", NULL,
	 "@100 thread=1 park reason=sleep stack=s1\n"
	 "@150 thread=1 resume reason=sleep\n"
	 "@200 thread=1 park reason=epoll object=4 stack=s1\n"
	 "@250 thread=1 resume reason=epoll object=4\n"
	 "@300 thread=1 wait reason=read object=4 since=260 stack=s1\n"
	 "@400 thread=1 wait reason=fsync object=4 since=310 stack=s2\n"
	 "@500 thread=1 park reason=barrier object=0x40 stack=s3\n"
	 "@510 thread=1 resume reason=barrier object=0x40\n",
	 1,
	 {{3, 0, 0, {1, 10}}}},
	{"time within an announced wait is counted once", "block", NULL,
	 "@100 thread=1 park reason=user object=0x1 stack=s1\n"
	 "@200 thread=1 park reason=cond object=0x10 stack=s2\n"
	 "@600 thread=1 resume reason=cond object=0x10\n"
	 "@1000 thread=1 resume reason=user object=0x1\n",
	 2,
	 {{1, 0, 0, {1, 500}}, {2, 0, 0, {1, 400}}}},
	{"the same stack under other labels is another sample", "block", NULL,
	 "@50 thread=1 labels labels=acme\n"
	 "@100 thread=1 park reason=mutex object=0x10 stack=s1\n"
	 "@150 thread=1 resume reason=mutex object=0x10\n"
	 "@160 thread=1 labels labels=zeta before=acme\n"
	 "@200 thread=1 park reason=mutex object=0x10 stack=s1\n"
	 "@300 thread=1 resume reason=mutex object=0x10\n"
	 "@400 thread=2 park reason=mutex object=0x10 stack=s1\n"
	 "@410 thread=2 resume reason=mutex object=0x10\n",
	 3,
	 {{1, 2, 0, {1, 100}}, {1, 1, 0, {1, 50}}, {1, 0, 0, {1, 10}}}},
	{"a filter lets through those with the label", "block", "tenant=acme",
	 "@50 thread=1 labels labels=acme\n"
	 "@100 thread=1 park reason=mutex object=0x10 stack=s1\n"
	 "@150 thread=1 resume reason=mutex object=0x10\n"
	 "@160 thread=1 labels labels=zeta before=acme\n"
	 "@200 thread=1 park reason=mutex object=0x10 stack=s1\n"
	 "@300 thread=1 resume reason=mutex object=0x10\n",
	 1,
	 {{1, 1, 0, {1, 50}}}},
	{"mutex: the unlocker's stack, and what its section cost both waiters", "mutex", NULL,
	 "@100 thread=1 park reason=mutex object=0x10 holder=3 stack=s1\n"
	 "@200 thread=2 park reason=mutex object=0x10 holder=3 stack=s1\n"
	 "@300 thread=3 unlock reason=mutex object=0x10 waiters=2 stack=s2\n"
	 "@310 thread=1 resume reason=mutex object=0x10\n"
	 "@400 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=s3\n"
	 "@410 thread=2 resume reason=mutex object=0x10\n",
	 2,
	 {{2, 0, 0, {2, 300}}, {3, 0, 0, {1, 100}}}},
	{"mutex: under the labels of the unlocker", "mutex", NULL,
	 "@50 thread=1 labels labels=zeta\n"
	 "@60 thread=2 labels labels=acme\n"
	 "@100 thread=1 park reason=mutex object=0x10 holder=2 stack=s1\n"
	 "@300 thread=2 unlock reason=mutex object=0x10 waiters=1 stack=s2\n"
	 "@310 thread=1 resume reason=mutex object=0x10\n",
	 1,
	 {{2, 1, 0, {1, 200}}}},
	{"mutex: nothing without contention", "mutex", NULL,
	 "@100 thread=1 park reason=cond object=0x10 stack=s1\n"
	 "@200 thread=2 unpark reason=cond object=0x10 count=1 stack=s2\n"
	 "@210 thread=1 resume reason=cond object=0x10\n",
	 0,
	 {{0}}},
	{"cpu: values are summed by stack and labels, largest first", "cpu", NULL,
	 "sample_event 1 period=1000\n"
	 "@100 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@200 thread=2 sample event=1 value=3000 stack=s1\n"
	 "@300 thread=2 sample event=1 value=1000 stack=s2 labels=acme\n"
	 "@400 thread=2 sample event=1 value=9000 stack=s2\n"
	 "@500 thread=2 sample event=1 value=1000\n",
	 4,
	 {{2, 0, 0, {1, 9000}}, {1, 0, 0, {2, 4000}}, {0, 0, 0, {1, 1000}}, {2, 1, 0, {1, 1000}}}},
	{"cpu: labels of what the kernel sampled are the thread's then", "cpu", "tenant",
	 "sample_event 1 how=kernel period=1000\n"
	 "@100 thread=1 labels labels=acme\n"
	 "@150 thread=1 source=kernel sample event=1 value=1000 stack=s1\n"
	 "@160 thread=2 source=kernel sample event=1 value=1000 stack=s1\n",
	 1,
	 {{1, 1, 0, {1, 1000}}}},
	{"cpu: clocks that follow each other, of one thread or another, all count", "cpu", NULL,
	 "sample_event 1 name=\"cpu-clock\" period=1000\n"
	 "sample_event 2 name=\"timer\" period=1000\n"
	 "sample_event 3 name=\"cycles\" unit=\"count\" period=1000\n"
	 "@100 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@200 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@150 thread=2 proc=1 sample event=2 value=500 stack=s2\n"
	 "@210 thread=1 sample event=3 value=500 stack=s3\n"
	 "@300 thread=1 sample event=2 value=700 stack=s1\n",
	 2,
	 {{1, 0, 0, {3, 2700}}, {2, 0, 0, {1, 500}}}},
	{"cpu: of two clocks of a thread at the same time one counts", "cpu", NULL,
	 "sample_event 1 name=\"cpu-clock\" period=1000\n"
	 "sample_event 2 name=\"timer\" period=1000\n"
	 "@100 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@150 thread=1 sample event=2 value=1000 stack=s2\n"
	 "@200 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@250 thread=1 sample event=2 value=1000 stack=s2\n",
	 1,
	 {{1, 0, 0, {2, 2000}}}},
	{"cpu: values have what was lost, their number has not", "cpu", NULL,
	 "sample_event 1 name=\"timer\" period=1000\n"
	 "@100 thread=1 sample event=1 value=10000 stack=s1\n"
	 "@200 thread=1 sample event=1 value=10000 stack=s2\n"
	 "@300 thread=1 sample event=1 value=10000 stack=s1\n"
	 "@400 thread=1 samples_lost event=1 lost_samples=3 cause=busy\n",
	 2,
	 {{1, 0, 0, {2, 22000}}, {2, 0, 0, {1, 11000}}}},
	{"cpu: much that was lost is a sample of its own", "cpu", NULL,
	 "sample_event 1 name=\"timer\" period=1000\n"
	 "@100 thread=1 sample event=1 value=10000 stack=s1\n"
	 "@400 thread=1 samples_lost event=1 lost_samples=30 cause=busy\n",
	 2,
	 {{0, 0, UNSEEN, {0, 30000}}, {1, 0, 0, {1, 10000}}}},
	{"cpu: ... but whose labels it has nobody knows", "cpu", "tenant=acme",
	 "sample_event 1 name=\"timer\" period=1000\n"
	 "@100 thread=1 sample event=1 value=10000 stack=s1 labels=acme\n"
	 "@400 thread=1 samples_lost event=1 lost_samples=30 cause=busy\n",
	 1,
	 {{1, 1, 0, {1, 10000}}}},
	{"cpu: of two clocks what only the second one lost is not missing", "cpu", NULL,
	 "sample_event 1 name=\"cpu-clock\" period=1000\n"
	 "sample_event 2 name=\"timer\" period=1000\n"
	 "@100 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@150 thread=1 sample event=2 value=1000 stack=s2\n"
	 "@200 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@200 thread=2 sample event=2 value=1000 stack=s2\n"
	 "@300 thread=1 samples_lost event=2 lost_samples=30 cause=busy\n",
	 2,
	 {{1, 0, 0, {2, 2000}}, {2, 0, 0, {1, 1000}}}},
	{"blame: who waits for a lock that is held asleep is charged to the sleep, and by its own labels",
	 "blame", "tenant=acme",
	 "@50 thread=2 labels labels=acme\n"
	 "@100 thread=2 park reason=mutex object=0x10 holder=1 stack=s1\n"
	 "@200 thread=1 park reason=sleep stack=s2\n"
	 "@800 thread=1 resume reason=sleep\n"
	 "@900 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=s3\n"
	 "@950 thread=2 resume reason=mutex object=0x10\n",
	 3,
	 {{2, 1, TRC_REASON_SLEEP, {600}}, {3, 1, 0, {200}}, {1, 1, TRC_REASON_MUTEX, {50}}}},
	{"blame: waits for the outside are not in it, but what waits behind them is", "blame", NULL,
	 "@100 thread=2 park reason=mutex object=0x10 holder=1 stack=s1\n"
	 "@200 thread=1 park reason=recv object=4 stack=s2\n"
	 "@300 thread=3 park reason=epoll object=5 stack=s1\n"
	 "@800 thread=1 resume reason=recv object=4\n"
	 "@800 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=s3\n"
	 "@800 thread=2 resume reason=mutex object=0x10\n"
	 "@900 thread=3 resume reason=epoll object=5\n",
	 2,
	 {{2, 0, TRC_REASON_RECV, {600}}, {3, 0, 0, {100}}}},
	{"an event by its name", "cache-misses", NULL,
	 "sample_event 1 period=1000\n"
	 "sample_event 2 name=\"cache-misses\" unit=\"count\" period=500\n"
	 "@100 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@150 thread=1 sample event=2 value=500 stack=s2\n",
	 1,
	 {{2, 0, 0, {1, 500}}}},
	{"an event by its name without the suffix", "cycles", NULL,
	 "sample_event 1 name=\"cycles:u\" unit=\"count\" period=500\n"
	 "@150 thread=1 sample event=1 value=500 stack=s2\n",
	 1,
	 {{2, 0, 0, {1, 500}}}},
	{"an event that never came: an empty profile", "cycles", NULL,
	 "sample_event 1 name=\"cycles\" unit=\"count\" period=500\n"
	 "@150 thread=1 counter name=\"c\" value=1\n",
	 0,
	 {{0}}},
	{"a sum that does not fit stays at the largest number", "cpu", NULL,
	 "sample_event 1 period=1000\n"
	 "@100 thread=1 sample event=1 value=~0 stack=s1\n"
	 "@200 thread=1 sample event=1 value=1000 stack=s1\n",
	 1,
	 {{1, 0, 0, {2, INT64_MAX}}}},
	{"offcpu: without switch records every wait, each moment once, but for spinning", "offcpu", NULL,
	 "@100 thread=1 park reason=user object=0x1 stack=s1\n"
	 "@200 thread=1 park reason=cond object=0x10 stack=s2\n"
	 "@600 thread=1 resume reason=cond object=0x10\n"
	 "@700 thread=1 resume reason=user object=0x1\n"
	 "@800 thread=1 wait reason=sleep since=710 stack=s3\n"
	 "@900 thread=1 park reason=spin object=0x10 stack=s3\n"
	 "@1900 thread=1 resume reason=spin object=0x10\n",
	 3,
	 {{2, 0, TRC_REASON_COND, {1, 400}},
	  {1, 0, TRC_REASON_USER, {1, 200}},
	  {3, 0, TRC_REASON_SLEEP, {1, 90}}}},
	{"offcpu: with them what lies between a stop and a start, by the wait it is in", "offcpu", NULL,
	 "@10 thread=1 labels labels=acme\n"
	 "@20 thread=1 source=kernel proc_start\n"
	 "@100 thread=1 park reason=mutex object=0x10 stack=s1\n"
	 "@110 thread=1 source=kernel proc_stop\n"
	 "@400 thread=1 source=kernel proc_start\n"
	 "@410 thread=1 resume reason=mutex object=0x10\n"
	 "@500 thread=1 source=kernel proc_stop preempted=1\n"
	 "@530 thread=1 source=kernel proc_start\n"
	 "@600 thread=1 source=kernel proc_stop\n"
	 "@607 thread=1 source=kernel proc_start\n"
	 "@700 thread=1 counter name=\"c\" value=1\n",
	 4,
	 {{1, 1, TRC_REASON_MUTEX, {1, 290}},
	  {0, 1, PREEMPTED, {1, 30}},
	  {0, 0, UNKNOWN, {1, 20}},
	  {0, 1, UNKNOWN, {1, 7}}}},
	{"offcpu: who is preempted in a call that sends does not wait for the peer", "offcpu", NULL,
	 "@10 thread=1 labels labels=acme\n"
	 "@20 thread=1 source=kernel proc_start\n"
	 "@100 thread=1 park reason=send object=5 stack=s1\n"
	 "@110 thread=1 source=kernel proc_stop preempted=1\n"
	 "@400 thread=1 source=kernel proc_start\n"
	 "@500 thread=1 source=kernel proc_stop\n"
	 "@530 thread=1 source=kernel proc_start\n"
	 "@610 thread=1 resume reason=send object=5\n"
	 "@700 thread=1 counter name=\"c\" value=1\n",
	 3,
	 {{1, 1, PREEMPTED, {1, 290}}, {1, 1, TRC_REASON_SEND, {1, 30}}, {0, 0, UNKNOWN, {1, 20}}}},
	{"offcpu: outside of waits, where the same thread was sampled last before", "offcpu", NULL,
	 "sample_event 1 period=1000\n"
	 "@10 thread=2 sample event=1 value=1000 stack=s3\n"
	 "@20 thread=1 source=kernel proc_start\n"
	 "@30 thread=1 source=kernel proc_stop preempted=1\n"
	 "@80 thread=1 source=kernel proc_start\n"
	 "@100 thread=1 sample event=1 value=1000 stack=s2\n"
	 "@200 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@210 thread=1 sample event=1 value=1000\n"
	 "@250 thread=2 sample event=1 value=1000 stack=s3\n"
	 "@300 thread=1 source=kernel proc_stop preempted=1\n"
	 "@400 thread=1 source=kernel proc_start\n"
	 "@450 thread=1 sample event=1 value=1000 stack=s2\n"
	 "@500 thread=1 source=kernel proc_stop\n"
	 "@590 thread=1 source=kernel proc_start\n"
	 "@600 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@700 thread=1 counter name=\"c\" value=1\n",
	 4,
	 {{1, 0, PREEMPTED | BEFORE, {1, 100}},
	  {2, 0, UNKNOWN | BEFORE, {1, 90}},
	  {0, 0, PREEMPTED, {1, 50}},
	  {0, 0, UNKNOWN, {1, 20}}}},
	{"latency: who was woken has the labels of its wait, those of its context as well", "latency", NULL,
	 "@0 thread=2 source=kernel proc_start\n"
	 "@10 thread=2 otel_context trace_high=1 trace_low=2 span=3\n"
	 "@100 thread=2 park reason=sem object=0x10 stack=s1\n"
	 "@110 thread=2 source=kernel proc_stop preempted=0\n"
	 "@500 thread=1 unpark reason=sem object=0x10 count=1\n"
	 "@600 thread=2 source=kernel proc_start\n"
	 "@610 thread=2 resume reason=sem object=0x10\n",
	 1,
	 {{1, 1, TRC_REASON_SEM, {1, 100}}}},
	{"offcpu: a stack that was sampled long before is told apart", "offcpu", NULL,
	 "sample_event 1 period=1000\n"
	 "@0 thread=1 source=kernel proc_start\n"
	 "@10 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@100000010 thread=1 source=kernel proc_stop preempted=1\n"
	 "@100000310 thread=1 source=kernel proc_start\n"
	 "@100000311 thread=1 source=kernel proc_stop preempted=1\n"
	 "@100000411 thread=1 source=kernel proc_start\n"
	 "@100000420 thread=1 counter name=\"c\" value=1\n",
	 2,
	 {{1, 0, PREEMPTED | BEFORE, {1, 300}}, {1, 0, PREEMPTED | LONG_BEFORE, {1, 100}}}},
	{"offcpu: switch records that end before the samples do: what follows a wait has the sample before it", "offcpu", NULL,
	 "sample_event 1 period=1000\n"
	 "@0 thread=1 source=kernel proc_start\n"
	 "@10 thread=1 sample event=1 value=1000 stack=s2\n"
	 "@20 thread=1 source=kernel proc_stop preempted=1\n"
	 "@10000000 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@10000020 thread=1 park reason=sleep stack=s3\n"
	 "@10000060 thread=1 resume reason=sleep\n"
	 "@10000160 thread=1 counter name=\"c\" value=1\n",
	 3,
	 {{2, 0, PREEMPTED | BEFORE, {1, 10000000}},
	  {1, 0, PREEMPTED | BEFORE, {0, 100}},
	  {3, 0, TRC_REASON_SLEEP, {0, 40}}}},
	{"offcpu: no stack is that of the program before an exec", "offcpu", NULL,
	 "sample_event 1 period=1000\n"
	 "@0 thread=1 source=kernel proc_start\n"
	 "@30 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@40 thread=1 source=kernel proc_stop preempted=1\n"
	 "@90 thread=1 source=kernel proc_start\n"
	 "@100 thread=1 process what=2 value=1\n"
	 "@150 thread=3 counter name=\"c\" value=1\n"
	 "@200 thread=1 source=kernel proc_stop preempted=1\n"
	 "@270 thread=3 source=kernel proc_start\n"
	 "@300 thread=3 counter name=\"c\" value=1\n",
	 2,
	 {{0, 0, PREEMPTED, {1, 70}}, {1, 0, PREEMPTED | BEFORE, {1, 50}}}},
	{"offcpu: a thread that is never switched runs, or waits where it says so", "offcpu", NULL,
	 "@20 thread=2 source=kernel proc_start\n"
	 "@100 thread=1 park reason=sleep stack=s1\n"
	 "@200 thread=1 resume reason=sleep\n"
	 "@1000 thread=2 source=kernel proc_stop\n"
	 "@1001 thread=1 counter name=\"c\" value=1\n",
	 2,
	 {{1, 0, TRC_REASON_SLEEP, {1, 100}}, {0, 0, UNKNOWN, {2, 21}}}},
	{"wall: what ran and what did not", "wall", NULL,
	 "sample_event 1 period=1000\n"
	 "@1100 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@2100 thread=1 sample event=1 value=1000 stack=s1\n"
	 "@2200 thread=1 park reason=cond object=0x10 stack=s1\n"
	 "@5200 thread=1 resume reason=cond object=0x10\n",
	 2,
	 {{1, 0, TRC_REASON_COND, {1, 0, 3000, 3000}}, {1, 0, 0, {2, 2000, 0, 2000}}}},
};

/* Values of allocations; each size apart. */
static const struct {
	const char *what, *name, *filter;
	const char *events;
	size_t n;
	struct wanted sample[SAMPLES_MAX];
	uint64_t bytes[SAMPLES_MAX];
} HEAPS[] = {
	{"four of a kind, one of them freed; cut to whole numbers once", "heap", NULL,
	 "@1 thread=1 alloc sample=1 address=0x10 bytes=1024 period=524288 stack=s1\n"
	 "@2 thread=1 alloc sample=2 address=0x20 bytes=1024 period=524288 stack=s1\n"
	 "@3 thread=2 alloc sample=3 address=0x30 bytes=1024 period=524288 stack=s1\n"
	 "@4 thread=2 alloc sample=4 address=0x40 bytes=1024 period=524288 stack=s1\n"
	 "@5 thread=2 free sample=2 address=0x20 bytes=1024 period=524288\n",
	 1,
	 {{1, 0, 0, {2050, 2099200, 1537, 1574400}}},
	 {1024}},
	{"an allocation as large as the period", "heap", NULL,
	 "@1 thread=1 alloc sample=1 address=0x10 bytes=524288 period=524288 stack=s1\n",
	 1,
	 {{1, 0, 0, {1, 829411, 1, 829411}}},
	 {524288}},
	{"with a period of 0 or 1 every allocation is itself", "heap", NULL,
	 "@1 thread=1 alloc sample=1 address=0x10 bytes=3 period=1 stack=s1\n"
	 "@2 thread=1 alloc sample=2 address=0x20 bytes=3 period=0 stack=s1\n"
	 "@3 thread=1 alloc sample=3 address=0x30 bytes=0 period=1 stack=s2\n",
	 2,
	 {{1, 0, 0, {2, 6, 2, 6}},
	  {2, 0, 0, {1, 0, 1, 0}}},
	 {3, 0}},
	{"sizes and labels apart, what is in use first", "heap", NULL,
	 "@1 thread=1 alloc sample=1 address=0x10 bytes=10 period=1 stack=s1\n"
	 "@2 thread=1 alloc sample=2 address=0x20 bytes=20 period=1 stack=s1\n"
	 "@3 thread=1 alloc sample=3 address=0x30 bytes=10 period=1 stack=s1 labels=acme\n"
	 "@4 thread=1 alloc sample=4 address=0x40 bytes=99 period=1 stack=s2\n"
	 "@5 thread=1 free sample=4 address=0x40 bytes=99 period=1\n",
	 4,
	 {{1, 0, 0, {1, 20, 1, 20}},
	  {1, 0, 0, {1, 10, 1, 10}},
	  {1, 1, 0, {1, 10, 1, 10}},
	  {2, 0, 0, {1, 99, 0, 0}}},
	 {20, 10, 10, 99}},
	{"the same, what was allocated first; under a filter", "allocs", "tenant=acme",
	 "@1 thread=1 alloc sample=1 address=0x10 bytes=10 period=1 stack=s1 labels=zeta\n"
	 "@2 thread=1 alloc sample=2 address=0x20 bytes=20 period=1 stack=s1 labels=acme\n"
	 "@3 thread=1 alloc sample=3 address=0x30 bytes=90 period=1 stack=s2 labels=acme\n"
	 "@4 thread=2 free sample=3 address=0x30 bytes=90 period=1\n",
	 2,
	 {{2, 1, 0, {1, 90, 0, 0}},
	  {1, 1, 0, {1, 20, 1, 20}}},
	 {90, 20}},
	{"numbers of a made-up file stay in range", "heap", NULL,
	 "@1 thread=1 alloc sample=1 address=0x10 bytes=0xffffffffffffffff period=1 stack=s1\n"
	 "@2 thread=1 alloc sample=2 address=0x20 bytes=1 period=0xffffffffffffffff stack=s1\n"
	 "@3 thread=1 alloc sample=3 address=0x30 bytes=0 period=5 stack=s1\n",
	 3,
	 {{1, 0, 0, {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}},
	  {1, 0, 0, {1, INT64_MAX, 1, INT64_MAX}},
	  {1, 0, 0, {1, 0, 1, 0}}},
	 {1, UINT64_MAX, 0}},
};

struct trc_model *model_with(const char *events, unsigned int parts)
{
	char *text;
	struct trc_model *m;

	ck_assert_int_gt(asprintf(&text, "%s%s", PROLOGUE, events), 0);
	m = model_of(text, parts);
	free(text);
	return m;
}

static bool same_sample(const struct trc_profile_sample *a, const struct wanted *b)
{
	return a->stack == b->stack && a->labels == b->labels && (a->off | a->stack_kind << 8) == (int)b->off &&
	       !memcmp(a->value, b->value, sizeof(a->value));
}

static struct trc_profile *derived(struct trc_model *m, const char *name, const char *filter_text,
				   const char *what)
{
	struct trc_selection selection = {0};
	struct trc_error error;
	struct trc_profile *p = NULL;

	if (filter_text)
		ck_assert_int_eq(trc_label_filter_add(&selection.labels, filter_text, &error), 0);
	ck_assert_int_eq(trc_selection_find(&selection, m, &error), 0);
	trc_model_select(m, filter_text ? &selection : NULL);
	ck_assert_msg(!trc_profile_derive(&p, m, name, &error), "%s: %s", what, error.text);
	trc_model_select(m, NULL);
	trc_selection_free(&selection);
	return p;
}

static void compare(const struct trc_profile *p, const struct wanted *wanted, size_t n,
		    const char *what)
{
	ck_assert_msg(p->n_samples == n, "%s: %zu samples", what, p->n_samples);
	for (size_t i = 0; i < p->n_samples; i++) {
		const struct trc_profile_sample *is = &p->sample[i];

		ck_assert_msg(same_sample(is, &wanted[i]),
			      "%s: sample %zu is stack %u, labels %u, off %u (%u): %lld %lld %lld %lld",
			      what, i, is->stack, is->labels, is->off, is->stack_kind,
			      (long long)is->value[0],
			      (long long)is->value[1], (long long)is->value[2],
			      (long long)is->value[3]);
	}
}

START_TEST(samples)
{
	struct trc_model *m = model_with(ROWS[_i].events, TRC_PART_WAITS);
	struct trc_profile *p = derived(m, ROWS[_i].name, ROWS[_i].filter, ROWS[_i].what);

	compare(p, ROWS[_i].sample, ROWS[_i].n, ROWS[_i].what);
	ck_assert(!p->sized);
	trc_profile_free(p);
	model_close(m);
}
END_TEST

START_TEST(heaps)
{
	struct trc_model *m = model_with(HEAPS[_i].events, TRC_PART_WAITS);
	struct trc_profile *p = derived(m, HEAPS[_i].name, HEAPS[_i].filter, HEAPS[_i].what);

	compare(p, HEAPS[_i].sample, HEAPS[_i].n, HEAPS[_i].what);
	ck_assert(p->sized);
	for (size_t i = 0; i < p->n_samples; i++)
		ck_assert_uint_eq(p->sample[i].bytes, HEAPS[_i].bytes[i]);
	trc_profile_free(p);
	model_close(m);
}
END_TEST

static const struct {
	const char *what, *name, *events, *message;
} REFUSALS[] = {
	{"no such event", "cycles",
	 "sample_event 1 period=1000\n"
	 "sample_event 2 name=\"cache-misses\" unit=\"count\"\n",
	 "it has no samples of cycles; it has block, mutex, blame, offcpu, cpu, wall, cpu-clock, cache-misses"},
	{"no name", "", "sample_event 1 period=1000\n",
	 "no profile is named; it has block, mutex, blame, offcpu, cpu, wall, cpu-clock"},
	{"no clock", "cpu", "sample_event 2 name=\"cache-misses\" unit=\"count\"\n",
	 "no CPU time was sampled: trace-record -e auto does; it has block, mutex, blame, offcpu, "
	 "cache-misses"},
	{"nothing sampled at all", "wall", "",
	 "no CPU time was sampled: trace-record -e auto does; it has block, mutex, blame, offcpu"},
	{"names in the trace are data", "cycles",
	 "sample_event 2 name=\"c\\x1b[31m\\xc2\\x9b\" unit=\"count\"\n",
	 "it has no samples of cycles; it has block, mutex, blame, offcpu, c?[31m??"},
	{"no allocations", "heap", "sample_event 1 period=1000\n",
	 "no allocations were sampled: trace-record --heap does"},
	{"allocations alone", "cpu", "@1 thread=1 free sample=1 address=1 bytes=1 period=1\n",
	 "no CPU time was sampled: trace-record -e auto does; it has block, mutex, blame, offcpu, heap, "
	 "allocs"},
	{"a name with two suffixes", "cycles",
	 "sample_event 1 name=\"cycles:u\" unit=\"count\"\n"
	 "sample_event 2 name=\"cycles:k\" unit=\"count\"\n",
	 "cycles is both cycles:u and cycles:k here"},
};

START_TEST(refusals)
{
	struct trc_model *m = model_with(REFUSALS[_i].events, TRC_PART_WAITS);
	struct trc_profile *p = NULL;
	struct trc_error error;

	ck_assert_int_eq(trc_profile_derive(&p, m, REFUSALS[_i].name, &error), -ENOENT);
	ck_assert_str_eq(error.text, REFUSALS[_i].message);
	ck_assert_ptr_null(p);
	model_close(m);
}
END_TEST

START_TEST(types)
{
	static const struct {
		const char *name, *value[TRC_PROFILE_VALUES_MAX];
		const char *main, *period;
	} TYPES[] = {
		{"block", {"contentions count", "delay nanoseconds"}, "delay", "contentions count 1"},
		{"mutex", {"contentions count", "delay nanoseconds"}, "delay", "contentions count 1"},
		{"blame", {"delay nanoseconds"}, "delay", "delay nanoseconds 1"},
		{"cpu", {"samples count", "cpu nanoseconds"}, "cpu", "cpu nanoseconds 10000000"},
		{"cpu-clock", {"samples count", "cpu nanoseconds"}, "cpu", "cpu nanoseconds 10000000"},
		{"cycles", {"samples count", "cycles:u count"}, "cycles:u", "cycles:u count 700"},
		{"offcpu", {"events count", "delay nanoseconds"}, "delay", "events count 1"},
		{"wall",
		 {"events count", "cpu nanoseconds", "offcpu nanoseconds", "wall nanoseconds"},
		 "wall",
		 "cpu nanoseconds 10000000"},
		{"heap",
		 {"alloc_objects count", "alloc_space bytes", "inuse_objects count", "inuse_space bytes"},
		 "inuse_space",
		 "space bytes 524288"},
		{"allocs",
		 {"alloc_objects count", "alloc_space bytes", "inuse_objects count", "inuse_space bytes"},
		 "alloc_space",
		 "space bytes 524288"},
	};
	struct trc_model *m = model_with(
		"sample_event 1 frequency=100\n"
		"sample_event 2 name=\"cycles:u\" unit=\"count\" how=kernel frequency=1000\n"
		"@100 thread=1 source=kernel sample event=2 value=600 period=600 stack=s1\n"
		"@200 thread=1 source=kernel sample event=2 value=800 period=800 stack=s1\n"
		"@300 thread=1 alloc sample=1 address=0x10 bytes=8 period=524288 stack=s1\n",
		TRC_PART_WAITS);

	for (size_t i = 0; i < sizeof(TYPES) / sizeof(*TYPES); i++) {
		struct trc_profile *p = NULL;
		struct trc_error error;
		char text[80];

		ck_assert_int_eq(trc_profile_derive(&p, m, TYPES[i].name, &error), 0);
		for (size_t v = 0; v < p->n_types; v++) {
			snprintf(text, sizeof(text), "%s %s", p->type[v].type, p->type[v].unit);
			ck_assert_str_eq(text, TYPES[i].value[v]);
		}
		ck_assert(p->n_types == TRC_PROFILE_VALUES_MAX || !TYPES[i].value[p->n_types]);
		ck_assert_str_eq(p->type[p->main_type].type, TYPES[i].main);
		snprintf(text, sizeof(text), "%s %s %lld", p->period_type.type, p->period_type.unit,
			 (long long)p->period);
		ck_assert_str_eq(text, TYPES[i].period);
		trc_profile_free(p);
	}
	model_close(m);
}
END_TEST

static const struct {
	const char *what, *frames;
	size_t skip;
} SKIPS[] = {
	{"trc's own frame", "0x1010 0x3010 0x3050", 1},
	{"trc's, then libc's", "0x1010 0x1020 0x2010 0x3020", 3},
	{"libc's alone", "0x2010 0x3020", 1},
	{"the program's come first", "0x3010 0x1010 0x2010", 0},
	{"libc all the way: kept", "0x2010 0x2020", 0},
	{"trc, then libc all the way: libc is kept", "0x1010 0x2010 0x2020", 1},
	{"trc all the way: kept", "0x1010 0x1020", 0},
	{"what lies in no module is the program's", "0x1010 0x9000 0x3010", 1},
	{"libraries of the program with such names", "0x1010 0x5010 0x3010", 1},
};

/* Frames of trc and libc between the program's stay; at the ends there are none. */
START_TEST(own_frames)
{
	static const char TEXT[] = "stack s4 0x1010 0x3010 0x1010 0x2010 0x3020 0x2010\n"
				   "@1 thread=1 park reason=mutex object=1 stack=s4\n";
	struct trc_model *m = model_with(TEXT, TRC_PART_WAITS | TRC_PART_SYMBOLS);
	const struct trc_stacks *stacks = trc_model_stacks(m);
	size_t end, first = trc_profile_own(stacks, m, 4, &end);

	ck_assert_uint_eq(first, 1);
	ck_assert_uint_eq(end, 5);
	ck_assert(!trc_profile_is_trc(stacks, m, stacks->stack_first[4] + 1));
	ck_assert(trc_profile_is_trc(stacks, m, stacks->stack_first[4] + 2));
	model_close(m);
}
END_TEST

START_TEST(skips)
{
	char *text;
	struct trc_model *m;

	ck_assert_int_gt(
		asprintf(&text,
			 "module own path=\"/opt/libtracer.so\" start=0x5000 limit=0x6000\n"
			 "stack s4 %s\n"
			 "@1 thread=1 park reason=mutex object=1 stack=s4\n",
			 SKIPS[_i].frames),
		0);
	m = model_with(text, TRC_PART_WAITS | TRC_PART_SYMBOLS);
	ck_assert_msg(trc_profile_skip(trc_model_stacks(m), m, 4) == SKIPS[_i].skip, "%s: %zu",
		      SKIPS[_i].what, trc_profile_skip(trc_model_stacks(m), m, 4));
	ck_assert_uint_eq(trc_profile_skip(trc_model_stacks(m), m, 0), 0);
	ck_assert_uint_eq(trc_profile_skip(trc_model_stacks(m), m, 77), 0);
	model_close(m);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile");
	TCase *tests = tcase_create("profile");

	tcase_add_loop_test(tests, samples, 0, sizeof(ROWS) / sizeof(*ROWS));
	tcase_add_loop_test(tests, heaps, 0, sizeof(HEAPS) / sizeof(*HEAPS));
	tcase_add_loop_test(tests, refusals, 0, sizeof(REFUSALS) / sizeof(*REFUSALS));
	tcase_add_test(tests, types);
	profile_comments(tests);
	tcase_add_test(tests, own_frames);
	tcase_add_loop_test(tests, skips, 0, sizeof(SKIPS) / sizeof(*SKIPS));
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
