/* width.c - see width.h. */
#include "width.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include "analyzer/text/line.h"

enum { WIDTH_USUAL = 100, WIDTH_LEAST = 60 };

int trc_cli_width(void)
{
	struct winsize size = {0};

	if (!isatty(STDOUT_FILENO))
		return TRC_WIDTH_MAX;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return WIDTH_USUAL;
	if (size.ws_col > TRC_WIDTH_MAX)
		return TRC_WIDTH_MAX;
	return size.ws_col < WIDTH_LEAST ? WIDTH_LEAST : size.ws_col;
}
