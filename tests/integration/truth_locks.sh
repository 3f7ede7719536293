#!/bin/bash
# Locks as the tables have them, against a program that keeps account itself: how long they were held, with
# percentiles; convoys; how long a holder had no processor; how long a woken thread took to run.  And against
# what SQL makes of the events.
. "$(dirname "$0")/lib.sh"
need_unsanitized

record()
{
	"$trace_record" -q -o dump.trc "${@:2}" -- "$here/truth_locks" "$1" >truth.tsv || {
		[ $? = 77 ] && skip "no schedstat"
		fail "$1: trace-record or the program failed"
	}
	expect_sound dump.trc
}

# same WHAT QUERY QUERY: both have the same rows.
same()
{
	local off
	off=$(sql dump.trc "SELECT (SELECT count(*) FROM ($2 EXCEPT $3)) + (SELECT count(*) FROM ($3 EXCEPT $2)),
		(SELECT count(*) FROM ($2))") || fail "$1: no answer"
	[ "${off%	*}" = 0 ] && [ "${off#*	}" -gt 0 ] || fail "$1: $off rows differ, of"
	passed "$1 (${off#*	} rows)"
}

# In columns of the truth; a thread may lose its processor between its clock and the lock.
holds="SELECT 'mutex', holds, held_ns, hold_p50_ns, hold_p99_ns, hold_max_ns FROM locks WHERE name = 'mutex'
	UNION ALL SELECT 'readers', read_holds, read_held_ns, 0, 0, 0 FROM locks WHERE name = 'table.lock'
	UNION ALL SELECT 'writers', write_holds, write_held_ns, 0, 0, 0 FROM locks WHERE name = 'table.lock'"
holds_agree()
{
	sql dump.trc "$holds" >trace.tsv
	awk -F '\t' '
		function off(a, b, percent) {
			return (a > b ? a - b : b - a) > percent / 100 * b + 1000
		}
		NR == FNR { for (i = 2; i <= 6; i++) trace[$1, i] = $i; next }
		{
			bad += trace[$2, 2] != $3 || off(trace[$2, 3], $4, 2)
			if ($2 == "mutex")
				bad += off(trace[$2, 4], $5, 2) + off(trace[$2, 5], $6, 10)
			printf "%-8s %d of %d, %.3f of %.3f ms, p50 %.1f of %.1f us, p99 %.1f of %.1f us\n",
				$2, trace[$2, 2], $3, trace[$2, 3] / 1e6, $4 / 1e6,
				trace[$2, 4] / 1e3, $5 / 1e3, trace[$2, 5] / 1e3, $6 / 1e3
		}
		END { exit bad || FNR != 3 }' trace.tsv truth.tsv
}

agreed=
for try in 1 2 3 4 5; do
	record holds --locks=all
	holds_agree >compared.txt && agreed=$try
	cat compared.txt
	[ -z "$agreed" ] || break
done
expect "how often and how long locks were held, p50 and p99 (run $try)" test "$agreed"
same 'holds are what acquisitions and releases make' \
	"SELECT thread, object, start_ns, end_ns FROM holds WHERE end_ns IS NOT NULL" \
	"SELECT thread, object, ts_ns, next_ns FROM (SELECT thread, object, kind, ts_ns, lead(ts_ns) OVER w AS next_ns,
		lead(kind) OVER w AS next_kind FROM events WHERE kind IN ('acquire', 'release')
		WINDOW w AS (PARTITION BY thread, object ORDER BY ts_ns))
		WHERE kind = 'acquire' AND next_kind = 'release'"
same 'waits and percentiles of locks are those of parks' \
	"SELECT object, waits, waited_ns, wait_p50_ns, wait_p99_ns, wait_max_ns FROM locks WHERE waits > 0" \
	"SELECT object, max(n), sum(waited_ns), max(iif(k = (n * 50 + 99) / 100, waited_ns, NULL)),
		max(iif(k = (n * 99 + 99) / 100, waited_ns, NULL)), max(waited_ns) FROM (SELECT object, waited_ns,
		count(*) OVER (PARTITION BY object) AS n, row_number() OVER (PARTITION BY object ORDER BY waited_ns) AS k
		FROM parks WHERE reason IN ('mutex', 'rwlock_read', 'rwlock_write', 'spin', 'cond_mutex', 'once'))
		GROUP BY object"
same 'what of them was after the lock had been given up, too' \
	"SELECT object, woken_ns FROM locks WHERE waits > 0" \
	"SELECT object, coalesce(sum(iif(wake_ns > start_ns, end_ns - wake_ns, NULL)), 0) FROM parks
		WHERE reason IN ('mutex', 'rwlock_read', 'rwlock_write', 'spin', 'cond_mutex', 'once') GROUP BY object"
