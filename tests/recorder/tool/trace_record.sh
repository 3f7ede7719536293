#!/bin/bash
# trace_record.sh - what trace-record promises: status, signals, files, and that the command goes
# its way whatever happens.
name=trace_record
. "$(dirname "$0")/lib.sh"

# ---- status ------------------------------------------------------------------------------

for n in 0 7 255; do
	check "exit status $n" status $n "$record" -q -o s.trc "$guest" exit $n
	check "exit status $n in the trace" trace s.trc "info ended exit $n"
done
for pair in TERM:15 KILL:9 SEGV:11 ABRT:6; do
	sig=${pair#*:}
	check "dies of SIG${pair%:*} like the command" \
		status $((128 + sig)) bash -c '"$@"; exit $?' - "$record" -q -o k.trc "$guest" raise "$sig" 5000
	check "SIG${pair%:*}: nothing that was recorded before is missing" \
		trace k.trc "info ended killed by signal $sig (SIG${pair%:*})" "count counter 5000" "lost 0"
done
check "no core file of trace-record's own" test ! -e core

# ---- output ------------------------------------------------------------------------------

check "-q says nothing" status 0 "$record" -q -o q.trc "$guest" exit 0
check "-q says nothing at all" empty err
check "the summary goes to stderr" status 0 "$record" -o q.trc "$guest" exit 0
check "the command's stdout stays its own" empty out
check "the summary has 15 lines at most" test "$(wc -l <err)" -le 15 -a "$(wc -l <err)" -ge 1
check "the summary names the file" says err q.trc
check "--version" status 0 "$record" --version
check "--version goes to stdout" says out trace-record
check "-h" status 0 "$record" -h
check "-h goes to stdout" says out usage:
echo through >in
check "stdin is the command's" status 0 "$record" -q -o q.trc cat <in
check "stdin is the command's: all of it" says out through

# ---- refusals: STATUS | what the one line says | command and options -----------------------

printf 'int main(void) { return 0; }\n' >static.c
${CC:-cc} -static -o static static.c 2>/dev/null || rm -f static
cp /bin/true suid && chown 65534 suid 2>/dev/null && chmod u+s suid || rm -f suid
printf '#!%s/static\n' "$work" >script && chmod +x script
: >not-executable
while IFS='|' read -r want text args; do
	case $args in
	*./static* | *./script*) [ -x static ] || continue ;;
	*./suid*) [ -u suid ] || continue ;;
	esac
	# shellcheck disable=SC2086
	check "refused: $args" status "$want" "$record" $args
	check "refused with the reason: $args" says err "$text"
	check "refused in one line: $args" same "$(wc -l <err)" 1
done <<'END'
126|./static: it is statically linked|./static
126|it is statically linked|./script
126|./suid: it is set-user-ID|./suid
127|no-such-command: No such file or directory|no-such-command
127|./no-such: No such file or directory|./no-such
126|./not-executable: Permission denied|./not-executable
126|/tmp: Permission denied|/tmp
125|no command|-q
125|--bogus: no such option|--bogus true
125|-o: a value is missing|-o
125|--ring-size 3Q: not a size|--ring-size 3Q true
125|--ring-size -1: not a size|--ring-size -1 true
125|--ring-size 4: not a size|--ring-size 4 true
125|--locks some: not one of: contended all none|--locks some true
125|--on-full block: not one of: wait drop|--on-full=block true
125|--unwind guess: not one of: auto fp libunwind none|--unwind guess true
END

check "a name that a terminal would obey" status 127 "$record" $'\e[2J\xe2\x80\xae'
check "is shown instead" same "$(cat err)" 'trace-record: \x1b[2J\xe2\x80\xae: No such file or directory'
check "no directory for the memory: an error" status 125 env TRC_RING_DIR=no-dir "$record" true
check "no directory for the memory: one line says so" \
	same "$(cat err)" 'trace-record: TRC_RING_DIR: no-dir: No such file or directory'
printf 'exec ./marker\n' >marker && printf '#!/bin/sh\ntouch ran\n' >marker && chmod +x marker
check "unwritable: an error" status 125 "$record" -o no-dir/x.trc ./marker
check "unwritable: says why" says err 'no-dir/x.trc: No such file or directory'
check "unwritable: before the program starts" test ! -e ran

# ---- the file ----------------------------------------------------------------------------

echo precious >dump.trc
check "a refused command leaves an old trace" status 127 "$record" no-such-command
check "old trace after a refusal" says dump.trc precious
check "a program without a recorder leaves an old trace" \
	status 0 env TRC_PRELOAD="$(ldd "$record" | awk '/libc\.so/ { print $3 }')" "$record" "$guest" exit 0
