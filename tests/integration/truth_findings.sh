#!/bin/bash
# Programs with one fault each: the first finding is that fault, costs what the program says that it cost,
# says where, and its query leads to the rows.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$here/truth_findings

told() { awk -F '\t' -v what="$1" '$1 == what { print $2 }' truth.txt; }

# finding KIND COLUMN
finding() { sql t.trc "SELECT $2 FROM findings WHERE kind = '$1'"; }

# near WHAT GOT WANTED PERCENT
near()
{
	local off=$(($2 - $3))
	[ ${off#-} -le $(($3 * $4 / 100 + 2000000)) ] ||
		differs "$1: $2 instead of $3, give or take $4 %"
}

# What other programs on a busy machine take of the processors is a fault of these programs, as it were: it
# counts as stolen.
# record KIND [OPTION...]
record()
{
	local off_ms
	rm -f t.trc
	measure "$trace_record" -q "${@:2}" -o t.trc -- "$program" "$1" >truth.txt 2>err.txt ||
		fail "$1: $(cat err.txt)"
	[ ! -s err.txt ] || fail "$1: $(cat err.txt)"
	off_ms=$(sql t.trc "SELECT coalesce(sum(next_ns - end_ns), 0) / 1000000 FROM (SELECT end_ns, preempted,
			lead(start_ns) OVER (PARTITION BY thread ORDER BY start_ns) AS next_ns FROM on_cpu)
		WHERE preempted")
	[ "$1" = lock_preempted ] || [ "$1" = procs ] || stolen=$((stolen + off_ms / 10))
	[ $runs -lt $runs_max ] || [ $stolen -lt 3 ] || skip "the machine is too busy: $1 lost $off_ms ms"
}

# costs KIND PERCENT: there is one such finding, and its cost is the program's.
costs()
{
	local cost
	cost=$(finding "$1" cost_ns)
	[ "$(echo "$cost" | wc -w)" = 1 ] || {
		differs "$1: $(sql t.trc 'SELECT kind, sentence FROM findings')"
		return
	}
	near "$1" "$cost" "$(told cost)" "$2"
}

# is_first KIND FUNCTION: it leads the list, and its words tell where.
is_first()
{
	[ "$(sql t.trc 'SELECT kind FROM findings WHERE id = 1')" = "$1" ] ||
		differs "$1 is not first: $(sql t.trc 'SELECT kind, sentence FROM findings')" || return
	finding "$1" 'sentence, why' | grep -q "$2" ||
		fail "$1: without $2: $(finding "$1" 'sentence, why')"
}

# adds_up KIND: the waits that its query shows are its cost, 0 ns off.
adds_up()
{
	local query
	query=$(finding "$1" sql)
	[ "$(sql t.trc "SELECT sum(waited_ns) FROM ($query)")" = "$(finding "$1" cost_ns)" ] ||
		fail "$1: not its cost: $query"
}

# leads_to_all KIND: the waits that its query shows are its cost at least.
leads_to_all()
{
	local query
	query=$(finding "$1" sql)
	[ "$(sql t.trc "SELECT sum(waited_ns) FROM ($query)")" -ge "$(finding "$1" cost_ns)" ] ||
		fail "$1: less than its cost: $query"
}

leads_somewhere()
{
	[ "$(sql t.trc "$(finding "$1" sql)" | wc -l)" -gt 0 ] || fail "$1: no rows: $(finding "$1" sql)"
}

runs=0
while another_run; do
	for kind in lock:hold_working lock_blocking:pass; do
		record ${kind%:*}
		costs ${kind%:*} 3 && is_first ${kind%:*} ${kind#*:}
		[ -n "$differed" ] || adds_up ${kind%:*}
	done
done
passed 'a lock whose holder runs, and one whose holder sleeps'

# One cost, though there are four locks and two functions.
runs=0
while another_run; do
	record lock_table
	costs lock_blocking 5 && is_first lock_blocking 'table.*and 3 others at 2 places'
	[ -n "$differed" ] || adds_up lock_blocking
done
passed 'locks that are alike are one finding'

# What the neighbours of the slow stage wait for their mutex, or between signal and running, is not its work.
runs=0
while another_run; do
	record slow_stage
	costs slow_stage 20 && is_first slow_stage packer
	[ -n "$differed" ] || leads_somewhere slow_stage
done
passed 'a slow stage of a pipeline'

runs=0
while another_run; do
	record barrier_imbalance
	costs barrier_imbalance 5 && is_first barrier_imbalance worker-1
	[ -n "$differed" ] || leads_somewhere barrier_imbalance
done
passed 'a thread that comes late to a barrier'

runs=0
while another_run; do
	record late_thread
	costs late_thread 5 && is_first late_thread worker-3
	[ -n "$differed" ] || leads_somewhere late_thread
done
passed 'a thread that goes on when its pool has ended'

# The others wait for what it writes; from when they are woken on, and before it begins, they wait for something else.
runs=0
while another_run; do
	record waited_for
	costs waited_for 8 && is_first waited_for 'worker-3.* slept at pass'
	[ -n "$differed" ] || leads_somewhere waited_for
done
passed 'a thread that writes for all others'

for kind in even_stages:slow_stage even_barrier:barrier_imbalance handed_out:waited_for; do
	runs=0
	while another_run; do
		record ${kind%:*}
		[ -z "$(finding ${kind#*:} kind)$(finding late_thread kind)" ] ||
			differs "${kind%:*}: $(sql t.trc 'SELECT kind, sentence FROM findings')"
	done
done
passed 'stages and threads with equal work, and one that hands out work, are no finding'

# That the threads have one processor is the larger cost.
runs=0
while another_run; do
	record lock_preempted
	[ -z "$(finding procs_taken kind)" ] || stolen=$((stolen + 1))
	costs lock_preempted 3 && is_first procs 'threads on \(1 of 2 procs\|[12] procs*\) waited'
	[ -n "$differed" ] || { adds_up lock_preempted && leads_somewhere procs; }
done
passed 'a lock whose holder has no processor'

# A program that has less than its one processor says so, and costs as much.
runs=0
while another_run; do
	record procs
	[ -z "$(finding procs_taken kind)" ] || stolen=$((stolen + 1))
	costs procs 3 && is_first procs '3 threads on \(1 of 2 procs\|[12] procs*\) waited'
	[ -n "$differed" ] || leads_somewhere procs
done
passed 'more threads than processors'

# Nobody holds the lock for long, but each time who is woken for it has to come first; with less than two processors to
# itself it has none.  A convoy that breaks up says nothing.
for ((try = 1; try <= 5; try++)); do
	runs=0
	record lock_convoy
	[ "$(told handovers)" -ge 1000 ] && break
done
if [ $try -le 5 ]; then
	kind=$(sql t.trc "SELECT kind FROM findings WHERE kind IN ('lock_convoy', 'lock_procs')")
	[ -n "$kind" ] || fail "no convoy: $(sql t.trc 'SELECT kind, sentence FROM findings')"
	finding "$kind" 'sentence, why' | grep -q 'site_lock_handed.*nobody held the lock' ||
		fail "$kind: $(finding "$kind" 'sentence, why')"
	stolen=1
	near "$kind" "$(finding "$kind" cost_ns)" "$(told cost)" 10 || fail "the cost of $kind"
	adds_up "$kind"
	near 'hand-overs' "$(($(sql t.trc 'SELECT max(convoy_handovers) FROM locks') * 1000000))" \
		"$(($(told handovers) * 1000000))" 3 || fail 'hand-overs'
	passed "a lock convoy ($kind)"
else
	echo 'a lock convoy is not judged: it broke up in all runs'
fi

runs=0
while another_run; do
	record interpreter_lock
	costs interpreter_lock 5 && is_first interpreter_lock "Python's global interpreter lock"
	[ -n "$differed" ] || leads_to_all interpreter_lock
done
passed "an interpreter's lock"

# Who held Ruby's lock and who waited, by their names: worker-0 keeps it, and the others wait.
runs=0
while another_run; do
	record ruby_lock
	costs interpreter_lock 5 && is_first interpreter_lock "Ruby's global VM lock" || continue
	leads_to_all interpreter_lock
	finding interpreter_lock why | grep -qE '^held by worker-0 \([0-9]+\) for (9[0-9]|100)[.0-9]*% of it.*; waited for by worker-[12] \([0-9]+\) for [0-9.]+% of it, worker-[12] ' ||
		fail "who held it: $(finding interpreter_lock why)"
	"$trace_analyze" t.trc | sed -n '/^Waiting for other threads/,/^$/p' | grep -q '^ *gvl_acquire_common ' ||
		fail "who waits for it is idle: $("$trace_analyze" t.trc)"
done
passed "Ruby's lock, who held it, and who waited for it"

runs=0
while another_run; do
	record one_worker
	costs one_worker 5 && is_first one_worker worker-0
	[ -n "$differed" ] || leads_somewhere one_worker
done
passed 'one worker of a pool of four'

# The thread's processor time has the switches themselves, too, which nobody's time on a processor has.
runs=0
while another_run; do
	record poll_loop
	costs poll_loop 30 && is_first poll_loop pass
	[ -n "$differed" ] || leads_somewhere poll_loop
done
passed 'a thread that asks again and again'

# What returns at once is no wait: only samples tell.
runs=0
while another_run; do
	record spins -F 250
	costs poll_loop 30 && is_first poll_loop site_spin
	[ "$(sql t.trc "$(finding poll_loop sql)" | grep -c site_spin)" -ge 20 ] || differs 'the samples of a thread that spins'
	finding poll_loop sentence | grep -q '% ±[0-9.]* of its CPU time' || differs 'how far its share may be off'
done
passed 'a thread that spins'

record seldom_looks -F 250
[ -z "$(finding poll_loop kind)" ] || fail "who works spins: $(finding poll_loop sentence)"
passed 'who looks now and then, and works, does not spin'

# Who did not come to wait before the next waking is not in the herd.
runs=0
while another_run; do
	record herd
	n=$(finding herd sentence | sed 's/ of .*//; s/,//g')
	near 'wakings in vain' "$((${n:-0} * 1000000))" "$(($(told in_vain) * 1000000))" 10 && leads_somewhere herd
done
passed 'many woken for the work of one'

runs=0
while another_run; do
	record task_tail
	costs task_tail 5 && is_first task_tail 'slept at pass'
	[ -n "$differed" ] || leads_somewhere task_tail
done
passed 'tasks that take far longer than the others'

# On a busy machine other programs have the processors, which is said, and is no fault of these programs.  Where
# threads wait for most of their lives for work, that is what there is to say.
declare -A nothing=([nothing]='nothing stands out' [even_locks]='nothing stands out'
	[even_pool]='\(nothing stands out\|2 threads waited .* for cond\)' [server]='1 thread waited .* for read pipe:')
for kind in nothing even_locks even_pool server; do
	runs=0
	while another_run; do
		record $kind
		kinds=$(sql t.trc "SELECT kind FROM findings WHERE kind NOT IN ('procs_taken', 'lock_procs')")
		[ "${kinds:-nothing}" = nothing ] || differs "$kind: $(sql t.trc 'SELECT * FROM findings')" || continue
		[ -z "$kinds" ] || finding nothing sentence | grep -q "^${nothing[$kind]}" ||
			fail "$kind: $(finding nothing sentence)"
	done
	passed "$kind: a program without a fault has none"
done
