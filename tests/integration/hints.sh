#!/bin/bash
# What a report says should be recorded next time: samples of a program that runs, for as long as it says itself; the children that are in
# no trace, as many as there were; and neither where that was recorded.
. "$(dirname "$0")/lib.sh"
need_unsanitized

value()
{
	awk -F '\t' -v name="$1" '$1 == name { print $2 }' truth.tsv
}

# hint OPTION...: in hint.txt the line of samples, if there is one
hint()
{
	"$trace_record" -q "$@" -o cpu.trc -- "$here/truth_whatif" procs >truth.tsv || fail "trace-record or the program failed: $?"
	"$trace_analyze" cpu.trc >report.txt || fail 'no report'
	grep '^next: ' report.txt >hint.txt
}

# A program that runs for half of the time of one processor, or more, needs samples; on a busy machine it may have had less.
hint
cpu=$(value cpu)
percent=$((cpu * 100 / $(value length)))
if [ $percent -ge 60 ]; then
	expect "it ran for $percent% of the time: the report says so, and how to sample" awk -v cpu="$cpu" -v percent=$percent '
		function off(a, b, part) { return (a > b ? a - b : b - a) > part * b }
		{
			ns = $5 * ($6 == "s," ? 1e9 : 1e6)
			bad = off(ns, cpu, 0.1) || off($7 + 0, percent, 0.15) || !/; trace-record -F 1000 samples where$/
			n++
		}
		END { exit bad || n != 1 }' hint.txt
elif [ $percent -lt 40 ]; then
	expect "it ran for $percent% of the time: no samples are asked for" test ! -s hint.txt
else
	echo "not judged: it ran for $percent% of the time"
fi
hint -F 1000
expect 'it has samples: none are asked for' test ! -s hint.txt

children=12
fork="for ((i = 0; i < $children; i++)); do (exit 0) & done; wait"
"$trace_record" -q -o forks.trc -- bash -c "$fork" || fail "status $?"
"$trace_analyze" forks.trc >report.txt || fail 'no report'
expect "$children children that are not there are counted" grep -qx \
	"$children forked processes are not in this trace: trace-record --follow records descendants" report.txt
"$trace_record" -q --follow -o forks.trc -- bash -c "$fork" || fail "--follow: status $?"
expect 'with --follow each has a trace' test "$(ls forks.*.trc | wc -l)" = $((children + 1))
for trace in forks.*.trc; do
	"$trace_analyze" "$trace" >report.txt || fail "$trace: no report"
	! grep 'forked process' report.txt || fail "$trace: its children are recorded"
done
passed 'and none is missing'