check "says that nothing was recorded" says err 'nothing was recorded'
check "old trace after nothing was recorded" says dump.trc precious
check "the default name is dump.trc" status 0 "$record" -q "$guest" events 10
check "an old trace is replaced by one that can be read" trace dump.trc 'count counter 20'
check "the trace is for its owner only" same "$(stat -c %a dump.trc)" 600
check "no temporary file stays" same "$(ls ./*.tmp 2>/dev/null)" ''
: >real.trc
ln -s real.trc link.trc
check "through a symbolic link" status 0 "$record" -q -o link.trc "$guest" events 10
check "a symbolic link stays one" test -L link.trc -a -s real.trc

# ---- the disk is full --------------------------------------------------------------------

check "a full device: the command's status" status 3 "$record" -o /dev/full "$guest" exit 3
check "a full device: is told, and that it is all" says err '/dev/full: No space left on device: nothing is recorded'
mkdir small
cat >on-small.sh <<'END'
mount -t tmpfs -o size=64k tmpfs small || exit 77
"$@"
code=$?
cp small/x.trc . 2>/dev/null
exit $code
END
if unshare -m sh -c 'mount -t tmpfs -o size=64k tmpfs small' 2>/dev/null; then
	check "disk full: the command goes on, its status is ours" \
		status 0 unshare -m sh on-small.sh "$record" -o small/x.trc "$guest" pace 1500 paced
	check "disk full: is told" says err 'No space left on device: the trace ends early'
	# 1000 events each millisecond, and some of the threads' own, which are in no file either.
	told=$(sed -n 's/.*the trace ends early, \([0-9]*\) events are not in it.*/\1/p' err)
	check "disk full: the trace can be read up to there" "$here/trace_dump" x.trc
	check "disk full: there is something in it" test "$("$here/trace_dump" x.trc | awk '/count counter/ { print $3 }')" -gt 1000
	all=$(("$("$here/trace_dump" x.trc | awk '/count counter/ { print $3 }')" + ${told:-0}))
	check "disk full: recorded and told to be lost are all" \
		test $all -ge 1500000 -a $all -le 1650000
fi

# ---- losses are counted ------------------------------------------------------------------

# By a single thread, whose first event is there when the ring fills up: no other kind is lost.
for how in drop wait; do
	check "a small ring, $how" status 0 "$record" -q -o r.trc --ring-size 8K --on-full $how "$guest" burst 200000
	check "a small ring, $how: can be read" trace r.trc "info on_full $how" 'info ring_bytes 8192' \
		"info options --ring-size 8K --on-full $how" 'info unwind auto'
	check "a small ring, $how: recorded and lost are all" \
		same $(($(dumped 'count counter') + $(dumped lost))) 200000
done
check "stacks as the environment says" status 0 env TRC_UNWIND=none "$record" -q -o r.trc "$guest" events 10
check "stacks as the environment says: the trace tells" trace r.trc 'info unwind none'
# All of them fit in a single processor's ring, should the drainer not get to it in time.
check "a ring of its usual size loses nothing" status 0 "$record" -q -o r.trc "$guest" events 50000
check "a ring of its usual size: all of it" trace r.trc 'count counter 100000' 'lost 0'

# What the last lines say would have held them does.
check "a ring that was too small" status 0 taskset -c 0 "$record" -o r.trc --ring-size 8K --on-full drop "$guest" burst 100000
size=$(sed -n 's/.*with --ring-size \([0-9]*[KMG]\) instead of 8K the rings would have held them$/\1/p' err)
check "is told the size that would have done" test -n "$size"
check "that size does" status 0 taskset -c 0 "$record" -o r.trc --ring-size "${size:-8K}" --on-full drop "$guest" burst 100000
check "and says so" says err 'none lost'

# ---- exec, children ----------------------------------------------------------------------

check "exec goes on" status 0 "$record" -q -o x.trc sh -c "exec $guest events 50"
check "exec goes on in the same trace" \
	trace x.trc 'count counter 100' "info command $guest events 50" 'thread 1 sh ended'
check "exec, and exec" status 4 "$record" -q -o x.trc sh -c "exec sh -c 'exec $guest exit 4'"
check "exec, and exec: three images, one trace" trace x.trc 'count thread_start 3' 'info ended exit 4'
sql() { "$analyze" --output tsv --sql "$1" x.trc | tail -n +2; }
check "exec, and the heap" status 0 "$record" -q -o x.trc --heap=1 sh -c "exec sh -c 'exec $guest events 5'"
check "exec, and the heap: no number is given twice" "$analyze" --check x.trc
check "exec, and the heap: each is told" same "$(sql 'SELECT value FROM event_process WHERE what = "exec"' | xargs)" '1 2'
check "exec, and the heap: there are objects of before" \
	test "$(sql 'SELECT count(*) FROM allocs WHERE ts_ns < (SELECT max(ts_ns) FROM event_process)')" -gt 0
