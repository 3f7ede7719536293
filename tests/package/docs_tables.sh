#!/bin/bash
# docs_tables.sh - what docs/schema.md and docs/format.md say of the kinds of events is what
# format/schema.h says.  With --write the documents are changed: `make update-docs`.
#
# In docs/schema.md these are the table of `events`, and the sections of the tables event_NAME: a
# sentence, perhaps more paragraphs, which stay as they are, and a table.  In docs/format.md it is
# the table in the section "Kinds of events".
#
# SPDX-License-Identifier: Apache-2.0
set -u
: "${top_srcdir:?}" "${top_builddir:?}"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# Reads what the program says, then the document.
cat >"$dir/schema.awk" <<'END'
function print_table(name)
{
	printf "| column | type | meaning |\n|---|---|---|\n%s", rows[name]
}
function print_kinds(    i)
{
	for (i = 1; i <= n_kinds; i++) {
		printf "### %s\n\n%s.\n\n%s", kind[i], sentence[kind[i]], more[kind[i]]
		print_table(kind[i])
		print ""
	}
}
FNR == NR && /^-- / { meaning = toupper(substr($0, 4, 1)) substr($0, 5) }
FNR == NR && /^CREATE TABLE/ {
	name = substr($3, 1, length($3) - 1)
	sentence[name] = meaning
	if (name ~ /^event_/)
		kind[++n_kinds] = name
}
FNR == NR && /^  / {
	type = $2
	sub(/,$/, "", type)
	rows[name] = rows[name] "| `" $1 "` | " type " | " substr($0, index($0, " -- ") + 4) " |\n"
}
FNR == NR { next }

/^##/ {
	if (section ~ /^event_/ && !/^### event_/)
		print_kinds()
	section = /^### / ? $2 : ""
	paragraph = 0
}
section == "events" && /^[|]/ {
	if (/^[|] column/)
		print_table("events")
	next
}
section !~ /^event_/ { print; next }
/^$/ { paragraph++ }
# Paragraph 0 is the heading, 1 the sentence; blank lines end those in between.
/^[|]/ { paragraph = -1000 }
paragraph >= 2 && !(/^$/ && paragraph == 2) {
	more[section] = more[section] $0 "\n"
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
		echo "FAIL: docs/$room.md is not what format/schema.h says: run \`make update-docs\`"
		failed=1
	fi
	grep -q '^| .*park' "$dir/$room.md" || { echo "FAIL: no kinds in docs/$room.md"; failed=1; }
done
exit $failed
