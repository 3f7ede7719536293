# lib.sh - for the tests of trace-record: sourced by them, with `name` set to their own.
set -u -o pipefail
: "${top_srcdir:?run through make check}" "${top_builddir:?run through make check}"

here=$top_builddir/tests/recorder/tool
record=$top_builddir/recorder/trace-record
guest=$here/guest
analyze=$top_builddir/analyzer/trace-analyze
work=$here/$name.dir
export TRC_RING_DIR=$work/rings
unset LD_PRELOAD
failures=0 checks=0

# Not grep -q: what it does not read ends ldd with SIGPIPE, and the pipeline with a failure.
if ldd "$record" | grep -E 'lib[atu]b?san' >/dev/null; then
	echo "skipped: a sanitizer's library cannot be preloaded into other programs"
	exit 77
fi

chmod -R u+rwx "$work" 2>/dev/null
rm -rf "$work"
mkdir -p "$work"
ring_home=/dev/shm
[ -w $ring_home ] || ring_home=/tmp
TRC_RING_DIR=$(mktemp -d "$ring_home/trc-test-XXXXXX")
cd "$work" || exit 99
trap 'rm -rf "$TRC_RING_DIR"; cd /' EXIT

# check WHAT COMMAND...: the command must succeed.
check()
{
	local what=$1
	shift
	checks=$((checks + 1))
	if "$@" >check.out 2>&1; then
		return
	fi
	failures=$((failures + 1))
	echo "FAILED: $what: $*"
	sed 's/^/    /' check.out
	after_failure
}

# What a failed check may have left behind; tests say it anew.
after_failure() { :; }

# status N COMMAND...: it exits with N.
status()
{
	local want=$1 got
	shift
	"$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] || {
		echo "exit status $got, not $want; stderr:"
		cat err
		return 1
	}
}

# says FILE TEXT: the file has a line with this text.
says()
{
	grep -qF -- "$2" "$1" || {
		echo "$1 does not say: $2"
		cat "$1"
		return 1
	}
}

# trace FILE LINE...: the trace can be read without a warning, and its dump has these lines.
trace()
{
	local file=$1
	shift
	"$here/trace_dump" "$file" >dump || return 1
	! grep -q '^warning' dump && says dump 'complete 1' || {
		cat dump
		return 1
	}
	for line; do
		grep -qxF -- "$line" dump || {
			echo "$file: no line: $line"
			cat dump
			return 1
		}
	done
}

# dumped KEY [N]: the N-th word after KEY in the last dump.
dumped()
{
	awk -v key="$1" 'index($0, key " ") == 1 { print $NF }' dump
}

# until SECONDS COMMAND...: succeeds as soon as the command does.
until_()
{
	local n=$(($1 * 50))
	shift
	while ! "$@" 2>/dev/null; do
		[ $((n -= 1)) -gt 0 ] || {
			echo "not within the time: $*"
			return 1
		}
		sleep 0.02
	done
}

same()
{
	[ "$1" = "$2" ] || {
		echo "$1, not $2"
		return 1
	}
}

empty()
{
	[ ! -s "$1" ] || {
		head -c 500 "$1"
		return 1
	}
}

# state PID LETTER: as in /proc/PID/stat.
state()
{
	local text
	text=$(</proc/"$1"/stat) && [ "$(echo "${text##*) }" | cut -c 1)" = "$2" ]
}

# The end of a test.
finish()
{
	echo "$checks checks, $failures failed"
	[ $failures = 0 ] && rm -rf "$work"
	exit $((failures != 0))
}
