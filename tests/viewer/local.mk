# tests/viewer
check_PROGRAMS += tests/viewer/make-page
tests_viewer_make_page_SOURCES = tests/viewer/make_page.c tests/viewer/fake_model.c \
	tests/viewer/fake_model.h tests/viewer/known_model.c tests/viewer/known_model.h \
	analyzer/model/array.c analyzer/causes/names.c analyzer/derive/scaled.c analyzer/findings/names.c analyzer/model/signal_names.c format/module_owner.c
tests_viewer_make_page_LDADD = libtrcviewer.la libtrcformat.la

check_PROGRAMS += tests/viewer/trace-page
tests_viewer_trace_page_SOURCES = tests/viewer/trace_page.c
tests_viewer_trace_page_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
tests_viewer_trace_page_LDADD = libtrcviewer.la libtrcanalyze.la

# Recorded by details.sh.
check_PROGRAMS += tests/viewer/busy_program
tests_viewer_busy_program_SOURCES = tests/viewer/busy_program.c
tests_viewer_busy_program_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_viewer_busy_program_LDADD = libtrc.la -lpthread

# Recorded by flame.sh.
check_PROGRAMS += tests/viewer/flame_program
tests_viewer_flame_program_SOURCES = tests/viewer/flame_program.c
tests_viewer_flame_program_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_viewer_flame_program_LDADD = libtrc.la -lpthread

# Recorded by keys.sh.
check_PROGRAMS += tests/viewer/keys_program
tests_viewer_keys_program_SOURCES = tests/viewer/keys_program.c
tests_viewer_keys_program_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_viewer_keys_program_LDADD = libtrc.la -lpthread

# Opens pages in chromium; skipped where node, npm, chromium or npm's registry are missing.
TESTS += tests/viewer/modules.sh tests/viewer/browser.sh tests/viewer/details.sh tests/viewer/flame.sh tests/viewer/sql.sh \
	tests/viewer/tabs.sh tests/viewer/palette.sh tests/viewer/window.sh tests/viewer/source.sh tests/viewer/export.sh tests/viewer/loading.sh tests/viewer/moving.sh tests/viewer/keys.sh tests/viewer/ways.sh tests/viewer/paths.sh tests/viewer/told.sh tests/viewer/crowded.sh tests/viewer/newcomer.sh tests/viewer/tour.sh
EXTRA_DIST += tests/viewer/modules.sh tests/viewer/modules_test.mjs tests/viewer/search_test.mjs tests/viewer/when_test.mjs tests/viewer/held_test.mjs tests/viewer/graph_test.mjs tests/viewer/groups_test.mjs tests/viewer/columns_test.mjs tests/viewer/page_stub.mjs tests/viewer/browser_setup.sh tests/viewer/browser.sh tests/viewer/browser.mjs \
	tests/viewer/browser_lib.mjs tests/viewer/browser_fibers.mjs tests/viewer/browser_pages.mjs tests/viewer/analyzer.mjs tests/viewer/details.sh tests/viewer/details.mjs \
	tests/viewer/flame.sh tests/viewer/flame.mjs tests/viewer/pprof.mjs \
	tests/viewer/sql.sh tests/viewer/sql.mjs tests/viewer/aligned.txt tests/viewer/hostile.txt tests/viewer/deadlock.txt \
	tests/viewer/tabs.sh tests/viewer/tabs.mjs tests/viewer/tabs_lib.mjs tests/viewer/tabs_tasks.mjs tests/viewer/palette.sh tests/viewer/palette_test.mjs \
	tests/viewer/window.sh tests/viewer/window.mjs tests/viewer/nested.txt tests/viewer/causes.txt tests/viewer/contexts.txt tests/viewer/noted.txt tests/viewer/semaphores.txt tests/viewer/source.sh tests/viewer/source.mjs tests/viewer/source_program.c \
	tests/viewer/export.sh tests/viewer/export.mjs tests/viewer/loading.sh tests/viewer/loading.mjs tests/viewer/moving.sh tests/viewer/moving.mjs \
	tests/viewer/keys.sh tests/viewer/keys.mjs tests/viewer/ways.sh tests/viewer/ways.mjs tests/viewer/paths.sh tests/viewer/paths.mjs \
	tests/viewer/told.sh tests/viewer/told.mjs tests/viewer/crowded.sh tests/viewer/crowded.mjs tests/viewer/newcomer.sh tests/viewer/newcomer.mjs tests/viewer/screenshot.sh tests/viewer/screenshot.mjs tests/viewer/tour.sh \
	tests/viewer/package.json tests/viewer/fibers.txt tests/viewer/traced.txt tests/viewer/traced_program.c

