#!/bin/bash
# OpenTelemetry contexts that a program publishes: as labels of waits and samples, against what the
# program says that it did; pointers and records that nobody should believe; objects that are opened
# and closed; and a program that publishes none.
. "$(dirname "$0")/../../integration/lib.sh"
need_unsanitized
dir=$top_builddir/tests/recorder/guest

# sql TRACE QUERY: without a heading.
sql()
{
	"$trace_analyze" --output tsv --sql "$2" "$1" 2>err.txt | tail -n +2
}

# record NAME ARGUMENT...: NAME.trc, and what the program said in NAME.txt.
record()
{
	"$trace_record" -q "${options[@]}" -o "$1.trc" -- "${@:2}" >"$1.txt" ||
		fail "$1: the program ended with $?"
	"$trace_analyze" --check "$1.trc" >check.txt 2>&1 || fail "$1: $(cat check.txt)"
}

spans="FROM parks AS p JOIN labels AS t ON t.labels = p.labels AND t.key = 'trace_id'
	JOIN labels AS s ON s.labels = p.labels AND s.key = 'span_id'"

# Whoever drains reads the service's name some time after the program has begun.
name_is_read()
{
	[ -n "$(sql waits.trc "SELECT value FROM trace_info WHERE key = 'otel_service'")" ]
}

options=()
record waits "$dir/otel_program" waits "$work/read" &
until_true 120 name_is_read || fail "the service's name is not read"
touch read
wait $! || exit 1
grep -c '^span ' waits.txt >n.txt
[ "$(cat n.txt)" = 160 ] || fail "the program had $(cat n.txt) spans"
sql waits.trc "SELECT 'span', t.value, s.value, count(*) $spans WHERE p.reason = 'sleep'
	GROUP BY t.value, s.value" | tr '\t' ' ' | sort >had.txt
# A sleep of some 100 us may be over before it begins, where the machine is busy: it is no wait then.
grep '^span ' waits.txt | sort | diff - had.txt >diff.txt ||
	grep '^span ' waits.txt | sort -k 3 | join -j 3 - <(sort -k 3 had.txt) | awk '
		{ said += $4; had += $7; bad += $3 != $6 || $7 > $4 || $7 < $4 - 1 }
		END { exit bad || NR != 160 || had < 0.95 * said }' ||
	fail "spans of the program, and of the trace: $(head -5 diff.txt)"
