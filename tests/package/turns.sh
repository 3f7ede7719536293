#!/bin/bash
# turns.sh - of the tests that take turns each run of check-parallel has a list, and each run of .ci/run a slice; over the seeds none
# is left out for good.
. "$(dirname "$0")/../integration/lib.sh"
need_unsanitized # such a build lacks some tests that stand in the lists

# asked SEED WHOLE WHAT...: what make says, without what the caller's make was told.
asked()
{
	env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u TESTS CI_SEED="$1" CI_WHOLE="$2" make -s -C "$top_builddir" "${@:3}"
}

asked '' no --eval='print-tests: ; @echo $(TESTS)' print-tests | tr ' ' '\n' | grep . | sort >all.txt
lists=7
for ((list = 0; list < lists; list++)); do
	asked '' no --eval="print-list: ; @echo \$(turn_tests_$list)" print-list | tr ' ' '\n' | sort >"list$list.txt"
	[ "$(wc -l <"list$list.txt")" -gt 5 ] || fail "hardly a test is in list $list"
done
sort list?.txt >lists.txt
uniq -d lists.txt >twice.txt
[ ! -s twice.txt ] || fail "in two lists: $(tr '\n' ' ' <twice.txt)"
comm -13 all.txt lists.txt >unknown.txt
[ ! -s unknown.txt ] || fail "no tests: $(tr '\n' ' ' <unknown.txt)"
grep -vE '^tests/.*\.sh$' lists.txt >units.txt
[ ! -s units.txt ] || fail "unit tests run always: $(tr '\n' ' ' <units.txt)"
passed "each test that takes turns is in one list"

# Seeds that follow each other choose lists that do: 4802 is a multiple of 7.
for ((list = 0; list < lists; list++)); do
	asked $((4802 + list)) no print-turn | tr ' ' '\n' | grep . | sort >left_out.txt
	sort lists.txt "list$list.txt" | uniq -u | cmp -s - left_out.txt || fail "seed $((4802 + list)) leaves out $(cat left_out.txt)"
done
passed "a run with a seed leaves out all lists but one"

for whole in "4711 yes" " no" " yes"; do
	[ -z "$(asked "${whole% *}" "${whole#* }" print-turn)" ] || fail "CI_SEED and CI_WHOLE '$whole' leave out something"
done
[ -z "$(asked 4711 no print-turn turn=all)" ] || fail "turn=all leaves out something"
[ -z "$(asked 4711 no print-turn TESTS="$(comm -23 all.txt lists.txt | tr '\n' ' ')")" ] || fail "what was not asked for is left out"
passed "without a seed, with CI_WHOLE and with turn=all nothing is left out"

for wrong in abc 1x -17 ' ' "CI_SEED=4711 turn=7" "CI_SEED=4711 turn=ALL" "CI_SEED=4711 turn="; do
	! asked "$wrong" no print-turn $([ "${wrong#CI_SEED}" = "$wrong" ] || echo "$wrong") >out.txt 2>&1 ||
		fail "'$wrong' is no turn, but leaves out $(cat out.txt)"
	grep -q 'no list of tests has this turn' out.txt || fail "'$wrong': $(cat out.txt)"
done
passed "a seed that is no number, and a list that is none, end the run"

# What a test draws by takes_turn() has to meet each list: else a part of its cases would never run.
asked '' no --eval="print-turns: ; @\$(foreach CI_SEED,$(seq -s ' ' 0 83),echo \$(CI_SEED) \$(turn);)" print-turns >turns.txt
for parts in 2 3 4 5 6 8 12; do
	met=$(awk -v lists=$lists -v parts=$parts 'NR <= lists * parts { print $2, $1 % parts }' turns.txt | sort -u | wc -l)
	[ "$met" = $((lists * parts)) ] || fail "of $((lists * parts)) pairs of a list and a part of $parts only $met are met"
done
passed "each part of a test's cases meets each list"

# slices N: how often each of some words is in the slices of N seeds that follow each other.
slices()
{
	for ((seed = 4711; seed < 4711 + $1; seed++)); do
		seq 100 | CI_WHOLE=no CI_SEED=$seed "$top_srcdir/tests/slice.sh" "$1" | tr ' ' '\n'
	done | grep . | sort -n | uniq -c
}

for n in 1 2 5 7; do
	slices $n | awk '$1 != 1 || $2 != NR { bad = 1 } END { exit bad || NR != 100 }' || fail "slices of $n: $(slices $n)"
	[ "$(seq 100 | CI_WHOLE=no CI_SEED=4711 "$top_srcdir/tests/slice.sh" $n | wc -w)" -le $((100 / n + 1)) ] || fail "a slice of $n is too large"
done
for whole in "4711 yes" " no" " yes"; do
	[ "$(seq 100 | CI_SEED="${whole% *}" CI_WHOLE="${whole#* }" "$top_srcdir/tests/slice.sh" 5 | wc -w)" = 100 ] ||
		fail "CI_SEED and CI_WHOLE '$whole' have a slice"
done
passed "each test is in one of the slices of seeds that follow each other"

# What a test draws has to meet each slice, too.
sed -nE 's/.*[|	] *slice ([0-9]+)$/\1/p' "$top_srcdir/.ci/run" >numbers.txt
[ "$(wc -l <numbers.txt)" -ge 3 ] || fail "slices of .ci/run: $(cat numbers.txt)"
grep -rhoE 'takes_turn\([^;]*, [0-9]+\)' "$top_srcdir/tests" --include='*.c' | sed -E 's/.*, ([0-9]+)\)/\1/' | sort -u >parts.txt
[ "$(wc -l <parts.txt)" -ge 3 ] || fail "parts that tests take: $(cat parts.txt)"
while read -r n; do
	while read -r parts; do
		met=$(for ((seed = 0; seed < n * parts; seed++)); do echo $((seed % n)) $((seed % parts)); done | sort -u | wc -l)
		[ "$met" = $((n * parts)) ] || fail "slices of $n never meet some parts of $parts"
	done <parts.txt
done <numbers.txt
passed "each part of a test's cases meets each slice"
