#!/bin/bash
# Where a program has a malloc() of its own nothing of its memory is seen: whoever asks for that is
# told, and so is whoever reads the trace.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$here/own_malloc

# logged TRACE: what trc says in it
logged()
{
	"$trace_analyze" --output tsv --sql \
		"SELECT message FROM logs WHERE category = 'trc'" "$1" | tail -n +2
}

"$program" own.trc >said.txt || fail "status $?"
grep -q '^made: 0$' said.txt || fail "$(cat said.txt)"
grep -q '^started: -95, .*own_malloc, which comes before the recorder' said.txt ||
	fail "a recorder of memory: $(cat said.txt)"
grep -q '^traced: 0, .*the heap is not sampled: .*own_malloc' said.txt ||
	fail "a trace: $(cat said.txt)"
passed 'recorders of memory are refused, and a trace without it is told of'
logged own.trc | grep -q '^the heap is not sampled: .*own_malloc' || fail 'nothing in the trace'
passed 'the trace tells it'

expect 'recorded by trace-record' "$trace_record" -q --heap -o dump.trc -- "$program"
logged dump.trc | grep -q '^the heap is not sampled: .*own_malloc' ||
	fail 'nothing in the trace of trace-record'
passed "trace-record's trace tells it"
"$trace_record" -q --heap -o dump.trc -- "$here/truth_heap" 1 >said.txt || fail "status $?"
[ -z "$(logged dump.trc)" ] || fail "of libc's malloc: $(logged dump.trc)"
passed "nothing is told of libc's malloc"

# Another in front that passes on to the recorder's is none: the recorder's own that is preloaded, too.
any=$here/any_malloc
# accepted WHAT COMMAND...
accepted()
{
	local what=$1
	shift
	"$@" >said.txt 2>err.txt || fail "$what: status $?: $(cat err.txt)"
	grep -qx 'started: 0' said.txt || fail "$what: a recorder of memory: $(cat said.txt)"
	passed "$what: memory is recorded"
}
accepted 'nothing in front' "$any" any.trc
accepted 'a malloc() in front that passes on' \
	env LD_PRELOAD="$here/.libs/libfrontmalloc.so" "$any" any.trc
[ -z "$(logged any.trc)" ] || fail "in front: $(logged any.trc)"
accepted 'a program that is recorded, and records itself' \
	"$trace_record" -q -o dump.trc -- sh -c '"$0" any.trc; exit $?' "$any"
