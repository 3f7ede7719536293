/*
 * stdio.c - reads and writes of streams.  Context: traced thread.
 *
 * libc reads and writes the descriptors of streams by calls that cannot be interposed.  So the
 * functions of streams are interposed, and count as waits if they take long.  The object is the
 * descriptor.  A wait for the stream's own lock counts as a wait for the stream's bytes.
 *
 *   stdio:L1  a call that the stream's buffer can serve is passed on after a look at the buffer: no
 *       clock is read
 *   stdio:L2  pointers of a stream that another thread uses may change meanwhile, so they decide
 *       only how a call is recorded.  The bytes between the pointers are read only where nobody can
 *       free them: in a process of one thread, or with the stream's lock
 *   stdio:L3  streams without a descriptor (of memory, of functions of the program's) are passed on
 */
#include <stdarg.h>
#include "span.h"
#define TRC_DEFINES_STDIO
#include "recorder/unwind/poison.h"

/* ---- what the buffer can serve (L1) ----------------------------------------------------- */

/* Parts of a stream that glibc keeps as they are, as old programs know them, but does not declare. */
enum { UNBUFFERED = 0x2, LINE_BUFFERED = 0x200, IS_PUTTING = 0x800 };
struct wide_buffer {
	wchar_t *read_ptr, *read_end, *read_base;
	wchar_t *write_base, *write_ptr, *write_end;
};

/* relaxed: see L2. */
#define PEEK(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define LEFT(from, to)                                                                             \
	({                                                                                         \
		__typeof__(PEEK(from)) from_ = PEEK(from), to_ = PEEK(to);                         \
		from_ < to_ ? (size_t)(to_ - from_) : 0;                                           \
	})

static inline size_t unread(FILE *stream)
{
	return LEFT(stream->_IO_read_ptr, stream->_IO_read_end);
}

static inline bool has_bytes(FILE *stream, size_t n)
{
	return unread(stream) >= n;
}

static inline const struct wide_buffer *wide(FILE *stream)
{
	return stream->_mode > 0 ? (const struct wide_buffer *)stream->_wide_data : NULL;
}

static inline bool has_wide(FILE *stream)
{
	const struct wide_buffer *b = wide(stream);

	return b && LEFT(b->read_ptr, b->read_end);
}

extern char __libc_single_threaded __attribute__((weak));

/* Up to `n` bytes, or a delimiter before. */
static bool has_line(FILE *stream, int delimiter, size_t n)
{
	bool alone = &__libc_single_threaded && __libc_single_threaded, found = false;
	size_t there = unread(stream);

	if (there >= n)
		return true;
	if (!there || (!alone && ftrylockfile(stream)))
		return false;
	there = unread(stream);
	if (there)
		found = memchr(stream->_IO_read_ptr, delimiter, there) != NULL;
	if (!alone)
		funlockfile(stream);
	return found;
}

/* Of bytes that are about to be written. */
static inline bool buffer_has_room(FILE *stream, const void *bytes, size_t n)
{
	int flags = PEEK(stream->_flags);

	if (!(flags & (UNBUFFERED | LINE_BUFFERED)))
		return LEFT(stream->_IO_write_ptr, stream->_IO_write_end) >= n;
	return (flags & (UNBUFFERED | IS_PUTTING)) == IS_PUTTING &&
	       LEFT(stream->_IO_write_ptr, stream->_IO_buf_end) >= n && !memchr(bytes, '\n', n);
}

static inline bool has_room_for(FILE *stream, int c)
{
	char byte = (char)c;

	return buffer_has_room(stream, &byte, 1);
}

static inline bool has_wide_room(FILE *stream)
{
	const struct wide_buffer *b = wide(stream);

	return b && LEFT(b->write_ptr, b->write_end);
}

/* Some calls refuse their arguments before they look at the stream. */
static inline bool has_descriptor(FILE *stream)
{
	return stream && stream->_fileno >= 0; /* L3 */
}

