# shellcheck shell=bash
# heap_lib.sh - what a program says that it allocated, and what of it is left, against the trace.
# Sourced after lib.sh.  The programs print, among other lines, one a size: bytes, allocated, live.
#
# SPDX-License-Identifier: Apache-2.0

# objects TRACE: of each size how many were drawn, and how many of them are left
objects()
{
	"$trace_analyze" --output tsv --sql "
		SELECT bytes, count(*), count(*) - count(f.sample)
		FROM event_alloc AS a LEFT JOIN (SELECT DISTINCT sample FROM event_free) AS f
			USING (sample)
		GROUP BY bytes" "$1" | tail -n +2
}

preloaded= # an allocator, for what follows; trace-record has it too
recorded_with=() # more options of trace-record's

# sampled PERIOD WHAT COMMAND...: leaves what the program said in truth.tsv, and what the trace says
# in all.tsv
sampled()
{
	local period=$1 what=$2
	shift 2
	env LD_PRELOAD="$preloaded" "$trace_record" -q --heap="$period" \
		"${recorded_with[@]}" -o dump.trc -- "$@" >said.txt 2>err.txt ||
		fail "$what: status $?: $(cat err.txt)"
	grep -P '^\d+\t' said.txt >truth.tsv
	objects dump.trc >all.tsv
}

# exactly WHAT COMMAND...: a period of 1 leaves nothing to chance.
exactly()
{
	local what=$1
	sampled 1 "$@"
	expect_sound dump.trc
	awk -F '\t' 'NR == FNR { size[$1] = 1; next } $1 in size' truth.tsv all.tsv |
		sort >got.tsv
	sort truth.tsv >wanted.tsv
	diff wanted.tsv got.tsv || fail "$what: the trace (>) and the program (<) disagree"
	passed "$what: every object and its end"
}

# the_same WHAT COMMAND...: as it was said just now
the_same()
{
	local what=$1
	shift
	env LD_PRELOAD="$preloaded" "$@" >plain.txt 2>err.txt || fail "$what, not recorded: status $?: $(cat err.txt)"
	cmp plain.txt said.txt || fail "$what does not say the same when it is recorded"
	passed "$what says the same when it is recorded"
}

# errors PERIOD: by how many standard errors each size's estimates are off
errors()
{
	awk -F '\t' -v period="$1" '
		function off(drawn, truth) {
			if (p == 1 || !truth) # nothing is left to chance
				return drawn / p == truth ? 0 : 1000
			return (drawn / p - truth) / sqrt(truth * (1 - p) / p)
		}
		NR == FNR { drawn[$1] = $2; left[$1] = $3; next }
		{
			p = 1 - exp(-$1 / period)
			print $1, off(drawn[$1], $2), off(left[$1], $3)
		}' all.tsv truth.tsv
}

# roughly PERIOD WHAT COMMAND...: each of 30 estimates is that far off once in 370 times, so up to
# three runs; what is biased is off in all of them.
roughly()
{
	local period=$1 what=$2 run
	shift 2
	for run in 1 2 3; do
		sampled "$period" "$what" "$@"
		errors "$period" >off.txt
		awk '$2 ^ 2 > 9 || $3 ^ 2 > 9 { exit 1 }' off.txt && break
		[ "$run" -lt 3 ] || fail "$what, period $period: standard errors: $(cat off.txt)"
	done
	passed "$what, period $period: within 3 standard errors of $(wc -l <off.txt) sizes"
}
