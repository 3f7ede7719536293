/*
 * fuzz_reader.c - the reader over any bytes.  As a libFuzzer target (make fuzz), and as a program
 * that mutates a few traces by itself, always in the same way, in make check.
 *
 * Checksums would keep a fuzzer out: each input is repaired first, section by section, so that
 * what it damages is looked at.  What the reader hands out must keep its promises.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "format/reader.h"
#include "assemble.h"
#include "repair.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

static void promise(bool kept, const char *what)
{
	if (kept)
		return;
	fprintf(stderr, "the reader broke a promise: %s\n", what);
	abort();
}

static bool serial_is_known(const struct trc_reader *r, uint64_t serial)
{
	for (size_t i = 0; i < trc_reader_threads(r); i++)
		if (trc_reader_thread(r, i)->serial == serial)
			return true;
	return !serial;
}

/* reader:D4, and that every byte that is pointed to is there. */
static uint64_t check_argument(const struct trc_reader *r, enum trc_arg_type type,
			       const uint64_t *value, uint32_t n)
{
	const struct trc_label *label;
	struct trc_stack_view view;
	uint32_t n_bytes, n_labels;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += value[i];
		if (!value[i])
			continue;
		if (type == TRC_ARG_STACK)
			promise(!trc_reader_stack(r, (uint32_t)value[i], &view), "a stack");
		else if (type == TRC_ARG_STRING)
			promise(trc_reader_string(r, (uint32_t)value[i], &n_bytes), "a string");
		else if (type == TRC_ARG_THREAD)
			promise(serial_is_known(r, value[i]), "a thread");
		else if (type == TRC_ARG_LABELS)
			promise(!trc_reader_label_set(r, (uint32_t)value[i], &label, &n_labels),
				"a label set");
	}
	return sum;
}

static uint64_t check_kind(const struct trc_reader *r, const struct trc_columns *c, unsigned int k,
			   uint32_t n)
{
	const struct trc_kind_info *info = trc_reader_kind(r, k);
	uint64_t sum = 0;

	for (unsigned int a = 0; a < info->n_args; a++)
		if (c->arg[k] && c->arg[k][a])
			sum += check_argument(r, info->arg[a].type, c->arg[k][a], n);
	for (uint32_t i = 0; c->text[k] && i < n; i++) {
		promise(c->text_off[k][i] <= c->text_off[k][i + 1], "text in order");
		for (uint32_t b = c->text_off[k][i]; b < c->text_off[k][i + 1]; b++)
			sum += (uint8_t)c->text[k][b];
	}
	return sum;
}

static uint64_t check_block(const struct trc_reader *r, size_t block)
{
	const struct trc_block_info *info = trc_reader_block(r, block);
	struct trc_error error;
	struct trc_columns *c;
	uint64_t sum = 0;

	if (trc_reader_load(r, block, TRC_WANT_ALL, NULL, &c, &error) < 0) {
		promise(strlen(error.text) > 0, "an error has a text");
		return 0;
	}
	promise(c->n_events == info->n_events, "the number of events");
	for (uint32_t i = 0; i < c->n_events; i++) {
		promise(!i || c->time_ns[i] >= c->time_ns[i - 1], "time never goes back");
		promise(c->proc[i] < trc_reader_info(r)->n_procs, "a proc");
		promise(c->rank[i] < info->kind_count[c->kind[i]], "a rank");
		promise(!i || c->thread[i] == c->thread[i - 1] || serial_is_known(r, c->thread[i]),
			"a thread");
	}
	for (unsigned int k = 0; k <= TRC_KIND_MAX; k++)
		sum += check_kind(r, c, k, info->kind_count[k]);
	trc_columns_free(c);
	return sum;
}

static uint64_t check_ends(const struct trc_reader *r)
{
	const struct trc_status_entry *status;
	const struct trc_open_region_entry *open;
	const struct trc_coverage_entry *coverage;
	size_t n = trc_reader_status(r, &status);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += status[i].thread + status[i].stack;
	n = trc_reader_open_regions(r, &open);
	for (size_t i = 0; i < n; i++)
		sum += open[i].thread + open[i].since;
	n = trc_reader_coverage(r, &coverage);
	for (size_t i = 0; i < n; i++) {
		promise(coverage[i].source <= TRC_SOURCE_KERNEL, "a source");
		promise(coverage[i].proc == UINT32_MAX ||
				coverage[i].proc < trc_reader_info(r)->n_procs,
			"a proc that is covered");
		promise(coverage[i].from <= coverage[i].to, "coverage in order");
		sum += coverage[i].held;
	}
	return sum;
}

