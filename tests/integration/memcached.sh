#!/bin/bash
# memcached under a fixed load: every answer is right, as untraced; the trace is sound.  The same
# when it is sampled as well.
. "$(dirname "$0")/lib.sh"
need_unsanitized
need memcached

memcached_user=
[ "$(id -u)" != 0 ] || memcached_user='-u root'
operations=200000

# run_load TAG [WRAPPER...]: memcached behind a socket, the load, an orderly end.
run_load()
{
	local tag=$1 socket
	shift
	socket=$(mktemp -u "/tmp/trc-mc-XXXXXX")
	# shellcheck disable=SC2086 # a list of options
	start "$@" memcached $memcached_user -t 4 -m 64 -s "$socket" -a 0700
	until_true 60 test -S "$socket" || fail "memcached did not come up ($tag)"
	"$here/mc_load" -s "$socket" -n $operations -c 32 >"$tag.load" ||
		fail "a wrong answer ($tag)"
	finish "$pid" TERM
	rm -f "$socket"
	cut -f 1,2 "$tag.load" >"$tag.answers"
	echo "$status" >"$tag.status"
	echo "$tag: $(cut -f 4 "$tag.load") operations per second"
}

run_load plain
run_load traced "$trace_record" -o dump.trc --
expect 'the same operations and hits as untraced' cmp plain.answers traced.answers
expect 'the same exit status as untraced' cmp plain.status traced.status
expect_sound dump.trc

threads=$(sql dump.trc 'SELECT count(*) FROM threads')
[ "$threads" -ge 5 ] || fail "only $threads threads"
passed "$threads threads"
waits=$(sql dump.trc "SELECT count(*) FROM parks WHERE reason IN ('epoll', 'poll')")
[ "$waits" -ge 4 ] || fail "the workers never waited for requests?"
passed "$waits waits for requests"
bytes=$(stat -c %s dump.trc)
events=$(sql dump.trc 'SELECT count(*) FROM events')
passed "$events events in $bytes bytes"
"$trace_analyze" dump.trc >report.txt || fail 'no report'
grep -q memcached report.txt || fail 'the report does not name the command'
passed 'the report names the command'

run_load sampled "$trace_record" -o sampled.trc -F 1000 --
expect 'sampled at 1 kHz: the same operations and hits as untraced' cmp plain.answers sampled.answers
expect 'the same exit status as untraced' cmp plain.status sampled.status
expect_accounted sampled.trc # a sample never waits for room
expect_sampled sampled.trc 50
