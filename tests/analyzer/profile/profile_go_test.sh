#!/bin/sh
# go tool pprof reads what trc writes: every report of it, with nothing on stderr.
set -u
command -v go >/dev/null || { echo "skipped: go is not there"; exit 77; }
for tool in objdump nm readelf; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not there"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
work=$(pwd -P)
# Where go keeps its tools once they are built; that takes longer than the test.
GOCACHE=$(go env GOCACHE) && export GOCACHE
export HOME="$work" PPROF_TMPDIR="$work" GOTOOLCHAIN=local GOFLAGS= GOTELEMETRY=off
unset TRC_DEBUG_PATH PPROF_BINARY_PATH DEBUGINFOD_URLS
source=$top_srcdir/tests/analyzer/model/symbols_program.c
bin=$top_builddir/tests/analyzer/profile
failures=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# pprof NAME OPTION...: its answer in NAME.out; fails if it says anything on stderr.
pprof() {
	name=$1
	shift
	go tool pprof "$@" >"$name.out" 2>"$name.err" || fail "$name: exit status $?"
	[ ! -s "$name.err" ] || { fail "$name: something on stderr:"; cat "$name.err"; }
}

expect() {
	grep -qE -- "$1" "$2.out" || { fail "$2: nothing like \"$1\" in:"; cat "$2.out"; }
}

refuse() {
	! grep -qE -- "$1" "$2.out" || { fail "$2: \"$1\" in:"; cat "$2.out"; }
}

cc -g -O2 -pie -fPIE -Wl,--build-id -o program "$source" || exit 2
id=$(readelf -n program | sed -n 's/.*Build ID: //p')
bias=$((0x555555554000))

# The executable segment: where the kernel would map it.
set -- $(readelf -lW program | awk '$1 == "LOAD" && /R E/ { print $2, $3, $6 }')
offset=$(($1 / 4096 * 4096))
start=$((bias + $2 / 4096 * 4096))
limit=$((start + ($3 + 8191) / 4096 * 4096))

# The return address of the call of $2 in $1.
return_address() {
	objdump -d --no-show-raw-insn --disassemble="$1" program |
		awk -v callee="<$2>" '
			found { sub(":", "", $1); print $1; exit }
			/call/ && index($0, callee) { found = 1 }'
}

# Some instruction that innermost() brought into stays(); 1 is added: like a return address.
inlined=
for address in $(objdump -d --disassemble=stays program | sed -n 's/^ *\([0-9a-f]*\):	.*/\1/p'); do
	if "$bin/../model/symbols_probe" -i "$id" "$work/program" "$address" | sed -n 2p |
	   grep -qx innermost; then
		inlined=$address
		break
	fi
done
[ -n "$inlined" ] || { echo "no inlined call in the program"; exit 2; }
in_stays=$((bias + 0x$inlined + 1))
in_exported=$((bias + 0x$(return_address exported stays)))
in_main=$((bias + 0x$(return_address main exported)))

# assemble NAME "MODULE": two threads that contend; $1.trc
assemble() {
	cat >"$1.txt" <<END
sync ticks=0 realtime=1700000000000000000
info command "./program --port 80"
info exe "$work/program"
module preload path="/usr/lib/libtrc-preload.so.0" start=0x7f0000000000 limit=0x7f0000010000 bias=0x7f0000000000
$2
stack wait 0x7f0000000100 0x7f0000000200 $in_stays $in_exported $in_main
stack release 0x7f0000000300 $in_exported $in_main
stack other 0x7f0000000300 $in_main
thread 1 tid=11 name="main"
thread 2 tid=12 name="worker"
@1000000 thread=2 park reason=mutex object=0x10 holder=1 stack=wait
@21000000 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=release
@21500000 thread=2 resume reason=mutex object=0x10
@30000000 thread=2 park reason=cond object=0x20 stack=other
@40000000 thread=2 counter name="c" value=1
END
	"$bin/../../../trc-assemble" "$1.txt" "$1.trc" || fail "trc-assemble $1"
	for kind in block mutex; do
		"$bin/profile_export" $kind "$1.trc" "$1-$kind.pb.gz" || fail "export $1 $kind"
	done
}

module="module program path=\"$work/program\" start=$start limit=$limit offset=$offset
	bias=$bias build_id=$id"
assemble ours "$(echo "$module" | tr -d '\n')"

