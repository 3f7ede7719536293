#!/bin/bash
# Samples of CPU time against what the program measured itself, thread by thread and function by
# function: by timers and by counters, of threads that come, go, or were there before.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$top_builddir/tests/integration/truth_cpu

# sampled EVENTS ARGUMENT...: runs the program under trace-record; its own account is truth.txt.
sampled()
{
	local events=$1
	shift
	rm -f t.trc
	measure "$trace_record" -q --no-sched --sample-by "${by:-signal}" -e "$events" -o t.trc \
		"$program" "$@" >truth.txt 2>err.txt || fail "$events: $*: $(cat err.txt)"
	[ ! -s err.txt ] || fail "$events: $*: $(cat err.txt)"
	expect_readable t.trc
}

expect_readable()
{
	"$trace_analyze" --check "$1" >check.txt 2>&1 || fail "$1: $(cat check.txt)"
}

# of EVENT FUNCTION [TID]: nanoseconds, or counts, in whose stacks the function is.
of()
{
	sql t.trc "SELECT coalesce(sum(s.value), 0) FROM event_sample AS s
		JOIN threads AS t ON t.id = s.thread WHERE s.event = $1 ${3:+AND t.tid = $3}
		AND s.stack IN (SELECT f.stack FROM stack_frames AS f
			JOIN frames AS n ON n.id = f.frame WHERE n.function = '$2')"
}

