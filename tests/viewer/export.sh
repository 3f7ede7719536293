#!/bin/sh
# export.sh - records trc-demo, and compares what its page exports with what the analyzer says (export.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/export
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

"$record" -F 500 -o "$pages/demo.trc" -- "$top_builddir/docs/examples/trc-demo" >"$pages/out" 2>"$pages/err" || {
	cat "$pages/err"
	exit 1
}
"$analyze" --html "$pages/demo.html" "$pages/demo.trc"
TRC_BROWSER=$browser node "$work/export.mjs" "$analyze" "$pages"
