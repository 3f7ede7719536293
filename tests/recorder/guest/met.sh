#!/bin/bash
# Names and labels that a thread has met before: each event has the name, the category and the labels
# that it says it has, in a snapshot that begins long after these were first recorded, in recordings
# one after the other, and where trace-record records the program.
. "$(dirname "$0")/../../integration/lib.sh"
need_unsanitized
program=$top_builddir/tests/recorder/guest/met_program

# check TRACE COUNTERS MESSAGES: at least, or with a = exactly, so many.
check()
{
	local counted
	"$trace_analyze" --check "$1" >check.txt 2>&1 || fail "$1: $(cat check.txt)"
	"$trace_analyze" --output tsv "$1" --sql "
		SELECT (SELECT count(*) FROM counters WHERE value >= 0), (SELECT count(*) FROM logs WHERE category LIKE 'cat %'),
			(SELECT count(*) FROM counters WHERE value >= 0 AND name IS NOT CASE WHEN value % 7 THEN 'counter ' || value
				ELSE 'a counter with a name that is longer ' || value END),
			(SELECT count(*) FROM logs WHERE category LIKE 'cat %' AND message IS NOT category || ': ' ||
				(SELECT group_concat(key || '=' || value, ' ') FROM
					(SELECT key, value FROM labels AS l WHERE l.labels = logs.labels ORDER BY key)))
		" >counted.txt 2>err.txt || fail "$1: $(cat err.txt)"
	counted=$(tail -n 1 counted.txt | tr '\t' ' ')
	awk -v counted="$counted" -v counters="$2" -v messages="$3" '
		function enough(n, said) { return said ~ /^=/ ? n == substr(said, 2) + 0 : n >= said + 0 }
		BEGIN {
			split(counted, n, " ")
			exit !(enough(n[1], counters) && enough(n[2], messages) && n[3] == 0 && n[4] == 0)
		}' || fail "$1: counters, messages, and those that say otherwise: $counted"
}

"$program" flight flight.trc || fail "flight: $?"
check flight.trc 1000 500
passed 'a snapshot of rings that were overwritten many times'

"$program" again first.trc second.trc || fail "again: $?"
check first.trc =16000 =16000
check second.trc =16000 =16000
passed 'two recordings one after the other'

"$trace_record" -q -o run.trc -- "$program" run >out.txt 2>&1 || fail "trace-record: $(cat out.txt)"
check run.trc =16000 =16000
passed 'recorded by trace-record'
