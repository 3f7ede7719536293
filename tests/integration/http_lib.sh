# shellcheck shell=bash
# http_lib.sh - for tests that read profiles over HTTP; sourced after lib.sh.
#
# SPDX-License-Identifier: Apache-2.0
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

# With pauses, for other tests run beside it, unless there is a file `hurry`.
load()
{
	while [ ! -e stop ]; do
		"$here/mc_load" -s "$socket" -n 5000 -c 16 >>load.txt || touch wrong
		[ -e hurry ] || sleep 0.3
	done
}

load_begin()
{
	rm -f load.txt stop hurry
	load &
	loader=$!
	started+=("$loader")
	until_true 120 test -s load.txt || fail 'no load ever ended'
}

load_end()
{
	touch stop
	wait "$loader"
	[ ! -e wrong ] || fail 'a wrong answer of memcached'
	passed 'all answers of memcached were right'
}

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

# Every profile that has to be on the index, $base known.
list_profiles()
{
	curl -sS -f "$base/" >index.html || fail 'no index'
	sed -n "s/.*<tr><td>[^<]*<\/td><td><a href='\([a-z]*\).*/\1/p" index.html >names.txt
	for name in allocs block goroutine heap mutex offcpu profile threadcreate threads; do
		grep -qx "$name" names.txt || fail "the index does not name $name"
	done
}

type_of()
{
	case $1 in
	block | mutex | offcpu) echo delay ;;
	profile) echo . ;; # cpu, or the time of another event
	heap) echo inuse_space ;;
	allocs) echo alloc_space ;;
	goroutine) echo threads ;;
	*) echo "$1" ;;
	esac
}

# pprof reads profile NAME, and it is of the type that it should have.
read_profile()
{
	local name=$1 seconds=

	case $name in offcpu | profile) seconds='?seconds=1' ;; esac
	pprof "$name" -top -nodecount=1000 "$base/$name$seconds"
	grep -q "^Type: $(type_of "$name")" "$name.out" || {
		cat "$name.out" >&2
		fail "$name is of another type than $(type_of "$name")"
	}
	passed "go tool pprof reads $name"
	curl -sS -f "$base/$name?debug=1${seconds:+&seconds=1}" >"$name.txt" || fail "no $name as text"
	grep -q . "$name.txt" || fail "$name as text is empty"
	passed "$name as text: $(wc -l <"$name.txt") lines"
}

# waits_in TAG WHAT: TAG.out names functions that memcached waits in, or else WHAT it is that failed.
waits_in()
{
	grep -q -E 'event_base_loop|epoll_wait|start_thread|clone' "$1.out" && return
	cat "$1.out" >&2
	fail "$2"
}

# The block profile that was read, and the one whose names pprof has to ask for.
expect_waits()
{
	waits_in block 'the block profile shows no place where memcached waits'
	passed 'the block profile shows where memcached waits'
	pprof remote -symbolize=remote:force -top -nodecount=1000 "$base/block"
	waits_in remote 'pprof -symbolize=remote finds no names'
	passed 'pprof -symbolize=remote has its names from symbol'
}
