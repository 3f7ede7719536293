#!/bin/bash
# sanitized.sh - programs that are linked with a sanitizer's runtime, recorded.
name=sanitized
. "$(dirname "$0")/lib.sh"

cat >wrong.c <<'END'
#include <stdlib.h>
int main(void)
{
	char *volatile gone = malloc(8);

	free(gone);
	return *gone;
}
END
any=''
for compiler in gcc clang; do
	for sanitizer in address thread; do
		built=$compiler-$sanitizer
		"$compiler" -g -fsanitize=$sanitizer -o "./$built" "$top_srcdir/tests/recorder/tool/limited.c" -lpthread \
			2>/dev/null && "./$built" small >/dev/null 2>&1 || continue
		any=$built
		for args in '' '-F 1000 --heap --locks=all' '--flight --follow --snapshot-on exit'; do
			for by in '' 'by a shell'; do
				# What a shell runs is found out by nobody: ThreadSanitizer has to be first.
				[[ -n $by && $sanitizer == thread ]] && continue
				rm -f s*.trc
				command=("./$built" small)
				[ -z "$by" ] || command=(sh -c "./$built small; exit \$?")
				# shellcheck disable=SC2086
				check "$built: $args: $by" status 0 "$record" -q $args -o s.trc "${command[@]}"
				check "$built: $args: $by: its output" same "$(cat out err)" 'small 0'
				[ -n "$by" ] || check "$built: $args: recorded" \
					eval '[ -e s.trc ] || mv s.[0-9]*.trc s.trc; trace s.trc "count thread_exit 1"'
			done
		done
		[ $sanitizer = address ] || continue
		"$compiler" -g -fsanitize=address -o wrong wrong.c
		check "$built: an error of its own" status 1 "$record" -q -o s.trc ./wrong
		check "$built: an error of its own is told" says err heap-use-after-free
	done
done
[ "$any" ] || {
	echo "skipped: no compiler has a sanitizer"
	exit 77
}

finish
