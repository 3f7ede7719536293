#!/bin/sh
# Stacks of functions of every shape, compiled at several levels, are the same as libunwind and
# the C library see them.
set -eu
src=$top_srcdir/tests/recorder/unwind
lib=$top_builddir/.libs/libtrcunwind.a
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

status=0
# shellcheck disable=SC2086  # CC may hold options
$CC -std=gnu17 -D_GNU_SOURCE -O2 -g -DCOMPARE_WITHOUT_LIBUNWIND -I"$top_srcdir" -I"$src" \
	-c -o "$dir/compare.o" "$src/unwind_compare.c"
for level in "-O0" "-O2" "-O3 -fomit-frame-pointer" "-O2 -fno-omit-frame-pointer"; do
	# shellcheck disable=SC2086  # CC and the level are lists of words
	$CC -std=gnu17 -D_GNU_SOURCE $level -g -I"$top_srcdir" -I"$src" -o "$dir/shapes" \
		"$src/unwind_shapes.c" "$src/unwind_compare.c" "$lib" -lunwind -lpthread
	printf '%s: ' "$level"
	"$dir/shapes" || status=1
	# shellcheck disable=SC2086  # the same
	$CXX -D_GNU_SOURCE $level -g -I"$top_srcdir" -I"$src" -o "$dir/cxx" \
		"$src/unwind_cxx.cc" "$dir/compare.o" "$lib" -lpthread
	printf '%s, C++: ' "$level"
	"$dir/cxx" || status=1
done
exit $status