# near WHAT GOT WANTED PERCENT SLACK: within so much, and SLACK more; or else the run differs.
near()
{
	local off=$(($2 - $3)) allowed=$(($3 * $4 / 100 + $5))
	[ ${off#-} -le $allowed ] || differs "$1: $2 instead of $3, give or take $allowed"
}

# with_lost EVENT TID GOT WANTED: what was got, and of what is missing as much as the trace says that
# this thread lost, wherever that was; but no more than half of all.
with_lost()
{
	local lost missing=$(($4 - $3))
	lost=$(sql t.trc "SELECT coalesce(sum(l.lost_samples), 0) *
			(SELECT coalesce(max(period), 0) FROM event_sample WHERE event = $1)
		FROM event_samples_lost AS l JOIN threads AS t ON t.id = l.thread
		WHERE l.event = $1 AND t.tid = $2")
	[ "$lost" -le $(($4 / 2)) ] || lost=$(($4 / 2))
	[ "$lost" -le $missing ] || lost=$((missing > 0 ? missing : 0))
	echo $(($3 + lost))
}

# agree WHAT EVENT PERIOD: all that the program said of itself.  Of a timer PERIOD is at least 10 ms: a
# thread that is preempted often is seldom there when the kernel ticks.  A handler's own time has no
# samples; where it takes long, as on a busy machine, that is told.
agree()
{
	local tid function ns got n=0
	while read -r _ tid function ns; do
		got=$(with_lost "$2" "$tid" "$(of "$2" "$function" "$tid")" "$ns")
		near "$1: $function of $tid" "$got" "$ns" 10 $((4 * $3)) || return 1
		n=$((n + 1))
	done <truth.txt
	[ $n -gt 0 ] || fail "$1: the program said nothing"
	passed "$1: $n shares agree"
}

# complete WHAT PERIOD CAUSE: what was sampled, and what the trace says was lost, are all there was;
# some was lost for this cause, or hardly any at all.
complete()
{
	local used lost
	used=$(awk '{ n += $4 } END { printf "%d", n }' truth.txt)
	lost=$(sql t.trc 'SELECT coalesce(sum(lost_samples), 0) FROM event_samples_lost')
	near "$1" $(($(sql t.trc 'SELECT sum(value) FROM event_sample') + lost * $2)) "$used" 12 \
		$((4 * $2)) || return 1
	if [ "$3" = none ]; then
		# A thread that is interrupted in its handler's first page faults may miss one.
		[ $((lost * $2)) -le $((used / 20)) ] || differs "$1: $lost samples lost" ||
			return 1
	else
		[ "$(sql t.trc "SELECT coalesce(sum(lost_samples), 0) FROM event_samples_lost
			WHERE cause = '$3'")" -gt 3 ] || differs "$1: no samples were lost: $3" ||
			return 1
	fi
	passed "$1: $lost samples lost, and said so"
}

# said NUMBER TEXT...: what the trace says of an event that was sampled.
said()
{
	"$top_builddir/tests/recorder/tool/trace_dump" t.trc | grep "^sampled $1 " >said.txt
	grep -qE "^sampled $*" said.txt || fail "not 'sampled $*' but: $(cat said.txt)"
	passed "the trace says: $*"
}

runs=0
while another_run; do
	sampled timer threads
	said 1 timer timer period 10000000 missing 0: '$'
	agree 'timers' 1 10000000
done
# What auto takes: threads that come and go have counters, those that stay have timers.
if sampled cpu-clock execs 0 2>skipped.txt; then
	runs=0
	while another_run; do
		by=auto sampled auto:1000000 threads
		said 1 cpu-clock timer period 1000000 missing 0:
		agree 'what auto takes' 1 1000000
	done
	runs=0
	while another_run; do
		by=auto sampled auto:1000000 churn 200
		complete 'short threads, by what auto takes' 1000000 none
	done
	runs=0
	while another_run; do
		by=auto sampled auto:1000000 blocked
		complete 'SIGPROF blocked, by what auto takes' 1000000 none
	done
fi
runs=0
while another_run; do
	sampled timer:1000000 threads
	said 1 timer timer period 1000000 missing 0: at most '[0-9]+' samples a second$
	agree 'timers that tick more often than the kernel' 1 10000000
done
can_count=no
if sampled cpu-clock execs 0 2>skipped.txt; then
	can_count=yes
	runs=0
	while another_run; do
		sampled cpu-clock threads
		said 1 'cpu-clock(:u)?' signal period 1000000 missing 0:
		agree 'counters of the clock' 1 1000000
	done
	runs=0
	while another_run; do
		sampled cpu-clock:100000 threads
		agree 'counters at 10 kHz' 1 100000
	done
	runs=0
	while another_run; do
		sampled task-clock,timer,cpu-clock:3000000,page-faults:1 threads
		agree 'one of several events' 1 1000000
		agree 'timers beside counters' 2 10000000
		agree 'a counter beside its like' 3 3000000
		[ "$(sql t.trc 'SELECT count(*) FROM event_sample
			WHERE event = 4 AND value = 1')" -gt 0 ] || fail 'no page faults'
	done

	sampled cpu-clock:10000 execs 60
	passed 'no signal of a sampler ends the next program'
	runs=0
	while another_run; do
		sampled cpu-clock:1000000 churn 200
		complete 'short threads, by counters' 1000000 none
	done
	runs=0
	while another_run; do
		sampled cpu-clock:1000000 blocked
		complete 'SIGPROF blocked, by counters' 1000000 none
	done
	runs=0
	while another_run; do
		sampled cpu-clock:1000000 closes
		complete 'descriptors closed' 1000000 not_ours
	done
fi

# ---- by the kernel: leaves are in the function itself, whatever is below them -----------------
if by=kernel sampled cpu-clock execs 0 2>skipped.txt; then
	runs=0
	while another_run; do
		by=kernel sampled cpu-clock:200000 threads
		said 17 'cpu-clock(:u)?' kernel period 200000 missing 0:
		agree 'by the kernel' 17 200000
	done
	runs=0
	while another_run; do
		by=auto sampled cpu-clock:100000,timer threads
		said 17 'cpu-clock(:u)?' kernel period 100000 missing 0:
		said 1 timer timer period 10000000 missing 0:
		agree 'by the kernel at 10 kHz' 17 100000
		agree 'timers beside it' 1 10000000
	done
fi

# ---- what no sample can tell of is told as lost -----------------------------------------------
runs=0
while another_run; do
	sampled timer blocked
	complete 'SIGPROF blocked, by timers' 10000000 none
done

# ---- threads that are there before, in a program that records itself -------------------------
runs=0
while another_run; do
	TRC_CPU_EVENTS=cpu-clock TRC_SAMPLE_BY=signal measure "$program" before t.trc >truth.txt \
		2>err.txt || {
		[ $can_count = no ] || fail "before: $(cat err.txt)"
		TRC_CPU_EVENTS=timer measure "$program" before t.trc >truth.txt || fail before
	}
	expect_readable t.trc
	agree 'threads from before' 1 10000000
done
