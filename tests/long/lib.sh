# shellcheck shell=bash
# lib.sh - what the long suites share: sources, modes of recording, plain against recorded.
#
# A suite is a script that tests/long/run.sh starts, with `suite`, `work` (a directory of its own),
# `LONG_SEED` and `LONG_SECONDS` set.  It is a list of units, each of which is run by itself and says
# how each of its tests ended.  A unit runs plain, then in each mode; what no plain run said is looked
# into: two more plain runs, two more in that mode, and five more plain ones.
#
# SPDX-License-Identifier: Apache-2.0

set -u -o pipefail
: "${suite:?started by tests/long/run.sh}" "${work:?}" "${LONG_SEED:?}" "${LONG_SECONDS:?}"

trace_record=$top_builddir/recorder/trace-record
sources=$(dirname "$work")/sources
deadline=$(($(date +%s) + LONG_SECONDS))
all_modes='record flight sampled all'
modes=${LONG_MODES:-$all_modes}
only=${LONG_ONLY:-} # a regular expression: units of that name
told_max=20 # differences of a unit in a mode
suite_failed=0

say()
{
	printf '%s: %s\n' "$suite" "$*"
}

fail()
{
	say "failed: $*"
	exit 1
}

skip()
{
	say "skipped: $*"
	exit 77
}

need()
{
	local program
	for program; do
		command -v "$program" >/dev/null 2>&1 ||
			skip "$program is not installed (./bootstrap packages long)"
	done
}

# The options that a mode stands for.
mode_options()
{
	case $1 in
	record) ;;
	flight) echo --flight ;;
	sampled) echo -e cpu-clock -F 1000 --sample-by signal ;;
	all) echo --flight -e cpu-clock -F 1000 --sample-by signal --heap=4096 --locks all ;;
	follow) echo --follow ;;
	follow-all) echo --follow -e cpu-clock -F 1000 --sample-by signal --heap=4096 --locks all ;;
	*) fail "no such mode: $1" ;;
	esac
}

# How a command is recorded in a mode, as the words before it; nothing for plain.
recorder_words()
{
	[ "$1" = plain ] && return
	echo "$trace_record" -q -o "$work/dump.trc" "$(mode_options "$1")" --
}

# ---- sources ----------------------------------------------------------------------------------

# Debian's source package, unpacked in $sources/NAME; the lists of sources are this run's own, and
# the machine's apt is left as it is.
debian_source()
{
	local name=$1 apt=$sources/apt

	[ -d "$sources/$name" ] && return
	need apt-get dpkg-source
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 'Component: main' \
		'Origin: Debian' | sort -u | sed 's/\(.*\) \(.*\)/deb-src \1 \2 main/' >"$apt/sources.list"
	cat >"$apt/apt.conf" <<-END
		Dir::Etc::sourcelist "$apt/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::State::lists "$apt/lists";
		Dir::Cache "$apt/cache";
		APT::Sandbox::User "";
	END
	(
		cd "$sources" || exit 1
		export APT_CONFIG=$apt/apt.conf
		apt-get update -q && apt-get source -q --download-only "$name" &&
			dpkg-source -x "$name"_*.dsc "$name.part" && mv "$name.part" "$name"
	) >"$work/source.log" 2>&1 || {
		tail -n 5 "$work/source.log"
		skip "no source of $name"
	}
}

# ---- running ----------------------------------------------------------------------------------

# limited SECONDS LOG COMMAND...: in a session of its own, of which nothing is left.  Returns the
# status; 124 if it took too long.
limited()
{
	local seconds=$1 log=$2 status=0 session
	shift 2
	setsid timeout -k 5 "$seconds" "$@" >"$log" 2>&1 </dev/null &
	session=$!
	wait $session 2>/dev/null || status=$?
	pkill -KILL -s $session 2>/dev/null
	return $status
}

in_order_of_seed()
{
	awk -v seed="$LONG_SEED" 'BEGIN { srand(seed) } { printf "%.9f\t%s\n", rand(), $0 }' |
		sort | cut -f 2-
}

# run_once MODE UNIT RESULTS: what run_unit says of the tests, as lines "test<TAB>status".
run_once()
{
	local n
	n=$(find "$work/logs" -name "${2//\//_}.$1.*" | wc -l)
	run_unit "$1" "$2" "$work/logs/${2//\//_}.$1.$((n + 1))" >"$3"
	rm -f "$work"/dump*.trc
}

