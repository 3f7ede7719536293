#!/bin/bash
# run.sh - every figure beside its target; `make bench` runs it.
#
#   run.sh [PART...]     parts: event, labels, fibers, sustain, start, create, unwind, park, threads, mutex, format,
#                        memcached, flight, http, snapshot, analyzer, doublings, sampling, short_threads, heap,
#                        heap_live, viewer, parts, servers
#                        (default: all)
#
# What is compared runs in turn, in this one run; figures are medians, with quartiles in parentheses.  The machine should
# have nothing else to do; what else runs shows in the figures.  Results are also left as
# bench.tsv in the build directory.  A target that is missed is printed as such; the exit
# status only says whether everything could be measured.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
: "${top_srcdir:?run through make bench}" "${top_builddir:?run through make bench}"

bench=$top_builddir/tests/bench
trace_record=$top_builddir/recorder/trace-record
trace_analyze=$top_builddir/analyzer/trace-analyze
results=$top_builddir/bench.tsv
work=$(mktemp -d "${TRC_BENCH_DIR:-/dev/shm}/trc-bench-XXXXXX")
servers=()
status=0

servers_end()
{
	[ ${#servers[@]} = 0 ] || { kill "${servers[@]}" && wait "${servers[@]}"; } 2>/dev/null
	servers=()
}

clean_up()
{
	servers_end
	rm -rf "$work"
}
trap clean_up EXIT
. "$top_srcdir/tests/bench/figures.sh"

say()
{
	printf '%s\n' "$*"
}

trouble()
{
	say "could not measure: $*"
	status=1
}

lost_of()
{
	"$trace_analyze" --sql 'SELECT coalesce(sum(lost_events), 0) FROM gaps' --output tsv "$1" |
		tail -n 1
}

part_event()
{
	local i lttng event
	say '-- one event: two arguments, no stack, bursts that fit the ring'
	for i in 1 2 3; do
		"$bench/bench_event" cost "$work/event.trc" >"$work/event.$i" || {
			trouble 'bench_event'
			return
		}
		[ ! -x "$bench/bench_lttng" ] ||
			"$top_srcdir/tests/bench/lttng.sh" "$bench/bench_lttng" >"$work/lttng.$i" ||
			rm -f "$work/lttng.$i"
	done
	event=$(median_of event_ns "$work"/event.?)
	figure 'a bare rdtsc, in a loop' "$(spread_of rdtsc_ns "$work"/event.?)" ns
	figure 'one event' "$event" ns
	figure 'one event, over rdtsc' "$(spread_of event_over_rdtsc "$work"/event.?)" x '<=' 1.4
	if [ -e "$work/lttng.1" ]; then
		lttng=$(median_of lttng_event_ns "$work"/lttng.?)
		figure 'LTTng-UST, the same event, snapshot session' "$lttng" ns
		figure 'one event, over LTTng-UST' "$(divide "$event" "$lttng" 4)" x '<=' 0.125
	else
		say 'LTTng-UST: skipped (lttng-tools and liblttng-ust-dev are not installed)'
	fi
	figure 'recording off, over an empty call' \
		"$(spread_of off_over_empty_ns "$work"/event.?)" ns '<=' 1
	figure 'two threads at once: the first, per event' \
		"$(spread_of two_threads_first_ns "$work"/event.?)" ns
	figure 'two threads at once: the second, per event' \
		"$(spread_of two_threads_second_ns "$work"/event.?)" ns
	figure 'one event with a computed name' "$(spread_of computed_name_ns "$work"/event.?)" ns \
		'<=' 30
}

part_labels()
{
	local i all_lost=0
	say '-- labels: two prebuilt sets in turn, bursts that fit the ring'
	for i in 1 2 3; do
		"$bench/bench_labels" "$work/labels.trc" >"$work/labels.$i" || {
			trouble 'bench_labels'
			return
		}
		all_lost=$((all_lost + $(lost_of "$work/labels.trc")))
	done
	figure 'a prebuilt set put in force, recording off' \
		"$(spread_of off_set_ns "$work"/labels.?)" ns
	figure 'a prebuilt set put in force' "$(spread_of set_ns "$work"/labels.?)" ns '<=' 30
	figure 'a prebuilt set put in force, over rdtsc' \
		"$(spread_of over_rdtsc "$work"/labels.?)" x
	figure 'a scope, its set met before, off' \
		"$(spread_of off_scope_met_ns "$work"/labels.?)" ns
	figure 'a scope, its set met before' \
		"$(spread_of scope_met_ns "$work"/labels.?)" ns '<=' 60
	figure 'a scope (a set made, put in force, given back), off' \
		"$(spread_of off_scope_ns "$work"/labels.?)" ns
	figure 'a scope (a set made, put in force, given back)' \
		"$(spread_of scope_ns "$work"/labels.?)" ns '<=' 150
	figure 'a scope, its labels never seen before' \
		"$(spread_of scope_new_ns "$work"/labels.?)" ns
	figure 'label sets, events lost in three runs' "$all_lost" events '<=' 0
}

part_fibers()
{
	local i
	say '-- fibers: one left and another run, in bursts that fit the ring'
	for i in 1 2 3; do
		"$bench/bench_fibers" "$work/fibers.trc" >"$work/fibers.$i" || {
			trouble 'bench_fibers'
			return
		}
	done
	figure 'swapcontext(), there and back: half of it' \
		"$(spread_of swapcontext_ns "$work"/fibers.?)" ns
	figure 'a switch, recording off' "$(spread_of off_switch_ns "$work"/fibers.?)" ns
	figure 'a switch of one that could go on' "$(spread_of switch_ns "$work"/fibers.?)" ns
	figure 'the same between fibers of other labels' "$(spread_of labels_ns "$work"/fibers.?)" ns
	figure 'a switch of one that waits (a stack is taken)' \
		"$(spread_of wait_ns "$work"/fibers.?)" ns
	figure 'and it is readied (another stack)' "$(spread_of ready_ns "$work"/fibers.?)" ns
}

part_sustain()
{
	local i lost all_lost=0
	say '-- flat out: one drainer, to tmpfs'
	for i in 1 2 3; do
		"$bench/bench_event" sustain "$work/sustain.trc" 40000000 >"$work/sustain.$i" || {
			trouble 'bench_event sustain'
			return
		}
		lost=$(lost_of "$work/sustain.trc") || lost=unknown
		all_lost=$((all_lost + lost))
		printf 'sustained_bytes\t%s\n' "$(stat -c %s "$work/sustain.trc")" >>"$work/sustain.$i"
	done
	figure 'sustained, events written to tmpfs, a second' \
		"$(spread_of sustained_written_per_s "$work"/sustain.?)" 1/s '>=' 30000000
	figure 'sustained, events lost in three runs' "$all_lost" events '<=' 0
	figure 'sustained, bytes on disk per event' \
		"$(divide "$(median_of sustained_bytes "$work"/sustain.?)" 40000000 2)" bytes
}

part_park()
{
	local i
	say '-- a park with a stack of 16 frames'
	for i in 1 2 3; do
		"$bench/bench_park" "$work/p.trc" >"$work/park.$i" &&
			"$bench/bench_park_fp" "$work/p.trc" >"$work/park_fp.$i" || {
			trouble 'bench_park'
			return
		}
	done
	figure 'no frame pointers: by unwind tables' "$(spread_of park_ns "$work"/park.?)" ns '<=' 120
	figure 'frame pointers' "$(spread_of park_ns "$work"/park_fp.?)" ns '<=' 90
}

part_threads()
{
	local how i
	say '-- what 10,000 threads are doing'
	for how in recorded cold; do
		for i in 1 2 3; do
			"$bench/bench_threads" $how 10000 >"$work/threads.$how.$i" || {
				trouble 'bench_threads'
				return
			}
		done
		figure "$how: all are known after" \
			"$(spread_of threads_ms "$work/threads.$how".?)" ms '<=' 200
		figure "$how: processor time, of all threads" \
			"$(spread_of threads_cpu_ms "$work/threads.$how".?)" ms
		figure "$how: threads without a stack, most of three runs" \
			"$(worst_of threads_incomplete "$work/threads.$how".?)" threads '<=' 0
		figure "$how: asked by a signal" \
			"$(spread_of threads_asked "$work/threads.$how".?)" threads
		figure "$how: the one interrupted longest" \
			"$(spread_of threads_longest_us "$work/threads.$how".?)" us '<=' 50
	done
}

# The milliseconds that a command takes, added to a file: ms_of FILE COMMAND...
ms_of()
{
	local file=$1 from_us until_us
	shift
	from_us=${EPOCHREALTIME/./}
	"$@" || return
	until_us=${EPOCHREALTIME/./}
	awk -v us=$((until_us - from_us)) 'BEGIN { printf "%.3f\n", us / 1000 }' >>"$file"
}

part_start()
{
	local i
	say '-- a program that ends at once: 40 times bare and recorded, in turn'
	for ((i = 0; i < 40; i++)); do
		ms_of "$work/start.bare" /bin/true &&
			ms_of "$work/start.recorded" "$trace_record" -q -o "$work/start.trc" -- /bin/true || {
			trouble 'trace-record -- true'
			return
		}
	done
	figure 'true' "$(quartiles <"$work/start.bare")" ms
	figure 'trace-record -- true' "$(quartiles <"$work/start.recorded")" ms '<=' 10
}

create_with() # FILE OPTION...: of a program that is recorded so
{
	local to=$1
	shift
	"$trace_record" -q "$@" -o "$work/create.trc" -- "$bench/bench_create" >"$to"
}

part_create()
{
	local i
	say '-- a thread created and joined, one after the other: processor time of the program'
	for i in 1 2 3 4 5; do
		"$bench/bench_create" >"$work/create.plain.$i" &&
			create_with "$work/create.recorded.$i" &&
			create_with "$work/create.no_sched.$i" --no-sched &&
			create_with "$work/create.100.$i" -F 100 &&
			create_with "$work/create.1000.$i" -F 1000 || {
			trouble 'bench_create'
			return
		}
	done
	figure 'a thread, plain' "$(spread_of create_us "$work"/create.plain.?)" us
	figure '... recorded' "$(spread_of create_us "$work"/create.recorded.?)" us
	figure '... recorded with --no-sched' "$(spread_of create_us "$work"/create.no_sched.?)" us
	figure '... recorded with -F 100' "$(spread_of create_us "$work"/create.100.?)" us
	figure '... recorded with -F 1000' "$(spread_of create_us "$work"/create.1000.?)" us
}

part_unwind()
{
	local i
	say '-- a stack of 16 frames, alone'
	for i in 1 2 3; do
		"$bench/bench_unwind" >"$work/unwind.$i" &&
			"$bench/bench_unwind_fp" >"$work/unwind_fp.$i" || {
			trouble 'bench_unwind'
			return
		}
	done
	figure 'by unwind tables, cached' "$(spread_of unwind_rules_ns "$work"/unwind.?)" ns '<=' 150
	figure 'by frame pointers' "$(spread_of unwind_pointers_ns "$work"/unwind_fp.?)" ns '<=' 40
	figure 'libunwind, cached' "$(spread_of unwind_libunwind_ns "$work"/unwind.?)" ns
	figure 'the C library' "$(spread_of unwind_glibc_ns "$work"/unwind.?)" ns
	figure 'by unwind tables, over libunwind' \
		"$(divide "$(median_of unwind_rules_ns "$work"/unwind.?)" \
			"$(median_of unwind_libunwind_ns "$work"/unwind.?)" 2)" x
}

part_mutex()
{
	local i
	say '-- an uncontended mutex, lock and unlock'
	: >"$work/mutex.ratio"
	for i in 1 2 3 4 5; do
		"$bench/bench_mutex" >"$work/mutex.bare.$i" &&
			"$trace_record" -q -o "$work/mutex.trc" -- "$bench/bench_mutex" \
				>"$work/mutex.traced.$i" || {
			trouble 'bench_mutex under trace-record'
			return
		}
		divide "$(value "$work/mutex.traced.$i" mutex_pair_ns)" \
			"$(value "$work/mutex.bare.$i" mutex_pair_ns)" 4 >>"$work/mutex.ratio"
	done
	figure 'bare' "$(spread_of mutex_pair_ns "$work"/mutex.bare.?)" ns
	figure 'under trace-record' "$(spread_of mutex_pair_ns "$work"/mutex.traced.?)" ns
	figure 'under trace-record, over bare' "$(quartiles <"$work/mutex.ratio")" x '<=' 1.3
}

part_format()
{
	local out=$work/format name
	say '-- the file: one thread, into memory; million events a second'
	"$bench/bench_format" 4000000 >"$out" || {
		trouble 'bench_format'
		return
	}
	figure 'two-argument events, written' "$(value "$out" pairs_write)" M/s '>=' 10
	figure 'a memcpy of their records takes this share of it' \
		"$(divide 1 "$(value "$out" pairs_write_over_memcpy)" 2)" x
	for name in pairs server; do
		figure "$name: read back, kind, time and thread" \
			"$(value "$out" ${name}_read_kind_time_thread)" M/s
		figure "$name: read back, all columns" "$(value "$out" ${name}_read_all)" M/s
		figure "$name: in the ring" "$(value "$out" ${name}_ring_bytes_per_event)" bytes
	done
	figure 'two-argument events, on disk' "$(value "$out" pairs_file_bytes_per_event)" bytes
	figure 'locks and polls of a made-up server, written' "$(value "$out" server_write)" M/s
	figure 'locks and polls of a made-up server, on disk' \
		"$(value "$out" server_file_bytes_per_event)" bytes '<=' 6
}

# memcached_start TAG [WRAPPER...]: a server on $work/TAG.sock, its pid in servers
memcached_start()
{
	local socket=$work/$1.sock tries=200 user=
	shift
	rm -f "$socket" # of an earlier one
	[ "$(id -u)" != 0 ] || user='-u root'
	# shellcheck disable=SC2086 # a list of options
	"$@" memcached $user -t 4 -m 64 -s "$socket" &
	servers+=($!)
	until [ -S "$socket" ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.05
	done
}

# memcached_slice TAG: operations per second, added to $work/mc.TAG
memcached_slice()
{
	"$top_builddir/tests/integration/mc_load" -s "$work/$1.sock" -n 200000 -c 32 | cut -f 4 \
		>>"$work/mc.$1"
}

# memcached_pairs WRAPPER...: a server as it is and one under the wrapper.  Both are up all the
# time and are loaded in turn, in slices short enough for what drifts to concern both; which one
# begins changes from pair to pair.
memcached_pairs()
{
	local i
	rm -f "$work/mc.plain" "$work/mc.traced"
	memcached_start plain && memcached_start traced "$@" || return 1
	for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
		if ((i % 2)); then
			memcached_slice plain && memcached_slice traced
		else
			memcached_slice traced && memcached_slice plain
		fi || return 1
		((i > 0)) || rm -f "$work/mc.plain" "$work/mc.traced" # to warm up
	done
	resident_of "$work/resident"
	servers_end
}

# The memory of both servers, in KB; the second one may be a child of its wrapper.
resident_of()
{
	local traced
	traced=$(pgrep -P "${servers[1]}") || traced=${servers[1]}
	awk '/^VmRSS:/ { printf "plain\t%d\n", $2 }' "/proc/${servers[0]}/status" >"$1"
	awk '/^VmRSS:/ { printf "traced\t%d\n", $2 }' "/proc/$traced/status" >>"$1"
}

part_memcached()
{
	local events bytes plain traced
	command -v memcached >/dev/null || {
		say 'memcached: skipped (not installed)'
		return
	}
	say '-- memcached: 4 worker threads, 32 connections, 16 requests in flight on each'
	memcached_pairs "$trace_record" -q -o "$work/mc.trc" -- || {
		servers_end
		trouble 'memcached'
		return
	}
	plain=$(median <"$work/mc.plain")
	traced=$(median <"$work/mc.traced")
	figure 'untraced, operations a second, median of 25 slices' "$plain" 1/s
	figure 'traced, operations a second, the same' "$traced" 1/s
	figure 'traced over untraced' "$(ratios_of "$work/mc.traced" "$work/mc.plain")" x '>=' 0.98
	events=$("$trace_analyze" --sql 'SELECT count(*) FROM events' --output tsv "$work/mc.trc" |
		tail -n 1)
	bytes=$(stat -c %s "$work/mc.trc")
	figure 'events in the recording' "$events" events
	figure 'events lost' "$(lost_of "$work/mc.trc")" events '<=' 0
	figure 'bytes on disk per event, tables included' "$(divide "$bytes" "$events" 2)" bytes '<=' 6
}

# compute_pairs WRAPPER...: seconds of a program that does not wait, bare and under the wrapper.
compute_pairs()
{
	local i
	rm -f "$work/compute.bare" "$work/compute.traced"
	for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
		if ((i % 2)); then
			compute_run bare && compute_run traced "$@"
		else
			compute_run traced "$@" && compute_run bare
		fi || return 1
	done
}
# compute_run bare|traced [WRAPPER...]
compute_run()
{
	local name=$1
	shift
	"$@" "$bench/bench_compute" | cut -f 2 >>"$work/compute.$name"
}

# whole_programs WHAT COMPUTE_TARGET MEMCACHED_TARGET WRAPPER...: what a program that only computes,
# and memcached, are slowed down to by the wrapper ("" = no target).
whole_programs()
{
	local what=$1 compute_target=$2 memcached_target=$3
	shift 3
	compute_pairs "$@" || trouble 'bench_compute'
	# shellcheck disable=SC2086 # an operator and a number, or nothing
	figure "a program that does not wait, bare over $what" \
		"$(ratios_of "$work/compute.bare" "$work/compute.traced")" x ${compute_target:+'>=' $compute_target}
	command -v memcached >/dev/null || {
		say 'memcached: skipped (not installed)'
		return 1
	}
	memcached_pairs "$@" || {
		servers_end
		trouble 'memcached'
		return 1
	}
	# shellcheck disable=SC2086
	figure "memcached with $what over without" "$(ratios_of "$work/mc.traced" "$work/mc.plain")" x \
		${memcached_target:+'>=' $memcached_target}
}

# ratios_of A B: A's lines over B's, pair by pair, in quartiles
ratios_of()
{
	paste "$1" "$2" | awk '{ printf "%.5f\n", $1 / $2 }' | quartiles
}

# What both servers differ by, in MB.
resident_more()
{
	awk '{ kb[$1] = $2 } END { printf "%.1f", (kb["traced"] - kb["plain"]) / 1024 }' "$work/resident"
}

part_flight()
{
	say '-- the flight recorder: 64 MiB, default events'
	whole_programs 'a flight recorder' 0.998 0.99 "$trace_record" -q --flight -o "$work/fl.trc" -- ||
		return
	figure 'its resident memory, beyond the 64 MiB of the ring' \
		"$(awk -v mb="$(resident_more)" 'BEGIN { printf "%.1f", mb - 64 }')" MB '<=' 8
}

part_http()
{
	say '-- a server of its own profiles, over HTTP: nobody asks it'
	whole_programs 'a server of its profiles' '' '' \
		env "LD_PRELOAD=$top_builddir/.libs/libtrc.so" TRC_HTTP=127.0.0.1:0 || return
	figure 'its resident memory' "$(resident_more)" MB
}

part_snapshot()
{
	local i
	say '-- a snapshot of 64 MB of rings, all of them full'
	for i in 1 2 3; do
		"$bench/bench_snapshot" times "$work/snapshot.trc" >"$work/snapshot.$i" || {
			trouble 'bench_snapshot'
			return
		}
	done
	"$bench/bench_snapshot" others "$work/snapshot.trc" >"$work/others" || trouble 'bench_snapshot others'
	figure 'captured, from inside the process' \
		"$(spread_of capture_ms "$work"/snapshot.?)" ms '<=' 60
	figure 'captured, from outside' "$(spread_of capture_outside_ms "$work"/snapshot.?)" ms '<=' 60
	figure 'file complete, from the beginning' \
		"$(spread_of complete_ms "$work"/snapshot.?)" ms '<=' 400
	figure 'events in it' "$(spread_of events "$work"/snapshot.?)" events
	figure 'bytes on disk per event, tables included' \
		"$(spread_of bytes_per_event "$work"/snapshot.?)" bytes '<=' 6
	[ -s "$work/others" ] || return
	say '-- events meanwhile: ten times a second of 100 snapshots, and as long without any'
	figure 'p99.99 of events, nothing else going on' "$(spread_of quiet_p9999_us "$work/others")" us
	figure 'p99.99 while snapshots are taken' "$(spread_of p9999_us "$work/others")" us
	figure 'p99.99 while snapshots are taken, more: the most of ten' \
		"$(worst_of more_p9999_us "$work/others")" us '<=' 20
	figure 'the worst event, nothing else going on' "$(spread_of quiet_worst_us "$work/others")" us
	figure 'the worst event while snapshots are taken' "$(spread_of worst_us "$work/others")" us
	figure 'the worst event while snapshots are taken, more' \
		"$(spread_of more_worst_us "$work/others")" us
}

# beyond A B: A - B
beyond()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a - b }'
}

part_analyzer()
{
	say '-- the analyzer, 10 million events'
	"$top_srcdir/tests/bench/bench_analyzer.sh" >"$work/analyzer" || {
		trouble 'analyzer'
		return
	}
	figure 'report, wall clock' "$(value "$work/analyzer" summary_s)" s '<=' 10
	figure 'report, memory' "$(value "$work/analyzer" summary_mb)" MB '<=' 1500
	figure 'SELECT kind, count(*) FROM events GROUP BY kind' \
		"$(value "$work/analyzer" group_by_s)" s '<=' 3
	figure 'events per millisecond, by SQL' "$(value "$work/analyzer" by_time_s)" s
	figure 'causes of all waits, beyond the report' \
		"$(beyond "$(value "$work/analyzer" causes_s)" "$(value "$work/analyzer" report_s)")" s '<=' 2
	figure 'the causes of one wait, from the file' "$(value "$work/analyzer" chain_s)" s
	figure 'the causes of each further one, of the 20,000 longest' \
		"$(awk -v a="$(value "$work/analyzer" chains_s)" -v b="$(value "$work/analyzer" chain_s)" \
			'BEGIN { printf "%.3f", (a - b) / 20 }')" ms '<=' 50
	figure 'the table of locks, from the file' "$(value "$work/analyzer" locks_s)" s
	figure 'blame profile, beyond the block profile' \
		"$(beyond "$(value "$work/analyzer" blame_s)" "$(value "$work/analyzer" block_s)")" s
	figure '--check' "$(value "$work/analyzer" check_s)" s
	figure 'file, bytes per event' "$(value "$work/analyzer" bytes_per_event)" bytes
}

part_doublings()
{
	local what events s mb s_ratio mb_ratio
	say "-- the analyzer, traces from ${DOUBLINGS_EVENTS:-1250000} events on, each twice as long as the one before"
	# shellcheck disable=SC2086 # a number, or nothing
	"$top_srcdir/tests/bench/doublings.sh" ${DOUBLINGS_EVENTS:-} >"$work/doublings" || trouble 'doublings'
	while IFS='	' read -r what events s mb s_ratio mb_ratio; do
		figure "$what, $events events: processor time" "$s" s
		figure "$what, $events events: memory" "$mb" MB
		[ "$s_ratio" = - ] || {
			figure "$what, $events events: time, over half of them" "$s_ratio" x '<=' 2.2
			figure "$what, $events events: memory, over half of them" "$mb_ratio" x '<=' 2.2
		}
	done <"$work/doublings"
}

# The ratio that a rate may come to, for what we choose ourselves; the other rows are only told.
sampling_target()
{
	case $1 in
	auto@100) echo '<= 1.003' ;;
	auto@1000) echo '<= 1.01' ;;
	auto@10000) echo '<= 1.05' ;;
	auto@100000) echo '<= 2.05' ;;
	esac
}

