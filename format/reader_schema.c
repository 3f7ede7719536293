/* reader_schema.c - the kinds of events: this library's kinds, and the kinds that only the file
 * describes. */
#include <errno.h>
#include <stdio.h>
#include "reader_private.h"

enum { NAME_BYTES_MAX = 63 };

void trc_reader_init_schema(struct trc_reader *r)
{
	for (unsigned int k = 0; k <= TRC_KIND_MAX; k++)
		r->kind[k] = *trc_kind_info(k);
	for (unsigned int i = 1; i < TRC_REASON_COUNT; i++)
		r->reason[i] = trc_reason_name(i);
}

/* A name as SQL can use it: a letter, then letters, digits, underscores. */
static bool name_is_good(const uint8_t *name, uint64_t n_bytes)
{
	if (!n_bytes || n_bytes > NAME_BYTES_MAX || (name[0] >= '0' && name[0] <= '9'))
		return false;
	for (uint64_t i = 0; i < n_bytes; i++)
		if (!(name[i] >= 'a' && name[i] <= 'z') && !(name[i] >= '0' && name[i] <= '9') &&
		    name[i] != '_')
			return false;
	return true;
}

static int take_name(struct trc_cursor *c, char name[NAME_BYTES_MAX + 1])
{
	uint64_t n_bytes = trc_cursor_varint(c);
	const uint8_t *bytes = trc_cursor_take(c, n_bytes);

	if (!bytes || !name_is_good(bytes, n_bytes))
		return -EBADMSG;
	memcpy(name, bytes, n_bytes);
	name[n_bytes] = 0;
	return 0;
}

static const char *schema_keep_name(struct trc_reader *r, const char *name)
{
	size_t n_bytes = strlen(name) + 1;
	uint8_t *copy = trc_reader_keep(r, n_bytes);

	return copy ? memcpy(copy, name, n_bytes) : NULL;
}

static int contradiction(struct trc_error *error, unsigned int kind, const char *theirs,
			 const char *ours)
{
	snprintf(error->text, sizeof(error->text),
		 "in this file, event kind %u has \"%s\" where this trc knows \"%s\"", kind, theirs,
		 ours);
	return -ENOTSUP;
}

/* One argument of kind k, the a-th in the file. */
static int parse_arg(struct trc_reader *r, struct trc_cursor *c, unsigned int k, unsigned int a,
		     bool known, struct trc_error *error)
{
	struct trc_kind_info *info = &r->kind[k];
	uint64_t type = trc_cursor_varint_max(c, UINT8_MAX);
	char name[NAME_BYTES_MAX + 1];

	if (take_name(c, name) < 0 || !type)
		return -EBADMSG;
	if (known) {
		if (a < info->n_args && (strcmp(name, info->arg[a].name) ||
					 type != trc_arg_file_type(info->arg[a].type)))
			return contradiction(error, k, name, info->arg[a].name);
		return 0;
	}
	if (a >= TRC_ARGS_MAX)
		return 0;
	info->arg[a].type = type < TRC_ARG_FILE_TYPE_COUNT ? (enum trc_arg_type)type : TRC_ARG_U64;
	info->arg[a].doc = "";
	info->arg[a].name = schema_keep_name(r, name);
	info->n_args = (uint8_t)(a + 1);
	return info->arg[a].name ? 0 : -ENOMEM;
}

static int schema_kind_parse(struct trc_reader *r, struct trc_cursor *c, struct trc_error *error)
{
	uint64_t k = trc_cursor_varint_max(c, TRC_KIND_MAX);
	char name[NAME_BYTES_MAX + 1];
	uint64_t n_args;
	bool known;
	int err;

	if (take_name(c, name) < 0 || !k)
		return -EBADMSG;
	n_args = trc_cursor_varint_max(c, UINT8_MAX);
	known = r->kind[k].name;
	if (known && strcmp(name, r->kind[k].name))
		return contradiction(error, (unsigned int)k, name, r->kind[k].name);
	if (!known) {
		r->kind[k].name = schema_keep_name(r, name);
		r->kind[k].doc = "";
		if (!r->kind[k].name)
			return -ENOMEM;
	}
	for (unsigned int a = 0; a < n_args; a++) {
		err = parse_arg(r, c, (unsigned int)k, a, known, error);
		if (err)
			return err;
	}
	return 0;
}

static int parse_reason(struct trc_reader *r, struct trc_cursor *c)
{
	uint64_t reason = trc_cursor_varint(c);
	char name[NAME_BYTES_MAX + 1];

	if (take_name(c, name) < 0)
		return -EBADMSG;
	if (reason > UINT8_MAX || r->reason[reason])
		return 0;
	r->reason[reason] = schema_keep_name(r, name);
	return r->reason[reason] ? 0 : -ENOMEM;
}

int trc_reader_parse_schema(struct trc_reader *r, struct trc_cursor *c, struct trc_error *error)
{
	uint64_t n;
	int err = 0;

	if (r->has_schema) /* every generation has it */
		return 0;
	n = trc_cursor_varint_max(c, TRC_KIND_MAX);
	for (uint64_t i = 0; i < n && !err; i++)
		err = schema_kind_parse(r, c, error);
	if (err)
		return err;
	n = trc_cursor_varint_max(c, UINT16_MAX);
	for (uint64_t i = 0; i < n && !err; i++)
		err = parse_reason(r, c);
	r->has_schema = !err;
	return err ? err : c->bad ? -EBADMSG : 0;
}

const struct trc_kind_info *trc_reader_kind(const struct trc_reader *r, unsigned int kind)
{
	return &r->kind[kind <= TRC_KIND_MAX ? kind : 0];
}

const char *trc_reader_reason_name(const struct trc_reader *r, unsigned int reason)
{
	return reason <= UINT8_MAX && r->reason[reason] ? r->reason[reason] : "?";
}
