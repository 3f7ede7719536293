#!/bin/bash
# Tasks, regions, logs and counters: their number exactly, their time within 5 % and percentiles within 2 %, or the noise
# floor, and how much of it their threads slept and ran; recorded by the program itself, and by trace-record.
. "$(dirname "$0")/lib.sh"
need_no_thread_sanitizer

# compare TRACE TRUTH
compare()
{
	{
		sql "$1" "SELECT 'task', type, '', count(*), sum(duration_ns) FROM tasks GROUP BY type"
		sql "$1" "SELECT 'region', type, '', count(*), sum(end_ns - start_ns) FROM regions
			GROUP BY type"
		sql "$1" "SELECT 'slept', type, '', count(DISTINCT of), sum(ns) FROM (
			SELECT region AS of, type, reason, ns FROM region_times JOIN regions ON id = region UNION ALL
			SELECT task, type, reason, ns FROM task_times JOIN tasks ON id = task)
			WHERE reason = 'sleep' GROUP BY type"
		sql "$1" "SELECT 'ran', type, '', count(DISTINCT region), sum(ns) FROM region_times JOIN regions ON id = region
			WHERE state = 'running' AND type = 'price' GROUP BY type"
		"$trace_analyze" --json "$1" >all.json || fail 'no --json'
		sql_json "$1" all.json "WITH j(v) AS (SELECT JSON) SELECT 'spread', value ->> 'type', value ->> 'p50_ns', value ->> 'p95_ns',
			value ->> 'p99_ns' FROM j, json_each(v, '\$.tasks') UNION ALL SELECT 'spread', value ->> 'type', value ->> 'p50_ns',
			value ->> 'p95_ns', value ->> 'p99_ns' FROM j, json_each(v, '\$.regions')"
		sql "$1" "SELECT 'log', category, '', count(*) FROM logs GROUP BY category"
		sql "$1" "SELECT 'counter', name, '', count(*), max(value) FROM counters GROUP BY name"
	} >trace.tsv
	awk -F '\t' '
		function off(a, b) { return a > b ? a - b : b - a }
		NR == FNR && $1 == "spread" { for (i = 3; i <= 5; i++) at[$2, i] = $i; rows++; next }
		NR == FNR { count[$1, $2] = $4; total[$1, $2] = $5; rows++; next }
		$1 == "spread" {
			rows--
			for (i = 4; i <= 6; i++)
				spread_off = spread_off || off(at[$2, i - 1], $i) > 0.02 * $i + 100000
			printf "%-6s %-8s %-12s p50 %d of %d, p95 %d of %d, p99 %d of %d\n", spread_off ? "SPREAD" : "ok", $1, $2,
				at[$2, 3], $4, at[$2, 4], $5, at[$2, 5], $6
			bad += spread_off
			spread_off = 0
			next
		}
		$1 == "ran" && !(($1, $2) in count) { next } # without switch records nobody knows
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

# sums_agree: the rows of a region add up to it; --json has the same by type; the report tells the largest of it.
sums_agree()
{
	local off table
	off=$(sql dump.trc "SELECT count(*), total(r.duration_ns <> t.ns) FROM regions AS r JOIN (SELECT region, sum(ns) AS ns FROM region_times
		GROUP BY 1) AS t ON t.region = r.id")
	expect 'the times of a region add up to it' test "$off" = '120	0.0'
	"$trace_analyze" --json dump.trc >dump.json || fail 'no --json'
	for table in task region; do
		sql dump.trc "SELECT type, sum(iif(state IN ('running', 'active'), ns, 0)), sum(iif(state = 'waiting', ns, 0)),
			sum(iif(state = 'woken', ns, 0)), sum(iif(state = 'runnable', ns, 0)), sum(ns) FROM ${table}_times JOIN ${table}s ON id = $table
			GROUP BY 1 ORDER BY 1" >table.tsv
		sql_json dump.trc dump.json "SELECT v ->> 'type', (v ->> 'running_ns') + (v ->> 'active_ns'), v ->> 'waiting_ns', v ->> 'woken_ns',
			v ->> 'runnable_ns', (v ->> 'running_ns') + (v ->> 'active_ns') + (v ->> 'runnable_ns') + (v ->> 'off_cpu_ns') +
			(v ->> 'waiting_ns') + (v ->> 'woken_ns') + (v ->> 'absent_ns') + (v ->> 'unworked_ns') FROM (SELECT value AS v FROM
			json_each(JSON, '\$.${table}s')) ORDER BY 1" >json.tsv
		expect "--json has the time of ${table}s by state" diff table.tsv json.tsv
	done
	"$trace_analyze" dump.trc >report.txt || fail 'no report'
	expect 'the report tells where the time of a type went' \
		awk '/^  query 0 / { getline; found = /^ +[0-9.]+% slept/ } END { exit !found }' report.txt
	# Three digits are told.
	sql_json dump.trc dump.json "WITH j(v) AS (SELECT JSON) SELECT value ->> 'type', value ->> 'p50_ns', value ->> 'p95_ns', value ->> 'p99_ns',
		value ->> 'max_ns' FROM j, json_each(v, '\$.tasks') UNION ALL SELECT value ->> 'type', value ->> 'p50_ns', value ->> 'p95_ns',
		value ->> 'p99_ns', value ->> 'max_ns' FROM j, json_each(v, '\$.regions')" >spreads.tsv
	expect 'the report has the percentiles of each type' awk -F '\t' '
		function ns(text,    part) {
			split(text, part, " ")
			return part[1] * (part[2] == "s" ? 1e9 : part[2] == "ms" ? 1e6 : part[2] == "ns" ? 1 : 1e3)
		}
		NR == FNR { for (i = 2; i <= 5; i++) wanted[$1, i] = $i; n++; next }
		/^(Tasks|Regions)$/ { inside = 1 }
		!NF { inside = 0 }
		inside && match($0, /( +[0-9.]+ (s|ms|µs|ns)){5}$/) {
			row = substr($0, RSTART)
			type = substr($0, 1, RSTART - 1)
			sub(/ +[0-9,]+ *$/, "", type)
			sub(/^ +/, "", type)
			gsub(/ +/, " ", row)
			split(row, word, " ")
			for (i = 2; i <= 5; i++) {
				told = ns(word[2 * i - 1] " " word[2 * i])
				off = told - wanted[type, i]
				bad += (off < 0 ? -off : off) > 0.006 * wanted[type, i]
			}
			n--
		}
		END { exit bad || n }' spreads.tsv report.txt
	id=$(sql dump.trc "SELECT id FROM regions WHERE type = 'price' ORDER BY duration_ns DESC LIMIT 1")
	"$trace_analyze" --why "region:$id" --output json dump.trc >why.json || fail "no --why region:$id"
	expect '--why of a region is about as much time as it took' \
		grep -q "\"total_ns\":$(sql dump.trc "SELECT duration_ns FROM regions WHERE id = $id")," why.json
	expect 'and as much sleep as the table has' test "$(sql dump.trc "SELECT sum(ns) FROM region_times WHERE region = $id AND
		reason = 'sleep'")" = "$(sed -n '/"leaves":/,$s/.*"total_ns":\([0-9]*\),.*"cause":"sleeping".*/\1/p' why.json)"
}

sums_agree
need_unsanitized
agrees 'trace-record' "$trace_record" -q -o dump.trc -- "$here/truth_tasks"
sums_agree