same 'what their sections caused is that of unlocks' \
	"SELECT object, sections, caused_waits, caused_ns FROM locks WHERE sections > 0" \
	"SELECT object, count(*), sum(caused_waits), sum(caused_ns) FROM unlocks WHERE caused_waits GROUP BY object"
"$trace_analyze" dump.trc >report.txt || fail 'no report'
n=$(sql dump.trc "SELECT holds FROM locks WHERE name = 'mutex'")
expect 'the report tells how often' grep -q "held $(printf %s "$n" | sed 's/\(.*\)\(...\)$/\1,\2/') times" report.txt
expect 'there is a profile of it' "$trace_analyze" --pprof hold -o hold.pb.gz dump.trc

# ---- contended: the sections into which a thread came by a wait ----
record holds
same 'contended sections are unlocks that tell when they began' \
	"SELECT object, holds, held_ns, hold_max_ns FROM locks WHERE kind = 'mutex' AND holds_from = 'contended'" \
	"SELECT object, count(*), sum(ts_ns - taken_ns), max(ts_ns - taken_ns) FROM (SELECT *, lag(ts_ns) OVER
		(PARTITION BY object ORDER BY ts_ns) AS before_ns FROM unlocks WHERE reason = 'mutex') AS u
		WHERE taken_ns IS NOT NULL AND (before_ns IS NULL OR taken_ns >= before_ns) AND EXISTS (SELECT 1
		FROM parks p WHERE p.object = u.object AND p.thread <> u.thread AND p.start_ns <= u.taken_ns AND
		p.reason IN ('mutex', 'cond_mutex') AND (p.end_ns IS NULL OR p.end_ns >= u.taken_ns)) GROUP BY object"

# A lock was held since it was taken last, whoever gave it back in between and however.
record again
sql dump.trc "SELECT t.name, coalesce(u.ts_ns - u.taken_ns, -1) FROM unlocks u JOIN threads t ON t.id = u.thread
	WHERE u.caused_waits > 0" >trace.tsv
expect 'a lock that is taken again was not held in between' awk -F '\t' '
	NR == FNR { held[$1] = $2; next }
	$1 == "again" {
		printf "%-8s %.3f of %.3f to %.3f ms\n", $2, held[$2] / 1e6, $3 / 1e6, $4 / 1e6
		n++
		# 0.1 ms: the trace has another clock
		bad += !($2 in held) || held[$2] > $4 + 100000
		# Where it is not told, nobody waited when it was taken.
		bad += held[$2] < $3 - 100000 && (held[$2] != -1 || $2 == "nested")
	}
	END { exit bad || n != 6 }' trace.tsv truth.tsv

# ---- convoys ----
record convoy
expect 'five convoys of six hand-overs each' test "$(sql dump.trc "SELECT convoys, convoy_handovers FROM locks
	WHERE name = 'mutex'")" = '5	6'
sql dump.trc "SELECT convoy_ns FROM locks WHERE name = 'mutex'" >longest.tsv
expect 'the longest lasted as long as the program says' awk -F '\t' 'NR == FNR { trace = $1; next }
	$4 > longest { longest = $4 }
	END { off = trace - longest; printf "%.3f of %.3f ms\n", trace / 1e6, longest / 1e6
		exit (off < 0 ? -off : off) > 0.02 * longest + 1000000 }' longest.tsv truth.tsv

# ---- a holder that loses its processor ----
agreed=
for try in 1 2 3; do
	record preempted --sched
	[ "$(sql dump.trc 'SELECT count(*) > 0 FROM on_cpu')" = 1 ] || skip 'the kernel records no switches here'
	sql dump.trc "SELECT sum(preempted_ns), sum(preempted_waits_ns), sum(caused_ns) FROM unlocks" >trace.tsv
	awk -F '\t' 'NR == FNR { trace = $1; waits = $2; next }
		$1 == "preempted" { off = trace - $4
			printf "%.1f of %.1f ms, waits %.1f\n", trace / 1e6, $4 / 1e6, waits / 1e6
			exit (off < 0 ? -off : off) > 0.1 * $4 || waits < 0.9 * trace || $4 < 100000000 }' \
		trace.tsv truth.tsv && agreed=$try
	[ -z "$agreed" ] || break
done
expect "a holder's time without a processor is what the kernel says (run $try)" test "$agreed"
same 'preempted waits of unlocks are those of causes' \
	"SELECT id, preempted_waits_ns FROM unlocks WHERE preempted_waits_ns" \
	"SELECT \"unlock\", sum(duration_ns) FROM causes WHERE depth = 1 AND cause = 'preempted' AND \"unlock\" GROUP BY 1"
expect 'locks have the same sum' test "$(sql dump.trc "SELECT sum(preempted_waits_ns) = (SELECT sum(preempted_waits_ns)
	FROM unlocks) FROM locks")" = 1
