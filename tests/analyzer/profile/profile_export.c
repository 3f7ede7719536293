/* profile_export NAME IN.trc OUT.pb.gz - writes a profile, for tests of pprof with it. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "analyzer/profile/profile.h"

int main(int argc, char **argv)
{
	struct trc_error error = {0};
	struct trc_profile *profile = NULL;
	struct trc_model *m = NULL;
	int fd, err;

	if (argc != 4)
		return 2;
	fd = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	err = trc_model_open(&m, argv[2], &error);
	if (!err)
		err = trc_profile_derive(&profile, m, argv[1], &error);
	if (!err)
		err = trc_profile_write_pprof(profile, m, fd, &error);
	if (err)
		fprintf(stderr, "profile_export: %s\n", error.text);
	trc_profile_free(profile);
	trc_model_close(m);
	close(fd);
	return err != 0;
}
