#!/bin/sh
# What trc_symbols_find() says of programs compiled here, compared with what is known of
# their source and with addr2line.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
probe=$top_builddir/tests/analyzer/model/symbols_probe
source=$top_srcdir/tests/analyzer/model/symbols_program.c
failures=0
unset TRC_DEBUG_PATH DEBUGINFOD_URLS
cd "$work" || exit 2
work=$(pwd -P)

for tool in addr2line objcopy objdump nm readelf strip; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not there"; exit 77; }
done

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

build_id() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# The file's address of a function.
address_of() {
	nm "$1" | awk -v name="$2" '$3 == name { print $1 }'
}

instructions_of() {
	for function in $2; do
		objdump -d --disassemble="$function" "$1" | sed -n 's/^ *\([0-9a-f]*\):	.*/\1/p'
	done
}

line_of() {
	grep -n "$1" "$source" | head -1 | cut -d: -f1
}

# expect TEXT FILE WHAT: FILE has a line that is TEXT.
expect() {
	grep -qxF -- "$1" "$2" || { fail "$3: no line \"$1\" in:"; cat "$2"; }
}

# Directories and discriminators off, unknown lines as 0.
plain() {
	sed -e 's/ (discriminator [0-9]*)//' -e 's/:?$/:0/' -e 's|^/.*/||'
}

# Every instruction of the program's functions is named as addr2line names it.
same_as_addr2line() {
	instructions_of "$work/$1" 'stays exported main' >addresses
	[ "$(wc -l <addresses)" -ge 20 ] || fail "$2: objdump lists too little"
	"$probe" -i "$(build_id "$1")" "$work/$1" - <addresses | plain >ours
	addr2line -afi -e "$1" <addresses | plain >theirs
	cmp -s ours theirs || { fail "$2: differs from addr2line"; diff ours theirs | head -20; }
	expect innermost ours "$2: the inlined call is seen"
}

compile() {
	compiler=$1
	shift
	"$compiler" "$@" "$source" || fail "$compiler $* does not compile"
}

compile cc -g -O2 -pie -fPIE -Wl,--build-id -o pie
same_as_addr2line pie 'a position-independent program'
# Unwind tables know functions that have lost their names.
strip -o nameless pie
for function in stays exported main; do
	instructions_of pie $function >addresses
	"$probe" -s -i "$(build_id nameless)" "$work/nameless" - <addresses |
		grep -v ^trouble: | sort -u >ours
	[ "$(cat ours)" = "$(address_of pie $function)" ] ||
		{ fail "nameless: where $function begins"; cat ours; }
done
compile cc -g -O2 -no-pie -fno-pie -Wl,--build-id -o fixed
same_as_addr2line fixed 'a program at fixed addresses'
compile cc -gdwarf-4 -O2 -Wl,--build-id -o dwarf4
same_as_addr2line dwarf4 'DWARF 4'
compile cc -g -gz=zlib -O2 -Wl,--build-id -o compressed
same_as_addr2line compressed 'compressed debug sections'
for clang in clang clang-14; do
	command -v $clang >/dev/null || continue
	compile $clang -gdwarf-4 -O2 -Wl,--build-id -o clang.out # addr2line misreads its DWARF 5
	same_as_addr2line clang.out 'clang: no .debug_aranges'
	break
done

# One known address: the call of innermost() inside middle() inside stays().
first=$(line_of 'counter += value')
instructions_of pie stays | "$probe" -l -i "$(build_id pie)" "$work/pie" - |
	grep -A 9 -m 1 -x innermost >chain
{
	echo innermost
	echo "$source:$first"
	echo "	linkage - start_line $(line_of 'int innermost') inlined"
	echo middle
} >wanted
head -4 chain | cmp -s - wanted || { fail 'the chain of inlined calls'; diff wanted chain; }
sed -n 7p chain | grep -qx stays || { fail 'the chain ends in the real function'; cat chain; }

# The process's addresses: moved by the load bias.
entry=$(address_of pie exported)
moved=$(printf '%x' $((0x$entry + 0x555555554000)))
"$probe" -b 555555554000 -i "$(build_id pie)" "$work/pie" "$moved" >out
expect exported out 'the load bias is subtracted'

