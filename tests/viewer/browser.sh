#!/bin/sh
# browser.sh - opens timeline pages from disk in Debian's chromium and uses them (browser.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/pages

# A page of an assembled trace, whose stacks lie in a program that is there to be looked up.
traced_page()
{
	program=$work/traced_program
	${CC:-cc} -g -O0 -no-pie -Wl,--build-id -o "$program" "$top_srcdir/tests/viewer/traced_program.c"
	# The segment with the code: offset, address, size.
	readelf -lW "$program" | sed -n 's/^ *LOAD *\(0x[^ ]*\) \(0x[^ ]*\) 0x[^ ]* 0x[^ ]* \(0x[^ ]*\) R E .*/\1 \2 \3/p' \
		>"$work/segment"
	read -r offset start size <"$work/segment"
	module="module program path=\"$program\" start=$start limit=$((start + size)) offset=$offset bias=0"
	module="$module build_id=$(readelf -n "$program" | sed -n 's/.*Build ID: //p')"
	sed "s|@MODULE@|$module|" "$top_srcdir/tests/viewer/traced.txt" >"$work/traced.txt"
	# A return address is some way into its function.
	nm "$program" | while read -r address kind name; do
		[ "$kind" = T ] && echo "s/@$name@/$((0x$address + 5))/g"
	done >"$work/addresses.sed" || true
	sed -i -f "$work/addresses.sed" "$work/traced.txt"
	"$top_builddir/trc-assemble" "$work/traced.txt" "$work/traced.trc"
	"$top_builddir/tests/viewer/trace-page" "$work/traced.trc" "$pages/traced.html"
}

. "$top_srcdir/tests/viewer/browser_setup.sh"

make_page=$top_builddir/tests/viewer/make-page
"$make_page" -k "$pages/known.html"
"$make_page" -m 1048576 "$pages/long.html"
"$make_page" -x "$pages/too_many.html"
"$make_page" -t 200 -n 40000 -i 30 "$pages/many.html"
"$make_page" -t 8 -n 20000 -l 5000 "$pages/merged.html"
"$make_page" -t 64 -n 500000 "$pages/million.html"
traced_page
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/fibers.txt" "$work/fibers.trc"
"$top_builddir/tests/viewer/trace-page" "$work/fibers.trc" "$pages/fibers.html"

browse "$work/browser.mjs" "$pages"
rm -f "$pages/million.html"
