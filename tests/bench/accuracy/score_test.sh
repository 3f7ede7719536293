#!/bin/bash
# score_test.sh - how accuracy/run.sh marks profiles, on made-up ones whose marks are known.
#
# SPDX-License-Identifier: Apache-2.0
set -u
: "${top_srcdir:?run through make check}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
	printf 'score_test: %s\n' "$*" >&2
	cat "$work/out" >&2
	exit 1
}

# rows ENGINE RATE RUN A B C OTHER: weights of one run; the clock always says 10, 30, 60
rows()
{
	local head
	head=$(printf 'serial\t%s\t%s\t%s' "$1" "$2" "$3")
	printf '%s\tclock\t%s\t%s\t0\n' "$head" A 10e7 "$head" B 30e7 "$head" C 60e7
	printf '%s\tshare\t%s\t%s\t%s\n' "$head" A "$4" 1 "$head" B "$5" 2 "$head" C "$6" 3
	[ "$7" = 0 ] || printf '%s\tshare\t-\t%s\t1\n' "$head" "$7"
}

# A run in which equal work took unequal time: by the clock 22, 30, 48.
uneven()
{
	rows uneven 1000 1 22.1 30 47.9 0 | sed '/clock/s/10e7/22e7/; /clock/s/60e7/48e7/'
}

score()
{
	awk -v program="$1" -f "$top_srcdir/tests/bench/accuracy/score.awk" "$work/expect" \
		"$work/skipped" "$work/results" >"$work/out"
}

# has PATTERN: a line of the answer, blanks squeezed
has()
{
	tr -s ' ' <"$work/out" | sed 's/ $//' | grep -qxE -e "$1" || fail "no line like: $1"
}

printf 'A\t10\nB\t30\nC\t60\n' >"$work/expect"
printf 'cycles/signal\tno PMU here\n' >"$work/skipped"
{
	rows exact 1000 1 10 30 60 0
	rows exact 1000 2 100 300 600 0
	rows near 1000 1 10 30.2 59.8 0
	rows elsewhere 1000 1 9 27 54 10
	rows swapped 100 1 10 60 30 0
	rows swapped 100 2 10 60 30 0
	rows wobbly 1000 1 10.2 30 59.8 0
	rows wobbly 1000 2 9.8 30 60.2 0
	uneven
	rows missing 10000 1 0 30 70 0
	rows gperftools 1000 1 30 10 60 0
	rows none 0 1 12 28 60 0
} >"$work/results"

score serial || fail 'score.awk failed'
# engine, asked, delivered, own clock, worst, mean, CV, rank, missing, verdict
has 'exact 1000 6\.0 0\.00 0\.00 0\.00 0\.0/ 0\.0 0 0 met'
has 'near 1000 6\.0 0\.20 0\.20 0\.13 0\.0/ 0\.0 0 0 met'
has 'elsewhere 1000 7\.0 6\.00 6\.00 3\.33 .* NOT MET'
has 'swapped 100 6\.0 30\.00 30\.00 20\.00 0\.0/ 0\.0 2 0' # no target below 1 kHz
has 'wobbly 1000 6\.0 0\.20 0\.20 0\.13 2\.8/ 1\.1 0 0 met'
has 'uneven 1000 [0-9.]* 0\.10 12\.10 .* 0 0 met' # the machine's error is not the profiler's
has 'missing 10000 6\.0 10\.00 10\.00 6\.67 0\.0/ 0\.0 0 1 NOT MET'
has 'gperftools 1000 6\.0 20\.00 20\.00 13\.33 0\.0/ 0\.0 1 0' # nor for others
has 'none 0 [0-9.]* 2\.00 2\.00 1\.33 0\.0/ 0\.0 0 0' # nor for the program alone
has 'cycles/signal no PMU here'
has 'swapped 100 \+0\.00 \+30\.00 -30\.00'

# Of the concurrent program, what varies matters.
sed -i 's/^serial/concurrent/' "$work/results"
score concurrent || fail 'score.awk failed'
has 'near 1000 .* met'
has 'wobbly 1000 .* 2\.8/ 1\.1 .* NOT MET'

# Nothing but engines that could not be used is an answer, too.
: >"$work/results"
score concurrent || fail 'score.awk failed on no results'
has 'cycles/signal no PMU here'
exit 0
