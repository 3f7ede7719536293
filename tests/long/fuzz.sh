#!/bin/bash
# fuzz.sh - libFuzzer over what parses: traces, ring files, requests, symbol files.
#
# FUZZ_SECONDS=60 for each target, LONG_ONLY chooses among them.  Built by clang with the address and
# undefined sanitizers in a tree of its own; what they found of interest is kept beside it for the
# next run.  An input that broke a promise is left in the directory of logs.
. "$(dirname "$0")/lib.sh"

seconds=${FUZZ_SECONDS:-60}
tree=${FUZZ_BUILD:-$(dirname "$work")/fuzz-build}
targets='reader model ring http symbols sframe'

build_targets()
{
	local target programs=tests/format/fuzz_reader

	for target in $targets; do
		programs="$programs tests/long/fuzz_$target"
	done
	mkdir -p "$tree" && cd "$tree" || exit 1
	{
		[ -e Makefile ] || "$top_srcdir/configure" -q CC=clang CXX=clang++ \
			--enable-sanitize=address,undefined CFLAGS='-O1 -g -fsanitize=fuzzer-no-link'
		# shellcheck disable=SC2086 # words
		make -s $programs
	} >"$work/build.log" 2>&1 || {
		tail -n 20 "$work/build.log"
		fail 'the targets cannot be built'
	}
}

# ---- seeds -------------------------------------------------------------------------------------

# Made by hand, and recorded.
seeds_of_traces()
{
	"$tree/tests/format/fuzz_reader" --seeds "$1"
	"$trace_record" -q -o "$1/short.trc" -- sleep 0.01
	"$trace_record" -q -F 1000 --heap=4096 --locks all -o "$1/sampled.trc" -- \
		sort -o /dev/null "$top_srcdir/docs/format.md"
	"$trace_record" -q --flight --snapshot-on exit -o "$1/flight.trc" -- sleep 0.01
} >/dev/null 2>&1

seeds_of_ring()
{
	printf '\0' >"$1/nothing"
	printf '\002r\000\005\000\001\144\000\003\000\001\000\002\002\000' >"$1/record"
	printf '\001c\145\004\003\144\000\001\001\000\000\000\000\000\000\000\000\001\000\002' >"$1/cells"
	printf '\000p\003\020\000\004\001\002\003\004p\013\000\000\004\377\377\377\377' >"$1/patches"
}

seeds_of_http()
{
	local n=0 address

	for address in / /debug/pprof /debug/pprof/ /debug/pprof/block?debug=1 /debug/pprof/heap \
		'/debug/pprof/block?seconds=1' '/debug/pprof/threads?debug=4' /debug/pprof/cmdline \
		'/debug/pprof/profile?seconds=0.5&event=cycles&period=10' /debug/pprof/trace?seconds=1 \
		/debug/pprof/flight?seconds=2 /debug/pprof/symbol?0x101000+0x102000 \
		'/debug/pprof/%22%3e%3cscript%3e%0d%0ax:%20y%0a'; do
		n=$((n + 1))
		printf 'GET %s\n' "$address" >"$1/get$n"
	done
	printf 'HEAD /debug/pprof/trace\n' >"$1/head"
	printf 'POST /debug/pprof/symbol\n0x101234+0x204321+1052672' >"$1/post"
}

# Two functions in each version, asked for at their second row.
seeds_of_sframe()
{
	local kind

	for kind in "2" "2 field" "3" "3 field"; do
		awk -v address=0 -f "$top_srcdir/tests/recorder/unwind/sframe.awk" >"$work/seed.s" <<-END
			sframe $kind
			function 0x400 0x40
			row 0 sp+8
			row 1 sp+16 *cfa-16
			function 0x500 0x40 flexible
			row 0 *fp-8 *fp+0
			function 0x600 0x40 repeats 16
			row 0 sp+8
		END
		cc -c -o "$work/seed.o" "$work/seed.s"
		objcopy -O binary -j .text "$work/seed.o" "$work/seed.bin"
		{ printf '\001\004' && cat "$work/seed.bin"; } >"$1/${kind// /-}"
	done
}

