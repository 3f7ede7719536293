#!/bin/bash
# sampling.sh - what trace-record makes of -e, -F and --sample-by.
name=sampling
. "$(dirname "$0")/lib.sh"

# ---- refusals, before the command runs: what the one line says | options -----------------

while IFS='|' read -r text args; do
	# shellcheck disable=SC2086
	check "refused: $args" status 125 "$record" $args -q -o r.trc touch ran
	check "refused with the reason: $args" says err "$text"
	check "refused in one line: $args" same "$(wc -l <err)" 1
	check "refused before anything ran: $args" test ! -e ran -a ! -e r.trc
done <<'END'
trace-record: cpu: no such event; there are auto, timer, cpu-clock, |-e cpu
cycles: twice the same event|-e cycles -e page-faults,cycles
r11: one too many: at most 16|-e r1,r2,r3,r4,r5,r6,r7,r8 -e r9,ra,rb,rc,rd,re,rf,r10,r11
rxyz: not an event such as r1a8|-e rxyz
a frequency is for clocks|-e page-faults -F 100
--frequency 0: not a frequency|-F 0
--frequency fast: not a number|-F fast
100001: this frequency is too high|-F 100001
--frequency 99999999999999999999999: too large|-F 99999999999999999999999
trace-record: timer:1: this period is too short|-e page-faults,timer:1
--sample-by luck: not one of: auto signal kernel|--sample-by luck -e timer
--sample-by needs -e or -F|--sample-by signal
timer: a timer sends a signal|--sample-by kernel -e timer
END
check "an event of two lines" status 125 "$record" -e $'foo\nb\e[31mar' -q -o r.trc touch ran
check "an event of two lines is told in one" says err 'trace-record: foo?b?[31mar: no such event'
check "an event of two lines is told in one alone" same "$(wc -l <err)" 1
check "no sampling without a command" status 125 "$record" --list -e timer
check "no sampling without a command: says so" says err '-e needs a command'

"$here/no_perf" 1 true
if [ $? != 77 ]; then
	check "an event that is forbidden" \
		status 125 "$here/no_perf" 13 "$record" -e cpu-clock -q -o r.trc touch ran
	check "an event that is forbidden: which, why, and what is possible" \
		grep -q '^trace-record: cpu-clock: .*perf_event_paranoid is .*; what works: timer$' err
	if "$record" -q -e cpu-clock:k -o k.trc true 2>/dev/null; then
		check "an event that is forbidden to who may have it: not by a level" \
			status 125 "$here/no_perf" 1 "$record" -e cpu-clock -q -o r.trc touch ran
		check "an event that is forbidden to who may have it: by what" says err \
			'cpu-clock: forbidden by a seccomp filter, as containers have, or'
	fi
	check "no perf: which, why, and what is possible" \
		status 125 "$here/no_perf" 38 "$record" -e page-faults -q -o r.trc touch ran
	check "no perf: says so" says err \
		'page-faults: no perf in this kernel, or hidden by a seccomp filter; what works: timer'
	check "forbidden: nothing ran" test ! -e ran
fi

# ---- what the command's recorder is told -------------------------------------------------

# told VARIABLE=VALUE...: of the last command, in this order; nothing else.
told()
{
	same "$(grep -E '^TRC_(CPU|SAMPLE|KERNEL)' out | sort | tr '\n' ' ')" "${*:+$* }"
}
check "nothing" status 0 "$record" -q -o e.trc env
check "nothing is sampled unless asked for" told
check "a timer" status 0 "$record" -e timer:20000000 -q -o e.trc env
check "a timer is the command's own" told TRC_CPU_EVENTS=timer:20000000 TRC_SAMPLE_BY=signal
check "a frequency" status 0 "$record" -F 50 -q -o e.trc env
check "a frequency is auto" told TRC_CPU_EVENTS=auto TRC_CPU_FREQUENCY=50 TRC_SAMPLE_BY=signal
check "what was there before" status 0 env TRC_CPU_FREQUENCY=7 TRC_CPU_EVENTS=cycles \
	"$record" -e timer -q -o e.trc env
