#!/bin/bash
# Tasks, regions, logs and counters: their number exactly, their time within 5 % or the noise
# floor; recorded by the program itself, and by trace-record.
. "$(dirname "$0")/lib.sh"
need_no_thread_sanitizer

# compare TRACE TRUTH
compare()
{
	{
		sql "$1" "SELECT 'task', type, '', count(*), sum(duration_ns) FROM tasks GROUP BY type"
		sql "$1" "SELECT 'region', type, '', count(*), sum(end_ns - start_ns) FROM regions
			GROUP BY type"
		sql "$1" "SELECT 'log', category, '', count(*) FROM logs GROUP BY category"
		sql "$1" "SELECT 'counter', name, '', count(*), max(value) FROM counters GROUP BY name"
	} >trace.tsv
	awk -F '\t' '
		function off(a, b) { return a > b ? a - b : b - a }
		NR == FNR { count[$1, $2] = $4; total[$1, $2] = $5; rows++; next }
		{
			rows--
			verdict = count[$1, $2] == $4 ? "ok" : "COUNT"
			slack = $1 == "counter" ? 0 : 0.05 * $5 + 300000 + 50000 * $4
			if (off(total[$1, $2], $5) > slack)
				verdict = "TIME"
			if (verdict != "ok")
				bad++
			printf "%-6s %-8s %-12s %4d of %4d  %12d of %12d\n", verdict, $1, $2,
				count[$1, $2], $4, total[$1, $2], $5
		}
		END { if (rows) print "MORE   types in the trace than in the program"
			exit bad || rows }' trace.tsv "$2"
}

# agrees HOW COMMAND...: a preempted thread may spoil the truth; three runs may try.
agrees()
{
	local how=$1 try
	shift
	for try in 1 2 3; do
		rm -f dump.trc
		"$@" >truth.tsv || fail "$how: status $?"
		expect_sound dump.trc
		if compare dump.trc truth.tsv >compared.txt; then
			cat compared.txt
			passed "$how: the trace agrees with the program (run $try)"
			return
		fi
		echo "run $try:"
		cat compared.txt
	done
	fail "$how: the trace and the program disagree three times"
}

agrees 'trace_start' "$here/truth_tasks" dump.trc
parents=$(sql dump.trc "SELECT count(*) FROM tasks c JOIN tasks p ON c.parent = p.id
	WHERE c.type LIKE 'query%' AND p.type = 'order'
	AND c.start_ns >= p.start_ns AND c.end_ns <= p.end_ns")
[ "$parents" = 180 ] || fail "$parents of 180 queries lie within their orders"
passed 'every query lies within its order'
text=$(sql dump.trc "SELECT DISTINCT message FROM logs")
[ "$text" = 'order of 3 queries, <b>"ü"</b>' ] || fail "the log says: $text"
passed 'messages arrive as they were sent'

need_unsanitized
agrees 'trace-record' "$trace_record" -q -o dump.trc -- "$here/truth_tasks"
