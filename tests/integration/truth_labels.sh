#!/bin/bash
# Waits under labels, counted by the program itself: the trace has as many under each, however they
# came into force: set, inherited, in a block, around a call that is left by the end of its thread.
. "$(dirname "$0")/lib.sh"

# counts TRACE: as the program prints them
counts()
{
	"$trace_analyze" --output tsv --sql "
		SELECT l.key, l.value, count(*) FROM parks JOIN labels AS l USING (labels)
		WHERE reason = 'sleep' GROUP BY l.key, l.value
		UNION ALL SELECT 'none', '', count(*) FROM parks WHERE reason = 'sleep' AND labels IS NULL" \
		"$1" | tail -n +2 | sort
}

"$trace_record" -q -o dump.trc -- "$here/truth_labels" >truth.tsv ||
	fail "trace-record or the program failed: $?"
sort truth.tsv >wanted.tsv
expect_sound dump.trc
counts dump.trc >got.tsv
diff wanted.tsv got.tsv || fail 'the trace (>) and the program (<) disagree'
passed 'as many waits under each label as the program says'

while IFS=$'\t' read -r key value count; do
	[ "$key" != none ] || continue
	value=${value//,/\\,}
	"$trace_analyze" --label-filter "$key=$value" dump.trc >report.txt || fail "--label-filter: $?"
	grep -q "^Waiting for requests, timers and children .* in $count waits" report.txt ||
		fail "--label-filter $key=$value: not $count waits: $(grep '^Waiting' report.txt)"
done <truth.tsv
passed 'the report under each label has them, too'

"$trace_analyze" --html page.html dump.trc || fail "--html: $?"
passed 'and the timeline is written'