check "what was there before is replaced" told TRC_CPU_EVENTS=timer TRC_SAMPLE_BY=signal
check "the options are in the trace" status 0 "$record" -e timer -F 50 -q -o e.trc "$guest" exit 0
check "as they were given" trace e.trc 'info options -e timer -F 50'

check "the summary tells of samples" status 0 "$record" -e timer -o e.trc "$guest" exit 0
check "the summary tells of samples: how many" grep -qE '^trace-record: [0-9]+ samples, ' err
check "the summary has 15 lines at most" test "$(wc -l <err)" -le 15
check "the summary tells of no samples if none were asked for" status 0 "$record" -o e.trc "$guest" exit 0
check "the summary tells of none" same "$(grep -c samples err)" 0
check "snapshots tell of samples" \
	status 0 "$record" --flight --snapshot-on exit -e timer -o f.trc "$guest" exit 0
check "snapshots tell of samples: how many" grep -qE '^trace-record: f.1.trc: .* s, [0-9]+ samples, [0-9]+ bytes' err

# ---- samples that the kernel takes -------------------------------------------------------

# has PATTERN: the last dump has a line that begins so.
has()
{
	grep -qE "^$1" dump || {
		echo "no line: $1"
		cat dump
		return 1
	}
}
# at_least N KIND: the last dump counts so many.
at_least()
{
	local n
	n=$(dumped "count $2")
	[ "${n:-0}" -ge "$1" ] || {
		echo "$2: $n, not $1 and more"
		cat dump
		return 1
	}
}
# of_kinds KIND...: how many the last dump counts of them.
of_kinds()
{
	local kind n all=0
	for kind; do
		n=$(dumped "count $kind")
		all=$((all + ${n:-0}))
	done
	echo $all
}
# one_of VALUE ONE OTHER
one_of() { [ "$1" = "$2" ] || same "$1" "$3"; }
sound() { "$analyze" --check "$1"; }

