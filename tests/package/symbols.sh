#!/bin/bash
# What the two libraries export, against the lists: libtrc its public functions and the libc
# names that it interposes; libtrc-preload only the latter.  A symbol more or less has to be
# meant: then the list is changed with it.
. "$(dirname "$0")/../integration/lib.sh"
need nm
need_unsanitized

exported()
{
	# GNU ld lists where sections begin and end though they are hidden: nobody can bind to them.
	readelf -Ws --dyn-syms "$1" | awk '$6 == "HIDDEN" { print $8 }' | sort -u >hidden.txt
	nm -D --defined-only "$1" | awk '$2 ~ /[TWVBDRi]/ { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u |
		grep -vxFf hidden.txt
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

# One name, one function: else the linker would choose, by the order of libraries.
objects()
{
	find "$1/format" "$1/recorder" "$1/analyzer" "$1/viewer" -name '*.o' | sed "s,^$1/,," | (cd "$1" && xargs nm -A -g --defined-only)
}
objects "$top_builddir" | awk '$(NF - 1) ~ /^[TDBR]$/ && $NF != "main" {
	file = $1; sub(/:.*/, "", file); sub(/\.libs\//, "", file); sub(/[^\/]*-/, "", file); sub(/\.o$/, ".c", file)
	print $NF, file }' | LC_ALL=C sort -u | while read -r symbol file; do
	[ ! -e "$top_srcdir/$file" ] || echo "$symbol $file" # objects stay where sources have gone
done >defined.txt
[ "$(wc -l <defined.txt)" -gt 500 ] || fail 'the objects are not where they were'
awk '{ n[$1]++; files[$1] = files[$1] " " $2 } END { for (name in n) if (n[name] > 1) print name ":" files[name] }' defined.txt >twice.txt
[ ! -s twice.txt ] || fail "defined more than once: $(cat twice.txt)"
passed "no function is defined in two files: $(wc -l <defined.txt) names"
