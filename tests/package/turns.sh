#!/bin/bash
# turns.sh - of the tests that take turns each run of check-parallel has a list, and over the seeds none is left out for good.
. "$(dirname "$0")/../integration/lib.sh"

# asked SEED WHOLE WHAT...: what make says, without what the caller's make was told.
asked()
{
	env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u TESTS CI_SEED="$1" CI_WHOLE="$2" make -s -C "$top_builddir" "${@:3}"
}

asked '' no --eval='print-tests: ; @echo $(TESTS)' print-tests | tr ' ' '\n' | grep . | sort >all.txt
for list in 0 1 2; do
	asked '' no --eval="print-list: ; @echo \$(turn_tests_$list)" print-list | tr ' ' '\n' | sort >"list$list.txt"
	[ "$(wc -l <"list$list.txt")" -gt 5 ] || fail "hardly a test is in list $list"
done
sort list?.txt >lists.txt
uniq -d lists.txt >twice.txt
[ ! -s twice.txt ] || fail "in two lists: $(tr '\n' ' ' <twice.txt)"
comm -13 all.txt lists.txt >unknown.txt
[ ! -s unknown.txt ] || fail "no tests: $(tr '\n' ' ' <unknown.txt)"
grep -vE '^tests/(viewer|integration)/.*\.sh$' lists.txt >units.txt
[ ! -s units.txt ] || fail "unit tests run always: $(tr '\n' ' ' <units.txt)"
passed "each test that takes turns is in one list"

# Seeds N to N + 15 choose one list, the next 16 the next one.
for list in 0 1 2; do
	asked $((4800 + list * 16)) no print-turn | tr ' ' '\n' | grep . | sort >left_out.txt
	sort lists.txt "list$list.txt" | uniq -u | cmp -s - left_out.txt || fail "seed $((4800 + list * 16)) leaves out $(cat left_out.txt)"
done
passed "a run with a seed leaves out two lists of three"

for whole in "4711 yes" " no" " yes"; do
	[ -z "$(asked "${whole% *}" "${whole#* }" print-turn)" ] || fail "CI_SEED and CI_WHOLE '$whole' leave out something"
done
[ -z "$(asked 4711 no print-turn turn=all)" ] || fail "turn=all leaves out something"
[ -z "$(asked 4711 no print-turn TESTS="$(comm -23 all.txt lists.txt | tr '\n' ' ')")" ] || fail "what was not asked for is left out"
passed "without a seed, with CI_WHOLE and with turn=all nothing is left out"

for wrong in abc 1x -17 ' ' "CI_SEED=4711 turn=3" "CI_SEED=4711 turn=ALL" "CI_SEED=4711 turn="; do
	! asked "$wrong" no print-turn $([ "${wrong#CI_SEED}" = "$wrong" ] || echo "$wrong") >out.txt 2>&1 ||
		fail "'$wrong' is no turn, but leaves out $(cat out.txt)"
	grep -q 'no list of tests has this turn' out.txt || fail "'$wrong': $(cat out.txt)"
done
passed "a seed that is no number, and a list that is none, end the run"

# What a test draws by takes_turn() has to meet each list: else a part of its cases would never run.
asked '' no --eval="print-turns: ; @\$(foreach CI_SEED,$(seq -s ' ' 0 191),echo \$(CI_SEED) \$(turn);)" print-turns >turns.txt
for parts in 2 3 4 5 6 8 12; do
	met=$(awk -v parts=$parts '{ print $2, $1 % parts }' turns.txt | sort -u | wc -l)
	[ "$met" = $((3 * parts)) ] || fail "of $((3 * parts)) pairs of a list and a part of $parts only $met are met"
done
passed "each part of a test's cases meets each list"
