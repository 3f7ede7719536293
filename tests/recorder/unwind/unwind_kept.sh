#!/bin/sh
# Stacks found without a walk, against walks: by rules and by frame pointers, in code with and
# without them.
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
# shellcheck disable=SC2086  # CXX may hold options
$CXX -O2 -g -fPIC -shared -o "$dir/cxx.so" "$src/unwind_kept_cxx.cc"

for program in unwind_kept unwind_kept_fp; do
	for mode in auto fp cfi; do
		printf '%s ' $program
		"$top_builddir/tests/recorder/unwind/$program" $mode 3 "$dir/plugin400.so" \
			"$dir/plugin800.so" -- "$dir/cxx.so"
	done
done
