/* index.c - the page that lists the profiles. */
#include <stdlib.h>
#include <string.h>
#include "reply.h"

enum { ENTRIES_MAX = 512 };

/* What there is whatever the source has. */
static const struct trc_http_entry always[] = {
	{"cmdline", "The command line of the program, its arguments separated by \\0.", 0, 0, NULL},
	{"flight",
	 "A snapshot of the flight recorder: the last seconds of everything, as a trace for "
	 "trace-analyze. seconds=2 trims it to the last two.",
	 0, 0, NULL},
	{"symbol",
	 "Names of functions for addresses: symbol?0x401000+0x402000, or the same as the body of a "
	 "POST.",
	 0, 0, NULL},
	{"trace",
	 "A trace of the program as it runs, for the time that seconds= says (1 if nothing). Look "
	 "into it with trace-analyze.",
	 0, 0, NULL},
};

struct index {
	struct trc_http_entry entry[ENTRIES_MAX];
	size_t n;
};

static void index_collect(void *context, const struct trc_http_entry *entry)
{
	struct index *index = context;

	if (index->n < ENTRIES_MAX)
		index->entry[index->n++] = *entry;
}

static int by_name(const void *a, const void *b)
{
	const struct trc_http_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* A name as a part of an address. */
static void add_link(struct trc_http_reply *r, const char *name, const char *query)
{
	trc_http_addf(r, "<a href='");
	for (; *name; name++)
		if (strchr("-._~", *name) || (*name >= '0' && *name <= '9') ||
		    ((*name | 0x20) >= 'a' && (*name | 0x20) <= 'z'))
			trc_http_add(r, name, 1);
		else
			trc_http_addf(r, "%%%02X", (unsigned int)(unsigned char)*name);
	trc_http_addf(r, "%s'>", query);
}

static void index_add_row(struct trc_http_reply *r, const struct trc_http_entry *e)
{
	const char *query = "";

	if (e->flags & TRC_HTTP_NEEDS_SECONDS)
		query = "?seconds=10"; /* there is no text of that */
	else if (e->flags & TRC_HTTP_CUMULATIVE)
		query = "?debug=1";
	trc_http_addf(r, "<tr><td>%llu</td><td>", (unsigned long long)e->count);
	add_link(r, e->name, query);
	trc_http_add_escaped(r, e->name);
	trc_http_addf(r, "</a></td></tr>\n");
}

static void add_description(struct trc_http_reply *r, const struct trc_http_entry *e)
{
	trc_http_addf(r, "<li><div class=profile-name>");
	trc_http_add_escaped(r, e->name);
	trc_http_addf(r, ":</div> ");
	trc_http_add_escaped(r, e->what ? e->what : "What the program itself counts.");
	trc_http_addf(r, "</li>\n");
}

static void add_page(struct trc_http_reply *r, const struct index *index)
{
	trc_http_addf(r, "<!DOCTYPE html>\n<html>\n<head>\n<title>/debug/pprof/</title>\n"
			 "<style>\n.profile-name { display: inline-block; width: 7rem; }\n"
			 "</style>\n</head>\n<body>\n/debug/pprof/\n<br>\n"
			 "<p>Set debug=1 as a query parameter to read a profile as text.</p>\n"
			 "<br>\nTypes of profiles available:\n"
			 "<table>\n<thead><td>Count</td><td>Profile</td></thead>\n");
	for (size_t i = 0; i < index->n; i++)
		index_add_row(r, &index->entry[i]);
	trc_http_addf(r, "</table>\n");
	for (size_t i = 0; i < index->n; i++) {
		if (!(index->entry[i].flags & TRC_HTTP_EACH))
			continue;
		add_link(r, index->entry[i].name, "?debug=2");
		trc_http_addf(r, "every thread's stack</a>\n<br>\n");
		break;
	}
	trc_http_addf(r, "<p>\nProfile Descriptions:\n<ul>\n");
	for (size_t i = 0; i < index->n; i++)
		add_description(r, &index->entry[i]);
	trc_http_addf(r, "</ul>\n</p>\n</body>\n</html>\n");
}

void trc_http_index(const struct trc_http_source *source, struct trc_http_reply *r)
{
	struct index *index = calloc(1, sizeof(*index));

	if (!index) {
		trc_http_fail(r, 500, "no memory");
		return;
	}
	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		index_collect(index, &always[i]);
	source->each(index_collect, index);
	for (size_t i = 0; i < index->n && source->count; i++)
		if (!(index->entry[i].flags & TRC_HTTP_COUNTED))
			index->entry[i].count = source->count(index->entry[i].name);
	qsort(index->entry, index->n, sizeof(*index->entry), by_name);
	add_page(r, index);
	free(index);
	r->type = TRC_HTTP_HTML;
}
