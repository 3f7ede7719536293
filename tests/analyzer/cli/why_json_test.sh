#!/bin/bash
# why_json_test.sh - --why and --critical-path with --output json: the rows are those of the table causes, sums add up to what SQL
# says; what --what-if says in words is what its JSON has; and what prints no JSON refuses it.
#
# SPDX-License-Identifier: Apache-2.0
set -u
: "${top_srcdir:?}" "${top_builddir:?}"

analyze=$top_builddir/analyzer/trace-analyze
assemble=$top_builddir/trc-assemble
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# same WHAT WANTED GOT
same()
{
	[ "$2" = "$3" ] && return
	printf 'FAIL: %s\nwanted: %s\ngot: %s\n' "$1" "$2" "$3"
	failed=1
}

sql() { "$analyze" --sql "$1" --output tsv "$dir/t.trc" | tail -n +2; }

# json QUERY: of the answer, which is j.v there
json() { sql "WITH j(v) AS (SELECT '${answer//\'/\'\'}') $1"; }

# ask OPTION...
ask()
{
	answer=$("$analyze" "$@" --output json "$dir/t.trc") || { echo "FAIL: $*: status $?"; exit 1; }
	same "$*: it is one JSON object" '1	object' "$(json 'SELECT json_valid(v), json_type(v) FROM j')"
}

# Two requests by one worker, which waits for a lock that the reloader holds while it sleeps; the second is
# woken by a signal besides.
cat >"$dir/t.txt" <<'END'
sync ticks=0 realtime=1700000000000000000
module server path="/none/server" start=0x3000 limit=0x4000 bias=0x3000
stack get 0x3011 0x3021
stack put 0x3041 0x3051
stack nap 0x3061 0x3051
stack idle 0x3071
thread 1 tid=101 name="main"
thread 2 tid=102 name="wor\x07ker"
thread 3 tid=103 name="reloader"
@1000000 thread=1 task_begin task=1 type="request"
@1050000 thread=2 region_begin type="handle" task=1
@1100000 thread=2 park reason=mutex object=0x3f10 holder=3 stack=get
@2000000 thread=3 park reason=sleep stack=nap
@8000000 thread=3 resume reason=sleep
@9000000 thread=3 unlock reason=mutex object=0x3f10 waiters=1 stack=put
@9100000 thread=2 resume reason=mutex object=0x3f10
@9500000 thread=2 region_end
@10000000 thread=2 task_end task=1
@11000000 thread=2 park reason=cond object=0x3f80 stack=idle
@20000000 thread=1 task_begin task=2 type="request"
@24000000 thread=1 unpark reason=cond object=0x3f80 count=1 stack=put
@24000000 thread=2 resume reason=cond object=0x3f80
@29000000 thread=2 wait reason=recv object=4 since=25000000 stack=get descriptor="tcp 127.0.0.1:1 127.0.0.1:80"
@30000000 thread=2 task_end task=2
END
"$assemble" "$dir/t.txt" "$dir/t.trc" || exit 1

# Of a wait: to the letter, column by column.
ask --why wait:1
columns=$(sql "SELECT group_concat('value ->> ''' || name || '''', ', ') FROM pragma_table_info('causes')")
same 'rows are those of the table causes' "$(sql 'SELECT * FROM causes WHERE wait = 1')" \
	"$(json "SELECT $columns FROM j, json_each(v, '$.rows')")"
same 'and as many' "$(sql 'SELECT count(*) FROM causes WHERE wait = 1')" \
	"$(json "SELECT json_array_length(v, '$.rows') FROM j")"
same 'the wait is one, and as long as in parks' "1	$(sql 'SELECT waited_ns FROM parks WHERE id = 1')" \
	"$(json "SELECT v ->> 'n', v ->> 'total_ns' FROM j")"
same 'the tree: parent, what, time, times, where, words' '\N	waiting	mutex	8000000	1	server+0x10 < server+0x20	wor?ker (102) waited for mutex 0x3f10
1	active	\N	1900000	2	server+0x40 < server+0x50	reloader (103) held the lock and did not wait
1	sleeping	sleep	6000000	1	server+0x60 < server+0x50	reloader (103) held the lock and slept
1	waking	mutex	100000	1	\N	wor?ker (102) had been woken, and did not run yet' \
	"$(json "SELECT value ->> 'parent', value ->> 'cause', value ->> 'reason', value ->> 'total_ns', value ->> 'times',
		value ->> 'place', value ->> 'text' FROM j, json_each(v, '$.tree')")"

