#!/bin/bash
# Each public header compiles by itself, twice in a row, without a warning, in every language
# that it promises; and needs nothing but what is installed with it.
. "$(dirname "$0")/../integration/lib.sh"

include=$top_srcdir/recorder/include
warnings='-Wall -Wextra -Wshadow -Wconversion -Wundef -Wstrict-prototypes -Werror'
# shellcheck disable=SC2086 # lists of options
for header in "$include"/trc/*.h; do
	name=trc/${header##*/}
	printf '#include <%s>\n#include <%s>\nint nothing;\n' "$name" "$name" >alone.c
	cp alone.c alone.cc
	for std in c99 c11 c17; do
		$CC -std=$std -pedantic $warnings -I"$include" -c alone.c -o alone.o ||
			fail "$name is not good $std"
		passed "$name, $std"
	done
	for std in c++11 c++17 c++20; do
		$CXX -std=$std -pedantic ${warnings/-Wstrict-prototypes/} -I"$include" -c alone.cc \
			-o alone.o || fail "$name is not good $std"
		passed "$name, $std"
	done
done

# A scope's value may be of any of these types, in each of them, without a warning.
cat >scope.h <<'END'
#include <trc/labels.h>
void use(const char *text, char *array, unsigned long large);
void use(const char *text, char *array, unsigned long large)
{
	TRACE_LABELS("literal", "value");
	TRACE_LABELS("text", text);
	TRACE_LABELS("array", array);
	TRACE_LABELS("int", 1);
	TRACE_LABELS("short", (short)1);
	TRACE_LABELS("long", 1L);
	TRACE_LABELS("size", sizeof(int));
	TRACE_LABELS("large", large);
}
END
cp scope.h scope.c
cp scope.h scope.cc
# shellcheck disable=SC2086
for std in c99 c11 c17; do
	$CC -std=$std -pedantic $warnings -I"$include" -c scope.c -o scope.o ||
		fail "TRACE_LABELS is not good $std"
done
# shellcheck disable=SC2086
for std in c++11 c++17 c++20; do
	$CXX -std=$std -pedantic ${warnings/-Wstrict-prototypes/} -I"$include" -c scope.cc -o scope.o ||
		fail "TRACE_LABELS is not good $std"
done
passed 'TRACE_LABELS takes strings and integers'
