#!/bin/bash
# serve.sh - trace-view without a browser: what it serves, to whom, and what ends it.
. "$(dirname "$0")/../../integration/lib.sh"
need curl
need_unsanitized
trace_view=$top_builddir/viewer/trace-view
demo=$top_builddir/docs/examples/trc-demo
[ -x "$trace_view" ] || skip 'built without libmicrohttpd'
unset DISPLAY WAYLAND_DISPLAY
export XDG_CACHE_HOME=$PWD/cache # pages of whole traces are kept there
case $(stat -f -c %T .) in
nfs* | smb* | cifs | fuse* | v9fs) XDG_CACHE_HOME=$(mktemp -d /dev/shm/trc-cache.XXXXXX) ;; # serve:V13
esac

# view WORD...: in the background; its address is in $url, its process in $pid.
view()
{
	# A shell has what it starts in the background ignore SIGINT.
	start env --default-signal=INT "$trace_view" "$@" >url.txt 2>err.txt
	until_true 120 test -s url.txt || fail "trace-view $* printed no address: $(cat err.txt)"
	url=$(cat url.txt)
	port=${url#http://127.0.0.1:}
	port=${port%%/*}
}

# status_of WANTED CURL'S-WORD...
status_of()
{
	local wanted=$1 got
	shift
	got=$(curl -s -o body.txt -w '%{http_code}' --max-time 300 "$@")
	[ "$got" = "$wanted" ] || fail "status $got, not $wanted: $*: $(head -c 300 body.txt)"
}

# ended PID SECONDS: by itself, with status 0.
ended()
{
	local tries=$(($2 * 10))
	while kill -0 "$1" 2>/dev/null; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1
	done
	wait "$1"
}

# refused STATUS TEXT WORD...: one line on stderr, nothing on stdout.
refused()
{
	local wanted=$1 text=$2 got=0
	shift 2
	timeout 300 "$trace_view" "$@" >out.txt 2>err.txt || got=$?
	[ $got = "$wanted" ] || fail "trace-view $*: status $got, not $wanted"
	[ ! -s out.txt ] || fail "trace-view $*: printed $(cat out.txt)"
	[ "$(wc -l <err.txt)" = 1 ] || fail "trace-view $*: not one line: $(cat err.txt)"
	grep -q "^trace-view: .*$text" err.txt || fail "trace-view $*: said $(cat err.txt)"
}

"$trace_record" -o demo.trc -- "$demo" -s 1 >demo.txt 2>&1 || fail 'nothing was recorded'

# ---- a trace ----------------------------------------------------------------------------------
"$trace_analyze" --html demo.html demo.trc || fail 'no page'
view demo.trc
[ "$(wc -l <url.txt)" = 1 ] || fail 'more than the address was printed'
[[ $url =~ ^http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/$ ]] || fail "no such address: $url"
status_of 200 -D head.txt "${url}page"
cmp body.txt demo.html || fail 'the page is not that of --html'
status_of 200 "${url}page"
cmp body.txt demo.html || fail 'the second is not the first'
grep -qi '^content-security-policy: frame-ancestors ' head.txt || fail 'others may frame the page'
grep -qi '^referrer-policy: no-referrer' head.txt || fail 'the address is told to others'
status_of 200 -D head.txt "$url"
grep -q '"name":"demo.trc","pid":0' body.txt || fail 'the frame has no name'
# The overview has every event, and is of the time that the report is of.
sed -n 's/.*"counts":\[\([0-9,]*\)\].*/\1/p' body.txt | tr , '\n' | awk '{ n += $1 } END { print n }' >counted.txt
"$trace_analyze" --output tsv --sql 'SELECT count(*) FROM events' demo.trc | tail -n 1 | cmp - counted.txt ||
	fail 'the overview has not all events'
[ "$(cat counted.txt)" -gt 1000 ] || fail 'the overview has next to nothing'
grep -q '"to":0,' body.txt || fail 'a small trace is shown in parts'
grep -qi "^content-security-policy: default-src 'none'; script-src 'sha256-" head.txt || fail 'the frame has no policy'
status_of 303 "${url%/}"
passed 'the page is that of --html, byte for byte'

# A window, as --window has it; windows and the whole in turns.
"$trace_analyze" --html window.html --window 300000000ns..500000000ns demo.trc || fail 'no page of a window'
for _ in 1 2; do
	status_of 200 "${url}page?from=300000000&to=500000000"
	cmp body.txt window.html || fail 'the page of a window is not that of --window'
	status_of 200 "${url}page"
	cmp body.txt demo.html || fail 'the whole page is another after that of a window'
done
status_of 200 -D head.txt "${url}page?from=300000000&to=500000000&save=1"
cmp body.txt window.html || fail 'the page of a window that is saved is not that of --window'
tr -d '\r' <head.txt | grep -qixF 'content-disposition: attachment; filename="demo-300000000-500000000.html"' ||
	fail "the page of a window is not to be saved: $(cat head.txt)"
grep -qi '^content-type: text/html' head.txt || fail 'the page of a window is no page'
status_of 200 -D head.txt "${url}page?from=300000000&to=500000000&save=2"
! grep -qi '^content-disposition' head.txt || fail 'what nobody wants to save is saved'
status_of 200 "${url}?from=300000000&to=500000000"
# Tables are left out of what is shown where that is asked for, and never of what is saved.
"$trace_analyze" --html plain.html --without-sql --window 300000000ns..500000000ns demo.trc || fail 'no page without tables'
for _ in 1 2; do
	status_of 200 "${url}page?from=300000000&to=500000000&without=sql"
	cmp body.txt plain.html || fail 'the page of a window without tables is not that of --without-sql'
	status_of 200 "${url}page?from=300000000&to=500000000&save=1&without=sql"
	cmp body.txt window.html || fail 'the page of a window that is saved lacks its tables'
done
status_of 200 "${url}page?without=sql"
cmp body.txt demo.html || fail 'the page of all lacks its tables'
for query in from=1 to=1 'from=5&to=5' 'from=6&to=5' 'from=-1&to=5' 'from=1e3&to=5000' 'from=1&to=9223372036854775808' 'from=&to='; do
	status_of 400 "${url}page?$query"
done
status_of 404 "${url}page?from=9000000000000&to=9100000000000"
# Queries: they only read, and end with who asks.
asks() { curl -s -G -o body.txt -w '%{http_code}' --max-time "${3-300}" --data-urlencode "q=$2" "${@:4}" "${1}sql"; }
[ "$(asks "$url" 'SELECT count(*) AS n FROM parks')" = 200 ] || fail "no answer: $(cat body.txt)"
n_parks=$("$trace_analyze" --output tsv --sql 'SELECT count(*) FROM parks' demo.trc | tail -n 1)
printf '{"columns":["n"],"rows":[\n["1",%s]],"more":false}\n' "$n_parks" | cmp - body.txt || fail "it answered $(cat body.txt)"
"$trace_analyze" --window 300000000ns..500000000ns --output tsv --sql 'SELECT count(*), sum(waited_ns) FROM parks' demo.trc |
	tail -n 1 | tr '\t' , >parks.txt
[ "${n_parks}" -gt "$(cut -d , -f 1 parks.txt)" ] || fail 'all waits lie in the window'
[ "$(asks "$url" 'SELECT count(*), sum(waited_ns) FROM parks' 300 --data 'from=300000000&to=500000000')" = 200 ] || fail "no answer of a window: $(cat body.txt)"
grep -qxF "[\"11\",$(cat parks.txt)]],\"more\":false}" body.txt || fail "of a window it answered $(cat body.txt)"
asks "$url" 'SELECT count(*) AS n FROM parks' >/dev/null
grep -qF "[\"1\",$n_parks]" body.txt || fail "after a window it answered $(cat body.txt)"
[ "$(asks "$url" 'SELECT 1' 300 --data 'from=5&to=5')" = 400 ] || fail 'a window without a length is asked'
[ "$(asks "$url" 'SELECT 1' 300 --data 'from=1')" = 400 ] || fail 'a window without an end is asked'
[ "$(asks "$url" 'SELECT 1' 300 --data 'from=9000000000000&to=9100000000000')" = 404 ] || fail 'a window without a trace is asked'
[ "$(asks "$url" 'SELECT 1' 300 --data 'from=1&to=5&snapshot=1')" = 400 ] || fail 'a window of a snapshot is asked'
for query in "ATTACH 'there.db' AS x" 'DELETE FROM parks' 'CREATE TABLE x(y)' 'PRAGMA query_only = 0' 'SELECT' 'SELECT 1; nothing'; do
	asks "$url" "$query" >/dev/null
	grep -q '^{"error":"[^"]*"}$' body.txt || fail "$query: $(cat body.txt)"
done
[ "$(asks "$url" '')" = 400 ] || fail 'no query has an answer'
[ ! -e there.db ] || fail 'a database was made'
status_of 404 "${url}sql?q=SELECT%201&snapshot=1"
status_of 400 "${url}sql?q=SELECT%201&snapshot=x"
asks "$url" 'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r' 1 >/dev/null &&
	fail 'an endless query has an answer'
[ "$(asks "$url" 'SELECT 1')" = 200 ] || fail 'nothing is answered after a query that nobody waits for'
asks "$url" 'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r' >/dev/null
tail -c 15 body.txt | grep -q '"more":true' || fail 'an answer has no end'
[ "$(wc -l <body.txt)" = 200001 ] || fail "an answer has $(wc -l <body.txt) rows"
# Of a query that is too large: the text of its error.
too_large()
{
	asks "$url" "$2" >/dev/null
	grep -q "^{\"error\":\"stopped: .*$1.*\"}\$" body.txt || fail "$2: it answered $(head -c 300 body.txt)"
}
too_large 'a value or a row' 'SELECT zeroblob(1000000000)'
too_large 'memory' 'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT hex(zeroblob(450000)) || n AS b FROM r ORDER BY b'
values=$(printf 'b, %.0s' {1..39})b
asks "$url" "SELECT $values FROM (SELECT zeroblob(1000000) AS b)" >/dev/null
tail -n 1 body.txt | grep -qx '.*"rows":\[\],"more":true}' || fail "a row of 80 MB: $(head -c 300 body.txt)"
asks "$url" "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n, zeroblob(500000) FROM r" >/dev/null
expect 'an answer is as long as it may be' test "$(stat -c %s body.txt)" -le $((64 << 20)) -a "$(stat -c %s body.txt)" -gt $((60 << 20))
expect 'it has whole rows' test "$(wc -l <body.txt)" = 68
tail -c 20 body.txt | grep -q '0"\]\],"more":true}' || fail 'its last row is not whole'
[ "$(asks "$url" 'SELECT 1')" = 200 ] || fail 'nothing is answered after a query that was too large'
passed 'queries are answered, as far as they read and end'
status_of 400 "${url}page?from=9000000000000000000&to=9100000000000000000"
status_of 200 "${url}page?other=1"
cmp body.txt demo.html || fail 'what is not known changes the page'
status_of 404 "${url}take?last=0"
grep -q 'no process to take a snapshot of' body.txt || fail "it said: $(cat body.txt)"
for path in 'page?snapshot=1' 'keep?snapshot=1' 'trace?snapshot=1'; do
	status_of 404 "$url$path"
done
passed 'the page of a window is that of --window, byte for byte'

# Of a trace with all locks nothing but waits is drawn, and counted.
"$trace_record" --locks=all -o locks.trc -- "$demo" -s 1 >demo.txt 2>&1 || fail 'nothing was recorded'
of_demo=$url demo_pid=$pid
view --events 500 locks.trc
status_of 200 "$url"
counted=$(sed -n 's/.*"events":\([0-9]*\),.*/\1/p' body.txt)
wanted=$("$trace_analyze" --output tsv locks.trc --sql \
	"SELECT count(*) FROM events WHERE kind NOT IN ('acquire', 'release')" | tail -n 1)
[ "$counted" = "$wanted" ] || fail "the overview has $counted events, not $wanted"
to=$(sed -n 's/.*"to":\([0-9]*\),.*/\1/p' body.txt)
[ "$to" -gt 0 ] || fail 'a large trace is not shown in parts'
within=$("$trace_analyze" --output tsv locks.trc --sql \
	"SELECT count(*) FROM events WHERE kind NOT IN ('acquire', 'release') AND ts_ns < $to +
	(SELECT min(ts_ns) FROM events)" | tail -n 1)
# How many lie in it follows from how they lie in their blocks (tests/viewer/serve/unit has its length).
[ "$within" -gt 0 ] && [ "$within" -lt "$counted" ] || fail "the first part has $within events of $counted"

# Its page of the whole is kept, and is that of another trace-view; not if the trace has changed, or nobody wants it.
kept() { find "$XDG_CACHE_HOME" -name '*.page' 2>/dev/null | wc -l; }
derived() { find "$XDG_CACHE_HOME" -name '*.model' ! -name 'making-*' 2>/dev/null; }
is_derived() { [ -n "$(derived)" ]; }
# maps_derived: trace-view has the file mapped.
maps_derived() { grep -q '\.model$' "/proc/$pid/maps"; }
[ "$(kept)" = 0 ] || fail 'the page of a small trace was kept'
status_of 200 "${url}page"
cp body.txt whole.html
[ "$(kept)" = 1 ] || fail 'the page of the whole is not kept'
until_true 120 maps_derived || fail 'what was derived is not kept, or not used'
[ "$(stat -c %a "$(derived)")" = 600 ] || fail 'others can read what was derived'
status_of 200 "${url}page?from=0&to=$to"
cp body.txt part.html
"$trace_analyze" --html window.html --window "0ns..${to}ns" locks.trc || fail 'no page of a part'
cmp part.html window.html || fail 'the page of a part is another one of what is mapped'
finish "$pid" TERM
head -c 20 "$(find "$XDG_CACHE_HOME" -name '*.page')" | grep -q '^<!DOCTYPE html>' || fail 'something else is kept'
for words in '' --without-cache; do
	# shellcheck disable=SC2086 # a word or none
	view $words --events 500 locks.trc
	status_of 200 "${url}page"
	cmp body.txt whole.html || fail "another trace-view $words has another page"
	status_of 200 "${url}page?from=0&to=$to"
	cmp body.txt part.html || fail "another trace-view $words has another page of a part"
	if [ -n "$words" ]; then
		! maps_derived || fail '--without-cache uses what was derived'
	else
		maps_derived || fail 'another trace-view does not use what was derived'
	fi
	status_of 200 "${url}page"
	cmp body.txt whole.html || fail 'the page of the whole is another one after that of a part'
	finish "$pid" TERM
done
# Damaged, or of another program: it is made anew.
before=$(stat -c %i "$(derived)")
printf x | dd of="$(derived)" bs=1 seek=20000 conv=notrunc status=none
view --events 500 locks.trc
status_of 200 "${url}page?from=0&to=$to"
cmp body.txt part.html || fail 'what is damaged is shown'
grep -q 'is not used: the file is damaged' err.txt || fail "what is damaged is not told: $(cat err.txt)"
is_renewed() { [ -n "$(derived)" ] && [ "$(stat -c %i "$(derived)")" != "$before" ]; }
until_true 120 is_renewed || fail 'what is damaged is not made anew'
finish "$pid" TERM
chmod 0620 "$(derived)"
view --events 500 locks.trc
status_of 200 "${url}page?from=0&to=$to"
cmp body.txt part.html || fail 'what others can write makes another page'
! maps_derived || [ "$(stat -c %a "$(derived)")" = 600 ] || fail 'what others can write is used'
finish "$pid" TERM
# A file that names may come from was put where there was none.
mkdir debug
export TRC_DEBUG_PATH=$PWD/debug
inodes=
for new in no no yes; do
	[ $new = no ] || "$trace_analyze" --output tsv locks.trc --sql 'SELECT path FROM modules' | sed '1d; s|.*/||' |
		while read -r name; do echo >"debug/$name.debug"; done
	view --events 500 locks.trc
	status_of 200 "${url}page"
	cmp body.txt whole.html || fail 'files that are none change the page of the whole'
	inodes+=" $(stat -c %i "$(find "$XDG_CACHE_HOME" -name '*.page' ! -name 'making-*')")"
	finish "$pid" TERM
done
unset TRC_DEBUG_PATH
read -r first same renewed <<<"$inodes"
[ "$first" = "$same" ] || fail 'the page that is kept is made anew'
[ "$same" != "$renewed" ] || fail 'the page that is kept is taken when names may be others'
cp demo.trc locks.trc # the same file, with another trace
view --events 500 locks.trc
status_of 200 "${url}page"
! cmp -s body.txt whole.html || fail 'a trace that has changed is shown as it was'
grep -q 'is not used: the trace has changed' err.txt || fail "that the trace has changed is not told: $(cat err.txt)"
[ "$(kept)" = 1 ] || fail 'the page of the trace that was is still kept'
[ "$(derived | wc -l)" = 1 ] || fail 'what was derived of the trace that was is still kept'
finish "$pid" TERM
rm -r "$XDG_CACHE_HOME"
view --without-cache --events 500 locks.trc
status_of 200 "${url}page"
[ "$(kept)" = 0 ] && ! is_derived || fail '--without-cache keeps something'
finish "$pid" TERM
passed 'the page of the whole of a large trace is kept'
url=$of_demo pid=$demo_pid
port=${url#http://127.0.0.1:}
port=${port%%/*}
passed 'a large trace is shown in parts'

# ---- who may not ------------------------------------------------------------------------------
host=http://127.0.0.1:$port
for path in '' page favicon.ico 00000000000000000000000000000000/page ../../etc/passwd '%2e%2e/page' '?from=1'; do
	status_of 403 --path-as-is "$host/$path"
	! grep -q -i '<html\|demo' body.txt || fail "/$path tells something"
done
last=${url%/}
last=${last: -1}
status_of 403 "${url%?/}$([ "$last" = 0 ] && echo 1 || echo 0)/page"
for named in evil.example "evil.example:$port" 127.0.0.1.evil.example 10.0.0.1; do
	status_of 403 -H "Host: $named" "${url}page"
done
status_of 200 -H 'Host: localhost' "${url}page"
status_of 404 "${url}nothing"
status_of 404 "${url}page/x"
status_of 400 "${url}alive"
status_of 400 "${url}alive?id=-5"
for method in POST PUT DELETE HEAD OPTIONS TRACE BREW; do
	status_of 405 -X $method "${url}page"
done
head -c 3000000 /dev/zero >zeros
status_of 405 --data-binary @zeros "${url}page"
passed 'a wrong token, host, path or method is told its status'

# ---- requests that are none -------------------------------------------------------------------
trap '' PIPE # writing to what the server has closed is an error, and no end of this test
# said BYTES: what is answered; the connection is then closed by whoever wants.
said()
{
	exec 7<>"/dev/tcp/127.0.0.1/$port" || fail 'no connection'
	printf "$1" >&7 2>/dev/null || true
	timeout 300 cat <&7 >said.txt
	exec 7<&-
}
for request in 'BREW\r\n\r\n' 'GET\r\n\r\n' "GET / HTTP/1.1\r\n\r\n" '\x00\x01\x02\x03\r\n\r\n' 'GET / HTTP/9.9\r\nHost: x\r\n\r\n' \
	'GET /%%00 HTTP/1.0\r\n\r\n'; do
	said "$request"
	grep -q '^HTTP/1.1 200' said.txt && fail "$request was answered"
done
said "GET /$(head -c 100000 zeros | tr '\0' a) HTTP/1.1\r\nHost: localhost\r\n\r\n"
head -n 1 said.txt | grep -q -E '^HTTP/1.1 (414|431)' || fail "an address of 100 kB: $(head -c 100 said.txt)"
status_of 200 "${url}page"
# Nothing, and half a request: ten seconds at most, however it trickles.
exec 8<>"/dev/tcp/127.0.0.1/$port"
exec 9<>"/dev/tcp/127.0.0.1/$port"
closed=no
printf 'GET /' >&9
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
	status_of 200 "${url}alive?id=1"
	if ! printf 'a' >&9 2>/dev/null; then
		closed=yes
		break
	fi
	read -r -t 1 -u 9 _ || [ $? -gt 128 ] || { # 1: its end
		closed=yes
		break
	}
done
[ $closed = yes ] || fail 'half a request is waited for after 30 s and more'
exec 8<&- 9<&-
trap - PIPE
passed 'what is no request, or half of one, stops nobody'

# More silent connections than there may be at all, and those that went with half of a page.
silent=()
for _ in $(seq 150); do
	exec {fd}<>"/dev/tcp/127.0.0.1/$port" || fail 'no connection'
	silent+=("$fd")
done
status_of 200 "${url}page"
cmp body.txt demo.html || fail 'another page'
for fd in "${silent[@]}"; do
	exec {fd}<&-
done
fetching=()
for i in $(seq 40); do
	curl -s --max-time 300 -o "many.$i" "${url}page" &
	fetching+=($!)
done
for i in $(seq 20); do
	curl -s --max-time 300 --limit-rate 100k -o "left.$i" "${url}page" 2>/dev/null &
	left=$!
	sleep 0.05
	kill $left 2>/dev/null
done
status_of 200 "${url}alive?id=1"
for i in $(seq 40); do
	wait "${fetching[i - 1]}" || fail "one of many got no page: $?"
	cmp "many.$i" demo.html || fail 'one of many got another page'
done
rm -f many.* left.*
passed 'many connections'

# ---- its end ----------------------------------------------------------------------------------
# A page that has been silent for 150 s is none any more: also a slow machine's first page is there.
status_of 200 "${url}alive?id=1"
status_of 200 "${url}alive?id=2"
status_of 200 "${url}gone?id=2"
sleep 7
kill -0 "$pid" 2>/dev/null || fail 'it ended before its last page'
status_of 200 "${url}gone?id=1"
ended "$pid" 30 || fail 'the last page is closed, and it goes on, or failed'
[ ! -s err.txt ] || fail "it said: $(cat err.txt)"
passed 'it ends with the last page'
view --keep --without-sql --source demo.trc
[ "$(asks "$url" 'SELECT 1')" = 404 ] || fail '--without-sql answers'
"$trace_analyze" --html without.html --without-sql --source demo.trc 2>analyze.txt || fail 'no page with source code'
cmp -s without.html demo.html && fail 'neither option changes the page'
status_of 200 "${url}page"
cmp body.txt without.html || fail 'the page is not that of --without-sql and --source'
status_of 200 "${url}alive?id=1"
status_of 200 "${url}gone?id=1"
sleep 7
status_of 200 "${url}page"
refused 1 'cannot listen on 127.0.0.1: Address already in use' --port "$port" demo.trc
finish "$pid" TERM
[ $status = 0 ] || fail "SIGTERM: status $status"
for signal in INT TERM; do
	view --port "$port" demo.trc
	[ "$url" != "$(cat first.txt 2>/dev/null)" ] || fail 'the token is not a new one'
	cp url.txt first.txt
	status_of 200 "$url"
	finish "$pid" $signal
	[ $status = 0 ] || fail "SIG$signal: status $status"
done
passed 'it ends by a signal'

# ---- the browser ------------------------------------------------------------------------------
mkdir -p bin
printf '#!/bin/sh\necho "$1" >"%s/opened"\n' "$work" >bin/xdg-open
chmod +x bin/xdg-open
DISPLAY=:0 PATH=$work/bin:$PATH view demo.trc
until_true 120 test -s opened || fail 'no browser was opened'
once=$(cat opened)
[[ $once =~ ^http://127\.0\.0\.1:$port/[0-9a-f]{32}$ ]] && [ "$once" != "${url%/}" ] || fail "the browser was given $once"
status_of 200 -L -o body.txt "$once"
grep -q 'demo.trc' body.txt || fail 'the key does not lead to the page'
status_of 403 "$once"
finish "$pid" TERM
rm opened
DISPLAY=:0 PATH=$work/bin:$PATH view --no-browser demo.trc
sleep 0.5
finish "$pid" TERM
[ ! -e opened ] || fail 'a browser was opened all the same'
passed 'the address of the browser works once'

# ---- traces that are none, or less ------------------------------------------------------------
size=$(wc -c <demo.trc)
head -c $((size * 2 / 3)) demo.trc >cut.trc
"$trace_analyze" --html cut.html cut.trc 2>analyze.txt || fail 'no page of half a trace'
view cut.trc
[ "$(wc -l <err.txt)" = 1 ] && grep -q '^trace-view: cut.trc: warning: ' err.txt || fail "no warning: $(cat err.txt)"
[ "$(sed 's/^trace-[a-z]*//' err.txt)" = "$(sed 's/^trace-[a-z]*//' analyze.txt)" ] || fail 'another warning than that of trace-analyze'
status_of 200 "${url}page"
cmp body.txt cut.html || fail 'the page of half a trace is another'
finish "$pid" TERM
: >empty.trc
head -c 20 demo.trc >short.trc
cp "$top_srcdir/README.md" script.trc
for file in empty.trc short.trc script.trc; do
	refused 1 "^*$file: " $file
done
refused 1 'none.trc: No such file' none.trc
refused 1 '/: ' /
refused 1 'is the bound; --memory SIZE sets another' --memory 100K demo.trc
refused 2 'no trace and no process was named'
refused 2 'one trace or process at a time' demo.trc cut.trc
refused 2 'no such option' --nonsense demo.trc
refused 2 'a value is missing' demo.trc --port
refused 2 'it takes no value' --keep=yes demo.trc
refused 2 'port is a number' --port 65536 demo.trc
refused 2 'port is a number' --port -1 demo.trc
refused 2 'events is a number' --events 0 demo.trc
refused 2 'memory is a size' --memory much demo.trc
odd=$'evil\e[31m\n.trc'
cp demo.trc "$odd"
view "$odd"
status_of 200 "$url"
grep -q '"name":"evil\\u001b\[31m\\u000a.trc"' body.txt || fail 'a name is more than data'
finish "$pid" TERM
status=0
"$trace_view" demo.trc >/dev/full 2>err.txt || status=$?
[ $status = 1 ] && grep -q 'cannot be printed' err.txt || fail 'nobody was told the address, and it went on'
"$trace_view" --help | grep -q '^usage: trace-view' || fail 'no help'
"$trace_view" --version | grep -q '^trace-view (trc) [0-9]' || fail 'no version'
passed 'what cannot be served is told'

# ---- a process --------------------------------------------------------------------------------
"$trace_record" --flight -o flown.trc -- "$demo" -s 3600 >flown.txt 2>&1 &
recorder=$!
started+=("$recorder")
until_true 120 sh -c "pgrep -P $recorder trc-demo" || fail 'the program does not run'
recorded=$(pgrep -P $recorder trc-demo)
until_true 120 "$trace_record" --snapshot "$recorded" -o now.trc || fail 'it is not recorded'

# end_of FILE: of the page's trace, in ms.
end_of()
{
	head -c 100 "$1" | grep -q '^<!DOCTYPE html>' || fail "no page: $(head -c 200 "$1")"
	tr -d '\n' <"$1" | grep -o '"span_ns":[0-9]*\|"start_unix_ms":[0-9]*' |
		awk -F: '{ v[$1] = $2 } END { printf "%d\n", v["\"start_unix_ms\""] + v["\"span_ns\""] / 1e6 }'
}
view "$recorded"
viewer=$pid of_process=$url
status_of 200 "$url"
grep -q "\"name\":\"trc-demo\",\"pid\":$recorded," body.txt || fail 'the frame does not name the process'
status_of 200 "${url}page"
first=$(end_of body.txt)
sleep 0.3
status_of 200 "${url}page"
second=$(end_of body.txt)
[ "$second" -ge $((first + 300)) ] || fail "snapshots end at $first and $second ms"
now=$(date +%s%3N)
[ "$second" -le "$now" ] && [ "$second" -ge $((now - 60000)) ] || fail "the snapshot is of $second, now is $now"
passed 'each page of a process is of its moment'

# take QUERY: a snapshot; its number is in $taken.
take()
{
	local to
	to=$(curl -s -o body.txt -w '%{http_code} %{redirect_url}' --max-time 300 "${url}take?$1")
	[[ $to =~ ^303\ ${url}page\?snapshot=([0-9]+)(\&without=sql)?$ ]] || fail "take?$1: $to: $(head -c 300 body.txt)"
	taken=${BASH_REMATCH[1]}
}
take 'last=0&id=7'
one=$taken
status_of 200 -D head.txt "${url}trace?snapshot=$one"
grep -q -i "^content-disposition: attachment; filename=\"trc-demo-$recorded-[0-9]*\.trc\"" head.txt || fail "$(cat head.txt)"
saved=$(sed -n 's/^content-disposition: attachment; filename="\([^"]*\)".*/\1/Ip' head.txt) # the page has its name
cp body.txt "$saved"
"$trace_analyze" --check "$saved" >check.txt || fail "the trace of a snapshot is not in order: $(cat check.txt)"
"$trace_analyze" --html one.html "$saved" || fail 'no page of the trace of a snapshot'
status_of 200 "${url}page?snapshot=$one"
cmp body.txt one.html || fail 'the page of a snapshot is not that of its trace'
status_of 200 "${url}page?snapshot=$one&without=sql"
"$trace_analyze" --html one.html --without-sql "$saved" || fail 'no page without SQL'
cmp body.txt one.html || fail 'a page without SQL is another'
status_of 200 "$url?snapshot=$one"
status_of 200 "${url}sql?q=SELECT%201&snapshot=$one"
take "last=300000000&id=7&shown=$one"
two=$taken
span=$(status_of 200 "${url}trace?snapshot=$two" && "$trace_analyze" --output tsv body.txt --sql \
	'SELECT max(ts_ns) - min(ts_ns) FROM events' | tail -n 1)
[ "$span" -gt 0 ] && [ "$span" -le 400000000 ] || fail "the last 0.3 s are $span ns"
status_of 200 "${url}keep?snapshot=$two"
for _ in 1 2 3; do
	take "last=1000000&id=7&without=sql"
done
status_of 404 "${url}page?snapshot=$one"
status_of 404 "${url}keep?snapshot=$one"
status_of 404 "${url}sql?q=SELECT%201&snapshot=$one"
status_of 200 "${url}trace?snapshot=$two"
for path in 'take' 'take?last=' 'take?last=1s' 'take?last=9223372036854775808' 'take?last=0&id=x' 'take?last=0&shown=-1' \
	'keep' 'keep?snapshot=' 'trace?snapshot=..%2f1' 'trace?snapshot=18446744073709551616' 'page?snapshot=1&from=5&to=6'; do
	status_of 400 "$url$path"
done
status_of 404 "${url}trace?snapshot=18446744073709551615"
status_of 405 -X POST "${url}take?last=0"
status_of 403 -H 'Host: evil.example' "${url}take?last=0"
status_of 403 "http://127.0.0.1:$port/take?last=0"
# As many as are kept can be kept, not more; and whoever says nothing of a page fills nothing up.
for _ in $(seq 15); do
	take 'last=1&id=9'
	status_of 200 "${url}keep?snapshot=$taken"
done
take 'last=1&id=9'
status_of 507 "${url}keep?snapshot=$taken"
grep -q 'download this one' body.txt || fail "it said: $(cat body.txt)"
for _ in $(seq 40); do
	take 'last=1'
done
[ "$(find "/proc/$viewer/fd" -lname '*deleted*' | wc -l)" -le 33 ] || fail 'snapshots of nobody pile up'
passed 'snapshots are taken, kept and downloaded'
view "$recorded" --without-sql # two at a time
status_of 200 "${url}page"
finish "$pid" TERM
refused 1 "process $$: it is not being recorded; .* trace-record --flight -- COMMAND\$" $$
refused 1 'process 2147483647: no such process, and it left no ring' 2147483647
kill -TERM "$recorded"
wait $recorder
[ $? = 143 ] || fail 'being looked at changed how the program ended'
status_of 410 "${of_process}take?last=0"
status_of 200 "${of_process}trace?snapshot=$two"
status_of 410 "${of_process}page"
grep -q "^process $recorded: no such process, and it left no ring$" body.txt || fail "it said: $(cat body.txt)"
status_of 200 "$of_process"
finish $viewer TERM
passed 'of a process that is gone it says so'

# Killed, it leaves its ring.
start "$trace_record" --flight -o killed.trc -- "$demo" -s 3600 >killed.txt 2>&1
recorder=$pid
until_true 120 sh -c "pgrep -P $recorder trc-demo" || fail 'the program does not run'
recorded=$(pgrep -P $recorder trc-demo)
until_true 120 "$trace_record" --snapshot "$recorded" -o now.trc || fail 'it is not recorded'
kill -KILL $recorder "$recorded"
until_true 120 sh -c "! kill -0 $recorded" || fail 'it lives'
view "$recorded"
status_of 200 "${url}page"
tr -d '\n' <body.txt | grep -q '"snapshot","recovered"' || fail 'what a killed process left is not told to be that'
finish "$pid" TERM
passed 'what a killed process left is shown'
