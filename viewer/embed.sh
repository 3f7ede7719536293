#!/bin/sh
# embed.sh BODY CSS WASM LIBRARY VALUES WORKER DECODER... -- JS... - writes assets.c: the page's files as C arrays.
# embed.sh frame BODY CSS JS - the same for trace-view's frame (serve/).
#
# The DECODER and JS files are modules, and become one script: one function's scope, in the order given, without their import lines
# and the word `export`.  The DECODER files are also a script by themselves, for a worker.  Nothing in them may end a script element
# early.  SQLite (WASM, with the LIBRARY that calls it) and the WORKER that runs both, behind VALUES, are compressed, and in base64.
set -eu
AWK=${AWK-awk}
prefix=trc_asset header=viewer/assets.h
if [ "$1" = frame ]; then
	prefix=trc_asset_frame header=viewer/serve/assets.h
	body=$2 css=$3
	shift 3
	set -- -- "$@"
else
	body=$1 css=$2 wasm=$3 library=$4 values=$5 worker=$6
	shift 6
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# imported MODULE...: refuses those that import a file that is not among them.
imported()
{
	there=" $(printf '%s\n' "$@" | sed 's,.*/,,' | tr '\n' ' ')"
	for module in "$@"; do
		for name in $(sed -n 's,^.*} from "\./\(.*\)";$,\1,p' "$module"); do
			case $there in
			*" $name "*) ;;
			*)
				echo "embed.sh: $module imports $name, which is not in the same script" >&2
				exit 1
				;;
			esac
		done
	done
}

# Modules as parts of a script: without the paragraph of imports, which may have lines that go on, and without `export`.
parts()
{
	# shellcheck disable=SC2016 # awk's
	$AWK '
	/^import / { goes = 1 }
	goes { goes = !/;$/; gap = 1; next }
	gap { gap = 0; if ($0 == "") next }
	/^export (async|class|const|function|let)[ *]/ { sub(/^export /, "") }
	{ print }' "$@"
}

# The lines of a script that are more than a comment: comments, which would be a seventh of it, are for those who change it.
code()
{
	parts "$@" | sed '/^[[:blank:]]*\/\*\* @.*\*\/$/d; /^[[:blank:]]*\/\/.*$/d'
}

{
	printf '"use strict";\n'
	decoder=
	while [ "$1" != -- ]; do
		code "$1"
		decoder="$decoder $1"
		shift
	done
	shift
	printf 'const decoder = decoderMake((message, moved) => postMessage(message, moved));\n'
	printf 'onmessage = ({data}) => decoder(data);\n'
	printf 'postMessage({kind: "hello"});\n'
} >"$work/decoder"
# shellcheck disable=SC2086 # several files
[ -z "$decoder" ] || imported $decoder
# shellcheck disable=SC2086
set -- $decoder "$@"
imported "$@"
[ $prefix = trc_asset_frame ] || imported "$values" "$worker"
{
	printf '(() => {\n"use strict";\n'
	code "$@"
	printf '})();\n'
} >"$work/js"

if grep -n -E '^(import|export)' "$work/js" "$work/decoder"; then
	echo "embed.sh: the lines above import or export in another way than all others" >&2
	exit 1
fi

if grep -n -i -e '</script' -e '<!--' "$work/js" "$work/decoder" "$body" || grep -n -i '</style' "$css"; then
	echo "embed.sh: the lines above would end their element early" >&2
	exit 1
fi

# In one scope a later function of the same name would take the place of an earlier one, without a word.
twice=$(grep -h -o -E '^(export )?(async )?(function\*?|class|const|let) +[A-Za-z_]+' "$@" | sed 's/.* //' | LC_ALL=C sort | uniq -d)
if [ -n "$twice" ]; then
	echo "embed.sh: defined in two files: $twice" >&2
	exit 1
fi

bytes()
{
	printf '\nconst unsigned char %s[] = {\n' "$1"
	od -An -v -tu1 "$2" | sed 's/  */,/g; s/^,//; s/$/,/'
	printf '};\nconst size_t %s_bytes = sizeof(%s);\n' "$1" "$1"
}

# The hash in base64: 64 hexadecimal digits, three to two.
hash()
{
	sha256sum "$2" | $AWK -v name="$1" '{
		digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		hex = substr($1, 1, 64) "00"
		for (i = 1; i <= 64; i += 3) {
			v = 0
			for (j = 0; j < 3; j++)
				v = v * 16 + index("0123456789abcdef", substr(hex, i + j, 1)) - 1
			out = out substr(digits, int(v / 64) + 1, 1) substr(digits, v % 64 + 1, 1)
		}
		printf "const char %s_hash[] = \"sha256-%s=\";\n", name, substr(out, 1, 43)
	}'
}

printf '/* Made by embed.sh. */\n#include "%s"\n' $header
bytes ${prefix}_body "$body"
bytes ${prefix}_css "$css"
bytes ${prefix}_js "$work/js"
hash ${prefix}_css "$css"
hash ${prefix}_js "$work/js"
[ $prefix = trc_asset ] || exit 0
bytes trc_asset_decoder "$work/decoder"
gzip -9nc "$wasm" | base64 -w 0 >"$work/wasm"
{
	cat "$library"
	parts "$values" "$worker"
} | gzip -9nc | base64 -w 0 >"$work/worker"
bytes trc_asset_sql_wasm "$work/wasm"
bytes trc_asset_sql_worker "$work/worker"