part_sampling()
{
	local name ratio cpu_ratio rate ns lost
	say '-- being sampled: two threads that compute, stacks of 16 frames; time over that without'
	"$top_srcdir/tests/bench/sampling.sh" >"$work/sampling" || trouble 'sampling'
	while IFS='	' read -r name ratio cpu_ratio rate ns lost; do
		if [ "$ratio" = no ]; then
			say "$name: $cpu_ratio"
			continue
		fi
		# shellcheck disable=SC2046 # an operator and a number, or nothing
		figure "$name" "$ratio" x $(sampling_target "$name")
		figure "$name: CPU time of the two threads" "$cpu_ratio" x
		figure "$name: came to be, a second of CPU time" "$rate" samples
		[ "$ns" = - ] || figure "$name: each" "$ns" ns
		[ "$lost" = - ] || figure "$name: lost" "$lost" samples
	done <"$work/sampling"
}

part_short_threads()
{
	local way off error samples
	say "-- 10,000 threads of 0.3 ms, sampled 1,000 times a second; mean of ${SHORT_RUNS:-8} runs"
	make -s -C "$top_builddir" tests/integration/short_threads || trouble 'short_threads'
	"$top_srcdir/tests/bench/short_threads.sh" >"$work/short" || trouble 'short_threads'
	while IFS='	' read -r way off error samples; do
		figure "$way: their share is off by" "$off" points
		figure "$way: ... and so by at most, in 95 of 100 cases" "$(awk -v off="${off#-}" -v error="$error" \
			'BEGIN { printf "%.2f", off + 2 * error }')" points '<=' 1
		figure "$way: samples of a run" "$samples" samples
	done <"$work/short"
}

