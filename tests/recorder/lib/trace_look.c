/* trace_look.c - see trace_look.h */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "trace_look.h"

struct trc_reader *look_open(const char *path)
{
	struct trc_reader *reader;
	struct trc_error error;

	ck_assert_msg(trc_reader_open(&reader, path, &error) == 0, "%s: %s", path, error.text);
	ck_assert_msg(trc_reader_warning(reader) == NULL, "%s: %s", path,
		      trc_reader_warning(reader));
	ck_assert_msg(trc_reader_info(reader)->complete, "%s is not complete", path);
	return reader;
}

uint64_t look_count(const struct trc_reader *reader, enum trc_kind kind)
{
	uint64_t n = 0;

	for (size_t i = 0; i < trc_reader_blocks(reader); i++)
		n += trc_reader_block(reader, i)->kind_count[kind];
	return n;
}

/* Decodes a block that has events of this kind; NULL if it has none. */
static struct trc_columns *load(const struct trc_reader *reader, size_t block, enum trc_kind kind)
{
	struct trc_columns *c;
	struct trc_error error;

	if (!trc_reader_block(reader, block)->kind_count[kind])
		return NULL;
	ck_assert_msg(trc_reader_load(reader, block, TRC_WANT_ALL, NULL, &c, &error) == 0, "%s",
		      error.text);
	return c;
}

bool look_message(const struct trc_reader *reader, const char *message)
{
	bool found = false;

	for (size_t i = 0; i < trc_reader_blocks(reader) && !found; i++) {
		struct trc_columns *c = load(reader, i, TRC_KIND_LOG);
		uint32_t n = trc_reader_block(reader, i)->kind_count[TRC_KIND_LOG];

		for (uint32_t k = 0; c && k < n && !found; k++) {
			uint32_t off = c->text_off[TRC_KIND_LOG][k];
			uint32_t n_bytes = c->text_off[TRC_KIND_LOG][k + 1] - off;

			found = n_bytes == strlen(message) &&
				!memcmp(c->text[TRC_KIND_LOG] + off, message, n_bytes);
		}
		trc_columns_free(c);
	}
	return found;
}

const char *look_info(const struct trc_reader *reader, const char *key)
{
	const char *value = trc_reader_info_get(reader, key);

	return value ? value : "";
}

uint64_t look_lost(const struct trc_reader *reader)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < trc_reader_blocks(reader); i++) {
		struct trc_columns *c = load(reader, i, TRC_KIND_GAP);
		uint32_t n = trc_reader_block(reader, i)->kind_count[TRC_KIND_GAP];

		for (uint32_t k = 0; c && k < n; k++)
			lost += c->arg[TRC_KIND_GAP][0][k];
		trc_columns_free(c);
	}
	return lost;
}

static bool is_name(const struct trc_reader *reader, uint64_t id, const char *name)
{
	uint32_t n_bytes;
	const char *bytes = trc_reader_string(reader, (uint32_t)id, &n_bytes);

	return bytes && n_bytes == strlen(name) && !memcmp(bytes, name, n_bytes);
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The strings with these names: id[i] is that of names[i], 0 if there is none. */
static void find_ids(const struct trc_reader *reader, const char *const *names,
		     unsigned int n_names, uint64_t *id)
{
	for (unsigned int i = 0; i < n_names; i++) {
		id[i] = 0;
		for (size_t s = 1; s < trc_reader_strings(reader) && !id[i]; s++)
			if (is_name(reader, s, names[i]))
				id[i] = s;
	}
}

void look_counters(const struct trc_reader *reader, const char *const *names, unsigned int n_names,
		   struct look_counters *found)
{
	size_t room = (look_count(reader, TRC_KIND_COUNTER) + 1) * sizeof(int64_t);
	uint64_t id[LOOK_COUNTERS_MAX];

	ck_assert_uint_le(n_names, LOOK_COUNTERS_MAX);
	memset(found, 0, sizeof(*found));
	find_ids(reader, names, n_names, id);
	for (unsigned int k = 0; k < n_names; k++)
		ck_assert_ptr_nonnull(found->value[k] = malloc(room));
	for (size_t i = 0; i < trc_reader_blocks(reader); i++) {
		struct trc_columns *c = load(reader, i, TRC_KIND_COUNTER);
		uint32_t here = trc_reader_block(reader, i)->kind_count[TRC_KIND_COUNTER];

		for (uint32_t row = 0; c && row < here; row++)
			for (unsigned int k = 0; k < n_names; k++)
				if (id[k] && c->arg[TRC_KIND_COUNTER][0][row] == id[k])
					found->value[k][found->n[k]++] =
						(int64_t)c->arg[TRC_KIND_COUNTER][1][row];
		trc_columns_free(c);
	}
	for (unsigned int k = 0; k < n_names; k++)
		qsort(found->value[k], found->n[k], sizeof(int64_t), ascending);
}

void look_counters_free(struct look_counters *found)
{
	for (unsigned int k = 0; k < LOOK_COUNTERS_MAX; k++)
		free(found->value[k]);
}

extern char **environ;

void look_check(const char *path)
{
	const char *top = getenv("top_builddir");
	char tool[512], said[512], text[2048] = "";
	char *const arguments[] = {tool, "--check", (char *)path, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int fd, status;
	ssize_t n;

	snprintf(tool, sizeof(tool), "%s/analyzer/trace-analyze", top ? top : ".");
	snprintf(said, sizeof(said), "%s.check", path);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	ck_assert_int_eq(posix_spawn(&pid, tool, &actions, NULL, arguments, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	fd = open(said, O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	unlink(said);
	ck_assert_msg(status == 0, "trace-analyze --check %s: status %d\n%s", path, status, text);
}
