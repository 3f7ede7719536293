/* options.h - what trace-view is asked for. */
#ifndef TRC_VIEWER_SERVE_OPTIONS_H
#define TRC_VIEWER_SERVE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { TRC_VIEW_OK = 0, TRC_VIEW_FAILED = 1, TRC_VIEW_USAGE = 2 };

struct trc_view_options {
	const char *target; /* a trace, a ring, or a process id */
	uint32_t pid;	    /* 0: the target is a file */
	uint16_t port;	    /* 0 = the kernel chooses */
	bool no_browser;    /* prints the address, and that is all */
	bool keep;	    /* goes on without pages */
	bool without_sql;   /* in the page */
	bool without_cache; /* the page of a large trace is made anew, and not kept */
	bool source;	    /* lines of source code are in the page */
	uint64_t
		n_events; /* about so many are shown at first of a large trace; 0 = see overview.h */
	uint64_t memory_bytes; /* 0 = what is fair */
};

/* -1, or the exit status: all is said and done. */
int trc_view_options_parse(struct trc_view_options *o, int argc, char **argv);

/* A line on stderr: "trace-view: ...". */
void trc_view_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