check "exec, and the heap: none of them lives" \
	same "$(sql 'SELECT count(*) FROM heap WHERE ts_ns < (SELECT max(ts_ns) FROM event_process)')" 0

# execs N: this trace's images live one after the other, and none does more than it lives; 0.3 s
# are the wait of a sleep, of which each image has one.  N: of how many the trace tells.
execs()
{
	local whole
	whole=$(sql "SELECT value FROM trace_info WHERE key = 'trace_end_ns'")
	same "$(sql 'SELECT count(*) FROM threads')" "$1" || return 1
	sql "SELECT coalesce(start_ns, 0), coalesce(end_ns, $whole), parked_ns, coalesce(on_cpu_ns, 0)
		FROM threads ORDER BY id" >lives
	awk -v whole="$whole" -v n="$1" '
		$1 != was { print "begins at", $1, "and the one before it ended at", was; bad = 1 }
		# a thousandth: the kernel has another clock
		$3 + $4 > ($2 - $1) * 1.001 + 1e6 { print "waits and runs for longer than it lives"; bad = 1 }
		$2 - $1 < 3e8 { print "does not live through its sleep"; bad = 1 }
		$2 - $1 > whole - (n - 1) * 3e8 { print "lives while others sleep"; bad = 1 }
		{ was = $2 }
		END { exit bad || NR != n || was != whole }' lives || {
		cat lives
		return 1
	}
	same "$(sql "SELECT count(*) FROM on_cpu JOIN threads ON id = thread
		WHERE on_cpu.start_ns < threads.start_ns - 1000000 OR on_cpu.end_ns > threads.end_ns + 1000000")" 0
}
cat >execs.sh <<'END'
sleep 0.3
[ "$1" -gt 0 ] || exec sleep 0.3
exec sh execs.sh $(($1 - 1))
END
check "an exec" status 0 "$record" -q -o x.trc sh -c 'sleep 0.3; exec sleep 0.3'
check "an exec: two lives" execs 2
check "several execs" status 0 "$record" -q -o x.trc sh execs.sh 2
check "several execs: one life after the other" execs 4
check "several execs: sound" "$analyze" --check x.trc
rm -f ./*.trc
check "execs, followed" status 0 "$record" -q --follow -o x.trc sh execs.sh 1
for trc in ./*.trc; do
	mv "$trc" x.trc
	check "execs, followed, $trc: sound" "$analyze" --check x.trc
	check "execs, followed, $trc" execs "$(sql 'SELECT count(*) + 1 FROM event_process WHERE what = "exec"')"
done
rm -f ./*.trc
check "a child's heap" status 0 "$record" -q -o x.trc --follow --heap=1 \
	bash -c '(x=abc; for i in 1 2 3 4 5 6; do x=$x$x; done; y=$x) & wait'
check "a child's heap: two traces" same "$(echo ./*.trc | wc -w)" 2
for trc in ./*.trc; do
	mv "$trc" x.trc
	check "a child's heap, $trc: sound" "$analyze" --check x.trc
	check "a child's heap, $trc: it is sampled" test "$(sql 'SELECT count(*) FROM allocs')" -gt 0
	check "a child's heap, $trc: nothing of before it ends" \
		same "$(sql 'SELECT count(*) FROM frees WHERE alloc IS NULL')" 0
done
rm -f ./*.trc
check "children do not record" status 0 "$record" -q -o c.trc sh -c "$guest events 50; true"
check "children do not record: one trace" same "$(echo ./*.trc)" ./c.trc
check "children do not record: not into this one" trace c.trc
check "children do not record: none of their events" same "$(dumped 'count counter')" ''

rm -f ./*.trc
check "--follow" status 0 "$record" --follow -q -o f.trc sh -c "$guest events 50; $guest events 60; true"
check "--follow: one file for each process" same "$(ls ./f.*.trc | wc -l)" 3
cat_all()
{
	for f in ./f.*.trc; do trace "$f" >&2 || exit 1; dumped 'count counter'; done | sort | xargs
}
check "--follow: each has its own events" same "$(cat_all)" '100 120'
rm -f ./*.trc
check "--follow through posix_spawn" status 0 "$record" --follow -q -o f.trc "$guest" spawn "$guest" events 50
check "--follow through posix_spawn: events" same "$(cat_all)" 100
rm -f ./*.trc
check "--follow waits for a daemon" status 0 "$record" --follow -q -o f.trc "$guest" daemon "$work/daemon-ran"
mkdir near
check "--follow: a directory of rings by a name from here" status 0 env TRC_RING_DIR=near "$record" --follow -q -o near.trc \
	sh -c "cd /; $guest events 5; true"
check "--follow: ... and a command that goes elsewhere" same "$(ls near.*.trc | wc -l)" 2
check "--follow waited for the daemon" test -e daemon-ran
check "--follow: the daemon's events" same "$(cat_all)" 5
check "the summary counts the files" status 0 "$record" --follow -o f.trc sh -c "$guest events 50; true"
check "the summary counts the files: two" says err '2 traces'

# ---- programs that cannot be recorded, among others that can ---------------------------------

cp "$(command -v env)" plain
printf '#!%s/plain sh\n' "$work" >runs && chmod +x runs
# COMMAND LIST: a shell runs this; these are named, in one line.
named()
{
	rm -f ./*.trc
	status 0 "$record" --follow -q -o f.trc sh -c "$1" || return 1
	if [ -n "$2" ]; then
		same "$(sed 's/.*is not loaded there: //' err | sed 's/), /)\n/g' | LC_ALL=C sort | xargs)" "$2" &&
			same "$(wc -l <err)" 1
	else
		empty err
	fi
}
check "all can be recorded: nobody is named" named \
	'./runs; ./plain true; env -i ./not-there 2>/dev/null; true' ''
check "started without the recorder" named 'env -i /bin/true; env -i /bin/true; true' \
	'/bin/true (started without LD_PRELOAD)'
if [ -x static ]; then
	check "static programs are named once" named './static; ./static; true' './static (statically linked)'
	check "and those that run a script" named "./script; $guest spawn ./static; true" \
		"./static (statically linked) $work/static (statically linked)"
fi
# The loader is static, too, and preloads what it is told to.
loader=$(readelf -l plain 2>/dev/null | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
if [ -x "$loader" ]; then
	check "what the loader is told to run" named "$loader ./plain; $loader ./plain; true" ''
	check "... is recorded" same "$(ls f.*.trc | wc -l)" 3
	check "... and not refused" status 0 "$record" -q -o l.trc "$loader" "$guest" events 3
	check "... and plainly" status 0 "$record" -q -o p.trc "$guest" events 3
	check "... with the same events" \
		same "$(trace l.trc && dumped 'count counter')" "$(trace p.trc && dumped 'count counter')"
fi
# As a user who is not root; and where no file gives any right by its modes, or none at all.
cp plain gains && chmod 755 gains "$work" && setcap cap_net_raw+ep gains 2>/dev/null || rm -f gains
mkdir -p theirs && chown 65534 theirs 2>/dev/null || rm -f gains
# LIST COMMAND...: as named().
gaining()
{
	rm -f theirs/*
	status 0 "${@:2}" setpriv --reuid 65534 --clear-groups \
		sh -c 'cd theirs && TRC_RING_DIR=/dev/shm "$@"' - "$record" --follow -q -o f.trc \
		sh -c '../suid >&2; ../gains true; true' &&
		same "$(sed 's/.*is not loaded there: //; s/), /)\n/g' err | LC_ALL=C sort | xargs)" "$1" &&
		same "$(ls theirs | wc -l)" $((3 - $(grep -o ' (' err | wc -l)))
}
without_suid() { unshare -m sh -c 'mount --bind . . && mount -o remount,bind,nosuid . && cd "$PWD" && "$@"' - "$@"; }
if [ -x gains ] && [ -u suid ] && setpriv --reuid 65534 test -x "$record"; then
	chown 0 suid && chmod 4711 suid
	check "programs that gain rights" gaining '../gains (file capabilities) ../suid (set-user-ID)'
	check "... and that gave up those by modes" gaining '../gains (file capabilities)' setpriv --no-new-privs
	without_suid true 2>/dev/null && check "... and on a file system that gives none" gaining '' without_suid
else
	echo "skipped: programs that gain rights: no user nor capabilities to be given here"
fi

# ---- programs that have themselves killed for what a recording begins with ----------------------

# What is executed behind such a filter is not recorded, and lives; nor are forked children.
filtered()
{
	rm -f ./*.trc
	status 3 "$guest" without "$1" sh -c 'true & wait; exit 3' || return 1
	status 3 "$record" --follow -q ${2-} -o f.trc sh -c "$guest without $1 sh -c 'true & wait; exit 3'; $guest events 5; exit 3" ||
		return 1
	same "$(sed 's/guest [0-9]*/guest N/' err)" \
		'trace-record: not recorded, as the recorder is not loaded there: what guest N executes (its seccomp filter forbids it)' &&
		same "$(for f in ./f.*.trc; do "$here/trace_dump" "$f"; done | grep -c "^info exe .*/guest")" 2 &&
		same "$(ls f.*.trc | wc -l)" 3
}
for call in ftruncate madvise renameat2 clock_getres getdents64; do
	check "a filter that kills for $call" filtered $call
