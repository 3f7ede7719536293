#!/bin/bash
# exec_env.sh - programs whose loader cannot load the recorder run as they would without it: it is
# not in their LD_PRELOAD, while everything else is as it was.
#
# A loader of another name stands for another C library's: it runs the program, which tells.
name=exec_env
. "$(dirname "$0")/lib.sh"

ways=$here/exec_ways
loader=$(readelf -l "$(command -v env)" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
cat >tells.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern char **environ;
int main(void)
{
	const char *list = getenv("LD_PRELOAD");
	int n = 0;
	for (char **at = environ; *at; at++)
		n += !!strncmp(*at, "TRC_", 4) && !!strncmp(*at, "ASAN_", 5);
	printf("%s, %d variables\n", list ? list : "-", n);
	return 5;
}
END
cp "$loader" ld-musl-x.so.1
${CC:-cc} -o tells tells.c -Wl,--dynamic-linker="$work/ld-musl-x.so.1" || exit 99
${CC:-cc} -o here tells.c || exit 99
./tells >/dev/null 2>&1
[ $? = 5 ] || { echo 'skipped: the loader does not run under another name'; exit 77; }
export PATH=$work:$PATH

# as_plain WHERE LIST OPTIONS...: LD_PRELOAD is WHERE, with the recorder somewhere in it; programs
# get LIST, whatever executes them.
as_plain()
{
	local where=$1 list=$2
	shift 2
	sh -c "${list:+LD_PRELOAD='$list'} \"\$0\" \"\$1\"" "$ways" "$work/tells" >plain.out || return 1
	status 0 "$record" -q -o f.trc "$@" -- \
		sh -c "LD_PRELOAD=\"$where\" \"\$0\" \"\$1\"" "$ways" "$work/tells" || return 1
	rm -f f*.trc
	same "$(cat out)" "$(cat plain.out)" && empty err
}

check "nothing else is preloaded" as_plain '$LD_PRELOAD' ''
check "another object behind" as_plain '$LD_PRELOAD libm.so.6' libm.so.6
check "another object in front" as_plain 'libm.so.6:$LD_PRELOAD' libm.so.6
check "between two others" as_plain 'libm.so.6:$LD_PRELOAD:libdl.so.2' libm.so.6:libdl.so.2
check "samples by signals" as_plain '$LD_PRELOAD' '' -e cpu-clock -F 1000 --sample-by signal
check "a command that is not glibc's is refused" status 126 "$record" -o f.trc ./tells
check "... with the reason" grep -q 'its C library is not glibc' err
check "descendants are followed: it is named" status 0 "$record" -q --follow -o f.trc sh -c './tells; true'
check "... with the reason" grep -qF './tells (its C library is not glibc)' err
check "... and has no recorder" grep -q '^-,' out

# A loader of glibc's whose path is longer than what is read of it.
long=$work
for _ in 1 2 3; do
	long=$long/$(printf 'long%.0s' {1..30})
done
mkdir -p "$long" && cp "$loader" "$long/ld-linux.so" || exit 99
${CC:-cc} -o far tells.c -Wl,--dynamic-linker="$long/ld-linux.so" || exit 99
check "a loader in a deep directory is told by its name" status 5 "$record" -q -o f.trc ./far
check "... of a program that is executed, too" status 5 "$record" -q --follow -o f.trc sh -c './far; exit $?'
check "... which has the recorder" empty err

# The recorder's file is out of reach by the time of the exec: another root, or other rights.
copy_gone()
{
	cp "$top_builddir/.libs/libtrc-preload.so" copy.so || return 1
	TRC_PRELOAD=$work/copy.so status 5 "$record" -q -o f.trc "$@" -- sh -c 'rm copy.so; ./here; exit $?' &&
		empty err && grep -q '^-,' out
}
check "the recorder's file is out of reach" copy_gone

# A handler that executes a program, on a stack that is just large enough without the recorder, or a little more.
cat >small.c <<'END'
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static char **wanted;
static int is_spawn;
static pid_t pid;
static void handler(int number)
{
	if (is_spawn) {
		posix_spawn(&pid, *wanted, 0, 0, wanted, environ);
	} else {
		pid = vfork();
		if (!pid) {
			execve(*wanted, wanted, environ);
			_exit(9);
		}
	}
}
int main(int argc, char **argv)
{
	size_t bytes = (size_t)atoi(argv[2]), page = 65536;
	char *at = mmap(0, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_sp = at + page, .ss_size = bytes};
	int status = -1;
	wanted = argv + 3;
	is_spawn = !strcmp(argv[1], "spawn");
	if (at == MAP_FAILED || mprotect(at, page, PROT_NONE) || sigaltstack(&stack, 0) || sigaction(SIGUSR1, &action, 0))
		return 3;
	raise(SIGUSR1);
	return waitpid(pid, &status, 0) != pid || status != 5 << 8;
}
END
${CC:-cc} -O2 -o small small.c || exit 99
# on_little spawn|vfork PROGRAM
on_little()
{
	local bytes=2048
	until ./small "$1" $bytes "$2" >out 2>&1; do
		bytes=$((bytes + 256))
		[ $bytes -lt 65536 ] || return 1
	done
	status 0 "$record" -q -o f.trc ./small "$1" $((bytes + 1536)) "$2"
}
check "in a handler on a small stack, by posix_spawn()" on_little spawn ./here
check "... by vfork() and execve()" on_little vfork ./here
check "... a program that cannot load the recorder" on_little vfork ./tells

if ${CC:-cc} -m32 -o narrow tells.c 2>/dev/null && ! ./narrow >/dev/null; then
	check "a 32-bit program" status 5 "$record" -q -o f.trc sh -c './narrow; exit $?'
	check "... is told nothing" empty err
fi

# What is executed is looked at by system calls, which a filter may forbid.
for options in '' --follow; do
	check "a filter of the program's $options" status 0 "$record" -q $options -o f.trc sh -c '"$0" "$1" filter' "$ways" "$work/here"
	check "... ends nobody" same "$(grep -c 'status 500' out)" 11
	check "... and says nothing" empty err
done

# A signal of a sampler on its way to its handler would end the next program: of seven execs by
# syscall() at 10,000 Hz, without a look at it, hardly a run came to the last.
cat >chain.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
extern char **environ;
int main(int n_args, char **args)
{
	int left = n_args > 1 ? atoi(args[1]) : 6;
	char number[16], *next[] = {args[0], number, NULL};
	volatile long work = 0;
	if (syscall(SYS_execve, "/nonexistent/program", next, environ) != -1)
		return 1;
	for (clock_t begun = clock(); clock() - begun < CLOCKS_PER_SEC / 100; work++)
		;
	snprintf(number, sizeof(number), "%d", left - 1);
	return left ? (int)syscall(SYS_execve, args[0], next, environ) : 7;
}
END
${CC:-cc} -o chain chain.c || exit 99
check "execs by syscall()" status 7 "$record" -q -o c.trc -e cpu-clock -F 10000 --sample-by signal "$work/chain"

finish
