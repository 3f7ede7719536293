#!/bin/bash
# flight_server.sh - the example of a server with a flight recorder of its own: snapshots over a
# socket, on slow requests and after its end; and the same under trace-record.
#
# SPDX-License-Identifier: Apache-2.0
. "$top_srcdir/tests/integration/lib.sh"
need_unsanitized

server=$top_builddir/docs/examples/flight-server
rings=$TRC_RING_DIR

# serve NAME COMMAND...: $pid is that of the command, $port the server's, $sent the number of
# requests that it was sent.
serve()
{
	local name=$1
	shift
	sent=0
	start "$@" >"$name.out" 2>"$name.err"
	until_true 60 grep -q '^listening' "$name.out" || fail "$name: $(cat "$name.err")"
	port=$(sed -n 's/^listening on port //p' "$name.out")
}

# ask LINE...: the answers to these requests, over one connection.
ask()
{
	local line answer
	sent=$((sent + $#))
	exec 7<>"/dev/tcp/127.0.0.1/$port" || fail "nobody listens on $port"
	for line; do
		printf '%s\n' "$line" >&7
		read -r answer <&7
		printf '%s\n' "$answer"
	done
	exec 7>&-
}

# fetch FILE: a snapshot through the socket.
fetch()
{
	exec 7<>"/dev/tcp/127.0.0.1/$port" || fail "nobody listens on $port"
	sent=$((sent + 1))
	printf 'trace\n' >&7
	cat <&7 >"$1"
	exec 7>&-
	"$trace_analyze" --check "$1" >check.txt || fail "$1: $(cat check.txt)"
}

# value FILE SQL
value()
{
	"$trace_analyze" --output tsv "$1" --sql "$2" | tail -n 1
}

# info FILE KEY WANT
info()
{
	local got
	got=$(value "$1" "SELECT value FROM trace_info WHERE key = '$2'")
	[[ $got == $3 ]] || fail "$1: $2 is '$got', not '$3'"
}

# has_requests FILE: all that were sent, as far as its window goes back (5 s, a flight recorder's).
has_requests()
{
	local got
	got=$(value "$1" "SELECT max(id) || ' of which are missing: ' ||
		(max(id) - min(id) + 1 - count(*)) FROM tasks WHERE type = 'request'")
	[ "$got" = "$sent of which are missing: 0" ] ||
		fail "$1: of $sent requests it has those up to $got"
}

# gets N: so many requests over one connection, one after the other.
gets()
{
	local i
	sent=$((sent + $1))
	for ((i = 0; i < $1; i++)); do
		printf 'get answer\n'
	done >gets
	exec 7<>"/dev/tcp/127.0.0.1/$port"
	cat gets >&7 &
	head -n "$1" <&7 >/dev/null
	wait $!
	exec 7>&-
}

# Fetches now.trc.  The server may be on its way back to accept() at a snapshot, but not at each.
someone_accepts()
{
	local try
	for ((try = 0; try < 100; try++)); do
		fetch now.trc
		[ "$(value now.trc "SELECT count(*) FROM threads_now WHERE reason = 'accept'")" = 1 ] &&
			return
		sleep 0.1
	done
	return 1
}

# $odd is the snapshot that has the compaction in it.
has_compaction()
{
	for odd in odd.*.trc; do
		[ -s "$odd" ] || continue
		[ "$(value "$odd" "SELECT count(*) FROM regions WHERE type = 'compact'")" = 0 ] ||
			return 0
	done
	return 1
}

# compacted N: with the next N requests; a thousand come before the one after that.  A busy machine
# makes other requests slow, too: the snapshot that is taken may be theirs, and for 10 s there is no
# other.  Then only a few requests lie between the end of those and the compaction.
compacted()
{
	local try
	gets "$1"
	until_true 60 test -s odd.1.trc || fail 'the slow request was not noticed'
	for ((try = 0; try < 6; try++)); do
		until_true 1 has_compaction && return
		gets 990
		sleep 11
		gets 10
	done
	fail 'what made it slow is not there'
}

serve alone "$server"
[ "$(ask 'put answer 42' 'get answer' 'nonsense')" = $'ok\n42\nwhat?' ] || fail 'wrong answers'
sent=3 # in a process of its own, which counted them
fetch now.trc
info now.trc snapshot 'on request'
info now.trc mode flight
has_requests now.trc
someone_accepts || fail 'nobody waits for connections'
passed 'a snapshot over a socket'

compacted 999
"$trace_analyze" --check "$odd" >check.txt || fail "$odd: $(cat check.txt)"
info "$odd" trigger 'slow request'
passed 'a slow request has a snapshot taken'

kill -KILL "$pid"
wait "$pid" 2>/dev/null
"$trace_record" --recover "$pid" -o after.trc >recover.txt 2>&1 || fail "$(cat recover.txt)"
"$trace_analyze" --check after.trc >check.txt || fail "after.trc: $(cat check.txt)"
has_requests after.trc
"$trace_record" --clean >/dev/null || fail 'the ring of a dead server cannot be removed'
[ -z "$(ls "$rings")" ] || fail "a ring was left: $(ls "$rings")"
passed 'what it held can be had after kill -9'
rm -f odd.*

serve inside "$trace_record" -o whole.trc -- "$server"
grep -q 'not started: trace-record records this process' inside.err || fail "$(cat inside.err)"
ask 'put answer 42' >/dev/null
fetch now.trc
info now.trc mode recording
has_requests now.trc
kill -TERM "$pid"
wait "$pid" 2>/dev/null
"$trace_analyze" --check whole.trc >check.txt || fail "whole.trc: $(cat check.txt)"
passed 'under trace-record the snapshot is of its ring'

serve flying "$trace_record" --flight -o f.trc -- "$server"
fetch now.trc
info now.trc mode flight
gets 1000
until_true 60 test -s f.1.trc || fail 'trace-record took no snapshot'
"$trace_analyze" --check f.1.trc >check.txt || fail "f.1.trc: $(cat check.txt)"
info f.1.trc trigger 'slow request'
kill -TERM "$pid"
wait "$pid" 2>/dev/null
[ ! -e odd.1.trc ] || fail 'the server took a snapshot itself, too'
passed 'under trace-record --flight that takes the snapshots'
