#!/bin/bash
# What a program says that it allocated, and what of it is left, against the trace: all of it with
# a period of 1, estimates within 3 standard errors with a coarse one.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$here/truth_heap

# objects TRACE: of each size how many were drawn, and how many of them are left
objects()
{
	"$trace_analyze" --output tsv --sql "
		SELECT bytes, count(*), count(*) - count(f.sample)
		FROM event_alloc AS a LEFT JOIN (SELECT DISTINCT sample FROM event_free) AS f
			USING (sample)
		GROUP BY bytes" "$1" | tail -n +2
}

# exactly WHAT COMMAND...: a period of 1 leaves nothing to chance.
exactly()
{
	local what=$1
	shift
	"$trace_record" -q --heap=1 -o dump.trc -- "$@" >truth.tsv 2>err.txt ||
		fail "$what: status $?: $(cat err.txt)"
	expect_sound dump.trc
	objects dump.trc >all.tsv
	awk -F '\t' 'NR == FNR { size[$1] = 1; next } $1 in size' truth.tsv all.tsv |
		sort >got.tsv
	sort truth.tsv >wanted.tsv
	diff wanted.tsv got.tsv || fail "$what: the trace (>) and the program (<) disagree"
	passed "$what: every object and its end"
}

# errors PERIOD: by how many standard errors each size's estimates are off
errors()
{
	awk -F '\t' -v period="$1" '
		function off(drawn, truth) {
			return (drawn / p - truth) / sqrt(truth * (1 - p) / p)
		}
		NR == FNR { drawn[$1] = $2; left[$1] = $3; next }
		{
			p = 1 - exp(-$1 / period)
			print $1, off(drawn[$1], $2), off(left[$1], $3)
		}' all.tsv truth.tsv
}

# roughly PERIOD COMMAND...: each of 30 estimates is that far off once in 370 times, so up to three
# runs; what is biased is off in all of them.
roughly()
{
	local period=$1 run
	shift
	for run in 1 2 3; do
		"$trace_record" -q --heap="$period" -o dump.trc -- "$@" >truth.tsv 2>err.txt ||
			fail "period $period: status $?: $(cat err.txt)"
		objects dump.trc >all.tsv
		errors "$period" >off.txt
		awk '$2 ^ 2 > 9 || $3 ^ 2 > 9 { exit 1 }' off.txt && break
		[ "$run" -lt 3 ] || fail "period $period: standard errors: $(cat off.txt)"
	done
	passed "period $period: within 3 standard errors of $(wc -l <off.txt) sizes"
}

exactly 'glibc' "$program" 16
roughly 4096 "$program" 480
roughly 65536 "$program" 1600
