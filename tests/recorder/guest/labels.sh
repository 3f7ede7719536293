#!/bin/bash
# Labels in a C++ program, which records itself, or is recorded by trace-record: each of its regions
# has as its name what should be in force in it, whichever way blocks and functions are left.
. "$(dirname "$0")/../../integration/lib.sh"
need_unsanitized
program=$top_builddir/tests/recorder/guest/labels_program

# check TRACE WHAT
check()
{
	"$trace_analyze" --check "$1" >check.txt 2>&1 || fail "$2: $(cat check.txt)"
	"$trace_analyze" --sql 'SELECT type, coalesce((SELECT group_concat(key || "=" || value, " ") FROM (SELECT * FROM labels AS l
			WHERE l.labels = r.labels ORDER BY key)), "none") AS had
		FROM regions AS r ORDER BY start_ns' --output tsv "$1" >regions.txt 2>err.txt ||
		fail "$2: $(cat err.txt)"
	[ "$(tail -n +2 regions.txt | wc -l)" = 8 ] || fail "$2: $(cat regions.txt)"
	awk -F '\t' 'NR > 1 && $1 != $2 { print; bad = 1 } END { exit bad }' regions.txt >bad.txt ||
		fail "$2: should have, and had: $(cat bad.txt)"
	passed "$2"
}

"$program" own.trc || fail "the program by itself: $?"
check own.trc 'recorded by itself'

"$trace_record" -o theirs.trc -- "$program" own2.trc >out.txt 2>&1 || fail "trace-record: $(cat out.txt)"
[ ! -e own2.trc ] || fail 'it recorded itself under trace-record'
check theirs.trc 'recorded by trace-record'

# Each region has its own set, and each change of sets tells both, though the table has room for
# hundreds and the writer's for 65,536.
many=70000
"$program" many.trc "$many" || fail "many sets: $?"
expect_accounted many.trc # its drain may have had no processor
right=$(sql many.trc "SELECT count(*) FROM (SELECT labels, row_number() OVER (ORDER BY start_ns, id) AS n
	FROM regions) AS r JOIN labels AS l USING (labels) WHERE l.key = 'request' AND l.value = '' || (n - 1)")
lost=$(sql many.trc 'SELECT coalesce(sum(lost_events), 0) FROM procs')
[ "$right" = "$many" ] || [ "$lost" -gt 0 ] || fail "many sets: $right of $many regions have theirs"
[ "$right" -gt 0 ] || fail 'many sets: no region has its own'
passed "many sets: $right of $many regions have theirs, $lost events lost"
