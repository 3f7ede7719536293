/*
 * cut_check.c - cuts a trace at many lengths, and looks what --check says of each.
 *
 *   cut_check FILE LENGTHS
 *
 * FILE must be whole and without a violation.  Cut at LENGTHS lengths evenly apart, at the
 * beginning of each block and eight bytes to either side, it has none either, and is
 * known to be cut; all the events that are there are looked at.  How much could not be judged is
 * printed: it depends on which events the file had when the streams were flushed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/check/check.h"

_Noreturn static void fail(const char *what, size_t n_bytes, const char *text)
{
	fprintf(stderr, "cut_check: %zu bytes: %s: %s\n", n_bytes, what, text);
	exit(1);
}

static void *read_file(const char *path, size_t *n_bytes)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes = NULL;
	long n = -1;

	if (f && !fseek(f, 0, SEEK_END))
		n = ftell(f);
	if (n > 0)
		bytes = malloc((size_t)n);
	if (!bytes || fseek(f, 0, SEEK_SET) || fread(bytes, 1, (size_t)n, f) != (size_t)n)
		fail("cannot be read", 0, path);
	fclose(f);
	*n_bytes = (size_t)n;
	return bytes;
}

static char first_line[512];

static void take_line(void *context, const char *text)
{
	(void)context;
	if (!first_line[0] && strncmp(text, "cut off: ", 9))
		snprintf(first_line, sizeof(first_line), "%s", text);
}

/* Checks the first n_bytes of a file; they must be found in order. */
static struct trc_check_totals check(const uint8_t *bytes, size_t n_bytes)
{
	struct trc_check_totals totals = {0};
	struct trc_error error = {""};
	struct trc_reader *reader;
	struct trc_model *m;

	first_line[0] = '\0';
	if (trc_reader_open_memory(&reader, bytes, n_bytes, &error) ||
	    trc_model_open_reader(&m, reader, &error))
		fail("does not open", n_bytes, error.text);
	if (trc_check(m, true, take_line, NULL, &totals, &error))
		fail("is not checked", n_bytes, error.text);
	if (totals.violations)
		fail("violation", n_bytes, first_line);
	if (totals.events != trc_reader_info(reader)->n_events)
		fail("events are not looked at", n_bytes, "");
	if (totals.cut_off == trc_reader_info(reader)->complete)
		fail(totals.cut_off ? "not cut" : "cut", n_bytes, "not seen");
	trc_model_close(m);
	return totals;
}

/* Where the file may be cut: behind its header. */
static uint64_t cut(const uint8_t *bytes, size_t n_bytes, size_t at)
{
	uint32_t header_bytes;

	memcpy(&header_bytes, bytes + 12, sizeof(header_bytes));
	return at < header_bytes || at > n_bytes ? 0 : check(bytes, at).not_judged;
}

int main(int argc, char **argv)
{
	size_t n_bytes, n_blocks, lengths = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	uint64_t not_judged = 0;
	struct trc_reader *reader;
	struct trc_error error;
	uint8_t *bytes;

	if (!lengths) {
		fprintf(stderr, "usage: cut_check FILE LENGTHS\n");
		return 2;
	}
	bytes = read_file(argv[1], &n_bytes);
	if (check(bytes, n_bytes).cut_off)
		fail("cut", n_bytes, "already");
	for (size_t i = 1; i <= lengths; i++)
		not_judged += cut(bytes, n_bytes, n_bytes * i / lengths - 1);
	if (trc_reader_open_memory(&reader, bytes, n_bytes, &error))
		fail("does not open", n_bytes, error.text);
	n_blocks = trc_reader_blocks(reader);
	for (size_t i = 0; i < n_blocks; i++)
		for (size_t aside = 0; aside <= 16; aside += 8)
			not_judged += cut(bytes, n_bytes,
					  trc_reader_block(reader, i)->file_off - 8 + aside);
	printf("%zu bytes, %zu blocks: %" PRIu64 " things not judged in all\n", n_bytes, n_blocks,
	       not_judged);
	trc_reader_close(reader);
	free(bytes);
	return 0;
}