# Variables, and places in them; nothing is said of what lies beyond.
settings=$(address_of pie settings)
"$probe" -v -b 555555554000 -i "$(build_id pie)" "$work/pie" \
	"$(printf '%x' $((0x$settings + 0x555555554000)))" \
	"$(printf '%x' $((0x$settings + 0x555555554000 + 8)))" \
	"$(printf '%x' $((0x$settings + 0x555555554000 + 4096)))" >out
printf 'settings+0\nsettings+8\n??+0\n' | cmp -s - out || { fail 'variables'; cat out; }

# Stripped of debug information: names remain, and it says that lines are missing.
strip -g -o symtab pie
"$probe" -i "$(build_id pie)" "$work/symtab" "$entry" "$(address_of pie stays)" >out
expect exported out 'without DWARF, from .symtab'
expect stays out 'a static function from .symtab'
expect '??:0' out 'without DWARF there is no line'
expect 'trouble: no debug information found' out 'poorer symbols are said to be so'

# .dynsym when nothing else is there; static functions have no name then, not a wrong one.
compile cc -O2 -rdynamic -Wl,--build-id -o dynamic
stays=$(address_of dynamic stays)
entry_dynamic=$(address_of dynamic exported)
strip -o stripped dynamic
"$probe" -i "$(build_id dynamic)" "$work/stripped" "$entry_dynamic" >out
expect exported out 'stripped, from .dynsym'
"$probe" -i "$(build_id dynamic)" "$work/stripped" "$stays" >out
expect '??' out 'a static function of a stripped program has no name'

