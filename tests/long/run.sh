#!/bin/bash
# run.sh - suites that take too long for every day: tests/long/run.sh SUITE..., or make check-long.
#
# What others wrote is run plain and recorded and has to end the same way, and what parses is fuzzed.
# Each suite is bounded in time, runs one process at a time, and prints what it ran.
# docs/reliability.md describes them.
#
#   LONG_SECONDS=1800   for each suite (fuzzers: FUZZ_SECONDS=60 for each harness)
#   LONG_SEED=N         the order in which units are taken; default: a new one, which is printed
#   LONG_MODES='record flight'   instead of all modes
#   LONG_ONLY=REGEX     only units of that name
#   LONG_DIR=DIR        where sources and logs are kept; default tests/long/work in the build
#
# SPDX-License-Identifier: Apache-2.0
set -u
all_suites='posix cpython stress_ng memcached diff fuzz'
here=$(cd "$(dirname "$0")" && pwd)
top_srcdir=${top_srcdir:-$(dirname "$(dirname "$here")")}
top_builddir=${top_builddir:-$top_srcdir/build}
LONG_SEED=${LONG_SEED:-$((RANDOM * 32768 + RANDOM))}
LONG_SECONDS=${LONG_SECONDS:-1800}
directory=${LONG_DIR:-$top_builddir/tests/long/work}
failed=
export top_srcdir top_builddir LONG_SEED LONG_SECONDS suite work
unset LD_PRELOAD

if [ ! -x "$top_builddir/recorder/trace-record" ]; then
	echo "run.sh: no trace-record in $top_builddir: build first" >&2
	exit 99
fi
ring_home=/dev/shm
[ -w $ring_home ] || ring_home=/tmp
TRC_RING_DIR=$(mktemp -d "$ring_home/trc-long-XXXXXX") || exit 99
export TRC_RING_DIR
trap 'rm -rf "$TRC_RING_DIR"' EXIT
trap 'exit 130' INT TERM HUP

[ $# -gt 0 ] || set -- $all_suites
echo "seed $LONG_SEED, at most $LONG_SECONDS s a suite, in $directory"
for suite; do
	case " $all_suites " in
	*" $suite "*) ;;
	*)
		echo "run.sh: no such suite: $suite; there are: $all_suites" >&2
		exit 2
		;;
	esac
	work=$directory/$suite
	mkdir -p "$directory/sources"
	rm -rf "$work"
	mkdir -p "$work"
	echo "=== $suite"
	nice -n 10 bash "$here/$suite.sh"
	status=$?
	case $status in
	0) echo "=== $suite: passed" ;;
	77) echo "=== $suite: skipped" ;;
	*)
		echo "=== $suite: FAILED (status $status); logs in $work"
		failed="$failed $suite"
		;;
	esac
done
if [ -n "$failed" ]; then
	echo "failed:$failed"
	exit 1
fi