heap_target()
{
	[ "$1" != sampled-512K ] || echo '<= 1.03'
}

heap_pair_target()
{
	case $1 in
	interposed) echo '<= 3' ;;
	sampled-512K) echo '<= 2' ;;
	esac
}

part_heap()
{
	local name ratio more_ns
	say '-- the heap: a program that does little but malloc() and free(), over the same allocator alone'
	"$top_srcdir/tests/bench/heap.sh" >"$work/heap" || trouble 'heap'
	while IFS='	' read -r name ratio more_ns; do
		if [ "$ratio" = no ]; then
			say "$name: $more_ns"
			continue
		fi
		# shellcheck disable=SC2046 # an operator and a number, or nothing
		figure "heap $name" "$ratio" x $(heap_target "$name")
		# shellcheck disable=SC2046
		figure "heap $name: more for a pair" "$more_ns" ns $(heap_pair_target "$name")
	done <"$work/heap"
}

part_heap_live()
{
	local bytes off error within
	say "-- memory in use by place, sampled at 512 KiB, ${HEAP_LIVE_RUNS:-30} runs"
	"$top_srcdir/tests/bench/heap_live.sh" >"$work/heap_live" || trouble 'heap_live'
	while IFS='	' read -r bytes off error within; do
		figure "objects of $bytes bytes: the mean is off by" "${off#-}" % '<=' 1
		figure "objects of $bytes bytes: a standard error of that" "$error" %
		figure "objects of $bytes bytes: runs within their interval of 95 %" "$within" %
	done <"$work/heap_live"
}

