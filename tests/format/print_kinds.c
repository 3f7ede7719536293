/* print_kinds.c - the kinds of events as a table for docs/format.md. */
#include <stdio.h>
#include "format/schema.h"
#include "format/wire.h"

static void print_arg(const struct trc_arg_info *arg)
{
	const char *name, *before = " (";

	printf("%s %s", arg->name, trc_arg_type_name(trc_arg_file_type(arg->type)));
	if (!trc_arg_type_is_enum(arg->type))
		return;
	for (unsigned int i = 1; *(name = trc_arg_value_name(arg->type, i)) != '?'; i++) {
		printf("%s%u %s", before, i, name);
		before = ", ";
	}
	putchar(')');
}

int main(void)
{
	puts("| kind | name | version | arguments |\n|---|---|---|---|");
	for (unsigned int kind = 1; kind <= TRC_KIND_MAX; kind++) {
		const struct trc_kind_info *info = trc_kind_info(kind);

		if (!info->name)
			continue;
		printf("| %u | %s | %d.%d | ", kind, info->name, TRC_MAJOR, info->minor);
		for (unsigned int a = 0; a < info->n_args; a++) {
			fputs(a ? ", " : "", stdout);
			print_arg(&info->arg[a]);
		}
		puts(info->n_args ? " |" : "|");
	}
	return fflush(stdout) || ferror(stdout);
}