if "$record" -q --sample-by kernel -e cpu-clock -o k.trc true 2>err; then
	check "by the kernel" status 0 "$record" --sample-by kernel -e cpu-clock:100000 -q -o k.trc \
		"$guest" events 200000
	check "by the kernel: nothing is said" empty err
	check "by the kernel: readable" trace k.trc
	# Two threads begin, one ends, before the process does; the first waits for the other's end,
	# if that is not over yet.
	all=$(($(of_kinds thread_start counter thread_exit park resume) + $(dumped lost)))
	check "by the kernel: recorded and lost are all" one_of $all 400003 400005
	check "by the kernel: the trace tells of it" \
		has 'sampled 17 cpu-clock kernel period 100000 missing 0: '
	check "by the kernel: samples" at_least 50 sample
	check "by the kernel: intervals as well" at_least 2 proc_start
	check "by the kernel: nothing is wrong with it" sound k.trc
	check "by the kernel: their stacks have names" same \
		"$("$analyze" --output csv --sql "SELECT count(DISTINCT n.function) > 2 FROM events e
			JOIN stack_frames f ON f.stack = e.stack JOIN frames n ON n.id = f.frame
			WHERE e.kind = 'sample'" k.trc | tail -n 1)" 1
	check "by the kernel: a thread's first samples" status 0 "$record" --sample-by kernel -F 1000 \
		-e cpu-clock:u,page-faults -q -o k.trc env
	check "by the kernel: a thread's first samples of a clock are the command's" told \
		TRC_KERNEL_EVENTS=cpu-clock:u:1000000 TRC_SAMPLE_BY=signal
	check "all by the kernel" status 0 env TRC_FIRST_SAMPLES=kernel TRC_KERNEL_EVENTS=task-clock \
		"$record" --sample-by kernel -e cpu-clock -q -o k.trc env
	check "all by the kernel: none are the command's" told TRC_SAMPLE_BY=signal
	check "a high rate is the kernel's" status 0 "$record" -F 20000 -q -o k.trc "$guest" events 100000
	check "a high rate is the kernel's: the trace tells" trace k.trc
	check "a high rate is the kernel's: how" has 'sampled 17 cpu-clock kernel period 50000 missing 0'
	check "a lower one is the command's" status 0 "$record" -F 2000 -q -o k.trc "$guest" events 1000
	check "a lower one is the command's: the trace tells" trace k.trc
	check "a lower one is the command's: how" has 'sampled 1 cpu-clock signal period 500000 missing 0'
	check "unless it is told otherwise" \
		status 0 "$record" --sample-by signal -F 20000 -q -o k.trc "$guest" events 1000
	check "unless it is told otherwise: the trace tells" trace k.trc
	check "unless it is told otherwise: how" has 'sampled 1 cpu-clock signal period 50000 missing 0'
	check "both at once" status 0 "$record" -e timer,cpu-clock:50000,page-faults:1 -q -o k.trc \
		"$guest" events 100000
	check "both at once: readable" trace k.trc
	for line in '1 timer timer period 10000000' '2 page-faults signal period 1' \
		'17 cpu-clock kernel period 50000'; do
		check "both at once: $line" has "sampled $line missing 0: "
	done
	check "of tens" status 0 "$record" --sample-by kernel -e page-faults:10 -q -o k.trc \
		awk 'BEGIN { for (i = 0; i < 100000; i++) a[i] = i }'
	check "of tens: each stands for ten" same \
		"$("$analyze" --output csv --sql "SELECT count(*) > 3 AND min(value) = 10 AND
			max(value) = 10 FROM events WHERE kind = 'sample'" k.trc | tail -n 1)" 1
	check "without intervals" status 0 "$record" --no-sched --sample-by kernel \
		-e cpu-clock:100000,page-faults:1 -q -o k.trc "$guest" events 100000
	check "without intervals: readable" trace k.trc
	check "without intervals: samples" at_least 20 sample
	check "without intervals: there are none" same "$(dumped 'count proc_start')" ''
	check "without intervals: the trace says so" has 'info sched no: not asked for'
	check "in flight mode" status 0 "$record" --flight --snapshot-on exit --sample-by kernel \
		-e cpu-clock:100000 -q -o f.trc "$guest" events 100000
	check "in flight mode: readable" trace f.1.trc
	check "in flight mode: the trace tells of it" \
		has 'sampled 17 cpu-clock kernel period 100000 missing 0: '
	check "in flight mode: samples" at_least 20 sample
	check "in flight mode: nothing is wrong with it" sound f.1.trc
	check "descendants" status 0 "$record" --follow --sample-by kernel -e cpu-clock:100000 -q \
		-o d.trc "$guest" spawn "$guest" events 100000
	for file in d.*.trc; do
		check "descendants: $file" trace "$file"
		check "descendants: $file tells of it" has 'sampled 17 cpu-clock kernel'
	done
	check "descendants: both have a trace" same "$(echo d.*.trc | wc -w)" 2
	# Code that is loaded late, and that nobody's recorded stack leads to.
	cat >late.c <<-'END'
	void spin_late(long n)
	{
		for (volatile long i = 0; i < n; i++)
			;
	}
	END
	cat >loads.c <<-'END'
	#include <dlfcn.h>
	#include <stdlib.h>
	int main(int argc, char **argv)
	{
		for (int i = 1; i < argc; i++) {
			void *late = dlopen(argv[i], RTLD_NOW);
			void (*spin)(long) = (void (*)(long))dlsym(late, "spin_late");

			spin(40000000);
			dlclose(late);
		}
		return 0;
	}
	END
	if "$CC" -shared -fPIC -fno-omit-frame-pointer -o late.so late.c &&
		"$CC" -fno-omit-frame-pointer -o loads loads.c -ldl; then
		cp late.so later.so
		for options in "-q -o l.trc" "--flight --snapshot-on exit -q -o l.trc"; do
			# shellcheck disable=SC2086
			check "code that is loaded late" status 0 "$record" --sample-by kernel \
				-e cpu-clock:100000 $options ./loads "$work/late.so" "$work/later.so"
			[ -e l.1.trc ] && mv l.1.trc l.trc
			check "code that is loaded late: has its name" test "$("$analyze" --output csv --sql \
				"SELECT count(*) FROM events e JOIN stack_frames f ON f.stack = e.stack
				JOIN frames n ON n.id = f.frame
				WHERE e.kind = 'sample' AND f.depth = 0 AND n.function = 'spin_late'" \
				l.trc | tail -n 1)" -gt 20
			check "code that is loaded late: nothing is wrong with it" sound l.trc
			"$analyze" --output csv --sql 'SELECT path FROM modules' l.trc >modules
		done
	fi
	check "another program" status 0 "$record" --sample-by kernel -e cpu-clock:100000 -q -o x.trc \
		sh -c "exec $guest events 100000"
	check "another program: readable" trace x.trc
	check "another program: samples" at_least 20 sample
	check "another program: nothing is wrong with it" sound x.trc
