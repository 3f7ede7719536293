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
struct bits {
	unsigned int narrow : 3;
	__extension__ unsigned long long wide : 40;
};
enum { one = 1 };
void use(const char *text, char *array, unsigned long large, const struct bits *bits);
void use(const char *text, char *array, unsigned long large, const struct bits *bits)
{
	TRACE_LABELS("literal", "value");
	TRACE_LABELS("text", text);
	TRACE_LABELS("array", array);
	TRACE_LABELS("int", 1);
	TRACE_LABELS("short", (short)1);
	TRACE_LABELS("long", 1L);
	TRACE_LABELS("size", sizeof(int));
	TRACE_LABELS("large", large);
	TRACE_LABELS("signed large", 1LL);
	TRACE_LABELS("unsigned large", 1ULL);
	TRACE_LABELS("unsigned", 1U);
	TRACE_LABELS("character", array[0]);
	TRACE_LABELS("truth", text == array);
	TRACE_LABELS("bytes", (const unsigned char *)text);
	TRACE_LABELS("writable bytes", (unsigned char *)array);
	TRACE_LABELS("signed bytes", (signed char *)array);
	TRACE_LABELS("bit-field", bits->narrow);
	TRACE_LABELS("wide bit-field", bits->wide);
	TRACE_LABELS("constant", one);
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

# Anything else does not compile, rather than be made a number of: nor does it with warnings off.
# compiles TYPE LANGUAGE COMPILER...: a label whose value is of this type
compiles()
{
	local type=$1 language=$2
	shift 2
	printf '#include <trc/labels.h>\nvoid use(%s value)\n{\n\tTRACE_LABELS("key", value);\n}\n' \
		"$type" >"of_type.$language"
	"$@" -w -I"$include" -c "of_type.$language" -o of_type.o 2>of_type.txt
}
# shellcheck disable=SC2086 # a command and its options
for type in long float double 'long double' 'void *' 'const void *' 'int *' 'const short *' 'char **'; do
	taken=
	compiles "$type" c $CC -std=c99 && taken=' in C99'
	compiles "$type" c $CC -std=c17 && taken+=' in C17'
	compiles "$type" cc $CXX -std=c++17 && taken+=' in C++'
	wanted=
	[ "$type" != long ] || wanted=' in C99 in C17 in C++'
	[ "$taken" = "$wanted" ] || fail "a label may be of type $type$taken: $(cat of_type.txt)"
done
passed 'and nothing else'
