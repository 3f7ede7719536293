#!/bin/bash
# A threading.Lock of a real Python, which is a semaphore, held across a sleep: it is told as a lock whose holders block, with
# what threads waited for it by the program's own account.  A Queue beside it is none.
. "$(dirname "$0")/lib.sh"
need_unsanitized
python=/usr/bin/python3
[ -x $python ] || skip "$python is not installed"
$python -c 'import sys; sys.exit(sys.version_info >= (3, 13))' || skip 'its locks are no semaphores'

cat >lock.py <<'END'
import queue, threading, time

lock = threading.Lock()
jobs = queue.Queue()
waited_ns = [0] * 4

def work(i):
    for _ in range(30):
        start = time.monotonic_ns()
        with lock:
            waited_ns[i] += time.monotonic_ns() - start
            time.sleep(0.003)
        time.sleep(0.001)
        jobs.get()

threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for thread in threads:
    thread.start()
for _ in range(120):
    time.sleep(0.001)
    jobs.put(1)
for thread in threads:
    thread.join()
print(sum(waited_ns))
END

while another_run; do
	measure "$trace_record" -q --no-sched -o t.trc -- $python lock.py >truth.txt 2>err.txt || fail "$(cat err.txt)"
	expect_sound t.trc
	truth=$(cat truth.txt)
	IFS=$'\t' read -r kind cost sentence why < <(sql t.trc "SELECT kind, cost_ns, sentence, why FROM findings
		WHERE sentence LIKE '%sem_lock%'")
	[ -n "${kind:-}" ] || fail "not found: $(sql t.trc 'SELECT kind, sentence FROM findings')"
	echo "$sentence: $why"
	[ "$kind" = lock_blocking ] || differs "it is told as $kind" || continue
	[[ $why =~ held\ the\ lock\ and\ slept ]] || differs "what holders did: $why" || continue
	[ $((cost * 100)) -ge $((truth * 80)) ] && [ $((cost * 100)) -le $((truth * 110)) ] ||
		differs "waits of $cost ns, of which the program knows $truth" || continue
done
passed 'a lock that is held across a sleep'
[ "$(sql t.trc "SELECT count(DISTINCT object) FROM parks WHERE reason = 'sem_lock'")" = 1 ] ||
	fail "other semaphores are locks: $(sql t.trc "SELECT reason, object, count(*) FROM parks WHERE reason LIKE 'sem%' GROUP BY 1, 2")"
passed 'and nothing else is one'
