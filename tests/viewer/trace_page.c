/*
 * trace-page - writes the timeline of a .trc file: trace-page IN.trc OUT.html [few]
 *
 * `few`: with an SQL box, and so few rows of each table that a small trace has more.
 */
#include <stdio.h>
#include <string.h>

#include "analyzer/model/model.h"
#include "viewer/html.h"
#include "viewer/sqlbox.h"

static const struct trc_html_limits few = {
	.intervals = 1000,
	.regions = 100,
	.tasks = 100,
	.unlocks = 100,
	.logs = 10,
	.counters = 100,
	.samples = 10,
	.columns = 512,
};

int main(int argc, char **argv)
{
	struct trc_html_options options = {0};
	struct trc_error error = {""};
	struct trc_model *m;
	int rc;

	if (argc != 3 && (argc != 4 || strcmp(argv[3], "few") != 0))
		return 2;
	if (argc == 4)
		options = (struct trc_html_options){.limits = &few, .sql = trc_sqlbox_write};
	if (trc_model_open(&m, argv[1], &error)) {
		fprintf(stderr, "trace-page: %s: %s\n", argv[1], error.text);
		return 1;
	}
	rc = trc_html_write_as(m, argv[2], &options, &error);
	if (rc)
		fprintf(stderr, "trace-page: %s\n", error.text);
	trc_model_close(m);
	return rc ? 1 : 0;
}