# A separate debug file: by build id below a directory of TRC_DEBUG_PATH.
id=$(build_id pie)
rest=${id#??}
xx=${id%"$rest"}
objcopy --only-keep-debug pie pie.separate
strip -o nothing pie
mkdir -p "debug/.build-id/$xx" other
cp pie.separate "debug/.build-id/$xx/$rest.debug"
TRC_DEBUG_PATH=$work/other:$work/debug "$probe" -i "$id" "$work/nothing" "$entry" >out
expect exported out 'a debug file by build id'
grep -q 'symbols_program.c:[1-9]' out || fail 'its lines'
"$probe" -i "$id" "$work/nothing" "$entry" >out
expect '??' out 'without TRC_DEBUG_PATH it is not found'

# ... by .gnu_debuglink, beside it and in .debug/.
cp nothing linked
objcopy --add-gnu-debuglink=pie.separate linked
"$probe" -i "$id" "$work/linked" "$entry" >out
expect exported out 'a debug file by .gnu_debuglink'
mkdir .debug
mv pie.separate .debug/
"$probe" -i "$id" "$work/linked" "$entry" >out
expect exported out 'a debug file in .debug/'

# ... by checksum where there is no build id; a wrong checksum is refused.
compile cc -g -O2 -Wl,--build-id=none -o noid
entry_noid=$(address_of noid exported)
objcopy --only-keep-debug noid noid.separate
strip noid
objcopy --add-gnu-debuglink=noid.separate noid
"$probe" "$work/noid" "$entry_noid" >out
expect exported out 'a debug file by checksum'
printf 'x' >>noid.separate
"$probe" "$work/noid" "$entry_noid" >out
expect '??' out 'a debug file with another checksum is refused'

# The program was rebuilt since: no names rather than wrong ones.
cp pie replaced
compile cc -g -O1 -Wl,--build-id -o replaced
"$probe" -i "$id" "$work/replaced" "$entry" >out
expect '??' out 'a program with another build id'
expect 'trouble: changed since the recording' out 'a program with another build id'
# ... unless a copy of the right one can be found.
TRC_DEBUG_PATH=$work/debug "$probe" -i "$id" "$work/replaced" "$entry" >out
expect exported out 'the old program by its build id'

# What a stripped file has kept of its symbol table, compressed: static functions have names again.
stays_pie=$(address_of pie stays)
nm pie --format=posix --defined-only | awk '$2 == "T" || $2 == "t" { print $1 }' >functions
objcopy -S --remove-section .gnu_debuglink --keep-symbols=functions pie kept 2>/dev/null
objcopy --only-keep-debug kept kept.debug
xz kept.debug
cp nothing mini
"$probe" -i "$id" "$work/mini" "$stays_pie" >out
expect '??' out 'a static function that was stripped'
objcopy --add-section .gnu_debugdata=kept.debug.xz mini
"$probe" -i "$id" "$work/mini" "$stays_pie" >out
expect stays out 'a static function in .gnu_debugdata'
for bytes in 7 40 200; do
	head -c $bytes kept.debug.xz >cut.xz
	objcopy --update-section .gnu_debugdata=cut.xz mini cut-mini
	"$probe" -i "$id" "$work/cut-mini" "$stays_pie" >out
	expect '??' out "a .gnu_debugdata that ends after $bytes bytes"
done

# What is not here is fetched from the servers that the environment names, and from nowhere else.
export DEBUGINFOD_CACHE_PATH=$work/cache DEBUGINFOD_TIMEOUT=5
mkdir -p "servers/buildid/$id" "none/buildid"
cp .debug/pie.separate "servers/buildid/$id/debuginfo"
cp nothing "servers/buildid/$id/executable"
if PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -F libdebuginfod.so.1 >/dev/null; then
	DEBUGINFOD_URLS="file://$work/none" "$probe" -i "$id" "$work/nothing" "$entry" >out
	expect 'trouble: no debug information found, here or at DEBUGINFOD_URLS' out 'a server without the file'
	rm -rf cache
	DEBUGINFOD_URLS="file://$work/servers" "$probe" -i "$id" "$work/nothing" "$entry" >out
	expect exported out 'a debug file from a server'
	grep -q 'symbols_program.c:[1-9]' out || fail 'its lines'
	DEBUGINFOD_URLS="file://$work/servers" "$probe" -i "$id" "$work/replaced" "$entry" >out
	expect exported out 'a program that has changed, from a server'
	grep -q 'symbols_program.c:[1-9]' out || fail 'its lines'
	rm -rf cache
	DEBUGINFOD_URLS=http://127.0.0.1:1/ "$probe" -i "$id" "$work/nothing" "$entry" >out
	expect 'trouble: no debug information found here, and DEBUGINFOD_URLS do not answer' out 'a server that is not there'
	rm -rf cache
	: >"servers/buildid/$id/debuginfo"
	DEBUGINFOD_URLS="file://$work/servers" "$probe" -i "$id" "$work/nothing" "$entry" >out
	expect '??' out 'a server that answers with nothing'
	cp "$probe" "servers/buildid/$id/debuginfo"
	rm -rf cache
	DEBUGINFOD_URLS="file://$work/servers" "$probe" -i "$id" "$work/nothing" "$entry" >out
	expect '??' out 'a server that answers with another file'
fi
unset DEBUGINFOD_URLS

"$probe" "$work/not-there" 1000 >out
expect 'trouble: not found' out 'a program that is gone'
"$probe" '[vdso]' 1000 >out
expect 'trouble: is not a file' out 'what never was a file'
mkfifo fifo
"$probe" "$work/fifo" 1000 >out
expect 'trouble: not found' out 'a FIFO in its place is not waited for'
head -c 3000 pie >cut
"$probe" "$work/cut" "$entry" >out || fail 'a file cut short'

# Strings of the debug information whose last has no zero, which libdw reads on from: as if there were
# none, also where they are compressed.
for section in .debug_line_str .debug_str; do
	for kind in none zlib; do
		compile cc -gdwarf-5 -O2 -gz=none -Wl,--build-id -o unended
		objcopy --dump-section $section=strings unended
		bytes=$(($(wc -c <strings) - 1))
		head -c $bytes strings >unended.strings
		printf 'xxxxxxxxxxxxxxxx' >>unended.strings
		objcopy --update-section $section=unended.strings --compress-debug-sections=$kind unended
		"$probe" -i "$(build_id unended)" "$work/unended" "$(address_of unended exported)" \
			"$(address_of unended stays)" >out || fail "$section, $kind: status $?"
		expect exported out "$section, $kind: the name of the table"
		expect 'trouble: no debug information found' out "$section, $kind: not read"
	done
done

# Stubs of the linkage table are called as objdump calls them: "exit@plt".
cat >stubs.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int argc, char **argv)
{
	struct timespec now;
	void (*volatile leave)(int) = exit; /* an address as well as a call: .plt.got */
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%s %ld\n", argv[0], (long)now.tv_nsec);
	if (argc > 2)
		exit((int)strlen(argv[1]));
	leave(0);
	return 0;
}
END

