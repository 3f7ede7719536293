#!/bin/sh
# newcomer.sh - where somebody who sees a page for the first time would hesitate or misread: made-up traces (newcomer.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/newcomer

. "$top_srcdir/tests/viewer/browser_setup.sh"
mkdir -p "$pages"

# Functions with names and lines: two calls in one line of save() are two stacks that read alike.
cat >"$pages/bank.c" <<'END'
#define NOPS __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop")
__attribute__((noinline)) void save(void) { NOPS; }
__attribute__((noinline)) void look_up_an_account_by_its_number(void) { NOPS; }
__attribute__((noinline)) void pay(void)
{
	NOPS;
	NOPS;
}
int main(void) { save(); look_up_an_account_by_its_number(); pay(); return 0; }
END
${CC:-cc} -g -O0 -Wl,--build-id -no-pie -o "$pages/bank" "$pages/bank.c"

# at NAME BYTES: an address in a function.
at()
{
	printf '%d' $((0x$(nm "$pages/bank" | sed -n "s/^\([0-9a-f]*\) . $1\$/\1/p") + $2))
}

module()
{
	readelf -lW "$pages/bank" | awk '$1 == "LOAD" && /R E/ { print $2, $3, $5; exit }' | {
		read -r offset start size
		echo "module program path=\"$pages/bank\" start=$((start)) limit=$((start + size)) offset=$((offset)) bias=0" \
			"build_id=$(readelf -n "$pages/bank" | sed -n 's/.*Build ID: //p')"
	}
}

# assembled NAME: the trace is what is read; its page.
assembled()
{
	{ module && cat; } >"$pages/$1.txt"
	"$top_builddir/trc-assemble" "$pages/$1.txt" "$pages/$1.trc"
	"$analyze" --html "$pages/$1.html" "$pages/$1.trc"
}

# client waits twice for saver, in two calls of a line that both save; at one of two lines of pay() for itself.  Who is woken first runs
# half a millisecond later.  clerk waits for the same lock as client, who has it first.  At the end of the trace a task ends that began before it.
assembled bank <<END
stack lookup $(at look_up_an_account_by_its_number 8) $(at pay 8) $(at main 8)
stack lookup_again $(at look_up_an_account_by_its_number 9) $(at pay 8) $(at main 8)
stack save $(at save 8) $(at main 8)
stack save_again $(at save 9) $(at main 8)
stack pay $(at pay 8) $(at main 8)
stack idle $(at main 8)
stack pay_later $(at pay 24) $(at main 8)
thread 1 tid=301 name="client"
thread 2 tid=302 name="saver"
thread 3 tid=303 name="clerk"
@500000 thread=1 task_begin task=7 type="payment"
@1000000 thread=1 park reason=mutex object=0x7f0000001000 holder=2 stack=lookup
@5000000 thread=2 unlock reason=mutex object=0x7f0000001000 waiters=1 stack=save
@5500000 thread=1 resume reason=mutex object=0x7f0000001000
@6000000 thread=1 park reason=mutex object=0x7f0000001000 holder=2 stack=lookup_again
@8000000 thread=2 unlock reason=mutex object=0x7f0000001000 waiters=1 stack=save_again
@8000100 thread=1 resume reason=mutex object=0x7f0000001000
@8100000 thread=1 park reason=mutex object=0x7f0000002000 holder=2 stack=pay
@8200000 thread=2 unlock reason=mutex object=0x7f0000002000 waiters=1 stack=save
@8200100 thread=1 resume reason=mutex object=0x7f0000002000
@8300000 thread=1 park reason=mutex object=0x7f0000002000 holder=2 stack=pay_later
@8500000 thread=2 unlock reason=mutex object=0x7f0000002000 waiters=1 stack=save
@8500100 thread=1 resume reason=mutex object=0x7f0000002000
@8600000 thread=1 park reason=mutex object=0x7f0000003000 holder=2 stack=idle
@8650000 thread=3 park reason=mutex object=0x7f0000003000 holder=2 stack=idle
@8700000 thread=2 unlock reason=mutex object=0x7f0000003000 waiters=2 stack=save
@8700100 thread=1 resume reason=mutex object=0x7f0000003000
@8800100 thread=1 unlock reason=mutex object=0x7f0000003000 waiters=1 held=100000 stack=idle
@8800200 thread=3 resume reason=mutex object=0x7f0000003000
@9000000 thread=1 task_end task=7
@9500000 thread=2 task_end task=6
@10000000 thread=2 log category="x" message="y"
END

