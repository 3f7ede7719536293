#!/bin/bash
# heap_live.sh - how true a heap profile is: a program with much memory in use, sampled at 512 KiB, many times.
#
# HEAP_LIVE_RUNS=30: how often.  Prints, for each size of object (a place of its own), separated by tabs:
#
#   BYTES  how far the mean of all runs is off, in per cent  one standard error of that, in per cent
#   in how many per cent of the runs the truth lies within the interval of 95 %
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
: "${top_srcdir:?run through make bench}" "${top_builddir:?run through make bench}"

runs=${HEAP_LIVE_RUNS:-30}
work=$(mktemp -d "${TRC_BENCH_DIR:-/dev/shm}/trc-heap-live-XXXXXX")
trap 'rm -rf "$work"' EXIT

# One run: a line for each size: bytes, in use by the program, in use by the trace, its margin.
run()
{
	"$top_builddir/recorder/trace-record" -q --heap -o "$work/run.trc" -- \
		"$top_builddir/tests/bench/bench_heap_live" | sort >"$work/own" || return
	"$top_builddir/analyzer/trace-analyze" --output tsv "$work/run.trc" --sql '
		SELECT bytes, sum(objects), heap_margin(objects, 1) FROM heap GROUP BY bytes' |
		tail -n +2 | sort >"$work/trace" || return
	join -t '	' "$work/own" "$work/trace"
}

for ((i = 0; i < runs; i++)); do
	run || exit
done | awk -F '\t' '
	function abs(x) { return x < 0 ? -x : x }
	{
		off = $3 / $2 - 1
		n[$1]++
		sum[$1] += off
		squares[$1] += off * off
		within[$1] += abs($3 - $2) <= $4
	}
	END {
		for (bytes in n) {
			mean = sum[bytes] / n[bytes]
			variance = n[bytes] > 1 ? (squares[bytes] / n[bytes] - mean * mean) / (n[bytes] - 1) : 0
			printf "%d\t%.2f\t%.2f\t%.0f\n", bytes, 100 * mean, 100 * sqrt(variance > 0 ? variance : 0),
				100 * within[bytes] / n[bytes]
		}
		exit !NR
	}' | sort -n
