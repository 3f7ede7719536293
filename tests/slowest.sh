#!/bin/sh
# slowest.sh [-a] LOG... - the slowest tests by what their logs say (timed.sh), and what all took; with -a all,
# in columns for programs: elapsed seconds, CPU seconds, name.
all=no
[ "${1-}" != -a ] || { all=yes; shift; }
for log; do
	[ ! -s "$log" ] || awk -v name="${log%.log}" '
		/^# took [0-9]+ s, [0-9.]+ s of CPU$/ { elapsed = $3; cpu = $5 }
		END { if (elapsed != "") print elapsed, cpu, name }' "$log"
done | sort -rn -k1,1 -k2,2 | if [ $all = yes ]; then cat; else awk '
	NR == 1 { print "The slowest tests: elapsed seconds, CPU seconds, name" }
	NR <= 20 { printf "%8d %8.1f  %s\n", $1, $2, $3 }
	{ elapsed += $1; cpu += $2 }
	END { if (NR) printf "%8d %8.1f  all %d\n", elapsed, cpu, NR }'
fi
