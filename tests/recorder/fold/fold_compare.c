/* fold_compare.c - do traces give the same block and mutex profiles through a fold? */
#include "fold_replay.h"

/* A busy machine may stop a thread between an unlock and its record. */
#define UNLOCK_LAG_NS UINT64_C(10000000000)

int main(int argc, char **argv)
{
	int failed = argc < 2;

	for (int i = 1; i < argc; i++) {
		struct trc_error error = {""};
		struct trc_model *m;
		long n_rows;

		if (trc_model_open(&m, argv[i], &error)) {
			fprintf(stderr, "%s: %s\n", argv[i], error.text);
			return 1;
		}
		n_rows = fold_replay_compare(m, 5000000, UNLOCK_LAG_NS, stderr);
		printf("%s: %ld rows\n", argv[i], n_rows);
		failed |= n_rows < 0;
		trc_model_close(m);
	}
	return failed;
}
