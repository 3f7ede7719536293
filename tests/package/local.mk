# tests/package - what gets installed, and what others build against
TESTS += tests/package/headers.sh
EXTRA_DIST += tests/package/headers.sh