link_stubs() {
	cc -O2 -Wl,--build-id "$@" stubs.c || fail "cc $* does not compile"
}

# stubs_of FILE: "ADDRESS NAME" of each of their instructions.
stubs_of() {
	objdump -d "$1" | awk '/^[0-9a-f]+ <.*>:$/ { name = substr($2, 2, length($2) - 3) }
		name ~ /@plt$/ && /^ +[0-9a-f]+:\t/ && !/\t(cs )?nop|\txchg|\tint3|\tdata16/ {
			print substr($1, 1, length($1) - 1), name }'
}

# names_of FILE: likewise for the addresses of stdin.
names_of() {
	"$probe" -i "$(build_id "$1")" "$work/$1" - | awk '/^0x/ { address = $1
		sub(/^0x0*/, "", address)
		getline name
		print address, name }'
}

# No section headers: e_shoff is 0, e_shnum and e_shstrndx are.
forget_sections() {
	strip "$1"
	printf '\0\0\0\0\0\0\0\0' | dd of="$1" bs=1 seek=40 conv=notrunc status=none
	printf '\0\0\0\0' | dd of="$1" bs=1 seek=60 conv=notrunc status=none
}

stubs_are_named() {
	file=$1
	shift
	link_stubs "$@" -o "$file"
	stubs_of "$file" >theirs
	[ "$(cut -d' ' -f2 theirs | sort -u | grep -cE '^(clock_gettime|printf|exit)@plt$')" = 3 ] ||
		{ fail "$file: objdump lists too little"; cat theirs; }
	cut -d' ' -f1 theirs | names_of "$file" >ours
	cmp -s ours theirs || { fail "$file: stubs"; diff ours theirs | head; }
	forget_sections "$file"
	cut -d' ' -f1 theirs | names_of "$file" >ours
	cmp -s ours theirs || { fail "$file, without section headers: stubs"; diff ours theirs | head; }
}

stubs_are_named lazy -Wl,-z,lazy
stubs_are_named now -Wl,-z,now
stubs_are_named no-pie -no-pie -fno-pie -Wl,-z,lazy
stubs_are_named shared.so -shared -fPIC
! command -v ld.gold >/dev/null || stubs_are_named gold -fuse-ld=gold -Wl,-z,lazy
if [ "$(uname -m)" = x86_64 ]; then
	stubs_are_named ibt.now -fcf-protection -Wl,-z,ibtplt -Wl,-z,now
	stubs_are_named ibt -fcf-protection -Wl,-z,ibtplt -Wl,-z,lazy
	# objdump names those of .plt.sec; those of .plt are in the same order behind the header.
	link_stubs -fcf-protection -Wl,-z,ibtplt -Wl,-z,lazy -o ibt
	objdump -d -j .plt ibt | sed -n 's/^ *\([0-9a-f]*\):	.*/\1/p' | names_of ibt |
		cut -d' ' -f2 | grep -v '??' | uniq >ours
	{
		echo .plt
		objdump -d -j .plt.sec ibt | sed -n 's/^[0-9a-f]* <\(.*\)>:$/\1/p'
	} >theirs
	cmp -s ours theirs || { fail 'stubs that only push'; diff ours theirs; }

	# Indirect functions of programs that need no dynamic linker, by what resolves them.
	for kind in -static -static-pie; do
		link_stubs $kind -o indirect
		nm indirect | sed 's/^0*//' >resolvers
		readelf -rW indirect |
			sed -n 's/^0*\([0-9a-f]*\) .*IRELATIV[^ ]* *\([0-9a-f]*\)$/\1 \2/p' >slots
		objdump -d -j .plt indirect | sed -n 's/^ *\([0-9a-f]*\):.*# \([0-9a-f]*\) .*/\1 \2/p' |
			while read -r at slot; do
				resolver=$(sed -n "s/^$slot //p" slots)
				[ -z "$resolver" ] || echo "$at $resolver"
			done >stubs
		[ "$(wc -l <stubs)" -ge 5 ] || { fail "$kind: stubs of indirect functions"; cat stubs; }
		cut -d' ' -f1 stubs | names_of indirect | cut -d' ' -f2 >ours
		paste -d' ' stubs ours | while read -r at resolver name; do
			grep -q "^$resolver i ${name%@plt}\$" resolvers || echo "$at $resolver $name"
		done >wrong
		[ ! -s wrong ] || { fail "$kind: names of indirect functions"; cat wrong; }
	done
