#!/bin/bash
# Rules that several functions keep are numbered at the head of a file ("R2", or "ring:R2" where the
# letter is taken).  Each is stated once, and what is cited is stated.  The index in docs/hacking.md has
# the file of each letter; with --write it is written anew (`make update-docs`).
#
# In comments of a file and of its header a rule has its letter and number alone.
#
# And what else a convention of docs/hacking.md asks for: atomics with an order, functions with names of their own.
. "$(dirname "$0")/../integration/lib.sh"

cd "$top_srcdir"
find format recorder analyzer viewer tests docs -name '*.[chS]' -o -name '*.cc' -o -name '*.js' -o -name '*.mjs' \
	-o -name '*.sh' -o -name '*.md' | grep -v '^tests/package/rules.sh$' | LC_ALL=C sort >"$OLDPWD/files.txt"
cd "$OLDPWD"

# FILE LINE RULE for each that is stated; the rule as it is written there.
grep -E '^(format|recorder|analyzer|viewer)/' files.txt |
	(cd "$top_srcdir" && xargs grep -nHE '^( \*|#|//)[[:space:]]{1,4}([a-z_]+:)?[A-Z][0-9]{1,2}  [^ ]') |
	sed -E 's,^([^:]+):([0-9]+):[ */#]+(([a-z_]+:)?[A-Z][0-9]+)  .*,\1 \2 \3,' >stated.txt
[ "$(wc -l <stated.txt)" -gt 200 ] || fail "the rules are not where they were"

cut -d' ' -f3 stated.txt | sort | uniq -d >twice.txt
[ ! -s twice.txt ] || fail "stated twice: $(tr '\n' ' ' <twice.txt)"
# A letter without a file's name is the letter of one file.
awk '{ letter = $3; sub(/[0-9]+$/, "", letter); if (letter !~ /:/) print letter, $1 }' stated.txt | sort -u |
	cut -d' ' -f1 | uniq -d >letters.txt
[ ! -s letters.txt ] || fail "letters of several files: $(tr '\n' ' ' <letters.txt)"
passed "each rule is stated once"

# ---- the index --------------------------------------------------------------------------------
awk '{ letter = $3; sub(/[0-9]+$/, "", letter); print "| `" letter "` | `" $1 "` |" }' stated.txt |
	LC_ALL=C sort -u >index.txt
document=$top_srcdir/docs/hacking.md
awk -v index_file=index.txt '
	/^\| `([a-z_]+:)?[A-Z]` \| `/ { next }
	{ print }
	/^\| rules \|/ { getline; print; while ((getline line <index_file) > 0) print line }' "$document" >hacking.md
if [ "${1-}" = --write ]; then
	cmp -s hacking.md "$document" || cat hacking.md >"$document"
fi
cmp -s hacking.md "$document" ||
	fail "the index in docs/hacking.md is not that of the sources; make update-docs writes it:
$(diff "$document" hacking.md)"
[ "$(wc -l <index.txt)" -gt 100 ] || fail "hardly a letter is in the index"
passed "the index has every letter"

# Citations with the name of a file: file, line, rule.  Of a range the first is looked at.
(cd "$top_srcdir" && xargs grep -noHE '\b[a-z_]+:[A-Z][0-9]{1,2}\b') <files.txt |
	sed 's/^\([^:]*\):\([0-9]*\):/\1 \2 /' >cited.txt
awk 'NR == FNR { stated[$3] = 1; next }
	!($3 in stated) { print "    " $1 ":" $2 ": " $3 }' stated.txt cited.txt >unknown.txt
[ ! -s unknown.txt ] || { cat unknown.txt; fail "rules that are stated nowhere"; }
[ "$(wc -l <cited.txt)" -gt 300 ] || fail "hardly a rule is cited"

# Citations by letter and number, of the file's own letters, in comments.
while read -r stem letters; do
	for file in "$stem".c "$stem".h; do
		[ -f "$top_srcdir/$file" ] || continue
		awk -v letters="$letters" '
			/\/\*/ { comment = 1 }
			comment {
				line = $0
				while (match(line, /(^|[^A-Za-z0-9_:."%\/$-])[A-Z][0-9][0-9]?($|[^A-Za-z0-9_"])/)) {
					rule = substr(line, RSTART, RLENGTH)
					line = substr(line, RSTART + RLENGTH - 1)
					gsub(/[^A-Z0-9]/, "", rule)
					if (index(letters, substr(rule, 1, 1)))
						print FILENAME, FNR, rule
				}
			}
			/\*\// { comment = 0 }' "$top_srcdir/$file" | sed "s,^$top_srcdir/,,"
	done
done < <(awk '{ stem = $1; sub(/\.[a-zS]*$/, "", stem); letter = $3; sub(/.*:/, "", letter)
	sub(/[0-9]+/, "", letter); if (!index(of[stem], letter)) of[stem] = of[stem] letter }
	END { for (stem in of) print stem, of[stem] }' stated.txt) >own.txt
awk 'NR == FNR { stem = $1; sub(/\.[a-zS]*$/, "", stem); rule = $3; sub(/.*:/, "", rule); stated[stem, rule] = 1; next }
	{ stem = $1; sub(/\.[a-zS]*$/, "", stem) }
	!((stem, $3) in stated) { print "    " $1 ":" $2 ": " $3 }' stated.txt own.txt >unknown.txt
[ ! -s unknown.txt ] || { cat unknown.txt; fail "rules that are stated nowhere"; }
[ "$(wc -l <own.txt)" -gt 100 ] || fail "hardly a rule is cited where it is stated"
passed "what is cited is stated"

# ---- atomics ----------------------------------------------------------------------------------
# The short forms are sequentially consistent, which nobody has thought about.
(cd "$top_srcdir" && grep -rnE '(^|[^_])atomic_(load|store|exchange|fetch_[a-z]+|compare_exchange_(weak|strong))\(' \
	--include='*.[ch]' format recorder analyzer viewer) >implicit.txt
[ ! -s implicit.txt ] || fail "atomic operations without an order:
$(sed 's/^/    /' implicit.txt)"
passed "each atomic operation has an order"

# ---- names ------------------------------------------------------------------------------------
# Where a report's section and a derived part have many functions of the same kind, a name leads to one of them.
find_functions()
{
	awk '
		FNR == 1 { signature = "" }
		/^\{$/ {
			if (match(signature, /[a-z_][a-zA-Z0-9_]*\(/))
				print substr(signature, RSTART, RLENGTH - 1), FILENAME
			signature = ""
			next
		}
		/^$|^[}#]|;$|\*\/$/ { signature = ""; next }
		{ signature = signature " " $0 }' "$@"
}
(cd "$top_srcdir" &&
	find_functions $(find format recorder analyzer viewer -name '*.c' | LC_ALL=C sort)) | sort -u >functions.txt
[ "$(wc -l <functions.txt)" -gt 5000 ] || fail "hardly a function is found"
awk '{ files[$1] = files[$1] " " $2; n[$1]++; if ($2 ~ /^analyzer\/(report|derive)\//) here[$1] = 1 }
	END { for (name in here) if (n[name] > 1) print "    " name ":" files[name] }' functions.txt | sort >several.txt
[ ! -s several.txt ] || { cat several.txt; fail "functions of analyzer/report and analyzer/derive whose names other files have as well"; }
passed "a function of a report's section, or of a derived part, has a name of its own"
