/* main.c - trace-record: parses the options, and runs the verb. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include "format/utf8.h"
#include "self_test.h"
#include "tool.h"

void trc_tool_say(const char *format, ...)
{
	char text[1024], shown[2 * sizeof(text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Names of programs and files may be anything. */
	trc_utf8_escape(shown, sizeof(shown), text, strlen(text));
	fprintf(stderr, "trace-record: %s\n", shown);
}

/* What a recording and a self-test have been seen to need, on x86-64. */
enum { STACK_KIB_MIN = 160 };

/* The kernel ends who needs more of a stack than there may be, without a word. */
static bool has_stack(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= STACK_KIB_MIN << 10)
		return true;
	trc_tool_say("a stack of %d KiB is needed, and %llu KiB are allowed (ulimit -s)",
		     STACK_KIB_MIN, (unsigned long long)limit.rlim_cur >> 10);
	return false;
}

int main(int argc, char **argv)
{
	struct trc_tool_options options = {.output = "dump.trc"};
	struct trc_child child = {.go_fd = -1, .result_fd = -1};
	int status;

	if (argc == 3 && !strcmp(argv[1], TRC_SELF_TEST_PROGRAM))
		return trc_self_test_program(argv[2]);
	if (!has_stack())
		return TRC_EXIT_TROUBLE;
	trc_tool_options_parse(&options, argc, argv);
	switch (options.verb) {
	case TRC_VERB_SNAPSHOT:
	case TRC_VERB_RECOVER:
		return trc_tool_take(&options);
	case TRC_VERB_LIST:
		return trc_tool_list();
	case TRC_VERB_CLEAN:
		return trc_tool_clean();
	case TRC_VERB_SELF_TEST:
		return trc_tool_self_test(&options);
	case TRC_VERB_RECORD:
		break;
	}
	status = trc_tool_record(&options, &child);
	if (status)
		return status;
	trc_child_exit_like(&child); /* tool:Y2 */
}
