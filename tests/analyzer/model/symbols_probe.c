/*
 * symbols_probe - prints what trc_symbols_find() says, in the form of `addr2line -fi`.
 *
 *   symbols_probe [-b BIAS] [-i BUILD-ID] [-l] [-m] [-s] [-v] FILE ADDRESS...
 *
 * Addresses are the process's: BIAS (hexadecimal) is subtracted.  -l prints the linkage
 * name and the function's first line too, -v the variable at each address instead, -m
 * its member too, -s where its function begins.
 * "-" for ADDRESS: read them from stdin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "format/symbols.h"

static bool show_linkage, show_variables, show_members, show_starts;

static void print_address(struct trc_symbols *s, const struct trc_module_entry *module,
			  uint64_t address)
{
	struct trc_symbol symbol[TRC_SYMBOL_INLINE_MAX];
	uint64_t offset = 0;
	const char *variable = trc_symbols_variable(s, module, address, &offset);
	size_t n;

	if (show_variables) {
		const char *member = show_members
					     ? trc_symbols_member(s, module, address, &offset)
					     : "";

		printf("%s%s+%llu\n", variable ? variable : "??", member,
		       (unsigned long long)offset);
		return;
	}
	if (show_starts) {
		printf("%016llx\n",
		       (unsigned long long)trc_symbols_start(s, module, address));
		return;
	}
	n = trc_symbols_find(s, module, address, symbol);

	printf("0x%016llx\n", (unsigned long long)address);
	if (!n)
		printf("??\n??:0\n");
	for (size_t i = 0; i < n; i++) {
		printf("%s\n", symbol[i].function ? symbol[i].function : "??");
		printf("%s:%u\n", symbol[i].file ? symbol[i].file : "??", symbol[i].line);
		if (show_linkage)
			printf("\tlinkage %s start_line %u%s\n",
			       symbol[i].linkage ? symbol[i].linkage : "-", symbol[i].start_line,
			       symbol[i].inlined ? " inlined" : "");
	}
}

static void set_build_id(struct trc_module_entry *module, const char *hex)
{
	unsigned int byte;

	while (module->build_id_bytes < TRC_BUILD_ID_BYTES_MAX && sscanf(hex, "%2x", &byte) == 1) {
		module->build_id[module->build_id_bytes++] = (uint8_t)byte;
		hex += 2;
	}
}

int main(int argc, char **argv)
{
	struct trc_module_entry module = {.limit = UINT64_MAX, .last_epoch = UINT32_MAX};
	struct trc_symbols *s;
	const char *trouble;
	char line[64];
	int option;

	while ((option = getopt(argc, argv, "b:i:lmsv")) != -1) {
		if (option == 'b')
			module.load_bias = strtoull(optarg, NULL, 16);
		else if (option == 'i')
			set_build_id(&module, optarg);
		else if (option == 'v')
			show_variables = true;
		else if (option == 'm')
			show_variables = show_members = true;
		else if (option == 's')
			show_starts = true;
		else
			show_linkage = true;
	}
	if (optind >= argc || trc_symbols_open(&s, TRC_SYMBOLS_FETCHED))
		return 2;
	module.path = argv[optind++];
	if (optind < argc && !strcmp(argv[optind], "-"))
		while (fgets(line, sizeof(line), stdin))
			print_address(s, &module, strtoull(line, NULL, 16));
	else
		for (; optind < argc; optind++)
			print_address(s, &module, strtoull(argv[optind], NULL, 16));
	trouble = trc_symbols_trouble(s, &module);
	if (trouble)
		printf("trouble: %s\n", trouble);
	trc_symbols_close(s);
	return 0;
}
