# figures.sh - how run.sh reads figures, and prints them beside their targets.
# shellcheck shell=bash
#
# SPDX-License-Identifier: Apache-2.0

# figure WHAT VALUE UNIT [OP TARGET]: OP is <= or >=; without it the value is only told.
figure()
{
	local verdict='' target=''
	if [ $# = 5 ]; then
		target="$4 $5"
		verdict=$(awk -v v="$2" -v op="$4" -v t="$5" 'BEGIN {
			print ((op == "<=" ? v <= t : v >= t) ? "met" : "NOT MET") }')
	fi
	printf '%-58s %14s %-10s %-12s %s\n' "$1" "$2" "$3" "$target" "$verdict"
	printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$target" "$verdict" >>"$results"
}

# value FILE NAME: the second column of the row NAME.
value()
{
	awk -F '\t' -v name="$2" '$1 == name { print $2 }' "$1"
}

# median of numbers, one a line
median()
{
	sort -g | awk '{ v[NR] = $1 } END {
		if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# divide A B DIGITS
divide()
{
	awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { printf "%.*f\n", d, b ? a / b : 0 }'
}

# median_of NAME FILE...
median_of()
{
	local name=$1
	shift
	cat "$@" | awk -F '\t' -v name="$name" '$1 == name { print $2 }' | median
}
