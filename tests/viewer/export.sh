#!/bin/sh
# export.sh - records trc-demo, and compares what its page exports with what the analyzer says (export.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/export

. "$top_srcdir/tests/viewer/browser_setup.sh"
recording_setup

"$record" -F 500 -o "$pages/demo.trc" -- "$top_builddir/docs/examples/trc-demo" >"$pages/out" 2>"$pages/err" || {
	cat "$pages/err"
	exit 1
}
"$analyze" --html "$pages/demo.html" "$pages/demo.trc"
browse "$work/export.mjs" "$analyze" "$pages"
