#!/bin/bash
# examples.sh - the examples of recorders and of a server that answers for its profiles itself: they
# show what the documents say.
#
# SPDX-License-Identifier: Apache-2.0
. "$top_srcdir/tests/integration/lib.sh"
need_unsanitized
need curl

examples=$top_builddir/docs/examples
base=

# names FILE FUNCTION: a compressed profile has it among its strings.
names()
{
	zcat "$1" >profile.raw || fail "$1 is no compressed profile"
	grep -a -q "$2" profile.raw || fail "$1 does not name $2"
}

"$examples/recorders" >out.txt 2>err.txt || fail "recorders: status $?: $(cat err.txt)"
[ ! -s err.txt ] || fail "recorders: $(cat err.txt)"
[ "$(tail -n 1 out.txt)" = '200 jobs done, 0 in work' ] || fail "recorders: $(tail -n 1 out.txt)"
grep -q -E '^jobs profile: total [34]$' out.txt || fail "no jobs in work: $(head -n 1 out.txt)"
[ "$(grep -c '^thread ' out.txt)" = 5 ] || fail "not all threads: $(cat out.txt)"
[ "$(grep -c '^created by thread ' out.txt)" = 4 ] || fail "not all creators: $(cat out.txt)"
names cpu.pb.gz job_do
names block.pb.gz index_add
names mutex.pb.gz index_add
names mutex.pb.gz print_at_half
names allocs.pb.gz job_do
passed 'recorders: what it used, waited for and allocated'

"$trace_record" -o whole.trc -- "$examples/recorders" >inside.txt 2>inside.err
grep -q 'not recording: .*trace-record records this process' inside.err || fail "$(cat inside.err)"
[ "$(tail -n 1 inside.txt)" = '200 jobs done, 0 in work' ] || fail "$(cat inside.txt)"
passed 'recorders: under trace-record it goes on without'

# get PATH FILE [OPTION...]: $status is that of the reply.
get()
{
	local path=$1 file=$2
	shift 2
	status=$(curl -sS -m 60 -o "$file" -w '%{http_code}' "$@" "$base$path") ||
		fail "http: $path: no answer"
}

start "$examples/http" >http.out 2>http.err
server=$pid
until_true 60 grep -q '^listening' http.out || fail "http: $(cat http.err)"
base=http://127.0.0.1:$(sed -n 's/^listening on port //p' http.out)
get /debug/pprof/block none.pb.gz
[ "$status" = 200 ] || fail "http: block: $status"
# The twentieth visitor, and whoever meets him.
for i in $(seq 40); do
	curl -sS -m 60 -o "visit.$i" "$base/" &
	visits[i]=$!
done
for i in $(seq 40); do
	wait "${visits[i]}" || fail "http: visitor $i was not served"
done
[ "$(cat visit.* | sort -u | wc -l)" = 40 ] || fail 'http: two visitors of the same number'
get /debug/pprof/ list.html
grep -q "href='threadcreate" list.html || fail "http: $(cat list.html)"
get /debug/pprof/threadcreate threadcreate.pb.gz
get '/debug/pprof/threads?debug=2' threads.txt
grep -q '^profiles' threads.txt || fail "http: $(cat threads.txt)"
get /debug/pprof/nothing nothing.txt
[ "$status" = 404 ] || fail "http: a profile that there is not: $status"
get /debug/pprof/block foreign.txt -H 'Host: example.org'
[ "$status" = 403 ] || fail "http: by a foreign name: $status"
get /nowhere nowhere.txt
[ "$status" = 404 ] || fail "http: nowhere: $status"
passed 'http: a server with profiles among what it serves'

get '/debug/pprof/profile?seconds=1' cpu.pb.gz
zcat cpu.pb.gz >/dev/null || fail 'http: no profile of CPU time'
[ ! -s http.err ] || fail "http: $(cat http.err)"
finish "$server" TERM
passed 'http: a window is waited for'
