#!/bin/bash
# Fibers on stacks of their own, which two threads take turns to run, in a program that records itself
# or is recorded by trace-record: every run, wait, region, log and sample is the fiber's, with its
# labels, and stacks are whole down to where the fiber begins.
. "$(dirname "$0")/../../integration/lib.sh"
need_unsanitized
program=$top_builddir/tests/recorder/guest/fiber_program
fibers=6 rounds=6

sql()
{
	"$trace_analyze" --output tsv --sql "$2" "$1" >rows.tsv 2>err.txt || fail "$2: $(cat err.txt)"
	tail -n +2 rows.tsv
}

# is TRACE WHAT WANTED QUERY
is()
{
	local got
	got=$(sql "$1" "$4") || exit 1
	[ "$got" = "$3" ] || fail "$2: $got, not $3"
}

# By frame pointers a stack that lies within a thread's own has no end of its own.
endless=
# The functions of a stack, innermost first.
functions="(SELECT group_concat(function, ' ') FROM (SELECT coalesce(f.function, '?') AS function
	FROM stack_frames AS s JOIN frames AS f ON f.id = s.frame WHERE s.stack = stacked.stack ORDER BY s.depth))"
label="(SELECT 'job-' || value FROM labels AS l WHERE l.labels = had.labels AND key = 'job')"
# The fiber that a thread runs, by its last switch.
fiber_name="(SELECT name FROM event_fiber_switch AS e WHERE e.thread = had.thread AND e.ts_ns <= had.ts_ns
	ORDER BY e.ts_ns DESC LIMIT 1)"

# check TRACE WHAT
check()
{
	"$trace_analyze" --check "$1" >check.txt 2>&1 || fail "$2: $(cat check.txt)"
	is "$1" "$2: fibers made" "$fibers" 'SELECT count(DISTINCT fiber) FROM event_fiber_create WHERE stack > 0'
	is "$1" "$2: fibers ended" "$fibers" 'SELECT count(*) FROM event_fiber_end'
	is "$1" "$2: runs" $((fibers * (rounds + 1))) "SELECT count(*) FROM event_fiber_switch
		WHERE name LIKE 'job-_' AND \"left\" = 0 AND reason IS NULL AND stack IS NULL"
	is "$1" "$2: runs on the thread that ran it before" 0 "SELECT count(*) FROM (SELECT thread,
			lag(thread) OVER (PARTITION BY fiber ORDER BY ts_ns) AS before
		FROM event_fiber_switch WHERE fiber > 0) WHERE thread = before"
	is "$1" "$2: waits" $((fibers * rounds)) "SELECT count(*) FROM event_fiber_switch
		WHERE fiber = 0 AND reason = 'user' AND object > 0"
	is "$1" "$2: ends of waits" $((fibers * rounds)) 'SELECT count(*) FROM event_fiber_ready WHERE stack > 0'
	passed "$2: runs, waits and ends"

	sql "$1" "SELECT DISTINCT $functions AS functions FROM event_fiber_switch AS stacked
		WHERE reason = 'user' AND (SELECT name FROM event_fiber_create AS e WHERE e.fiber = stacked.\"left\") <> '$endless'" >stacks.txt
	grep -vxE '(trace_fiber_switch )?wait_for_main round_inner round_outer fiber_main( (__start_context|[?]))?' \
		stacks.txt >bad.txt && fail "$2: stacks of waits: $(cat bad.txt)"
	[ -s stacks.txt ] || fail "$2: no stacks"
	passed "$2: the stacks of waits are the fibers', all of them"

	is "$1" "$2: logs with their fiber's label" "$((fibers * rounds))|$((fibers * rounds))" "
		SELECT sum(message = $label) || '|' || sum(message = $fiber_name) FROM logs AS had"
	passed "$2: labels and switches say whose logs they are"
}

# check_samples TRACE WHAT
check_samples()
{
	local n
	sql "$1" "SELECT $label, $fiber_name, functions FROM
			(SELECT *, $functions AS functions FROM samples AS stacked) AS had
		WHERE functions LIKE '%burn%' AND $fiber_name <> '$endless'" >samples.tsv
	n=$(wc -l <samples.tsv)
	[ "$n" -ge 20 ] || fail "$2: only $n samples"
	awk -F '\t' '$1 != $2 || $1 == "" ||
		$3 !~ /burn round_inner round_outer fiber_main( (__start_context|[?]))?$/' samples.tsv >bad.txt
	[ ! -s bad.txt ] || fail "$2: samples: $(head bad.txt)"
	passed "$2: $n samples have their fibers' labels and stacks"
}

"$program" own.trc || fail "the program by itself: $?"
check own.trc 'recorded by itself'
check_samples own.trc 'recorded by itself'

for unwind in auto fp; do
	[ $unwind = fp ] && endless=job-0
	"$trace_record" -q --unwind $unwind -e timer -F 1000 -o theirs.trc -- "$program" own2.trc >out.txt 2>&1 ||
		fail "trace-record: $(cat out.txt)"
	[ ! -e own2.trc ] || fail 'it recorded itself under trace-record'
	check theirs.trc "recorded by trace-record, $unwind"
	check_samples theirs.trc "recorded by trace-record, $unwind"
done

# check_child TRACE WHAT
check_child()
{
	is "$1" "$2: logs" "with labels|42 in a fiber|" "SELECT group_concat(message || '|' || coalesce(
			(SELECT value FROM labels AS l WHERE l.labels = had.labels), ''), ' ')
		FROM (SELECT * FROM logs ORDER BY ts_ns) AS had"
	is "$1" "$2: fibers" "child's parent's" "SELECT group_concat(name, ' ') FROM
		(SELECT DISTINCT name FROM event_fiber_create ORDER BY name)"
	is "$1" "$2: numbers" 2 'SELECT count(DISTINCT fiber) FROM event_fiber_create'
	is "$1" "$2: whose logs" "parent's child's" "SELECT group_concat(name, ' ') FROM
		(SELECT f.name FROM logs AS l JOIN fibers AS f ON f.id = l.fiber ORDER BY l.ts_ns)"
	passed "$2"
}

"$program" --child child.trc || fail 'with a child that records itself'
check_child child.trc 'a child that records itself'
"$trace_record" -q -o theirs.trc -- "$program" --child child2.trc >out.txt 2>&1 ||
	fail "with a child that records itself, under trace-record: $(cat out.txt)"
check_child child2.trc 'a child that records itself, of a parent under trace-record'
