#!/bin/bash
# --diff: what it says of a trace and itself, of builds with other lines and addresses, of parts that became
# several times as slow, and of traces that cannot be compared.  tests/long/diff.sh counts how often it is right.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$here/truth_diff

lasts_ms=700
unjudged=
# record FILE PROGRAM SEED WHAT PERCENT [OPTION...]
record()
{
	local file=$1 program=$2 seed=$3 what=$4 percent=$5
	shift 5
	rm -f "$file"
	"$trace_record" -q "$@" -o "$file" -- "$program" "$seed" "$lasts_ms" "$what" "$percent" >/dev/null ||
		fail "$program $what: status $?"
}

# diff BEFORE NOW: rows, columns separated by tabs
diff_rows()
{
	"$trace_analyze" --diff "$1" "$2" --output tsv 2>err.txt | tail -n +2
}

# ---- nothing ----------------------------------------------------------------------------------
record a.trc "$program" 1 lock 0
"$trace_analyze" --diff a.trc a.trc >out.txt || fail "a trace and itself: status $?"
grep -q '^nothing changed beyond noise: [0-9]* rows were compared$' out.txt ||
	fail "a trace and itself: $(cat out.txt)"
head -n 1 out.txt | grep -q '^a.trc (.*) against a.trc (.*): the same build' || fail "$(head -n 1 out.txt)"
grep -q '^amounts are per order (before ' out.txt || fail "no tasks: $(cat out.txt)"
passed 'a trace is as itself'

# ---- another build ----------------------------------------------------------------------------
record b.trc "${program}_moved" 2 lock 0
"$trace_analyze" --diff a.trc b.trc >out.txt || fail "another build: status $?"
head -n 1 out.txt | grep -q 'another build' || fail "$(head -n 1 out.txt)"
diff_rows a.trc b.trc >rows.tsv
grep -q 'mutex orders.*waited' rows.tsv || fail "no row of the lock: $(cat rows.tsv)"
grep -q 'order_book truth_diff.c, mutex orders.held' rows.tsv || fail "no section: $(cat rows.tsv)"
awk -F '\t' '$6 == 0 || $7 == 0 { print; bad = 1 } END { exit bad }' rows.tsv ||
	fail 'rows of one build only'
passed 'rows of builds with other lines and addresses are found again'

# ---- something --------------------------------------------------------------------------------
# found WHAT AWK-CONDITION OPTION...: five times as slow; a machine with other work may hide it, from longer recordings less.
found()
{
	local what=$1 condition=$2 try
	shift 2
	stolen=0
	for try in 1 2 3 4 5; do
		lasts_ms=$((700 * try))
		measure record before.trc "$program" "1$try" "$what" 0 "$@"
		measure record after.trc "$program" "2$try" "$what" 400 "$@"
		lasts_ms=700
		diff_rows before.trc after.trc >rows.tsv
		awk -F '\t' "\$1 == 1 && \$8 > 1 && ($condition) { found = 1 } END { exit !found }" rows.tsv && {
			passed "$what: five times as slow is found (run $try)"
			return
		}
	done
	[ $stolen -gt 0 ] || fail "$what: not found: $(cat rows.tsv)"
	echo "$what: not found on a machine with other work: $(cat rows.tsv)"
	unjudged=yes
}
found lock '$4 == "held" && $3 ~ /order_book/'
found task '$2 == "wait" && $3 ~ /sleep at/ || $2 == "task" && ($4 == "mean" || $4 == "p50")'
found memory '$2 == "heap" && $3 ~ /order_keep/ && $4 == "in_use"' --heap=4096
found function '$2 == "cpu" && $3 ~ /^price truth_diff.c \(computer\)/' -F 1000

# ---- several before: each one's own figure, and what is compared with several only ---------------
# several [OPTION...]: three traces before, and one after with the program's account in account.tsv
several()
{
	local run
	for run in 1 2 3; do
		record "thread$run.trc" "$program" "3$run" thread 0 "$@"
	done
	rm -f now.trc
	"$trace_record" -q "$@" -o now.trc -- "$program" 40 700 thread 0 >account.tsv || fail "thread: status $?"
	diff_rows thread1.trc,thread2.trc,thread3.trc now.trc >rows.tsv
}
# as_counted MEASURE MOST: per task the flusher had as much CPU time as it says itself, at most so many times of it
as_counted()
{
	awk -F '\t' -v measure="$1" -v most="$2" '
		NR == FNR { if ($1 == "flushed_per_task_ns") ran = $2; next }
		$2 == "thread" && $3 == "flusher *" && $4 == measure { found = $7 >= 0.9 * ran && $7 <= most * ran }
		END { exit !found }' account.tsv rows.tsv ||
		fail "$1 of the flusher: $(cat account.tsv rows.tsv)"
}
several --no-sched
as_counted active 1000 # whoever has no proc is in no wait
passed 'how long threads were in no wait is told of threads of like names'
awk -F '\t' '{ n = split($13, each, " "); sum = squares = 0; for (i = 1; i <= n; i++) sum += each[i]
		for (i = 1; i <= n; i++) squares += (each[i] - sum / n) ^ 2
		between = sum ? sqrt(squares / (n - 1)) / (sum / n) : 0 }
	n != 3 || between - $14 > 1e-6 || $14 - between > 1e-6 { print; bad = 1 } END { exit bad || !NR }' rows.tsv ||
	fail 'the figures of each trace before, and how far they are apart'
"$trace_analyze" --diff thread1.trc now.trc --output tsv 2>err.txt | awk -F '\t' '$2 == "thread" && $4 == "active" { exit 1 }' ||
	fail 'one trace before says nothing of CPU time'
