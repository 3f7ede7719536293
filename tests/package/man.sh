#!/bin/bash
# Every manual page is clean mdoc, and names every option that its tool admits to.
. "$(dirname "$0")/../integration/lib.sh"
need mandoc

for page in "$top_srcdir"/docs/*.[1-9]; do
	mandoc -T lint -W warning "$page" >lint.txt || {
		cat lint.txt >&2
		fail "${page##*/} has faults"
	}
	passed "${page##*/} is clean"
done

for tool in "$trace_record" "$trace_analyze" "$top_builddir/viewer/trace-view"; do
	[ -x "$tool" ] || continue # built without libmicrohttpd
	page=$top_srcdir/docs/${tool##*/}.1
	"$tool" -h >help.txt 2>&1 || fail "${tool##*/} -h: status $?"
	mandoc -T ascii "$page" | sed "s/.\x08//g" >page.txt
	grep -o -E -- '--[a-z][a-z-]+' help.txt | sort -u >options.txt
	[ -s options.txt ] || fail "${tool##*/} -h names no option"
	while read -r option; do
		grep -q -e "$option" page.txt || fail "$option of ${tool##*/} is not in ${page##*/}"
	done <options.txt
	passed "${page##*/} names the $(wc -l <options.txt) options of ${tool##*/}"
done
