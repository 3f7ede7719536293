/* verb_pprof.c - trace-analyze --pprof NAME -o FILE. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli.h"
#include "analyzer/profile/profile.h"
#include "analyzer/text/line.h"
#include "format/file_sink.h"

static int set_out_path(struct trc_cli *cli, struct trc_request *request, const char *arg)
{
	if (request && request->verb == &trc_verb_pprof) {
		request->out_path = arg;
		return 0;
	}
	trc_cli_error(cli, "-o comes after the --pprof that it belongs to");
	return -EINVAL;
}

static const struct trc_cli_option pprof_options[] = {
	{"out", 'o', "FILE", "where the profile goes; - is stdout", set_out_path},
	{0},
};

/* Which events were sampled only the trace knows. */
static int check_pprof(struct trc_cli *cli, const struct trc_request *request)
{
	if (!request->out_path) {
		trc_cli_error(cli, "--pprof %s needs -o FILE", request->arg);
		return -EINVAL;
	}
	return 0;
}

static int write_to(struct trc_cli *cli, const struct trc_profile *profile, int fd,
		    const char *path)
{
	struct trc_error error = {""};

	if (trc_profile_write_pprof(profile, cli->model, fd, &error)) {
		trc_cli_error(cli, "%s: %s", path, error.text);
		return -EIO;
	}
	return 0;
}

/* Under its name only when it is whole. */
static int pprof_write_file(struct trc_cli *cli, const struct trc_profile *profile,
			    const char *path)
{
	char error[TRC_FILE_PATH_BYTES + 128];
	struct trc_file_sink sink;
	int err = trc_file_sink_plan(&sink, path, error, sizeof(error));

	if (!err)
		err = trc_file_sink_open_waiting(&sink, NULL, NULL, error, sizeof(error));
	if (err) {
		trc_cli_error(cli, "%s", error);
		return err;
	}
	err = write_to(cli, profile, sink.fd, path);
	if (!err) {
		err = trc_file_sink_commit(&sink);
		if (err)
			trc_cli_error(cli, "%s: %s", path, strerror(-err));
	}
	trc_file_sink_close(&sink);
	return err;
}

/* An empty profile is one, and pprof does not say why it is. */
static void tell_nothing_passed(const struct trc_cli *cli, const char *name)
{
	bool any = trc_label_filter_any(cli->selection.labels, cli->model);
	bool only_labels = trc_selection_has_all_time(&cli->selection);
	struct trc_line line;

	trc_line_begin(&line, TRC_WIDTH_MAX, false);
	if (only_labels) {
		trc_line_add(&line,
			     any ? "--pprof %s: it has nothing that was done under "
				 : "--pprof %s: nothing was done under ",
			     name);
		trc_line_data(&line, trc_label_filter_text(cli->selection.labels),
			      TRC_WIDTH_MAX / 4);
	} else {
		trc_line_add(&line, "--pprof %s: it has nothing of ", name);
		trc_selection_tell(&line, &cli->selection);
	}
	if (!any) {
		trc_line_add(&line, ": ");
		trc_label_filter_tell_keys(&line, cli->model);
	}
	trc_cli_error(cli, "%.*s", (int)line.n_bytes, line.text);
}

static int run_pprof(struct trc_cli *cli, const struct trc_request *request)
{
	struct trc_error error = {""};
	struct trc_profile *profile;
	int err;

	if (trc_profile_derive(&profile, cli->model, request->arg, &error)) {
		trc_cli_error(cli, "%s", error.text);
		return TRC_EXIT_FAILED;
	}
	fflush(stdout);
	err = strcmp(request->out_path, "-") ? pprof_write_file(cli, profile, request->out_path)
					     : write_to(cli, profile, STDOUT_FILENO, "stdout");
	if (!err && cli->selects && !profile->n_samples)
		tell_nothing_passed(cli, request->arg);
	trc_profile_free(profile);
	return err ? TRC_EXIT_FAILED : TRC_EXIT_OK;
}

const struct trc_verb trc_verb_pprof = {
	.name = "pprof",
	.arg_name = "NAME",
	.doc = "write a profile for pprof: block, mutex, blame, path, hold, cpu, offcpu, latency, "
	       "wall, heap, allocs, or an event",
	.run = run_pprof,
	.selects = true,
	.check = check_pprof,
	.option = pprof_options};
