#!/bin/bash
# parts.sh - what trace-view pays for pages of parts of a large trace, in processor time and in time.
#
#   PARTS_EVENTS=5500000   events of the made-up trace (gen_trace)
#
# Needs curl.  Prints lines of a figure, a tab and its value.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
: "${top_builddir:?run through make bench}"

work=$(mktemp -d)
viewer=
end_all()
{
	[ -z "$viewer" ] || kill "$viewer" 2>/dev/null
	rm -rf "$work"
}
trap end_all EXIT

# Milliseconds that the process has been on a processor.
cpu_ms()
{
	cat "/proc/$viewer"/task/*/schedstat | awk '{ ns += $1 } END { printf "%.0f", ns / 1e6 }'
}

# part FIGURE FROM TO: one page.
part()
{
	local before begun
	before=$(cpu_ms) begun=$(date +%s%3N)
	curl -sf -o "$work/page.html" "${url}page?from=$2&to=$3" || exit 1
	printf '%s, CPU ms\t%s\n' "$1" $(($(cpu_ms) - before))
	printf '%s, ms\t%s\n' "$1" $(($(date +%s%3N) - begun))
	printf '%s, MB\t%s\n' "$1" "$(stat -c %s "$work/page.html" | awk '{ printf "%.1f", $1 / 1e6 }')"
}

command -v curl >/dev/null || { printf 'no\tno curl\n'; exit 0; }
"$top_builddir/tests/bench/gen_trace" "$work/large.trc" "${PARTS_EVENTS:-5500000}" >/dev/null || exit 1
"$top_builddir/viewer/trace-view" --no-browser --keep "$work/large.trc" >"$work/url" &
viewer=$!
until [ -s "$work/url" ]; do sleep 0.05; done
url=$(cat "$work/url")
span=$(curl -sf "$url" | grep -o '"span":[0-9]*' | cut -d: -f2)
part 'the first, 1 %' 0 $((span / 100))
part 'another, 1 %' $((span / 2)) $((span / 2 + span / 100))
part 'another, 0.1 %' $((span / 2)) $((span / 2 + span / 1000))
part 'another, 5 %' $((span / 10)) $((span / 10 + span / 20))
