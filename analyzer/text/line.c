/* line.c - see line.h. */
#include "line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include "format/utf8.h"

#define ELLIPSIS "\xe2\x80\xa6"

/* Bytes of the character at text, 0 at the end; *shown is false for what a terminal might obey,
 * for what is not seen, and for what is not UTF-8. */
static size_t next_character(const char *text, bool *shown)
{
	uint32_t code = 0;
	size_t n_bytes = *text ? trc_utf8_get(text, SIZE_MAX, &code) : 0;

	*shown = n_bytes && trc_utf8_is_seen(code);
	return *text && !n_bytes ? 1 : n_bytes;
}

int trc_line_width(const char *text)
{
	int width = 0;
	bool shown;
	size_t n;

	while ((n = next_character(text, &shown))) {
		text += n;
		width++;
	}
	return width;
}

size_t trc_text_fitting(const char *text, int columns)
{
	size_t fits = strcspn(text, " "), n = 0, next;
	int width = 0;
	bool shown;

	while ((next = next_character(text + n, &shown))) {
		if (text[n] == ' ' && n > fits)
			fits = n;
		n += next;
		if (++width > columns)
			return fits;
	}
	return n;
}

void trc_line_begin(struct trc_line *line, int limit, bool colour)
{
	line->n_bytes = line->last = 0;
	line->width = 0;
	line->limit = limit > 0 && limit < TRC_WIDTH_MAX ? limit : TRC_WIDTH_MAX;
	line->cut = line->styled = false;
	line->colour = colour;
}

/* Room stays for an ellipsis, a style and its end. */
static bool line_has_room(const struct trc_line *line, size_t n_bytes)
{
	return line->n_bytes + n_bytes + 32 < sizeof(line->text);
}

static void line_put(struct trc_line *line, const char *bytes, size_t n_bytes)
{
	if (line->cut || line->width == line->limit || !line_has_room(line, n_bytes)) {
		line->cut = true;
		return;
	}
	line->last = line->n_bytes;
	memcpy(line->text + line->n_bytes, bytes, n_bytes);
	line->n_bytes += n_bytes;
	line->width++;
}

/* Up to max_width characters; returns what is after them. */
static const char *line_put_text(struct trc_line *line, const char *text, int max_width)
{
	bool shown;
	size_t n;

	for (int i = 0; i < max_width && (n = next_character(text, &shown)); i++) {
		if (shown)
			line_put(line, text, n);
		else
			line_put(line, "?", 1);
		text += n;
	}
	return text;
}

void trc_line_add(struct trc_line *line, const char *format, ...)
{
	char text[TRC_LINE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	line_put_text(line, text, TRC_WIDTH_MAX);
}

void trc_line_data(struct trc_line *line, const char *text, int max_width)
{
	int width = trc_line_width(text);
	int head = (max_width - 1) / 2, tail = max_width - 1 - head;

	if (width <= max_width) {
		line_put_text(line, text, width);
		return;
	}
	line_put_text(line, text, head);
	line_put(line, ELLIPSIS, sizeof(ELLIPSIS) - 1);
	for (int i = 0; i < width - tail; i++) {
		bool shown;

		text += next_character(text, &shown);
	}
	line_put_text(line, text, tail);
}

void trc_line_right(struct trc_line *line, int columns, const char *text)
{
	trc_line_to(line, line->width + columns - trc_line_width(text));
	trc_line_add(line, "%s", text);
}

void trc_line_to(struct trc_line *line, int column)
{
	while (line->width < column && !line->cut)
		line_put(line, " ", 1);
}

void trc_line_style(struct trc_line *line, enum trc_style style)
{
	static const char *const CODE[] = {"\033[0m", "\033[1m", "\033[2m", "\033[1;31m"};
	size_t n_bytes = strlen(CODE[style]);

	if (!line->colour || line->cut || !line_has_room(line, n_bytes))
		return;
	memcpy(line->text + line->n_bytes, CODE[style], n_bytes);
	line->n_bytes += n_bytes;
	line->styled = style != TRC_STYLE_PLAIN;
}

/* The mark of what was cut off; no blanks at the end. */
static void line_finish(struct trc_line *line)
{
	if (line->cut) {
		line->n_bytes = line->last;
		memcpy(line->text + line->n_bytes, ELLIPSIS, sizeof(ELLIPSIS) - 1);
		line->n_bytes += sizeof(ELLIPSIS) - 1;
	}
	while (line->n_bytes && line->text[line->n_bytes - 1] == ' ')
		line->n_bytes--;
}

const char *trc_line_text(struct trc_line *line)
{
	line_finish(line);
	line->text[line->n_bytes] = 0; /* line_has_room() left room */
	return line->text;
}

void trc_line_print(struct trc_line *line, FILE *out)
{
	line_finish(line);
	fwrite(line->text, 1, line->n_bytes, out);
	if (line->styled)
		fputs("\033[0m", out);
	putc('\n', out);
}

/* value has the unit; three digits that count, and "1000 µs" never. */
static const char *number_scaled(char out[TRC_NUMBER_BYTES], double value, const char *unit)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(out, TRC_NUMBER_BYTES, "%.*f %s", decimals, value, unit);
	return out;
}

