#!/bin/bash
# docs_tables.sh - the tables of docs/schema.md are what `trace-analyze --schema` says, and the kinds
# of events in docs/format.md what format/schema.h says.  With --write the documents are changed:
# `make update-docs`.
#
# In docs/schema.md each section "### TABLE" has text and the table's columns.  The sections of the
# tables event_NAME are written whole: a sentence, perhaps more paragraphs, which stay as they are,
# and the columns.  In docs/format.md it is the table in the section "Kinds of events".
#
# SPDX-License-Identifier: Apache-2.0
set -u
: "${top_srcdir:?}" "${top_builddir:?}"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# Reads what the program says, then the document.
cat >"$dir/schema.awk" <<'END'
function print_columns(name)
{
	printf "| column | type | meaning |\n|---|---|---|\n%s", rows[name]
	written[name] = 1
}
function print_kinds(    i)
{
	for (i = 1; i <= n_kinds; i++) {
		printf "### %s\n\n%s.\n\n%s", kind[i], sentence[kind[i]], more[kind[i]]
		print_columns(kind[i])
		print ""
	}
}
function section_ends()
{
	if (is_kind)
		print_kinds()
	else if (section in rows && !(section in written)) {
		print_columns(section)
		print ""
	}
}
function fail(text)
{
	print "FAIL: docs/schema.md: " text >"/dev/stderr"
	failed = 1
}
FNR == NR && /^-- / { meaning = toupper(substr($0, 4, 1)) substr($0, 5) }
FNR == NR && /^CREATE TABLE/ {
	name = substr($3, 1, length($3) - 1)
	rows[name] = ""
	sentence[name] = meaning
	if (name ~ /^event_/)
		kind[++n_kinds] = name
}
FNR == NR && /^  / {
	type = $2
	sub(/,$/, "", type)
	column = $1
	sub(/,$/, "", column)
	rows[name] = rows[name] "| `" column "` | " (type == "--" ? "any" : type) " | " \
		substr($0, index($0, " -- ") + 4) " |\n"
}
FNR == NR { next }

/^##/ {
	if (!(is_kind && /^### event_/))
		section_ends()
	section = /^### / ? $2 : ""
	is_kind = section ~ /^event_/
	paragraph = columns = 0
}
!is_kind && /^[|] column [|]/ {
	columns = 1
	if (section in rows)
		print_columns(section)
	else
		fail("there is no table " section)
}
!/^[|]/ { columns = 0 }
columns { next }
!is_kind { print; next }
/^$/ { paragraph++ }
# Paragraph 0 is the heading, 1 the sentence; blank lines end those in between.
/^[|]/ { paragraph = -1000 }
paragraph >= 2 && !(/^$/ && paragraph == 2) {
	more[section] = more[section] $0 "\n"
}
END {
	section_ends()
	for (name in rows)
		if (!(name in written))
			fail("it has no section \"### " name "\"")
	exit failed
}
END
cat >"$dir/format.awk" <<'END'
FNR == NR { table = table $0 "\n"; next }
/^#/ { inside = $0 == "### Kinds of events" }
inside && /^[|]/ {
	printf "%s", table
	table = ""
	next
}
{ print }
END

"$top_builddir/analyzer/trace-analyze" --schema >"$dir/schema" || exit 1
"$top_builddir/tests/format/print_kinds" >"$dir/format" || exit 1
for room in schema format; do
	doc=$top_srcdir/docs/$room.md
	awk -f "$dir/$room.awk" "$dir/$room" "$doc" >"$dir/$room.md" || exit 1
	if [ "${1-}" = --write ]; then
		cmp -s "$dir/$room.md" "$doc" || cp "$dir/$room.md" "$doc" || exit 1
	elif ! diff -u "$doc" "$dir/$room.md"; then
		echo "FAIL: docs/$room.md is not what the program says: run \`make update-docs\`"
		failed=1
	fi
	grep -q '^| .*park' "$dir/$room.md" || { echo "FAIL: no kinds in docs/$room.md"; failed=1; }
done
if grep -n '| |$' "$dir/schema.md"; then
	echo 'FAIL: a column without a meaning'
	failed=1
fi
exit $failed
