#!/bin/bash
# A lock that the program made of a futex: what the trace says of who waited, and because of whom, against the
# program's own account, within 1 %.  Futexes that are no locks are not called so.
. "$(dirname "$0")/lib.sh"
need_unsanitized

waited="SELECT 'waits', sum(waited_ns) FROM parks WHERE reason = 'futex_lock'"
caused="SELECT iif(t.name = 'hog', 'hog', 'others'), sum(u.caused_ns) FROM unlocks u JOIN threads t ON t.id = u.thread
	WHERE u.reason = 'futex_lock' GROUP BY 1"

# While a thread that was woken has no processor another one may take the lock: each call of futex() is a wait by itself,
# and such time at its end is charged to nobody.  Nor is that of a call that came too late to wait.
late="SELECT 'late', total(iif(result = 0, end_ns - wake_ns, waited_ns)) FROM parks WHERE reason = 'futex_lock'"

# A clock is read a little before or after what it stands for, once for each wait.
agrees()
{
	awk -F '\t' '
		NR == FNR { trace[$1] = $2; next }
		{
			allowed = 0.01 * $2 + 320 * 20000
			less = $1 == "waits" ? allowed : allowed + trace["late"]
			verdict = trace[$1] > $3 + allowed || trace[$1] < $2 - less ? "TIME" : "ok"
			bad += verdict != "ok"
			far += trace[$1] < $2 / 4 || trace[$1] > 4 * $3 + allowed
			printf "%-4s %-7s %10.3f of %10.3f to %10.3f ms\n", verdict, $1, trace[$1] / 1e6, $2 / 1e6,
				$3 / 1e6
		}
		END { exit far ? 2 : bad || FNR != 3 }' trace.tsv truth.tsv
}

while another_run; do
	measure "$trace_record" -q -o dump.trc -- "$here/truth_futex" >truth.tsv ||
		fail "trace-record or the program failed: $?"
	expect_sound dump.trc
	sql dump.trc "$waited UNION ALL $caused UNION ALL $late" >trace.tsv || fail 'no waits'
	agrees
	judged $? 'the waits, or those who caused them, are not those of the program'
done
passed 'the waits for the lock, and because of whom'

names=$(sql dump.trc "SELECT DISTINCT kind || ' ' || name FROM locks WHERE kind LIKE 'futex%'")
expect 'the lock, and no other futex, is one' test "$names" = 'futex_lock the_lock'
names=$(sql dump.trc "SELECT group_concat(name) FROM (SELECT DISTINCT o.name FROM parks p JOIN objects o
	ON o.address = p.object AND o.kind = p.reason WHERE p.reason = 'futex' ORDER BY o.name)")
expect 'the others are futexes' test "$names" = the_permits,the_queue,the_round

# Report, SQL, profile and JSON have the same.
total=$(sql dump.trc "SELECT sum(caused_ns) FROM unlocks")
expect 'the table of locks has it' test "$(sql dump.trc 'SELECT sum(caused_ns) FROM locks')" = "$total"
"$trace_analyze" --pprof mutex -o mutex.pb.gz dump.trc || fail 'no profile'
if command -v go >/dev/null; then
	go tool pprof -raw -sample_index=delay mutex.pb.gz 2>/dev/null |
		awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 } on && $2 ~ /:$/ { sum += $2 } END { printf "%d\n", sum }' >pprof.txt
	expect 'the profile has it' test "$(cat pprof.txt)" = "$total"
fi
"$trace_analyze" --json dump.trc >dump.json || fail 'no JSON'
expect 'the JSON has it' test "$(sql_json dump.trc dump.json "SELECT sum(value ->> 'caused_ns') FROM json_each(JSON, '\$.locks')")" = "$total"
"$trace_analyze" dump.trc >report.txt || fail 'no report'
expect 'the report tells it among the locks' awk '/^Waiting for locks/ { locks = 1 } /^Waiting for other/ { locks = 0 }
	locks && /  futex_lock the_lock$/ { found = 1 } END { exit !found }' report.txt
