/* unlocks_of.c - see unlocks_of.h. */
#include "unlocks_of.h"

#include <errno.h>
#include <stdlib.h>
#include "charge.h"
#include "image.h"
#include "parts.h"

static int unlocks_of_make(struct trc_unlocks_of *of, const struct trc_unlock *unlock,
			   size_t n_unlocks)
{
	size_t n, n_rows = 0;
	uint64_t key[2];

	for (size_t i = 0; i < n_unlocks; i++)
		for (unsigned int j = 0; j < trc_unlock_keys(&unlock[i], key); j++, n_rows++)
			if (!trc_index_number(&of->lock, key[j]))
				return -ENOMEM;
	n = of->lock.n;
	of->first = calloc(n + 3, sizeof(*of->first));
	of->row = calloc(n_rows + 1, sizeof(*of->row));
	if (!of->first || !of->row || n_rows > UINT32_MAX)
		return -ENOMEM;
	for (size_t i = 0; i < n_unlocks; i++)
		for (unsigned int j = 0; j < trc_unlock_keys(&unlock[i], key); j++)
			of->first[trc_index_get(&of->lock, key[j]) + 2]++;
	for (size_t i = 2; i < n + 3; i++)
		of->first[i] += of->first[i - 1];
	/* first[number + 1] moves up to where the next lock begins: then first[number] is its
	 * begin. */
	for (size_t i = 0; i < n_unlocks; i++)
		for (unsigned int j = 0; j < trc_unlock_keys(&unlock[i], key); j++)
			of->row[of->first[trc_index_get(&of->lock, key[j]) + 1]++] = (uint32_t)i;
	return 0;
}

const struct trc_unlocks_of *trc_model_unlocks_of(const struct trc_model *m)
{
	struct trc_unlocks_of **kept = &m->indexes->unlocks_of;
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(m, &n);

	if (*kept)
		return *kept;
	*kept = calloc(1, sizeof(**kept));
	if (*kept && unlocks_of_make(*kept, unlock, n)) {
		trc_unlocks_of_free(*kept);
		*kept = NULL;
	}
	return *kept;
}

void trc_unlocks_of_free(struct trc_unlocks_of *of)
{
	if (!of)
		return;
	trc_index_free(&of->lock);
	if (!of->is_mapped) {
		free(of->first);
		free(of->row);
	}
	free(of);
}

/* Of what is mapped: locks by their keys. */
static int unlocks_index_locks(struct trc_unlocks_of *of, const struct trc_unlock *unlock,
			       size_t n_locks)
{
	uint64_t key[2];
	int err = 0;

	for (uint32_t number = 1; number <= n_locks && !err; number++) {
		trc_unlock_keys(&unlock[of->row[of->first[number]]], key);
		err = trc_index_put(
			&of->lock, key[trc_index_get(&of->lock, key[0]) != TRC_INDEX_NONE], number);
	}
	of->lock.n = n_locks;
	return err;
}

int trc_unlocks_of_walk(struct trc_image *image, struct trc_model *m)
{
	const struct trc_unlocks_of *own =
		trc_image_is_read(image) ? NULL : trc_model_unlocks_of(m);
	size_t n_first = own ? own->lock.n + 3 : 0, n_row, n;
	const struct trc_unlock *unlock = trc_model_unlocks(m, &n);
	struct trc_unlocks_of of = {.is_mapped = true};

	n_row = own ? (size_t)own->first[own->lock.n + 1] + 1 : 0;
	of.first =
		trc_image_rows(image, own ? own->first : NULL, &n_first, sizeof(*of.first), NULL);
	of.row = trc_image_rows(image, own ? own->row : NULL, &n_row, sizeof(*of.row), NULL);
	if (!trc_image_is_read(image) || !of.first || !of.row)
		return 0;
	m->indexes->unlocks_of = calloc(1, sizeof(of));
	if (!m->indexes->unlocks_of)
		return -ENOMEM;
	*m->indexes->unlocks_of = of;
	return unlocks_index_locks(m->indexes->unlocks_of, unlock, n_first - 3);
}