/* Keys rise, and the last byte of each text is there. */
static uint64_t check_label_set(const struct trc_reader *r, uint32_t id)
{
	const struct trc_label *l;
	uint64_t sum = 0;
	uint32_t n;

	if (trc_reader_label_set(r, id, &l, &n) < 0)
		return 0;
	promise(n <= TRC_LABELS_MAX, "a number of labels");
	for (uint32_t i = 0; i < n; i++) {
		promise(l[i].key_bytes > 0, "a key");
		promise(!i || trc_label_order(&l[i - 1], &l[i]) < 0, "keys that rise");
		sum += (uint8_t)l[i].key[l[i].key_bytes - 1] + (uint64_t)l[i].number;
		if (l[i].value_bytes)
			sum += (uint8_t)l[i].value[l[i].value_bytes - 1];
	}
	return sum;
}

static uint64_t check_samples_and_labels(const struct trc_reader *r)
{
	const struct trc_sample_event_entry *e;
	const struct trc_thread_labels_entry *l;
	const struct trc_label *label;
	size_t n = trc_reader_sample_events(r, &e);
	uint32_t n_labels;
	uint64_t sum = 0;

	for (uint32_t id = 0; id < trc_reader_label_sets(r); id++)
		sum += check_label_set(r, id);
	for (size_t i = 0; i < n; i++) {
		promise(e[i].event > 0, "an event's number");
		sum += strlen(e[i].name) + strlen(e[i].unit) + strlen(e[i].note);
	}
	n = trc_reader_thread_labels(r, &l);
	for (size_t i = 0; i < n; i++)
		promise(!l[i].labels || !trc_reader_label_set(r, l[i].labels, &label, &n_labels),
			"a thread's label set");
	return sum;
}

static uint64_t check_fibers(const struct trc_reader *r)
{
	const struct trc_thread_fiber_entry *f;
	size_t n = trc_reader_thread_fibers(r, &f);
	uint64_t sum = 0;
	uint32_t n_bytes;

	for (size_t i = 0; i < n; i++) {
		promise(!f[i].name || trc_reader_string(r, f[i].name, &n_bytes), "a fiber's name");
		sum += f[i].thread + f[i].fiber;
	}
	return sum;
}

