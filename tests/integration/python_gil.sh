#!/bin/bash
# The global lock of a real Python: who held it, who waited for it and for how long, against the program's own account.
. "$(dirname "$0")/lib.sh"
need_unsanitized
python=/usr/bin/python3
[ -x $python ] || skip "$python is not installed"

# One thread makes long calls into C, which keep the lock; two want the lock again and again, for next to nothing.  Prints their
# tids, and how long the calls took.
cat >gil.py <<'END'
import threading, time

over = False
held_ns = 0
tids = {}

def hold():
    global held_ns, over
    tids["holder"] = threading.get_native_id()
    for _ in range(12):
        start = time.monotonic_ns()
        sum(range(2000000))
        held_ns += time.monotonic_ns() - start
        time.sleep(0.002)
    over = True

def want(name):
    tids[name] = threading.get_native_id()
    while not over:
        time.sleep(0.0002)

threads = [threading.Thread(target=want, args=(name,)) for name in ("one", "other")]
for thread in threads:
    thread.start()
threads.append(threading.Thread(target=hold))
threads[-1].start()
for thread in threads:
    thread.join()
print(held_ns, tids["holder"], tids["one"], tids["other"])
END


while another_run; do
	measure "$trace_record" -q -o t.trc -- $python gil.py >truth.txt 2>err.txt || fail "$(cat err.txt)"
	read -r held_ns holder one other <truth.txt
	IFS=$'\t' read -r cost sentence why < <(sql t.trc "SELECT cost_ns, sentence, why FROM findings WHERE kind = 'interpreter_lock'")
	[ -n "${cost:-}" ] || fail "not found: $(sql t.trc 'SELECT kind, sentence FROM findings')"
	grep -q "threads waited .* for Python's global interpreter lock" <<<"$sentence" || fail "the sentence: $sentence"
	echo "$sentence: $why"
	# Both wait while the lock is kept, but for the end of a sleep at the beginning of each call.
	[ $((cost * 100)) -ge $((2 * held_ns * 80)) ] && [ $((cost * 100)) -le $((2 * held_ns * 125)) ] ||
		differs "waits of $cost ns for calls of $held_ns ns" || continue
	[[ $why =~ ^held\ by\ [^\(]*\(([0-9]+)\)\ for\ ([0-9]+) ]] || fail "who held it: $why"
	[ "${BASH_REMATCH[1]}" = "$holder" ] && [ "${BASH_REMATCH[2]}" -ge 80 ] ||
		differs "held by $holder, not: $why" || continue
	[[ $why =~ waited\ for\ by\ [^\(]*\(([0-9]+)\)\ for\ [0-9.]+%\ of\ it,\ [^\(]*\(([0-9]+)\) ]] || fail "who waited: $why"
	[ "$(printf '%s\n' "${BASH_REMATCH[@]:1}" | sort)" = "$(printf '%s\n' "$one" "$other" | sort)" ] ||
		differs "waited for by $one and $other, not: $why" || continue
done
passed 'who held the lock, who waited, and for how long'

# They wait 5 ms at a time, and what they wait for in the end is the holder, not these 5 ms.
in_the_end=$(sql t.trc "SELECT b.tid = $holder AS by_holder, sum(c.duration_ns) FROM causes AS c JOIN parks AS p ON p.id = c.wait
		JOIN threads AS w ON w.id = p.thread JOIN threads AS b ON b.id = c.thread
	WHERE c.leaf AND p.reason = 'cond' AND w.tid IN ($one, $other) GROUP BY 1 ORDER BY 1 DESC LIMIT 1")
read -r by_holder caused_ns <<<"$in_the_end"
[ "$by_holder" = 1 ] && [ $((caused_ns * 100)) -ge $((2 * held_ns * 80)) ] &&
	[ $((caused_ns * 100)) -le $((2 * held_ns * 125)) ] ||
	fail "in the end the holder held them up for $in_the_end ns, and $((2 * held_ns)) ns by its own account"
"$trace_analyze" t.trc | sed -n '/^In the end held up by/,/^$/p' | sed -n 2p | grep -q "($holder) \(ran\|did not wait\|could have run\)" ||
	fail "not first: $("$trace_analyze" t.trc | sed -n '/^In the end held up by/,/^$/p')"
passed 'and in the end held them up'

# The query leads to the waits; so in a window, and of one thread.
query=$(sql t.trc "SELECT sql FROM findings WHERE kind = 'interpreter_lock'")
[ "$(sql t.trc "SELECT sum(waited_ns) FROM ($query)")" -ge "$cost" ] || fail "less than its cost: $query"
middle_ms=$(sql t.trc "SELECT (min(start_ns) + max(end_ns)) / 2000000 FROM parks WHERE thread IN (SELECT thread FROM ($query))")
for part in "--window ..${middle_ms}ms" "--window ${middle_ms}ms.." "--thread $one"; do
	# shellcheck disable=SC2086 # an option and its value
	IFS=$'\t' read -r part_cost query < <("$trace_analyze" $part --output tsv --sql "SELECT cost_ns, sql FROM findings
		WHERE kind = 'interpreter_lock'" t.trc | tail -n +2)
	[ -n "${part_cost:-}" ] || fail "$part: not found"
	# shellcheck disable=SC2086
	[ "$("$trace_analyze" $part --output tsv --sql "SELECT sum(waited_ns) FROM ($query)" t.trc | tail -n +2)" -ge "$part_cost" ] ||
		fail "$part: less than its cost: $query"
	[ "$part_cost" -lt "$cost" ] || fail "$part: $part_cost ns of $cost ns"
done
passed 'and of parts of the trace'
