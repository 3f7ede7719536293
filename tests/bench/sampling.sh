#!/bin/bash
# sampling.sh - what it costs to be sampled: a program of two threads that only compute, in stacks
# of 16 frames, with each profiler and without, in turn.
#
#   sampling.sh [RATE...]     samples a second of each thread (default: 100 1000 10000 100000)
#
# SAMPLING_PAIRS=11: how many pairs of a run without and a run with; which one begins changes
# from pair to pair, and ratios are of one pair.  Prints, for each profiler and rate, a row of
#
#   ENGINE@RATE  ratio  ratio of CPU time  samples a second of CPU time  nanoseconds a sample
#   samples lost
#
# separated by tabs ("-" = not known; ratios with both quartiles), or ENGINE@RATE, "no", why not.  The first ratio is of the
# time from beginning to end, the second of what the two threads used: others may have used some
# beside them.  A sample's nanoseconds are the CPU time that the threads took longer than
# without, for each sample that came to be; told where there are so many that it can be seen.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
: "${top_srcdir:?run through make bench}" "${top_builddir:?run through make bench}"

program=$top_builddir/tests/bench/bench_sampling
trace_record=$top_builddir/recorder/trace-record
trace_analyze=$top_builddir/analyzer/trace-analyze
pairs=${SAMPLING_PAIRS:-11}
work=$(mktemp -d "${TRC_BENCH_DIR:-/dev/shm}/trc-sampling-XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$top_srcdir/tests/bench/figures.sh"

# Each of the following: ENGINE RATE LEAVES.  It runs the program, which prints its seconds.

run_bare()
{
	"$program" "$3"
}

run_trc()
{
	local event=$1 by=auto
	case $1 in
	signal | kernel)
		event=cpu-clock
		by=$1
		;;
	esac
	"$trace_record" -q -e "$event" -F "$2" --sample-by "$by" -o "$work/run.trc" -- "$program" "$3"
}

run_perf()
{
	perf record -g -e cpu-clock -F "$2" -o "$work/run.data" -- "$program" "$3" 2>"$work/run.err"
}

run_gperftools()
{
	env LD_PRELOAD=libprofiler.so.0 CPUPROFILE="$work/run.prof" CPUPROFILE_FREQUENCY="$2" \
		"$program" "$3" 2>"$work/run.err"
}

run()
{
	case $1 in
	bare | perf | gperftools) "run_$1" "$@" ;;
	*) run_trc "$@" ;;
	esac
}

sql()
{
	"$trace_analyze" --output tsv --sql "$1" "$work/run.trc" | tail -n 1
}

# samples_of ENGINE: samples that its last run came to, a tab, and those that it lost ("-" = does
# not say).
samples_of()
{
	case $1 in
	perf) sed -n 's/.*(\([0-9]*\) samples).*/\1\t-/p' "$work/run.err" ;;
	gperftools)
		sed -n 's|.*interrupts/evictions/bytes = \([0-9]*\)/.*|\1\t-|p' "$work/run.err"
		;;
	*)
		printf '%s\t%s\n' "$(sql 'SELECT count(*) FROM event_sample')" \
			"$(sql 'SELECT coalesce(sum(lost_samples), 0) FROM event_samples_lost')"
		;;
	esac
}

# why_not ENGINE RATE: why it cannot go there, in a line; nothing if it can
why_not()
{
	case $1 in
	gperftools)
		[ "$2" -le 1000 ] || echo 'goes no faster than the HZ of the kernel'
		command -v google-pprof >/dev/null || echo 'not installed'
		;;
	perf) command -v perf >/dev/null || echo 'not installed' ;;
	timer)
		[ "$2" -le 1000 ] || echo 'goes no faster than the HZ of the kernel'
		;;
	esac | head -n 1
}

# Leaves, in thousands, that take both threads about a second.
leaves_for_a_second()
{
	local i
	for i in 1 2 3; do
		seconds bare 0 20
	done | cut -f 1 | sort -g | awk 'NR == 2 { printf "%d\n", 20 / $1 + 1 }'
}

# seconds ENGINE RATE LEAVES: of the whole, a tab, of CPU time
seconds()
{
	run "$@" | awk -F '\t' '{ v[$1] = $2 } END {
		if ("seconds" in v) print v["seconds"] "\t" v["cpu_seconds"]; else exit 1 }'
}

# pairs_of ENGINE RATE LEAVES: what seconds() says without, and with; a line a pair
pairs_of()
{
	local i bare sampled
	for ((i = 0; i < pairs; i++)); do
		if ((i % 2)); then
			bare=$(seconds bare "$2" "$3") && sampled=$(seconds "$@")
		else
			sampled=$(seconds "$@") && bare=$(seconds bare "$2" "$3")
		fi || return 1
		printf '%s\t%s\n' "$bare" "$sampled"
	done
}

# of_pairs EXPRESSION: the median of what it comes to; $1 and $2 are seconds without, $3 and $4 with
of_pairs()
{
	awk -F '\t' "{ print $1 }" "$work/pairs" | median
}

# spread_of_pairs EXPRESSION: the same, with both quartiles
spread_of_pairs()
{
	awk -F '\t' "{ print $1 }" "$work/pairs" | quartiles
}

measure()
{
	local reason samples lost
	reason=$(why_not "$1" "$2")
	[ -n "$reason" ] || pairs_of "$@" >"$work/pairs" 2>"$work/why" ||
		reason=$(head -n 1 "$work/why" | grep . || echo 'it failed')
	if [ -n "$reason" ]; then
		printf '%s@%s\tno\t%s\n' "$1" "$2" "$reason"
		return
	fi
	IFS='	' read -r samples lost <<<"$(samples_of "$1")"
	if [ "${samples:-0}" = 0 ]; then
		printf '%s@%s\tno\tit took no samples\n' "$1" "$2"
		return
	fi
	awk -v name="$1@$2" -v ratio="$(spread_of_pairs '$3 / $1')" -v cpu_ratio="$(spread_of_pairs '$4 / $2')" \
		-v extra_s="$(of_pairs '$4 - $2')" -v cpu_s="$(tail -n 1 "$work/pairs" | cut -f 4)" \
		-v samples="$samples" -v lost="$lost" 'BEGIN {
		rate = samples / cpu_s
		each_ns = rate < 5000 ? "-" : sprintf("%.0f", extra_s * 1e9 / samples)
		printf "%s\t%s\t%s\t%.0f\t%s\t%s\n", name, ratio, cpu_ratio, rate, each_ns, lost }'
}

leaves=$(leaves_for_a_second)
[ $# -gt 0 ] || set -- 100 1000 10000 100000
for rate; do
	for engine in auto signal kernel timer perf gperftools; do
		measure "$engine" "$rate" "$leaves"
	done
done