pprof raw -raw ours-block.pb.gz
expect 'contentions/count delay/nanoseconds\[dflt\]' raw
expect '^PeriodType: contentions count' raw
expect '^Duration: 40ms' raw
expect '^ +1 +20500000: ' raw
expect '^ +1 +10000000: ' raw
expect "program $id \[FN\]\[FL\]\[LN\]\[IN\]" raw
expect 'M=1 innermost .*symbols_program.c:' raw
refuse 'preload' raw
[ "$(grep -c '^1: .*/program' raw.out)" = 1 ] || fail 'the program is the first mapping'

pprof top -top ours-block.pb.gz
expect '^File: program' top
expect "^Build ID: $id" top
expect '^Type: delay' top
expect '^ +20.50ms .* innermost \(inline\)' top
expect '^ +10ms .* main$' top
expect '30.50ms +100% +(\| +)?main' top

pprof contentions -top -sample_index=contentions ours-block.pb.gz
expect '^ +1 .* innermost \(inline\)' contentions

pprof traces -traces ours-block.pb.gz
expect '20.50ms   innermost \(inline\)' traces
expect '^ +middle \(inline\)$' traces
expect '^ +stays$' traces
expect '^ +exported$' traces

pprof list -list '^stays$' ours-block.pb.gz
expect 'ROUTINE =+ stays in .*symbols_program.c' list
expect '20.50ms .*int part = middle\(i\);' list

pprof peek -peek '^stays$' ours-block.pb.gz
expect '20.50ms +100% .*middle \(inline\)' peek

pprof lines -top -lines ours-block.pb.gz
expect "innermost .*symbols_program.c:[0-9]+ \(inline\)" lines

pprof mutex -top ours-mutex.pb.gz
expect '^ +20ms .* exported$' mutex
refuse stays mutex

# What pprof writes itself is the same profile.
go tool pprof -proto -output again.pb.gz ours-block.pb.gz >proto.out 2>proto.err || fail proto
grep -v '^Generating report in' proto.err >proto.rest && { fail 'proto: on stderr'; cat proto.rest; }
pprof again -raw again.pb.gz
grep -v '^Time' raw.out >raw.1
grep -v '^Time' again.out >raw.2
cmp -s raw.1 raw.2 || { fail 'the profile read back differs'; diff raw.1 raw.2; }

# A profile minus itself is nothing: mappings and types agree.
pprof diff -top -base ours-block.pb.gz ours-block.pb.gz
refuse innermost diff

# CPU time and a counter, under labels; what the interrupted instruction's address is, is exact:
# recorders add 1 to it, so that all addresses are alike.
cat >samples.txt <<END
sync ticks=0 realtime=1700000000000000000
info command "./program --port 80"
info exe "$work/program"
$(echo "$module" | tr -d '\n')
stack inner $in_stays $in_exported $in_main
stack outer $in_exported $in_main
labels acme size=512:bytes tenant="acme"
labels other tenant="other"
thread 1 tid=11 name="main"
sample_event 1 name="cpu-clock" how=signal frequency=100
sample_event 2 name="cache-misses" unit="count" how=kernel period=500
@1000000 thread=1 sample event=1 value=10000000 period=10000000 stack=inner labels=acme
@11000000 thread=1 sample event=1 value=20000000 period=10000000 stack=inner labels=acme
@21000000 thread=1 sample event=1 value=10000000 period=10000000 stack=outer labels=other
@31000000 thread=1 sample event=1 value=10000000 period=10000000 stack=outer
@32000000 thread=1 source=kernel sample event=2 value=500 period=500 stack=outer
@33000000 thread=1 samples_lost event=1 lost_samples=3 cause=busy
@34000000 thread=1 park reason=sleep object=0 stack=outer
@44000000 thread=1 resume reason=sleep object=0
END
"$bin/../../../trc-assemble" samples.txt samples.trc || fail 'trc-assemble samples'
for kind in cpu cache-misses offcpu wall; do
	"$bin/profile_export" $kind samples.trc $kind.pb.gz || fail "export $kind"
done

