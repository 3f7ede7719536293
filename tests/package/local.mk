# tests/package - what gets installed, and what others build against
package_tests = \
	tests/package/adopted.sh \
	tests/package/bundle.sh \
	tests/package/docs_tables.sh \
	tests/package/headers.sh \
	tests/package/install.sh \
	tests/package/layout.sh \
	tests/package/rules.sh \
	tests/package/man.sh \
	tests/package/promises.sh \
	tests/package/rings_left.sh \
	tests/package/symbols.sh \
	tests/package/turns.sh

TESTS += $(package_tests)
EXTRA_DIST += $(package_tests) tests/package/libtrc.symbols tests/package/libtrc-preload.symbols

update-docs: analyzer/trace-analyze tests/format/print_kinds
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
		bash $(top_srcdir)/tests/package/docs_tables.sh --write
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
		bash $(top_srcdir)/tests/package/rules.sh --write
.PHONY: update-docs
