#!/bin/bash
# memcached under load, with libtrc preloaded: `go tool pprof` reads every profile that its index
# names, the trace is sound, and the load's answers are right all the while.
. "$(dirname "$0")/lib.sh"
need_unsanitized
need memcached curl go
[ -e "$top_builddir/.libs/libtrc-http.so" ] || skip 'trc was built without profiles over HTTP'
if nm -u "$top_builddir/.libs/libtrc-http.so" | grep MHD_ >/dev/null; then :; else
	skip 'trc was built without libmicrohttpd'
fi

# Where go keeps its tools once they are built; that takes longer than the test.
GOCACHE=$(go env GOCACHE) && export GOCACHE
export HOME="$work" PPROF_TMPDIR="$work" GOTOOLCHAIN=local GOFLAGS= GOTELEMETRY=off
unset TRC_DEBUG_PATH PPROF_BINARY_PATH DEBUGINFOD_URLS http_proxy https_proxy

memcached_user=
[ "$(id -u)" != 0 ] || memcached_user='-u root'
socket=$(mktemp -u "/tmp/trc-http-XXXXXX")
# shellcheck disable=SC2086 # a list of options
start env LD_PRELOAD="$top_builddir/.libs/libtrc.so" TRC_HTTP=127.0.0.1:0 \
	TRC_HTTP_FILE="$work/served" memcached $memcached_user -t 4 -m 64 -s "$socket" -a 0700
memcached=$pid
until_true 30 test -S "$socket" || fail 'memcached did not come up'
port=$(sed -n 's/^port: //p' served)
[ -n "$port" ] || fail "no server: $(cat served)"
base=http://127.0.0.1:$port/debug/pprof
passed 'a program that knows nothing of it serves its profiles'

load()
{
	while [ ! -e stop ]; do
		"$here/mc_load" -s "$socket" -n 20000 -c 16 >>load.txt || touch wrong
	done
}
load &
loader=$!
started+=("$loader")

# pprof NAME OPTION...: NAME.out; nothing but what it fetches and saves on stderr.
pprof()
{
	local tag=$1
	shift
	go tool pprof "$@" >"$tag.out" 2>"$tag.err" || {
		cat "$tag.err" >&2
		fail "go tool pprof $*: failed"
	}
	if grep -v -E '^(Fetching profile over HTTP from |Saved profile in )|^Please wait' "$tag.err"; then
		fail "go tool pprof $*: see above"
	fi
}

curl -sS -f "$base/" >index.html || fail 'no index'
sed -n "s/.*<tr><td>[^<]*<\/td><td><a href='\([a-z]*\).*/\1/p" index.html >names.txt
for name in allocs block goroutine heap mutex profile threadcreate threads; do
	grep -qx "$name" names.txt || fail "the index does not name $name"
done

type_of()
{
	case $1 in
	block | mutex) echo delay ;;
	profile) echo . ;; # cpu, or the time of another event
	heap) echo inuse_space ;;
	allocs) echo alloc_space ;;
	goroutine) echo threads ;;
	*) echo "$1" ;;
	esac
}

while read -r name; do
	case $name in cmdline | symbol | trace | flight) continue ;; esac
	seconds=
	[ "$name" != profile ] || seconds='?seconds=1'
	pprof "$name" -top -nodecount=1000 "$base/$name$seconds"
	grep -q "^Type: $(type_of "$name")" "$name.out" || {
		cat "$name.out" >&2
		fail "$name is of another type than $(type_of "$name")"
	}
	passed "go tool pprof reads $name"
	pprof "$name-raw" -raw "$base/$name$seconds"
	curl -sS -f "$base/$name?debug=1${seconds:+&seconds=1}" >"$name.txt" || fail "no $name as text"
	grep -q . "$name.txt" || fail "$name as text is empty"
	passed "$name as text: $(wc -l <"$name.txt") lines"
	# Threads have no change.
	grep -q "$name?debug=2" index.html && continue
	case $name in goroutine | threads) continue ;; esac
	pprof "$name-delta" -top "$base/$name?seconds=1"
	passed "go tool pprof reads what $name was in one second"
done <names.txt

grep -q -E 'event_base_loop|epoll_wait|worker_libevent|start_thread|clone' block.out || {
	cat block.out >&2
	fail 'the block profile shows no place where memcached waits'
}
passed 'the block profile shows where memcached waits'
pprof remote -symbolize=remote:force -top -nodecount=1000 "$base/block"
grep -q -E 'event_base_loop|epoll_wait|start_thread|clone' remote.out || {
	cat remote.out >&2
	fail 'pprof -symbolize=remote finds no names'
}
passed 'pprof -symbolize=remote has its names from symbol'

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

touch stop
wait "$loader"
[ ! -e wrong ] || fail 'a wrong answer of memcached'
[ -s load.txt ] || fail 'no load ever ended'
passed 'all answers of memcached were right'
finish "$memcached" TERM
[ "$status" = 0 ] || fail "memcached ended with status $status"
passed 'memcached ended as ever'
rm -f "$socket"
