# viewer: the timeline.  The page's program lies in assets/ as readable modules; embed.sh makes one
# script of them, and C arrays of that.
viewer_decoder = viewer/assets/decode.js viewer/assets/times.js viewer/assets/levels.js viewer/assets/states.js viewer/assets/annotations.js viewer/assets/decode_worker.js
viewer_js = viewer/assets/data.js viewer/assets/format.js viewer/assets/sorting.js viewer/assets/palette.js \
	viewer/assets/looks.js viewer/assets/lod.js viewer/assets/rows.js viewer/assets/view.js viewer/assets/steps.js viewer/assets/tracks.js \
	viewer/assets/draw.js viewer/assets/strips.js viewer/assets/overlay.js viewer/assets/minimap.js viewer/assets/cut.js viewer/assets/groups.js viewer/assets/arrange.js viewer/assets/counters.js viewer/assets/procs.js \
	viewer/assets/margins.js viewer/assets/samples.js viewer/assets/source.js viewer/assets/export.js viewer/assets/fibers.js viewer/assets/fibers_details.js viewer/assets/paths.js viewer/assets/causes.js viewer/assets/select.js viewer/assets/details.js viewer/assets/tip.js \
	viewer/assets/findings.js viewer/assets/panel.js \
	viewer/assets/flame_items.js viewer/assets/flame_select.js viewer/assets/flame_fold.js \
	viewer/assets/flame_draw.js viewer/assets/flame.js viewer/assets/flame_profile.js viewer/assets/flame_marks.js viewer/assets/flame_ui.js \
	viewer/assets/spread.js viewer/assets/heat.js viewer/assets/tasks.js viewer/assets/locks.js viewer/assets/lock_order.js viewer/assets/now.js viewer/assets/semaphores.js viewer/assets/now_told.js \
	viewer/assets/sql_values.js viewer/assets/sql_served.js viewer/assets/sql.js viewer/assets/sql_result.js \
	viewer/assets/tops.js viewer/assets/thread_waits.js viewer/assets/matches.js viewer/assets/search.js viewer/assets/when.js viewer/assets/input.js \
	viewer/assets/address.js viewer/assets/carry.js viewer/assets/first.js \
	viewer/assets/main.js
# The SQL box: SQLite from vendor/, and the worker that runs it.
viewer_sql = viewer/vendor/sql-wasm-browser.wasm viewer/vendor/sql-wasm-browser.js viewer/assets/sql_values.js viewer/assets/sql_worker.js
viewer_assets = viewer/assets/body.html viewer/assets/app.css $(viewer_sql) $(viewer_decoder) $(viewer_js)

noinst_LTLIBRARIES += libtrcviewer.la
libtrcviewer_la_SOURCES = viewer/cut.c viewer/cut.h viewer/deflate.c viewer/deflate.h viewer/first.c viewer/first.h viewer/html.c viewer/html.h viewer/intervals.c viewer/intervals.h viewer/magnitudes.c viewer/magnitudes.h viewer/page.c viewer/page.h viewer/prepared.c viewer/prepared.h viewer/source.c viewer/source.h \
	viewer/rows.c viewer/rows.h viewer/rows_blame.c viewer/rows_causes.c viewer/rows_end.c \
	viewer/rows_fibers.c viewer/rows_heap.c viewer/rows_labels.c viewer/rows_locks.c viewer/rows_now.c viewer/rows_parks.c viewer/rows_paths.c \
	viewer/rows_report.c viewer/rows_samples.c viewer/rows_sched.c viewer/rows_top.c viewer/rows_unlocks.c viewer/rows_user.c \
	viewer/sqlbox.c viewer/sqlbox.h viewer/sqlbox_map.c viewer/sqlbox_missing.c viewer/sqlbox_some.c viewer/sqlbox_values.c \
	viewer/tracks.c viewer/tracks.h viewer/tracks_private.h viewer/tracks_walk.c viewer/assets.h