done
for call in timer_create getrusage; do
	check "a filter that kills for $call" filtered $call '-F 1000 --sample-by signal'
done
for call in timer_create getrusage; do
	check "... that the program sets while it is sampled, for $call" status 0 "$record" -q -F 1000 -o f.trc "$guest" works-without $call
done
check "... and one for what nobody calls" status 3 "$record" --follow -o f.trc "$guest" without ptrace sh -c 'true & wait; exit 3'
check "... is followed" says err '3 traces'

# ---- the memory of many processes ---------------------------------------------------------

# Not for ever.
quickly() { status 0 timeout -s KILL 600 "$@"; }
# All at the same time, with a tmpfs that has 1 MB for each.
many()
{
	rm -f ./*.trc gate
	mkdir -p narrow
	mkfifo gate
	quickly unshare -m sh -c 'mount -t tmpfs -o size=21M none narrow && TRC_RING_DIR=$PWD/narrow exec "$@"' - \
		"$record" --follow -q -o f.trc \
		bash -c 'exec 3<>gate; for i in {1..20}; do '"$guest"' await many.$i & done
			for i in {1..20}; do until test -e many.$i; do read -t 0.05 -u3; done; done
			kill $(jobs -p); wait; true' || return 1
	empty err && same "$(for f in ./f.*.trc; do "$here/trace_dump" "$f"; done | grep -c "^info exe .*/guest")" 20
}
# More than there is room for: what is missing is counted, and nobody is killed by a page that is
# not there.
narrow()
{
	rm -f ./*.trc
	mkdir -p narrow
	quickly unshare -m sh -c 'mount -t tmpfs -o size=600k none narrow && TRC_RING_DIR=$PWD/narrow exec "$@"' - \
		"$record" -q --on-full drop -o n.trc "$guest" events 50000 &&
		says err 'no room for what 1 process had to record' && same "$(wc -l <err)" 1 &&
		trace n.trc && all=$(($(dumped 'count counter') + $(dumped lost))) &&
		test $all -ge 100000 -a $all -le 100004 # with those of the threads' own
}
# unroomy COMMAND: 30 children that are there at the same time, and run COMMAND.  $left is of how many
# processes it was said that there is no room for their ring, $recorded how many traces there are.
unroomy()
{
	rm -f ./*.trc here.* gate
	mkdir -p narrow
	mkfifo gate
	quickly unshare -m sh -c 'mount -t tmpfs -o size=1M none narrow && TRC_RING_DIR=$PWD/narrow exec "$@"' - \
		"$record" --follow -q -o u.trc \
		bash -c 'exec 3<>gate; for i in {1..30}; do ('"$1"') & children="$children $!"; done
			for i in {1..30}; do until test -e here.$i; do read -t 0.05 -u3; done; done
			kill $children; wait; true' || return 1
	left=$(sed -n 's/.*no room for the ring of \([0-9]*\) processes: not recorded.*/\1/p' err)
	recorded=$(ls u.*.trc | wc -l)
	test "${left:-0}" -gt 0
}
unroomy_forks() { unroomy ': >here.$i; read -u3' && same "$((left + recorded))" 31; }
# Some that were recorded have no room for the program that they execute.
unroomy_execs()
{
	unroomy "exec $guest await here.\$i" && test "$left" -le 30 -a "$((left + recorded))" -ge 31
}
if unshare -m sh -c 'mkdir -p narrow && mount -t tmpfs none narrow' 2>/dev/null; then
	check "20 processes at a time, 1 MB each" many
	check "a tmpfs that is full: what is lost is counted" narrow
	check "a tmpfs without room for all: forked children are counted" unroomy_forks
	check "... and those that execute a program, once each" unroomy_execs
