#!/bin/bash
# What the two libraries export, against the lists: libtrc its public functions and the libc
# names that it interposes; libtrc-preload only the latter.  A symbol more or less has to be
# meant: then the list is changed with it.
. "$(dirname "$0")/../integration/lib.sh"
need nm
need_unsanitized

exported()
{
	nm -D --defined-only "$1" | awk '$2 ~ /[TWVBDRi]/ { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u
}

# compare LIBRARY LIST
compare()
{
	local library=$1 list=$2
	exported "$library" >have.txt
	grep -v '^#' "$list" | LC_ALL=C sort -u >want.txt
	diff -u want.txt have.txt || fail "${library##*/} does not export what $list says"
	passed "${library##*/} exports what ${list##*/} says: $(wc -l <have.txt) symbols"
}

compare "$top_builddir/.libs/libtrc.so" "$top_srcdir/tests/package/libtrc.symbols"
compare "$top_builddir/.libs/libtrc-preload.so" \
	"$top_srcdir/tests/package/libtrc-preload.symbols"
if grep -q '^trace_' "$top_srcdir/tests/package/libtrc-preload.symbols"; then
	fail 'libtrc-preload exports part of the public interface'
fi
passed 'libtrc-preload exports no trace_ function'
