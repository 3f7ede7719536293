#!/bin/bash
# Threads that wait for each other as for a lock, where no lock of a library is, are a finding: it costs what the program says,
# and its query leads to the waits.  A pool that makes its own work has no such finding, though its threads wake each other as well.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$here/truth_own_lock

told() { awk -F '\t' -v what="$1" '$1 == what { print $2 }' truth.txt; }

finding() { sql t.trc "SELECT $1 FROM findings WHERE kind = 'own_lock'"; }

record()
{
	rm -f t.trc
	measure "$trace_record" -q -o t.trc -- "$program" "$1" >truth.txt 2>err.txt || fail "$1: $(cat err.txt)"
	[ ! -s err.txt ] || fail "$1: $(cat err.txt)"
}

for kind in 'rows take_row.*woken by each other, for [0-9.]*% at give_row.*slept at pass' \
	'slots site_enter.*woken by each other, for [0-9.]*% at site_leave.*slept at pass' \
	'tasks take_row.*woken by each other.*slept at pass' 'named take_row.*woken by each other.*slept at pass' 'hot take_row.*woken by each other.*slept at pass' \
	'woken site_enter.*woken by each other, for [0-9.]*% at site_leave_to_all'; do
	words=${kind#* } kind=${kind%% *}
	runs=0
	while another_run; do
		record "$kind"
		[ "$(finding kind)" = own_lock ] ||
			differs "$kind: $(sql t.trc 'SELECT kind, sentence FROM findings')" || continue
		off=$(($(finding cost_ns) - $(told cost)))
		[ ${off#-} -le $(($(told cost) / 20)) ] ||
			differs "$kind: $(finding cost_ns) instead of $(told cost)" || continue
		[ "$(sql t.trc 'SELECT kind FROM findings WHERE id = 1')" = own_lock ] ||
			differs "$kind is not first: $(sql t.trc 'SELECT kind, sentence FROM findings')" || continue
		finding "sentence || ' ' || why" | grep -q "$words" || fail "$kind: $(finding 'sentence, why')"
		[ "$(sql t.trc "SELECT sum(waited_ns) FROM ($(finding sql))")" = "$(finding cost_ns)" ] ||
			fail "$kind: not its cost: $(finding sql)"
		[ "$(sql t.trc "SELECT count(*) FROM ($(finding sql))")" = "$(told waits)" ] ||
			fail "$kind: not its waits: $(finding sql)"
		echo "$kind: $(finding sentence); $(finding why)"
	done
done
record hot
! "$trace_analyze" t.trc | grep 'idle: [0-9]* threads' || fail 'who waits for a row nearly always is idle'
passed 'rows and slots that threads wait for'

for kind in pool meet neighbours lock_free; do
	record $kind
	[ -z "$(finding kind)" ] || fail "$kind: $(finding 'sentence, why')"
	[ "$(told waits)" -ge 100 ] || fail "$kind: its threads hardly waited: $(cat truth.txt)"
done
passed 'a pool that makes its own work is no lock, nor is a barrier, are neighbours, or a queue without locks'