# One program's file as linkers, compilers and strip make it.
seeds_of_symbols()
{
	local source=$work/seed.cc option

	cat >"$source" <<-'END'
		int counter;
		namespace space { struct thing { int n; static thing make(int n) { return {n}; } }; }
		static inline int twice(int n) { return 2 * space::thing::make(n).n; }
		extern "C" int entry(int n) { counter += twice(n); return counter; }
	END
	g++ -O2 -g -gdwarf-5 -fpic -shared -nostdlib -Wl,--build-id=none -o "$1/dwarf5.so" "$source"
	g++ -O2 -g -gdwarf-4 -gz -fpic -shared -nostdlib -Wl,--build-id=none -o "$1/dwarf4-gz.so" "$source"
	strip -o "$1/stripped.so" "$1/dwarf5.so"
	objcopy --only-keep-debug "$1/dwarf5.so" "$1/only.debug"
	objcopy --add-gnu-debuglink="$1/only.debug" "$1/stripped.so" "$1/link.so"
	strip -g -o "$1/symtab.so" "$1/dwarf5.so"
	# Lambdas, local classes, and functions that end in a jump.
	cat >"$source" <<-'END'
		extern "C" void away(int);
		static __attribute__((noinline)) void last(int n) { away(n + 1); }
		template <class T> struct box { T t; int run() { auto f = [this](int n) { return t + n; }; return f(3); } };
		extern "C" int entry(int n)
		{
			struct local { static int go(int n) { return n * 3; } };
			auto call = [](int n, const char *text) { last(n); return text[n]; };
			box<int> b{n};

			last(n);
			return call(n, "ab") + local::go(n) + b.run();
		}
	END
	g++ -O2 -g -fpic -shared -nostdlib -Wl,--build-id=none -o "$1/lambdas.so" "$source"
	g++ -O1 -g -gdwarf-4 -fpic -shared -nostdlib -Wl,--build-id=none -o "$1/lambdas4.so" "$source"
	# Stubs of the linkage table, which are found by sections or without.
	echo 'extern "C" int other(int); extern "C" int entry(int n) { return other(n) + 1; }' >"$source"
	for option in lazy now; do
		g++ -O2 -fpic -shared -nostdlib -Wl,--build-id=none -Wl,-z,$option \
			-o "$1/stubs-$option.so" "$source"
		strip -o "$1/bare-$option.so" "$1/stubs-$option.so"
		# e_shoff, e_shnum and e_shstrndx
		printf '\0\0\0\0\0\0\0\0' | dd of="$1/bare-$option.so" bs=1 seek=40 conv=notrunc status=none
		printf '\0\0\0\0' | dd of="$1/bare-$option.so" bs=1 seek=60 conv=notrunc status=none
	done
}

seeds_of()
{
	case $1 in
	reader | model) seeds_of_traces "$2" ;;
	*) "seeds_of_$1" "$2" ;;
	esac
}

# ---- a target ----------------------------------------------------------------------------------

stat_of()
{
	sed -n "s/^stat::$1: *//p" "$2"
}

fuzz()
{
	local target=$1 log=$work/$1.log corpus length=65536 status=0 options=
	corpus=$(dirname "$work")/corpus/$target

	mkdir -p "$corpus" "$work/seeds.$target" "$work/$target"
	seeds_of "$target" "$work/seeds.$target"
	case $target in
	ring | http | sframe) length=2048 ;;
	symbols)
		# elfutils 0.188 reads beyond a string section that ends without a zero byte.
		printf 'interceptor_via_lib:libdw\ninterceptor_via_lib:libelf\n' >"$work/suppressions"
		options=suppressions=$work/suppressions
		;;
	esac
	(
		cd "$work/$target" && ASAN_OPTIONS=$options "$tree/tests/long/fuzz_$target" -max_total_time="$seconds" \
			-max_len=$length -len_control=20 -rss_limit_mb=1024 -timeout=20 -seed="$LONG_SEED" \
			-print_final_stats=1 -artifact_prefix="$work/$target/" "$corpus" "$work/seeds.$target"
	) >"$log" 2>&1 </dev/null || status=$?
	say "$target: $(stat_of number_of_executed_units "$log") runs," \
		"$(stat_of average_exec_per_sec "$log") a second," \
		"$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)," \
		"$(find "$corpus" -type f | wc -l) inputs kept," \
		"$(stat_of peak_rss_mb "$log") MB at most$([ $status = 0 ] || echo "; BROKEN: $log")"
	[ $status = 0 ] || {
		grep -m 3 -E 'broken:|ERROR: |runtime error|SUMMARY' "$log"
		suite_failed=1
	}
}

need clang make g++ objcopy strip
build_targets
say "$seconds s for each target, seed $LONG_SEED"
for target in $targets; do
	[[ $target =~ ${only:-.} ]] && fuzz "$target"
done
exit $suite_failed
