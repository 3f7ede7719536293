#!/bin/sh
# told.sh - what the page says of made-up traces, word for word, beside what the report says of them (told.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/told

. "$top_srcdir/tests/viewer/browser_setup.sh"

# assembled NAME: the trace is what is read; its page, and its report.
assembled()
{
	cat >"$pages/$1.txt"
	"$top_builddir/trc-assemble" "$pages/$1.txt" "$pages/$1.trc"
	"$analyze" --html "$pages/$1.html" "$pages/$1.trc"
	COLUMNS=200 "$analyze" "$pages/$1.trc" >"$pages/$1.report"
}

# worker 1 loses its proc to worker 2 in a call that sends; then it waits for the peer.
assembled preempted <<END
thread 1 tid=101 name="worker 1"
thread 2 tid=102 name="worker 2"
stack answer 0x1010 0x1020
@0 source=kernel proc=0 thread=1 proc_start
@1000000 thread=1 park reason=send object=5 stack=answer
@2000000 source=kernel proc=0 thread=1 proc_stop preempted=1
@2000000 source=kernel proc=0 thread=2 proc_start
@2100000 thread=2 log category="x" message="y"
@5000000 source=kernel proc=0 thread=2 proc_stop
@5000000 source=kernel proc=0 thread=1 proc_start
@6000000 source=kernel proc=0 thread=1 proc_stop
@8000000 source=kernel proc=0 thread=1 proc_start
@8500000 thread=1 resume reason=send object=5
@10000000 source=kernel proc=0 thread=1 proc_stop
END
"$analyze" --window 3ms..8ms --html "$pages/preempted-part.html" "$pages/preempted.trc"

# Two threads of one name, one of another.
assembled alike <<END
thread 1 tid=101 name="main"
thread 2 tid=102 name="mc-worker"
thread 3 tid=103 name="mc-worker"
stack take 0x1010 0x1020
stack give 0x1030 0x1020
@1000000 thread=3 park reason=mutex object=0x7f0000001000 holder=2 stack=take
@5000000 thread=2 unlock reason=mutex object=0x7f0000001000 waiters=1 stack=give
@5000100 thread=3 resume reason=mutex object=0x7f0000001000
@6000000 thread=2 park reason=mutex object=0x7f0000001000 holder=3 stack=take
@8000000 thread=3 unlock reason=mutex object=0x7f0000001000 waiters=1 stack=give
@8000100 thread=2 resume reason=mutex object=0x7f0000001000
@10000000 thread=1 log category="x" message="y"
END

# Two pools: one of the workers worked, nobody of the flushers.  main waited for a lock, for much shorter than idle threads wait.
assembled pools <<END
thread 1 tid=201 name="main"
thread 2 tid=202 creator=1 name="worker 1"
thread 3 tid=203 creator=1 name="worker 2"
thread 4 tid=204 creator=1 name="worker 3"
thread 5 tid=205 creator=1 name="worker 4"
thread 6 tid=206 creator=1 name="flusher 1"
thread 7 tid=207 creator=1 name="flusher 2"
stack job 0x1010 0x1020
stack flush 0x2010 0x2020
stack take 0x3010 0x3020
stack give 0x4010 0x1020
@1000000 thread=2 park reason=cond object=0x7f0000001000 stack=job
@1000001 thread=3 park reason=cond object=0x7f0000001000 stack=job
@1000002 thread=4 park reason=cond object=0x7f0000001000 stack=job
@1000003 thread=5 park reason=cond object=0x7f0000001000 stack=job
@1000004 thread=6 park reason=poll object=1 stack=flush
@1000005 thread=7 park reason=poll object=1 stack=flush
@400000000 thread=5 resume reason=cond object=0x7f0000001000
@500000000 thread=1 park reason=mutex object=0x7f0000002000 holder=5 stack=take
@505000000 thread=5 unlock reason=mutex object=0x7f0000002000 waiters=1 stack=give
@505000100 thread=1 resume reason=mutex object=0x7f0000002000
@999000000 thread=2 resume reason=cond object=0x7f0000001000
@999000001 thread=3 resume reason=cond object=0x7f0000001000
@999000002 thread=4 resume reason=cond object=0x7f0000001000
@999000003 thread=6 resume reason=poll object=1
@999000004 thread=7 resume reason=poll object=1
@1000000000 thread=1 log category="x" message="y"
END

