#!/bin/bash
# new_kind.sh - docs/hacking.md, "Add an event": the steps, with the text of the example there, add
# a kind of event.  They are taken in a copy of the tree.  Only the sources that count kinds are
# compiled there; they are linked in place of those in the libraries of the build.  No other source
# depends on the kind, as others have more arguments.
#
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir:?}/tests/integration/lib.sh"

need_no_thread_sanitizer

tree=$work/tree
mkdir "$tree"
cp -r "$top_srcdir"/{analyzer,docs,format,recorder,viewer} "$tree" || exit 99
chmod -R u+w "$tree"

# example LANGUAGE N: the N-th block in this language of the section.
example()
{
	awk -v fence="\`\`\`$1" -v nth="$2" '
		/^## / { inside = $0 == "## Add an event" }
		inside && $1 == fence { block = ++n == nth; next }
		inside && $1 == "```" { block = 0 }
		block { sub(/^   /, ""); print }' "$top_srcdir/docs/hacking.md"
}

# make_value NAME: the value of a variable of the Makefile.
make_value()
{
	sed -n "s/^$1 = //p" "$top_builddir/Makefile"
}

compile()
{
	# shellcheck disable=SC2046
	$CC $(make_value TRC_CFLAGS) $(make_value SANITIZE_CFLAGS) $(make_value CFLAGS) \
		$(make_value SQLITE_CFLAGS) -DHAVE_CONFIG_H -D_GNU_SOURCE -Werror -I"$tree" \
		-I"$top_builddir" -I"$tree/recorder/include" -c -o "$2" "$1" || fail "does not compile: $1"
}

# link PROGRAM OBJECT|LIBRARY...
link()
{
	# shellcheck disable=SC2046
	(cd "$top_builddir" && ./libtool --silent --tag=CC --mode=link $CC \
		$(make_value SANITIZE_CFLAGS) $(make_value CFLAGS) $(make_value LDFLAGS) \
		-o "$work/$1" "${@:2}") || fail "does not link: $1"
}

# 1. A row.  If a kind has taken the example's number, the example has the next one.
number=$(($(sed -n 's/^EVENT(\([0-9]*\),.*/\1/p' "$tree/format/schema.h" | sort -n | tail -1) + 1))
example c 1 | sed "s/^EVENT([0-9]*/EVENT($number/" >row
grep -q "^EVENT($number, 4, RETRY, retry, " row || fail 'docs/hacking.md has no row'
awk '/^\/\* The next kind goes here/ { while ((getline line < "row") > 0) print line }
	{ print }' "$top_srcdir/format/schema.h" >"$tree/format/schema.h"
recorder=() # objects that a program of the recorder needs
analyzer=()
for source in $(cd "$tree" && grep -rlwE --include='*.c' 'TRC_KIND_COUNT|TRC_SCHEMA|TRC_MINOR' \
	analyzer format recorder viewer); do
	object=$work/$(basename "$source" .c).o
	compile "$tree/$source" "$object"
	case $source in
	format/*) recorder+=("$object") analyzer+=("$object") ;;
	recorder/*) recorder+=("$object") ;;
	*) analyzer+=("$object") ;;
	esac
done
[ ${#recorder[@]} -ge 1 ] && [ ${#analyzer[@]} -ge 2 ] || fail 'the sources that count kinds were not found'

# 2. An emitter.
{
	printf '#include <%s>\n' errno.h trc/trace.h
	printf '#include "%s"\n' recorder/ring/hot.h recorder/ring/rec.h
	echo 'void trc_retried(uint64_t attempt, uint64_t since);'
	example c 2
	cat <<'END'
int main(int argc, char **argv)
{
	uint64_t since;

	if (argc != 2 || trace_start(argv[1], NULL))
		return 1;
	since = trc_now();
	for (uint64_t attempt = 2; attempt <= 4; attempt++)
		trc_retried(attempt, since);
	return trace_stop() != 0;
}
END
} >retries.c
compile retries.c retries.o
link retries "$work/retries.o" "${recorder[@]}" \
	libtrcapi.la libtrcdrain.la libtrccore.la libtrcunwind.la libtrcformat.la
./retries t.trc || fail 'the program with the emitter fails'

# 3. A test.
# shellcheck disable=SC2046
link trace-analyze "$here"/../../analyzer/cli/trace_analyze-*.o "${analyzer[@]}" libtrcviewer.la \
	libtrcopen.la libtrcanalyze.la libtrcdrain.la libtrccore.la libtrcunwind.la libtrcformat.la $(make_value READLINE_LIBS)
expect()
{
	local wanted=$1 got

	shift
	got=$("$@") || fail "$* fails"
	[ "$got" = "$wanted" ] || fail "$*:
$got
expected:
$wanted"
	checks=$((checks + 1))
}
rows=$'attempt\tsince_ns <= ts_ns\n2\t1\n3\t1\n4\t1'
query=$(example sql 1)
expect "$rows" ./trace-analyze --sql "$query" --output tsv t.trc
expect $'events\tdoc\n3\tan operation is tried again' \
	./trace-analyze --sql "SELECT events, doc FROM kinds WHERE name = 'retry'" --output tsv t.trc
expect $'n\n3' ./trace-analyze --output tsv t.trc \
	--sql "SELECT count(*) AS n FROM events WHERE kind = 'retry' AND attempt > 1"
./trace-analyze --check t.trc >/dev/null || fail 'the trace is not sound'
# A reader from before the kind shows it as well.
expect "$rows" "$trace_analyze" --sql "$query" --output tsv t.trc

# 4. The documents.
mkdir -p built/analyzer built/tests/format
mv trace-analyze built/analyzer
compile "$top_srcdir/tests/format/print_kinds.c" print_kinds.o
link built/tests/format/print_kinds "$work/print_kinds.o" "${recorder[@]}" libtrcformat.la
top_srcdir=$tree top_builddir=$work/built "$top_srcdir/tests/package/docs_tables.sh" --write ||
	fail 'the documents are not written'
grep -qFx "| $number | retry | 1.4 | attempt u64, since ticks, stack stack |" \
	"$tree/docs/format.md" || fail 'docs/format.md does not have the kind'
grep -qFx '### event_retry' "$tree/docs/schema.md" &&
	grep -qFx '| `since_ns` | INTEGER | when the first attempt began |' "$tree/docs/schema.md" ||
	fail 'docs/schema.md does not have the kind'
