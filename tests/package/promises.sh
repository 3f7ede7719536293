#!/bin/bash
# Each promise of docs/promises.md has a proof that runs: a test of the suite, or a part of make bench.
. "$(dirname "$0")/../integration/lib.sh"
need_unsanitized # these builds leave tests out

promises=$top_srcdir/docs/promises.md
# Not with the tests that this run was asked for.
env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES make -s -C "$top_builddir" --eval='print-tests: ; @echo $(TESTS)' print-tests | tr ' ' '\n' >tests.txt
[ "$(wc -l <tests.txt)" -gt 100 ] || fail 'the tests are not known'

grep '^| ' "$promises" | grep -vE '^\| (promise|---)' >rows.txt
[ "$(wc -l <rows.txt)" -ge 25 ] || fail 'the promises are not where they were'

# Column 2 of each row: what stands in backticks.
while IFS='|' read -r _ promise proof _; do
	proofs=$(grep -oE '`[^`]+`' <<<"$proof" | tr -d '`')
	[ -n "$proofs" ] || fail "no proof: $promise"
	while read -r one; do
		case $one in
		'make bench BENCH='*)
			grep -qwE "${one#*=}" "$top_srcdir/tests/bench/run.sh" || fail "no such benchmark: $one" ;;
		'make accuracy' | '.ci/run long') ;;
		*) grep -qxF "$one" tests.txt || fail "no such test: $one" ;;
		esac
	done <<<"$proofs"
done <rows.txt
passed "$(wc -l <rows.txt) promises have proofs"
