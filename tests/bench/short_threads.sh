#!/bin/bash
# short_threads.sh - threads shorter than a sample's period: 10,000 of 0.3 ms each, and one that works beside them, by
# each way of sampling at 1,000 a second.
#
# SHORT_RUNS=8: how often; ways take turns.  Prints, for each way, separated by tabs:
#
#   WAY  by how many points of all the short threads' share is off, mean of the runs  one standard error of that
#   samples of a run
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
: "${top_srcdir:?run through make bench}" "${top_builddir:?run through make bench}"

runs=${SHORT_RUNS:-8}
work=$(mktemp -d "${TRC_BENCH_DIR:-/dev/shm}/trc-short-XXXXXX")
trap 'rm -rf "$work"' EXIT

# run WAY: a line: the way, the share by the threads' own clocks, the share of samples, how many
run()
{
	"$top_builddir/recorder/trace-record" -q -F 1000 --sample-by "$1" -o "$work/run.trc" -- \
		"$top_builddir/tests/integration/short_threads" 10000 300 >"$work/own" || return
	"$top_builddir/analyzer/trace-analyze" --output tsv "$work/run.trc" --sql "
		SELECT total(s.scaled_value * (f.function = 'work_short')), total(s.scaled_value), count(*)
		FROM samples AS s JOIN (SELECT DISTINCT sf.stack, f.function FROM stack_frames AS sf
			JOIN frames AS f ON f.id = sf.frame
			WHERE f.function IN ('work_short', 'work_long')) AS f ON f.stack = s.stack" |
		tail -n +2 | cat "$work/own" - | awk -v way="$1" '
			NR == 1 { own = $2 / ($2 + $4) }
			NR == 2 { printf "%s\t%.6f\t%.6f\t%d\n", way, own, $2 ? $1 / $2 : 0, $3 }'
}

for ((i = 0; i < runs; i++)); do
	for way in auto signal kernel; do
		run $way || exit
	done
done | awk -F '\t' '
	{
		off = 100 * ($3 - $2)
		if (!n[$1]++)
			way[++ways] = $1
		sum[$1] += off
		squares[$1] += off * off
		samples[$1] += $4
	}
	END {
		for (i = 1; i <= ways; i++) {
			w = way[i]
			mean = sum[w] / n[w]
			variance = n[w] > 1 ? (squares[w] / n[w] - mean * mean) / (n[w] - 1) : 0
			printf "%s\t%.2f\t%.2f\t%d\n", w, mean, sqrt(variance > 0 ? variance : 0), samples[w] / n[w]
		}
		exit !NR
	}'
