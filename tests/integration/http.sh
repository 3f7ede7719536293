#!/bin/bash
# memcached under load, with libtrc preloaded: `go tool pprof` reads every profile that its index
# names, the trace is sound, and the load's answers are right all the while.
. "$(dirname "$0")/lib.sh"
. "$top_srcdir/tests/integration/http_lib.sh"

# shellcheck disable=SC2086 # a list of options
start env LD_PRELOAD="$top_builddir/.libs/libtrc.so" TRC_HTTP=127.0.0.1:0 \
	TRC_HTTP_FILE="$work/served" memcached $memcached_user -t 4 -m 64 -s "$socket" -a 0700
memcached=$pid
until_true 120 test -S "$socket" || fail 'memcached did not come up'
port=$(sed -n 's/^port: //p' served)
[ -n "$port" ] || fail "no server: $(cat served)"
base=http://127.0.0.1:$port/debug/pprof
passed 'a program that knows nothing of it serves its profiles'

load_begin

list_profiles

while read -r name; do
	case $name in cmdline | symbol | trace | flight) continue ;; esac
	read_profile "$name"
	seconds=
	case $name in offcpu | profile) seconds='?seconds=1' ;; esac
	pprof "$name-raw" -raw "$base/$name$seconds"
	# Threads have no change.
	grep -q "$name?debug=2" index.html && continue
	case $name in goroutine | threads) continue ;; esac
	pprof "$name-delta" -top "$base/$name?seconds=1"
	passed "go tool pprof reads what $name was in one second"
done <names.txt

expect_waits

curl -sS -f -o run.trc "$base/trace?seconds=1" || fail 'no trace'
expect_accounted run.trc
threads=$(sql run.trc 'SELECT count(*) FROM threads')
[ "$threads" -ge 5 ] || fail "only $threads threads in the trace"
passed "a trace of one second has $threads threads"
curl -sS -f "$base/cmdline" | tr '\0' ' ' | grep '^memcached .*-t 4' >/dev/null || fail 'no command line'
passed 'the command line'

# Many at once, and all of them all right.
for i in $(seq 50); do
	curl -sS -f -m 120 -o "many.$i" "$base/block" &
	many[i]=$!
done
for i in $(seq 50); do
	wait "${many[i]}" || fail "one of fifty at once failed: status $?"
done
passed 'fifty at once'

load_end
finish "$memcached" TERM
[ "$status" = 0 ] || fail "memcached ended with status $status"
passed 'memcached ended as ever'
rm -f "$socket"
