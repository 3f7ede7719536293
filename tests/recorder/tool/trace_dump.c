/*
 * trace_dump.c - what is in a trace, in lines that a shell test can look for.
 *
 *   info KEY VALUE      warning TEXT      complete 0|1
 *   lost N              of the program's own events: switch records that the kernel had no room
 *                       for are in lost_by_kernel N
 *   count KIND N            thread SERIAL NAME ended|running
 *   sampled NUMBER NAME HOW period PERIOD missing N: NOTE
 */
#include <inttypes.h>
#include <stdio.h>
#include "format/reader.h"

static void dump_tables(const struct trc_reader *r)
{
	const char *key, *value;

	for (size_t i = 0; i < trc_reader_info_count(r); i++) {
		trc_reader_info_at(r, i, &key, &value);
		printf("info %s %s\n", key, value);
	}
	if (trc_reader_warning(r))
		printf("warning %s\n", trc_reader_warning(r));
	printf("complete %d\n", trc_reader_info(r)->complete);
	for (size_t i = 0; i < trc_reader_threads(r); i++) {
		const struct trc_thread_entry *t = trc_reader_thread(r, i);

		printf("thread %" PRIu32 " %.*s %s\n", t->serial, (int)t->name_bytes, t->name,
		       t->end ? "ended" : "running");
	}
}

static void dump_sampled(const struct trc_reader *r)
{
	static const char *const how[] = {"?", "timer", "signal", "kernel"};
	const struct trc_sample_event_entry *e;
	size_t n = trc_reader_sample_events(r, &e);

	for (size_t i = 0; i < n; i++)
		printf("sampled %" PRIu32 " %s %s period %" PRIu64 " missing %" PRIu64 ": %s\n",
		       e[i].event, e[i].name, how[e[i].how < 4 ? e[i].how : 0], e[i].period,
		       e[i].missing_threads, e[i].note);
}

/* lost[1] is what the kernel lost. */
static void add_lost(const struct trc_columns *c, uint64_t lost[2])
{
	for (uint32_t i = 0; i < c->n_events; i++)
		if (c->kind[i] == TRC_KIND_GAP)
			lost[c->arg[TRC_KIND_GAP][2][c->rank[i]] == TRC_GAP_KERNEL] +=
				c->arg[TRC_KIND_GAP][0][c->rank[i]];
}

static int dump_events(const struct trc_reader *r)
{
	uint64_t count[TRC_KIND_MAX + 1] = {0}, lost[2] = {0};
	struct trc_error error;

	for (size_t b = 0; b < trc_reader_blocks(r); b++) {
		struct trc_columns *c;

		if (trc_reader_load(r, b, TRC_WANT_ALL, NULL, &c, &error)) {
			fprintf(stderr, "block %zu: %s\n", b, error.text);
			return 1;
		}
		for (unsigned int k = 0; k <= TRC_KIND_MAX; k++)
			count[k] += trc_reader_block(r, b)->kind_count[k];
		add_lost(c, lost);
		trc_columns_free(c);
	}
	for (unsigned int k = 0; k <= TRC_KIND_MAX; k++)
		if (count[k])
			printf("count %s %" PRIu64 "\n", trc_kind_info(k)->name, count[k]);
	printf("lost_by_kernel %" PRIu64 "\n", lost[1]);
	printf("lost %" PRIu64 "\n", lost[0]);
	return 0;
}

int main(int argc, char **argv)
{
	struct trc_error error;
	struct trc_reader *r;
	int status;

	if (argc != 2 || trc_reader_open(&r, argv[1], &error)) {
		fprintf(stderr, "trace_dump: %s\n", argc == 2 ? error.text : "FILE");
		return 1;
	}
	dump_tables(r);
	dump_sampled(r);
	status = dump_events(r);
	trc_reader_close(r);
	return status;
}
