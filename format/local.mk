# format: what it builds
noinst_LTLIBRARIES += libtrcformat.la

libtrcformat_la_SOURCES = \
	format/block.h \
	format/block_decode.c \
	format/block_encode.c \
	format/block_damaged.c \
	format/block_head.c \
	format/block_head.h \
	format/check.c \
	format/check.h \
	format/clockmap.c \
	format/clockmap.h \
	format/column.h \
	format/column_decode.c \
	format/column_encode.c \
	format/file_sink.c \
	format/file_sink.h \
	format/hex.h \
	format/pages.c \
	format/pages.h \
	format/path.c \
	format/path.h \
	format/now.h format/raw.h \
	format/reader.c \
	format/reader.h \
	format/reader_labels.c \
	format/reader_private.h \
	format/reader_schema.c \
	format/reader_sections.c \
	format/reader_tables.c \
	format/row_index.c \
	format/row_index.h \
	format/sampled.c \
	format/sampled.h \
	format/schema.c \
	format/schema.h \
	format/schema_wire.h \
	format/section.c \
	format/section.h \
	format/tables.c \
	format/tables.h \
	format/utf8.c \
	format/utf8.h \
	format/varint.c \
	format/varint.h \
	format/waits.c \
	format/waits.h \
	format/waits/charges.h \
	format/waits/locks.c \
	format/waits/locks.h \
	format/waits/parks.c \
	format/waits/parks.h \
	format/wire.h \
	format/writer.c format/writer_events.c format/writer_private.h format/writer_state.c \
	format/writer.h
libtrcformat_la_CFLAGS = $(AM_CFLAGS) $(compile_once) $(LZ4_CFLAGS) $(XXHASH_CFLAGS)
libtrcformat_la_LIBADD = $(LZ4_LIBS)

# The pprof encoder stands alone: the recorder links the rest without protobuf.
noinst_LTLIBRARIES += libtrcpprof.la
libtrcpprof_la_SOURCES = \
	format/pprof.c \
	format/pprof.h \
	format/pprof_private.h \
	format/pprof_write.c
nodist_libtrcpprof_la_SOURCES = format/profile.pb-c.c format/profile.pb-c.h
libtrcpprof_la_CFLAGS = $(AM_CFLAGS) $(compile_once) $(PROTOBUF_C_CFLAGS) $(ZLIB_CFLAGS)
libtrcpprof_la_LIBADD = libtrcformat.la $(PROTOBUF_C_LIBS) $(ZLIB_LIBS)
EXTRA_DIST += format/profile.proto
BUILT_SOURCES += format/profile.pb-c.h
CLEANFILES += format/profile.pb-c.c format/profile.pb-c.h
format/profile.pb-c.h: format/profile.proto
	$(AM_V_GEN)$(MKDIR_P) format && \
		$(PROTOC_C) --proto_path=$(top_srcdir) --c_out=. $(top_srcdir)/format/profile.proto
format/profile.pb-c.c: format/profile.pb-c.h
	@:
# Also where only one program is asked for.
$(libtrcpprof_la_OBJECTS): format/profile.pb-c.h

# Names of code, likewise: elfutils.
noinst_LTLIBRARIES += libtrcsymbols.la
libtrcsymbols_la_SOURCES = \
	format/module_owner.c format/module_owner.h \
	format/symbols.c format/symbols.h \
	format/symbols_demangle.c format/symbols_demangle.h format/symbols_rust.c format/symbols_rust.h \
	format/symbols_rust_v0.c format/symbols_rust_v0.h \
	format/symbols_dwarf.c format/symbols_dwarf.h \
	format/symbols_fetch.c format/symbols_fetch.h \
	format/symbols_file.c format/symbols_file.h \
	format/symbols_jit.c format/symbols_jit.h \
	format/symbols_members.c format/symbols_members.h \
	format/symbols_mini.c format/symbols_mini.h \
	format/symbols_scopes.c format/symbols_scopes.h \
	format/symbols_starts.c format/symbols_starts.h \
	format/symbols_stub_code.c format/symbols_stub_code.h \
	format/symbols_stubs.c format/symbols_stubs.h \
	format/symbols_table.c format/symbols_table.h \
	format/symbols_types.c format/symbols_types.h
libtrcsymbols_la_CFLAGS = $(AM_CFLAGS) $(compile_once) $(DW_CFLAGS) $(ZLIB_CFLAGS) $(LZMA_CFLAGS)
libtrcsymbols_la_LIBADD = $(DW_LIBS) $(ZLIB_LIBS) $(LZMA_LIBS)
