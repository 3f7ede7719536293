/*
 * ring_trace.c - a ring file in lines that a shell test can look for, and as a trace.
 *
 *   ring_trace RING [TRACE]
 *
 *   owner alive|dead|unknown
 *   crash SIGNAL code CODE address ADDRESS tid TID          (of a complete crash block)
 *   trigger NUMBER TEXT                                     (those still in the list)
 *   triggers N
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "recorder/drain/ring_file.h"
#include "recorder/drain/snapshot.h"

static void say_crash(const struct trc_crash *crash)
{
	if (crash->state == TRC_CRASH_COMPLETE)
		printf("crash %d code %d address 0x%" PRIx64 " tid %" PRIu32 " stack %s\n",
		       crash->signal, crash->code, crash->address, crash->tid,
		       crash->stack ? "known" : "none");
	else
		puts("no crash");
}

static void say_triggers(const struct trc_shared *shared)
{
	for (int i = 0; i < TRC_TRIGGERS_MAX; i++) {
		const struct trc_trigger *t = &shared->trigger[i];
		char text[TRC_TRIGGER_WORDS * 8];
		uint32_t n_bytes = t->n_bytes;

		if (!t->number || n_bytes > sizeof(text))
			continue;
		memcpy(text, (const void *)t->text, sizeof(text));
		printf("trigger %" PRIu64 " %.*s\n", t->number, (int)n_bytes, text);
	}
	printf("triggers %" PRIu64 "\n", shared->n_triggers);
}

static int put(void *context, const void *bytes, size_t n_bytes)
{
	return fwrite(bytes, 1, n_bytes, context) == n_bytes ? 0 : -5;
}

static int write_trace(const struct trc_ring_file *f, const char *path, char *error, size_t n_bytes)
{
	struct trc_snapshot_options options = {.window_ns = UINT64_MAX, .all = true};
	FILE *out = fopen(path, "w");
	int err;

	if (!out) {
		snprintf(error, n_bytes, "cannot be written");
		return -1;
	}
	err = trc_ring_file_to_trace(f, &options, put, out, error, n_bytes);
	return fclose(out) ? -1 : err;
}

int main(int argc, char **argv)
{
	static const char *const owners[] = {"alive", "dead", "unknown"};
	static struct trc_ring_file f;
	char error[256] = "";
	int err;

	if (argc < 2)
		return 2;
	err = trc_ring_file_open(&f, argv[1], error, sizeof(error));
	if (!err) {
		printf("owner %s\n", owners[f.owner]);
		say_crash(&f.control->crash);
		say_triggers(f.control);
		printf("threads without a slot %u\n", f.control->slots_full);
		if (argc > 2)
			err = write_trace(&f, argv[2], error, sizeof(error));
	}
	if (err)
		fprintf(stderr, "%s: %s\n", argv[1], error);
	trc_ring_file_close(&f);
	return err != 0;
}