pprof cpu -raw cpu.pb.gz
expect 'samples/count cpu/nanoseconds\[dflt\]' cpu
expect '^PeriodType: cpu nanoseconds' cpu
expect '^Period: 10000000' cpu
expect '^Duration: 44ms' cpu
expect '^ +2 +30000000: ' cpu
expect '^ +1 +10000000: ' cpu
expect 'tenant:\[acme\]' cpu
expect 'size:\[512 bytes\]' cpu
expect 'cpu-clock was sampled 100 times per second, by signal' cpu
pprof cputop -top cpu.pb.gz
expect '^Type: cpu' cputop
expect '3 samples were lost: busy' cputop
expect '^ +30ms .* innermost \(inline\)' cputop
expect '^ +20ms .* exported$' cputop
expect '37.5 % was not sampled: it is in \(not sampled\)' cputop
expect '^ +30ms +37.50% .* \(not sampled\)' cputop
expect '50ms +62.50% +(\| +)?main' cputop
pprof cpucount -top -sample_index=samples cpu.pb.gz
expect '^ +2 .* innermost \(inline\)' cpucount
pprof cputraces -traces cpu.pb.gz
expect '30ms   innermost \(inline\)' cputraces
expect 'tenant: *acme' cputraces
pprof cpulist -list '^exported$' cpu.pb.gz
expect 'ROUTINE =+ exported in .*symbols_program.c' cpulist
pprof cpupeek -peek '^exported$' cpu.pb.gz
expect '30ms +60.00% .*stays$' cpupeek
pprof tags -tags cpu.pb.gz
expect 'tenant: Total' tags
expect '^ +30ms .*: acme$' tags
expect '^ +10ms .*: other$' tags
expect 'size: Total' tags
expect ': 512B$' tags
pprof tagfocus -top -tagfocus tenant=acme cpu.pb.gz
expect '^ +30ms .* innermost \(inline\)' tagfocus
refuse '20ms' tagfocus

pprof misses -raw cache-misses.pb.gz
expect 'samples/count cache-misses/count\[dflt\]' misses
expect '^Period: 500' misses
expect '^ +1 +500: ' misses

pprof offcpu -raw offcpu.pb.gz
expect 'events/count delay/nanoseconds\[dflt\]' offcpu
expect '^ +1 +10000000: ' offcpu
expect 'reason:\[sleep\]' offcpu

pprof wall -top wall.pb.gz
expect '^Type: wall' wall
expect '^ +30ms .* exported$' wall
pprof walltags -tags wall.pb.gz
expect 'reason: Total 10ms' walltags
pprof wallcpu -top -sample_index=cpu wall.pb.gz
expect '^ +20ms .* exported$' wallcpu

# What was allocated, and what of it is in use: Go's own numbers, from its own formula.
cat >heap.txt <<END
sync ticks=0 realtime=1700000000000000000
info command "./program --port 80"
info exe "$work/program"
module preload path="/usr/lib/libtrc-preload.so.0" start=0x7f0000000000 limit=0x7f0000010000 bias=0x7f0000000000
$(echo "$module" | tr -d '\n')
stack small 0x7f0000000100 $in_exported $in_main
stack large 0x7f0000000100 $in_stays $in_exported $in_main
labels acme tenant="acme"
thread 1 tid=11 name="main"
@1000000 thread=1 alloc sample=1 address=0x10 bytes=1024 period=524288 stack=small labels=acme
@2000000 thread=1 alloc sample=2 address=0x20 bytes=1024 period=524288 stack=small labels=acme
@3000000 thread=1 alloc sample=3 address=0x30 bytes=1024 period=524288 stack=small labels=acme
@4000000 thread=1 alloc sample=4 address=0x40 bytes=1024 period=524288 stack=small labels=acme
@5000000 thread=1 free sample=3 address=0x30 bytes=1024 period=524288
@6000000 thread=1 alloc sample=5 address=0x50 bytes=524288 period=524288 stack=large
END
"$bin/../../../trc-assemble" heap.txt heap.trc || fail 'trc-assemble heap'
for kind in heap allocs; do
	"$bin/profile_export" $kind heap.trc $kind.pb.gz || fail "export $kind"