passed 'each trace before has its own figure'
record sched.trc "$program" 50 thread 0
if [ "$("$trace_analyze" sched.trc --sql 'SELECT count(*) > 0 FROM on_cpu' --output tsv | tail -n 1)" = 1 ]; then
	several
	as_counted ran 2 # time that a hypervisor took counts as well
	passed 'how long threads ran is told of threads of like names'
	record nosched.trc "$program" 51 thread 0 --no-sched
	"$trace_analyze" --diff thread1.trc,thread2.trc nosched.trc >out.txt || fail "without switch records: status $?"
	head -n 1 out.txt | grep -q "^recorded differently: thread[12].trc has the kernel's switch records, nosched.trc has none" ||
		fail "$(head -n 1 out.txt)"
	grep -q 'the machine was' out.txt && fail "a machine that is not known: $(cat out.txt)"
	passed 'switch records in some traces only are said first'
fi

# ---- memory: as much as the program says ----------------------------------------------------------
rm -f memory.trc
"$trace_record" -q --heap=4096 -o memory.trc -- "$program" 55 700 memory 0 >account.tsv || fail "memory: status $?"
diff_rows memory.trc memory.trc >rows.tsv
awk -F '\t' '
	NR == FNR { kept[$1] = $2; next }
	$2 == "heap" && $3 ~ /^order_keep/ { told[$4] = $7 }
	function near(a, b) { return a > 0.7 * b && a < 1.4 * b }
	END { exit !(near(told["in_use"], kept["kept_in_all_bytes"]) && near(told["allocated"], kept["kept_bytes"]) &&
		near(told["allocations"], kept["kept_bytes"] / 256)) }' account.tsv rows.tsv ||
	fail "memory: $(cat account.tsv rows.tsv)"
passed 'memory is as the program says'

# ---- what was recorded differently --------------------------------------------------------------
record all.trc "$program" 60 lock 0 --locks=all
record none.trc "$program" 61 lock 0 --locks=none
"$trace_analyze" --diff a.trc all.trc >out.txt || fail "--locks=all: status $?"
head -n 1 out.txt | grep -q '^recorded differently: all.trc has --locks=all, a.trc --locks=contended: how long locks were held is not compared$' ||
	fail "$(head -n 1 out.txt)"
diff_rows a.trc all.trc | awk -F '\t' '$4 == "held" { exit 1 }' || fail 'sections of other traces were compared'
grep -q 'all.trc has --locks=all' err.txt || fail "no warning: $(cat err.txt)"
"$trace_analyze" --diff a.trc none.trc >out.txt || fail "--locks=none: status $?"
head -n 1 out.txt | grep -q '^recorded differently: none.trc has --locks=none, a.trc --locks=contended: locks are not compared$' ||
	fail "$(head -n 1 out.txt)"
diff_rows a.trc none.trc | awk -F '\t' '$2 == "lock" || $2 == "section" { exit 1 }' || fail 'locks that were not recorded are gone'
record heap.trc "$program" 62 memory 0 --heap
"$trace_analyze" --diff a.trc heap.trc >out.txt || fail "--heap: status $?"
head -n 1 out.txt | grep -q '^recorded differently: heap.trc has samples of allocations, a.trc has none: memory is not compared$' ||
	fail "$(head -n 1 out.txt)"
passed 'what was recorded differently is said first, and not compared'

# ---- what cannot be compared ------------------------------------------------------------------
"$trace_analyze" --diff a.trc after.trc >out.txt || fail "without samples: status $?"
head -n 1 out.txt | grep -q '^incomplete: .*a.trc has no CPU samples' || fail "$(head -n 1 out.txt)"
head -c $(($(stat -c %s a.trc) / 2)) a.trc >cut.trc
"$trace_analyze" --diff cut.trc a.trc >out.txt 2>err.txt || fail "a trace that is cut: $(cat err.txt)"
head -n 1 out.txt | grep -q '^incomplete: .*cut.trc is cut off' || fail "$(head -n 1 out.txt)"
cp "$program" gone && record gone.trc ./gone 3 lock 0 && rm gone
"$trace_analyze" --diff gone.trc a.trc >out.txt || fail "without the program: status $?"
head -n 1 out.txt | grep -q '^incomplete: gone.trc has no names of functions.*only tasks and threads are compared' ||
	fail "$(head -n 1 out.txt)"
passed 'what is incomplete is said first'

# refused STATUS WORDS ARGUMENT...: one line
refused()
{
	local status=0 expected=$1 words=$2
	shift 2
	"$trace_analyze" "$@" >out.txt 2>err.txt || status=$?
	[ $status = "$expected" ] || fail "$*: status $status"
	grep -q -e "$words" err.txt || fail "$*: $(cat err.txt)"
	[ "$(wc -l <err.txt)" = 1 ] && [ ! -s out.txt ] || fail "$*: more than a line"
}
: >empty.trc
cp a.trc 'with, comma.trc'
refused 1 'nothere.trc: No such file' --diff nothere.trc a.trc
refused 1 'empty.trc: empty file' --diff a.trc,empty.trc b.trc
refused 1 'names the same trace twice' --diff a.trc,a.trc b.trc
refused 2 'the name of a trace is empty' --diff a.trc,,b.trc a.trc
refused 2 'the name of a trace is empty' --diff '' a.trc
refused 2 'at most 64 traces, not 65' --diff "$(seq -s, 1 65)" a.trc
refused 2 'no trace was named' --diff a.trc
refused 2 'label-filter' --label-filter a=b --diff a.trc b.trc
"$trace_analyze" --diff 'with\, comma.trc' b.trc >out.txt || fail "a comma in a name: status $?"
passed 'what makes no sense is refused in a line'
[ -z "$unjudged" ] || skip 'the machine has too much other work for some of what is slower'
