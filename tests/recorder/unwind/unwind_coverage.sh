#!/bin/sh
# Every rule of the libraries that a traced program has: read as elfutils reads it, and all but
# a few in a thousand fit the cache's short form.
set -eu
tool=$top_builddir/tests/recorder/unwind/unwind_coverage
files=$(ldd "$tool" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\).*/\1/p')
# shellcheck disable=SC2086  # a list of files
"$tool" $files | awk '
	{ print }
	/ rows, / { rows += $2 }
	$1 == "short" { brief += $2 }
	END {
		printf "%d rows, %.3f %% short\n", rows, 100 * brief / rows
		exit !(rows > 10000 && brief / rows > 0.98)
	}'
