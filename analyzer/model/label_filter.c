/* label_filter.c - see label_filter.h. */
#include "label_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "array.h"
#include "analyzer/text/line.h"

enum { KEYS_TOLD = 8, KEY_WIDTH = 24 };

struct condition {
	const char *key;
	const char *value; /* NULL: any */
};

struct trc_label_filter {
	struct trc_array conditions; /* struct condition */
	struct trc_pool texts;
	char *text;
};

/* One part of a condition, up to an unescaped character of `ends`, without its backslashes; *text
 * moves to what ended it.  NULL without memory. */
static const char *part_take(struct trc_pool *pool, const char **text, const char *ends)
{
	char *part = trc_pool_take(pool, strlen(*text) + 1), *to = part;
	const char *from = *text;

	if (!part)
		return NULL;
	for (; *from && !strchr(ends, *from); from++) {
		if (*from == '\\' && from[1])
			from++;
		*to++ = *from;
	}
	*to = '\0';
	*text = from;
	return part;
}

static int condition_take(struct trc_label_filter *f, const char **text, struct trc_error *error)
{
	struct condition *c = trc_array_add(&f->conditions);

	if (!c)
		return -ENOMEM;
	c->key = part_take(&f->texts, text, "=,");
	if (!c->key)
		return -ENOMEM;
	if (!*c->key) {
		snprintf(error->text, sizeof(error->text),
			 "a label filter is key=value or key, more of them separated by commas");
		return -EINVAL;
	}
	if (**text == '=') {
		++*text;
		c->value = part_take(&f->texts, text, ",");
		if (!c->value)
			return -ENOMEM;
	}
	return 0;
}

static int text_append(struct trc_label_filter *f, const char *text)
{
	size_t n = f->text ? strlen(f->text) : 0;
	char *longer = realloc(f->text, n + strlen(text) + 2);

	if (!longer)
		return -ENOMEM;
	f->text = longer;
	sprintf(longer + n, "%s%s", n ? "," : "", text);
	return 0;
}

static int conditions_take(struct trc_label_filter *f, const char *text, struct trc_error *error)
{
	const char *at = text;
	int err = condition_take(f, &at, error);

	while (!err && *at == ',') {
		at++;
		err = condition_take(f, &at, error);
	}
	return err ? err : text_append(f, text);
}

int trc_label_filter_add(struct trc_label_filter **filter, const char *text,
			 struct trc_error *error)
{
	struct trc_label_filter *f = *filter ? *filter : calloc(1, sizeof(*f));
	size_t n_before;
	int err;

	if (!f)
		return -ENOMEM;
	f->conditions.row_bytes = sizeof(struct condition);
	n_before = f->conditions.n;
	err = conditions_take(f, text, error);
	if (!err)
		*filter = f;
	else if (!*filter)
		trc_label_filter_free(f);
	else
		f->conditions.n = n_before;
	if (err == -ENOMEM)
		snprintf(error->text, sizeof(error->text), "out of memory");
	return err;
}

void trc_label_filter_free(struct trc_label_filter *f)
{
	if (!f)
		return;
	trc_array_free(&f->conditions);
	trc_pool_free(&f->texts);
	free(f->text);
	free(f);
}

/* The value as it is shown, or of a number the number alone. */
static bool value_is(const struct trc_set_label *label, const char *value)
{
	char number[24];

	if (!strcmp(label->value, value))
		return true;
	if (!label->is_number)
		return false;
	snprintf(number, sizeof(number), "%" PRId64, label->number);
	return !strcmp(number, value);
}

static bool condition_holds(const struct condition *c, const struct trc_set_label *label, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(label[i].key, c->key))
			return !c->value || value_is(&label[i], c->value);
	return false;
}

bool trc_label_filter_match(const struct trc_label_filter *filter, const struct trc_model *m,
			    uint32_t labels)
{
	const struct trc_set_label *label;
	const struct condition *c;
	size_t n;

	if (!filter)
		return true;
	label = trc_model_label_set(m, labels, &n);
	c = filter->conditions.row;
	for (size_t i = 0; i < filter->conditions.n; i++)
		if (!condition_holds(&c[i], label, n))
			return false;
	return true;
}

bool trc_label_filter_any(const struct trc_label_filter *filter, const struct trc_model *m)
{
	size_t n;
	const struct trc_set_label *label = trc_model_labels(m, &n);

	for (size_t i = 0; filter && i < n; i++)
		if (trc_label_filter_match(filter, m, label[i].labels))
			return true;
	return !filter;
}

/* No earlier row has this one's key. */
static bool is_first_of_key(const struct trc_set_label *label, size_t row)
{
	size_t i = 0;

	while (strcmp(label[i].key, label[row].key) != 0)
		i++;
	return i == row;
}

void trc_label_filter_tell_keys(struct trc_line *line, const struct trc_model *m)
{
	size_t n, n_keys = 0;
	const struct trc_set_label *label = trc_model_labels(m, &n);

	trc_line_add(line, n ? "the keys of its labels are" : "the trace has no labels");
	for (size_t i = 0; i < n && n_keys <= KEYS_TOLD; i++) {
		if (!is_first_of_key(label, i))
			continue;
		trc_line_add(line, n_keys ? ", " : " ");
		if (n_keys++ < KEYS_TOLD)
			trc_line_data(line, label[i].key, KEY_WIDTH);
		else
			trc_line_add(line, "...");
	}
}

const char *trc_label_filter_text(const struct trc_label_filter *filter)
{
	return filter->text;
}
