/* width.h - how wide printed lines may be. */
#ifndef TRC_ANALYZER_CLI_WIDTH_H
#define TRC_ANALYZER_CLI_WIDTH_H

/* A terminal's own width; in a file or a pipe nothing is cut. */
int trc_cli_width(void);

#endif
