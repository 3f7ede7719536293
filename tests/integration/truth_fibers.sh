#!/bin/bash
# A server of fibers that switch between two threads, and measures how long each waited: the trace
# has as many waits of each tenant's fibers, and times between what the program says at least and at
# most.  The labels are those of whoever made the fiber, wherever it ran.
. "$(dirname "$0")/lib.sh"
need_unsanitized # what cannot follow a change of stacks

fibers=$top_builddir/docs/examples/fibers
requests=120

# sql_is TRACE WANTED WHAT QUERY
sql_is()
{
	local got
	got=$(sql "$1" "$4") || fail "$how: $3: no answer"
	[ "$got" = "$2" ] || fail "$how: $3: $got, not $2"
	passed "$how: $3: $2"
}

# waits_of TENANT REASON COLUMN: over its fibers' waits
waits_of()
{
	sql dump.trc "SELECT $3 FROM fiber_waits AS w JOIN labels AS l USING (labels)
		WHERE l.key = 'tenant' AND l.value = '$1' AND w.reason = '$2'"
}

# What its fibers waited for locks of the scheduler, and their threads with them
locks_of()
{
	sql dump.trc "SELECT coalesce(sum(p.duration_ns), 0) FROM parks AS p JOIN labels AS l USING (labels)
		WHERE l.key = 'tenant' AND l.value = '$1' AND p.reason IN ('mutex', 'cond', 'cond_mutex')"
}

# delay_of PROFILE: all nanoseconds in it
delay_of()
{
	go tool pprof -raw "$1" 2>raw.txt | awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
		on && /^ *[0-9]+ +[0-9]+:/ { sum += $2 } END { printf "%.0f", sum }'
}

# Clocks of the program and of the trace are the same one, read through two lines that differ by
# a few parts in a million; a nanosecond a wait is lost by rounding.
between()
{
	awk -v v="$1" -v least="$2" -v most="$3" -v n="$4" 'BEGIN {
		exit !(v >= least * 0.9999 - n && v <= most * 1.0001 + n) }'
}

tenants_agree()
{
	local tenant waits least most sleeps yields got delay
	while IFS=$'\t' read -r tenant waits least most sleeps yields; do
		[ "$tenant" != tenant ] || continue
		got=$(waits_of "$tenant" user 'count(*)')
		[ "$got" = "$waits" ] || fail "$how: $tenant: $got waits, the program says $waits"
		got=$(waits_of "$tenant" sleep 'count(*)')
		[ "$got" = "$sleeps" ] || fail "$how: $tenant: $got sleeps, the program says $sleeps"
		got=$(waits_of "$tenant" user 'coalesce(sum(w.duration_ns), 0)')
		between "$got" "$least" "$most" "$waits" ||
			fail "$how: $tenant waited $got ns, the program says $least to $most"
		passed "$how: $tenant: $waits waits, $sleeps sleeps, $got ns as the program says"
		"$trace_analyze" --pprof block --label-filter "tenant=$tenant" -o block.pb.gz dump.trc ||
			fail "$how: --pprof block: $?"
		delay=$(delay_of block.pb.gz)
		got=$((got + $(locks_of "$tenant")))
		[ "$delay" = "$got" ] || fail "$how: $tenant: the block profile has $delay ns, not $got"
		passed "$how: $tenant: the block profile has them, and what its fibers' threads waited for locks"
	done <truth.tsv
}

# tells HOW COMMAND...: the command leaves dump.trc and prints what has to be in it.
tells()
{
	how=$1
	shift
	rm -f dump.trc
	"$@" >truth.tsv || fail "$how: status $?"
	expect_sound dump.trc
	sql_is dump.trc $requests 'fibers made, and ended' 'SELECT count(*) FROM fibers WHERE ended_ns NOT NULL'
	sql_is dump.trc $requests 'their names' \
		"SELECT count(DISTINCT name) FROM fibers WHERE name GLOB 'request *'"
	tenants_agree
	sql_is dump.trc $((requests * 2)) 'runs that were left by one who could go on, and by the last' \
		'SELECT count(*) FROM fiber_runs WHERE reason IS NULL'
	sql_is dump.trc 0 'waits that nobody ended' \
		'SELECT count(*) FROM fiber_waits WHERE end_ns IS NULL OR ready_ns IS NULL'
	sql_is dump.trc 0 'waits readied before they began, or after they were over' \
		'SELECT count(*) FROM fiber_waits WHERE ready_ns < start_ns OR ready_ns > end_ns'
	sql_is dump.trc $requests 'regions, each of one fiber, as long as its sleep' \
		"SELECT count(DISTINCT r.fiber) FROM regions AS r JOIN fiber_waits AS w USING (fiber)
			WHERE r.type = 'query' AND w.reason = 'sleep' AND r.depth = 0 AND
				r.start_ns <= w.start_ns AND r.end_ns >= w.end_ns"
	sql_is dump.trc 1 'both threads ran the same fibers, if they ran any' \
		'SELECT (SELECT count(DISTINCT thread) FROM fiber_runs) < 2 OR count(*) > 0 FROM (SELECT fiber FROM fiber_runs GROUP BY fiber
			HAVING count(DISTINCT thread) = 2)'
	sql_is dump.trc request_handle 'where they waited for a connection' \
		"SELECT group_concat(DISTINCT f.function) FROM fiber_waits AS w
			JOIN stack_frames AS s ON s.stack = w.stack JOIN frames AS f ON f.id = s.frame
			WHERE w.reason = 'user' AND f.function GLOB 'request_*'"
	"$trace_analyze" dump.trc >report.txt || fail "$how: no report"
	grep -q connection_take report.txt || fail "$how: the report does not say where fibers waited"
	passed "$how: the report says where fibers waited"
	"$trace_analyze" --html page.html dump.trc || fail "$how: --html: $?"
	passed "$how: and the timeline is written"
	"$trace_analyze" --what-if 'function request_handle * 0.5' dump.trc >whatif.txt || fail "$how: --what-if: $?"
	grep -q "^Rough: the program has $requests fibers, and each thread is replayed" whatif.txt ||
		fail "$how: --what-if says nothing of fibers: $(cat whatif.txt)"
	passed "$how: --what-if says that it replays threads"
}

need go
[ -x "$fibers" ] || fail 'docs/examples/fibers is not built'
tells 'trace_start' "$fibers" -o dump.trc
tells 'trace-record' "$trace_record" -q -o dump.trc -- "$fibers"