outside=$(sql waits.trc "SELECT count(*) FROM parks WHERE reason = 'sleep' AND labels IS NULL
	AND thread <> (SELECT min(id) FROM threads)")
[ "outside $outside" = "$(grep ^outside waits.txt)" ] || fail "$outside waits have no span"
[ "$(sql waits.trc "SELECT count(*) $spans WHERE p.reason = 'mutex'")" = 4 ] ||
	fail 'waits for the mutex have no span'
passed '160 spans have their waits, and no other wait has a span'

in_spans=$(($(awk '{ n += $4 } END { print n + 0 }' had.txt) + 4))
[ "$(sql waits.trc "SELECT count(*), min(l.value), max(l.value) FROM parks AS p JOIN labels AS l
	USING (labels) WHERE l.key = 'service.name' AND p.reason IN ('sleep', 'mutex')" | tr '\t' ' ')" = "$in_spans checkout-ng checkout-ng" ] ||
	fail "the service: $(sql waits.trc "SELECT key, value, count(*) FROM labels GROUP BY 1, 2" | head -5)"
"$trace_analyze" --label-filter span_id=abcd000100000003 waits.trc >report.txt 2>&1
grep -q ' in 3 waits ' report.txt || fail "the report of one span: $(cat report.txt)"
passed 'the service has a name, and a report may be about one span'

# service_of TRACE: the services that waits with a span have, and how many such waits
service_of()
{
	sql "$1" "SELECT group_concat(DISTINCT l.value), count(*) > 0 FROM parks AS p JOIN labels AS l USING (labels)
		WHERE l.key = 'service.name'" | xargs
}

# Whether the program's last waits are in a snapshot of it.
asked()
{
	"$trace_record" -q --snapshot "$(pgrep -P $recorder)" -o asked.trc 2>err.txt &&
		[ "$(sql asked.trc "SELECT count(*) $spans WHERE p.reason = 'mutex'")" = 4 ]
}

rm -f read
"$trace_record" -q --flight --snapshot-on signal=USR1 --snapshot-on exit --snapshot-every 0s -o taken.trc -- \
	"$dir/otel_program" waits "$work/read" >flight.txt &
recorder=$!
until_true 120 asked || fail "--snapshot: $(cat err.txt)"
kill -USR1 "$(pgrep -P $recorder)"
until_true 120 test -s taken.1.trc || fail "the signal made no snapshot: $(ls)"
touch read
wait $recorder || fail "the program ended with $?"
for snapshot in asked.trc taken.1.trc taken.2.trc; do
	[ "$(service_of $snapshot)" = 'checkout-ng 1' ] || fail "$snapshot: the service is '$(service_of $snapshot)'"
done
passed 'snapshots have its name: asked for, at a signal, and of a program that has ended'

# A trace that is cut is read up to the cut.
for n in 500 2000 5000 9000; do
	head -c $n waits.trc >cut.trc
	"$trace_analyze" --output tsv --sql 'SELECT count(*) FROM parks WHERE labels IS NOT NULL' \
		cut.trc >cut.txt 2>&1 || [ $? -lt 128 ] || fail "cut at $n: $(cat cut.txt)"
done
passed 'traces that are cut in the middle'

TRC_OTEL=off record off "$dir/otel_program" waits
[ "$(sql off.trc 'SELECT count(*) FROM event_otel_context')" = 0 ] || fail 'TRC_OTEL=off'
record quiet "$dir/otel_program" quiet
[ "$(sql quiet.trc 'SELECT count(*) FROM event_otel_context')" = 0 ] || fail 'none published'
[ "$(sql quiet.trc "SELECT count(*) FROM parks WHERE reason = 'sleep'")" -ge 50 ] || fail 'no waits'
passed 'switched off, or nothing published: no event'

# Shares of what burn.txt says and of what samples say, as far as so many samples of such values can
# tell: three and a half standard errors, and 0.01 for what the program does between the spans.
shares_agree()
{
	sql burn.trc "SELECT coalesce(l.value, 'outside'), sum(s.value) / 1e6, sum(s.value * s.value / 1e12)
		FROM samples AS s LEFT JOIN labels AS l ON l.labels = s.labels AND l.key = 'span_id'
		GROUP BY 1 ORDER BY 1" >had.txt
	awk -v said="$(sed -n 's/^cpu_ms //p' burn.txt)" '
		BEGIN { split(said, ms, " "); all = ms[1] + ms[2] + ms[3] }
		{ had[NR] = $2; sum += $2; squares += $3 }
		END {
			for (i = 1; i <= 3; i++) {
				share = ms[i] / all
				off = had[i] / sum - share
				give = 0.01 + 3.5 * sqrt(share * (1 - share) * squares) / sum
				if (off < -give || off > give)
					bad = 1
			}
			exit bad || NR != 3 || sum < 0.9 * all || sum > 1.1 * all
		}' had.txt
}

# burns OPTION...: samples have the shares that the threads' own clocks say.
burns()
{
	options=("$@")
	runs=0
	while another_run; do
		measure record burn "$dir/otel_program" burn
		shares_agree || differs "$*: the program said $(cat burn.txt), samples say $(cat had.txt)"
	done
}

if "$trace_record" -q -o can.trc -F 1000 --sample-by signal true 2>err.txt; then
	burns -F 1000 --sample-by signal
fi
burns -e timer:4000000
passed 'samples in two spans and outside have their shares'

options=(-F 1000)
record garbage "$dir/otel_program" garbage
grep -q survived garbage.txt || fail "garbage: $(cat garbage.txt)"
[ "$(sql garbage.trc "SELECT DISTINCT l.value FROM parks JOIN labels AS l USING (labels)
	WHERE l.key = 'span_id' ORDER BY 1" | xargs)" = '0000000000000003 00000000000000ee' ] ||
	fail "garbage has spans: $(sql garbage.trc "SELECT value, count(*) FROM labels GROUP BY 1")"
passed 'pointers to nowhere and records that are not valid are no contexts'

for plugin in "$dir"/.libs/libotelplugin*.so; do
	case $plugin in
	*other*) continue ;;
	esac
	options=()
	record plugin "$dir/otel_opener" plugin "$plugin" "$dir/.libs/libotelpluginother.so"
	sql plugin.trc "SELECT s.value, count(*) $spans WHERE p.reason = 'sleep' GROUP BY 1 ORDER BY 1" |
		tr '\t' ' ' >had.txt
	printf '%s\n' '0000000000000055 5' '0000000000000066 5' '0000000000000077 10' |
		diff - had.txt >diff.txt || fail "$plugin: $(cat had.txt)"
	passed "an object that is opened, closed, and opened again: $(basename "$plugin")"
done