viewer_target()
{
	case $1 in
	'of a trace'* | *'from frame'* | 'the view rests'* | *'by the clock'*) ;; # a display has 60 frames a second
	file*) echo '<= 25' ;;
	opens*) echo '<= 1.5' ;;
	first*) echo '<= 0.7' ;;
	*p99*) echo '<= 16' ;;
	memory*) echo '<= 450' ;;
	next* | previous*) echo '<= 50' ;;
	search*) echo '<= 200' ;;
	esac
}

part_viewer()
{
	local name value
	say '-- a page of 9.5 million intervals and 4 million waits, made up, in Chromium without a GPU, 1600x900'
	make -s -C "$top_builddir" tests/viewer/make-page tests/bench/gen_trace || trouble 'make-page'
	"$top_srcdir/tests/bench/viewer.sh" >"$work/viewer" || trouble 'viewer'
	while IFS='	' read -r name value; do
		if [ "$name" = no ]; then
			say "$value"
			continue
		fi
		# shellcheck disable=SC2046 # an operator and a number, or nothing
		figure "${name%, *}" "$value" "${name##*, }" $(viewer_target "$name")
	done <"$work/viewer"
}

parts_target()
{
	case $1 in
	'another, 55,000 events, CPU ms' | 'the whole, kept, from the start of trace-view, ms' | \
		'the first zoom, kept, from the start of trace-view, ms')
		echo '<= 500' ;;
	esac
}

