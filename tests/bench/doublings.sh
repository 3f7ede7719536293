#!/bin/bash
# doublings.sh - what trace-analyze takes of traces each of which is twice as long as the one before.
#
#   doublings.sh [EVENTS [DOUBLINGS]]      default: 1250000 events, and 3 doublings of it
#
# Prints rows of WHAT, a tab, EVENTS, a tab, SECONDS of processor time, a tab, MB, a tab, and how many times as many each was
# as of half of the events, "-" of the first.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
: "${top_srcdir:?run through make bench}" "${top_builddir:?run through make bench}"

analyze=$top_builddir/analyzer/trace-analyze
work=$(mktemp -d "${TRC_BENCH_DIR:-/dev/shm}/trc-doublings-XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$top_srcdir/tests/bench/measured.sh"
declare -A before_s before_mb

# row WHAT EVENTS ARGUMENT...
row()
{
	local what=$1 events=$2 got s mb
	shift 2
	got=$(measured "$work/run" "$analyze" "$@") || {
		tail -n 2 "$work/run.err" >&2
		exit 1
	}
	read -r s mb <<<"$got"
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$what" "$events" "$s" "$mb" \
		"$(awk -v a="$s" -v b="${before_s[$what]:-0}" 'BEGIN { printf b ? sprintf("%.2f", a / b) : "-" }')" \
		"$(awk -v a="$mb" -v b="${before_mb[$what]:-0}" 'BEGIN { printf b ? sprintf("%.2f", a / b) : "-" }')"
	before_s[$what]=$s
	before_mb[$what]=$mb
}

events=${1:-1250000}
for ((doubling = 0; doubling <= ${2:-3}; doubling++)); do
	trace=$work/made-up.trc
	"$top_builddir/tests/bench/gen_trace" "$trace" "$events" >/dev/null || exit 1
	row 'report' "$events" --report "$trace"
	row 'causes of all waits' "$events" --sql 'SELECT count(*) FROM causes' "$trace"
	row 'critical path of the program' "$events" --critical-path program "$trace"
	row 'what if' "$events" --what-if 'lock 0x7f0000001000 * 0.5' "$trace"
	row 'diff of two' "$events" "$trace" --diff "$trace"
	row 'page, without SQL' "$events" --without-sql --html "$work/page.html" "$trace"
	row 'blame profile' "$events" --pprof blame -o "$work/blame.pb.gz" "$trace"
	row '--json' "$events" --json "$trace"
	rm -f "$trace"
	# As many threads as events: each lock has more and more waiters.
	"$top_builddir/tests/bench/gen_trace" "$trace" $((events / 10)) $((events / 1000)) 12 >/dev/null || exit 1
	row 'report, more threads on 12 locks' $((events / 10)) --report "$trace"
	events=$((2 * events))
done
