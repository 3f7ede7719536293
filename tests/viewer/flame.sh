#!/bin/sh
# flame.sh - records programs, and compares the flame graphs of their pages with profiles and SQL of the same
# traces; then uses the panel and the flame graph as a person would (flame.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/flames
record=$top_builddir/recorder/trace-record
analyze=$top_builddir/analyzer/trace-analyze

. "$top_srcdir/tests/viewer/browser_setup.sh"

if ldd "$record" | grep -E 'lib[atu]b?san' >/dev/null; then
	skip "a sanitizer's library cannot be preloaded into other programs"
fi
rm -rf "$pages"
mkdir -p "$pages"
ring_home=/dev/shm
[ -w $ring_home ] || ring_home=/tmp
TRC_RING_DIR=$(mktemp -d "$ring_home/trc-test-XXXXXX")
export TRC_RING_DIR
trap 'rm -rf "$TRC_RING_DIR"' EXIT

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
recorded bare -- "$top_builddir/tests/viewer/flame_program"
size=$(wc -c <"$pages/flame.trc")
head -c $((size * 2 / 3)) "$pages/flame.trc" >"$pages/cut.trc"
"$analyze" --html "$pages/cut.html" "$pages/cut.trc" 2>"$pages/err"
"$top_builddir/tests/viewer/make-page" -k "$pages/known.html"
"$top_builddir/tests/viewer/make-page" -t 16 -n 120000 -s 1000000 "$pages/million.html"
TRC_BROWSER=$browser node "$work/flame.mjs" "$analyze" "$pages"
rm -f "$pages/million.html"
