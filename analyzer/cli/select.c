/* select.c - the options that narrow what verbs tell: see analyzer/model/selection.h. */
#include <errno.h>
#include <string.h>
#include "cli.h"

typedef int ask_fn(struct trc_selection *s, const char *text, struct trc_error *error);

static int selection_ask(struct trc_cli *cli, const char *option, ask_fn *fn, const char *arg)
{
	struct trc_error error = {""};

	if (!fn(&cli->selection, arg, &error)) {
		if (!cli->selects)
			cli->selects = option;
		return 0;
	}
	trc_cli_error(cli, "%s %s: %s", option, arg, error.text);
	return -EINVAL;
}

static int add_labels(struct trc_selection *s, const char *text, struct trc_error *error)
{
	return trc_label_filter_add(&s->labels, text, error);
}

static int set_label_filter(struct trc_cli *cli, struct trc_request *request, const char *arg)
{
	(void)request;
	return selection_ask(cli, "--label-filter", add_labels, arg);
}

static int request_set_window(struct trc_cli *cli, struct trc_request *request, const char *arg)
{
	(void)request;
	return selection_ask(cli, "--window", trc_selection_ask_window, arg);
}

static int set_thread(struct trc_cli *cli, struct trc_request *request, const char *arg)
{
	(void)request;
	return selection_ask(cli, "--thread", trc_selection_ask_thread, arg);
}

static int set_task(struct trc_cli *cli, struct trc_request *request, const char *arg)
{
	(void)request;
	return selection_ask(cli, "--task", trc_selection_ask_task, arg);
}

/* --why task:TYPE --slowest N% asks about the slowest tasks, and narrows nothing else; so of regions. */
static int set_slowest(struct trc_cli *cli, struct trc_request *request, const char *arg)
{
	bool of_why =
		request &&
		(request->verb == &trc_verb_why || request->verb == &trc_verb_critical_path) &&
		(!strncmp(request->arg, "task:", 5) || !strncmp(request->arg, "region:", 7));
	struct trc_selection why = {0};
	struct trc_error error = {""};

	if (!of_why)
		return selection_ask(cli, "--slowest", trc_selection_ask_slowest, arg);
	if (trc_selection_ask_slowest(&why, arg, &error)) {
		trc_cli_error(cli, "--slowest %s: %s", arg, error.text);
		return -EINVAL;
	}
	cli->slowest = why.slowest;
	return 0;
}

const struct trc_cli_option trc_select_options[] = {
	{"window", '\0', "FROM..TO",
	 "only this time, as in 1.2s..1.5s, 11:47:52.2..+300ms or task:ID", request_set_window},
	{"thread", '\0', "NAME|TID", "only these threads", set_thread},
	{"task", '\0', "TYPE|ID", "only what was done for these tasks", set_task},
	{"slowest", '\0', "N%", "of the tasks of a type only so many, those that took longest",
	 set_slowest},
	{"label-filter", '\0', "KEY[=VALUE]", "only what was done under this label",
	 set_label_filter},
	{0},
};

int trc_select_check(struct trc_cli *cli)
{
	struct trc_error error = {""};

	if (!trc_selection_check(&cli->selection, &error))
		return 0;
	trc_cli_error(cli, "%s", error.text);
	return -EINVAL;
}
