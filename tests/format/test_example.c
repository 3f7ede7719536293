/*
 * test_example.c - the worked example of docs/format.md is what the writer makes.
 *
 * The document holds the example twice: as text (a fenced block "trc-text", in the
 * assembler's syntax) and in hex ("trc-hex").  In the hex, `;` begins a comment, `..` stands
 * for a byte that depends on the event schema, and a line [SCHEMA] for a SCHEMA section.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "format/wire.h"
#include "common.h"

static char *document(void)
{
	const char *top = getenv("top_srcdir");
	char path[4096];
	struct bytes b = {0};
	char buffer[4096];
	size_t n;
	FILE *in;

	snprintf(path, sizeof(path), "%s/docs/format.md", top ? top : ".");
	in = fopen(path, "r");
	ck_assert_msg(in != NULL, "cannot open %s: is top_srcdir set?", path);
	while ((n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		bytes_add(&b, buffer, n);
	fclose(in);
	bytes_add(&b, "", 1);
	return (char *)b.at;
}

/* The text of the fenced block of this name; the caller's. */
static char *fenced(const char *text, const char *name)
{
	char fence[64];
	const char *start, *end;

	snprintf(fence, sizeof(fence), "\n```%s\n", name);
	start = strstr(text, fence);
	ck_assert_msg(start != NULL, "no block %s", name);
	start += strlen(fence);
	end = strstr(start, "\n```");
	ck_assert_ptr_nonnull(end);
	return strndup(start, (size_t)(end + 1 - start));
}

/* Compares the bytes of one line; returns the offset behind them. */
static size_t compare_line(const char *line, const struct bytes *b, size_t off)
{
	if (!strncmp(line, "[SCHEMA]", 8)) {
		ck_assert_uint_eq(trc_get16(b->at + off), TRC_SECTION_SCHEMA);
		return off + section_bytes(b, off);
	}
	while (*line && *line != ';') {
		unsigned int byte;

		if (*line == ' ') {
			line++;
			continue;
		}
		ck_assert_msg(off < b->n, "the file ends at %zu", off);
		if (strncmp(line, "..", 2)) {
			ck_assert_msg(sscanf(line, "%2x", &byte) == 1, "not hex: %s", line);
			ck_assert_msg(byte == b->at[off], "at %zu: %02x in the document, %02x made",
				      off, byte, b->at[off]);
		}
		line += 2;
		off++;
	}
	return off;
}

START_TEST(the_example_is_what_the_writer_makes)
{
	char *text = document();
	char *source = fenced(text, "trc-text"), *hex = fenced(text, "trc-hex");
	struct bytes b = assembled(source);
	size_t off = 0;

	for (char *line = hex; *line;) {
		char *end = strchr(line, '\n');

		*end = 0;
		off = compare_line(line, &b, off);
		line = end + 1;
	}
	ck_assert_uint_eq(off, b.n);
	bytes_free(&b);
	free(hex);
	free(source);
	free(text);
}
END_TEST

Suite *suite_example(void)
{
	Suite *s = suite_create("example");
	TCase *t = tcase_create("example");

	tcase_add_test(t, the_example_is_what_the_writer_makes);
	suite_add_tcase(s, t);
	return s;
}