static uint64_t check_tables(const struct trc_reader *r)
{
	uint64_t sum = check_ends(r) + check_samples_and_labels(r) + check_fibers(r);
	const char *key, *value;
	struct trc_stack_view view;
	uint32_t n_bytes;

	for (size_t i = 0; i < trc_reader_info_count(r); i++) {
		trc_reader_info_at(r, i, &key, &value);
		sum += strlen(key) + strlen(value);
	}
	for (uint32_t id = 0; id < trc_reader_strings(r); id++) {
		const char *string = trc_reader_string(r, id, &n_bytes);

		if (string && n_bytes)
			sum += (uint8_t)string[0] + (uint8_t)string[n_bytes - 1];
	}
	for (uint32_t id = 0; id < trc_reader_stacks(r); id++)
		if (!trc_reader_stack(r, id, &view) && view.n_frames)
			sum += view.frame[view.n_frames - 1];
	for (uint32_t id = 0; id < trc_reader_modules(r); id++)
		if (trc_reader_module(r, id))
			sum += strlen(trc_reader_module(r, id)->path);
	for (size_t i = 0; i < trc_reader_threads(r); i++) {
		const struct trc_thread_entry *t = trc_reader_thread(r, i);

		promise(!i || t->serial > trc_reader_thread(r, i - 1)->serial, "sorted threads");
		if (t->name_bytes)
			sum += (uint8_t)t->name[t->name_bytes - 1];
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	uint8_t *copy = malloc(n_bytes + !n_bytes);
	struct trc_error error = {""};
	struct trc_reader *r;
	uint64_t sum;

	if (!copy)
		return 0;
	if (n_bytes)
		memcpy(copy, bytes, n_bytes);
	trc_repair(copy, n_bytes);
	if (trc_reader_open_memory(&r, copy, n_bytes, &error) < 0) {
		promise(strlen(error.text) > 0, "an error has a text");
	} else {
		sum = check_tables(r);
		for (size_t i = 0; i < trc_reader_blocks(r); i++)
			sum += check_block(r, i);
		__asm__ volatile("" : : "r"(sum)); /* everything has to be read for it */
		trc_reader_close(r);
	}
	free(copy);
	return 0;
}

/* --- the program --- */
#ifndef TRC_LIBFUZZER

static const char *const seeds[] = {
	"",
	"thread 1 tid=5 name=\"main\"\nstack s 0x401000 0x402000 0x7fff12345678\n"
	"module m path=\"/bin/x\" start=0x400000 limit=0x500000 build_id=aabbcc\n"
	"@1000 park reason=mutex object=0x10 holder=2 stack=s\n"
	"@2000 resume reason=mutex object=0x10\n@2100 wait reason=read since=1500 stack=s\n"
	"@2200 log task=1 category=\"net\" message=\"hello\"\n@2300 log message=\"\"\n"
	"@2300 proc=1 source=overflow counter name=\"n\" value=-1\n"
	"@2400 proc=2 source=kernel proc_stop preempted=1\ngeneration\n"
	"@2500 region_begin task=3 type=\"parse\"\nstatus thread=1 reason=read stack=s\n"
	"open_region thread=1 task=3 type=\"parse\" since=2500\n"
	"coverage proc=0 held=900 from=950 to=2600\ncoverage source=overflow to=2600\n"
	"labels few size=-5:kB\nlabels many a=\"\" size=5 tenant=\"acme\"\n"
	"@2700 labels labels=many before=few\n"
	"@2800 sample event=1 value=7 period=7 stack=s labels=many\n"
	"@2900 samples_lost event=1 lost_samples=3 cause=throttled\n"
	"@2910 alloc sample=1 address=0x5000 bytes=64 period=524288 stack=s labels=many\n"
	"@2920 free sample=1 address=0x5000 bytes=64 period=524288\n"
	"@2930 thread=1 fiber_create fiber=7 name=\"session\" stack=s\n"
	"@2940 thread=1 fiber_switch fiber=7 name=\"session\" reason=user object=0x10 stack=s\n"
	"@2950 thread=2 fiber_ready fiber=7 stack=s\n@2960 thread=2 fiber_end fiber=8\n"
	"sample_event 1 how=kernel frequency=997 note=\"n\"\nsample_event 2\n"
	"thread_labels thread=1 labels=few\nthread_labels thread=2\n"
	"thread_fiber thread=1 fiber=7 name=\"session\"\nthread_fiber thread=2\n",
};

static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t random_next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* A trace with blocks of many events, so that every coding occurs. */
static char *long_seed(void)
{
	char *text = malloc(1 << 20), *p = text;

	for (int i = 0; text && i < 3000; i++) {
		p += sprintf(p, "@%d thread=%d park reason=%d object=%llu holder=%d\n", i * 13,
			     1 + i % 3, 1 + i / 1000, (unsigned long long)random_next() >> i % 60,
			     i % 5);
		p += sprintf(p, "@%d wait reason=read object=%d since=%llu\n", i * 13, i,
			     (unsigned long long)(random_next() % 1000000));
	}
	return text;
}

static void mutate(uint8_t *bytes, size_t *n_bytes)
{
	static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff};

	for (uint64_t n = 1 + random_next() % 4; n && *n_bytes; n--) {
		size_t at = random_next() % *n_bytes;
		size_t to = random_next() % *n_bytes;

		switch (random_next() % 6) {
		case 0:
			bytes[at] ^= (uint8_t)(1u << random_next() % 8);
			break;
		case 1:
			bytes[at] = edges[random_next() % sizeof(edges)];
			break;
		case 2:
			bytes[at] = (uint8_t)random_next();
			break;
		case 3: /* some bytes again, elsewhere */
			memmove(bytes + to, bytes + at,
				(random_next() % 64) % (*n_bytes - (to > at ? to : at)));
			break;
		case 4:
			bytes[at] = (uint8_t)(bytes[at] + (random_next() & 1 ? 1 : -1));
			break;
		case 5:
			if (random_next() % 8 == 0)
				*n_bytes = at;
			break;
		}
	}
}

static void fuzz_seed(const char *text, int rounds)
{
	uint8_t *bytes, *copy;
	size_t n_bytes;
	char error[256];

	if (trc_assemble(text, &bytes, &n_bytes, error) < 0) {
		fprintf(stderr, "%s\n", error);
		exit(1);
	}
	copy = malloc(n_bytes);
	for (int i = 0; copy && i < rounds; i++) {
		size_t n = n_bytes;

		memcpy(copy, bytes, n);
		mutate(copy, &n);
		LLVMFuzzerTestOneInput(copy, n);
	}
	free(copy);
	free(bytes);
}

/* Writes the seeds as files below `directory`, for libFuzzer to begin with. */
static int write_seeds(const char *directory, const char *large)
{
	char path[4096], error[256];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/seed%d.trc", directory, i);
		if (trc_assemble_file(i < 2 ? seeds[i] : large, path, error) < 0) {
			fprintf(stderr, "%s\n", error);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	char *large = long_seed();
	int status = 0;

	if (!large)
		return 1;
	if (argc > 2 && !strcmp(argv[1], "--seeds")) {
		status = write_seeds(argv[2], large);
	} else {
		int rounds = argc > 1 ? atoi(argv[1]) : 6000;

		fuzz_seed(seeds[0], rounds / 4);
		fuzz_seed(seeds[1], 4 * rounds);
		fuzz_seed(large, rounds / 4);
	}
	free(large);
	return status;
}
#endif
