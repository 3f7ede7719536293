#!/bin/bash
# What descriptors were, against a program of which one number is eight things one after the other, and that keeps account of
# its waits for each: in SQL, --json and the report.  Times lie between what the program knows at least and at most.
. "$(dirname "$0")/lib.sh"
need_unsanitized

"$trace_record" -q -o t.trc -- "$here/truth_descriptors" >truth.tsv || fail "trace-record or the program failed: $?"
expect_sound t.trc

began="(SELECT value FROM trace_info WHERE key = 'start_monotonic_ns')"
sql t.trc "SELECT kind, coalesce(name, '-'), coalesce(own, '-'), coalesce(peer, '-'), waits, waited_ns,
	from_ns + $began, to_ns + $began FROM descriptors WHERE fd = 40 ORDER BY from_ns" >rows.tsv || fail 'no descriptors'
expect 'each is a row with its name, its addresses, its waits and its time' awk -F '\t' '
	NR == FNR { row[++n] = $0; next }
	{
		split(row[FNR], t)
		bad_name = t[1] != $1 || t[2] != $2 || t[3] != $3 || t[4] != $4 || t[5] != $5
		bad_time = t[6] < $6 || t[6] > $7 || t[7] < $8 || t[7] > $9 || t[8] < $10 || t[8] > $11
		printf "%-4s %s\n     %s\n", bad_name ? "NAME" : bad_time ? "TIME" : "ok", row[FNR], $0
		bad += bad_name || bad_time
	}
	END { exit bad || FNR != n || n != 8 }' rows.tsv truth.tsv

# A wait finds the row that was its descriptor then, and no other.
off=$(sql t.trc "SELECT count(*), count(DISTINCT d.from_ns), total(p.descriptor IS NOT d.descriptor) FROM parks AS p JOIN descriptors AS d
	ON d.fd = p.object AND p.start_ns BETWEEN d.from_ns AND d.to_ns WHERE p.object = 40 AND p.reason IN ('read', 'recv', 'flock', 'accept')")
expect 'each wait has the row of its time' test "$off" = '32	8	0.0'

# Of all descriptors, that by which the main thread connects too.
"$trace_analyze" --json t.trc >t.json || fail 'no --json'
sql_json t.trc t.json "SELECT value ->> 'kind', value ->> 'name', sum(value ->> 'waits'), sum(value ->> 'waited_ns')
	FROM json_each(JSON, '\$.descriptors') GROUP BY 1, 2 ORDER BY 1, 2" >json.tsv
sql t.trc 'SELECT kind, name, sum(waits), sum(waited_ns) FROM descriptors GROUP BY 1, 2 ORDER BY 1, 2' >sql.tsv
expect '--json has the same names, waits and times' diff sql.tsv json.tsv

"$trace_analyze" t.trc >report.txt || fail 'no report'
seen= first=
for what in recv:tcp flock:file accept:tcp; do
	while IFS=$'\t' read -r kind name _; do
		[ "$kind" = "${what#*:}" ] && grep -qF "${what%:*} $name" report.txt && seen="$seen ${what%:*}"
	done <truth.tsv
done
expect 'the report tells of each by its path or its peer' test "$seen" = ' recv flock accept'
# All are read at one place, a pipe and two files: the row has the name of the one that took longest.
while IFS=$'\t' read -r _ name _; do
	grep -qF "read $name and 2 others" report.txt && first=$name
done <truth.tsv
expect 'of those that are read at one place it names the first, and counts the others' test "$first"
