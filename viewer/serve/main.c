/* main.c - trace-view: a trace, or what a recorder holds, in a browser. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/open/memory.h"
#include "launch.h"
#include "options.h"
#include "server.h"
#include "source.h"

enum { LOOK_NS = 250000000 };

/* Nothing is left behind (V2), and whoever reads a page has it or loads it again. */
static void end_now(int signal)
{
	(void)signal;
	_exit(TRC_VIEW_OK);
}

/* What a shell has in the background is not to be ended from the foreground. */
static void handle_signals(void)
{
	const struct sigaction end = {.sa_handler = end_now};
	struct sigaction before;

	sigaction(SIGTERM, &end, NULL);
	if (!sigaction(SIGINT, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &end, NULL);
}

/* The only line on stdout. */
static int print_address(const struct trc_server *server)
{
	char address[TRC_ADDRESS_BYTES];

	trc_server_address(server, false, address);
	if (puts(address) < 0 || fflush(stdout)) {
		trc_view_say("the address cannot be printed");
		return TRC_VIEW_FAILED;
	}
	return TRC_VIEW_OK;
}

static void open_browser(const struct trc_server *server)
{
	char address[TRC_ADDRESS_BYTES];

	trc_server_address(server, true, address);
	trc_launch_browser(address);
}

static void serve(struct trc_server *server, bool keep)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	while (!trc_server_look(server) || keep) {
		waitpid(-1, NULL, WNOHANG); /* what opened the browser */
		nanosleep(&pause, NULL);
	}
}

static int show(struct trc_view_source *source, const struct trc_view_options *options)
{
	struct trc_error error = {""};
	struct trc_server *server;
	char hint[160] = "";
	int status, err = trc_server_start(&server, source, options->port, &error);

	if (err) {
		if (err == -ENOMEM || err == -EAGAIN) /* a thread's stack is memory, too */
			trc_memory_hint(hint, sizeof(hint));
		trc_view_say("%s%s", error.text, hint);
		return TRC_VIEW_FAILED;
	}
	handle_signals();
	status = print_address(server);
	if (!status) {
		if (!options->no_browser && trc_launch_is_possible())
			open_browser(server);
		serve(server, options->keep);
	}
	trc_server_stop(server);
	return status;
}

/* Names the file, or the process, once. */
static void say_about(const struct trc_view_options *options, const char *kind, const char *text)
{
	if (options->pid)
		trc_view_say("%s%s", kind, text);
	else
		trc_view_say("%s: %s%s", options->target, kind, text);
}

/* Pages of parts ask for zeroed memory by rows of the whole trace, and touch little of it: so it is the kernel's, which is zeroed when
 * it is touched, and is not zeroed again from what was freed. */
static void keep_zeroed_memory_cheap(void)
{
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

int main(int argc, char **argv)
{
	struct trc_view_options options;
	struct trc_error error = {""};
	struct trc_view_source *source;
	int status = trc_view_options_parse(&options, argc, argv);

	if (status >= 0)
		return status;
	keep_zeroed_memory_cheap();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a failed write is an error, and is told */
	trc_memory_bound(options.memory_bytes);
	if (trc_view_source_open(&source, &options, &error)) {
		say_about(&options, "", error.text);
		return TRC_VIEW_FAILED;
	}
	if (trc_view_source_warning(source))
		say_about(&options, "warning: ", trc_view_source_warning(source));
	status = show(source, &options);
	trc_view_source_close(source);
	return status;
}
