/* unlocks_of.c - see unlocks_of.h. */
#include "unlocks_of.h"

#include <errno.h>
#include <stdlib.h>
#include "parts.h"

static int make(struct trc_unlocks_of *of, const struct trc_unlock *unlock, size_t n_unlocks)
{
	size_t n;

	of->row = calloc(n_unlocks + 1, sizeof(*of->row));
	for (size_t i = 0; of->row && i < n_unlocks; i++)
		if (!trc_index_number(&of->lock, unlock[i].object))
			return -ENOMEM;
	n = of->lock.n;
	of->first = calloc(n + 3, sizeof(*of->first));
	if (!of->first || !of->row)
		return -ENOMEM;
	for (size_t i = 0; i < n_unlocks; i++)
		of->first[trc_index_get(&of->lock, unlock[i].object) + 2]++;
	for (size_t i = 2; i < n + 3; i++)
		of->first[i] += of->first[i - 1];
	/* first[number + 1] moves up to where the next lock begins: then first[number] is its
	 * begin. */
	for (size_t i = 0; i < n_unlocks; i++)
		of->row[of->first[trc_index_get(&of->lock, unlock[i].object) + 1]++] = (uint32_t)i;
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
	if (*kept && make(*kept, unlock, n)) {
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
	free(of->first);
	free(of->row);
	free(of);
}
