#!/bin/sh
# source.sh - records a program with samples, and compares the source code in its page with the files (source.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/source

. "$top_srcdir/tests/viewer/browser_setup.sh"
recording_setup

# Compiled here, so that the files are where debug information says, whatever a compiler's cache does.
cp "$top_srcdir/tests/viewer/source_program.c" "$pages"
(cd "$pages" && CCACHE_DISABLE=1 ${CC:-cc} -g -O1 -fno-omit-frame-pointer -o source_program source_program.c -lpthread)
"$record" -F 1000 -o "$pages/demo.trc" -- "$pages/source_program" >"$pages/out" 2>"$pages/err" || {
	cat "$pages/err"
	exit 1
}
browse "$work/source.mjs" "$analyze" "$pages"
