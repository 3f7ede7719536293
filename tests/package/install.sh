#!/bin/bash
# `make install` into a directory of its own: what is there, and that a C and a C++ program build
# against it by pkg-config and record themselves.
. "$(dirname "$0")/../integration/lib.sh"
need pkg-config
need_unsanitized

root=$work/root
make -s -C "$top_builddir" install DESTDIR="$root" >install.log 2>&1 || {
	tail -n 20 install.log >&2
	fail 'make install failed'
}
pc=$(cd "$root" && find . -name trc.pc | sed 's/^\.//')
[ -n "$pc" ] || fail 'no trc.pc was installed'
export PKG_CONFIG_PATH=$root${pc%/*} PKG_CONFIG_SYSROOT_DIR=$root
libdir=$root$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=libdir trc)
bindir=$root$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=prefix trc)/bin
export LD_LIBRARY_PATH=$libdir
passed "trc.pc names version $(pkg-config --modversion trc)"

for file in "$bindir/trace-record" "$bindir/trace-analyze" "$libdir/libtrc.so"; do
	[ -x "$file" ] || fail "$file was not installed"
done
if [ -x "$top_builddir/viewer/trace-view" ]; then
	[ -x "$bindir/trace-view" ] || fail 'trace-view was not installed'
fi
for part in preload profile http; do
	find "$root" -name "libtrc-$part.so" | grep . >/dev/null || fail "libtrc-$part.so was not installed"
done
find "$root" -name 'trace-record.1*' | grep . >/dev/null || fail 'no manual page for trace-record'
find "$root" -name 'trc-demo.c' | grep . >/dev/null || fail 'no example was installed'
passed 'tools, libraries, manual pages and the example are there'

cat >program.c <<'PROGRAM'
#include <trc/trace.h>
#include <stdio.h>

static int work(void)
{
	TRACE_REGION("work");
	trace_log(0, "test", "hello");
	return 0;
}

int main(int argc, char **argv)
{
	trace_task task;

	if (argc > 1 && trace_start(argv[1], NULL)) {
		fprintf(stderr, "%s\n", trace_last_error());
		return 1;
	}
	task = trace_task_begin("job", 0);
	work();
	trace_counter_set("answer", 42);
	trace_task_end(task);
	return argc > 1 ? trace_stop() : 0;
}
PROGRAM
cp program.c program.cc

# flags as words: that is what pkg-config prints
cflags=$(pkg-config --cflags trc)
libs=$(pkg-config --libs trc)
# shellcheck disable=SC2086
for make in "$CC -std=c99 -Wall -Wextra -Werror -pedantic program.c -o by-c" \
	"$CXX -std=c++17 -Wall -Wextra -Werror program.cc -o by-c++"; do
	$make $cflags $libs || fail "does not build: $make $cflags $libs"
	passed "builds: ${make%% program*}"
done

for program in by-c by-c++; do
	"./$program" || fail "$program fails while nothing records"
	"./$program" "$program.trc" || fail "$program could not record itself"
	got=$("$bindir/trace-analyze" --output tsv "$program.trc" --sql \
		"SELECT (SELECT count(*) FROM tasks WHERE type = 'job'),
			(SELECT count(*) FROM regions WHERE type = 'work'),
			(SELECT message FROM logs), (SELECT value FROM counters)" | tail -n 1)
	[ "$got" = $'1\t1\thello\t42' ] || fail "$program.trc holds: $got"
	passed "$program records itself"
done

# Every example that is installed is one that can be built with what is installed.
examples=$(dirname "$(find "$root" -name 'trc-demo.c')")
for file in "$examples"/*.c; do
	example=$(basename "$file" .c)
	# shellcheck disable=SC2086
	$CC -std=c17 -Wall -Wextra -Werror "$file" -o "$example" $cflags $libs -lpthread ||
		fail "does not build: $file"
done
passed "builds: $(ls "$examples" | wc -l) examples"
"./recorders" . >recorders.txt || fail 'recorders, an example, fails'
zcat block.pb.gz | grep -a -q main || fail 'recorders, an example, wrote no profile with names'
passed 'recorders takes its profiles, with names of functions'

# The installed tool finds the installed preload library beside it, not one of the build tree.
"$bindir/trace-record" -o outer.trc -- ./by-c >out.txt 2>&1 || {
	cat out.txt >&2
	fail 'the installed trace-record does not record'
}
got=$("$bindir/trace-analyze" --sql 'SELECT count(*) FROM tasks' --output tsv outer.trc | tail -n 1)
[ "$got" = 1 ] || fail "under trace-record the task is not there: $got"
passed 'the installed trace-record records it'
