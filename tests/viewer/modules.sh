#!/bin/bash
# modules.sh - parts of the page's program, run by node: what they answer is what plain loops over all rows answer.
set -u -o pipefail

command -v node >/dev/null || {
	echo "modules.sh: skipped: no node"
	exit 77
}
work=$top_builddir/tests/viewer/modules
mkdir -p "$work"

# As embed.sh joins them: one scope.
{
	echo 'const head = {}, columnLimit = () => 0;'
	cat "$top_srcdir"/viewer/assets/{decode,format,times,states,levels,annotations,looks,lod,rows,matches,procs,flame_select,flame_items}.js
	echo 'export {bitsNext, columnDecode, columnsMade, count, decodeDeltas, deltaAt, deltaMarks, keysMake, laneCounts, latencySteps, laneLonger, lanePaint, lanesMake, lanesOf, lanesPack, lanesUnpack, lengthNext, looksForget, matchBeside, matchParts, matchSelection, matchesBefore, medianOf, head, offTime, onProcOf, orderOf, paintMake,
		pieceBytes, placeOfRow, procs, rank, refOf, refSet, refsMake, setMake, sourceMake, sourceOfList, statesMake, stepsOf, streamsJoin, streamsPlace, taskSpans, timeAbove, timeOf, timeSet, timedRows, timesDone, timesMake, trace, waitAbove, waitStart, waitStarts, waitWake, waitsMake, waitsOther};'
} >"$work/modules.mjs"
# The search, over rows that the test makes.
{
	echo 'const head = {}, given = {texts: [], columns: {}}, view = {}, tracks = {hidden: new Set(), pinned: new Set(), idleFolds: false, guest: -1, all: []};
		const column = (name) => given.columns[name] || [], columnLimit = () => 0, text = (id) => given.texts[id], textCount = () => given.texts.length;'
	cat "$top_srcdir"/viewer/assets/{decode,format,times,states,levels,annotations,lod,rows,groups,arrange,fibers,select,matches,counters,search}.js
	echo 'given.threadKey = threadKey;
		export {column, counterTimes, given, head, hiddenText, searchHeadings, searchRun, setsLoad as setFirstMake, text, timeAsked, trace, tracks, waitsMake, waitsOther};'
} >"$work/search.mjs"
# What is typed as a range of time.
{
	echo 'const visible = (string) => string;'
	cat "$top_srcdir"/viewer/assets/{format,when}.js
	echo 'export {whenRead, whenText};'
} >"$work/when.mjs"
# The locks of a thread.
{
	echo 'const now = {};'
	cat "$top_srcdir"/viewer/assets/{format,now_told}.js
	echo 'export {now, nowHeld, nowMoreHeld};'
} >"$work/held.mjs"
# The tables, of which only the sums and the rows are looked at.
{
	echo 'const head = {span_ns: 100}, trace = {}, CLASS = {}, given = {asked: 0, rows: []};
		const el = () => ({append() {}, replaceChildren() {}, textContent: ""}), bytesText = String, sortHead = el, rowClick = null;
		const stackPath = (stack) => { given.asked++; return stack % 2 ? "odd" : "even"; };
		const sortedRows = (id, rows) => given.rows = rows;
		const recovered = () => given.recovered, lastedLonger = (p) => recovered() && (trace.park.flags[p - 1] & 2) !== 0;
		const parkStart = (p) => trace.park.start[p - 1], parkEnd = (p) => parkStart(p) + trace.park.length[p - 1];
		const timeInPage = (thread, from, until) => Math.max(0, Math.min(until, head.to) - Math.max(from, head.from));'
	cat "$top_srcdir"/viewer/assets/{margins,tops}.js
	echo 'export {given, head, longestParks, topHeap, trace};'
} >"$work/tops.mjs"
# Margins.
{
	echo 'const el = () => null;'
	cat "$top_srcdir/viewer/assets/margins.js"
	echo 'export {heapMargin, heapMarginAdd, heapMarginValue, marginOf, marginPooled, marginPart, marginShare, marginText, partAdd, partJoin};'
} >"$work/margins.mjs"
cp -f "$top_srcdir"/tests/viewer/{modules,search,when,held}_test.mjs "$work"
node --test "$work/modules_test.mjs" "$work/search_test.mjs" "$work/when_test.mjs" "$work/held_test.mjs"
