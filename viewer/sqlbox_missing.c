/* sqlbox_missing.c - what the SQL box of a page lacks (B2), as a list in the page's head. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "sqlbox.h"

struct trc_sqlbox_lack {
	char table[96];
	int64_t rows;
	const char *why;
};

int trc_sqlbox_lacks(struct trc_sqlbox_missing *missing, const char *table, int64_t rows,
		     const char *why)
{
	struct trc_sqlbox_lack *all = realloc(missing->lack, (missing->n + 1) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	missing->lack = all;
	all[missing->n] = (struct trc_sqlbox_lack){.rows = rows, .why = why};
	snprintf(all[missing->n++].table, sizeof(all->table), "%s", table);
	return 0;
}

void trc_sqlbox_missing_write(const struct trc_sqlbox_missing *missing, FILE *head)
{
	fputs(",\n\"missing\":[", head);
	for (size_t i = 0; i < missing->n; i++) {
		const struct trc_sqlbox_lack *lack = &missing->lack[i];

		fputs(i ? ",\n[" : "[", head);
		trc_page_json_string(head, lack->table);
		if (lack->rows < 0)
			fputs(",null,", head);
		else
			fprintf(head, ",%" PRId64 ",", lack->rows);
		trc_page_json_string(head, lack->why);
		fputc(']', head);
	}
	fputc(']', head);
}

void trc_sqlbox_missing_free(struct trc_sqlbox_missing *missing)
{
	free(missing->lack);
}
