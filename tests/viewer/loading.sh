#!/bin/sh
# loading.sh - opens pages in Debian's chromium, and looks at how they load (loading.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/loading

. "$top_srcdir/tests/viewer/browser_setup.sh"

make_page=$top_builddir/tests/viewer/make-page
"$make_page" -k "$pages/known.html"
"$make_page" -t 3000 -n 300000 "$pages/threads.html"
browse "$work/loading.mjs" "$pages" "$top_srcdir/viewer/assets"
rm -f "$pages/threads.html"
