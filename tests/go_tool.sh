#!/bin/sh
# go_tool.sh FILE - writes FILE, a `go` for the tests, by which `go tool pprof` is a program that has been built.
#
# Go 1.25 and later have no such program: go tool pprof builds it when it is first used, which takes a minute of CPU time in each of
# the tests that begin together, and looks at each use whether it has to be built again, which takes longer than most uses.
# Without this file, where there is no go or it cannot build the program, tests take the go that there is, or do without.
set -eu
file=$1
go=$(command -v go) || exit 0
mkdir -p "${file%/*}"
pprof=$("$go" env GOTOOLDIR)/pprof
if [ ! -x "$pprof" ]; then
	pprof=$(cd "${file%/*}" && pwd)/pprof
	GOTOOLCHAIN=local GOFLAGS= CGO_ENABLED=0 "$go" build -o "$pprof" cmd/pprof || exit 0
fi
cat >"$file-t" <<END
#!/bin/sh
[ "\${1-} \${2-}" != "tool pprof" ] || { shift 2; exec "$pprof" "\$@"; }
exec "$go" "\$@"
END
chmod +x "$file-t"
mv -f "$file-t" "$file"