else
	echo "skipped: a small tmpfs: unshare may not mount one here"
fi

# ---- processes of other pid namespaces -----------------------------------------------------
# Where they have the same pids again and again, which are others' here.
namespace=
for options in '-p -f' '-r -p -f'; do
	[ -n "$namespace" ] || { unshare $options true 2>/dev/null && namespace="unshare $options"; }
done
cat >inside.sh <<'END'
"$1" events 50
"$1" events 60
# Our pid outside, as this /proc is of there.  We end when we have been found.
read -r pid rest </proc/self/stat
echo $pid >>insiders
until ls -a | grep -qF "f.$pid.trc"; do sleep 0.02; done
sleep 0.2
true
END
# N children that make events, one after the other.
children()
{
	rm -f ./*.trc insiders
	quickly "$record" --follow -o f.trc \
		sh -c "for i in \$(seq $1); do $namespace sh inside.sh $guest; done"
}
# The traces of guests.
guests()
{
	for f in ./f.*.trc; do "$here/trace_dump" "$f" | grep -q '^count counter' && echo "$f"; done
}
# And what the kernel knows is told of the thread as it is called there.
outer_pids()
{
	same "$(wc -l <insiders)" 2 || return 1
	while read -r pid; do
		trace "f.$pid.trc" "info command sh inside.sh $guest" 'info sched yes' || return 1
		"$analyze" --check "f.$pid.trc" && [ "$(dumped 'count proc_stop')" ] || {
			cat dump
			return 1
		}
	done <insiders
}
if [ -z "$namespace" ]; then
	echo "skipped: other pid namespaces: unshare may not make one here"
else
	check "another pid namespace: recording ends with it" children 2
	check "another pid namespace: each process has its own trace" same "$(cat_all)" '100 100 120 120'
	check "another pid namespace: named for its pid here" outer_pids
	check "another pid namespace: nothing is left" same "$(ls "$TRC_RING_DIR")" ''
	# trace-record sees none of it until all has ended.
	stopped()
	{
		rm -f ./*.trc
		quickly "$record" --follow -o f.trc sh -c "kill -STOP \$PPID
			for i in 1 2; do $namespace sh -c '$guest events 50; true'; done; kill -CONT \$PPID"
	}
	check "another pid namespace, all over before it is seen" stopped
	check "another pid namespace, all over: nothing is lost" same "$(cat_all)" '100 100'
	check "another pid namespace, all over: one line" same "$(grep -c 'other pid namespaces had ended' err)" 1
	check "another pid namespace, all over: named for its own pid" \
		same "$(guests | grep -cE '^./f\.[0-9]+-[0-9]+(-[0-9]+)?\.trc$')" 2
	rm -f ./*.trc
	namesake()
	{
		quickly "$record" -q -o c.trc sh -c "$namespace \
			sh -c \"echo \$((\$\$ - 1)) >/proc/sys/kernel/ns_last_pid && $guest events 50; true\"; true"
		empty err && trace c.trc && same "$(dumped 'count counter')" ''
	}
	check "another pid namespace: who has the command's pid there is not the command" namesake
fi

# ---- signals -----------------------------------------------------------------------------

# interrupted SIG: sends it to trace-record once the command is ready for it.
interrupted()
{
	local pid want=$((64 + $(kill -l "$1")))
	rm -f ready
	env --default-signal "$record" -q -o i.trc "$guest" await "$work/ready" 2>err &
	pid=$!
	until_ 120 test -e ready || return 1
	kill -s "$1" $pid
	wait $pid
	same $? $want
}
for sig in TERM INT HUP QUIT USR1 USR2 ALRM ABRT PWR VTALRM PROF XCPU STKFLT WINCH URG IO \
	PIPE XFSZ TTIN TTOU CHLD SEGV BUS ILL FPE; do
	check "SIG$sig is passed on" interrupted $sig
done
check "what kill() sends has no value" same "$(cat ready)" '0 0'
queued()
{
	local pid
	rm -f ready
	"$record" -q -o i.trc "$guest" await "$work/ready" 2>err &
	pid=$!
	until_ 120 test -e ready || return 1
	/bin/kill --queue 42 -s "$1" $pid
	wait $pid
	same $? $((64 + $(kill -l "$1"))) && same "$(cat ready)" '-1 42'
}
check "sigqueue()'s value is passed on" queued USR1
check "also with a signal that ends programs, which waits for a look" queued TERM
# Two signals at once, with trace-record resting before: the first may be kept, and is not forgotten.
both()
{
	local pid
	rm -f ready hung ended
	env --default-signal "$record" -q -o i.trc bash -c 'trap "echo >hung" HUP; trap "echo >ended" TERM; echo >ready
		until [ -e hung ] && [ -e ended ]; do sleep 0.05; done' 2>err &
	pid=$!
	until_ 120 test -e ready && sleep 0.3 && kill -s HUP $pid && kill -s TERM $pid && until_ 60 test -e hung &&
		until_ 60 test -e ended && wait $pid
}
check "of two signals that come at once none is lost" both
check "a command that signals its group has it once" \
	status 0 setsid -w "$record" -q -o i.trc "$guest" group "$(kill -l RTMIN+5)" 20 "$work/group"
check "each of them once" says group 20
check "as often as without a recorder" same "$(setsid -w "$guest" group "$(kill -l RTMIN+5)" 20 "$work/plain"; cat plain)" 20

# A timer that was set before exec ends the command.
for timer in 0:ALRM 1:VTALRM 2:PROF; do
	check "SIG${timer#*:} of a timer from before" status $((128 + $(kill -l "${timer#*:}"))) bash -c '"$@"; exit $?' - \
		"$guest" timer "${timer%:*}" "$record" -q -o a.trc "$guest" pace 60000 "$work/paced"
done

ignored()
{
	local pid
	rm -f ready
	sh -c 'trap "" HUP; exec "$@"' - "$record" -q -o i.trc "$guest" pace 400 "$work/ready" &
	pid=$!
	sleep 0.1
	kill -s HUP $pid
	wait $pid && test -e ready
}
check "a signal that was ignored stays ignored" ignored
check "^C arrives once" status 0 "$here/on_terminal" c "$work/count.begun" "$record" -q -o t.trc "$guest" count 2 "$work/count"
check "^C arrived once" says count 1
check "^Z stops both, fg continues both" status 0 "$here/on_terminal" z "$work/went-on.begun" "$record" -q -o t.trc \
	"$guest" count 18 "$work/went-on"
check "^Z: the command went on" test -e went-on

stopped()
{
	local pid child
	rm -f ready
	# In a process group of its own: SIGTSTP stops nobody in an orphaned one, as ours may be.
	set -m
	"$record" -q -o i.trc "$guest" await "$work/ready" &
	set +m
	pid=$!
	until_ 120 test -e ready || return 1
	child=$(pgrep -P $pid)
	kill -s TSTP $pid
	until_ 120 state $pid T && until_ 120 state "$child" T || return 1
	kill -s CONT $pid
	until_ 120 state "$child" S || return 1
	kill -s TERM $pid
	wait $pid
	same $? $((64 + 15))
}
check "SIGTSTP and SIGCONT are passed on" stopped

killed_recorder()
{
	local pid child
	rm -f paced paced.begun
	"$record" -q -o z.trc "$guest" pace 600 "$work/paced" 2>err &
	pid=$!
	until_ 120 test -e paced.begun || return 1
	child=$(pgrep -P $pid)
	kill -s KILL $pid
	wait $pid 2>/dev/null
	until_ 120 test -e paced && until_ 120 test ! -e "/proc/$child"
}
check "trace-record killed: the command goes its way" killed_recorder
rm -rf "$TRC_RING_DIR"/trc-*

# While its command does nothing it does next to nothing: less than 0.15 s in a second.
idle()
{
	local pid ticks
	rm -f ready
	"$record" -q -o i.trc "$guest" await "$work/ready" &
	pid=$!
	until_ 120 test -e ready || return 1
	ticks=$(sed 's/.*) //' /proc/$pid/stat | awk '{ print $12 + $13 }')
	sleep 1
	ticks=$(($(sed 's/.*) //' /proc/$pid/stat | awk '{ print $12 + $13 }') - ticks))
	kill -s TERM $pid
	wait $pid
	echo "$ticks ticks"
	[ "$ticks" -lt $((15 * $(getconf CLK_TCK) / 100)) ]
}
check "trace-record is idle while its command is" idle

# ---- the guest's own descriptors ----------------------------------------------------------

mkdir files
check "descriptors closed and reused" status 0 "$record" -q -o d.trc "$guest" files "$work/files"
check "not a byte of the trace in the program's files" same "$(find files -type f -size +0)" ''
check "all of it in the trace" trace d.trc 'count counter 40000'

# ---- the kernel's scheduling records -----------------------------------------------------

sched()
{
	"$record" -q -o p.trc "$guest" pace 30 "$work/paced" && trace p.trc || return 1
	grep -q '^info sched yes$' dump || {
		grep -q '^info sched no: perf_event_open: ' dump
		return
	}
	[ "$(dumped 'count proc_start')" -gt 10 ] && [ "$(dumped 'count proc_stop')" -gt 10 ]
}
check "scheduling intervals, or why there are none" sched
# While trace-record sees nothing, some processes run, each through three programs: all of them are found
# at once, and each of their programs has the switches of its time.
late='kill -STOP $PPID; for i in 1 2 3; do
	sh -c "sleep 0.1; exec sh -c \"sleep 0.1; exec sleep 0.1\"" & done; wait; kill -CONT $PPID'
found_late()
{
	local trc n=0
	rm -f ./*.trc
	quickly "$record" --follow -q -o x.trc sh -c "$late" || return 1
	for trc in ./x.*.trc; do
		mv "$trc" x.trc
		trace x.trc || return 1
		"$analyze" --check x.trc || return 1
		[ "$(sql 'SELECT count(*) FROM threads')" -ge 3 ] || continue
		n=$((n + 1))
		# Each of its programs sleeps, or waits for what does.  1 ms: the kernel has another clock.
		same "$(sql "SELECT count(*) FROM parks WHERE waited_ns > 50000000")" 3 &&
			same "$(sql "SELECT count(*) FROM parks p WHERE waited_ns > 50000000 AND EXISTS (SELECT * FROM on_cpu c
				WHERE c.thread = p.thread AND c.end_ns BETWEEN p.start_ns AND p.end_ns)")" 3 &&
			same "$(sql 'SELECT count(*) FROM on_cpu c JOIN threads t ON t.id = c.thread
				WHERE c.start_ns < t.start_ns - 1000000 OR c.end_ns > t.end_ns + 1000000')" 0 || {
			cat dump
			return 1
		}
	done
	same $n 3
}
sched && grep -q '^info sched yes$' dump && check "processes that are found late have their switches" found_late
check "no scheduling intervals" status 0 "$record" --no-sched -q -o p.trc "$guest" pace 30 "$work/paced"
check "no scheduling intervals: the trace says so" \
	trace p.trc 'info sched no: not asked for (--no-sched)' 'info options --no-sched'
check "no scheduling intervals: there are none" same "$(dumped 'count proc_start')" ''
"$here/no_perf" 1 true
if [ $? != 77 ]; then
	# The filter answers as perf_event_paranoid does; it is named where that does not bind.
	by='a seccomp filter, as containers have, or another policy'
	level=$(cat /proc/sys/kernel/perf_event_paranoid)
	[ "$level" -le 2 ] || [ "$(id -u)" = 0 ] || by="perf_event_paranoid is $level"
	check "perf refused" status 0 "$here/no_perf" 13 "$record" -q -o n.trc "$guest" events 5
	check "perf refused: the trace says so" \
		trace n.trc "info sched no: perf_event_open: Permission denied ($by)" 'count counter 10'
	check "no perf at all" status 0 "$here/no_perf" 38 "$record" -q -o n.trc "$guest" events 5
	check "no perf at all: the trace says so" \
		trace n.trc "info sched no: perf_event_open: Function not implemented (no perf in this kernel, or hidden by a seccomp filter)"
fi

# ---- a guest that cannot record ----------------------------------------------------------

check "no room for the ring" status 6 bash -c "ulimit -f 100; exec $record -o l.trc $guest exit 6"
check "no room for the ring: says so" says err 'is not recorded'
# Not even a note about it: a write beyond the limit is a signal that ends the command.
check "no file may have a byte" status 6 "$record" -o l.trc sh -c 'ulimit -f 0; exec "$@"' - "$guest" exit 6
check "no file may have a byte: says so" says err 'not recorded'
check "nothing stays behind" same "$(ls -A "$TRC_RING_DIR")" ''

# The command sleeps, and trace-record has its ring: it would itself die of what it does to its ring.
cut_short='(until grep -q "(sleep) S" /proc/$$/stat && grep -q "/$$.1.ring" /proc/$PPID/maps; do sleep 0.02; done
	truncate -s 0 "$TRC_RING_DIR"/trc-*/$$.*.ring; kill -KILL $$) & exec sleep 60'
