#!/bin/sh
# What trc_symbols_member() says of variables of programs compiled here, compared with where the
# programs themselves say that the members are.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
probe=$top_builddir/tests/analyzer/model/symbols_probe
failures=0
unset TRC_DEBUG_PATH DEBUGINFOD_URLS
cd "$work" || exit 2
work=$(pwd -P)

command -v readelf >/dev/null || { echo "skipped: readelf is not there"; exit 77; }

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# Each program prints the address of something, less where it is loaded, and what that is called.
cat >members.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>

extern const char __ehdr_start[];
#define SAY(object, name) printf("%zx %s\n", (size_t)((const char *)&(object) - __ehdr_start), name)

typedef pthread_mutex_t lock_type;
struct gil {
	int locked;
	pthread_cond_t cond;
	lock_type mutex;
};
static struct runtime {
	char name[24];
	const volatile struct {
		struct gil gil;
		long count;
	} ceval;
	union {
		struct {
			int a, b;
			sem_t ready;
		};
		char bytes[400];
	};
	struct { int none[0]; pthread_rwlock_t lock[2]; int bits : 3; } table[3][5];
	long last;
} runtime;
pthread_mutex_t plain, many[7];
static int numbers[10];
static char text[50];
static struct runtime *pointer = &runtime;

static void *inner(void)
{
	static struct { int n; pthread_mutex_t lock; } once[2];

	return &once[1].lock;
}

int main(void)
{
	SAY(runtime.ceval.gil.cond, "runtime.ceval.gil.cond+0");
	SAY(runtime.ceval.gil.mutex, "runtime.ceval.gil.mutex+0");
	SAY(runtime.ceval.count, "runtime.ceval.count+0");
	SAY(runtime.ready, "runtime.ready+0");
	SAY(runtime.table[2][3].lock[1], "runtime.table[2][3].lock[1]+0");
	SAY(runtime.table[0][0].lock[0], "runtime.table[0][0].lock[0]+0");
	SAY(runtime.last, "runtime.last+0");
	SAY(runtime.name[3], "runtime.name+3");
	SAY(runtime.bytes[399], "runtime.bytes+399");
	SAY(plain, "plain+0");
	SAY(many[6], "many[6]+0");
	SAY(((char *)&many[6])[3], "many[6].__data.__lock+3");
	SAY(numbers[9], "numbers[9]+0");
	SAY(text[7], "text+7");
	SAY(pointer, "pointer+0");
	SAY(*(char *)inner(), "once[1].lock+0");
	return 0;
}
END
cat >members.cc <<'END'
#include <array>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <vector>

extern "C" const char __ehdr_start[];
#define SAY(object, name) printf("%zx %s\n", (size_t)((const char *)&(object) - __ehdr_start), name)

namespace app {
struct base {
	long generation;
	std::mutex guard;
};
class queue : public base {
public:
	std::vector<int> items;
	std::condition_variable ready;
	std::array<std::shared_mutex, 4> shard;
	static queue shared;
};
queue queue::shared;
namespace { queue hidden; }
}
static std::mutex lone;
struct stats { int n; std::recursive_mutex lock; };
static stats &counters() { static stats counters; return counters; }

int main()
{
	SAY(app::queue::shared.guard, "app::queue::shared.guard+0");
	SAY(app::queue::shared.ready, "app::queue::shared.ready+0");
	SAY(app::queue::shared.shard[3], "app::queue::shared.shard[3]+0");
	SAY(app::hidden.guard, "app::(anonymous namespace)::hidden.guard+0");
	SAY(lone, "lone+0");
	SAY(counters().lock, "counters()::counters.lock+0");
	return 0;
}
END

# check WHAT PROGRAM: the compiled program's own list, compared with the probe's.
check() {
	id=$(readelf -n "$2" | sed -n 's/.*Build ID: //p')
	"./$2" >list || { fail "$1: it does not run"; return; }
	cut -d' ' -f2- list >wanted
	"$probe" -m -i "$id" "$work/$2" $(cut -d' ' -f1 list) >found
	# Variables within functions are named by the linker: once.0, inner.once, counters()::counters.
	sed 's/counters()::counters/counters::counters/' wanted >wanted.plain
	sed 's/counters()::counters/counters::counters/; s/^inner\.//; s/^once\.[0-9]*/once/' found >found.plain
	cmp -s wanted.plain found.plain || { fail "$1: not as the program says"; diff wanted.plain found.plain; }
}

n=0
for options in -gdwarf-5 -gdwarf-4 '-g -O2' '-gdwarf-4 -fdebug-types-section' '-gdwarf-5 -gsplit-dwarf' '-g3 -flto'; do
	for compiler in 'cc members.c' 'c++ members.cc' 'clang-14 members.c' 'clang++-14 members.cc'; do
		command -v "${compiler% *}" >/dev/null || continue
		case $options:$compiler in *flto:clang*) continue ;; esac
		# shellcheck disable=SC2086
		${compiler% *} $options -std=gnu++17 -pie -fPIE -pthread -Wl,--build-id -o program \
			"${compiler#* }" 2>trouble ||
		${compiler% *} $options -pie -fPIE -pthread -Wl,--build-id -o program "${compiler#* }" 2>trouble ||
			{ echo "not compiled: $compiler $options: $(head -1 trouble)"; continue; }
		check "$compiler $options" program
		n=$((n + 1))
	done
done
[ $n -ge 4 ] || fail "only $n programs were compiled"

# Without debug information the offset is all that is known.
cc -pie -fPIE -pthread -Wl,--build-id -o bare members.c || fail 'it does not compile'
id=$(readelf -n bare | sed -n 's/.*Build ID: //p')
at=$(./bare | sed -n 's/ runtime.last+0//p')
"$probe" -m -i "$id" "$work/bare" "$at" | grep -qxE 'runtime\+[0-9]+' || fail 'a bare program: a member?'

[ $failures -eq 0 ]
