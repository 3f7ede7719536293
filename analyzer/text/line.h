/*
 * line.h - lines of a given width, and numbers as people read them.
 *
 *   line:E1  a line never gets wider than its limit: what does not fit becomes one U+2026
 *   line:E2  text from a trace passes trc_line_data(), which lets no control character through
 */
#ifndef TRC_ANALYZER_TEXT_LINE_H
#define TRC_ANALYZER_TEXT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum trc_style { TRC_STYLE_PLAIN, TRC_STYLE_BOLD, TRC_STYLE_DIM, TRC_STYLE_ALARM };

enum { TRC_LINE_BYTES = 16384, TRC_WIDTH_MAX = 4000 };

struct trc_line {
	char text[TRC_LINE_BYTES];
	size_t n_bytes;
	size_t last; /* where its last character begins */
	int width, limit;
	bool cut, colour, styled;
};

void trc_line_begin(struct trc_line *line, int limit, bool colour);
/* Our own words. */
void trc_line_add(struct trc_line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A name from the trace, cut in its middle if it is wider than max_width columns. */
void trc_line_data(struct trc_line *line, const char *text, int max_width);
/* A number: so many columns, the text at their right end. */
void trc_line_right(struct trc_line *line, int columns, const char *text);
/* Blanks up to this column; none if the line is there already. */
void trc_line_to(struct trc_line *line, int column);
void trc_line_style(struct trc_line *line, enum trc_style style);
/* The line's text, zero-terminated, without blanks at its end; valid until more is added. */
const char *trc_line_text(struct trc_line *line);
/* Prints the line with its newline, without blanks at its end. */
void trc_line_print(struct trc_line *line, FILE *out);

/* How many columns the text takes. */
int trc_line_width(const char *text);
/* How many bytes of the text, up to a blank, fit into so many columns; its first word always. */
size_t trc_text_fitting(const char *text, int columns);

enum { TRC_NUMBER_BYTES = 32 };
/* Each returns `out`. Three digits that count: "850 ns", "12.3 µs", "1.25 s", "2 min 05 s". */
const char *trc_text_duration(char out[TRC_NUMBER_BYTES], int64_t duration_ns);
/* "12,345,678" */
const char *trc_text_count(char out[TRC_NUMBER_BYTES], uint64_t n);
/* "640 B", "12.3 kB", "1.25 MB" */
const char *trc_text_bytes(char out[TRC_NUMBER_BYTES], uint64_t n_bytes);
/* "12.3%"; "" if there is no whole. */
const char *trc_text_share(char out[TRC_NUMBER_BYTES], int64_t part, int64_t whole);
/* How far a share may be off, in percentage points: "±1.4", at most "±100"; "" if it
 * would be ±0.0. */
const char *trc_text_margin(char out[TRC_NUMBER_BYTES], double margin, int64_t whole);

#endif