nodist_libtrcviewer_la_SOURCES = viewer/assets.c
libtrcviewer_la_CPPFLAGS = $(AM_CPPFLAGS) $(ZLIB_CFLAGS) $(SQLITE_CFLAGS)
libtrcviewer_la_CFLAGS = $(libtrcanalyze_la_CFLAGS)
libtrcviewer_la_LIBADD = $(ZLIB_LIBS) -lm

# Also when the list of modules changes.
viewer/assets.c: $(viewer_assets:%=$(srcdir)/%) $(srcdir)/viewer/embed.sh $(srcdir)/viewer/local.mk
	$(AM_V_GEN)$(MKDIR_P) viewer && AWK='$(AWK)' $(SHELL) $(srcdir)/viewer/embed.sh \
		$(srcdir)/viewer/assets/body.html $(srcdir)/viewer/assets/app.css $(viewer_sql:%=$(srcdir)/%) \
		$(viewer_decoder:%=$(srcdir)/%) -- $(viewer_js:%=$(srcdir)/%) >$@-t && mv -f $@-t $@
CLEANFILES += viewer/assets.c viewer/assets.c-t
EXTRA_DIST += viewer/embed.sh viewer/assets/types.d.ts viewer/assets/package.json $(viewer_assets) viewer/vendor/README.md viewer/vendor/update.sh \
	viewer/vendor/sql.js.version viewer/vendor/SHA256SUMS viewer/vendor/LICENSE.sql.js viewer/vendor/AUTHORS.sql.js

# trace-view: the page, served.
viewer_frame = viewer/serve/frame.html viewer/serve/frame.css viewer/serve/follow.js viewer/serve/zoom.js viewer/serve/frame.js
if HAVE_MICROHTTPD
bin_PROGRAMS += viewer/trace-view
endif
viewer_trace_view_SOURCES = viewer/serve/main.c viewer/serve/assets.h viewer/serve/cache.c viewer/serve/cache.h \
	viewer/serve/connections.c viewer/serve/connections.h viewer/serve/frame.c viewer/serve/frame.h \
	viewer/serve/launch.c viewer/serve/launch.h viewer/serve/maker.c viewer/serve/maker.h \
	viewer/serve/options.c viewer/serve/options.h viewer/serve/overview.c viewer/serve/overview.h viewer/serve/reply.c viewer/serve/reply.h \
	viewer/serve/query.c viewer/serve/query.h viewer/serve/route.c viewer/serve/route.h viewer/serve/server.c viewer/serve/server.h \
	viewer/serve/snapshots.c viewer/serve/snapshots.h viewer/serve/source.c viewer/serve/source.h \
	viewer/serve/source_kept.c viewer/serve/source_pages.c viewer/serve/source_private.h viewer/serve/visitors.c viewer/serve/visitors.h
nodist_viewer_trace_view_SOURCES = viewer/serve/assets.c
viewer_trace_view_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS) $(MICROHTTPD_CFLAGS)
viewer_trace_view_LDADD = libtrcviewer.la libtrcopen.la libtrcanalyze.la libtrcdrain.la libtrccore.la \
	libtrcunwind.la libtrcformat.la $(MICROHTTPD_LIBS)

viewer/serve/assets.c: $(viewer_frame:%=$(srcdir)/%) $(srcdir)/viewer/embed.sh
	$(AM_V_GEN)$(MKDIR_P) viewer/serve && AWK='$(AWK)' $(SHELL) $(srcdir)/viewer/embed.sh frame \
		$(viewer_frame:%=$(srcdir)/%) >$@-t && mv -f $@-t $@
CLEANFILES += viewer/serve/assets.c viewer/serve/assets.c-t
EXTRA_DIST += $(viewer_frame)

# For maintainers: SQLite of the page from npm's registry, as viewer/vendor/sql.js.version says.
update-vendor:
	sh $(srcdir)/viewer/vendor/update.sh
.PHONY: update-vendor
