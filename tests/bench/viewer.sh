#!/bin/bash
# viewer.sh - how large a page of a large trace is, and how long it takes to open, draw and search it.
#
#   VIEWER_WAITS=4000000   waits of the made-up trace, which has 2.4 times as many intervals
#   VIEWER_ROUNDS=3        browsers, one after another; medians are printed
#   VIEWER_EVENTS=5500000  events of a trace whose page has what that of made-up rows has not: an SQL box, counters, messages, tasks that
#                          follow from events
#
# Needs what the browser's test needs (chromium, node, playwright-core from npm).  Prints lines of a figure, a tab and its
# value, or "no", a tab and why not.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
: "${top_srcdir:?run through make bench}" "${top_builddir:?run through make bench}"

work=$top_builddir/tests/bench/browser
pages=$work/pages
page=$pages/large.html traced=$pages/traced.html
mkdir -p "$pages"
trap 'rm -f "$page" "$traced" "$pages/traced.trc"' EXIT

# browser_setup.sh says why it skips, and ends the shell: one of its own.
setup=$(. "$top_srcdir/tests/viewer/browser_setup.sh" && echo "browser=$browser") || {
	printf 'no\t%s\n' "${setup#*: skipped: }"
	exit 0
}
cp -f "$top_srcdir/tests/bench/viewer.mjs" "$work"
begun=$(date +%s.%N)
"$top_builddir/tests/viewer/make-page" -t 64 -n "${VIEWER_WAITS:-4000000}" "$page" || exit 1
awk -v begun="$begun" -v ended="$(date +%s.%N)" 'BEGIN { printf "page is written, s\t%.1f\n", ended - begun }'
printf 'file, MB\t%s\n' "$(stat -c %s "$page" | awk '{ printf "%.1f", $1 / 1e6 }')"
TRC_BROWSER=${setup#browser=} node "$work/viewer.mjs" "$page" "${VIEWER_ROUNDS:-3}"
rm -f "$page"

"$top_builddir/tests/bench/gen_trace" "$pages/traced.trc" "${VIEWER_EVENTS:-5500000}" >/dev/null || exit 1
"$top_builddir/analyzer/trace-analyze" --html "$traced" "$pages/traced.trc" 2>/dev/null || exit 1
printf 'of a trace, file, MB\t%s\n' "$(stat -c %s "$traced" | awk '{ printf "%.1f", $1 / 1e6 }')"
TRC_BROWSER=${setup#browser=} node "$work/viewer.mjs" "$traced" "${VIEWER_ROUNDS:-3}" 'of a trace'