check "a ring that is cut short" status 137 bash -c '"$@"; exit $?' - "$record" -q -o r.trc sh -c "$cut_short"
check "a ring that is cut short: one line" same "$(sed 's/[0-9][0-9]*/N/' err | grep trace-record:)" \
	'trace-record: process N: its ring was cut short: its trace ends there'
check "a ring that is cut short: what there was is kept" \
	trace r.trc 'info ended killed by signal 9 (SIGKILL)'
check "a ring that is cut short: nothing stays behind" same "$(ls -A "$TRC_RING_DIR")" ''

# ---- a program with functions of its own by names of the C library's ---------------------

check "own functions: plain" status 0 "$here/own_calls"
check "own functions: plain: nobody calls them" same "$(cat out)" 'calls 0'
for args in '' '--flight --snapshot-on exit' '-F 1000 --heap --locks=all'; do
	rm -f own.trc own.1.trc
	# shellcheck disable=SC2086
	check "own functions: $args" status 0 "$record" -q $args -o own.trc "$here/own_calls"
	check "own functions: $args: the recorder does not call them" same "$(cat out)" 'calls 0'
	[ -e own.trc ] || mv own.1.trc own.trc
	check "own functions: $args: recorded" trace own.trc 'count thread_start 2'
done

check "few files: recorded" status 7 bash -c "ulimit -n 16; exec $record -q -o u.trc $guest exit 7"
check "too few files" status 125 bash -c "ulimit -n 5; exec $record -q -o u.trc $guest exit 7"
check "too few files: says so" same "$(cat err)" \
	'trace-record: no more than 5 files may be open (ulimit -n): too few to record'

finish
