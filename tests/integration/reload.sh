#!/bin/bash
# Plugins that are loaded and unloaded all the time, two in turn at one address, under labels that
# say which one runs: each sample has the name of the one that ran, whoever samples, and the last ones
# have names as well as the first.
. "$(dirname "$0")/lib.sh"
need_unsanitized
plugin=$here/.libs/libreload

# Samples under a label: with the function that ran, with the other one, and these together with those
# whose innermost frame has no name.  Where libc or the recorder ran under the label is not counted: how much
# that is, is a matter of the machine.
count()
{
	"$trace_analyze" --output tsv --sql "
		WITH named AS (SELECT f.stack AS stack, max(n.function = 'reload_work') AS work,
				max(n.function = 'reload_other') AS other,
				max(f.depth = 0 AND n.function IS NULL) AS nameless
			FROM stack_frames f JOIN frames n ON n.id = f.frame GROUP BY f.stack),
		labelled AS (SELECT l.value AS ran, s.stack AS stack, s.ts_ns AS ts_ns
			FROM samples s JOIN labels l ON l.labels = s.labels WHERE l.key = 'in')
		SELECT coalesce(sum((ran = 'work' AND work) OR (ran = 'other' AND other)), 0),
			coalesce(sum((ran = 'work' AND other) OR (ran = 'other' AND work)), 0), count(*)
		FROM (SELECT * FROM labelled JOIN named USING (stack)
			WHERE coalesce(work, 0) OR coalesce(other, 0) OR nameless) $1" t.trc | tail -n 1
}

# reloaded WHAT ROUNDS LOOPS OPTION...
reloaded()
{
	local what=$1 right wrong all
	rm -f t.trc
	timeout 300 "$trace_record" -q -o t.trc "${@:4}" -- "$here/reload" "$2" "$3" \
		"${plugin}work.so" "${plugin}other.so" >addresses.txt 2>err.txt ||
		fail "$what: status $?: $(cat err.txt)"
	[ "$(cat addresses.txt)" = 1 ] || echo "$what: they lay at different addresses"
	"$trace_analyze" --check t.trc >check.txt 2>&1 || fail "$what: $(cat check.txt)"
	read -r right wrong all < <(count '')
	[ "$all" -ge 20 ] || fail "$what: only $all samples"
	[ "$wrong" = 0 ] || fail "$what: $wrong of $all samples have the other's name"
	passed "$what: none of $all samples has the other's name"
	[ $((right * 10)) -ge $((all * 8)) ] || fail "$what: only $right of $all have a name"
	passed "$what: $right of $all have their own"
	read -r right wrong all < <(count 'WHERE ts_ns > (SELECT max(ts_ns) * 3 / 4 FROM samples)')
	[ "$all" -gt 0 ] && [ $((right * 10)) -ge $((all * 8)) ] ||
		fail "$what: of the last only $right of $all have a name"
	passed "$what: and so have the last: $right of $all"
	"$trace_analyze" t.trc >report.txt || fail "$what: the report: $?"
	! grep 'there was no room' report.txt || fail "$what: something had no room"
	passed "$what: there was room for all"
}

# More often than the table of modules has entries.
reloaded 'by signal' 800 200000 -e timer -F 1000 --sample-by signal
if "$trace_record" -q -o k.trc -e cpu-clock --sample-by kernel true 2>err.txt; then
	reloaded 'by the kernel' 800 400000 -e cpu-clock -F 1000 --sample-by kernel
else
	echo "not by the kernel here: $(cat err.txt)"
fi

# While one thread looks at what is loaded others unload it.  In dlopen() no thread waits for room.
for copy in a b c d; do
	cp "${plugin}work.so" $copy.so
done
"$trace_record" -q -o t.trc -- "$here/reload" 10000 1 ./a.so ./b.so ./c.so ./d.so >out.txt 2>&1 ||
	fail "four threads: status $?: $(cat out.txt)"
accounted t.trc 'four threads'
passed 'four threads that reload plugins at once'
