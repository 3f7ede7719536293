#!/bin/bash
# What programs do to a heap at its worst, in several threads and with samples by signals all the
# time: they do the same as when they are not recorded, and what they say that is left, place by
# place, is what SQL and profiles say.
. "$(dirname "$0")/lib.sh"
. "$top_srcdir/tests/integration/heap_lib.sh"
need_unsanitized
program=$here/heap_hostile
plugin=./libheapplugin.so # as programs name theirs: from where they are started
cp "$here/.libs/libheapplugin.so" . || fail 'no plugin'
recorded_with=(--ring-size 32M -F 10000 --sample-by signal)
"$trace_record" -q -o t.trc "${recorded_with[@]}" true 2>/dev/null ||
	recorded_with=(--ring-size 32M -e timer)

# by_place TRACE: what is left at each place, as the program says it
by_place()
{
	sql "$1" "
		SELECT 'site', f.function, count(*), sum(h.bytes)
		FROM heap AS h JOIN (
			SELECT DISTINCT s.stack, f.function FROM stack_frames AS s
				JOIN frames AS f ON f.id = s.frame
			WHERE f.function LIKE 'site\\_%' ESCAPE '\\') AS f USING (stack)
		GROUP BY f.function" | sort
}

# by_pprof PROFILE TYPE: objects or bytes that are left at each place
by_pprof()
{
	GOTOOLCHAIN=local go tool pprof -top -cum -nodecount=1000 -nodefraction=0 -edgefraction=0 \
		-unit=B -sample_index="$2" "$1" 2>pprof.err |
		awk -v OFS='\t' '$6 ~ /^site_/ { sub("B$", "", $4); print $6, $4 + 0 }' | sort
	[ ! -s pprof.err ] || fail "go tool pprof: $(cat pprof.err)"
}

# truth COLUMN: of each place at which something is left
truth()
{
	awk -F '\t' -v OFS='\t' -v column="$1" \
		'$1 == "site" && $3 > 0 { print $2, $column }' said.txt | sort
}

# places WHAT
places()
{
	local type column=3
	awk -F '\t' '$1 == "site" && $3 > 0' said.txt | sort >wanted.tsv
	by_place dump.trc >got.tsv
	diff wanted.tsv got.tsv || fail "$1: SQL (>) and the program (<) disagree"
	passed "$1: SQL tells what is left at each of $(wc -l <got.tsv) places"
	command -v go >/dev/null || return 0
	"$trace_analyze" --pprof heap -o heap.pb.gz dump.trc || fail 'no profile'
	for type in inuse_objects inuse_space; do
		truth $column >wanted.tsv
		by_pprof heap.pb.gz $type >got.tsv
		diff wanted.tsv got.tsv || fail "$1: pprof's $type (>) and the program (<) disagree"
		column=4
	done
	passed "$1: so does its profile"
}

# hostile WHAT ARGUMENT...
hostile()
{
	local what=$1
	shift
	exactly "$what" "$program" "$@"
	the_same "$what" "$program" "$@"
	places "$what"
}

hostile 'all at once' all "$plugin"
[ "$(sql dump.trc "SELECT count(*) FROM heap WHERE bytes IN (9001, 7919)")" = 0 ] ||
	fail "children's objects in their parent's trace"
[ "$(sql dump.trc "SELECT count(*) FROM heap AS h JOIN stack_frames AS s USING (stack)
	JOIN frames AS f ON f.id = s.frame WHERE f.function = 'ends'")" = 0 ] ||
	fail 'what libc gives back behind the end of a thread is left'
hostile 'exit()' exits "$plugin"

exactly 'a million' "$program" million
the_same 'a million' "$program" million

sampled 1 behind "$program" behind
lost=$(sql dump.trc "SELECT sum(lost_events) FROM gaps WHERE cause <> 'kernel'")
[ "$lost" = 3 ] || fail "3 objects of a thread behind its end: $lost lost events"
passed 'what is allocated behind the end of a thread is counted as lost'