same 'what was preempted is between stretches on a proc' \
	"SELECT thread, woken_ns, running_ns FROM sched_latency WHERE kind = 'preempted'" \
	"SELECT thread, end_ns, next_ns FROM (SELECT thread, end_ns, preempted, lead(start_ns) OVER (PARTITION BY thread
		ORDER BY start_ns) AS next_ns FROM on_cpu) WHERE preempted AND next_ns >= end_ns"
same 'who ran instead longest, and how long all did' \
	"SELECT l.id, l.own_ns, l.instead_ns FROM sched_latency l WHERE own_ns AND latency_ns > 1000000" \
	"SELECT id, sum(ns), max(ns) FROM (SELECT l.id, o.thread, sum(min(l.running_ns, coalesce(o.end_ns, l.running_ns)) -
		max(l.woken_ns, coalesce(o.start_ns, l.woken_ns))) AS ns FROM sched_latency l JOIN on_cpu o ON o.proc = l.instead_proc AND
		coalesce(o.start_ns, l.woken_ns) < l.running_ns AND coalesce(o.end_ns, l.running_ns) > l.woken_ns WHERE l.latency_ns > 1000000 GROUP BY 1, 2) GROUP BY id"

# ---- from the post until the thread runs ----
# A thread that is taken off its processor between its wait and its clock measures more than the trace has.
while another_run; do
	measure record wakes --sched
	sql dump.trc "SELECT l.latency_ns, w.name, l.proc FROM sched_latency l JOIN threads t ON t.id = l.thread JOIN parks p ON
		p.id = l.park JOIN threads w ON w.id = l.waker_thread WHERE t.name = 'woken' AND p.reason = 'sem' ORDER BY l.woken_ns" >trace.tsv
	# The program's begins before the post and ends after the wait: it is longer, by little.  It may be moved to another
	# processor before it asks where it is.
	paste trace.tsv <(grep ^wake truth.tsv) | awk -F '\t' '
		{ off = $5 - $1; n++; good += off > -2000 && off < 100000; trace += $1; truth += $5
			others += $2 != $6; lacking += $1 == ""; asked += $7 >= 0; elsewhere += $7 >= 0 && $3 != $7; procs[$3] }
		END { for (i in procs) n_procs++
			printf "%d of %d, mean %.1f of %.1f us; %d by another thread, %d of %d on another of %d procs\n", good, n, trace / n / 1e3,
				truth / n / 1e3, others, elsewhere, asked, n_procs
			# Who found the post already there did not wait: what follows is then beside another row.
			if (n == 300 && !lacking && (good < n / 4 || others || elsewhere > asked / 2))
				exit 2
			exit n != 300 || lacking || others || good < 0.95 * n || elsewhere > 0.05 * asked || asked < n / 2 }' >woken.txt
	judged $? "woken to running: $(cat woken.txt)"
done
passed "woken to running, by whom, and on which processor, is what the program measures: $(cat woken.txt)"
"$trace_analyze" --json dump.trc >dump.json || fail 'no --json'
for query in 'SELECT count(*), sum(latency_ns) FROM sched_latency'; do
	wanted=$(sql dump.trc "$query")
	got=$(sql_json dump.trc dump.json "SELECT sum(value ->> 'latencies'), sum(value ->> 'total_ns') FROM json_each(JSON, '\$.sched_latency')")
	[ "$wanted" = "$got" ] || fail "--json: $got instead of $wanted"
	passed '--json has the same latencies'
done
# By who woke and by where the thread ran --json has the sums of SQL.
for by in waker_thread:wakers proc:procs; do
	sql dump.trc "SELECT ${by%:*}, count(*), sum(latency_ns), max(latency_ns) FROM sched_latency GROUP BY 1 ORDER BY 1" >sql.tsv
	sql_json dump.trc dump.json "SELECT value ->> '${by%:*}', value ->> 'latencies', value ->> 'total_ns', value ->> 'max_ns'
		FROM json_each(JSON, '\$.sched_latency_${by#*:}') ORDER BY 1" >json.tsv
	expect "--json has the latencies by ${by%:*}" diff sql.tsv json.tsv
done
# ---- from the creation until the thread runs: the program's begins before and ends after ----
agreed=
for try in 1 2 3; do
	record starts --sched
	sql dump.trc "SELECT latency_ns FROM sched_latency WHERE kind = 'new' AND waker_thread = 1 ORDER BY woken_ns" >trace.tsv
	paste trace.tsv <(grep ^start truth.tsv) | awk -F '\t' '
		{ off = $3 - $1; n++; good += off > 0 && off < 500000; trace += $1; truth += $3 }
		END { printf "%d of %d, mean %.1f of %.1f us\n", good, n, trace / n / 1e3, truth / n / 1e3
			exit n != 50 || good < 0.9 * n }' && agreed=$try
	[ -z "$agreed" ] || break
done
expect "created to running is what the program measures (run $try)" test "$agreed"
expect 'there is a profile of it' "$trace_analyze" --pprof latency -o latency.pb.gz dump.trc