# Proc 0 is in use for a third of the time, for 10 us each 30, proc 1 all the time.  On proc 2 two threads take turns: the run queue is 1 mostly,
# two threads at once for 3 us, and later for 4 ms.
{
	cat <<END
thread 1 tid=301 name="ticker"
thread 2 tid=302 name="turn 1"
thread 3 tid=303 name="spinner"
thread 4 tid=304 name="turn 2"
thread 5 tid=305 name="turn 3"
@0 source=kernel proc=1 thread=3 proc_start
@0 source=kernel proc=2 thread=2 proc_start
END
	awk 'BEGIN {
		for (i = 0; i < 1000; i++)
			printf "@%d source=kernel proc=0 thread=1 proc_start\n@%d source=kernel proc=0 thread=1 proc_stop\n", i * 30000, i * 30000 + 10000
	}'
	cat <<END
@1000000 source=kernel proc=2 thread=2 proc_stop preempted=1
@1000000 source=kernel proc=2 thread=4 proc_start
@2000000 source=kernel proc=2 thread=4 proc_stop preempted=1
@2003000 source=kernel proc=2 thread=4 proc_start
@3000000 source=kernel proc=2 thread=4 proc_stop preempted=1
@3000000 source=kernel proc=2 thread=5 proc_start
@7000000 source=kernel proc=2 thread=5 proc_stop
@7000000 source=kernel proc=2 thread=4 proc_start
@8000000 source=kernel proc=2 thread=4 proc_stop
@8000000 source=kernel proc=2 thread=2 proc_start
@10000000 source=kernel proc=2 thread=2 proc_stop
@30000000 source=kernel proc=1 thread=3 proc_stop
END
} | sort -t@ -k2,2n -s | assembled procs

# A thread has its proc all the time, and works for a request during a fifth of it.
assembled worked <<END
thread 1 tid=501 name="main"
@0 source=kernel proc=0 thread=1 proc_start
@2000000 thread=1 task_begin task=1 type="request"
@4000000 thread=1 task_end task=1
@10000000 source=kernel proc=0 thread=1 proc_stop
END
"$analyze" --task request --html "$pages/worked-tasks.html" "$pages/worked.trc"

# It began between two milliseconds of the clock: 2023-11-14 22:13:20.000400001 UTC.
assembled clock <<END
sync ticks=0 realtime=1700000000000400001
thread 1 tid=601 name="main"
@0 thread=1 log category="x" message="first"
@9000000 thread=1 log category="x" message="last"
END
"$analyze" --window 22:13:20.001..22:13:20.0015 --html "$pages/clock-part.html" "$pages/clock.trc"

# The clock is put forward by an hour after 3 ms; the page takes the same time for it as --window.
assembled adjusted <<END
sync ticks=0 realtime=1700000000000000000
sync ticks=3000000 realtime=1700003600003000000
thread 1 tid=601 name="main"
@0 thread=1 log category="x" message="first"
@9000000 thread=1 log category="x" message="last"
END
"$analyze" --window 23:13:20.005..23:13:20.006 --html "$pages/adjusted-part.html" "$pages/adjusted.trc"

# Of ten requests no sample lies in the slowest.
{
	cat <<END
thread 1 tid=401 name="main"
sample_event 1 name="cpu-clock" unit="nanoseconds" how=timer period=10000000
stack work 0x1010 0x1020
END
	awk 'BEGIN {
		for (i = 1; i <= 10; i++)
			printf "@%d thread=1 task_begin task=%d type=\"request\"\n@%d thread=1 task_end task=%d\n", i * 1000000, i, i * 1000000 + 20000 * i, i
	}'
	echo '@5010000 thread=1 sample event=1 value=10000000 stack=work'
} | sort -t@ -k2,2n -s | assembled tasks
"$analyze" --task request --slowest 50% --thread 'm*n' --window 2ms..8ms --html "$pages/tasks-part.html" "$pages/tasks.trc"

# Of one event each occurrence has a sample; of the other a sample is lost, and the third is sampled.
{
	cat <<END
thread 1 tid=701 name="main"
thread 2 tid=702 name="worker"
sample_event 1 name="page-faults" unit="count" how=kernel period=1
sample_event 2 name="faults-lost" unit="count" how=kernel period=1
sample_event 3 name="cache-misses" unit="count" how=kernel period=100
stack get 0x1010 0x1020
stack put 0x2010 0x1020
END
	awk 'BEGIN {
		for (i = 1; i <= 60; i++)
			printf "@%d thread=%d sample event=%d value=%d period=%d stack=%s\n", i * 1000, 1 + i % 2, 1 + i % 3,
				i % 3 == 2 ? 100 : 1, i % 3 == 2 ? 100 : 1, i % 5 < 2 ? "get" : "put"
	}'
	echo '@90000 thread=1 samples_lost event=2 lost_samples=1 cause=busy'
} | assembled counted
"$analyze" --window 10us..50us --html "$pages/counted-part.html" "$pages/counted.trc"

browse "$work/told.mjs" "$analyze" "$pages"
