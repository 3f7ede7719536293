#!/bin/bash
# diff.sh - how often trace-analyze --diff is right: pairs of equal runs, in which nothing may have changed, and pairs in
# which a critical section, a function, all of each task or a thread became 10 % slower, or 10 % more memory was kept.
#
# The program keeps account of its sections itself.  A pair whose sections did not take what they should, because
# the machine had other things to do, says nothing of --diff; it is counted apart.  So is one of a change of which the traces
# say themselves that the machine was busier in one than in the other: times are as much less certain then.
. "$(dirname "$0")/lib.sh"

program=$top_builddir/tests/integration/truth_diff
pairs=${DIFF_PAIRS:-50}
[ -x "$program" ] || make -s -C "$top_builddir" tests/integration/truth_diff || fail 'truth_diff cannot be built'
first=
chrt -f 10 true 2>/dev/null && first='chrt -f 10' # sleeps as long as it should, whatever else runs
cd "$work" || exit 99

# record NAME FREQUENCY MILLISECONDS WHAT PERCENT
record()
{
	local seed=$((LONG_SEED + ++runs))
	# shellcheck disable=SC2086 # words
	"$trace_record" -q -F "$2" "${heap[@]}" -o "$1.trc" -- $first "$program" $seed "$3" "$4" "$5" >"$1.txt" ||
		fail "recording $1: status $?"
}

# as_told PERCENT WHAT: what the program counts is so much more in after than in before, give or take 3 %.
as_told()
{
	awk -v percent="$1" -v what="$2" '$1 == what { if (FNR == NR) before = $2; else after = $2 }
		END { off = after / before / (1 + percent / 100); exit !(off > 0.97 && off < 1.03) }' \
		before.txt after.txt
}

# alike WHAT: the runs before are, by what the program counts, within 2 %: others say how busy the machine was
alike()
{
	[ $baselines = before.trc ] || awk -v what="$1" '$1 == what { n++; if (n == 1) first = $2; off = $2 / first
			bad += off < 0.98 || off > 1.02 } END { exit bad || !n }' before.txt before2.txt before3.txt before4.txt
}

# changed AWK-CONDITION: some row of this pair
changed()
{
	"$top_builddir/analyzer/trace-analyze" --diff "$baselines" after.trc --output tsv 2>/dev/null |
		awk -F '\t' "NR > 1 && \$1 == 1 && ($1) { found = 1 } END { exit !found }"
}

# alike_busy: --diff does not say that threads had less of the processors in one of the traces
alike_busy()
{
	! "$top_builddir/analyzer/trace-analyze" --diff "$baselines" after.trc 2>/dev/null | grep -q '^the machine was'
}

# count PAIRS WHAT PERCENT AWK-CONDITION: into $found, $judged and $unquiet
count()
{
	local pair run frequency=1000 length=2000
	[ "$2" != function ] || { frequency=10000 length=3000; }
	[ "$2" != thread ] || length=6000 # about 1,200 rounds of a thread, each as long as it happens to be, give or take 30 %
	found=0 judged=0 unquiet=0
	for ((pair = 0; pair < $1; pair++)); do
		record before $frequency $length "$2" 0
		[ $baselines = before.trc ] || for run in 2 3 4; do
			record before$run $frequency $length "$2" 0
		done
		record after $frequency $length "$2" "$3"
		[ "$2" = function ] || { as_told "$3" "${account[$2]}" && alike "${account[$2]}" &&
			{ [ "$3" = 0 ] || alike_busy; }; } || {
			unquiet=$((unquiet + 1))
			continue
		}
		judged=$((judged + 1))
		changed "$4" && found=$((found + 1))
	done
}

declare -A account=([lock]=held_ns [order]=task_ns [thread]=flushed_ns [memory]=kept_bytes)
heap=() baselines=before.trc
runs=0
count $((pairs - pairs / 5)) lock 0 1
alarms=$found of=$judged apart=$unquiet
count $((pairs / 5)) function 0 1
alarms=$((alarms + found)) of=$((of + judged))
say "equal runs: $alarms of $of called changed; in $apart others the sections themselves differed"
count $((pairs * 4 / 5)) lock 10 '$8 > 0 && ($2 == "lock" || $2 == "section")'
locks=$found locks_of=$judged
say "a section 10 % slower: found in $locks of $locks_of; in $unquiet others it was not"
count $((pairs * 4 / 5)) function 10 '$8 > 0 && $2 == "cpu" && $3 ~ /^price/'
functions=$found functions_of=$judged
say "a function 10 % slower: found in $functions of $functions_of"
count $((pairs * 4 / 5)) order 10 '$8 > 0 && $2 == "task" && $4 == "mean"'
tasks=$found tasks_of=$judged
say "tasks 10 % slower: found in $tasks of $tasks_of; in $unquiet others they were not"
heap=(--heap=1024)
count $((pairs / 5)) memory 0 1
alarms=$((alarms + found)) of=$((of + judged))
say "equal runs with samples of allocations: $found of $judged called changed"
count $((pairs * 2 / 5)) memory 10 '$8 > 0 && $2 == "heap"'
memory=$found memory_of=$judged
say "10 % more memory kept: found in $memory of $memory_of; in $unquiet others it was not"
heap=() baselines=before.trc,before2.trc,before3.trc,before4.trc
count $((pairs / 5)) thread 0 1
alarms=$((alarms + found)) of=$((of + judged))
say "equal runs against four: $found of $judged called changed"
count $((pairs * 2 / 5)) thread 10 '$8 > 0 && $2 == "thread"'
threads=$found threads_of=$judged
say "a thread 10 % slower: found in $threads of $threads_of; in $unquiet others it was not"
[ $((alarms * 20)) -le $of ] || suite_failed=1
[ $((memory * 100)) -ge $((memory_of * 95)) ] || suite_failed=1
[ $((threads * 100)) -ge $((threads_of * 95)) ] || suite_failed=1
[ "$threads_of" -ge 3 ] || say 'the machine is too busy for threads'
[ $((locks * 100)) -ge $((locks_of * 95)) ] || suite_failed=1
[ $((tasks * 100)) -ge $((tasks_of * 95)) ] || suite_failed=1
[ $((functions * 100)) -ge $((functions_of * 95)) ] || suite_failed=1
[ $locks_of -ge 5 ] && [ "$of" -ge 10 ] || skip 'the machine is too busy'
exit $suite_failed