const char *trc_text_duration(char out[TRC_NUMBER_BYTES], int64_t duration_ns)
{
	double ns = (double)duration_ns;
	int64_t seconds = duration_ns / 1000000000 + (duration_ns % 1000000000 >= 500000000);

	if (duration_ns < 1000)
		snprintf(out, TRC_NUMBER_BYTES, "%" PRId64 " ns", duration_ns);
	else if (ns < 999.5e3)
		number_scaled(out, ns / 1e3, "\xc2\xb5s");
	else if (ns < 999.5e6)
		number_scaled(out, ns / 1e6, "ms");
	else if (seconds < 120)
		number_scaled(out, ns / 1e9, "s");
	else if (seconds < 7200)
		snprintf(out, TRC_NUMBER_BYTES, "%d min %02d s", (int)(seconds / 60),
			 (int)(seconds % 60));
	else
		snprintf(out, TRC_NUMBER_BYTES, "%" PRId64 " h %02d min", seconds / 3600,
			 (int)(seconds / 60 % 60));
	return out;
}

const char *trc_text_count(char out[TRC_NUMBER_BYTES], uint64_t n)
{
	char digits[TRC_NUMBER_BYTES];
	int n_digits = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	int at = 0;

	for (int i = 0; i < n_digits; i++) {
		if (i && (n_digits - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = 0;
	return out;
}

const char *trc_text_bytes(char out[TRC_NUMBER_BYTES], uint64_t n_bytes)
{
	double n = (double)n_bytes;

	if (n_bytes < 1000)
		snprintf(out, TRC_NUMBER_BYTES, "%" PRIu64 " B", n_bytes);
	else if (n < 999.5e3)
		number_scaled(out, n / 1e3, "kB");
	else if (n < 999.5e6)
		number_scaled(out, n / 1e6, "MB");
	else
		number_scaled(out, n / 1e9, "GB");
	return out;
}

const char *trc_text_share(char out[TRC_NUMBER_BYTES], int64_t part, int64_t whole)
{
	out[0] = 0;
	if (whole > 0)
		snprintf(out, TRC_NUMBER_BYTES, "%.1f%%", 100.0 * (double)part / (double)whole);
	return out;
}

const char *trc_text_margin(char out[TRC_NUMBER_BYTES], double margin, int64_t whole)
{
	double points = whole > 0 ? 100 * margin / (double)whole : 0;

	out[0] = 0;
	if (points >= 99.95)
		snprintf(out, TRC_NUMBER_BYTES, "\xc2\xb1%d", 100);
	else if (points >= 0.05)
		snprintf(out, TRC_NUMBER_BYTES, "\xc2\xb1%.1f", points);
	return out;
}
