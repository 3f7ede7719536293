#!/bin/bash
# More threads than processors fight for a lock and keep account of who held it while others waited:
# the trace charges each function with the same, within 2 %; with mutexes that inherit priorities, and
# where most of the waiting is given up, as well.
. "$(dirname "$0")/lib.sh"
need_unsanitized

# compare_blame: every function of truth.tsv.
compare_blame()
{
	sql dump.trc "${trace_caused//\"/\'}" >trace.tsv || return 1
	awk -F '\t' '
		NR == FNR { sections[$1] = $3; total[$1] = $4; next }
		{
			off = total[$2] - $5
			verdict = (off < 0 ? -off : off) > 0.02 * $5 ? "TIME" : "ok"
			if (verdict != "ok")
				bad++
			printf "%-4s %-18s %5d sections %10.3f of %10.3f ms\n", verdict, $2,
				sections[$2], total[$2] / 1e6, $5 / 1e6
		}
		END { exit bad || FNR < 4 }' trace.tsv truth.tsv
}

# Between its reading of the clock and the release the program may be preempted, which it takes for
# no part of the section.  Three runs may try.
agrees()
{
	local try
	for try in 1 2 3; do
		"$trace_record" -q -o dump.trc -- "$here/truth_blame" "$1" >truth.tsv ||
			fail "$1: trace-record or the program failed: $?"
		expect_sound dump.trc
		if compare_blame >compared.txt; then
			cat compared.txt
			passed "$1: every function agrees with the program (run $try)"
			return
		fi
		echo "$1, run $try:"
		cat compared.txt
	done
	fail "$1: the trace and the program disagree three times"
}

# A lock may be free at the moment at which its waiter looks: seldom.
holders_known()
{
	local n
	n=$(sql dump.trc "SELECT count(*) - count(holder_thread) <= count(*) / 50
		FROM parks WHERE reason = 'mutex'") || fail 'no parks'
	[ "$n" = 1 ] || fail "$1: more than 2 % of the waits have no holder"
	passed "$1: the waits have their holders"
}

for how in plain pi timed; do
	agrees $how
	holders_known $how
done
expect 'some gave up' test 0 -lt "$(sql dump.trc "SELECT count(*) FROM parks WHERE result > 0")"
