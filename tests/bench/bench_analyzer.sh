#!/bin/bash
# bench_analyzer.sh - trace-analyze on a made-up trace of 10 million events.
#
#   bench_analyzer.sh [EVENTS]
#
# Prints rows of NAME, a tab, VALUE: what run.sh turns into figures.  Times are wall clock
# seconds, the median of three runs; memory is the largest resident set, in MB.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
: "${top_srcdir:?run through make bench}" "${top_builddir:?run through make bench}"

analyze=$top_builddir/analyzer/trace-analyze
work=$(mktemp -d "${TRC_BENCH_DIR:-/dev/shm}/trc-analyzer-XXXXXX")
trap 'rm -rf "$work"' EXIT
trace=$work/made-up.trc

median()
{
	sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# measure NAME ARGUMENT...: three runs of trace-analyze
measure()
{
	local name=$1 i
	shift
	for i in 1 2 3; do
		/usr/bin/env TIMEFORMAT='%R' bash -c '
			time "$@" >"$0.out"' "$work/$name" "$analyze" "$@" "$trace" 2>>"$work/$name.s" || {
			tail -n 2 "$work/$name.s" >&2
			exit 1
		}
	done
	printf '%s_s\t%s\n' "$name" "$(median <"$work/$name.s")"
}

# The largest resident set of a run, from /proc while it runs.
memory()
{
	local name=$1 pid most=0 now
	shift
	"$analyze" "$@" "$trace" >/dev/null &
	pid=$!
	while now=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$pid/status" 2>/dev/null) &&
		[ -n "$now" ]; do
		most=$now
		sleep 0.01
	done
	wait "$pid"
	printf '%s_mb\t%s\n' "$name" "$((most / 1000))"
}

"$top_builddir/tests/bench/gen_trace" "$trace" "${1:-10000000}" >/dev/null || exit 1
printf 'bytes_per_event\t%s\n' "$(awk -v b="$(stat -c %s "$trace")" -v n="${1:-10000000}" \
	'BEGIN { printf "%.2f", b / n }')"
measure summary
memory summary
measure group_by --sql 'SELECT kind, count(*) FROM events GROUP BY kind'
measure by_time --sql 'SELECT max(n) FROM (SELECT ts_ns / 1000000 AS ms, count(*) AS n FROM events GROUP BY ms)'
measure check --check
# What comes beyond these is derived from the same arrays.
measure report --report
measure causes --sql 'SELECT count(*) FROM causes'
# Of single waits, those that took longest: what the first needs is made once.
chains() { echo "SELECT count(*) FROM causes WHERE wait IN (SELECT id FROM parks ORDER BY waited_ns DESC LIMIT $1)"; }
measure chain --sql "$(chains 1)"
measure chains --sql "$(chains 20001)"
measure locks --sql 'SELECT count(*) FROM locks'
measure block --pprof block -o /dev/null
measure blame --pprof blame -o /dev/null