# Lines of the second file that the first, all plain runs, does not have; absent tests too.
unknown_to_plain()
{
	awk -F '\t' '
		NR == FNR { known[$0]; name[$1]; if (!($1 in first)) first[$1] = $2; next }
		{ seen[$1]; if (!($0 in known)) print }
		END { for (n in name) if (!(n in seen)) print n "\tabsent" }' "$1" "$2" | sort
}

# plain_runs N UNIT: more of them, until there are N in all.
plain_runs()
{
	while [ "$(wc -l <"$work/plain.runs")" -lt "$1" ]; do
		run_once plain "$2" "$work/now"
		cat "$work/now" >>"$work/plain"
		echo >>"$work/plain.runs"
	done
}

# A mode said of this unit what no plain run said.
look_into()
{
	local mode=$1 unit=$2 n test times statuses plain

	plain_runs 3 "$unit"
	cp "$work/$mode.now" "$work/mode.1"
	[ -n "$(unknown_to_plain "$work/plain" "$work/mode.1")" ] || return 0 # plain was not steady
	run_once "$mode" "$unit" "$work/mode.2"
	run_once "$mode" "$unit" "$work/mode.3"
	plain_runs 8 "$unit"
	for n in 1 2 3; do
		unknown_to_plain "$work/plain" "$work/mode.$n" >"$work/differs.$n"
	done
	n=$(cut -f 1 "$work"/differs.[123] | sort -u | wc -l)
	[ "$n" -le $told_max ] || say "$unit in $mode: $n tests; the first $told_max of them:"
	cut -f 1 "$work"/differs.[123] | sort -u | head -n $told_max | while read -r test; do
		times=$(awk -F '\t' -v t="$test" '$1 == t' "$work"/differs.[123] | wc -l)
		statuses=$(awk -F '\t' -v t="$test" '$1 == t { print $2 }' "$work"/differs.[123] | sort -u |
			paste -sd ,)
		plain=$(awk -F '\t' -v t="$test" '$1 == t { print $2 }' "$work/plain" | sort -u | paste -sd ,)
		if [ "$times" -ge 2 ]; then
			say "DIFFERS in $mode: $test: plain ${plain:-absent}, recorded $statuses, $times of 3 runs"
		else
			say "once in $mode: $test: plain ${plain:-absent}, recorded $statuses, 1 of 3 runs"
		fi
	done | tee -a "$work/differences"
}

compare_unit()
{
	local unit=$1 mode

	run_once plain "$unit" "$work/plain"
	echo >"$work/plain.runs"
	cat "$work/plain" >>"$work/tests.plain"
	for mode in $modes; do
		run_once "$mode" "$unit" "$work/$mode.now"
		cat "$work/$mode.now" >>"$work/tests.$mode"
		[ -z "$(unknown_to_plain "$work/plain" "$work/$mode.now")" ] || look_into "$mode" "$unit"
	done
}

statuses_of()
{
	cut -f 2 "$1" | sort | uniq -c | sort -rn | sed 's/^ *\([0-9]*\) /\1 x /' | paste -sd , | sed 's/,/, /g'
}

# compare: reads units, one a line; every one plain and in each mode, until the time is up.
compare()
{
	local unit n_units n_done=0 mode n

	in_order_of_seed | { grep -E -- "${only:-.}" || true; } >"$work/units"
	n_units=$(wc -l <"$work/units")
	mkdir -p "$work/logs"
	: >"$work/differences"
	for mode in plain $modes; do
		: >"$work/tests.$mode"
	done
	while read -r unit <&3 && [ "$(date +%s)" -lt $deadline ]; do
		compare_unit "$unit"
		n_done=$((n_done + 1))
	done 3<"$work/units"
	say "$n_done of $n_units units in the order of seed $LONG_SEED, $SECONDS s"
	for mode in plain $modes; do
		n=$(grep -c "^$suite: DIFFERS in $mode:" "$work/differences")
		say "$mode: $(wc -l <"$work/tests.$mode") tests: $(statuses_of "$work/tests.$mode")$(
			[ $mode = plain ] || printf '; %d differ, %d did once' "$n" \
				"$(grep -c "^$suite: once in $mode:" "$work/differences")")"
	done
	[ $n_done -gt 0 ] || fail 'no unit was run'
	grep -q DIFFERS "$work/differences" && suite_failed=1
	return $suite_failed
}
