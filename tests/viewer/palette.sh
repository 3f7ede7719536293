#!/bin/sh
# palette.sh - whether the colours of the page are told apart, and its text can be read (palette_test.mjs).
set -eu
if ! command -v node >/dev/null; then
	echo "palette.sh: skipped: no node"
	exit 77
fi
node "$top_srcdir/tests/viewer/palette_test.mjs" "$top_srcdir/viewer/assets" "$top_srcdir/format"
