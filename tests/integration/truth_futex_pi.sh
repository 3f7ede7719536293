#!/bin/bash
# A lock by FUTEX_LOCK_PI, used by two threads alone: each wait is one for a lock, its holder is the one that the
# program names, and it lasted as long as the program says; and the release is charged with it.
. "$(dirname "$0")/lib.sh"
need_unsanitized

waits="SELECT w.tid, h.tid, p.waited_ns, coalesce((SELECT sum(u.caused_ns) FROM unlocks u WHERE u.object = p.object
	AND u.thread = p.holder_thread AND u.ts_ns BETWEEN p.start_ns AND p.end_ns), 0)
	FROM parks p JOIN threads w ON w.id = p.thread LEFT JOIN threads h ON h.id = p.holder_thread
	WHERE p.reason = 'futex_lock' AND p.result = 0 ORDER BY p.start_ns"

# Clocks are read a little before or after what they stand for.
agrees()
{
	awk -F '\t' '
		NR == FNR { row[FNR] = $0; rows = FNR; next }
		{
			split(row[FNR], t)
			verdict = "ok"
			if (t[1] != $1 || t[2] != $2) verdict = "WHO"
			else if (t[3] < $3 - 20000 || t[3] > $4 + 20000) verdict = "TIME"
			else if (t[4] < $3 - 20000 || t[4] > t[3] + 20000) verdict = "CAUSED"
			bad += verdict != "ok"
			printf "%-6s %s waits for %s, %s; trace: %s for %s, %s, caused %s\n", verdict, $1, $2, $4,
				t[1], t[2], t[3], t[4]
		}
		END { exit bad || FNR != rows || rows != 24 }' trace.tsv truth.tsv
}

"$trace_record" -q -o dump.trc -- "$here/truth_futex_pi" >truth.tsv || fail "trace-record or the program failed: $?"
expect_sound dump.trc
sql dump.trc "$waits" >trace.tsv || fail 'no waits'
agrees || fail 'the waits are not those of the program'
passed 'who waited for whom, how long, and what the release is charged with'

names=$(sql dump.trc "SELECT DISTINCT kind || ' ' || name FROM locks WHERE kind LIKE 'futex%'")
expect 'the lock is one, though two threads alone use it' test "$names" = 'futex_lock the_lock'
