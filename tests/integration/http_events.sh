#!/bin/bash
# http_events.sh - what a CPU profile over HTTP says of how it was taken, where perf allows less than
# was asked for: from within the program and by trace-record.
#
# SPDX-License-Identifier: Apache-2.0
. "$top_srcdir/tests/integration/lib.sh"
need_unsanitized
need curl
[ -e "$top_builddir/.libs/libtrc-http.so" ] || skip 'trc was built without profiles over HTTP'

no_perf=$top_builddir/tests/recorder/tool/no_perf
"$no_perf" 1 true
[ $? != 77 ] || skip 'no filter for system calls here'

# get ADDRESS: said.txt; $status is that of the reply.
get()
{
	status=$(curl -sS -m 60 -o said.txt -w '%{http_code}' "$base/$1") || fail "$1: no answer"
}

# says STATUS TEXT
says()
{
	[ "$status" = "$1" ] || fail "status $status, not $1: $(cat said.txt)"
	grep -q -e "$2" said.txt || fail "not '$2': $(cat said.txt)"
}

# served ERRNO COMMAND...: the program's base; perf_event_open(2) fails so.
served()
{
	rm -f out.txt err.txt
	start "$no_perf" "$@" >out.txt 2>err.txt
	until_true 60 grep -q '[^ ]* port [0-9]' out.txt err.txt || fail "$(cat err.txt)"
	base=http://127.0.0.1:$(cat err.txt out.txt | sed -n 's/.* port \([0-9]*\).*/\1/p' |
		head -n 1)/debug/pprof
}

server=$top_builddir/docs/examples/http
for err in 1 2 13 38; do # EPERM, ENOENT, EACCES, ENOSYS
	served $err "$server"
	get 'profile?seconds=0.1&event=cycles'
	says 501 'Could not take the profile: cycles: .*; what works: timer$'
	get 'profile?seconds=0.1&event=nonsense'
	says 400 'nonsense: no such event'
	get 'profile?seconds=0.1&debug=1'
	says 200 '^# cpu: timer was sampled every 10000000 ns, by timer: timer instead of cpu-clock: '
	get 'profile?seconds=0.1&debug=1&event=auto&period=100000'
	says 200 '; at most [0-9]* samples a second$'
	finish "$pid" TERM
done
passed 'an event that is not to be had is 501, and a profile of another one says so'

served 13 "$trace_record" --http 127.0.0.1:0 -F 1000 -o run.trc -- "$server"
get 'profile?seconds=0.1&debug=1'
says 200 '^# cpu: timer was sampled 1000 times per second, by timer: timer instead of cpu-clock: '
finish "$pid" TERM
passed 'trace-record --http says it too'
