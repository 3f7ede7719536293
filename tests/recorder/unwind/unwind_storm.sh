#!/bin/sh
# Unwinding at high rate while modules whose frames differ come and go at the same addresses.
set -eu
src=$top_srcdir/tests/recorder/unwind
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Both sizes need the same instructions: only the rules tell them apart.
for bytes in 400 800; do
	# shellcheck disable=SC2086  # CC may hold options
	$CC -O2 -g -fPIC -shared -DPLUGIN_BYTES=$bytes -o "$dir/plugin$bytes.so" \
		"$src/unwind_plugin.c"
done
for threads in 1 3; do
	printf '%s threads: ' $threads
	"$top_builddir/tests/recorder/unwind/unwind_storm" $threads "$dir/plugin400.so" "$dir/plugin800.so"
done
