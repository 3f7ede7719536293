#!/bin/sh
# writer_calls.sh - the writer's half of format/ calls nothing that could be interposed (writer:W1).
#
# Looks at the undefined symbols of its objects: only format/ itself, LZ4's entry points that take
# their memory from the caller, and plain functions on bytes are allowed.
set -u
: "${top_builddir:?run through make check}"

cd "$top_builddir/format" || exit 1
objects=
for name in block_encode check column_encode pages schema section tables varint writer; do
	for object in .libs/libtrcformat_la-$name.o libtrcformat_la-$name.o; do
		[ -e "$object" ] && objects="$objects $object" && break
	done
done
[ "$(echo $objects | wc -w)" -ge 9 ] || {
	echo "objects are missing: only$objects"
	exit 1
}

undefined=$(nm -u $objects | awk 'NF == 2 && $1 == "U" { print $2 }' | sort -u)
case $undefined in
*__asan_* | *__tsan_* | *__ubsan_* | *__gcov_*)
	echo "instrumented objects call all kinds of things"
	exit 77
	;;
esac
echo "$undefined" | grep -q LZ4_compress_fast_extState || {
	echo "found no symbols to look at"
	exit 1
}
bad=$(echo "$undefined" | grep -v -x \
	-e 'trc_.*' -e 'LZ4_compress_fast_extState' -e 'LZ4_sizeofState' \
	-e 'mem\(cpy\|move\|set\|cmp\)' -e bcmp -e 'str\(len\|nlen\|cmp\)' \
	-e '__udivti3' -e '__stack_chk_fail' -e '_GLOBAL_OFFSET_TABLE_')
[ -z "$bad" ] || {
	echo "the writer calls:" $bad
	exit 1
}
