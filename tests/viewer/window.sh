#!/bin/sh
# window.sh - records programs, makes pages of parts of their traces, and compares them with what SQL and profiles
# say of the same parts (window.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/window
record=$top_builddir/recorder/trace-record
analyze=$top_builddir/analyzer/trace-analyze
demo=$top_builddir/docs/examples/trc-demo

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

# recorded NAME OPTION... -- COMMAND...
recorded()
{
	name=$1
	shift
	"$record" -o "$pages/$name.trc" "$@" >"$pages/out" 2>"$pages/err" || {
		cat "$pages/err"
		exit 1
	}
}

recorded demo -F 500 --heap=16K -- "$demo"
recorded fibers -- "$top_builddir/docs/examples/fibers"
recorded busy -- "$top_builddir/tests/viewer/busy_program"
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/hostile.txt" "$pages/hostile.trc"
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/nested.txt" "$pages/nested.trc"
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/contexts.txt" "$pages/contexts.trc"
size=$(wc -c <"$pages/demo.trc")
head -c $((size * 2 / 3)) "$pages/demo.trc" >"$pages/cut.trc"
TRC_BROWSER=$browser node "$work/window.mjs" "$analyze" "$pages"