# adds_up WHAT TOTAL: so do the tree's first nodes, the leaves, and the children of each node that has any
adds_up()
{
	same "$1: the total" "$2" "$(json "SELECT v ->> 'total_ns' FROM j")"
	same "$1: the tree" "$2" "$(json "SELECT sum(value ->> 'total_ns') FROM j, json_each(v, '$.tree')
		WHERE value ->> 'parent' IS NULL")"
	same "$1: the leaves" "$2" "$(json "SELECT sum(value ->> 'total_ns') FROM j, json_each(v, '$.leaves')")"
	same "$1: each node" 0 "$(json "SELECT count(*) FROM (SELECT value ->> 'id' AS id, value ->> 'total_ns' AS ns
		FROM j, json_each(v, '$.tree')) AS node JOIN (SELECT value ->> 'parent' AS id, sum(value ->> 'total_ns') AS ns
		FROM j, json_each(v, '$.tree') GROUP BY 1) AS below USING (id) WHERE node.ns <> below.ns")"
}

adds_up 'a wait' "$(sql 'SELECT sum(duration_ns) FROM causes WHERE wait = 1 AND leaf')"
ask --why task:request
adds_up 'tasks' "$(sql "SELECT sum(duration_ns) FROM tasks WHERE type = 'request'")"
same 'of several there are sums only' '2	0' "$(json "SELECT v ->> 'n', json_array_length(v, '$.rows') FROM j")"
ask --why task:request --slowest 50%
adds_up 'the slowest' "$(sql 'SELECT max(duration_ns) FROM tasks')"
same 'it says of which' '50.0' "$(json "SELECT printf('%.1f', v ->> 'slowest_percent') FROM j")"
ask --why region:handle
adds_up 'a region' "$(sql 'SELECT sum(duration_ns) FROM regions')"
ask --why longest --window 3ms..5ms
same 'the longest wait in a window is told whole' 8000000 "$(json "SELECT v ->> 'total_ns' FROM j")"
ask --why thread:102 --window 3ms..5ms
adds_up 'a thread in a window' 2000000

# A path: one piece behind the other, and each is a row of causes.
ask --critical-path wait:1
same 'a path has the leaves, in the order of time' "$(sql 'SELECT from_ns, to_ns, cause, thread FROM causes WHERE wait = 1 AND leaf
	ORDER BY from_ns')" "$(json "SELECT value ->> 'from_ns', value ->> 'to_ns', value ->> 'cause', value ->> 'thread'
	FROM j, json_each(v, '$.path') ORDER BY key")"
for what in task:request task:2 thread:102 program 2ms..9500us; do
	ask --critical-path $what
	same "$what: the path has no hole" 0 "$(json "SELECT count(*) FROM (SELECT value ->> 'from_ns' AS from_ns,
		lag(value ->> 'to_ns') OVER (ORDER BY key) AS before_ns FROM j, json_each(v, '$.path'))
		WHERE before_ns <> from_ns")"
	same "$what: it adds up" "$(json "SELECT v ->> 'path_ns' FROM j")" \
		"$(json "SELECT sum(value ->> 'duration_ns') FROM j, json_each(v, '$.path')")"
done
ask --critical-path 2ms..9500us
same 'a window: as long as it is, and back from whom' '7500000	1' "$(json "SELECT v ->> 'path_ns', v ->> 'last_thread' FROM j")"
ask --critical-path program --window 2ms..9500us
same 'the same by --window' '7500000	1' "$(json "SELECT v ->> 'path_ns', v ->> 'last_thread' FROM j")"
ask --critical-path task:request
same 'the longest of two; what all come down to' "$(sql 'SELECT max(duration_ns), sum(duration_ns) FROM tasks')" \
	"$(json "SELECT v ->> 'path_ns', (SELECT sum(value ->> 'total_ns') FROM json_each(v, '$.leaves')) FROM j")"

