#!/bin/bash
# --diff: what it says of a trace and itself, of builds with other lines and addresses, of parts that became
# several times as slow, and of traces that cannot be compared.  tests/long/diff.sh counts how often it is right.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$here/truth_diff

# record FILE PROGRAM SEED WHAT PERCENT [OPTION...]
record()
{
	local file=$1 program=$2 seed=$3 what=$4 percent=$5
	shift 5
	rm -f "$file"
	"$trace_record" -q "$@" -o "$file" -- "$program" "$seed" 700 "$what" "$percent" >/dev/null ||
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
# found WHAT AWK-CONDITION OPTION...: five times as slow; a machine with other work may hide it.
found()
{
	local what=$1 condition=$2 try
	shift 2
	for try in 1 2 3; do
		record before.trc "$program" "1$try" "$what" 0 "$@"
		record after.trc "$program" "2$try" "$what" 400 "$@"
		diff_rows before.trc after.trc >rows.tsv
		awk -F '\t' "\$1 == 1 && \$8 > 1 && ($condition) { found = 1 } END { exit !found }" rows.tsv && {
			passed "$what: five times as slow is found (run $try)"
			return
		}
	done
	fail "$what: not found: $(cat rows.tsv)"
}
found lock '$4 == "held" && $3 ~ /order_book/'
found task '$2 == "wait" && $3 ~ /sleep at/ || $2 == "task" && $4 == "mean"'
found function '$2 == "cpu" && $3 ~ /^price truth_diff.c \(computer\)/' -F 1000

# ---- what cannot be compared ------------------------------------------------------------------
"$trace_analyze" --diff a.trc after.trc >out.txt || fail "without samples: status $?"
head -n 1 out.txt | grep -q '^incomplete: .*a.trc has no CPU samples' || fail "$(head -n 1 out.txt)"
head -c $(($(stat -c %s a.trc) / 2)) a.trc >cut.trc
"$trace_analyze" --diff cut.trc a.trc >out.txt 2>err.txt || fail "a trace that is cut: $(cat err.txt)"
head -n 1 out.txt | grep -q '^incomplete: .*cut.trc is cut off' || fail "$(head -n 1 out.txt)"
cp "$program" gone && record gone.trc ./gone 3 lock 0 && rm gone
"$trace_analyze" --diff gone.trc a.trc >out.txt || fail "without the program: status $?"
head -n 1 out.txt | grep -q '^incomplete: gone.trc has no names of functions.*only tasks are compared' ||
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
