#!/bin/bash
# Threads of a pool that wait for a job and, in between, for a timer, do nothing: the report tells them in one line, at both
# places.  Not so who works on what a poll found, or sleeps as a part of its work.
. "$(dirname "$0")/lib.sh"
need_unsanitized

"$trace_record" -q --no-sched -o t.trc -- "$here/idle_pool" || fail "status $?"
[ "$(sql t.trc "SELECT count(*) FROM parks WHERE reason = 'poll' AND result = 110")" = 16 ] ||
	fail "polls that timed out: $(sql t.trc "SELECT result, count(*) FROM parks WHERE reason = 'poll' GROUP BY 1")"
[ "$(sql t.trc "SELECT count(*) FROM parks WHERE reason = 'poll' AND result = 0 AND place(stack) NOT LIKE 'take_input%'")" = 0 ] ||
	fail 'a poll that found nothing says that it found something'
passed 'a poll that found nothing has timed out'
"$trace_analyze" t.trc >report.txt || fail "report: status $?"
sed -n '/^Waiting for other threads/,/^$/p' report.txt >threads.txt
sed -n '/^Waiting for requests/,/^$/p' report.txt >outside.txt
grep -q 'idle: 2 threads in cond at get_job' threads.txt || fail "the pool: $(cat report.txt)"
grep -qE 'idle: .*2 (threads )?in poll at look_around' outside.txt || fail "the pool's timer: $(cat report.txt)"
passed 'who waits for a job and a timer is idle at both'
grep -q '^ *take_input' outside.txt && grep -q '^ *work' outside.txt || fail "who works: $(cat outside.txt)"
cat threads.txt outside.txt | grep 'idle:' | grep -q 'take_input\|work ' && fail "too many are idle: $(cat report.txt)"
passed 'who works on what it found, or sleeps in its work, is not'