part_parts()
{
	local name value
	say "-- trace-view: pages of a made-up trace of ${PARTS_EVENTS:-5500000} events, and of parts of it"
	"$top_srcdir/tests/bench/parts.sh" >"$work/parts" || trouble 'parts'
	while IFS='	' read -r name value; do
		if [ "$name" = no ]; then
			say "parts: skipped ($value)"
			continue
		fi
		# shellcheck disable=SC2046 # an operator and a number, or nothing
		figure "${name%, *}" "$value" "${name##*, }" $(parts_target "$name")
	done <"$work/parts"
}

part_servers()
{
	local what value unit target
	say '-- servers: processor time of each unit of work, over a plain one; SERVERS="mariadb node" for some'
	# shellcheck disable=SC2086 # names
	"$top_srcdir/tests/bench/servers.sh" ${SERVERS:-} >"$work/servers" || trouble 'servers'
	while IFS='	' read -r what value unit target; do
		if [ "$value" = no ]; then
			say "$what: skipped ($unit)"
			continue
		fi
		# shellcheck disable=SC2086 # an operator and a number, or nothing
		figure "$what" "$value" "$unit" $target
	done <"$work/servers"
}

: >"$results"
say "$(nproc) processors: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1); $(uname -sr); load $(cut -d ' ' -f 1 /proc/loadavg)"
printf '%-58s %14s %-10s %-12s %s\n' figure value unit target ''
[ $# -gt 0 ] || set -- event labels fibers sustain start create unwind park threads mutex format memcached flight http \
	snapshot analyzer doublings sampling short_threads heap heap_live viewer parts servers
for part; do
	case $part in
	event | labels | fibers | sustain | start | create | unwind | park | threads | mutex | format | memcached | \
		flight | http | snapshot | analyzer | doublings | sampling | short_threads | heap | heap_live | viewer | parts | servers)
		"part_$part"
		;;
	*) trouble "no such part: $part" ;;
	esac
done
exit $status
