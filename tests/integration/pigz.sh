#!/bin/bash
# pigz, recorded, compresses to the same bytes as ever, and what it made decompresses.
. "$(dirname "$0")/lib.sh"
need_unsanitized
need pigz gzip cmp

# 24 MiB that compress neither well nor badly, the same every time.
awk 'BEGIN { for (i = 0; i < 800000; i++) printf "%d %d line %d\n", i * 7919 % 65537, i % 97, i }' \
	>input
pigz -p 4 -n -c input >plain.gz || fail "pigz itself failed"
"$trace_record" -o dump.trc -- pigz -p 4 -n -c input >traced.gz 2>summary.txt ||
	fail "trace-record -- pigz: status $?"
expect 'the same bytes as untraced' cmp plain.gz traced.gz
gzip -dc traced.gz | cmp - input || fail 'it does not decompress'
passed 'it decompresses'
[ "$(wc -l <summary.txt)" -le 15 ] || fail 'the closing summary has more than 15 lines'
passed 'the closing summary has at most 15 lines'
expect_sound dump.trc
threads=$(sql dump.trc 'SELECT count(*) FROM threads')
[ "$threads" -ge 5 ] || fail "only $threads threads in the trace"
passed "$threads threads in the trace"
conds=$(sql dump.trc "SELECT count(*) FROM parks WHERE reason = 'cond'")
[ "$conds" -ge 10 ] || fail "only $conds waits on condition variables in the trace"
passed "$conds waits on condition variables"

# A failing program fails the same way.
pigz -d missing.gz >plain.txt 2>&1
plain=$?
"$trace_record" -q -o bad.trc -- pigz -d missing.gz >traced.txt 2>&1
[ $? = "$plain" ] || fail 'the exit status is not that of the program'
expect 'error messages are the same' cmp plain.txt traced.txt
