/* trace_info.c - see trace_info.h.  Formats text by code of its own, as it runs in recorded
 * processes, too. */
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include "config.h"
#include "format/raw.h"
#include "trace_info.h"

static int trace_info_number(struct trc_writer *w, const char *key, uint64_t n)
{
	char digits[24];
	char *at = digits + sizeof(digits) - 1;

	*at = '\0';
	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	return trc_writer_info(w, key, at);
}

/* Arguments come separated by zeros; with spaces between them they are one line. */
static int info_command(struct trc_writer *w, const struct trc_shared *shared)
{
	char text[sizeof(shared->command)];
	size_t used;

	memcpy(text, shared->command, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (used = sizeof(text) - 1; used && !text[used - 1];)
		used--;
	for (size_t i = 0; i < used; i++)
		if (!text[i])
			text[i] = ' ';
	return trc_writer_info(w, "command", text);
}

/* The first argument alone: it may have blanks. */
static int info_argv0(struct trc_writer *w, const struct trc_shared *shared)
{
	char text[sizeof(shared->command)];

	memcpy(text, shared->command, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	return trc_writer_info(w, "argv0", text);
}

static int info_exe(struct trc_writer *w, const struct trc_shared *shared)
{
	char text[sizeof(shared->exe)];

	memcpy(text, shared->exe, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	return trc_writer_info(w, "exe", text);
}

/* The first "model name" of /proc/cpuinfo. */
static int info_cpu(struct trc_writer *w)
{
	char text[2048];
	int fd = (int)trc_raw4(SYS_openat, AT_FDCWD, "/proc/cpuinfo", O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? 0 : trc_raw3(SYS_read, fd, text, sizeof(text) - 1);
	char *name, *end;

	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	text[n > 0 ? n : 0] = '\0';
	name = strstr(text, "model name");
	name = name ? strstr(name, ": ") : NULL;
	if (!name)
		return 0;
	end = strchr(name, '\n');
	if (end)
		*end = '\0';
	return trc_writer_info(w, "cpu", name + 2);
}

static int info_machine(struct trc_writer *w)
{
	struct utsname name;
	int err;

	if (trc_raw1(SYS_uname, &name))
		return 0;
	err = trc_writer_info(w, "hostname", name.nodename);
	if (!err)
		err = trc_writer_info(w, "kernel", name.release);
	if (!err)
		err = info_cpu(w);
	if (!err)
		err = trace_info_number(w, "page_bytes", getauxval(AT_PAGESZ));
	return err;
}

static int info_options(struct trc_writer *w, const struct trc_shared *shared)
{
	static const char *const locks[] = {"contended", "all", "none"};
	int err = trace_info_number(w, "ring_bytes", shared->ring_words * 8);

	if (!err)
		err = trace_info_number(w, "procs", shared->n_procs);
	if (!err && shared->locks <= TRC_LOCKS_NONE)
		err = trc_writer_info(w, "locks", locks[shared->locks]);
	if (!err && !(shared->flags & TRC_SHARED_OVERWRITE))
		err = trc_writer_info(w, "on_full",
				      shared->on_full == TRC_ON_FULL_WAIT ? "wait" : "drop");
	return err;
}

int trc_trace_info_process(struct trc_writer *w, const struct trc_shared *shared)
{
	int err = trc_writer_info(w, "recorder", "trc " PACKAGE_VERSION);

	if (!err)
		err = info_command(w, shared);
	if (!err)
		err = info_argv0(w, shared);
	if (!err)
		err = info_exe(w, shared);
	if (!err)
		err = trace_info_number(w, "pid", shared->pid);
	if (!err)
		err = trace_info_number(w, "start_time", shared->start.realtime_ns);
	if (!err)
		err = info_options(w, shared);
	return err;
}

int trc_trace_info(struct trc_writer *w, const struct trc_shared *shared)
{
	int err = trc_trace_info_process(w, shared);

	return err ? err : info_machine(w);
}
