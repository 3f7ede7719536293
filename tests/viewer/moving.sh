#!/bin/sh
# moving.sh - opens pages in Debian's chromium, and looks at the frames of a view that moves (moving.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/moving

. "$top_srcdir/tests/viewer/browser_setup.sh"

make_page=$top_builddir/tests/viewer/make-page
"$make_page" -k "$pages/known.html"
"$make_page" -t 40 -n 60000 "$pages/threads.html"
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/fibers.txt" "$pages/fibers.trc"
"$top_builddir/tests/viewer/trace-page" "$pages/fibers.trc" "$pages/fibers.html"
browse "$work/moving.mjs" "$pages"
