/* change.c - see change.h. */
#include "change.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUOTED_MAX = 100 }; /* of what is quoted in an error */
#define AGAIN "changes what a change before it does: give one of them"

/* Bytes of the text that is read. */
struct part {
	const char *at;
	size_t n;
};

static int change_refuse(struct trc_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int change_refuse(struct trc_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -EINVAL;
}

static int refuse_part(struct trc_error *error, const struct part *one, const char *why)
{
	return change_refuse(error, "'%.*s' %s", (int)(one->n < QUOTED_MAX ? one->n : QUOTED_MAX),
			     one->at, why);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static void trim(struct part *part)
{
	while (part->n && is_blank(*part->at)) {
		part->at++;
		part->n--;
	}
	while (part->n && is_blank(part->at[part->n - 1]))
		part->n--;
}

/* Takes a word and the blanks behind it. */
static bool take_word(struct part *part, const char *word)
{
	size_t n = strlen(word);

	if (part->n < n || memcmp(part->at, word, n) != 0 ||
	    (part->n > n && !is_blank(part->at[n])))
		return false;
	part->at += n;
	part->n -= n;
	trim(part);
	return true;
}

static bool part_number(const struct part *part, double *number)
{
	char text[32], *end;

	if (!part->n || part->n >= sizeof(text) || *part->at < '0' || *part->at > '9')
		return false;
	memcpy(text, part->at, part->n);
	text[part->n] = '\0';
	*number = strtod(text, &end);
	return !*end && isfinite(*number);
}

/* Splits "NAME * FACTOR". */
static int take_factor(struct trc_change *change, const struct part *one, struct part *name,
		       struct trc_error *error)
{
	size_t star = name->n;
	struct part factor;

	while (star && name->at[star - 1] != '*')
		star--;
	if (!star)
		return refuse_part(error, one, "has no factor, such as '* 0.5'");
	factor = (struct part){name->at + star, name->n - star};
	name->n = star - 1;
	trim(&factor);
	trim(name);
	if (!part_number(&factor, &change->factor) || change->factor > TRC_CHANGE_FACTOR_MAX)
		return refuse_part(error, one, "has a factor that is no number from 0 to 100");
	return 0;
}

static int take_procs(struct trc_change *change, const struct part *one, const struct part *count,
		      struct trc_error *error)
{
	double n;

	if (!part_number(count, &n) || n < 1 || n > TRC_CHANGE_PROCS_MAX || n != floor(n))
		return refuse_part(error, one, "does not say how many, from 1 to 65536");
	change->procs = (uint32_t)n;
	return 0;
}

static int parse_one(struct trc_change *change, const struct part *one, struct trc_error *error)
{
	struct part rest = *one;
	int err = 0;

	if (take_word(&rest, "procs")) {
		change->kind = TRC_CHANGE_PROCS;
		return take_procs(change, one, &rest, error);
	}
	if (take_word(&rest, "no")) {
		change->kind = TRC_CHANGE_NO_LOCK;
		if (!take_word(&rest, "lock"))
			return refuse_part(error, one, "is no change; only a lock can be left out");
	} else if (take_word(&rest, "lock")) {
		change->kind = TRC_CHANGE_LOCK;
		err = take_factor(change, one, &rest, error);
	} else if (take_word(&rest, "function")) {
		change->kind = TRC_CHANGE_FUNCTION;
		err = take_factor(change, one, &rest, error);
	} else {
		return refuse_part(error, one,
				   "is no change: 'lock NAME * 0.5', 'function NAME * 0.5', "
				   "'no lock NAME' or 'procs N'");
	}
	if (err)
		return err;
	if (!rest.n || rest.n >= sizeof(change->name))
		return refuse_part(error, one, rest.n ? "has too long a name" : "has no name");
	memcpy(change->name, rest.at, rest.n);
	change->name[rest.n] = '\0';
	return 0;
}

/* Two changes of one thing: nothing says which of them is meant. */
static bool is_again(const struct trc_changes *changes, const struct trc_change *change)
{
	for (size_t i = 0; i + 1 < changes->n; i++)
		if (changes->change[i].kind == change->kind &&
		    !strcmp(changes->change[i].name, change->name))
			return true;
	return false;
}

int trc_changes_parse(struct trc_changes *changes, const char *text, struct trc_error *error)
{
	int err;

	changes->n = 0;
	for (const char *at = text;;) {
		size_t n = strcspn(at, ";");
		struct part one = {at, n};

		trim(&one);
		if (!one.n && changes->n && !at[n]) /* what ends with a ";" */
			return 0;
		if (!one.n)
			return change_refuse(error,
					     "a change is empty: 'lock NAME * 0.5', for example");
		if (changes->n == TRC_CHANGES_MAX)
			return change_refuse(error, "more than %d changes at once",
					     TRC_CHANGES_MAX);
		changes->change[changes->n] = (struct trc_change){.factor = 1};
		err = parse_one(&changes->change[changes->n++], &one, error);
		if (err)
			return err;
		if (is_again(changes, &changes->change[changes->n - 1]))
			return refuse_part(error, &one, AGAIN);
		if (!at[n])
			return 0;
		at += n + 1;
	}
}
