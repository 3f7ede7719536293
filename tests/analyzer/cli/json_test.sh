#!/bin/bash
# json_test.sh - what `trace-analyze --json` prints is one JSON object, and what is in it is what the tables say;
# and the functions place() and chain(), which it names stacks by.
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

trace=$dir/t.trc
sql() { "$analyze" --sql "$1" --output tsv "$trace" | tail -n +2; }

# json QUERY: of the answer, which is j.v there
json() { sql "WITH j(v) AS (SELECT '${answer//\'/\'\'}') $1"; }

# Two stacks that differ in what is not the program's are one place; 200 tasks of 1 to 200 us.
{
	cat <<'END'
sync ticks=0 realtime=1700000000000000000
module server path="/none/server" start=0x3000 limit=0x4000 bias=0x3000
stack get 0x3011 0x3021
stack put 0x3041 0x3051
stack far 0x3041
thread 1 tid=101 name="main"
thread 2 tid=102 name="work\x07\xffer"
sample_event 1 period=1000000
@1000 thread=2 park reason=mutex object=0x7f10 holder=1 stack=get
@2000 thread=1 unlock reason=mutex object=0x7f10 waiters=1 stack=put
@2100 thread=2 resume reason=mutex object=0x7f10
@3000 thread=2 park reason=mutex object=0x7f20 stack=get
@3700 thread=2 resume reason=mutex object=0x7f20
@4000 thread=1 park reason=sleep stack=far
@5000 thread=1 resume reason=sleep
@5100 thread=1 wait reason=recv object=7 since=5050 stack=far descriptor="tcp 127.0.0.1:80 127.0.0.1:9"
@5200 thread=1 wait reason=recv object=8 since=5150 stack=far descriptor="tcp 127.0.0.1:80 127.0.0.1:9"
@6000 thread=1 sample event=1 value=1000000 period=1000000 stack=put
@6500 thread=1 alloc sample=1 address=0x10 bytes=1024 period=524288 stack=get
@6600 thread=1 alloc sample=2 address=0x20 bytes=4096 period=1 stack=put
@6700 thread=1 free sample=2 address=0x20 bytes=4096 period=1
@7000 proc=2 source=kernel thread=3 proc_start
@8000 proc=2 source=kernel thread=3 proc_stop preempted=1
@8000 proc=2 source=kernel thread=4 proc_start
@9000 proc=2 source=kernel thread=4 proc_stop preempted=0
@9500 proc=2 source=kernel thread=3 proc_start
END
	# By when they begin and end: task i lasts i us.
	awk 'BEGIN { for (i = 1; i <= 200; i++) {
		printf "%d @%d thread=1 task_begin task=%d type=\"request\"\n", 10000, 10000, i
		printf "%d @%d thread=1 task_end task=%d\n", 10000 + i * 1000, 10000 + i * 1000, i } }' |
		sort -n -s -k1,1 | cut -d ' ' -f 2-
	# Regions of 1.0 to 1.9 us.
	awk 'BEGIN { for (i = 0; i < 10; i++) {
		printf "@%d thread=2 region_begin type=\"parse\"\n@%d thread=2 region_end\n", 300000 + i * 5000, 301000 + i * 5100 } }'
} >"$dir/t.txt"
"$assemble" "$dir/t.txt" "$dir/t.trc" || exit 1
answer=$("$analyze" --json "$dir/t.trc") || { echo "FAIL: --json: status $?"; exit 1; }

same 'it is one JSON object' '1	object' "$(json 'SELECT json_valid(v), json_type(v) FROM j')"
same 'its parts' 'trace gaps findings threads waits locks descriptors critical_sections blame sched_latency sched_latency_wakers sched_latency_instead sched_latency_procs tasks regions labels fiber_waits deadlocks lock_order threads_now sample_events samples heap' \
	"$(json 'SELECT group_concat(key, " ") FROM j, json_each(v)')"
