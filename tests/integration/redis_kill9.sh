#!/bin/bash
# redis-server with a flight recorder, killed with -9 under redis-benchmark: what is recovered is
# sound, reaches up to the end, and says what every thread was doing.
. "$(dirname "$0")/lib.sh"
need_unsanitized
need redis-server redis-cli redis-benchmark

socket=$(mktemp -u "/tmp/trc-redis-XXXXXX")
start "$trace_record" --flight --window 30s -o flight.trc -- redis-server --port 0 \
	--unixsocket "$socket" --io-threads 2 --io-threads-do-reads yes --save '' \
	--dir "$work" --daemonize no >redis.log 2>record.err
recorder=$pid
until_true 60 redis-cli -s "$socket" ping || fail 'redis did not come up'
redis-benchmark -s "$socket" -q -n 100000000 -c 16 -P 8 -t set,get >benchmark.log 2>&1 &
load=$!
started+=("$load")
sleep 1
# It answers after this: the last event is later.
asked=$(date +%s%N)
redis=$(redis-cli -s "$socket" info server | tr -d '\r' | sed -n 's/^process_id://p')
[ -n "$redis" ] || fail 'redis did not tell its process id'
kill -9 "$redis"
wait "$recorder"
status=$?
kill "$load" 2>/dev/null
wait "$load" 2>/dev/null
rm -f "$socket"
[ $status = 137 ] || fail "trace-record ends as redis did: status $status, not 137"
checks=$((checks + 1))
traces=(flight*.trc)
[ ${#traces[@]} = 1 ] && [ -s "${traces[0]}" ] || fail "one snapshot, of the crash: ${traces[*]}"
trace=${traces[0]}
expect_sound "$trace"
ended=$(sql "$trace" "SELECT value FROM trace_info WHERE key = 'ended'")
[ "$ended" = 'killed by signal 9 (SIGKILL)' ] || fail "how it ended: $ended"
# The trace's clock was compared with this one when it began: within 100 ms.
last=$(sql "$trace" "SELECT (SELECT value FROM trace_info WHERE key = 'start_time') + max(ts_ns)
	FROM events WHERE source <> 'kernel'")
[ $((last + 100000000)) -ge "$asked" ] || fail "the last event is $(((asked - last) / 1000000)) ms before its last answer"
threads=$(sql "$trace" "SELECT count(*) FROM threads_now")
[ "${threads:-0}" -ge 4 ] || fail "threads_now has $threads threads"
"$trace_analyze" "$trace" >report.txt 2>&1 || fail "the report: $(tail -n 1 report.txt)"
grep -q 'killed by signal 9' report.txt || fail 'the report does not say how it ended'
passed "$(sql "$trace" 'SELECT count(*) FROM events') events recovered, $threads threads"