# Two wait for each other, and one for the end of one of them.
assembled dead <<END
stack pay $(at pay 8) $(at main 8)
stack save $(at save 8) $(at main 8)
thread 1 tid=401 name="payer"
thread 2 tid=402 name="reporter"
thread 3 tid=403 name="starter"
thread 4 tid=404 name="clock"
@1000 thread=1 acquire reason=mutex object=0x7f0000001000 stack=pay
@1100 thread=2 acquire reason=mutex object=0x7f0000002000 stack=save
@2000 thread=1 park reason=mutex object=0x7f0000002000 holder=2 stack=pay
@2100 thread=2 park reason=mutex object=0x7f0000001000 holder=1 stack=save
@3000 thread=3 park reason=join object=0x7f0000009000 holder=1 stack=pay
@9000 thread=4 log category="end" message="still here"
END

# A lock is waited for in two ways, another by who waits to read and who waits to write; and what an epoll is called says no more than "epoll".
assembled ways <<END
stack save $(at save 8) $(at main 8)
stack pay $(at pay 8) $(at main 8)
thread 1 tid=601 name="payer"
thread 2 tid=602 name="clerk"
@1000000 thread=1 park reason=cond_mutex object=0x7f0000006000 stack=pay
@4000000 thread=1 resume reason=cond_mutex object=0x7f0000006000
@5000000 thread=1 park reason=mutex object=0x7f0000006000 stack=pay
@6000000 thread=1 resume reason=mutex object=0x7f0000006000
@6100000 thread=1 park reason=rwlock_read object=0x7f0000007000 stack=pay
@6400000 thread=1 resume reason=rwlock_read object=0x7f0000007000
@6500000 thread=1 park reason=rwlock_write object=0x7f0000007000 stack=save
@6600000 thread=1 resume reason=rwlock_write object=0x7f0000007000
@8000000 thread=1 wait reason=epoll object=5 since=7000000 stack=pay descriptor="anon_inode:[eventpoll]"
@9000000 thread=2 log category="end" message="still here"
END

# A futex goes from hand to hand, as a lock does; a mutex is waited for once; files are written, at one place one file, at the other two.
park()
{
	echo "@$1 thread=$2 park reason=futex object=0x7f0000005000 stack=pay"
}

# hand AT FROM WOKEN AGAIN: who has the lock wakes another thread, and waits for it again.
hand()
{
	echo "@$1 thread=$2 unpark reason=futex object=0x7f0000005000 count=1 stack=save"
	echo "@$(($1 + 5000)) thread=$3 resume reason=futex object=0x7f0000005000"
	[ -z "$4" ] || park $(($1 + 10000)) "$4"
}

# file AT STACK DESCRIPTOR
file()
{
	echo "@$1 thread=1 wait reason=fsync object=7 since=$(($1 - 100000)) stack=$2 descriptor=\"$3\""
}

assembled own <<END
stack save $(at save 8) $(at main 8)
stack pay $(at pay 8) $(at main 8)
thread 1 tid=501 name="payer"
thread 2 tid=502 name="clerk"
thread 3 tid=503 name="saver"
$(park 1000000 2)
$(park 1100000 3)
$(hand 2000000 1 2 1)
$(hand 3000000 2 3 2)
$(hand 4000000 3 1 3)
$(hand 5000000 1 2 1)
$(hand 6000000 2 3 "")
@6100000 thread=3 unpark reason=futex object=0x7f0000005000 count=1 stack=save
@6105000 thread=1 resume reason=futex object=0x7f0000005000
@7000000 thread=1 park reason=mutex object=0x7f0000006000 holder=2 stack=pay
@7100000 thread=2 unlock reason=mutex object=0x7f0000006000 waiters=1 stack=save
@7100100 thread=1 resume reason=mutex object=0x7f0000006000
$(file 8000000 pay /var/log/first)
$(file 8200000 pay /var/log/first)
$(file 8300000 pay /var/log/first)
$(file 8400000 save /var/log/first)
$(file 8500000 save /var/log/second)
@9000000 thread=1 log category="x" message="y"
END

# client waits once for who sleeps three thousand times meanwhile.
{
	cat <<END
stack pay $(at pay 8) $(at main 8)
stack save $(at save 8) $(at main 8)
thread 1 tid=601 name="client"
thread 2 tid=602 name="saver"
@1000 thread=1 park reason=mutex object=0x7f0000001000 holder=2 stack=pay
END
	awk 'BEGIN {
		for (i = 1; i <= 3000; i++)
			printf "@%d thread=2 park reason=sleep stack=save\n@%d thread=2 resume reason=sleep\n", i * 3000, i * 3000 + 1000
	}'
	cat <<END
@9100000 thread=2 unlock reason=mutex object=0x7f0000001000 waiters=1 stack=save
@9100100 thread=1 resume reason=mutex object=0x7f0000001000
END
} | assembled often
"$analyze" --window 1ms..5ms --html "$pages/often-part.html" "$pages/often.trc"

browse "$work/newcomer.mjs" "$analyze" "$pages"
