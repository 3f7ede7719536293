#!/bin/bash
# compare_test.sh - that lib.sh tells a suite's differences, and only those: it is what every long
# suite relies on, and a comparison that finds nothing looks like a recorder that does no harm.
set -u
: "${top_srcdir:?run through make check}" "${top_builddir:?}"
suite=made_up
work=$(mktemp -d)/made_up
mkdir -p "$work"
trap 'rm -rf "$(dirname "$work")"' EXIT
export suite work LONG_SEED=1 LONG_SECONDS=60 LONG_MODES='record all'
. "$top_srcdir/tests/long/lib.sh"

# Run number of this unit in this mode.
count_run()
{
	echo >>"$work/ran.$1.$2"
	wc -l <"$work/ran.$1.$2"
}

run_unit()
{
	local n
	n=$(count_run "$1" "$2")
	: >"$3"
	case $2 in
	steady) printf 'steady 1\tok\nsteady 2\tnot ok\n' ;;
	changed) printf 'changed\t%s\n' "$([ "$1" = all ] && echo 1 || echo 0)" ;;
	absent) [ "$1" = record ] || printf 'absent\t0\n' ;;
	once) printf 'once\t%s\n' "$([ "$1" = all ] && [ "$n" = 1 ] && echo 1 || echo 0)" ;;
	flaky) printf 'flaky\t%s\n' "$([ "$1" = plain ] && [ "$n" = 1 ] && echo 0 || echo 1)" ;;
	esac
}

# has LINE: it has been said, just so.
has()
{
	grep -qxF -- "$1" "$work/said" && return
	echo "not said: $1"
	sed 's/^/    /' "$work/said"
	exit 1
}

printf '%s\n' steady changed absent once flaky | compare >"$work/said" && {
	echo 'differences are no failure'
	exit 1
}
has 'made_up: DIFFERS in all: changed: plain 0, recorded 1, 3 of 3 runs'
has 'made_up: DIFFERS in record: absent: plain 0, recorded absent, 3 of 3 runs'
has 'made_up: once in all: once: plain 0, recorded 1, 1 of 3 runs'
[ "$(grep -c -E 'DIFFERS|once in' "$work/said")" = 3 ] || {
	cat "$work/said"
	exit 1
}
grep -q '5 of 5 units in the order of seed 1' "$work/said" || exit 1
grep -q '^made_up: plain: 6 tests: ' "$work/said" || exit 1

# What is the same everywhere passes; nothing run does not.
echo steady | compare >"$work/said" || exit 1
has 'made_up: record: 2 tests: 1 x ok, 1 x not ok; 0 differ, 0 did once'
(compare </dev/null) >"$work/said" && exit 1

# A command that leaves processes behind and one that does not end, are ended.
limited 1 "$work/log" sh -c 'sleep 1234 & exec sleep 1234' && exit 1
pgrep -x -f 'sleep 1234' && exit 1
limited 5 "$work/log" sh -c 'exit 3'
[ $? = 3 ]
