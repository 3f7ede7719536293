#!/bin/bash
# Who ran instead of threads that could have run, against a program whose threads read each other's CPU time: in SQL, --json, the
# report and the latency profile.
. "$(dirname "$0")/lib.sh"
need_unsanitized

instead="SELECT t.name, i.name, sum(instead_ns) FROM sched_latency AS l JOIN threads AS t ON t.id = l.thread
	JOIN threads AS i ON i.id = l.instead_thread WHERE kind = 'preempted' GROUP BY 1, 2"

agrees()
{
	sql dump.trc "$instead" >trace.tsv
	awk -F '\t' '
		NR == FNR { trace[$1, $2] = $3; next }
		{
			off = trace[$1, $2] - $3
			printf "%-10s %-10s %.1f of %.1f ms\n", $1, $2, trace[$1, $2] / 1e6, $3 / 1e6
			n++
			bad += (off < 0 ? -off : off) > 0.02 * $3 + 2000000 || $3 < 10000000
			far += $3 >= 10000000 && (trace[$1, $2] < $3 / 4 || trace[$1, $2] > 4 * $3)
		}
		END { exit far ? 2 : bad || n < 2 }' trace.tsv truth.tsv
}

while another_run; do
	measure "$trace_record" -q --sched -o dump.trc -- "$here/truth_instead" >truth.tsv || {
		[ $? = 77 ] && skip 'no processor is known'
		fail 'trace-record or the program failed'
	}
	expect_sound dump.trc
	[ "$(sql dump.trc 'SELECT count(*) > 0 FROM on_cpu')" = 1 ] || skip 'the kernel records no switches here'
	agrees >compared.txt
	judged $? "who ran instead is not what the program says: $(cat compared.txt)"
done
cat compared.txt
passed 'who ran instead, and for how long, is what the program says'

# The same four ways.
"$trace_analyze" --json dump.trc >dump.json || fail 'no --json'
json()
{
	sql_json dump.trc dump.json "SELECT $1 FROM json_each(JSON, '\$.sched_latency_instead') $2"
}
wanted=$(sql dump.trc "SELECT t.name, i.name, count(*), sum(instead_ns), max(instead_ns) FROM sched_latency AS l
	JOIN threads AS t ON t.id = l.thread LEFT JOIN threads AS i ON i.id = l.instead_thread GROUP BY l.thread, l.instead_thread
	ORDER BY l.thread, l.instead_thread")
got=$(json "value ->> 'name', value ->> 'instead_name', value ->> 'latencies', value ->> 'instead_ns', value ->> 'longest_ns'" \
	"ORDER BY value ->> 'thread', value ->> 'instead_thread'")
expect '--json has the same as SQL' test "$wanted" = "$got"
"$trace_analyze" --full dump.trc >report.txt || fail 'no report'
expect 'the report has a table of it' grep -q 'ran instead of them$' report.txt
for name in 'first a' 'first b'; do
	expect "with $name" grep -qE "^ +[0-9.]+ .s .* $name \([0-9]+\)\$" report.txt
done
need go
"$trace_analyze" --pprof latency -o latency.pb.gz dump.trc || fail 'no profile'
go tool pprof -tags -unit=ns latency.pb.gz >pprof.txt 2>pprof.err || fail "go tool pprof: $(cat pprof.err)"
sql dump.trc "SELECT i.name || ' (' || i.tid || ')', sum(latency_ns) FROM sched_latency AS l JOIN threads AS i
	ON i.id = l.instead_thread GROUP BY l.instead_thread" >by_instead.tsv
while IFS=$'\t' read -r name ns; do
	expect "the profile's label instead has $name" grep -qE "^ *${ns}ns \(.*: ${name//[()]/.}\$" pprof.txt
done <by_instead.tsv
