#!/bin/bash
# A monitor of Java: the report tells who waits for it, by whom they were woken, and for as long as the program says; who waits so for
# nearly all of its life is not idle.
. "$(dirname "$0")/lib.sh"
need_unsanitized
need java javac

cat >Held.java <<'END_JAVA'
import java.util.concurrent.locks.LockSupport;

public class Held {
	static final Object lock = new Object();
	static volatile boolean over;

	static void hold() {
		try {
			for (int i = 0; i < 40; i++) {
				synchronized (lock) {
					Thread.sleep(20);
				}
				Thread.sleep(1);
			}
		} catch (InterruptedException e) {
			System.exit(1);
		}
		over = true;
	}

	static long want() {
		long from = System.nanoTime();

		synchronized (lock) {
			return System.nanoTime() - from;
		}
	}

	public static void main(String[] args) throws InterruptedException {
		long[] waited = new long[2];
		Thread[] thread = new Thread[3];

		for (int i = 0; i < 2; i++) {
			int mine = i;
			thread[i] = new Thread(() -> {
				while (!over) {
					waited[mine] += want();
					LockSupport.parkNanos(100_000); // or it would spin while the monitor is free
				}
			}, "wanting-" + i);
		}
		thread[2] = new Thread(Held::hold, "holder");
		for (Thread t : thread)
			t.start();
		for (Thread t : thread)
			t.join();
		System.out.println(waited[0] + waited[1]);
	}
}
END_JAVA
javac -d . Held.java 2>javac.txt || fail "javac: $(cat javac.txt)"

while another_run; do
	measure "$trace_record" -q -o t.trc -- java -XX:+UseSerialGC -cp . Held >truth.txt 2>err.txt || fail "$(cat err.txt)"
	read -r waited_ns <truth.txt
	[ "$(sql t.trc "SELECT count(*) FROM frames WHERE function GLOB 'ObjectMonitor::Enter*' OR function GLOB 'ObjectMonitor::enter*'")" -gt 0 ] ||
		skip "this JVM's library has no names"
	parks_ns=$(sql t.trc "SELECT coalesce(sum(waited_ns), 0) FROM parks WHERE reason = 'cond' AND stack IN (SELECT s.stack
		FROM stack_frames AS s JOIN frames AS f ON f.id = s.frame WHERE f.function GLOB 'ObjectMonitor::[Ee]nter*')")
	off=$((parks_ns - waited_ns))
	[ ${off#-} -le $((waited_ns / 10 + 5000000)) ] || differs "$parks_ns ns in the trace, $waited_ns ns by the program" || continue
	"$trace_analyze" t.trc >report.txt || fail "status $?"
	sed -n '/^Waiting for other threads/,/^$/p' report.txt >threads.txt
	# HotSpot's function that was asked for the monitor, by interpreted or compiled code; the wait in it is skipped.
	enter='(InterpreterRuntime::monitorenter|SharedRuntime::(monitor_enter_helper|complete_monitor_locking_C)) < '
	exit='(InterpreterRuntime::monitorexit|SharedRuntime::(monitor_exit_helper|complete_monitor_unlocking_C)|Runtime1::monitorexit|ObjectMonitor::)'
	grep -qE "$enter" threads.txt || fail "who waits for the monitor is not told: $(cat threads.txt)"
	grep -E -A 2 "$enter" threads.txt | grep -qE "woken by $exit" ||
		fail "who woke them is not told: $(cat threads.txt)"
	[ "$(sql t.trc "SELECT count(*) >= 10 FROM parks AS p JOIN threads AS t ON t.id = p.thread JOIN threads AS w ON w.id = p.waker_thread
		WHERE t.name GLOB 'wanting*' AND w.name = 'holder'")" = 1 ] || fail 'the holder woke nobody'
done
passed "the monitor was waited for for $((parks_ns / 1000000)) ms, the program says $((waited_ns / 1000000)) ms"
