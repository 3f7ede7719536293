#!/bin/bash
# left_waits.sh - a wait that is left by an exception or a cancellation has ended then, at the place
# where it began.
#
# SPDX-License-Identifier: Apache-2.0
. "$top_srcdir/tests/integration/lib.sh"
need_unsanitized

# left WHAT N: records WHAT into WHAT.trc, which leaves N waits
left()
{
	[ "$("$here/left_waits" "$1")" = "$2" ] || fail "$1: plain, not $2 waits are left"
	"$trace_record" -q -o "$1.trc" -- "$here/left_waits" "$1" >out.txt 2>err.txt ||
		fail "$1: status $?: $(cat err.txt)"
	[ "$(cat out.txt)" = "$2" ] || fail "$1: $(cat out.txt) waits are left instead of $2"
	"$trace_analyze" --check "$1.trc" >check.txt 2>&1 || fail "$1: $(cat check.txt)"
	passed "$1: the trace is consistent"
}

left once 1
left locks 5
left calls 3

[ "$(sql once.trc "SELECT count(*) FROM parks AS o JOIN parks AS s USING (thread)
	WHERE o.reason = 'once' AND s.reason = 'sem' AND o.end_ns <= s.start_ns")" = 1 ] ||
	fail "the wait for the initialization: $(sql once.trc 'SELECT reason, start_ns, end_ns FROM parks')"
passed 'a wait for an initialization ends where the thread is at it itself'

# 125 = ECANCELED
ended=$(sql locks.trc "SELECT group_concat(reason, ' ') FROM (SELECT reason FROM parks
	WHERE result = 125 AND end_ns IS NOT NULL ORDER BY start_ns)")
[ "$ended" = 'mutex rwlock_read rwlock_write barrier once' ] || fail "ended by cancellation: $ended"
passed 'waits for locks end by cancellation'

places=$(sql calls.trc "SELECT group_concat(f.function, ' ') FROM (SELECT * FROM parks WHERE result = 125
	ORDER BY start_ns) AS p JOIN stack_frames AS sf ON sf.stack = p.stack AND sf.depth = 0
	JOIN frames AS f ON f.id = sf.frame")
[ "$places" = 'sleeps reads polls' ] || fail "cancelled at: $places"
passed 'calls that were cancelled are where the program made them'
