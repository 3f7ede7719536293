# docs - the demo program, which is installed as an example
noinst_PROGRAMS += docs/examples/trc-demo docs/examples/trc-demo-plain docs/examples/odd-moment \
	docs/examples/flight-server docs/examples/fibers docs/examples/recorders docs/examples/http
docs_examples_fibers_SOURCES = docs/examples/fibers.c
docs_examples_fibers_LDFLAGS = $(AM_LDFLAGS) -no-install
docs_examples_fibers_LDADD = libtrc.la -lpthread
docs_examples_flight_server_SOURCES = docs/examples/flight-server.c
docs_examples_flight_server_LDFLAGS = $(AM_LDFLAGS) -no-install
docs_examples_flight_server_LDADD = libtrc.la -lpthread
docs_examples_http_SOURCES = docs/examples/http.c
docs_examples_http_LDFLAGS = $(AM_LDFLAGS) -no-install
docs_examples_http_LDADD = libtrc.la -lpthread
docs_examples_recorders_SOURCES = docs/examples/recorders.c
docs_examples_recorders_LDFLAGS = $(AM_LDFLAGS) -no-install
docs_examples_recorders_LDADD = libtrc.la -lpthread
docs_examples_odd_moment_SOURCES = docs/examples/odd-moment.c
docs_examples_odd_moment_LDADD = -lpthread
docs_examples_trc_demo_SOURCES = docs/examples/trc-demo.c
docs_examples_trc_demo_LDFLAGS = $(AM_LDFLAGS) -no-install # a program, not a script that runs it
docs_examples_trc_demo_LDADD = libtrc.la -lpthread
docs_examples_trc_demo_plain_SOURCES = docs/examples/trc-demo.c
docs_examples_trc_demo_plain_CPPFLAGS = $(AM_CPPFLAGS) -DTRC_DEMO_PLAIN
docs_examples_trc_demo_plain_LDADD = -lpthread

examplesdir = $(docdir)/examples
dist_examples_DATA = docs/examples/trc-demo.c docs/examples/odd-moment.c docs/examples/flight-server.c \
	docs/examples/fibers.c docs/examples/recorders.c docs/examples/http.c
dist_examples_SCRIPTS = docs/examples/visits.sh docs/examples/stock.sh

dist_man_MANS += docs/libtrc.3 docs/trace-analyze.1 docs/trace-record.1 docs/trace-view.1
dist_doc_DATA = docs/slow-request.md docs/why.md docs/coming-from.md docs/architecture.md docs/hacking.md docs/odd-moment.md docs/api.md docs/format.md docs/http.md docs/recorder.md docs/performance.md docs/performance-history.md docs/promises.md docs/reliability.md docs/viewer.md docs/schema.md docs/timeline.png \
	docs/viewer-file.png docs/viewer-flame.png docs/viewer-locks.png docs/viewer-path.png docs/viewer-procs.png docs/viewer-sql.png docs/viewer-tasks.png
EXTRA_DIST += docs/pictures.json
