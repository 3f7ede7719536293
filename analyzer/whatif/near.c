/* near.c - see near.h. */
#include "near.h"

#include <string.h>

enum { LETTERS_PART = 3 };

static size_t fewer_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many letters must be put in, left out or changed (Levenshtein's distance), by rows of its table. */
static size_t letters_off(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t row[TRC_NEAR_BYTES + 1];

	for (size_t j = 0; j <= n_b; j++)
		row[j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			size_t changed = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			row[j] = fewer_of(changed, fewer_of(row[j], row[j - 1]) + 1);
		}
	}
	return row[n_b];
}

static int is_behind(const char *name, size_t n, const char *wanted, size_t n_wanted)
{
	return n > n_wanted && !strcmp(name + n - n_wanted, wanted) &&
	       (name[n - n_wanted - 1] == ':' || name[n - n_wanted - 1] == '.');
}

struct trc_near trc_near_to(const char *wanted)
{
	return (struct trc_near){.wanted = wanted, .far = strlen(wanted) / LETTERS_PART + 1};
}

void trc_near_add(struct trc_near *near, const char *name)
{
	size_t n = name ? strlen(name) : 0, n_wanted = strlen(near->wanted), far;

	if (!n || !n_wanted || !strncmp(near->wanted, "0x", 2)) /* an address is like many */
		return;
	if (is_behind(name, n, near->wanted, n_wanted))
		far = 0;
	else if (n > TRC_NEAR_BYTES || n_wanted > TRC_NEAR_BYTES ||
		 (n > n_wanted ? n - n_wanted : n_wanted - n) >= near->far)
		return;
	else
		far = letters_off(near->wanted, n_wanted, name, n);
	if (far >= near->far)
		return;
	near->best = name;
	near->far = far;
}
