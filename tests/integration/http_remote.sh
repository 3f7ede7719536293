#!/bin/bash
# memcached, which knows nothing of it, under `trace-record --http`: `go tool pprof` reads every
# profile that its index names, and the trace is what it would have been.
. "$(dirname "$0")/lib.sh"
. "$top_srcdir/tests/integration/http_lib.sh"
need pgrep

# begin TRACE-RECORD OPTION... -- COMMAND...: sets recorder and base.
begin()
{
	rm -f "$socket" run.err
	start "$@" 2>run.err
	recorder=$pid
	until_true 120 grep -q 'served at port' run.err || fail "nothing is served: $(cat run.err)"
	port=$(sed -n 's/.*served at port \([0-9]*\):.*/\1/p' run.err)
	base=http://127.0.0.1:$port/debug/pprof
}

# What argv[0] says is not where it is.
renamed()
{
	exec -a /nowhere/trace-record "$trace_record" "$@"
}

# serve OPTION... -- COMMAND...: sets also memcached, the recorded process.
serve()
{
	begin "$trace_record" --http 127.0.0.1:0 -o run.trc "$@"
	until_true 120 test -S "$socket" || fail 'memcached did not come up'
	memcached=$(pgrep -P "$recorder")
}

# says STATUS ADDRESS TEXT: what cannot be had is answered so, and the body says why.
says()
{
	local is
	is=$(curl -sS -o said.txt -w '%{http_code}' "$base/$2")
	[ "$is" = "$1" ] || fail "$2: status $is, not $1: $(cat said.txt)"
	grep -q -e "$3" said.txt || fail "$2: $(cat said.txt)"
	passed "$2 answers $1: $(cat said.txt)"
}

# every_thread_has_its_paragraph AS: those of memcached, and no others.
every_thread_has_its_paragraph()
{
	curl -sS -f "$base/threads?debug=2" >threads2.txt || fail 'no paragraphs'
	[ "$(grep -c '^thread ' threads2.txt)" = "$(ls "/proc/$memcached/task" | wc -l)" ] || {
		cat threads2.txt >&2
		fail "not so: $1"
	}
	grep -A 1 '^created by thread ' threads2.txt | grep -v -e '^created by' -e '^--' |
		grep . >creators.txt || fail 'of no thread it is told where it was created'
	passed "$1"
}

# seconds_of TAG: of how much time the profile says that it is.
seconds_of()
{
	sed -n 's/^Duration: \([0-9.]*\)\([a-z]*\).*/\1 \2/p' "$1.out" | awk '
		BEGIN { of["ns"] = 1e-9; of["us"] = 1e-6; of["ms"] = 1e-3; of["s"] = 1
			of["mins"] = 60; of["hrs"] = 3600; of["days"] = 86400; of["yrs"] = 31556952 }
		{ print int($1 * of[$2]) }'
}

# The shell executes memcached: what is served begins anew with it.
# shellcheck disable=SC2086,SC2016 # a list of options; the other shell's
serve -F 200 --heap=16K -- sh -c 'exec "$@"' sh memcached $memcached_user -t 4 -m 64 -s "$socket" -a 0700
passed 'trace-record serves what it records'
load_begin
list_profiles
while read -r name; do
	case $name in cmdline | symbol | trace | flight) continue ;; esac
	read_profile "$name"
done <names.txt
seconds=$(seconds_of block)
[ "${seconds:-99999999}" -le "$SECONDS" ] || {
	cat block.out >&2
	fail "the block profile is of more time than there was: ${seconds:-?} s"
}
passed 'the block profile is of the time since the command began'
for name in block threads; do
	grep -q '^File: memcached' "$name.out" || {
		cat "$name.out" >&2
		fail "the program of $name is another one than memcached"
	}
done
passed 'the program is the one that was executed last'
for name in block heap threads; do
	pprof "$name-delta" -top "$base/$name?seconds=1"
	passed "go tool pprof reads what $name was in one second"
