# figures.sh - how run.sh reads figures, and prints them beside their targets.
# shellcheck shell=bash
#
# SPDX-License-Identifier: Apache-2.0

# figure WHAT VALUE UNIT [OP TARGET]: VALUE is a number, or a median and both quartiles, separated by
# spaces; OP is <= or >=; without it the value is only told.
figure()
{
	local verdict='' target='' spread='' value low high
	read -r value low high <<<"$2"
	[ -z "$high" ] || spread="($low to $high)"
	if [ $# = 5 ]; then
		target="$4 $5"
		verdict=$(awk -v v="$value" -v op="$4" -v t="$5" 'BEGIN {
			print ((op == "<=" ? v <= t : v >= t) ? "met" : "NOT MET") }')
	fi
	printf '%-58s %14s %-10s %-12s %-8s %s\n' "$1" "$value" "$3" "$target" "$verdict" "$spread"
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$value" "$3" "$target" "$verdict" "$low" "$high" \
		>>"$results"
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

# quartiles of numbers, one a line: the median and both, separated by spaces
quartiles()
{
	sort -g | awk '
		function at(q, i, f, x) {
			i = 1 + q * (NR - 1); f = i - int(i)
			x = v[int(i)] + (f ? f * (v[int(i) + 1] - v[int(i)]) : 0)
			return sprintf(x < 1000 && x > -1000 ? "%.5g" : "%.0f", x)
		}
		{ v[NR] = $1 }
		END { if (NR) print at(0.5), at(0.25), at(0.75) }'
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

# spread_of NAME FILE...: the same, with quartiles
spread_of()
{
	local name=$1
	shift
	cat "$@" | awk -F '\t' -v name="$name" '$1 == name { print $2 }' | quartiles
}

# worst_of NAME FILE...: the largest
worst_of()
{
	local name=$1
	shift
	cat "$@" | awk -F '\t' -v name="$name" '$1 == name && (!n++ || $2 > most) { most = $2 } END { print most }'
}
