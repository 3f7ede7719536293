#!/bin/bash
# bundle.sh - the page's program as C arrays (viewer/embed.sh) is the same bytes wherever, when and by whom it is made.
. "$(dirname "$0")/../integration/lib.sh"

# words VARIABLE: of viewer/local.mk.
words() { sed -e ':a' -e '/\\$/{N; s/\\\n//; ta}' "$top_srcdir/viewer/local.mk" | sed -n "s/^$1 = //p"; }
# below DIRECTORY WORD...
below() { local at=$1; shift; printf "$at/%s\n" "$@"; }
# embed DIRECTORY: of the sources there.
embed()
{
	# shellcheck disable=SC2046 # names without blanks
	sh "$1/viewer/embed.sh" $(below "$1" viewer/assets/body.html viewer/assets/app.css $(words viewer_sql) $(words viewer_decoder)) -- \
		$(below "$1" $(words viewer_js)) || return
	# shellcheck disable=SC2046
	sh "$1/viewer/embed.sh" frame $(below "$1" $(words viewer_frame))
}

[ "$(words viewer_js | wc -w)" -gt 50 ] || fail 'the list of modules is not where it was'
embed "$top_srcdir" >here.c || fail 'embed.sh failed'
grep -q '^const unsigned char trc_asset_js\[\]' here.c || fail 'embed.sh wrote something else'

mkdir -p 'elsewhere/a longer name' tmp
cp -r "$top_srcdir/viewer" "elsewhere/a longer name/"
find elsewhere -type f -exec touch -d '2001-02-03 04:05:06' {} +
ln -s "$PWD/elsewhere/a longer name" other
locale=$(locale -a 2>/dev/null | grep -i -m 1 -E '^(tr_TR|de_DE|C)\.utf-?8$') || locale=C
(
	umask 077
	cd other/viewer/assets || exit 1
	export LC_ALL=$locale LANG=$locale TZ=Pacific/Auckland TMPDIR=$OLDPWD/tmp GZIP='' POSIXLY_CORRECT=1
	embed ../.. >"$OLDPWD/there.c"
) || fail 'embed.sh failed elsewhere'
cmp here.c there.c || fail "another directory, locale ($locale), umask or time makes another program"
[ -z "$(ls tmp)" ] || fail "it left $(ls tmp)"
passed 'the same bytes in another directory, locale, umask and time zone'

for awk in mawk 'gawk --posix' 'busybox awk' original-awk; do
	command -v "${awk%% *}" >/dev/null || continue
	(
		export AWK=$awk
		embed "$top_srcdir" >awk.c
	) || fail "embed.sh failed with $awk"
	cmp here.c awk.c || fail "$awk makes another program"
done
passed 'the same bytes with another awk'

# What was built is of these sources.
if [ -e "$top_builddir/viewer/assets.c" ]; then
	cat "$top_builddir/viewer/assets.c" "$top_builddir/viewer/serve/assets.c" | cmp - here.c || fail 'the build has another program'
	passed 'the build has these bytes'
fi

# What a module imports has to be in its script: in one scope nothing else would tell.
mkdir wrong && cp -r "$top_srcdir/viewer" wrong/ && chmod -R u+w wrong
# refuses FILE LINE SENTENCE: with the line before all of the file.
refuses()
{
	{
		printf '%b\n' "$2"
		cat "$top_srcdir/viewer/$1"
	} >"wrong/viewer/$1"
	! embed wrong >wrong.c 2>wrong.txt || fail "embed.sh takes $1 with $2"
	grep -q -F -- "$3" wrong.txt || fail "embed.sh says of $1 with $2: $(cat wrong.txt)"
	cp -f "$top_srcdir/viewer/$1" "wrong/viewer/$1"
}
refuses assets/draw.js 'import {answered} from "./sql_worker.js";' 'draw.js imports sql_worker.js, which is not in the same script'
refuses assets/levels.js 'import {byId,\n\tel} from "./format.js";' 'levels.js imports format.js, which is not in the same script'
refuses assets/sql_worker.js 'import {byId} from "./format.js";' 'sql_worker.js imports format.js, which is not in the same script'
refuses serve/zoom.js 'import {drawAll} from "./draw.js";' 'zoom.js imports draw.js, which is not in the same script'
refuses assets/draw.js 'export {drawAll};' 'import or export in another way'
embed wrong >wrong.c && cmp here.c wrong.c || fail 'a module with the same lines makes another program'
passed 'a module that imports what is not in its script is refused'