fi

# Without sections any code may be a stub.  Each address costs the same, however many were asked
# for: all take some tenths of a second of CPU time, and minutes if they do not.
cat >large.c <<'END'
int main(void) { return 0; }
__asm__(".text\n.fill 2000000, 1, 0x90");
END
cc -Wl,--build-id -o large large.c || fail 'a large program does not compile'
seq "$(printf '%d' "0x$(address_of large main)")" 17 1800000 | awk '{ printf "%x\n", $1 }' >addresses
forget_sections large
(ulimit -t 20 && exec "$probe" -i "$(build_id large)" "$work/large" - <addresses >ours) ||
	fail 'many addresses without sections: too slow'
[ "$(grep -c '^0x' ours)" = "$(wc -l <addresses)" ] || fail 'many addresses without sections'

# In the tables of a trace, too.  What a stack has is the address behind the one that was sampled.
link_stubs -no-pie -fno-pie -o sampled
at=$(stubs_of sampled | awk '$2 == "clock_gettime@plt" { print $1; exit }')
cat >sampled.txt <<END
module program path="$work/sampled" start=0x1000 limit=0x10000000 bias=0 build_id=$(build_id sampled)
stack s 0x$(printf '%x' $((0x$at + 1))) 0x$(printf '%x' $((0x$(address_of sampled main) + 5)))
thread 1 tid=101 name="main"
@1000 thread=1 park reason=mutex object=0x10 stack=s
@5000 thread=1 resume reason=mutex object=0x10
END
"$top_builddir/trc-assemble" sampled.txt sampled.trc || fail 'trc-assemble'
"$top_builddir/analyzer/trace-analyze" --output csv --sql \
	'SELECT function FROM stack_frames s JOIN frames f ON f.id = s.frame ORDER BY depth' sampled.trc |
	tr -d '\r' >out
printf 'function\nclock_gettime@plt\nmain\n' | cmp -s - out || { fail 'a stub in a trace'; cat out; }

# A function whose last act is a jump has no frame, but the caller's debug information leads to it, also
# to one with a cold part, which has two ranges of addresses.
cat >tails.c <<'END'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline, cold)) void refuse(int n) { __asm__ volatile("" : : "r"(n) : "memory"); }
__attribute__((noinline)) void save(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}
__attribute__((noinline)) void save_or_refuse(int n)
{
	if (__builtin_expect(n > 7, 0)) {
		refuse(n);
		refuse(n + 1);
	}
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}
int main(int argc, char **argv)
{
	(void)argv;
	save();
	save_or_refuse(argc);
	return 0;
}
END
cc -g -O2 -no-pie -fno-pie -Wl,--build-id -o tails tails.c || fail 'a program with tail calls does not compile'
# The address behind the call of a function in main.
behind_call_of() {
	objdump -d --disassemble=main tails | awk -v called="<$1>" '
		found { sub(/:.*/, "", $1); print $1; exit }
		/\tcall/ && $NF == called { found = 1 }'
}
# At other optimizations, or with other compilers, there may be no jump to follow.
leaves_by_jump() {
	objdump -d --disassemble="$1" tails | grep -q 'jmp.*<pthread_mutex_unlock@plt>'
}
for function in save save_or_refuse; do
	leaves_by_jump $function || continue
	cat >tails.txt <<END
module program path="$work/tails" start=0x1000 limit=0x10000000 bias=0 build_id=$(build_id tails)
stack s 0x$(behind_call_of $function)
thread 1 tid=101 name="main"
@1000 thread=1 park reason=mutex object=0x10 stack=s
@5000 thread=1 resume reason=mutex object=0x10
END
	"$top_builddir/trc-assemble" tails.txt tails.trc || fail 'trc-assemble'
	"$top_builddir/analyzer/trace-analyze" --output csv --sql \
		'SELECT function FROM stack_frames s JOIN frames f ON f.id = s.frame ORDER BY depth' \
		tails.trc | tr -d '\r' >out
	printf 'function\n%s\nmain\n' $function | cmp -s - out || { fail "the jump out of $function"; cat out; }
