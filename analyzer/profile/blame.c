/* blame.c - the blame profile: what in the end held threads up that waited; see profile.h. */
#include "analyzer/causes/blame_sums.h"
#include "parts.h"

int trc_profile_blame(struct trc_profile_sums *sums, struct trc_profile *p)
{
	struct trc_array rows = {0};
	int err = trc_blame_rows(sums->m, NULL, NULL, &rows, NULL);
	const struct trc_blame_row *row = rows.row;
	struct trc_profile_told told = {0};

	p->type[0] = (struct trc_profile_type){"delay", "nanoseconds"};
	p->n_types = 1;
	p->main_type = 0;
	p->period_type = p->type[0];
	p->period = 1;
	p->of_program = true;
	p->labels_of = "waiter.";
	trc_profile_comment(
		p, "time that threads waited for locks and for each other, by what in the end "
		   "held them up");
	for (size_t i = 0; i < rows.n && !err; i++) {
		trc_profile_count_sampled(&told, row[i].ns, row[i].stack_of);
		const struct trc_profile_sample sample = {
			.stack = row[i].stack,
			.labels = row[i].labels,
			.off = row[i].reason,
			.cause = row[i].kind,
			.value = {row[i].ns},
		};

		err = trc_profile_add(sums, &sample);
	}
	trc_profile_comment_sampled(p, &told, "blame");
	trc_array_free(&rows);
	return err;
}
