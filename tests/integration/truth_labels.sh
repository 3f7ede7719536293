#!/bin/bash
# Waits under labels, counted by the program itself: the trace has as many under each, however they
# came into force: set, inherited, in a block, around a call that is left by the end of its thread.
. "$(dirname "$0")/lib.sh"
need_no_thread_sanitizer

# counts TRACE: as the program prints them
counts()
{
	"$trace_analyze" --output tsv --sql "
		SELECT l.key, l.value, count(*) FROM parks JOIN labels AS l USING (labels)
		WHERE reason = 'sleep' GROUP BY l.key, l.value
		UNION ALL SELECT 'none', '', count(*) FROM parks WHERE reason = 'sleep' AND labels IS NULL" \
		"$1" | tail -n +2 | sort
}

# agrees HOW COMMAND...: the command leaves dump.trc, and prints what has to be in it.
agrees()
{
	local how=$1 key value count
	shift
	rm -f dump.trc
	"$@" >truth.tsv || fail "$how: status $?"
	grep -v '^blamed' truth.tsv | sort >wanted.tsv
	grep '^blamed' truth.tsv >blamed.tsv
	expect_sound dump.trc
	counts dump.trc >got.tsv
	diff wanted.tsv got.tsv || fail "$how: the trace (>) and the program (<) disagree"
	passed "$how: as many waits under each label as the program says"

	while IFS=$'\t' read -r key value count; do
		[ "$key" != none ] && [ "$key" != blamed ] || continue
		value=${value//,/\\,}
		"$trace_analyze" --label-filter "$key=$value" dump.trc >report.txt ||
			fail "$how: --label-filter: $?"
		grep -q "^Waiting for requests, timers and children .* in $count waits" report.txt ||
			fail "$how: --label-filter $key=$value: not $count waits: $(
				grep '^Waiting' report.txt)"
	done <truth.tsv
	passed "$how: the report under each label has them, too"

	# What is charged to who held the lock has the labels of those that waited.
	sql dump.trc "SELECT value, sum(ns) FROM blame JOIN labels USING (labels) WHERE key = 'tenant' GROUP BY 1" >got.tsv
	awk -F '\t' 'NR == FNR { ns[$1] = $2; n++; next }
		{ n--; bad += ns[$2] < $3 || ns[$2] > $4; printf "%s: %d ns of %d to %d\n", $2, ns[$2], $3, $4 }
		END { exit bad || n }' got.tsv blamed.tsv || fail "$how: blame: $(cat got.tsv blamed.tsv)"
	passed "$how: blame by the label of who waited"
	if command -v go >go.txt; then
		"$trace_analyze" --pprof blame -o blame.pb.gz dump.trc || fail "$how: no profile"
		go tool pprof -tags -unit=ns blame.pb.gz >tags.txt 2>pprof.err || fail "go tool pprof: $(cat pprof.err)"
		while IFS=$'\t' read -r value ns; do
			sed -n '/^ *waiter.tenant:/,/^ *$/p' tags.txt | grep -qF "${ns}ns (" || fail "$how: no $ns ns of $value in: $(cat tags.txt)"
		done <got.tsv
		passed "$how: the profile has it as waiter.tenant"
	fi

	"$trace_analyze" --html page.html dump.trc || fail "$how: --html: $?"
	passed "$how: and the timeline is written"
}

agrees 'trace_start' "$here/truth_labels" dump.trc
need_unsanitized
agrees 'trace-record' "$trace_record" -q -o dump.trc -- "$here/truth_labels"
