#!/bin/sh
# Stacks of functions of every shape, compiled at several levels, are the same as libunwind and
# the C library see them.
set -eu
src=$top_srcdir/tests/recorder
lib=$top_builddir/.libs/libtrcunwind.a
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

status=0
for level in "-O0" "-O2" "-O3 -fomit-frame-pointer" "-O2 -fno-omit-frame-pointer"; do
	# shellcheck disable=SC2086  # CC and the level are lists of words
	$CC -std=gnu17 -D_GNU_SOURCE $level -g -I"$top_srcdir" -I"$src" -o "$dir/shapes" \
		"$src/unwind_shapes.c" "$src/unwind_compare.c" "$lib" -lunwind -lpthread
	printf '%s: ' "$level"
	"$dir/shapes" || status=1
done
exit $status
