# recorder: profiles over HTTP, opened on request by libtrc and trace-record
pkglib_LTLIBRARIES += libtrc-http.la
libtrc_http_la_SOURCES = recorder/http/http.h \
	recorder/http/address.c \
	recorder/http/index.c \
	recorder/http/pool.c \
	recorder/http/query.c recorder/http/query.h \
	recorder/http/reply.c recorder/http/reply.h \
	recorder/http/route.c \
	recorder/http/server.c recorder/http/server.h \
	recorder/http/symbol.c
if HAVE_MICROHTTPD
libtrc_http_la_SOURCES += recorder/http/loop.c recorder/http/connection.c \
	recorder/http/connection.h recorder/http/peer.c
else
libtrc_http_la_SOURCES += recorder/http/no_loop.c
endif
EXTRA_DIST += recorder/http/loop.c recorder/http/no_loop.c recorder/http/connection.c \
	recorder/http/connection.h recorder/http/peer.c
libtrc_http_la_CFLAGS = $(AM_CFLAGS) $(compile_once) $(MICROHTTPD_CFLAGS)
libtrc_http_la_LIBADD = $(MICROHTTPD_LIBS)
libtrc_http_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -Wl,-z,nodelete -Wl,-z,now \
	$(trc_no_undefined) -Wl,--version-script=$(top_srcdir)/recorder/libtrc-http.map
libtrc_http_la_DEPENDENCIES = recorder/libtrc-http.map
EXTRA_DIST += recorder/libtrc-http.map

# The public functions, and what there is to serve.  Last: its constructor wants those before.
libtrcapi_la_SOURCES += \
	recorder/profile/http_kinds.c recorder/profile/http_kinds.h \
	recorder/profile/http_names.c recorder/profile/http_names.h \
	recorder/lib/http_source.c recorder/lib/http_source.h \
	recorder/lib/http_profiles.c \
	recorder/lib/http_api.c
