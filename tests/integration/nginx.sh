#!/bin/bash
# nginx, one process with a pool of threads for reading files: bodies as untraced, sound trace.
. "$(dirname "$0")/lib.sh"
need_unsanitized
nginx=$(PATH=$PATH:/usr/sbin command -v nginx) || skip 'nginx is not installed'
need curl

mkdir files
for i in 1 2 3 4; do
	awk -v n="$i" 'BEGIN { for (i = 0; i < 60000 * n; i++) print i * n }' >"files/$i"
done

# run_nginx TAG [WRAPPER...]
run_nginx()
{
	local tag=$1 socket i
	shift
	socket=$(mktemp -u "/tmp/trc-nginx-XXXXXX")
	mkdir "$tag" "$tag/temp"
	cat >"$tag/nginx.conf" <<-CONF
		daemon off;
		master_process off;
		pid $work/$tag/pid;
		error_log stderr notice;
		thread_pool files threads=4;
		events { worker_connections 64; }
		http {
			access_log $work/$tag/access.log;
			client_body_temp_path $work/$tag/temp;
			proxy_temp_path $work/$tag/temp;
			fastcgi_temp_path $work/$tag/temp;
			uwsgi_temp_path $work/$tag/temp;
			scgi_temp_path $work/$tag/temp;
			server {
				listen unix:$socket;
				root $work/files;
				aio threads=files;
				directio 4k;
				sendfile off;
			}
		}
	CONF
	start "$@" "$nginx" -p "$work/$tag" -c "$work/$tag/nginx.conf" 2>"$tag.err"
	until_true 60 test -S "$socket" || fail "nginx did not come up ($tag)"
	for i in 1 2 3 4 4 3 2 1 missing; do
		curl -s --unix-socket "$socket" "http://localhost/$i" || fail "curl ($tag)"
	done | sha256sum >"$tag.bodies"
	finish "$pid" QUIT
	echo "$status" >"$tag.status"
	rm -f "$socket"
}

run_nginx plain
run_nginx traced "$trace_record" -q -o dump.trc --
expect 'the same bodies as untraced' cmp plain.bodies traced.bodies
expect 'the same exit status as untraced' cmp plain.status traced.status
expect_sound dump.trc
threads=$(sql dump.trc 'SELECT count(*) FROM threads')
[ "$threads" -ge 5 ] || fail "only $threads threads: the pool is missing"
passed "$threads threads"
