/*
 * cli.h - what the verbs of trace-analyze share.
 *
 * main() parses, opens, runs the verbs in the order in which they were given, closes.  Each
 * verb is a file of its own with a struct trc_verb and a table of the options that belong to
 * it.
 *
 *   cli:X1  answers go to stdout, troubles to stderr, one line each, the trace's name in front
 *   cli:X2  the exit status is 0 if all went well, 1 if not, 2 if the command makes no sense
 */
#ifndef TRC_ANALYZER_CLI_CLI_H
#define TRC_ANALYZER_CLI_CLI_H

#include <sqlite3.h>
#include <stdbool.h>
#include "analyzer/model/model.h"
#include "analyzer/model/selection.h"
#include "analyzer/open/trace.h"
#include "analyzer/export/output.h"

enum { TRC_CLI_SOURCE_MAPS_MAX = 16 };
/* For outputs of struct trc_verb. */
enum {
	TRC_CLI_TEXT = 1 << TRC_OUTPUT_TABLE,
	TRC_CLI_JSON = 1 << TRC_OUTPUT_JSON,
};
enum { TRC_EXIT_OK = 0, TRC_EXIT_FAILED = 1, TRC_EXIT_USAGE = 2 };

struct trc_verb;

/* A verb on the command line, and what was said with it. */
struct trc_request {
	const struct trc_verb *verb;
	const char *arg;      /* NULL if the verb takes none */
	const char *out_path; /* -o after the verb */
};

struct trc_cli {
	const char *path;   /* of the trace; NULL: none was named, and no verb needs one */
	char *const *paths; /* of all that were named */
	size_t n_paths;
	struct trc_ring_trace ring; /* what the model reads, if `path` is a ring */
	struct trc_model *model;
	struct trc_symbols *symbols; /* of all models */
	sqlite3 *db;		     /* by trc_cli_sql() */
	enum trc_output output;
	struct trc_selection selection;
	const char *selects; /* the first option that narrows; NULL = none was given */
	bool color;	     /* stdout may have colours */
	bool full;	     /* --full */
	bool follows;	     /* another verb has run */
	const char *of_page; /* the first option that is for --html alone; NULL = none was given */
	bool without_sql;    /* --without-sql */
	bool source;	     /* --source, --source-map */
	const char *source_map[TRC_CLI_SOURCE_MAPS_MAX];
	size_t n_source_maps;
	double slowest;	       /* --slowest, in percent; 0 = not given */
	uint64_t memory_bytes; /* --memory; 0 = not given */
};

struct trc_cli_option {
	const char *name;
	char letter;	      /* '\0' = none */
	const char *arg_name; /* NULL: it takes none */
	const char *doc;
	/* `request` is the verb before it, NULL if there is none. 0, or -EINVAL after a line. */
	int (*set)(struct trc_cli *cli, struct trc_request *request, const char *arg);
};

struct trc_verb {
	const char *name;
	const char *arg_name; /* NULL: it takes none */
	const char *doc;
	bool without_trace; /* it can do without a trace */
	bool takes_many;    /* traces: it opens them itself if they are several */
	bool tells_stacks;  /* and obeys --full */
	bool selects;	    /* it obeys the selection */
	unsigned int
		outputs;  /* which of --output it can print; 0 = all, or it prints none of them */
	bool arg_is_file; /* which it writes */
	int (*run)(struct trc_cli *cli, const struct trc_request *request); /* X2 */
	/* Says what is wrong with the request before anything is opened; NULL = nothing can be. */
	int (*check)(struct trc_cli *cli, const struct trc_request *request);
	const struct trc_cli_option *option; /* ends with one without a name */
};

extern const struct trc_verb trc_verb_sql, trc_verb_shell, trc_verb_db, trc_verb_check,
	trc_verb_check_all, trc_verb_schema, trc_verb_html, trc_verb_pprof, trc_verb_report,
	trc_verb_summary, trc_verb_why, trc_verb_critical_path, trc_verb_json, trc_verb_what_if,
	trc_verb_diff;

/* select.c: --window, --task and others like them; end with one without a name. */
extern const struct trc_cli_option trc_select_options[];
/* 0, or -EINVAL after a line: what was given makes no sense together. */
int trc_select_check(struct trc_cli *cli);

/* "trace-analyze: dump.trc: ...", or without a name as long as there is no trace. */
void trc_cli_error(const struct trc_cli *cli, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* --json of several traces: their index and findings.  X2. */
int trc_cli_json_of_many(struct trc_cli *cli);
/* Opens cli->path.  X2, after a line if there is trouble. */
int trc_cli_open(struct trc_cli *cli);
void trc_cli_close(struct trc_cli *cli);
/* The trace as SQL tables; NULL after an error was said. */
sqlite3 *trc_cli_sql(struct trc_cli *cli);

/* A bar on stderr while the model is busy for more than a second; only on a terminal. */
void trc_progress_watch(struct trc_model *m);
/* Takes it away before something else is printed. */
void trc_progress_clear(void);

#endif