# The program's types and a few rules, by TypeScript's checker and eslint; skipped where npm or its registry are missing.
TESTS += tests/viewer/types/types.sh
EXTRA_DIST += tests/viewer/types/types.sh tests/viewer/types/check.mjs tests/viewer/types/imports.mjs tests/viewer/types/package.json
# The import lines of the viewer's modules, and which of their names are exported.
update-imports:
	$(AM_V_at)top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' $(SHELL) $(srcdir)/tests/viewer/types/types.sh --write
.PHONY: update-imports

# trace-view: by curl, and in chromium.
TESTS += tests/viewer/serve/serve.sh tests/viewer/serve/browser.sh
EXTRA_DIST += tests/viewer/serve/serve.sh tests/viewer/serve/browser.sh tests/viewer/serve.mjs

# The pictures of the documentation, made again.
screenshot: all tests/integration/mc_load
	top_srcdir=$(abs_top_srcdir) top_builddir=$(abs_top_builddir) sh $(abs_top_srcdir)/tests/viewer/screenshot.sh \
		$(abs_top_srcdir)/docs
.PHONY: screenshot

if HAVE_CHECK
check_PROGRAMS += tests/viewer/unit
TESTS += tests/viewer/unit
tests_viewer_unit_SOURCES = tests/viewer/unit.c tests/viewer/unit.h tests/viewer/unit_page.c \
	tests/viewer/unit_tracks.c tests/viewer/unit_html.c tests/viewer/unit_html_derived.c tests/viewer/unit_html.h \
	tests/viewer/unit_rows.c tests/viewer/page_read.c tests/viewer/page_read.h tests/viewer/fake_model.c tests/viewer/fake_model.h \
	analyzer/model/array.c analyzer/causes/names.c analyzer/derive/scaled.c analyzer/findings/names.c analyzer/model/signal_names.c format/module_owner.c
tests_viewer_unit_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(ZLIB_CFLAGS)
tests_viewer_unit_LDADD = libtrcviewer.la libtrcformat.la $(CHECK_LIBS) $(ZLIB_LIBS)
check_PROGRAMS += tests/viewer/prepared_test
TESTS += tests/viewer/prepared_test
tests_viewer_prepared_test_SOURCES = tests/viewer/prepared_test.c
tests_viewer_prepared_test_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS)
tests_viewer_prepared_test_LDADD = libtrcviewer.la libtrcanalyze.la libtrcassemble.la $(CHECK_LIBS)
check_PROGRAMS += tests/viewer/serve/unit
TESTS += tests/viewer/serve/unit
tests_viewer_serve_unit_SOURCES = tests/viewer/serve/unit.c tests/viewer/serve/unit_cache.c tests/viewer/serve/unit_cache.h \
	viewer/serve/cache.c viewer/serve/overview.c viewer/serve/route.c viewer/serve/snapshots.c viewer/serve/visitors.c
tests_viewer_serve_unit_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_viewer_serve_unit_LDADD = libtrcsymbols.la libtrcformat.la $(CHECK_LIBS)
check_PROGRAMS += tests/viewer/serve/source_test
TESTS += tests/viewer/serve/source_test
tests_viewer_serve_source_test_SOURCES = tests/viewer/serve/source_test.c viewer/serve/cache.c viewer/serve/options.c \
	viewer/serve/overview.c viewer/serve/query.c viewer/serve/snapshots.c viewer/serve/source.c viewer/serve/source_kept.c viewer/serve/source_pages.c
tests_viewer_serve_source_test_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS)
tests_viewer_serve_source_test_LDADD = libtrcviewer.la libtrcopen.la libtrcanalyze.la libtrcdrain.la libtrccore.la libtrcunwind.la \
	libtrcassemble.la libtrcformat.la $(CHECK_LIBS)
endif