for part in gaps findings threads sample_events deadlocks lock_order threads_now trace:trace_info; do
	same "$part has the rows of its table" "$(sql "SELECT count(*) FROM ${part#*:}")" \
		"$(json "SELECT json_array_length(v, '$.${part%:*}') FROM j")"
done
same 'waits by place: reason, place, waits, time, longest' "mutex	server+0x10 < server+0x20	2	1800	1100
sleep	server+0x40	1	1000	1000
recv	server+0x40	2	100	50" "$(json "SELECT value ->> 'reason', value ->> 'place', value ->> 'waits',
	value ->> 'waited_ns', value ->> 'longest_ns' FROM j, json_each(v, '$.waits')")"
same 'they add up to all waits' "$(sql 'SELECT sum(waited_ns) FROM parks')" \
	"$(json "SELECT sum(value ->> 'waited_ns') FROM j, json_each(v, '$.waits')")"
same 'locks: kind, object, waits, threads, time, longest' "mutex	$((0x7f10))	1	1	1100	1100
mutex	$((0x7f20))	1	1	700	700" "$(json "SELECT value ->> 'kind', value ->> 'object', value ->> 'waits',
	value ->> 'threads', value ->> 'waited_ns', value ->> 'longest_ns' FROM j, json_each(v, '$.locks')")"
same 'scheduling latency: thread, kind, times, time, whose' '3	preempted	1	1500	1000	500' \
	"$(json "SELECT value ->> 'thread', value ->> 'kind', value ->> 'latencies', value ->> 'total_ns', value ->> 'own_ns',
		value ->> 'other_ns' FROM j, json_each(v, '$.sched_latency')")"
same 'descriptors: kind, name, own, numbers, waits, time' "tcp	127.0.0.1:9	127.0.0.1:80	2	2	100" \
	"$(json "SELECT value ->> 'kind', value ->> 'name', value ->> 'own', value ->> 'numbers', value ->> 'waits',
		value ->> 'waited_ns' FROM j, json_each(v, '$.descriptors')")"
same 'critical sections: place, what they caused' 'server+0x40 < server+0x50	1	1000' \
	"$(json "SELECT value ->> 'place', value ->> 'caused_waits', value ->> 'caused_ns'
		FROM j, json_each(v, '$.critical_sections')")"
# Nobody is seen to end the second wait.
same 'blame: cause, reason, who, where, time' 'active	\N	1	server+0x40 < server+0x50	end	1000
unknown	mutex	2	server+0x10 < server+0x20	wait	700
waking	mutex	2	server+0x10 < server+0x20	wait	100' \
	"$(json "SELECT value ->> 'cause', value ->> 'reason', value ->> 'thread', value ->> 'place', value ->> 'stack_of',
		value ->> 'blamed_ns' FROM j, json_each(v, '$.blame')")"
# Of four pieces of 2 ms, three are in one place: 1.95996 * sqrt(4 / 3 * (3 * 0.5^2 + 1.5^2) + 2 * 2^2) ms.  What is known has no margin.
cat >"$dir/sampled.txt" <<'END'
module server path="/none/server" start=0x3000 limit=0x4000 bias=0x3000
stack get 0x3011 0x3021
stack put 0x3041 0x3051
thread 1 tid=101 name="main"
thread 2 tid=102 name="worker"
sample_event 1 period=2000000
@900000 thread=2 task_begin task=1 type="request"
@1000000 thread=2 park reason=mutex object=0x3f10 holder=1 stack=put
@2000000 thread=1 sample event=1 value=2000000 period=2000000 stack=get
@4000000 thread=1 sample event=1 value=2000000 period=2000000 stack=get
@6000000 thread=1 sample event=1 value=2000000 period=2000000 stack=put
@8000000 thread=1 sample event=1 value=2000000 period=2000000 stack=get
@9000000 thread=1 unlock reason=mutex object=0x3f10 waiters=1 stack=put
@9100000 thread=2 resume reason=mutex object=0x3f10
@9200000 thread=2 task_end task=1
END
"$assemble" "$dir/sampled.txt" "$dir/sampled.trc" || exit 1
# of_sampled OPTIONS QUERY: the JSON that trace-analyze prints with these options, which is j.v in the query
of_sampled() { answer=$("$analyze" $1 "$dir/sampled.trc") json "$2"; }
same 'blame by samples says how far off it may be' 'sample	6000000	6789514
sample	2000000	6789514
wait	100000	\N' "$(of_sampled --json "SELECT value ->> 'stack_of', value ->> 'blamed_ns', value ->> 'blamed_margin_ns'
	FROM j, json_each(v, '$.blame')")"
trace=$dir/sampled.trc
same 'so does its table' '6000000	6789514
2000000	6789514
100000	\N' "$(sql 'SELECT ns, margin_ns FROM blame')"
same 'of sums: within a label set variances add up' 9601823 "$(sql 'SELECT blame_margin(labels, margin_ns) FROM blame')"
same 'of several label sets margins do' 13579028 "$(sql 'SELECT blame_margin(stack, margin_ns) FROM blame')"
same 'a sum of what is known has none' '\N' "$(sql "SELECT blame_margin(labels, margin_ns) FROM blame WHERE stack_of = 'wait'")"
for table in 'causes WHERE leaf AND' 'task_path WHERE'; do
	same "${table%% *}: margins of what samples tell" '4000000	1
2000000	1
2000000	1' "$(sql "SELECT duration_ns, margin_ns > 5000000 FROM $table stack_of = 'sample'")"
	same "${table%% *}: of nothing else" 0 "$(sql "SELECT count(margin_ns) FROM $table stack_of IS NOT 'sample'")"
done
same '--why: of nodes and rows' '2	3' "$(of_sampled '--why longest --output json' "SELECT
	(SELECT count(value ->> 'margin_ns') FROM json_each(v, '$.tree')), count(value ->> 'margin_ns') FROM j, json_each(v, '$.rows')")"
same '--critical-path: of leaves and pieces' '2	3' "$(of_sampled '--critical-path longest --output json' "SELECT
	(SELECT count(value ->> 'margin_ns') FROM json_each(v, '$.leaves')), count(value ->> 'margin_ns') FROM j, json_each(v, '$.path')")"
trace=$dir/t.trc
same 'tasks: the smallest value that p % do not exceed' 'request	200	100000	190000	198000	200000' \
	"$(json "SELECT value ->> 'type', value ->> 'ended', value ->> 'p50_ns', value ->> 'p95_ns',
		value ->> 'p99_ns', value ->> 'max_ns' FROM j, json_each(v, '$.tasks')")"
# Of one sample of 1 ms: 1.95996 * sqrt(1 + 2) ms.
same 'regions likewise' 'parse	10	1400	1900	1900	1900' \
	"$(json "SELECT value ->> 'type', value ->> 'ended', value ->> 'p50_ns', value ->> 'p95_ns',
		value ->> 'p99_ns', value ->> 'max_ns' FROM j, json_each(v, '$.regions')")"
same 'and their sum' "$(sql 'SELECT sum(duration_ns) FROM regions')" \
	"$(json "SELECT sum(value ->> 'total_ns') FROM j, json_each(v, '$.regions')")"
same 'samples by place, and how far off they may be' '1	server+0x40 < server+0x50	1	1000000	3394758' \
	"$(json "SELECT value ->> 'event', value ->> 'place', value ->> 'samples', value ->> 'scaled_value',
		value ->> 'scaled_value_margin' FROM j, json_each(v, '$.samples')")"
# One stands for 512.5 of 1,024 bytes: 1.95996 * sqrt(3 * 512.5 * 511.5) * 1,024 bytes.  The other was sure to be drawn.
same 'memory by place: in use, allocated' 'server+0x10 < server+0x20	1	524800	1779830	524800	1779830
server+0x40 < server+0x50	1	0	0	4096	0' \
	"$(json "SELECT value ->> 'place', value ->> 'samples', value ->> 'in_use_bytes', value ->> 'in_use_margin_bytes',
		value ->> 'allocated_bytes', value ->> 'allocated_margin_bytes' FROM j, json_each(v, '$.heap')")"
same 'of nothing there is no margin' '\N	\N' \
	"$(sql "SELECT samples_margin(event, thread, value), (SELECT heap_margin(objects, bytes) FROM frees WHERE 0)
		FROM samples WHERE 0")"
same 'the schema has them' 3 "$("$analyze" --schema | grep -cE '^-- (samples|blame|heap)_margin\(')"
same 'a broken name' '0' "$(printf %s "$answer" | tr -d '\n' | LC_ALL=C grep -c '[[:cntrl:]]')"
same 'place() is the first frame, chain() all' 'server+0x10	server+0x10 < server+0x20' \
	"$(sql "SELECT DISTINCT place(stack), chain(stack) FROM parks WHERE reason = 'mutex'")"
same 'of what is no stack they are NULL' '\N	\N	\N	\N' \
	"$(sql "SELECT place(NULL), place(0), chain(-1), chain(4294967297)")"
same 'the schema has them' 2 "$("$analyze" --schema | grep -cE '^-- (place|chain)\(stack\): ')"

# What is selected narrows all of it.
answer=$("$analyze" --json --window 5.12us..5.175us "$dir/t.trc") || { echo "FAIL: --window: status $?"; exit 1; }
same 'descriptors in a window: waits, time' '1	25' \
	"$(json "SELECT value ->> 'waits', value ->> 'waited_ns' FROM j, json_each(v, '$.descriptors')")"
same 'locks outside of a window' 0 "$(json "SELECT json_array_length(v, '$.locks') FROM j")"
answer=$("$analyze" --json --window 1.5us..3.2us "$dir/t.trc") || { echo "FAIL: --window: status $?"; exit 1; }
same 'locks in a window: waits, time, caused' '1	600	500
1	200	0' "$(json "SELECT value ->> 'waits', value ->> 'waited_ns', value ->> 'caused_ns'
	FROM j, json_each(v, '$.locks')")"
same 'no latency' 0 "$(json "SELECT json_array_length(v, '$.sched_latency') FROM j")"

# A circle of locks that became a deadlock; two threads that are woken, each by another, on two procs.
cat >"$dir/d.txt" <<'END'
sync ticks=0 realtime=1700000000000000000
module server path="/none/server" start=0x3000 limit=0x4000 bias=0x3000
stack get 0x3011 0x3021
stack put 0x3041 0x3051
thread 1 tid=101 name="main"
thread 2 tid=102 name="left"
thread 3 tid=103 name="right"
labels acme tenant="acme"
@100 proc=2 thread=1 fiber_create fiber=5 name="conn"
@150 proc=2 thread=1 fiber_switch fiber=5
@200 proc=2 thread=1 fiber_switch left=5 reason=user
@400 proc=2 thread=1 fiber_switch fiber=5
@450 proc=2 thread=1 fiber_switch left=5 reason=user
@500 proc=2 thread=1 fiber_switch fiber=5
@510 proc=2 thread=1 fiber_end fiber=5
@520 proc=2 thread=1 labels labels=acme
@600 proc=2 thread=1 park reason=sleep
@900 proc=2 thread=1 resume reason=sleep
@910 proc=2 thread=1 labels labels=0
@1000 proc=0 source=kernel thread=2 proc_start
@1000 proc=1 source=kernel thread=3 proc_start
@1100 proc=0 thread=2 acquire reason=mutex object=0x60 stack=get
@1200 proc=0 thread=2 acquire reason=mutex object=0x70 stack=put
@1300 proc=0 thread=2 release reason=mutex object=0x70
@1400 proc=0 thread=2 release reason=mutex object=0x60
@2000 proc=0 thread=2 park reason=sem object=0x90 stack=get
@2001 proc=0 source=kernel thread=2 proc_stop
@2500 proc=1 thread=3 unpark reason=sem object=0x90 count=1
@2800 proc=0 source=kernel thread=2 proc_start
@2810 proc=0 thread=2 resume reason=sem object=0x90
@3000 proc=1 thread=3 park reason=sem object=0xa0 stack=put
@3001 proc=1 source=kernel thread=3 proc_stop
@3500 proc=0 thread=2 unpark reason=sem object=0xa0 count=1
@3900 proc=1 source=kernel thread=3 proc_start
@3910 proc=1 thread=3 resume reason=sem object=0xa0
@4000 proc=1 thread=3 acquire reason=mutex object=0x70 stack=put
@4100 proc=1 thread=3 acquire reason=mutex object=0x60 stack=get
@4200 proc=1 thread=3 release reason=mutex object=0x60
@5000 proc=0 thread=2 acquire reason=mutex object=0x60 stack=get
@6000 proc=0 thread=2 park reason=mutex object=0x70 holder=3 stack=get
@6100 proc=1 thread=3 park reason=mutex object=0x60 holder=2 stack=put
@7000 proc=2 thread=1 counter name="c" value=1
END
"$assemble" "$dir/d.txt" "$dir/d.trc" || exit 1
trace=$dir/d.trc
answer=$("$analyze" --json "$trace") || { echo "FAIL: --json: status $?"; exit 1; }
same 'of these there are rows' '2	2	2	2	3' "$(sql "SELECT (SELECT count(DISTINCT waker_thread) FROM sched_latency), (SELECT
	count(DISTINCT proc) FROM sched_latency), (SELECT count(*) FROM deadlocks), (SELECT count(*) FROM lock_order), (SELECT
	count(*) FROM threads_now)")"
for by in waker_thread:wakers proc:procs; do
	same "by ${by%:*}: who, times, time, the longest, whose" "$(sql "SELECT ${by%:*}, count(*), sum(latency_ns), max(latency_ns),
		sum(own_ns), sum(other_ns) FROM sched_latency GROUP BY 1 ORDER BY 3 DESC")" \
		"$(json "SELECT value ->> '${by%:*}', value ->> 'latencies', value ->> 'total_ns', value ->> 'max_ns',
			value ->> 'own_ns', value ->> 'other_ns' FROM j, json_each(v, '$.sched_latency_${by#*:}')")"
done
# same_rows PART COLUMNS: of the part and of its table
same_rows()
{
	same "$1: ${2//,/, }" "$(sql "SELECT $2 FROM $1 ORDER BY 1, 2")" "$(json "SELECT $(sed "s/\([a-z_]*\)/value ->> '\1'/g" <<<"$2")
		FROM j, json_each(v, '$.$1') ORDER BY 1, 2")"
}
same_rows deadlocks deadlock,thread,role,reason,object,holder,since_ns,waited_ns,stack
same_rows threads_now thread,tid,name,state,reason,object,since_ns,waited_ns,holder,stack,open_regions,region
same_rows lock_order held,taken,held_reason,held_stack,taken_reason,taken_stack,thread,threads,times,deadlock
got=$("$analyze" --pprof path -o "$dir/path.pb.gz" "$trace" 2>&1)
same 'no tasks: no profile of their paths' "1 trace-analyze: $trace: path: the trace has no tasks: the program marks them by trace_task_begin()" \
	"$? $got"
same 'labels: whose, waits, time' 'tenant	acme	1	300' "$(json "SELECT value ->> 'key', value ->> 'value', value ->> 'waits',
	value ->> 'waited_ns' FROM j, json_each(v, '$.labels')")"
same 'fiber_waits: by name and reason, and all of it' "conn	user	1	2	200
$(sql 'SELECT count(*), sum(waited_ns) FROM fiber_waits')" "$(json "SELECT value ->> 'name', value ->> 'reason', value ->> 'fibers',
	value ->> 'waits', value ->> 'longest_ns' FROM j, json_each(v, '$.fiber_waits')")
$(json "SELECT sum(value ->> 'waits'), sum(value ->> 'waited_ns') FROM j, json_each(v, '$.fiber_waits')")"
same 'deadlocks: where' 'server+0x10 < server+0x20
server+0x40 < server+0x50' "$(json "SELECT value ->> 'place' FROM j, json_each(v, '$.deadlocks')")"
same 'lock_order: where each is taken' 'server+0x10 < server+0x20	server+0x40 < server+0x50
server+0x40 < server+0x50	server+0x10 < server+0x20' "$(json "SELECT DISTINCT value ->> 'held_place', value ->> 'taken_place'
	FROM j, json_each(v, '$.lock_order') ORDER BY 1")"
trace=$dir/t.trc

# What was cut off is told as far as it goes.
head -c $(($(stat -c %s "$dir/t.trc") - 40)) "$dir/t.trc" >"$dir/cut.trc"
answer=$("$analyze" --json "$dir/cut.trc" 2>/dev/null)
same 'a file that was cut off' 1 "$(json 'SELECT json_valid(v) FROM j')"
head -c $(($(stat -c %s "$dir/t.trc") / 2)) "$dir/t.trc" >"$dir/cut.trc"
answer=$("$analyze" --json "$dir/cut.trc" 2>/dev/null)
warning=$("$analyze" --sql "SELECT value FROM trace_info WHERE key = 'warning'" --output tsv "$dir/cut.trc" 2>/dev/null | tail -n 1)
case $warning in
*'cut off'*) ;;
*) same 'trace_info tells that it is cut off' '... cut off ...' "$warning" ;;
esac
same '... and so does the object' "$warning" "$(json "SELECT value ->> 'value' FROM j, json_each(v, '$.trace') WHERE value ->> 'key' = 'warning'")"
"$analyze" --pprof block -o "$dir/cut.pb.gz" "$dir/cut.trc" 2>/dev/null
same '... and a comment of its profile' 1 "$(gzip -dc "$dir/cut.pb.gz" | grep -acF "incomplete: $warning")"
if command -v go >/dev/null; then
	same '... which go tool pprof reads' "incomplete: $warning" "$(go tool pprof -comments "$dir/cut.pb.gz" 2>/dev/null | grep '^incomplete: ')"
fi
"$analyze" --pprof block -o "$dir/whole.pb.gz" "$dir/t.trc"
same 'of a whole one no profile says so' 0 "$(gzip -dc "$dir/whole.pb.gz" | grep -ac 'incomplete: ')"

# The first line of an answer in words is none without words; between two answers there is one.
"$analyze" --why longest "$dir/t.trc" >"$dir/why.txt"
same 'nothing stands above a heading that is first' "Why longest took" "$(head -n 1 "$dir/why.txt" | cut -c1-16)"
"$analyze" --why longest --why longest "$dir/t.trc" >"$dir/twice.txt"
same 'an empty line between two answers' "$(cat "$dir/why.txt" <(echo) "$dir/why.txt")" "$(cat "$dir/twice.txt")"
exit $failed
