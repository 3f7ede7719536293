#!/bin/bash
# Locks of Rust's std, and of C++ for static variables, that only two threads use: who wakes whom does not show that they are locks, but the functions that wait
# for them do.  Their waits are those of the program's own account, within 5 % and what its clock has for each wait.
. "$(dirname "$0")/lib.sh"
need_unsanitized

agrees()
{
	awk -F '\t' '
		NR == FNR { trace[$1] = $2; next }
		{
			difference = trace[$1] - $2
			verdict = ($1 in trace) && difference ^ 2 < (0.05 * $2 + 40 * 20000) ^ 2 ? "ok" : "TIME"
			bad += verdict != "ok"
			far += trace[$1] < $2 / 4 || trace[$1] > 4 * $2
			printf "%-4s %-12s %10.3f of %10.3f ms\n", verdict, $1, trace[$1] / 1e6, $2 / 1e6
		}
		END { exit far ? 2 : bad || FNR != 4 }' trace.tsv truth.tsv
}

while another_run; do
	measure "$trace_record" -q -o dump.trc -- "$here/rust_lock" >truth.tsv || fail "trace-record or the program failed: $?"
	expect_sound dump.trc
	sql dump.trc "SELECT name, waited_ns FROM locks WHERE kind = 'futex_lock'" >trace.tsv || fail 'no locks'
	agrees
	judged $? 'the waits for locks are not those of the program' || continue
	"$trace_analyze" dump.trc >report.txt || fail 'no report'
	grep -q 'futex_lock table_lock' <(sed -n '/^Findings/,/^$/p' report.txt) ||
		differs "no finding tells of the lock: $(sed -n '/^Findings/,/^$/p' report.txt)"
done
passed 'a finding tells of the lock'
passed 'the waits for all locks'

mangled=$(sql dump.trc "SELECT group_concat(DISTINCT function) FROM frames WHERE function LIKE '%lock_contended' OR function LIKE '%write_contended%'")
expect "names of both of Rust's manglings are readable" test "$(tr , '\n' <<<"$mangled" | sort | tr '\n' ' ')" = \
	'std::sys::sync::mutex::futex::Mutex::lock_contended std::sys::sync::rwlock::futex::RwLock::write_contended '

names=$(sql dump.trc "SELECT group_concat(DISTINCT o.name) FROM parks p JOIN objects o ON o.address = p.object AND o.kind = p.reason
	WHERE p.reason = 'futex'")
expect 'what is no lock is none' test "$names" = the_count
expect 'releases are unlocks' test "$(sql dump.trc "SELECT count(DISTINCT object) FROM unlocks WHERE reason = 'futex_lock'")" = 4
grep -q 'no thread waited for a lock' report.txt && fail "the report knows no lock: $(head -8 report.txt)"
stripped=$(strip -o stripped "$here/rust_lock" && "$trace_record" -q -o stripped.trc -- ./stripped >/dev/null &&
	sql stripped.trc "SELECT group_concat(DISTINCT reason) FROM parks WHERE reason LIKE 'futex%'")
expect 'a program without symbols is told as before' test "$stripped" = futex
