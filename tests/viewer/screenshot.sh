#!/bin/sh
# screenshot.sh PNG - records docs/examples/trc-demo.c and makes a picture of its timeline.
set -eu
png=$1
work=$top_builddir/tests/viewer/browser
pages=$work/screenshot

. "$top_srcdir/tests/viewer/browser_setup.sh"

"$top_builddir/recorder/trace-record" -q -o "$pages/demo.trc" -- "$top_builddir/docs/examples/trc-demo" >/dev/null
"$top_builddir/analyzer/trace-analyze" --html "$pages/demo.html" "$pages/demo.trc"
TRC_BROWSER=$browser node "$work/screenshot.mjs" "$pages/demo.html" "$png"