done
every_thread_has_its_paragraph 'every thread has its paragraph'
expect_waits
curl -sS -f "$base/cmdline" | tr '\0' ' ' | grep '^memcached .*-t 4' >/dev/null || fail 'no command line'
passed 'the command line is that of the command'
says 409 trace 'with --flight'
says 409 flight 'no flight recorder'
says 501 'profile?seconds=1&event=cycles' 'by -e'
says 501 'wall?seconds=1' 'trace-analyze --pprof wall'
says 400 'heap?seconds=1&bytes=1' 'bytes: at least 16384, as --heap has it'
says 400 'mutex?fraction=10' 'seconds is missing'
pprof mutex-thin -raw "$base/mutex?seconds=1&fraction=10"
grep -q '^Period: 10$' mutex-thin.out || fail "not one of ten unlocks: $(head -n 5 mutex-thin.out)"
passed 'a window keeps one unlock of ten'

load_end
# More windows than there is room for, of fewer connections than there may be; they end with it.
asked=()
for i in $(seq 62); do
	curl -s -m 120 -o "window.$i" -w '%{http_code}\n' "$base/block?seconds=100" >>windows.txt &
	asked+=("$!")
done
until_true 60 grep -qx 503 windows.txt || fail 'there is room for any number of windows'
says 503 'block?seconds=1' 'too many windows at once'
kill "${asked[@]}" 2>/dev/null
wait "${asked[@]}"
until_true 120 curl -sS -f -m 20 -o /dev/null "$base/block?seconds=1" || fail 'no window any more'
passed 'where others have gone there is room again'
# Somebody still waits for an answer when it ends.
curl -sS -m 60 -o late.txt -w '%{http_code}' "$base/block?seconds=100" >late.code 2>/dev/null &
late=$!
sleep 0.2
finish "$recorder" TERM
[ "$status" = 0 ] || fail "trace-record ended with status $status: $(cat run.err)"
wait "$late"
passed "it ends with the command; who waits is told so: $(cat late.code)"
curl -s -m 5 "$base/" >/dev/null && fail 'something is served still'
expect_accounted run.trc
passed 'the trace is whole'

# A flight recorder has its snapshots to serve, and profiles of the time to come: of rings that go
# round.
# shellcheck disable=SC2086
serve --flight --max-size 256K -F 200 --heap=16K -- \
	memcached $memcached_user -t 4 -m 64 -s "$socket" -a 0700
load_begin
for what in flight 'trace?seconds=0.5'; do
	curl -sS -f -o "${what%%[?]*}.trc" "$base/$what" || fail "no $what"
	expect_accounted "${what%%[?]*}.trc"
done
list_profiles
for name in allocs block heap mutex offcpu profile threadcreate; do
	pprof "$name" -top -nodecount=1000 "$base/$name?seconds=1"
	grep -q "^Type: $(type_of "$name")" "$name.out" || {
		cat "$name.out" >&2
		fail "$name of a flight recorder is of another type than $(type_of "$name")"
	}
	passed "go tool pprof reads $name of a flight recorder"
done
grep -q -E 'start_thread|clone' block.out || {
	cat block.out >&2
	fail 'the block profile of a flight recorder shows no place where memcached waits'
}
if grep -q 'Total samples = 0' profile.out; then
	cat profile.out >&2
	fail 'nothing was sampled'
fi
pprof remote -symbolize=remote:force -top -nodecount=1000 "$base/block?seconds=1"
grep -q -E 'start_thread|clone' remote.out || {
	cat remote.out >&2
	fail 'symbol of a flight recorder knows no names'
}
passed 'profiles of a flight recorder show what memcached does'
for name in threads goroutine; do
	read_profile "$name"
done
every_thread_has_its_paragraph 'every thread of a flight recorder has its paragraph'
for name in allocs block heap mutex threadcreate; do
	says 501 "$name" 'seconds=10'
done

