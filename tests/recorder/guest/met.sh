#!/bin/bash
# Names and labels that a thread has met before: each event has the name, the category and the labels
# that it says it has, in a snapshot that begins long after these were first recorded, in recordings
# one after the other, and where trace-record records the program.
. "$(dirname "$0")/../../integration/lib.sh"
need_unsanitized
program=$top_builddir/tests/recorder/guest/met_program

# check TRACE COUNTERS MESSAGES: at least, or with a = exactly, so many, or fewer by what was lost: the threads make events
# faster than a drain without a processor takes them.  Then the labels of a message may not be known; they are never others.
check()
{
	local counted lost
	accounted "$1" "$1"
	"$trace_analyze" --output tsv "$1" --sql "
		SELECT (SELECT count(*) FROM counters WHERE value >= 0), (SELECT count(*) FROM logs WHERE category LIKE 'cat %'),
			(SELECT count(*) FROM counters WHERE value >= 0 AND name IS NOT CASE WHEN value % 7 THEN 'counter ' || value
				ELSE 'a counter with a name that is longer ' || value END),
			(SELECT count(*) FROM logs WHERE category LIKE 'cat %' AND message IS NOT category || ': ' ||
				(SELECT group_concat(key || '=' || value, ' ') FROM
					(SELECT key, value FROM labels AS l WHERE l.labels = logs.labels ORDER BY key))
				AND NOT (labels IS NULL AND $lost > 0))
		" >counted.txt 2>err.txt || fail "$1: $(cat err.txt)"
	counted=$(tail -n 1 counted.txt | tr '\t' ' ')
	awk -v counted="$counted" -v counters="$2" -v messages="$3" -v lost="$lost" '
		function missing(n, said) { return said ~ /^=/ ? substr(said, 2) - n : n >= said + 0 ? 0 : lost + 1 }
		BEGIN {
			split(counted, n, " ")
			first = missing(n[1], counters)
			second = missing(n[2], messages)
			exit !(first >= 0 && second >= 0 && first + second <= lost && n[3] == 0 && n[4] == 0)
		}' || fail "$1: counters, messages, and those that say otherwise: $counted, and $lost events are lost"
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
