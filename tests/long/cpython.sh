#!/bin/bash
# cpython.sh - CPython's own tests of threads, processes, signals and sockets, plain and recorded.
#
# A unit is a class of tests, run by a process of its own; LONG_PYTHON is another interpreter.
. "$(dirname "$0")/lib.sh"

all_modes='record all follow'
modes=${LONG_MODES:-$all_modes}
python=${LONG_PYTHON:-/usr/bin/python3}
runner=$top_srcdir/tests/long/cpython_results.py
modules='test.test_threading test.test_signal test.test_subprocess test.test_socket
	test.test_multiprocessing_fork test.test_asyncio'

run_unit()
{
	local status=0 results=$work/results

	rm -f "$results"
	# shellcheck disable=SC2046 # words
	limited 150 "$3" $(recorder_words "$1") "$python" "$runner" "$results" "$2" || status=$?
	cat "$results"
	printf '%s (exit)\t%s\n' "$2" $status
}

need "$python"
"$python" -c 'import test.test_threading' 2>"$work/import.log" ||
	skip 'its tests are not installed (./bootstrap packages long)'
"$python" --version
cd "$work" || exit 1
# shellcheck disable=SC2086 # words
"$python" "$runner" --list $modules >"$work/classes" || fail 'the tests cannot be listed'
# Waits for the hypervisor, if there is one: for ever, or not at all.
grep -v 'VSOCK' "$work/classes" | compare
