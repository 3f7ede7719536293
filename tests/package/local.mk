# tests/package - what gets installed, and what others build against
package_tests = \
	tests/package/headers.sh \
	tests/package/install.sh \
	tests/package/layout.sh \
	tests/package/rules.sh \
	tests/package/man.sh \
	tests/package/symbols.sh

TESTS += $(package_tests)
EXTRA_DIST += $(package_tests) tests/package/libtrc.symbols tests/package/libtrc-preload.symbols
