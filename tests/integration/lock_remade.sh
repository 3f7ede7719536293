#!/bin/bash
# Locks that are made where others were: with samples of allocations they are told apart in the order of locks, without
# they are one.
. "$(dirname "$0")/lib.sh"
need_no_thread_sanitizer
need_unsanitized

circles()
{
	sql "$1" 'SELECT count(DISTINCT deadlock) FROM lock_order'
}
"$trace_record" -q --locks=all --heap=1 -o heap.trc -- "$here/lock_remade" >out.txt || fail "the program: status $?"
grep -q '^swapped$' out.txt || skip 'malloc gave other memory'
expect_sound heap.trc
[ "$(circles heap.trc)" = 0 ] || fail "a circle of locks of which one was gone: $(sql heap.trc 'SELECT * FROM lock_order')"
[ "$(sql heap.trc "SELECT count(*) FROM lock_order WHERE place(taken_stack) LIKE 'take_both%'")" = 2 ] ||
	fail "the order of both pairs: $(sql heap.trc 'SELECT * FROM lock_order')"
passed 'locks that lay at one place one after the other are two'
# Where a lock lives: the place that allocated its memory, in the tables of objects and of locks.
while IFS=$'\t' read -r function address; do
	for query in "SELECT place(allocated_at) FROM objects WHERE address = $address" "SELECT place(allocated_at) FROM locks WHERE object = $address"; do
		[[ $(sql heap.trc "$query") == "$function lock_remade.c:"* ]] || fail "allocated by $function: $query: $(sql heap.trc "$query")"
	done
	passed "the lock at $address was allocated by $function"
done < <(grep '_make	' out.txt)
# What nothing tells apart is one, as docs/why.md says.
"$trace_record" -q --locks=all -o plain.trc -- "$here/lock_remade" >out.txt || fail "the program: status $?"
grep -q '^swapped$' out.txt && [ "$(circles plain.trc)" != 1 ] && fail "without samples: $(sql plain.trc 'SELECT * FROM lock_order')"
passed 'without samples of allocations they are one'