done

# C++: readable names without parameters, and the linker's name beside them.
cat >cpp.cc <<'END'
namespace ns {
struct thing { __attribute__((noinline)) int method(int value) const; };
int thing::method(int value) const { static volatile int sink; sink = value; return sink; }
}
template <typename T> __attribute__((noinline)) T twice(T value) { return value * 2; }
template int twice<int>(int);
namespace { struct quiet { __attribute__((noinline)) int run(); }; 
int quiet::run() { static volatile int sink; return ++sink; } }
int main() { return ns::thing().method(3) + twice(4) + quiet().run(); }
END
if c++ -g -O2 -Wl,--build-id -o cpp cpp.cc 2>/dev/null && ldconfig -p 2>/dev/null | grep -q libstdc; then
	for option in '' -g; do
		[ -z "$option" ] || strip -g cpp
		"$probe" -l -i "$(build_id cpp)" "$work/cpp" "$(address_of cpp _ZNK2ns5thing6methodEi)" \
			"$(address_of cpp _Z5twiceIiET_S0_)" >out
		expect ns::thing::method out "C++ method, strip $option"
		expect 'twice<int>' out "C++ template, strip $option"
		grep -q 'linkage _ZNK2ns5thing6methodEi' out || fail 'the linkage name'
	done
	c++ -O2 -shared -fPIC -Wl,--build-id -o cpp.so cpp.cc
	at=$(stubs_of cpp.so | awk '$2 == "_ZNK2ns5thing6methodEi@plt" { print $1; exit }')
	"$probe" -l -i "$(build_id cpp.so)" "$work/cpp.so" "$at" >out
	expect ns::thing::method@plt out 'a stub of a C++ method'
	grep -q 'linkage _ZNK2ns5thing6methodEi@plt' out || fail 'the linkage name of a stub'

	# gcc numbers lambdas by their parameters from version 13 on, and all of a function together before.
	cat >lambdas.cc <<'END'
static volatile int sink;
int main(int argc, char **)
{
	auto first = [] { return ++sink; };
	auto any = [](auto value) { return sink += value; };
	auto second = [](int value) { return sink *= value; };
	return first() + any(argc) + second(argc) + [] { return --sink; }();
}
END
	c++ -std=c++17 -g -gdwarf-4 -O2 -Wl,--build-id -o lambdas lambdas.cc
	objcopy --dump-section .debug_str=strings lambdas lambdas.out
	for producer in '12\.2 1 2 3 4' '13\.2 1 1 1 2'; do
		set -- $producer
		# The name of the compiler keeps its length.
		LC_ALL=C sed "s/GNU C++17 [0-9][0-9]\.[0-9]/GNU C++17 $1/" strings >producers
		grep -aq "GNU C++17 $1" producers || break # it is not gcc
		objcopy --update-section .debug_str=producers lambdas lambdas.out
		instructions_of lambdas main | "$probe" -i "$(build_id lambdas)" "$work/lambdas.out" - >out
		expect "main::{lambda()#$2}::operator()" out "gcc $1: the first lambda"
		expect "main::{lambda(auto:1)#$3}::operator()<int>" out "gcc $1: a generic lambda"
		expect "main::{lambda(int)#$4}::operator()" out "gcc $1: other parameters"
		expect "main::{lambda()#$5}::operator()" out "gcc $1: the same parameters again"
	done

	# LLVM makes a name unique with a number that is too large for libstdc++.
	cat >llvm.c <<'END'
__attribute__((noinline)) int closure(int value)
	__asm__("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17hadb77367c09883e4E.llvm.16089197610755089443");
int closure(int value) { static volatile int sink; sink = value; return sink; }
int main(void) { return closure(0); }
END
	cc -O2 -Wl,--build-id -o llvm llvm.c
	"$probe" -l -i "$(build_id llvm)" "$work/llvm" "$(nm llvm | awk '/llvm/ { print $1 }')" >out
	expect 'std::rt::lang_start::{{closure}}' out 'a name with a suffix of LLVM'
	grep -q 'linkage _ZN3std2rt.*443' out || fail 'its linkage name has the suffix'
fi

[ $failures -eq 0 ]
