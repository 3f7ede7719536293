# What the tests of the interposers share.  A test prints what failed, and fails.
here=$top_builddir/tests/recorder/interpose
fake=$here/.libs/libfakecore.so
preload=$top_builddir/.libs/libtrc-preload.so
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0

fail()
{
	echo "FAIL: $*"
	failed=1
}

# A program of this directory; libtool may have put it elsewhere.
program()
{
	if test -x "$here/.libs/$1"; then
		echo "$here/.libs/$1"
	else
		echo "$here/$1"
	fi
}

# Records for real: a ring in $work, which nobody drains.
recorded()
{
	TRC_SESSION=$work TRC_FOLLOW=1 LD_PRELOAD=$preload "$@"
}
