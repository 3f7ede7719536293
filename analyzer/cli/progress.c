/* progress.c - a bar on a terminal's stderr while a step takes long; see cli.h. */
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "format/now.h"
#include "cli.h"

enum { BAR_CELLS = 30 };

static struct {
	const char *what; /* the step; a literal */
	int64_t since_ns; /* when it began */
	int64_t drawn_ns; /* 0 = nothing is drawn */
} bar;

static int64_t now_ns(void)
{
	return (int64_t)trc_now_ns(CLOCK_MONOTONIC);
}

void trc_progress_clear(void)
{
	if (bar.drawn_ns)
		fputs("\r\033[K", stderr);
	bar.drawn_ns = 0;
	bar.what = NULL;
}

static void draw(const char *what, double fraction)
{
	char cells[BAR_CELLS + 1];
	int full = (int)(fraction * BAR_CELLS);

	full = full < 0 ? 0 : full > BAR_CELLS ? BAR_CELLS : full;
	memset(cells, ' ', BAR_CELLS);
	memset(cells, '#', (size_t)full);
	cells[BAR_CELLS] = '\0';
	fprintf(stderr, "\r\033[K%s [%s] %d%%", what, cells, (int)(fraction * 100));
	fflush(stderr);
}

static void progress(void *context, const char *what, double fraction)
{
	int64_t now = now_ns();

	if (!bar.what || strcmp(bar.what, what) != 0) {
		bar.what = what;
		bar.since_ns = now;
	}
	/* After the first second, ten times a second. */
	if (now - bar.since_ns < 1000000000 || now - bar.drawn_ns < 100000000)
		return;
	bar.drawn_ns = now;
	draw(what, fraction);
}

void trc_progress_watch(struct trc_model *m)
{
	if (!isatty(STDERR_FILENO))
		return;
	trc_model_progress(m, progress, NULL);
	/* libdebuginfod then says what it downloads, which may take minutes. */
	setenv("DEBUGINFOD_PROGRESS", "1", 0);
}