/* ---- calls ------------------------------------------------------------------------------- */

/* `served`, of a stream with a descriptor: the buffer will do. */
#define STREAM(type, name, REASON, stream, served, failed, parameters, arguments)                  \
	TRC_EXPORT type name parameters                                                            \
	{                                                                                          \
		struct trc_span span;                                                              \
		type result;                                                                       \
                                                                                                   \
		if (!trc_recording() || !has_descriptor(stream) || TRC_LIKELY(served))             \
			return REAL(name) arguments;                                               \
		trc_span_begin(&span, TRC_REASON_##REASON, (uint64_t)(stream)->_fileno);           \
		result = REAL(name) arguments;                                                     \
		trc_span_end(&span, (failed) && ferror_unlocked(stream) ? errno : 0);              \
		return result;                                                                     \
	}
#define READS(type, name, served, failed, parameters, arguments)                                   \
	STREAM(type, name, READ, stream, served, failed, parameters, arguments)
#define WRITES(type, name, served, failed, parameters, arguments)                                  \
	STREAM(type, name, WRITE, stream, served, failed, parameters, arguments)

/* One character. */
#define GET(name, stream_, parameters, arguments)                                                  \
	STREAM(int, name, READ, stream_, has_bytes(stream_, 1), result == EOF, parameters,         \
	       arguments)
#define GET_WIDE(name, stream_, parameters, arguments)                                             \
	STREAM(wint_t, name, READ, stream_, has_wide(stream_), result == WEOF, parameters,         \
	       arguments)
#define PUT(name, stream_, parameters, arguments)                                                  \
	STREAM(int, name, WRITE, stream_, has_room_for(stream_, c), result == EOF, parameters,     \
	       arguments)
#define PUT_WIDE(name, stream_, parameters, arguments)                                             \
	STREAM(wint_t, name, WRITE, stream_, has_wide_room(stream_), result == WEOF, parameters,   \
	       arguments)

GET(fgetc, stream, (FILE * stream), (stream))
GET(getc, stream, (FILE * stream), (stream))
GET(_IO_getc, stream, (FILE * stream), (stream))
GET(getchar, stdin, (void), ())
GET(fgetc_unlocked, stream, (FILE * stream), (stream))
GET(getc_unlocked, stream, (FILE * stream), (stream))
GET(getchar_unlocked, stdin, (void), ())
GET(__uflow, stream, (FILE * stream), (stream)) /* the rest of what compilers put in line */
READS(int, getw, has_bytes(stream, sizeof(int)), result == EOF, (FILE * stream), (stream))
GET_WIDE(fgetwc, stream, (FILE * stream), (stream))
GET_WIDE(getwc, stream, (FILE * stream), (stream))
GET_WIDE(getwchar, stdin, (void), ())
GET_WIDE(fgetwc_unlocked, stream, (FILE * stream), (stream))
GET_WIDE(getwc_unlocked, stream, (FILE * stream), (stream))
GET_WIDE(getwchar_unlocked, stdin, (void), ())
GET_WIDE(__wuflow, stream, (FILE * stream), (stream))

PUT(fputc, stream, (int c, FILE *stream), (c, stream))
PUT(putc, stream, (int c, FILE *stream), (c, stream))
PUT(_IO_putc, stream, (int c, FILE *stream), (c, stream))
PUT(putchar, stdout, (int c), (c))
PUT(fputc_unlocked, stream, (int c, FILE *stream), (c, stream))
PUT(putc_unlocked, stream, (int c, FILE *stream), (c, stream))
PUT(putchar_unlocked, stdout, (int c), (c))
PUT(__overflow, stream, (FILE * stream, int c), (stream, c))
WRITES(int, putw, buffer_has_room(stream, &value, sizeof(value)), result == EOF,
       (int value, FILE *stream), (value, stream))
PUT_WIDE(fputwc, stream, (wchar_t c, FILE *stream), (c, stream))
PUT_WIDE(putwc, stream, (wchar_t c, FILE *stream), (c, stream))
PUT_WIDE(putwchar, stdout, (wchar_t c), (c))
PUT_WIDE(fputwc_unlocked, stream, (wchar_t c, FILE *stream), (c, stream))
PUT_WIDE(putwc_unlocked, stream, (wchar_t c, FILE *stream), (c, stream))
PUT_WIDE(putwchar_unlocked, stdout, (wchar_t c), (c))
PUT_WIDE(__woverflow, stream, (FILE * stream, wint_t c), (stream, c))

/* A line.  A length that is no more than the end of a string asks for nothing. */
#define SHORT_OR_LINE(n) ((n) < 2 || has_line(stream, '\n', (size_t)(n)-1))
READS(char *, fgets, SHORT_OR_LINE(n), !result, (char *s, int n, FILE *stream), (s, n, stream))
READS(char *, fgets_unlocked, SHORT_OR_LINE(n), !result, (char *s, int n, FILE *stream),
      (s, n, stream))
READS(char *, __fgets_chk, SHORT_OR_LINE(n), !result,
      (char *s, size_t s_bytes, int n, FILE *stream), (s, s_bytes, n, stream))
READS(char *, __fgets_unlocked_chk, SHORT_OR_LINE(n), !result,
      (char *s, size_t s_bytes, int n, FILE *stream), (s, s_bytes, n, stream))
READS(ssize_t, getline, has_line(stream, '\n', SIZE_MAX), result < 0,
      (char **line, size_t *n, FILE *stream), (line, n, stream))
READS(ssize_t, getdelim, has_line(stream, delimiter, SIZE_MAX), result < 0,
      (char **line, size_t *n, int delimiter, FILE *stream), (line, n, delimiter, stream))
READS(ssize_t, __getdelim, has_line(stream, delimiter, SIZE_MAX), result < 0,
      (char **line, size_t *n, int delimiter, FILE *stream), (line, n, delimiter, stream))
READS(wchar_t *, fgetws, n < 2, !result, (wchar_t * s, int n, FILE *stream), (s, n, stream))
READS(wchar_t *, fgetws_unlocked, n < 2, !result, (wchar_t * s, int n, FILE *stream),
      (s, n, stream))
READS(wchar_t *, __fgetws_chk, n < 2, !result, (wchar_t * s, size_t s_bytes, int n, FILE *stream),
      (s, s_bytes, n, stream))
READS(wchar_t *, __fgetws_unlocked_chk, n < 2, !result,
      (wchar_t * s, size_t s_bytes, int n, FILE *stream), (s, s_bytes, n, stream))

WRITES(int, fputs, buffer_has_room(stream, s, strlen(s)), result == EOF,
       (const char *s, FILE *stream), (s, stream))
WRITES(int, fputs_unlocked, buffer_has_room(stream, s, strlen(s)), result == EOF,
       (const char *s, FILE *stream), (s, stream))
STREAM(int, puts, WRITE, stdout,
       has_room_for(stdout, '\n') && buffer_has_room(stdout, s, strlen(s) + 1), result == EOF,
       (const char *s), (s))
WRITES(int, fputws, false, result == -1, (const wchar_t *s, FILE *stream), (s, stream))
WRITES(int, fputws_unlocked, false, result == -1, (const wchar_t *s, FILE *stream), (s, stream))

/* Blocks. */
#define N_BYTES_ARE_THERE (!size || !n || (n <= SIZE_MAX / size && has_bytes(stream, size * n)))
#define N_BYTES_HAVE_ROOM                                                                          \
	(!size || !n || (n <= SIZE_MAX / size && buffer_has_room(stream, bytes, size * n)))
READS(size_t, fread, N_BYTES_ARE_THERE, result < n,
      (void *bytes, size_t size, size_t n, FILE *stream), (bytes, size, n, stream))
READS(size_t, fread_unlocked, N_BYTES_ARE_THERE, result < n,
      (void *bytes, size_t size, size_t n, FILE *stream), (bytes, size, n, stream))
READS(size_t, __fread_chk, N_BYTES_ARE_THERE, result < n,
      (void *bytes, size_t max_bytes, size_t size, size_t n, FILE *stream),
      (bytes, max_bytes, size, n, stream))
READS(size_t, __fread_unlocked_chk, N_BYTES_ARE_THERE, result < n,
      (void *bytes, size_t max_bytes, size_t size, size_t n, FILE *stream),
      (bytes, max_bytes, size, n, stream))
WRITES(size_t, fwrite, N_BYTES_HAVE_ROOM, result < n,
       (const void *bytes, size_t size, size_t n, FILE *stream), (bytes, size, n, stream))
WRITES(size_t, fwrite_unlocked, N_BYTES_HAVE_ROOM, result < n,
       (const void *bytes, size_t size, size_t n, FILE *stream), (bytes, size, n, stream))

/* ---- formats: how many bytes they take is known only afterwards ---------------------------- */

#define VARIADIC(name, base, last, parameters, arguments)                                          \
	TRC_EXPORT int name parameters                                                             \
	{                                                                                          \
		va_list args;                                                                      \
		int result;                                                                        \
                                                                                                   \
		va_start(args, last);                                                              \
		result = base arguments;                                                           \
		va_end(args);                                                                      \
		return result;                                                                     \
	}
#define SCANS(base, from_stdin, variadic, variadic_stdin, character)                               \
	READS(int, base, false, result == EOF,                                                     \
	      (FILE * stream, const character *format, va_list args), (stream, format, args))      \
	STREAM(int, from_stdin, READ, stdin, false, result == EOF,                                 \
	       (const character *format, va_list args), (format, args))                            \
	VARIADIC(variadic, base, format, (FILE * stream, const character *format, ...),            \
		 (stream, format, args))                                                           \
	VARIADIC(variadic_stdin, from_stdin, format, (const character *format, ...), (format, args))
SCANS(vfscanf, vscanf, fscanf, scanf, char)
SCANS(__isoc99_vfscanf, __isoc99_vscanf, __isoc99_fscanf, __isoc99_scanf, char)
SCANS(vfwscanf, vwscanf, fwscanf, wscanf, wchar_t)
SCANS(__isoc99_vfwscanf, __isoc99_vwscanf, __isoc99_fwscanf, __isoc99_wscanf, wchar_t)
#if __GLIBC_PREREQ(2, 38)
SCANS(__isoc23_vfscanf, __isoc23_vscanf, __isoc23_fscanf, __isoc23_scanf, char)
SCANS(__isoc23_vfwscanf, __isoc23_vwscanf, __isoc23_fwscanf, __isoc23_wscanf, wchar_t)
#endif

#define PRINTS(base, to_stdout, variadic, variadic_stdout, character)                              \
	WRITES(int, base, false, result < 0,                                                       \
	       (FILE * stream, const character *format, va_list args), (stream, format, args))     \
	STREAM(int, to_stdout, WRITE, stdout, false, result < 0,                                   \
	       (const character *format, va_list args), (format, args))                            \
	VARIADIC(variadic, base, format, (FILE * stream, const character *format, ...),            \
		 (stream, format, args))                                                           \
	VARIADIC(variadic_stdout, to_stdout, format, (const character *format, ...), (format, args))
#define PRINTS_CHECKED(base, to_stdout, variadic, variadic_stdout, character)                      \
	WRITES(int, base, false, result < 0,                                                       \
	       (FILE * stream, int flag, const character *format, va_list args),                   \
	       (stream, flag, format, args))                                                       \
	STREAM(int, to_stdout, WRITE, stdout, false, result < 0,                                   \
	       (int flag, const character *format, va_list args), (flag, format, args))            \
	VARIADIC(variadic, base, format, (FILE * stream, int flag, const character *format, ...),  \
		 (stream, flag, format, args))                                                     \
	VARIADIC(variadic_stdout, to_stdout, format, (int flag, const character *format, ...),     \
		 (flag, format, args))
PRINTS(vfprintf, vprintf, fprintf, printf, char)
PRINTS(vfwprintf, vwprintf, fwprintf, wprintf, wchar_t)
PRINTS_CHECKED(__vfprintf_chk, __vprintf_chk, __fprintf_chk, __printf_chk, char)
PRINTS_CHECKED(__vfwprintf_chk, __vwprintf_chk, __fwprintf_chk, __wprintf_chk, wchar_t)

TRC_CALL(int, vdprintf, WRITE, fd, true, (int fd, const char *format, va_list args),
	 (fd, format, args))
TRC_CALL(int, __vdprintf_chk, WRITE, fd, true, (int fd, int flag, const char *format, va_list args),
	 (fd, flag, format, args))
VARIADIC(dprintf, vdprintf, format, (int fd, const char *format, ...), (fd, format, args))
VARIADIC(__dprintf_chk, __vdprintf_chk, format, (int fd, int flag, const char *format, ...),
	 (fd, flag, format, args))

/* ---- the stream as a whole ---------------------------------------------------------------- */

/* All streams: no descriptor. */
static int64_t descriptor(FILE *stream)
{
	return stream ? stream->_fileno : -1;
}

/* It will be closed: wakers:V3. */
static bool closes(FILE *stream)
{
	if (stream)
		trc_io_forget(stream->_fileno);
	return has_descriptor(stream);
}

static bool has_unwritten(FILE *stream)
{
	if (!stream)
		return true;
	return has_descriptor(stream) &&
	       (PEEK(stream->_IO_write_ptr) != PEEK(stream->_IO_write_base) || stream->_mode > 0);
}

TRC_CALL(int, fflush, WRITE, descriptor(stream), has_unwritten(stream), (FILE * stream), (stream))
TRC_CALL(int, fflush_unlocked, WRITE, descriptor(stream), has_unwritten(stream), (FILE * stream),
	 (stream))
/* Writes what is left.  Of a stream of popen() it also waits for the child.  Afterwards the number
 * may be another's: descriptor:N2. */
TRC_EXPORT int fclose(FILE *stream)
{
	struct trc_span span;
	int fd, result;

	if (!trc_recording() || !closes(stream))
		return REAL(fclose)(stream);
	fd = stream->_fileno;
	trc_span_begin(&span, TRC_REASON_WRITE, (uint64_t)fd);
	result = REAL(fclose)(stream);
	trc_io_forget(fd);
	trc_span_end(&span, result == EOF ? errno : 0);
	return result;
}
/* Only libc knows which child. */
TRC_CALL(int, pclose, CHILD, -1, (closes(stream), true), (FILE * stream), (stream))

/* Without an object, as open(). */
#define OPENS(name, parameters, arguments)                                                         \
	TRC_EXPORT FILE *name parameters                                                           \
	{                                                                                          \
		struct trc_span span;                                                              \
		FILE *result;                                                                      \
                                                                                                   \
		if (!trc_recording())                                                              \
			return REAL(name) arguments;                                               \
		trc_span_begin(&span, TRC_REASON_OPEN, 0);                                         \
		result = REAL(name) arguments;                                                     \
		trc_span_end(&span, result ? 0 : errno);                                           \
		return result;                                                                     \
	}
OPENS(fopen, (const char *path, const char *mode), (path, mode))
OPENS(fopen64, (const char *path, const char *mode), (path, mode))
OPENS(freopen, (const char *path, const char *mode, FILE *stream), (path, mode, stream))
OPENS(freopen64, (const char *path, const char *mode, FILE *stream), (path, mode, stream))
