#!/bin/bash
# stress_ng.sh - stressors of stress-ng that do what the recorder looks at, plain and recorded.
#
# Each stressor is a unit; its status is the exit status and what stress-ng says of the run.  The
# stressors work in forked children: they are recorded themselves where descendants are followed.
. "$(dirname "$0")/lib.sh"

all_modes='record all follow follow-all'
modes=${LONG_MODES:-$all_modes}
seconds=${STRESS_SECONDS:-2}
stressors='pthread mutex futex sem sem-sysv clone vfork vforkmany fork exec sigsegv sigsuspend signal sigq
	sigfd sigpipe sigtrap sigchld sigabrt timer itimer timerfd poll epoll eventfd pipe switch mq aio
	nanosleep sleep wait zombie daemon kill dynlib rseq membarrier bad-altstack stack malloc sockpair
	sock flock lockf schedpolicy mmapfork prctl seccomp tsc close'

run_unit()
{
	local status=0 said

	# shellcheck disable=SC2046 # words
	limited $((seconds + 60)) "$3" $(recorder_words "$1") stress-ng --"$2" 1 --timeout "$seconds" \
		--verify --temp-path "$work" || status=$?
	said=$(grep -o -E '(un)?successful run completed|run skipped|stressors? terminated' "$3" |
		sort -u | paste -sd ,)
	grep -q -E 'fail: \[' "$3" && said="$said,fail"
	printf '%s\t%s\n' "$2" "$status ${said:-not run}"
}

need stress-ng
stress-ng --version
stress-ng --help >"$work/help"
for stressor in $stressors; do
	if grep -qw -e "--$stressor-ops" "$work/help"; then
		echo "$stressor"
	else
		say "this stress-ng has no $stressor" >&2
	fi
done | compare
