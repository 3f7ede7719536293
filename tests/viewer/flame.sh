#!/bin/sh
# flame.sh - records programs, and compares the flame graphs of their pages with profiles and SQL of the same
# traces; then uses the panel and the flame graph as a person would (flame.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/flames

. "$top_srcdir/tests/viewer/browser_setup.sh"
recording_setup

# recorded NAME OPTIONS -- COMMAND...
recorded()
{
	name=$1
	shift
	"$record" -o "$pages/$name.trc" "$@" >"$pages/out" 2>"$pages/err" || {
		echo "exit status $?: $*"
		cat "$pages/err"
		exit 1
	}
	"$analyze" --html "$pages/$name.html" "$pages/$name.trc"
}

recorded flame -F 1000 --heap=4096 -- "$top_builddir/tests/viewer/flame_program"
recorded fibers -F 1000 -- "$top_builddir/docs/examples/fibers"
cp "$top_builddir/tests/viewer/flame_program" "$pages/stripped"
strip --strip-all "$pages/stripped"
recorded stripped -F 1000 -- "$pages/stripped"
COLUMNS=200 "$analyze" "$pages/stripped.trc" >"$pages/stripped.report"
recorded bare -- "$top_builddir/tests/viewer/flame_program"
size=$(wc -c <"$pages/flame.trc")
head -c $((size * 2 / 3)) "$pages/flame.trc" >"$pages/cut.trc"
"$analyze" --html "$pages/cut.html" "$pages/cut.trc" 2>"$pages/err"
"$top_builddir/tests/viewer/make-page" -k "$pages/known.html"
"$top_builddir/tests/viewer/make-page" -t 16 -n 120000 -s 1000000 "$pages/million.html"
browse "$work/flame.mjs" "$analyze" "$pages"
rm -f "$pages/million.html"
