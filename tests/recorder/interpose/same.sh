#!/bin/sh
# Programs that say what each libc call did: the same plain, under the fake core with each
# choice of --locks, and recorded for real, with samples by signals too.
. "$top_srcdir/tests/recorder/interpose/lib.sh"
cd "$work" || exit 99

# check WHAT: what has run just now, with its status in $status, said the same as plain.
check()
{
	test "$status" = 0 || fail "$1: status $status"
	cmp -s "$work/plain" "$work/now" || {
		fail "$1 is not the same as plain:"
		diff "$work/plain" "$work/now"
	}
}

# sampled signal|timer COMMAND: recorded with samples, but for children.
sampled()
{
	case $1 in
	signal) event=cpu-clock ;;
	timer) event=timer ;;
	esac
	shift
	TRC_SESSION=$work LD_PRELOAD=$preload TRC_CPU_EVENTS=$event TRC_CPU_FREQUENCY=2000 \
		TRC_SAMPLE_BY=signal TRC_HEAP=4096 TRC_LOCKS=all "$@"
}

for name in same_locks same_waits same_process same_signals same_interrupted same_forked same_cxx same_plugins; do
	program=$(program $name)
	timeout 300 "$program" "$here/.libs/libplugin.so" >"$work/plain" || fail "$name, plain: $?"
	for locks in contended all none; do
		FAKE_LOCKS=$locks LD_PRELOAD=$fake timeout 300 \
			"$program" "$here/.libs/libplugin.so" >"$work/now"
		status=$?
		check "$name, --locks=$locks"
	done
	test $name = same_interrupted && storm=0 || storm=300
	FAKE_STORM_US=$storm LD_PRELOAD=$fake timeout 300 \
		"$program" "$here/.libs/libplugin.so" >"$work/now"
	status=$?
	check "$name, in a storm of samples"
	for unwind in auto none; do
		TRC_UNWIND=$unwind recorded timeout 300 \
			"$program" "$here/.libs/libplugin.so" >"$work/now"
		status=$?
		check "$name, recorded, TRC_UNWIND=$unwind"
	done
	for by in signal timer; do
		sampled $by timeout 300 sh -c 'TRC_SESSION_PID=$$ exec "$@"' sh \
			"$program" "$here/.libs/libplugin.so" >"$work/now"
		status=$?
		check "$name, sampled by $by, its children not followed"
	done
done

# Each in a process of its own.
alone()
{
	name=$1
	program=$(program "$1")
	run=$2
	timeout 300 "$program" "$run" >"$work/plain" || fail "$name $run, plain: $?"
	test -s "$work/plain" || fail "$name $run says nothing"
	# There the storm is in the process: it would not end with what is recorded.
	test $name = same_sandbox || {
		FAKE_STORM_US=300 LD_PRELOAD=$fake timeout 300 "$program" "$run" >"$work/now"
		status=$?
		check "$name $run, in a storm of samples"
	}
	for by in signal timer; do
		sampled $by timeout 300 sh -c 'TRC_SESSION_PID=$$ exec "$@"' sh \
			"$program" "$run" >"$work/now"
		status=$?
		check "$name $run, sampled by $by"
	done
	recorded timeout 300 "$program" "$run" >"$work/now"
	status=$?
	check "$name $run, recorded"
}
for name in same_masks same_sandbox; do
	for run in $("$(program $name)"); do
		alone $name "$run"
	done
done
exit $failed
