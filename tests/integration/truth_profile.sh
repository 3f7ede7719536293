#!/bin/bash
# Profiles of a program that measures itself, as go tool pprof reads them: CPU time and sleep of
# each tenant, by every way to sample, with nothing on stderr.
. "$(dirname "$0")/lib.sh"
need_unsanitized
need go
# Where go keeps its tools once they are built; that takes longer than the test.
GOCACHE=$(go env GOCACHE) && export GOCACHE
export HOME=$work PPROF_TMPDIR=$work GOTOOLCHAIN=local GOFLAGS='' GOTELEMETRY=off
program=$top_builddir/tests/integration/truth_profile

# pprof OPTION...: into pprof.txt
pprof()
{
	go tool pprof "$@" >pprof.txt 2>pprof.err || fail "go tool pprof $*: $(cat pprof.err)"
	[ ! -s pprof.err ] || fail "go tool pprof $*: $(cat pprof.err)"
}

# tag NAME: what pprof.txt, of -tags -unit=ns, has for this value, in nanoseconds
tag()
{
	sed -n "s/^ *\([0-9]*\)ns (.*): $1\$/\1/p" pprof.txt
}

# near WHAT GOT WANTED: within a tenth, and four periods of a timer; or else the run differs
near()
{
	local off=$((${2:-0} - $3)) allowed=$(($3 / 10 + 40000000))
	[ ${off#-} -le $allowed ] ||
		differs "$1: ${2:-0} ns instead of $3, give or take $allowed" || return 1
	passed "$1: $2 ns, the program says $3"
}

# truth KIND TENANT: what the program said
truth()
{
	awk -v kind="$1" -v tenant="$2" '$1 == kind && $2 == tenant { print $4 }' truth.txt
}

# profiles HOW: of t.trc; false if they differ
profiles()
{
	local kind tenant
	for kind in cpu offcpu wall; do
		expect "$1: $kind" "$trace_analyze" --pprof $kind -o $kind.pb.gz t.trc
	done
	pprof -tags -unit=ns cpu.pb.gz
	for tenant in acme zeta; do
		near "$1: CPU time of $tenant" "$(tag $tenant)" "$(truth cpu $tenant)" || return 1
	done
	pprof -top -unit=ns -tagfocus=tenant=zeta cpu.pb.gz
	near "$1: focus on zeta" \
		"$(sed -n 's/^Showing nodes accounting for \([0-9]*\)ns.*/\1/p' pprof.txt)" \
		"$(truth cpu zeta)" || return 1
	grep -qE ' burn$' pprof.txt || fail "$1: burn() is not in: $(cat pprof.txt)"
	pprof -list '^burn$' cpu.pb.gz
	grep -q 'truth_profile.c' pprof.txt || fail "$1: no source in: $(cat pprof.txt)"
	pprof -tags -unit=ns -tagfocus=reason=sleep offcpu.pb.gz
	for tenant in acme zeta; do
		near "$1: sleep of $tenant" "$(tag $tenant)" "$(truth sleep $tenant)" || return 1
	done
	pprof -tags -unit=ns -sample_index=cpu wall.pb.gz
	near "$1: CPU time of acme, in wall" "$(tag acme)" "$(truth cpu acme)" || return 1
	pprof -tags -unit=ns -sample_index=offcpu -tagfocus=reason=sleep wall.pb.gz
	near "$1: sleep of acme, in wall" "$(tag acme)" "$(truth sleep acme)" || return 1
	"$trace_analyze" --label-filter tenant=acme --pprof cpu -o acme.pb.gz t.trc ||
		fail "$1: --label-filter"
	pprof -tags -unit=ns acme.pb.gz
	near "$1: under the filter" "$(tag acme)" "$(truth cpu acme)" || return 1
	[ -z "$(tag zeta)" ] || fail "$1: the filter lets zeta through"
	"$trace_analyze" t.trc >report.txt || fail "$1: no report"
	grep -q '^CPU time ' report.txt || fail "$1: the report has no CPU time"
	grep -q '^  by tenant: acme ' report.txt || fail "$1: not by tenant: $(cat report.txt)"
	passed "$1: the report has it by tenant"
}

# sampled HOW OPTION...: true if it could be
sampled()
{
	shift
	rm -f t.trc
	measure "$trace_record" -q -o t.trc "$@" "$program" >truth.txt 2>err.txt
}

# agree HOW OPTION...: true if it could be sampled
agree()
{
	runs=0
	while another_run; do
		sampled "$@" || return 1
		profiles "$1"
	done
}

agree timers -e timer || fail "timers: $(cat err.txt)"
agree signals -e cpu-clock --sample-by signal || echo 'no signals of counters here'
agree 'the kernel' -e cpu-clock --sample-by kernel || echo 'no samples by the kernel here'
