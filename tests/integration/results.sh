#!/bin/bash
# results.sh - where results go: every tool and verb replaces a regular file when the new one is
# whole, writes into anything else as a shell would, and leaves alone what it must not replace.
. "$(dirname "$0")/lib.sh"
need_unsanitized
umask 022

"$trace_record" -q -o good.trc -- sleep 0.01 || fail "trace-record: $?"

# result NAME FILE: has it written there
result()
{
	case $1 in
	trace) timeout 300 "$trace_record" -q -o "$2" -- true ;;
	pprof) timeout 300 "$trace_analyze" --pprof block -o "$2" good.trc ;;
	html) timeout 300 "$trace_analyze" --html "$2" good.trc ;;
	db) timeout 300 "$trace_analyze" --db "$2" good.trc ;;
	esac
}

all='trace pprof html db'

for kind in $all; do
	result $kind new || fail "$kind: a new file: $?"
	[ "$(stat -c %a new)" = 600 ] || fail "$kind: a new file has mode $(stat -c %a new)"
	chmod 644 new
	before=$(stat -c %i new)
	result $kind new || fail "$kind: over a result: $?"
	[ "$(stat -c '%a %F' new)" = '600 regular file' ] && [ "$(stat -c %i new)" != "$before" ] ||
		fail "$kind: the file was not replaced: $(stat new)"
	mkdir -p sub
	ln -sf ../new sub/link
	result $kind sub/link || fail "$kind: through a link: $?"
	[ -L sub/link ] && [ -f new ] || fail "$kind: the link was replaced"
	[ -z "$(ls -A sub | grep -v '^link$')" ] || fail "$kind: beside the link: $(ls -A sub)"
	rm -f new sub/link
	rm -f other && ln -s nowhere other
	case $kind in
	db) result $kind other 2>err && fail 'db: a link to nothing was taken' ;;
	*) result $kind other || fail "$kind: a link to nothing: $?" ;;
	esac
	[ -L other ] || fail "$kind: a link to nothing was replaced"
	rm -f nowhere other
	checks=$((checks + 1))
done
[ -z "$(ls -A | grep '\.tmp')" ] || fail "temporary files stay: $(ls -A)"
passed 'regular files and links'

for kind in trace pprof html; do
	mkfifo pipe
	timeout 300 cat pipe >piped &
	result $kind pipe || fail "$kind: a pipe: $?"
	wait $!
	[ -p pipe ] || fail "$kind: the pipe was replaced"
	[ -s piped ] || fail "$kind: nothing came through the pipe"
	rm -f pipe piped
	result $kind /dev/stdout >caught || fail "$kind: /dev/stdout: $?"
	[ -s caught ] || fail "$kind: /dev/stdout: nothing came"
	rm -f caught
done
passed 'pipes and /dev/stdout'

# The machine's own /dev/null is not put at risk: a device like it, where one can be made.
if mknod null c 1 3 2>/dev/null && echo x 2>/dev/null >null; then
	for kind in trace pprof html; do
		result $kind null || fail "$kind: a device: $?"
		[ -c null ] || fail "$kind: the device was replaced"
	done
fi
mkfifo pipe
for target in pipe null; do
	[ -e $target ] || continue
	kind=$(stat -c %F $target)
	result db $target 2>err && fail "db: a $kind was taken"
	grep -q 'a database has to be a regular file' err || fail "db: $kind: $(cat err)"
	[ "$(stat -c %F $target)" = "$kind" ] || fail "db: a $kind was replaced"
done
printf 'notes, more than sixteen bytes of them\n' >notes
cp notes wanted
result db notes 2>err && fail 'db: notes were replaced'
grep -q 'is no database' err || fail "db: notes: $(cat err)"
cmp notes wanted || fail 'db: the notes are others now'
: >empty
result db empty || fail "db: an empty file: $?"
passed 'what is there and is none of ours stays'

# Nobody comes to read: it can be ended, and the program never began.
"$trace_record" -q -o pipe -- touch ran >out 2>err &
pid=$!
started+=("$pid")
sleep 0.3
kill -TERM $pid
for ((i = 0; i < 1200; i++)); do
	kill -0 $pid 2>/dev/null || break
	sleep 0.05
done
[ $i -lt 1200 ] || fail 'trace-record waits for a reader of its pipe and cannot be ended'
wait $pid
started=()
[ ! -e ran ] || fail 'the program ran without its recorder'
passed 'a pipe that nobody reads'

# Another user's link in a directory that all may write to: as the shell does on this machine.
mkdir shared && chmod 1777 shared
if chown 65534 shared && ln -s "$PWD/mine" shared/link && chown -h 65533 shared/link; then
	chmod 755 .
	if (: >shared/link) 2>/dev/null; then allowed=yes; else allowed=no; fi
	rm -f mine
	for kind in trace pprof html; do
		if result $kind shared/link 2>err; then got=yes; else got=no; fi
		[ $got = $allowed ] || fail "$kind: another's link: $got, the shell: $allowed: $(cat err)"
		[ -L shared/link ] || fail "$kind: another's link was replaced"
		rm -f mine
	done
fi 2>/dev/null
passed "other users' links"
