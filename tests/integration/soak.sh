#!/bin/bash
# A busy program with threads that come and go and a signal a millisecond, for TRC_SOAK_SECONDS:
# everything that it counted is in the trace or counted as lost, and its memory does not grow.
. "$(dirname "$0")/lib.sh"
need_no_thread_sanitizer

"$here/soak" "${TRC_SOAK_SECONDS:-3}" dump.trc >emitted.tsv || fail "status $?"
cat emitted.tsv
expect_accounted dump.trc
awk '$1 == "rss_kb" { exit !($3 <= $2 * 1.25 + 16384) }' emitted.tsv || fail 'its memory grew'
passed 'its memory did not grow'

emitted()
{
	awk -F '\t' -v what="$1" '$1 == what { print $2 }' emitted.tsv
}

sql dump.trc "SELECT 'counters', count(*) FROM counters
	UNION ALL SELECT 'logs', count(*) FROM logs
	UNION ALL SELECT 'regions', count(*) FROM regions WHERE end_ns IS NOT NULL
	UNION ALL SELECT 'tasks', count(*) FROM tasks WHERE end_ns IS NOT NULL
	UNION ALL SELECT 'lost', coalesce(sum(lost_events), 0) FROM gaps" >counts.tsv
lost=$(awk -F '\t' '$1 == "lost" { print $2 }' counts.tsv)
grep -v '^lost' counts.tsv >recorded.tsv
while IFS=$'\t' read -r what recorded; do
	missing=$(($(emitted "$what") - recorded))
	# A region or task is missing when either of its two events is.
	if [ $missing -lt 0 ] || [ $missing -gt "$lost" ]; then
		fail "$recorded $what recorded, $(emitted "$what") emitted, $lost events lost"
	fi
	passed "$recorded $what recorded, $(emitted "$what") emitted, $lost events lost"
done <recorded.tsv