else
	echo "not by the kernel here: $(cat err)"
fi
# ---- switches, which signals make more of ------------------------------------------------

# Waits a second, and says how often that thread left its proc by itself.
cat >nap.c <<-'END'
	#define _GNU_SOURCE
	#include <stdio.h>
	#include <sys/resource.h>
	#include <time.h>
	int main(void)
	{
		struct timespec second = {1, 0};
		struct rusage used;

		nanosleep(&second, NULL);
		getrusage(RUSAGE_THREAD, &used);
		printf("%ld\n", used.ru_nvcsw);
		return 0;
	}
END
if "$record" -q --sample-by kernel -e context-switches -o n.trc true 2>err; then
	# shellcheck disable=SC2086 # a command and its options
	check "switches: the program" $CC -o nap nap.c
	for options in "-e context-switches:1" "-e context-switches" \
		"-F 500 -e cpu-clock,context-switches:1,page-faults:1" \
		"--sample-by signal -e context-switches:2" \
		"--sample-by signal -e context-switches:4,context-switches:4:k"; do
		# shellcheck disable=SC2086
		check "switches: $options" status 0 timeout 120 "$record" $options -q -o n.trc ./nap
		check "switches: $options: few" test "$(cat out)" -lt 200
		check "switches: $options: readable" trace n.trc
	done
	check "switches are the kernel's" status 0 timeout 120 "$record" -e context-switches:1 -q \
		-o n.trc ./nap
	check "switches are the kernel's: readable" trace n.trc
	check "switches are the kernel's: the trace tells" \
		has 'sampled 17 context-switches kernel period 1 '
	while IFS='|' read -r text args; do
		check "switches: refused: $args" status 125 timeout 120 "$record" --sample-by signal \
			-e "$args" -q -o r.trc touch ran
		check "switches: refused: $args: why" says err "$text"
		check "switches: refused: $args: in one line" same "$(wc -l <err)" 1
	done <<-'END'
	context-switches:1: a sample's signal makes one more switch: by signals 2 at least|context-switches:1
	context-switches:2: a sample's signal makes one more switch: by signals 4 at least|context-switches:2,context-switches:9:k
	END
	check "switches: refused before anything ran" test ! -e ran
else
	echo "no switches by the kernel here: $(cat err)"
fi

if [ "$("$here/no_perf" 1 true; echo $?)" != 77 ]; then
	check "auto where perf is forbidden" \
		status 0 "$here/no_perf" 13 "$record" -e auto -q -o a.trc "$guest" events 1000
	check "auto where perf is forbidden: nothing is said" empty err
	check "auto where perf is forbidden: readable" trace a.trc
	check "auto where perf is forbidden: a timer, and why" \
		has 'sampled 1 timer timer period 10000000 missing 0: timer instead of cpu-clock: .*perf'
fi

finish
