#!/bin/bash
# http_threads.sh - `trace-record --http` finds every thread where it is: in a wait that lasts still,
# or where it was last.
#
# SPDX-License-Identifier: Apache-2.0
. "$top_srcdir/tests/integration/lib.sh"
need_unsanitized
need curl go
[ -e "$top_builddir/.libs/libtrc-http.so" ] || skip 'trc was built without profiles over HTTP'
GOCACHE=$(go env GOCACHE) && export GOCACHE
export HOME="$work" PPROF_TMPDIR="$work" GOTOOLCHAIN=local GOFLAGS= GOTELEMETRY=off

# serve OPTION...: sets recorder and base.  The program ends with its input, descriptor 9.
serve()
{
	rm -f run.err run.out input
	mkfifo input
	"$trace_record" --http 127.0.0.1:0 -o run.trc "$@" -- "$here/http_threads" \
		<input >run.out 2>run.err 9>&- &
	recorder=$!
	started+=("$recorder")
	exec 9>input
	until_true 120 grep -q ready run.out || fail "the program did not come up: $(cat run.err)"
	base=http://127.0.0.1:$(sed -n 's/.*port \([0-9]*\):.*/\1/p' run.err)/debug/pprof
}

finished()
{
	exec 9>&-
	wait "$recorder" || fail "trace-record ended with status $?: $(cat run.err)"
}

# paragraph THREAD: of threads.txt, up to where it was created.
paragraph()
{
	awk -v RS= -v name="\"$1\"" '$3 == name { sub(/\ncreated by .*/, ""); print }' threads.txt
}

# not_so WHAT
not_so()
{
	why="$*: $(cat one.txt)"
	return 1
}

# is_at THREAD STATE FUNCTION...: its stack is that, among others, and of now.
is_at()
{
	local thread=$1 state=$2 functions
	shift 2
	paragraph "$thread" >one.txt
	head -n 1 one.txt | grep -q -E "\[$state[^,]*(, [0-9.]+ [a-z]+)?(, held by [^,]*)?\]:\$" ||
		not_so "$thread is not in $state" || return
	functions=$(sed -n '2,$ { /^\t/d; p }' one.txt | tr '\n' ' ')
	case " $functions" in
	" $*"*" begin "*) ;;
	*) not_so "$thread is not at $*" ;;
	esac
}

# has THREAD LINE: one of its paragraph's.
has()
{
	paragraph "$1" >one.txt
	grep -q -x -e "$2" one.txt || not_so "$1 has no line $2"
}

# A thread that is about to wait may not be there yet.
all_are_where_they_wait()
{
	curl -sS -f "$base/goroutine?debug=2" >threads.txt || fail 'no paragraphs'
	is_at wait_by_sleep sleep wait_by_sleep &&
		is_at wait_by_nanoslp sleep wait_by_nanosleep &&
		is_at wait_by_poll poll wait_by_poll &&
		is_at wait_by_read read wait_by_read &&
		is_at wait_by_lock mutex wait_by_lock &&
		is_at wait_by_cond cond wait_by_cond &&
		is_at wait_in_wide sleep wait_by_sleep wait_in_wide &&
		is_at wait_in_handler sleep wait_by_sleep on_signal &&
		has wait_in_handler wait_in_handler &&
		is_at deep_begin sleep wait_by_sleep wait_in_deep wait_in_deep &&
		has deep_begin '(frames elided)' &&
		has wait_often wait_often &&
		has wait_unseen wait_unseen
}

run_is_where_it_was_sampled()
{
	curl -sS -f "$base/goroutine?debug=2" >threads.txt || fail 'no paragraphs'
	grep -q -x 'thread [0-9]* "wait_unseen" \[waiting\]:' <<<"$(paragraph wait_unseen)" ||
		fail "not a wait of now: $(paragraph wait_unseen)"
	has run 'thread [0-9]* "run" \[running, stack of its last sample, [0-9.]* [a-z]* ago\]:' &&
		has run run
}

for options in '' --flight; do
	# shellcheck disable=SC2086 # none or one
	serve $options
	until_true 120 all_are_where_they_wait || fail "$why"
	[ "$(paragraph deep_begin | grep -c -P '^\t')" = 128 ] ||
		fail "a deep stack has other frames: $(paragraph deep_begin)"
	has deep_begin deep_begin || fail "$why"
	has run 'thread [0-9]* "run" \[running\]:' || fail "$why"
	passed "threads are where they wait${options:+, of a flight recorder}"
	go tool pprof -traces "$base/goroutine" >traces.txt 2>traces.err || fail "$(cat traces.err)"
	for function in wait_by_sleep wait_by_nanosleep wait_by_poll wait_by_read wait_by_lock \
		wait_by_cond wait_in_wide wait_in_handler wait_in_deep wait_often; do
		grep -q " $function\$" traces.txt || {
			cat traces.txt >&2
			fail "the profile does not have $function"
		}
	done
	passed 'the profile has them as well'
	finished
done

serve -F 1000 --sample-by signal
until_true 120 run_is_where_it_was_sampled || fail "$why"
passed 'a thread that runs is where it was sampled last'
finished