# What was overwritten because nobody looked is said: trace-record stands still for a while.
touch hurry
curl -sS -f -o overtaken.pb.gz "$base/block?seconds=4" &
waiting=$!
sleep 1
kill -STOP "$recorder"
sleep 1
kill -CONT "$recorder"
wait "$waiting" || fail 'no profile of rings that were overwritten'
rm hurry
pprof overtaken -comments overtaken.pb.gz
grep -q 'of what was recorded was overwritten before it was read' overtaken.out || {
	cat overtaken.out >&2
	fail 'what was overwritten is not told'
}
passed "what was overwritten is told: $(grep -m 1 overwritten overtaken.out)"

# Nobody wants anything: it sleeps, but for a look once a second.
switches()
{
	sed -n 's/^voluntary_ctxt_switches:\s*//p' "/proc/$recorder/status"
}
before=$(switches)
sleep 2
after=$(switches)
[ $((after - before)) -lt 50 ] || fail "it woke up $((after - before)) times in 2 s"
passed "while nobody asks it woke up $((after - before)) times in 2 s"

load_end
curl -sS -m 60 -o late.txt -w '%{http_code}' "$base/block?seconds=100" >late.code 2>/dev/null &
late=$!
sleep 0.2
finish "$recorder" TERM
[ "$status" = 0 ] || fail "trace-record --flight ended with status $status: $(cat run.err)"
wait "$late"
passed "a flight recorder ends as ever; who waits is told so: $(cat late.code)"

# The command executes another program: who waits for a profile is told, and the next one is of that.
mkfifo turn
runs=0
while another_run; do
	# shellcheck disable=SC2016 # the other shell's
	begin "$trace_record" --flight --http 127.0.0.1:0 -o turn.trc -- \
		sh -c 'read -r line <turn; exec sleep 600'
	until_true 120 curl -sS -f -o /dev/null "$base/threads" || fail 'sh is not recorded'
	curl -sS -m 100 -o wait.txt -w '%{http_code}' "$base/block?seconds=3" >wait.code &
	waiting=$!
	sleep 0.5
	echo >turn
	wait "$waiting" || fail 'who waits for a window is not told of another program'
	# What is asked for too late is a window of sleep alone.
	[ "$(cat wait.code)" != 200 ] || {
		kill "$recorder"
		wait "$recorder"
		undecided 'the window began after the program'
		continue
	}
	[ "$(cat wait.code)" = 409 ] || fail "status $(cat wait.code), not 409: $(cat wait.txt)"
	grep -q 'another program' wait.txt || fail "$(cat wait.txt)"
done
passed "who waits is told: $(cat wait.txt)"
pprof turn -top "$base/block?seconds=1"
grep -q '^File: sleep' turn.out || fail "$(cat turn.out)"
passed 'the next profile is of the program that was executed'
kill "$recorder"
wait "$recorder"

# The command ends, a child of it goes on, and so does the recording.
# Its parts lie beside the program, whatever it calls itself.
mkfifo go
# shellcheck disable=SC2016 # the other shell's
begin renamed --follow --http 127.0.0.1:0 -o follow.trc -- \
	sh -c 'sleep 600 & echo $! >child; read -r line <go'
until_true 120 curl -sS -f -o /dev/null "$base/threads" || fail 'sh is not recorded'
until_true 120 test -s child || fail 'sh has no child'
started+=("$(cat child)")
curl -sS -m 100 -o wait.txt -w '%{http_code}' "$base/block?seconds=1000" >wait.code &
waiting=$!
sleep 0.5
echo >go
wait "$waiting" || fail 'who waits for a window is not told that the command has ended'
[ "$(cat wait.code)" = 503 ] || fail "status $(cat wait.code), not 503: $(cat wait.txt)"
passed "who waits for a window is told: $(cat wait.txt)"
says 503 cmdline 'has ended'
says 503 threads 'has ended'
kill "$(cat child)"
unset 'started[-1]'
wait "$recorder" || fail "trace-record --follow ended with status $?: $(cat run.err)"

"$trace_record" --http 198.51.100.1:1 -- true 2>refused.err && fail 'an address of nobody is served'
grep -q '^trace-record: --http: ' refused.err || fail "$(cat refused.err)"
passed 'an address that cannot be had is refused before the command runs'
rm -f "$socket"
