# format: what it builds
noinst_LTLIBRARIES += libtrcformat.la

libtrcformat_la_SOURCES = \
	format/block.h \
	format/block_decode.c \
	format/block_encode.c \
	format/check.c \
	format/check.h \
	format/clockmap.c \
	format/clockmap.h \
	format/column.h \
	format/column_decode.c \
	format/column_encode.c \
	format/pages.c \
	format/pages.h \
	format/reader.c \
	format/reader.h \
	format/reader_private.h \
	format/reader_schema.c \
	format/reader_tables.c \
	format/schema.c \
	format/schema.h \
	format/schema_wire.h \
	format/section.c \
	format/section.h \
	format/tables.c \
	format/tables.h \
	format/varint.c \
	format/varint.h \
	format/wire.h \
	format/writer.c \
	format/writer.h
libtrcformat_la_CFLAGS = $(AM_CFLAGS) $(LZ4_CFLAGS) $(XXHASH_CFLAGS)
libtrcformat_la_LIBADD = $(LZ4_LIBS)
