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

sql() { "$analyze" --sql "$1" --output tsv "$dir/t.trc" | tail -n +2; }

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
} >"$dir/t.txt"
"$assemble" "$dir/t.txt" "$dir/t.trc" || exit 1
answer=$("$analyze" --json "$dir/t.trc") || { echo "FAIL: --json: status $?"; exit 1; }

same 'it is one JSON object' '1	object' "$(json 'SELECT json_valid(v), json_type(v) FROM j')"
same 'its parts' 'trace gaps findings threads waits locks descriptors critical_sections sched_latency tasks sample_events samples' \
	"$(json 'SELECT group_concat(key, " ") FROM j, json_each(v)')"
for part in gaps findings threads sample_events trace:trace_info; do
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
same 'tasks: the smallest value that p % do not exceed' 'request	200	100000	190000	198000	200000' \
	"$(json "SELECT value ->> 'type', value ->> 'ended', value ->> 'p50_ns', value ->> 'p95_ns',
		value ->> 'p99_ns', value ->> 'max_ns' FROM j, json_each(v, '$.tasks')")"
same 'samples by place' '1	server+0x40 < server+0x50	1	1000000' \
	"$(json "SELECT value ->> 'event', value ->> 'place', value ->> 'samples', value ->> 'scaled_value'
		FROM j, json_each(v, '$.samples')")"
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

# What was cut off is told as far as it goes.
head -c $(($(stat -c %s "$dir/t.trc") - 40)) "$dir/t.trc" >"$dir/cut.trc"
answer=$("$analyze" --json "$dir/cut.trc" 2>/dev/null)
same 'a file that was cut off' 1 "$(json 'SELECT json_valid(v) FROM j')"
exit $failed
