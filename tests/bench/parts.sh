#!/bin/bash
# parts.sh - what trace-view pays for the page of a large trace's whole and for pages of parts, in processor time and in time.
#
# Parts are as the frame shows them, without tables; one is saved, and has tables, and one query asks for a part.
#
#   PARTS_EVENTS=5500000   events of the made-up trace (gen_trace).  Of 100000000 it takes minutes, 8 GB of memory, and 28 GB
#                          free in TMPDIR: what was derived has 6.8, and is not kept if that is more than a quarter
#
# Needs curl.  Prints lines of a figure, a tab and its value.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
: "${top_builddir:?run through make bench}"

work=$(mktemp -d)
events=${PARTS_EVENTS:-5500000}
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

# started: from now on $viewer serves at $url.
started()
{
	rm -f "$work/url"
	"$top_builddir/viewer/trace-view" --no-browser --keep "$work/large.trc" >"$work/url" &
	viewer=$!
	until [ -s "$work/url" ]; do sleep 0.02; done
	url=$(cat "$work/url")
}

# page FIGURE QUERY [SINCE]: one page, measured from now, or from a time at which no processor time had been used.
page()
{
	local before=0 begun=${3:-}
	[ -n "$begun" ] || before=$(cpu_ms) begun=$(date +%s%3N)
	curl -sf -o "$work/page.html" "${url}page$2" || exit 1
	printf '%s, CPU ms\t%s\n' "$1" $(($(cpu_ms) - before))
	printf '%s, ms\t%s\n' "$1" $(($(date +%s%3N) - begun))
	printf '%s, MB\t%s\n' "$1" "$(stat -c %s "$work/page.html" | awk '{ printf "%.1f", $1 / 1e6 }')"
}

# part EVENTS AT: a part that has about so many events, from AT hundredths of the trace on.
part()
{
	local from=$((span / 100 * $2))
	echo "?from=$from&to=$((from + span * $1 / events))&without=sql"
}

command -v curl >/dev/null || { printf 'no\tno curl\n'; exit 0; }
"$top_builddir/tests/bench/gen_trace" "$work/large.trc" "$events" >/dev/null || exit 1
export XDG_CACHE_HOME=$work/cache
started
span=$(curl -sf "$url" | grep -o '"span":[0-9]*' | cut -d: -f2)
page 'the first, 55,000 events' "$(part 55000 0)"
page 'another, 55,000 events' "$(part 55000 50)"
page 'another, 5,500 events' "$(part 5500 50)"
page 'another, 275,000 events' "$(part 275000 10)"
page 'the whole' ''
# What was derived is kept while nobody waits: for as long as it takes a busy machine to write it.
tries=0
until grep -q '\.model$' "/proc/$viewer/maps"; do
	tries=$((tries + 1))
	[ $tries -lt $((600 + events / 5000)) ] || { echo 'what was derived is not kept' >&2; exit 1; }
	sleep 0.1
done
page 'another, mapped, 55,000 events' "$(part 55000 25)"
awk '/^RssAnon/ { printf "memory that is only its own, mapped, MB\t%.0f\n", $2 / 1000 }' "/proc/$viewer/status"
printf 'what was derived, kept, MB\t%s\n' "$(cat "$work"/cache/trc/*.model | wc -c | awk '{ printf "%.0f", $1 / 1e6 }')"
kill "$viewer"
wait "$viewer"
begun=$(date +%s%3N)
started
page 'the whole, kept, from the start of trace-view' '' "$begun"
page 'the first zoom, kept' "$(part 55000 33)"
page 'another zoom, kept' "$(part 55000 66)"
of=$(part 55000 66)
page 'the same, saved, with tables' "${of/without=sql/save=1}"
before=$(cpu_ms)
curl -sf -G -o "$work/page.html" --data-urlencode 'q=SELECT reason, count(*), sum(waited_ns) FROM parks GROUP BY reason' --data "${of#?}" "${url}sql" || exit 1
printf 'a query for waits of this part, CPU ms\t%s\n' $(($(cpu_ms) - before))
kill "$viewer"
wait "$viewer"
# The same where nobody looks at the whole before.
begun=$(date +%s%3N)
started
page 'the first zoom, kept, from the start of trace-view' "$(part 55000 33)" "$begun"
