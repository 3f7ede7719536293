/* descriptors.c - descriptors as a person would call them: "127.0.0.1:80 (fd 7)", and many at once. */
#include <inttypes.h>
#include <string.h>
#include "analyzer/model/descriptors.h"
#include "format/waits.h"
#include "words.h"

enum { NAME_WIDTH_MIN = 16, FOLLOWS_WIDTH = 13 };

/* As wide as the line has room for it, and for what follows. */
static void add_name(struct trc_line *line, const char *name)
{
	int room = line->limit - line->width - FOLLOWS_WIDTH;

	trc_line_data(line, name, room > NAME_WIDTH_MIN ? room : NAME_WIDTH_MIN);
}

/* The name says nothing that the reason has not said: "epoll fd 7". */
static bool is_plain(const struct trc_descriptor_name *d, unsigned int reason)
{
	return !d || !strcmp(d->kind, trc_reason_name(reason));
}

void trc_report_waited(struct trc_report *r, struct trc_line *line, const struct trc_waited *w)
{
	const struct trc_descriptor_name *d = trc_model_descriptor(r->m, w->descriptor);

	if (is_plain(d, w->reason)) {
		trc_report_object(r, line, w->reason, w->object, w->stack);
		return;
	}
	trc_line_add(line, " ");
	add_name(line, d->name);
	trc_line_add(line, " (fd %" PRIu64 ")", w->object);
}

void trc_report_waited_park(struct trc_report *r, struct trc_line *line,
			    const struct trc_park *park)
{
	trc_report_waited(
		r, line,
		&(struct trc_waited){park->reason, park->object, park->stack, park->descriptor});
}

uint32_t trc_report_park_descriptor(const struct trc_report *r, uint32_t id)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(r->m, &n);

	return id && id <= n ? park[id - 1].descriptor : 0;
}

/* ---- many at once ---- */

/* *common: "" = they differ, NULL = none yet. */
static void descriptor_join(const char **common, const char *address)
{
	if (!address || (*common && strcmp(*common, address) != 0))
		*common = "";
	else
		*common = address;
}

void trc_report_descriptor_into(const struct trc_report *r, struct trc_group_details *d,
				uint32_t descriptor, int64_t ns)
{
	const struct trc_descriptor_name *name = trc_model_descriptor(r->m, descriptor);

	if (!name)
		return;
	descriptor_join(&d->common_own, name->listens ? NULL : name->own);
	descriptor_join(&d->common_peer, name->listens ? NULL : name->peer);
	if (!d->n_descriptors++ || ns > d->descriptor_ns) {
		d->descriptor = descriptor;
		d->descriptor_ns = ns;
	}
}

/* "37 connections of 127.0.0.1:80": those of one server, or to one. */
static bool add_connections(struct trc_line *line, const struct trc_group_details *d)
{
	bool of = d->common_own && *d->common_own, to = d->common_peer && *d->common_peer;

	if (d->n_descriptors < 2 || of == to)
		return false;
	trc_line_add(line, " %u connections %s ", d->n_descriptors, of ? "of" : "to");
	add_name(line, of ? d->common_own : d->common_peer);
	return true;
}

bool trc_report_descriptors(struct trc_report *r, struct trc_line *line,
			    const struct trc_group_details *d)
{
	const struct trc_descriptor_name *name = trc_model_descriptor(r->m, d->descriptor);
	uint32_t n = d->n_descriptors > d->n_objects ? d->n_descriptors : d->n_objects;

	if (is_plain(name, d->group->reason))
		return false;
	if (add_connections(line, d))
		return true;
	trc_line_add(line, " ");
	add_name(line, name->name);
	/* All are one thing: a server's connections by a path, a file opened again and again. */
	if (d->n_descriptors == 1 && n > 1)
		trc_line_add(line, " (%u descriptors)", n);
	else if (n > 1)
		trc_line_add(line, " and %u other%s", n - 1, n == 2 ? "" : "s");
	else
		trc_line_add(line, " (fd %" PRIu64 ")", d->object);
	return true;
}