done
pprof heap -raw heap.pb.gz
expect 'alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes\[dflt\]' heap
expect '^PeriodType: space bytes' heap
expect '^Period: 524288' heap
expect '^ +2050 +2099200 +1537 +1574400: ' heap
expect '^ +1 +829411 +1 +829411: ' heap
expect 'bytes:\[1024 bytes\]' heap
expect 'tenant:\[acme\]' heap
refuse 'preload' heap
pprof heaptop -top heap.pb.gz
expect '^Type: inuse_space' heaptop
expect '^ +1537.50kB .* exported$' heaptop
expect '^ +809.97kB .* innermost \(inline\)' heaptop
pprof inuse -top -sample_index=inuse_space heap.pb.gz
expect '^ +1537.50kB .* exported$' inuse
pprof objects -top -sample_index=inuse_objects heap.pb.gz
expect '^ +1537 .* exported$' objects
pprof allocated -top -sample_index=alloc_objects heap.pb.gz
expect '^ +2050 .* exported$' allocated
pprof space -top -sample_index=alloc_space heap.pb.gz
expect '^ +2050kB .* exported$' space
pprof heaptags -tags heap.pb.gz
expect 'bytes: Total' heaptags
expect ': 1kB$' heaptags
expect ': 512kB$' heaptags
expect 'tenant: Total' heaptags
pprof heaplist -list '^exported$' heap.pb.gz
expect 'ROUTINE =+ exported in .*symbols_program.c' heaplist
pprof heappeek -peek '^exported$' heap.pb.gz
pprof heaptraces -traces heap.pb.gz
expect '1.50MB   exported' heaptraces
pprof heapdiff -top -base heap.pb.gz heap.pb.gz
refuse exported heapdiff
pprof allocs -raw allocs.pb.gz
expect 'alloc_objects/count alloc_space/bytes\[dflt\] inuse_objects/count inuse_space/bytes' allocs
pprof allocstop -top allocs.pb.gz
expect '^Type: alloc_space' allocstop
expect '^ +2050kB .* exported$' allocstop

go tool pprof -proto -output again.pb.gz cpu.pb.gz >proto.out 2>proto.err || fail 'proto of cpu'
grep -v '^Generating report in' proto.err >proto.rest && { fail 'proto of cpu: on stderr'; cat proto.rest; }
pprof cpuagain -raw again.pb.gz
grep -v '^Time' cpu.out >raw.1
grep -v '^Time' cpuagain.out >raw.2
cmp -s raw.1 raw.2 || { fail 'the CPU profile read back differs'; diff raw.1 raw.2; }

# A stripped program keeps addresses; pprof may ask the file itself and is content.
strip -o stripped program
assemble bare "module program path=\"$work/stripped\" start=$start limit=$limit offset=$offset bias=$bias build_id=$id"
pprof stripped -top bare-block.pb.gz
expect '30.50ms' stripped

# Off, and in no wait: where it was sampled last, under two frames that say so.
cat >before.txt <<END
module program path="$work/program" start=$start limit=$limit offset=$offset bias=$bias build_id=$id
stack exported $in_exported $in_main
thread 1 tid=11
sample_event 1 period=1000
@20 thread=1 source=kernel proc_start
@100 thread=1 sample event=1 value=1000 stack=exported
@1000000 thread=1 source=kernel proc_stop preempted=1
@2000000 thread=1 source=kernel proc_start
@110000000 thread=1 source=kernel proc_stop
@113000000 thread=1 source=kernel proc_start
END
"$bin/../../../trc-assemble" before.txt before.trc
"$bin/profile_export" offcpu before.trc before.pb.gz || fail 'export of what was preempted'
pprof before -traces -functions before.pb.gz
sed 's/^ *\([0-9]*ms\)* *//' before.out | tr '\n' '/' >frames.out
expect '/\(preempted\)/\(sampled before\)/exported/main/' frames
expect '/\(off CPU, in no recorded wait\)/\(sampled over 100 ms before\)/exported/main/' frames

# No module at all: an address, and a wait without a stack.
cat >none.txt <<END
stack unknown 0x401000
thread 1 tid=11
@10 thread=1 park reason=mutex object=0x10 stack=unknown
@20 thread=1 resume reason=mutex object=0x10
@1000000 thread=1 park reason=mutex object=0x10
@2000000 thread=1 resume reason=mutex object=0x10
END
"$bin/../../../trc-assemble" none.txt none.trc
"$bin/profile_export" block none.trc none.pb.gz || fail 'export without modules'
pprof none -top none.pb.gz
expect '1ms +100% .*\(no stack\)' none
"$bin/profile_export" mutex none.trc empty.pb.gz || fail 'export of an empty profile'
pprof empty -raw empty.pb.gz
expect 'delay/nanoseconds' empty

[ $failures -eq 0 ]
