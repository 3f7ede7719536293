#!/bin/bash
# redis-server under redis-benchmark and a scripted dialogue: answers as untraced, sound trace.  The
# same when it is sampled as well.
. "$(dirname "$0")/lib.sh"
need_unsanitized
need redis-server redis-cli redis-benchmark

# run_redis TAG [WRAPPER...]
run_redis()
{
	local tag=$1 socket
	shift
	mkdir "$tag"
	socket=$(mktemp -u "/tmp/trc-redis-XXXXXX")
	start "$@" redis-server --port 0 --unixsocket "$socket" --io-threads 2 \
		--io-threads-do-reads yes --appendonly yes --appendfsync everysec --save '' \
		--dir "$work/$tag" --daemonize no >"$tag.log" 2>"$tag.err"
	until_true 60 redis-cli -s "$socket" ping || fail "redis did not come up ($tag)"
	redis-benchmark -s "$socket" -q -n 5000 -c 16 -P 8 -r 1000 -t set,get,incr,lpush,lpop \
		>"$tag.benchmark" 2>&1 || fail "redis-benchmark ($tag)"
	redis-cli -s "$socket" >"$tag.answers" <<-DIALOGUE || fail "redis-cli ($tag)"
		flushall
		set greeting hello
		append greeting " world"
		get greeting
		rpush list a b c
		lrange list 0 -1
		incrby counter 41
		incr counter
		type list
		dbsize
		debug sleep 0.05
		nosuchcommand
	DIALOGUE
	# It forks, and the child has to do its work too.
	redis-cli -s "$socket" bgrewriteaof >>"$tag.answers" || fail "bgrewriteaof ($tag)"
	until_true 60 rewritten "$socket" || fail "the rewriting child did not finish ($tag)"
	redis-cli -s "$socket" shutdown nosave
	status=0
	wait "$pid" || status=$?
	echo "status $status" >>"$tag.answers"
	find "$work/$tag" -type f -printf '%f\n' | sort >>"$tag.answers"
}

rewritten()
{
	redis-cli -s "$1" info persistence | tr -d '\r' >info.txt
	grep -qx 'aof_rewrite_in_progress:0' info.txt && grep -qx 'aof_rewrite_scheduled:0' info.txt &&
		grep -qx 'aof_last_bgrewrite_status:ok' info.txt
}

run_redis plain
run_redis traced "$trace_record" -o dump.trc --
expect 'the same answers and files as untraced' diff plain.answers traced.answers
expect_sound dump.trc
names=$(sql dump.trc \
	"SELECT count(*) FROM threads WHERE name LIKE 'bio%' OR name LIKE 'io_thd%'")
[ "${names:-0}" -ge 3 ] || fail "redis names its threads; the trace has $names of them"
passed "$names of redis' own thread names"

run_redis sampled "$trace_record" -o sampled.trc -F 1000 --
expect 'sampled at 1 kHz: the same answers and files as untraced' diff plain.answers sampled.answers
expect_accounted sampled.trc # a sample never waits for room
expect_sampled sampled.trc 10
