#!/bin/bash
# The global lock of a real Ruby.  With the names of libruby's own functions (a debug package, or a server of debug information): who
# held the lock, who waited for it and for how long, against the program's own account.  Without: that nobody knows, and what helps;
# the waits are as long all the same.
. "$(dirname "$0")/lib.sh"
need_unsanitized
ruby=/usr/bin/ruby
[ -x $ruby ] || skip "$ruby is not installed"
$ruby -e 'exit Thread.method_defined?(:native_thread_id)' || skip "this ruby does not tell its threads' ids"

# One thread makes long calls into C, which keep the lock; two want the lock again and again, for next to nothing.  Prints how
# long the calls took, and the threads' ids.
cat >gvl.rb <<'END_RUBY'
held_ns = 0
over = false
tids = {}
text = "x" * 30_000_000
clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) }

threads = [:one, :other].map do |name|
  Thread.new do
    tids[name] = Thread.current.native_thread_id
    sleep 0.0002 until over
  end
end
threads << Thread.new do
  tids[:holder] = Thread.current.native_thread_id
  12.times do
    start = clock.call
    text.sum
    held_ns += clock.call - start
    sleep 0.01 # so that who waits is not taken to be idle
  end
  over = true
end
threads.each(&:join)
puts [held_ns, tids[:holder], tids[:one], tids[:other]].join(" ")
END_RUBY

# close_to NS: both wait while the lock is kept, but for the end of a sleep at the beginning of each call.
close_to()
{
	[ $(($1 * 100)) -ge $((2 * held_ns * 80)) ] && [ $(($1 * 100)) -le $((2 * held_ns * 125)) ]
}

while another_run; do
	measure "$trace_record" -q -o t.trc -- $ruby gvl.rb >truth.txt 2>err.txt || fail "$(cat err.txt)"
	read -r held_ns holder one other <truth.txt
	IFS=$'\t' read -r kind cost sentence why < <(sql t.trc "SELECT kind, cost_ns, sentence, why FROM findings
		WHERE kind IN ('interpreter_lock', 'unnamed')")
	echo "${kind:-none}: ${sentence:-} ${why:-}"
	case ${kind:-} in
	interpreter_lock)
		[[ $sentence == *"Ruby's global VM lock"* ]] || fail "the sentence: $sentence"
		close_to "$cost" || differs "waits of $cost ns for calls of $held_ns ns" || continue
		[[ $why =~ ^held\ by\ [^\(]*\(([0-9]+)\)\ for\ ([0-9]+) ]] || fail "who held it: $why"
		[ "${BASH_REMATCH[1]}" = "$holder" ] && [ "${BASH_REMATCH[2]}" -ge 80 ] ||
			differs "held by $holder, not: $why" || continue
		[[ $why == *"waited for by "*"($one)"* && $why == *"waited for by "*"($other)"* ]] ||
			differs "waited for by $one and $other, not: $why" || continue
		;;
	unnamed)
		[[ $sentence =~ \ in\ libruby.*Ruby\'s\ global\ VM\ lock\ is\ not\ known$ ]] || fail "the sentence: $sentence"
		# Threads that sleep are those that time ends.
		cost=$(sql t.trc "SELECT sum(waited_ns) FROM parks AS p JOIN threads AS t ON t.id = p.thread
			WHERE t.tid IN ($one, $other) AND reason IN ('cond', 'cond_mutex', 'mutex') AND (result = 0 OR duration_ns > 5000000)")
		close_to "$cost" || differs "waits of $cost ns for calls of $held_ns ns" || continue
		sql t.trc 'SELECT remedy FROM findings' | grep -q "install the interpreter's debug package" || fail 'nothing helps'
		;;
	*) differs "not found: $(sql t.trc 'SELECT kind, sentence FROM findings')" ;;
	esac
done
passed "waits for Ruby's lock are as long as the program says ($kind)"
