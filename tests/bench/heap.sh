#!/bin/bash
# heap.sh - what it costs that allocations are seen, and sampled: a program that does little else, with
# each profiler and without, in turn.
#
#   heap.sh [ENGINE...]     (default: all)
#
# HEAP_PAIRS=11: how many pairs of a run without and a run with; which one begins changes from pair to
# pair, and ratios are of one pair.  "Without" is with the same allocator.  Prints for each engine
#
#   ENGINE  ratio of the time of the whole  nanoseconds more for a pair of malloc() and free()
#
# each a median and both quartiles, separated by tabs; or ENGINE, "no", why not.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
: "${top_srcdir:?run through make bench}" "${top_builddir:?run through make bench}"

program=$top_builddir/tests/bench/bench_heap
trace_record=$top_builddir/recorder/trace-record
preload=$top_builddir/.libs/libtrc-preload.so
pairs=${HEAP_PAIRS:-11}
work=$(mktemp -d "${TRC_BENCH_DIR:-/dev/shm}/trc-heap-XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$top_srcdir/tests/bench/figures.sh"

# run ENGINE: the program prints its figures.
run()
{
	case $1 in
	glibc) "$program" ;;
	interposed) env LD_PRELOAD="$preload" "$program" ;;
	recorded) "$trace_record" -q -o "$work/run.trc" -- "$program" ;;
	sampled-512K) "$trace_record" -q --heap -o "$work/run.trc" -- "$program" ;;
	sampled-16K) "$trace_record" -q --heap=16K -o "$work/run.trc" -- "$program" ;;
	tcmalloc) env LD_PRELOAD=libtcmalloc.so.4 "$program" ;;
	tcmalloc-sampled-512K)
		env LD_PRELOAD=libtcmalloc.so.4 TCMALLOC_SAMPLE_PARAMETER=524288 "$program"
		;;
	tcmalloc-heapprofile)
		env LD_PRELOAD=libtcmalloc.so.4 HEAPPROFILE="$work/run.prof" "$program"
		;;
	jemalloc) env LD_PRELOAD=libjemalloc.so.2 "$program" ;;
	jemalloc-sampled-512K)
		env LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=prof:true,lg_prof_sample:19 "$program"
		;;
	heaptrack) heaptrack -o "$work/run.heaptrack" "$program" ;;
	esac 2>"$work/err"
}

# bare_of ENGINE: what it is compared with
bare_of()
{
	case $1 in
	tcmalloc-*) echo tcmalloc ;;
	jemalloc-*) echo jemalloc ;;
	*) echo glibc ;;
	esac
}

# has LIBRARY: the loader finds it
has()
{
	! env LD_PRELOAD="$1" true 2>&1 | grep . >/dev/null
}

# why_not ENGINE: in a line; nothing if it can be measured
why_not()
{
	case $1 in
	tcmalloc*) has libtcmalloc.so.4 || echo 'not installed' ;;
	jemalloc*)
		has libjemalloc.so.2 || {
			echo 'not installed'
			return
		}
		run "$1" >/dev/null
		! grep -q 'Invalid conf pair' "$work/err" || echo 'was built without its profiler'
		;;
	heaptrack) command -v heaptrack >/dev/null || echo 'not installed' ;;
	esac
}

# figures ENGINE: seconds, a tab, nanoseconds a pair
figures()
{
	run "$1" | awk -F '\t' '{ v[$1] = $2 } END {
		if ("seconds" in v) print v["seconds"] "\t" v["pair_ns"]; else exit 1 }'
}

pairs_of()
{
	local i bare with without began=$SECONDS
	without=$(bare_of "$1")
	# An engine has a minute; one that takes longer for a pair has one pair.
	for ((i = 0; i < pairs && (i == 0 || SECONDS - began < 60); i++)); do
		if ((i % 2)); then
			bare=$(figures "$without") && with=$(figures "$1")
		else
			with=$(figures "$1") && bare=$(figures "$without")
		fi || return 1
		printf '%s\t%s\n' "$bare" "$with"
	done
}

measure()
{
	local reason
	reason=$(why_not "$1")
	[ -n "$reason" ] || pairs_of "$1" >"$work/pairs" ||
		reason=$(head -n 1 "$work/err" | grep . || echo 'it failed')
	if [ -n "$reason" ]; then
		printf '%s\tno\t%s\n' "$1" "$reason"
		return
	fi
	printf '%s\t%s\t%s\n' "$1" "$(awk -F '\t' '{ print $3 / $1 }' "$work/pairs" | quartiles)" \
		"$(awk -F '\t' '{ print $4 - $2 }' "$work/pairs" | quartiles)"
}

[ $# -gt 0 ] || set -- interposed recorded sampled-512K sampled-16K tcmalloc-sampled-512K \
	tcmalloc-heapprofile jemalloc-sampled-512K heaptrack
for engine; do
	measure "$engine"
done
