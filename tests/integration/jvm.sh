#!/bin/bash
# What HotSpot's threads wait for is told as a Java programmer calls it: not by the machinery below it, and not as one object
# because the machine has one condition for each thread.
. "$(dirname "$0")/lib.sh"
need_unsanitized

"$trace_record" -q -o dump.trc -- "$here/jvm_threads" "$here/.libs/libjvm.so" || fail "the program ended with $?"
"$trace_analyze" dump.trc >report.txt || fail 'no report'
sed -n '/^Waiting for other threads/,/^$/p' report.txt >waits.txt
for row in 'SharedRuntime::complete_monitor_locking_C jvm.cc' 'JVM_MonitorWait jvm.cc'; do
	# One of them is named where it has most of the time.
	grep -A1 -E '  12 .* 3  cond(, 3 objects| 0x[0-9a-f]+ and 2 others)$' waits.txt | grep -q "^ *$row" ||
		fail "no row of 12 waits of 3 threads at $row: $(cat waits.txt)"
	passed "$row has a row of its own"
done
grep -q 'complete_monitor_locking_C .* < jvm_enter .* < java_synchronized ' waits.txt || fail "the callers: $(cat waits.txt)"
! grep -E 'PlatformEvent|ObjectMonitor' waits.txt || fail 'what the machine does to wait is told'
passed 'not how the machine waits'
"$trace_analyze" --full dump.trc >full.txt || fail 'no report'
grep -q 'os::PlatformEvent::park' full.txt || fail '--full leaves frames out'
passed '--full has all frames'
[ "$(sql dump.trc "SELECT count(*) FROM parks WHERE place(stack) LIKE 'JVM_MonitorWait %'")" = 12 ] || fail 'SQL has other places'
passed 'SQL says the same'
