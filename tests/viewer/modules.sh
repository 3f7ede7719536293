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
	echo 'const head = {};'
	cat "$top_srcdir"/viewer/assets/{decode,format,states,levels,lod,rows,matches,procs,flame_select}.js
	echo 'export {bitsNext, deltaAt, keysMake, laneCounts, laneLonger, lanePaint, lanesMake, lengthNext, matchBeside, matchParts, matchSelection, matchesBefore, orderOf, paintMake,
		pieceBytes, placeOfRow, rank, refOf, refSet, refsMake, setMake, sourceMake, sourceOfList, stepsOf, streamsJoin, streamsPlace, taskSpans, timedRows, trace};'
} >"$work/modules.mjs"
cp -f "$top_srcdir/tests/viewer/modules_test.mjs" "$work"
node --test "$work/modules_test.mjs"