# --what-if says in words what it says as JSON, to three digits: the run, then each type's mean, median and 99th percentile.
ask --what-if 'lock 0x3f10 * 0.5'
"$analyze" --what-if 'lock 0x3f10 * 0.5' "$dir/t.trc" >"$dir/words.txt" || failed=1
words=$(awk 'function ns(number, unit) { return number * (unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "ns" ? 1 : 1e3) }
	/^ +(length|mean|p50|p99) / { print $1, ns($2, $3), ns($4, $5), ns($6, $7) }' "$dir/words.txt")
numbers=$(json "SELECT 'length', v -> '$.length' FROM j UNION ALL SELECT f.key, f.value FROM j, json_each(v, '$.types') AS t, json_each(t.value) AS f
	WHERE f.key IN ('mean', 'p50', 'p99')" | sed -n 's/^\([a-z0-9]*\).*"recorded_ns":\([0-9]*\).*"replayed_ns":\([0-9]*\).*"predicted_ns":\([0-9]*\).*/\1 \2 \3 \4/p')
same '--what-if in words and as JSON' 'the same 4 rows' "$(paste -d ' ' <(echo "$words") <(echo "$numbers") | awk '
	function off(a, b) { return (a > b ? a - b : b - a) > 0.005 * b + 1 }
	{ bad += $1 != $5 || off($2, $6) || off($3, $7) || off($4, $8); n++ }
	END { print bad ? "others" : "the same", n, "rows" }')"

# refused LINE OPTION...
refused()
{
	local line=$1 got
	shift
	got=$("$analyze" "$@" "$dir/t.trc" 2>&1)
	same "$*" "2 trace-analyze: $line" "$? $got"
}

refused '--output json: --report prints text only; --json prints what the report says as JSON' --output json
refused '--output json: --report prints text only; --json prints what the report says as JSON' --report --output json
refused '--output tsv: --summary prints text only; --json prints what the report says as JSON' --summary --output tsv
refused '--output csv: --why prints text or json' --why longest --output csv
refused '--output tsv: --critical-path prints text or json' --critical-path longest --output tsv
refused '--output csv: --what-if prints text or json' --what-if 'procs 1' --output csv
refused '--output csv: --json prints json only' --json --output csv
got=$("$analyze" --why wait:99 --output json "$dir/t.trc" 2>&1)
same 'what there is not' "1 trace-analyze: $dir/t.trc: --why wait:99: no such wait; their ids are those of the table parks" "$? $got"
# One that is off its processor all the time, in a call that is not recorded, waits like those in a wait: the worker was last at work.
cat >"$dir/t.txt" <<'END'
sync ticks=0
thread 1 tid=101 name="aio"
thread 2 tid=102 name="worker"
@0 thread=1 source=kernel proc_start
@1000000 thread=1 source=kernel proc_stop
@1000000 thread=2 source=kernel proc_start
@2000000 thread=2 park reason=mutex object=0x10
@2000000 thread=2 source=kernel proc_stop
@9000000 thread=2 source=kernel proc_start
@9000000 thread=2 resume reason=mutex object=0x10
@9500000 thread=2 park reason=cond object=0x20
@9500000 thread=2 source=kernel proc_stop
@20000000 thread=2 resume reason=cond object=0x20
END
"$assemble" "$dir/t.txt" "$dir/t.trc" || exit 1
ask --critical-path 3ms..10ms
same 'a thread that is off all the time was not at work' 2 "$(json "SELECT v ->> 'last_thread' FROM j")"
ask --critical-path 0ms..10ms
same 'one that ran before was' 1 "$(json "SELECT v ->> 'last_thread' FROM j")"
same 'all of the trace is there' '\N' "$(json "SELECT v ->> 'incomplete' FROM j")"
echo unfinished >>"$dir/t.txt"
"$assemble" "$dir/t.txt" "$dir/t.trc" || exit 1
for path in --why --critical-path; do
	ask "$path" 0ms..10ms 2>/dev/null
	same "$path of a trace that is cut says so" 'cut off' "$(json "SELECT substr(v ->> 'incomplete', 1, 7) FROM j")"
done

exit $failed
