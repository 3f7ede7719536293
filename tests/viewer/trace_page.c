/*
 * trace-page - writes the timeline of a .trc file: trace-page IN.trc OUT.html
 */
#include <stdio.h>

#include "analyzer/model/model.h"
#include "viewer/html.h"

int main(int argc, char **argv)
{
	struct trc_error error = {""};
	struct trc_model *m;

	if (argc != 3)
		return 2;
	if (trc_model_open(&m, argv[1], &error)) {
		fprintf(stderr, "trace-page: %s: %s\n", argv[1], error.text);
		return 1;
	}
	if (trc_html_write(m, argv[2], &error)) {
		fprintf(stderr, "trace-page: %s\n", error.text);
		trc_model_close(m);
		return 1;
	}
	trc_model_close(m);
	return 0;
}
