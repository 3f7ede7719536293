#!/bin/bash
# What a wait's descriptor was: of all kinds, of numbers that are used again, in a forked child, and
# where the program forbids the system calls that this takes.  The program says what it waited for.
. "$(dirname "$0")/../../integration/lib.sh"
need_unsanitized
program=$top_builddir/tests/recorder/guest/descriptors_program

# waits TRACE: the waits of its first thread, in order, as the program says them.
waits()
{
	"$trace_analyze" --output tsv "$1" --sql "SELECT reason, object, coalesce(descriptor, '?')
		FROM event_wait WHERE reason IN ('read', 'recv', 'accept', 'epoll', 'flock')
		AND thread = (SELECT min(id) FROM threads) ORDER BY ts_ns" 2>/dev/null |
		tail -n +2 | tr '\t' ' '
}

# agrees TRACE FILE: the program's words and the trace's.
agrees()
{
	waits "$1" >waits.txt
	diff "$2" waits.txt >diff.txt || fail "$1: what the program said, and what was recorded:
$(cat diff.txt)"
	"$trace_analyze" --check "$1" >check.txt 2>&1 || fail "$1: $(cat check.txt)"
}

mkdir files
"$trace_record" -q --follow -o all.trc -- "$program" "$work/files" >said.txt ||
	fail "the program ended with $?"
child=$(sed -n 's/^child //p' said.txt)
parent=$(ls all.*.trc | grep -v "^all.$child.trc$")
# The child spoke last.
grep -v "^child" said.txt | head -n -1 >parent.txt
tail -n 1 said.txt >child.txt
agrees "$parent" parent.txt
passed "$(wc -l <parent.txt) waits have the names of their descriptors"
agrees "all.$child.trc" child.txt
passed "a forked child's, too"

for call in statx getpeername; do
	"$trace_record" -q -o $call.trc -- "$program" "$work/files" $call >said.txt ||
		fail "a program that forbids $call ended with $?"
	agrees $call.trc said.txt
	passed "no $call where the program forbids it"
done

# In a snapshot waits that are still in progress have theirs, too, found from outside.
"$trace_record" -q --flight --snapshot-on signal=USR1 -o stuck.trc -- "$program" "$work/files" stuck "$work/stuck.1.trc" >said.txt ||
	fail "the program whose threads are stuck ended with $?"
"$trace_analyze" --output tsv stuck.1.trc --sql "SELECT reason, object, coalesce(descriptor, '?') FROM threads_now
	WHERE reason IN ('read', 'recv', 'accept')" 2>/dev/null | tail -n +2 | tr '\t' ' ' | sort >waits.txt
sort said.txt | diff - waits.txt >diff.txt || fail "waits in progress, as said and as seen: $(cat diff.txt)"
passed "$(wc -l <waits.txt) waits in progress have the names of their descriptors"
