#!/bin/bash
# Each thread of a Java program has the samples that its CPU time asks for: the program's own, those of the JVM that compile, and
# threads that come and go; and nearly none is lost.
. "$(dirname "$0")/lib.sh"
need_unsanitized
need java javac

cat >Threads.java <<'END_JAVA'
import java.nio.file.*;
import java.util.concurrent.*;
import java.util.function.*;

public class Threads {
	static volatile double sink;

	// Not compiled before it has run for a while: the compilers have something to do all the time.
	static double work(int kind, int n) {
		IntToDoubleFunction[] f = {
			i -> Math.sqrt(i), i -> Math.sin(i), i -> Integer.toString(i).hashCode(),
			i -> new StringBuilder().append(i).append('x').reverse().length(), i -> i ^ i << 3,
		};
		double sum = 0;

		for (int i = 0; i < n; i++)
			sum += f[(kind + i) % f.length].applyAsDouble(i);
		return sum;
	}

	static long cpu() {
		return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
	}

	static void compute(long until, long[] used) {
		while ((used[0] = cpu()) < until)
			sink += work(0, 1000);
	}

	// Many short turns, each of which another thread sets off.
	static void answer(SynchronousQueue<Integer> questions, SynchronousQueue<Long> answers) {
		try {
			for (;;) {
				sink += work(2, questions.take());
				answers.put(cpu());
			}
		} catch (InterruptedException e) {
			System.exit(1);
		}
	}

	static void ask(SynchronousQueue<Integer> questions, SynchronousQueue<Long> answers, long until) throws InterruptedException {
		do
			questions.put(5000);
		while (answers.take() < until);
	}

	// Threads that live for some milliseconds, until all together have used so much; how much that is.
	static long comeAndGo(long until) throws Exception {
		long[] used = new long[1];

		while (used[0] < until) {
			Thread thread = new Thread(() -> {
				long begin = cpu();
				while (cpu() < begin + 10_000_000)
					sink += work(3, 2000);
				used[0] += cpu() - begin;
			}, "short-lived");
			thread.start();
			thread.join();
		}
		return used[0];
	}

	public static void main(String[] arguments) throws Exception {
		long until = Long.parseLong(arguments[0]) * 1_000_000;
		long[] computed = new long[1];
		SynchronousQueue<Integer> questions = new SynchronousQueue<>();
		SynchronousQueue<Long> answers = new SynchronousQueue<>();
		Thread computing = new Thread(() -> compute(until, computed), "computing");
		Thread answering = new Thread(() -> answer(questions, answers), "answering");

		computing.setDaemon(true);
		answering.setDaemon(true);
		computing.start();
		answering.start();
		ask(questions, answers, until);
		System.out.println("short-lived\t0\t" + comeAndGo(until));
		computing.join();
		System.out.println("computing\t1\t" + computed[0]);
		// The others are there until the end.
		try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
			for (Path task : tasks)
				System.out.println(Files.readString(task.resolve("comm")).trim() + "\t" + task.getFileName() + "\t"
					+ Files.readString(task.resolve("schedstat")).split(" ")[0]);
		}
	}
}
END_JAVA
javac -d . Threads.java 2>javac.txt || fail "javac: $(cat javac.txt)"

# had_by_thread: "name tid value_ns samples", of all that have samples; those that have ended by their names, in one line each
had_by_thread()
{
	sql t.trc "SELECT t.name, CASE t.name WHEN 'short-lived' THEN 0 WHEN 'computing' THEN 1 ELSE t.tid END AS tid, sum(s.value), count(*)
		FROM samples AS s JOIN threads AS t ON t.id = s.thread GROUP BY 1, 2"
}

# is_right PERIOD_NS: threads of at least 200 ms within 3 per cent and two periods, but for what taking samples takes, 15 us each at most;
# the short-lived, of 10 ms each, within four standard errors more: each has a sample more or less, at random.
is_right()
{
	awk -F '\t' -v period="$1" '
		NR == FNR { had[$2] = $3; n[$2] = $4; next }
		$3 >= 2e8 {
			threads++
			room = 0.03 * $3 + 2 * period
			if ($2 == 0)
				room += 4 * sqrt($3 / 1e7) / 2 * period
			less = $3 - had[$2]
			bad += less > room + n[$2] * 15000 || -less > room
			printf "%s: %.0f of %.0f ms; ", $1, had[$2] / 1e6, $3 / 1e6
		}
		END { exit bad || threads < 3 }' had.tsv used.tsv >told.txt ||
		differs "$2: $(cat told.txt)"
}

# Half a per cent, and two.
few_are_lost()
{
	[ "$(sql t.trc "SELECT (SELECT coalesce(sum(lost_samples), 0) FROM samples_lost) * 200 <= sum(value) / max(period) + 400 FROM event_sample")" = 1 ] ||
		differs "$1: lost: $(sql t.trc 'SELECT cause, sum(lost_samples) FROM samples_lost GROUP BY 1' | tr '\n\t' '; ')"
}

# fair PERIOD_NS OPTION...
fair()
{
	local period_ns=$1
	shift
	runs=0
	while another_run; do
		measure "$trace_record" -q -o t.trc "$@" -- java -cp . Threads 1000 >used.tsv 2>err.txt || fail "$*: $(cat err.txt)"
		had_by_thread >had.tsv
		is_right "$period_ns" "$*" && few_are_lost "$*" || continue
		passed "$*: $(cat told.txt)"
	done
}

"$trace_record" -q -o t.trc -F 1000 true 2>err.txt || fail "$(cat err.txt)"
[ "$(sql t.trc 'SELECT name FROM sample_events')" = cpu-clock ] || skip 'no counters here: a timer is all that there is'
fair 1000000 -F 1000
! "$trace_record" -q -o t.trc -e cpu-clock --sample-by signal true 2>err.txt ||
	fair 1000000 -e cpu-clock -F 1000 --sample-by signal
