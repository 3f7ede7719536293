#!/bin/bash
# adopted.sh - what a test is said to have taken includes processes that it did not wait for.
. "$(dirname "$0")/../integration/lib.sh"
timed=$top_srcdir/tests/timed.sh
burn='awk "BEGIN { for (i = 0; i < 5000000; i++) n += i % 7 }"'

# cpu COMMAND: in tenths of a second, by the last line.
cpu()
{
	sh "$timed" sh -c "$1" >out.txt 2>&1 || fail "status $?: $1: $(cat out.txt)"
	sed -n '$s/^# took [0-9]* s, \([0-9]*\)\.\([0-9]\) s of CPU$/\1\2/p' out.txt
}

waited_for=$(cpu "$burn")
[ "$waited_for" -ge 2 ] || fail "this takes too little to say anything: $(cat out.txt)"
left=$(cpu "sh -c '($burn; touch done) >/dev/null 2>&1 &'; until [ -e done ]; do sleep 0.05; done")
echo "waited for: $waited_for, left: $left tenths of a second"
[ "$left" -ge $((waited_for / 2)) ] || fail "a process whose parent has ended is not counted: $left of $waited_for"
passed 'a process that nobody in the test waits for counts'

for status in 0 1 77 99; do
	got=0
	sh "$timed" sh -c "exit $status" >out.txt 2>&1 || got=$?
	[ $got = $status ] || fail "status $got for $status"
done
got=0
sh "$timed" sh -c 'kill -9 $$' >out.txt 2>&1 || got=$?
[ $got = 137 ] || fail "status $got of a test that signal 9 ended"
passed "the status is the test's"

began=$SECONDS
sh "$timed" sh -c 'sleep 300 & echo $! >pid' >out.txt 2>&1 || fail "status $? of a test that leaves a process"
[ $((SECONDS - began)) -lt 120 ] || fail "what is left was waited for"
kill "$(cat pid)" || fail 'what a test leaves has ended'
passed 'a process that goes on is left alone'
