/* assemble_words.c - see assemble_words.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "assemble_words.h"

bool words_same(const char *a, const char *b)
{
	return *a == *b && !strcmp(a, b);
}

int words_fail(struct words *line, const char *format, ...)
{
	int n = snprintf(line->error, 256, "line %u: ", line->number);
	va_list args;

	va_start(args, format);
	vsnprintf(line->error + n, 256 - (size_t)n, format, args);
	va_end(args);
	return -EINVAL;
}

/* Undoes escapes in place from behind the opening quote; the byte after the closing one. */
static char *unquote(struct words *line, char *p, struct word *w)
{
	char *out = p;

	w->value = out;
	w->quoted = true;
	for (; *p && *p != '"'; p++) {
		char c = *p;

		if (c == '\\') {
			c = *++p;
			if (c == 'n') {
				c = '\n';
			} else if (c == 't') {
				c = '\t';
			} else if (c == 'x') {
				char hex[3] = {p[1], p[1] ? p[2] : 0, 0};

				c = (char)strtoul(hex, NULL, 16);
				p += strlen(hex);
			} else if (!c) {
				break;
			}
		}
		*out++ = c;
	}
	if (*p != '"') {
		words_fail(line, "no closing quote");
		return NULL;
	}
	w->n_bytes = (uint32_t)(out - w->value);
	*out = 0;
	return p + 1;
}

/* Cuts one word out of the line, key and all; NULL on an error. */
static char *cut_word(struct words *line, char *p, struct word *w)
{
	char *start = p;

	memset(w, 0, sizeof(*w));
	p += strcspn(p, " \t=\"#");
	if (*p == '=') {
		*p++ = 0;
		w->key = start;
		start = p;
		p += strcspn(p, " \t\"#");
	}
	if (*p == '"' && p == start) {
		p = unquote(line, p + 1, w);
		if (!p)
			return NULL;
		if (*p && !strchr(" \t#", *p)) {
			words_fail(line, "no blank after a quoted string");
			return NULL;
		}
	} else {
		w->value = start;
		w->n_bytes = (uint32_t)(p - start);
	}
	return p;
}

int words_cut(struct words *line, char *p)
{
	line->n = 0;
	for (;;) {
		struct word *w = &line->word[line->n];
		bool ends;

		p += strspn(p, " \t");
		if (!*p || *p == '#')
			return 0;
		if (line->n == WORDS_MAX)
			return words_fail(line, "too many words");
		p = cut_word(line, p, w);
		if (!p)
			return -EINVAL;
		ends = !*p || *p == '#';
		if (!w->quoted) /* else it ends further in front */
			*p = 0;
		line->n++;
		if (ends)
			return 0;
		p++;
	}
}

bool words_is_number(const char *s, uint64_t *value)
{
	bool inverted = *s == '~';
	char *end;

	errno = 0;
	*value = strtoull(s + inverted, &end, 0);
	if (inverted)
		*value = ~*value;
	return end != s + inverted && !*end && !errno;
}

int words_number(struct words *line, const struct word *w, uint64_t *value)
{
	if (!w->quoted && words_is_number(w->value, value))
		return 0;
	return words_fail(line, "not a number: %s", w->value);
}

int words_option(struct words *line, size_t from, const char *key, uint64_t *value)
{
	for (size_t i = from; i < line->n; i++)
		if (line->word[i].key && !strcmp(line->word[i].key, key))
			return words_number(line, &line->word[i], value);
	return 0;
}

static bool is_listed(const char *list, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = list; (p = strstr(p, key)); p += n)
		if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

int words_options(struct words *line, size_t from, const struct words_key *o, const char *also)
{
	int err = 0;

	for (size_t i = from; i < line->n && !err; i++) {
		const struct word *w = &line->word[i];
		const struct words_key *known = o;

		while (known->key && (!w->key || !words_same(known->key, w->key)))
			known++;
		if (known->key)
			err = words_number(line, w, known->value);
		else if (!w->key || !is_listed(also, w->key))
			err = words_fail(line, "not understood: %s", w->key ? w->key : w->value);
	}
	return err;
}

const struct word *words_text(const struct words *line, const char *key)
{
	static const struct word none = {.value = ""};

	for (size_t i = 0; i < line->n; i++)
		if (line->word[i].key && !strcmp(line->word[i].key, key))
			return &line->word[i];
	return &none;
}

size_t words_bytes(const char *hex, uint8_t *out, size_t max)
{
	size_t n = 0;

	for (; n < max && hex[0] && hex[1]; hex += 2) {
		char byte[3] = {hex[0], hex[1], 0};

		out[n++] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return n;
}
