/* thread_tasks.c - see thread_tasks.h */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include "format/hex.h"
#include "format/raw.h"
#include "format/schema.h"
#include "recorder/shared/text.h"
#include "thread_tasks.h"

/* ---- small files ----------------------------------------------------------------------- */

/* Opens DIR/TID/NAME: a descriptor or a negative errno. */
static long open_of(int dir, uint32_t tid, const char *name)
{
	char path[40];
	struct trc_text at = TRC_TEXT_IN(path);

	trc_text_put_number(&at, tid, 10);
	trc_text_put(&at, "/");
	trc_text_put(&at, name);
	return trc_raw4(SYS_openat, dir, path, O_RDONLY | O_CLOEXEC, 0);
}

/* Reads DIR/TID/NAME, zero-terminated; a negative errno if that fails. */
static long read_of(int dir, uint32_t tid, const char *name, char *text, size_t n_bytes)
{
	long fd = open_of(dir, tid, name), n;

	text[0] = '\0';
	if (fd < 0)
		return fd;
	n = trc_raw3(SYS_read, fd, text, n_bytes - 1);
	trc_raw1(SYS_close, fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

void trc_task_name(int dir, uint32_t tid, char *name, size_t n_bytes)
{
	read_of(dir, tid, "comm", name, n_bytes);
	name[strcspn(name, "\n")] = '\0';
}

/* ---- libc ------------------------------------------------------------------------------ */

struct text {
	uint64_t holds, start, limit;
};

static int find_text(struct dl_phdr_info *info, size_t n_bytes, void *context)
{
	struct text *text = context;

	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && text->holds >= start &&
		    text->holds < start + p->p_memsz) {
			text->start = start;
			text->limit = start + p->p_memsz;
			return 1;
		}
	}
	return 0;
}

/* By a function that nobody interposes. */
void trc_tasks_libc_text(uint64_t range[2])
{
	struct text text = {.holds = (uintptr_t)gnu_get_libc_version};

	dl_iterate_phdr(find_text, &text);
	range[0] = text.start;
	range[1] = text.limit;
}

/* ---- calls ----------------------------------------------------------------------------- */

enum how {
	RESTARTED, /* goes on after a handler with SA_RESTART, or whoever makes it expects that it
		      fails */
	FAILS,	   /* fails with EINTR */
	TIMED,	   /* the same if it has a limit of time, its fourth argument */
	RECEIVES,  /* fails if the socket has a limit of time to receive, unless it is recorded, and
		      then too if it may be a stream's, which nobody makes again; ends with a part
		      if it wants all of it */
	CONNECTS,  /* fails if the socket has a limit of time to send */
	WRITES,	   /* ends with a part, unless that goes to a file */
	PARTS,	   /* ends with a part */
};

struct call {
	int16_t number;
	uint8_t reason; /* enum trc_reason */
	uint8_t how;
};

static const struct call calls[] = {
	{SYS_futex, TRC_REASON_FUTEX, TIMED},
	{SYS_read, TRC_REASON_READ, RECEIVES},
	{SYS_readv, TRC_REASON_READ, RECEIVES},
	{SYS_pread64, TRC_REASON_READ, RESTARTED},
	{SYS_preadv, TRC_REASON_READ, RECEIVES},
	{SYS_preadv2, TRC_REASON_READ, RECEIVES},
	{SYS_write, TRC_REASON_WRITE, WRITES},
	{SYS_writev, TRC_REASON_WRITE, WRITES},
	{SYS_pwrite64, TRC_REASON_WRITE, WRITES},
	{SYS_pwritev, TRC_REASON_WRITE, WRITES},
	{SYS_pwritev2, TRC_REASON_WRITE, WRITES},
	{SYS_splice, TRC_REASON_READ, PARTS},
	{SYS_tee, TRC_REASON_READ, PARTS},
	{SYS_vmsplice, TRC_REASON_WRITE, PARTS},
	{SYS_copy_file_range, TRC_REASON_NONE, PARTS},
	{SYS_getrandom, TRC_REASON_NONE, PARTS},
	{SYS_recvfrom, TRC_REASON_RECV, RECEIVES},
	{SYS_recvmsg, TRC_REASON_RECV, RECEIVES},
	{SYS_recvmmsg, TRC_REASON_RECV, PARTS},
	{SYS_sendto, TRC_REASON_SEND, PARTS},
	{SYS_sendmsg, TRC_REASON_SEND, PARTS},
	{SYS_sendmmsg, TRC_REASON_SEND, PARTS},
	{SYS_sendfile, TRC_REASON_SEND, WRITES},
	{SYS_accept, TRC_REASON_ACCEPT, RECEIVES},
	{SYS_accept4, TRC_REASON_ACCEPT, RECEIVES},
	{SYS_connect, TRC_REASON_CONNECT, CONNECTS},
	{SYS_close, TRC_REASON_NONE, PARTS}, /* of what is still to be sent (SO_LINGER) */
	{SYS_wait4, TRC_REASON_CHILD, RESTARTED},
	{SYS_waitid, TRC_REASON_CHILD, RESTARTED},
	{SYS_openat, TRC_REASON_OPEN, RESTARTED},
	{SYS_flock, TRC_REASON_FLOCK, RESTARTED},
	{SYS_fcntl, TRC_REASON_FLOCK, RESTARTED},
	{SYS_fsync, TRC_REASON_FSYNC, RESTARTED},
	{SYS_fdatasync, TRC_REASON_FSYNC, RESTARTED},
	{SYS_ppoll, TRC_REASON_POLL, FAILS},
	{SYS_pselect6, TRC_REASON_POLL, FAILS},
	{SYS_epoll_pwait, TRC_REASON_EPOLL, FAILS},
#ifdef SYS_epoll_pwait2
	{SYS_epoll_pwait2, TRC_REASON_EPOLL, FAILS},
#endif
#ifdef SYS_poll
	{SYS_poll, TRC_REASON_POLL, FAILS},
	{SYS_select, TRC_REASON_POLL, FAILS},
	{SYS_epoll_wait, TRC_REASON_EPOLL, FAILS},
	{SYS_pause, TRC_REASON_SIGNAL, FAILS},
#endif
	{SYS_nanosleep, TRC_REASON_SLEEP, FAILS},
	{SYS_clock_nanosleep, TRC_REASON_SLEEP, FAILS},
	{SYS_rt_sigtimedwait, TRC_REASON_SIGNAL, FAILS},
	{SYS_rt_sigsuspend, TRC_REASON_SIGNAL, FAILS},
	{SYS_msgrcv, TRC_REASON_MSG, FAILS},
	{SYS_msgsnd, TRC_REASON_MSG, FAILS},
	{SYS_mq_timedreceive, TRC_REASON_MSG, RESTARTED},
	{SYS_mq_timedsend, TRC_REASON_MSG, RESTARTED},
	{SYS_semop, TRC_REASON_SEM, FAILS},
	{SYS_semtimedop, TRC_REASON_SEM, FAILS},
	{SYS_io_getevents, TRC_REASON_AIO, FAILS},
#ifdef SYS_io_pgetevents
	{SYS_io_pgetevents, TRC_REASON_AIO, FAILS},
#endif
#ifdef SYS_io_uring_enter
	{SYS_io_uring_enter, TRC_REASON_AIO, FAILS},
#endif
#ifdef SYS_futex_waitv
	{SYS_futex_waitv, TRC_REASON_FUTEX, TIMED},
#endif
};

static bool has_limit(long fd, int option)
{
	struct timeval limit = {0, 0};
	socklen_t n_bytes = sizeof(limit);

	return !trc_raw5(SYS_getsockopt, fd, SOL_SOCKET, option, &limit, &n_bytes) &&
	       (limit.tv_sec || limit.tv_usec);
}

/* It comes back once it has some of what it waits for, and that may be there already. */
static bool wants_all(const struct call *call, const uint64_t arg[6])
{
	int low = 1;
	socklen_t n_bytes = sizeof(low);

	if ((call->number == SYS_recvfrom && arg[3] & MSG_WAITALL) ||
	    (call->number == SYS_recvmsg && arg[2] & MSG_WAITALL))
		return true;
	return !trc_raw5(SYS_getsockopt, (int)arg[0], SOL_SOCKET, SO_RCVLOWAT, &low, &n_bytes) &&
	       low > 1;
}

/* What is written to one is in memory, or cannot be interrupted. */
static bool task_is_file(int fd)
{
	struct stat is;

	return !trc_raw2(SYS_fstat, fd, &is) && S_ISREG(is.st_mode);
}

/* Whether the call was made by a function of libc's that is interposed, which makes it again; of
 * those, syscall() is the one that does not. */
static bool is_libcs(uint64_t pc)
{
	enum { SYSCALL_BYTES_MAX = 64 };
	static uint64_t text[2], call; /* found twice they are the same */

	if (!text[1]) {
		call = (uintptr_t)dlsym(RTLD_NEXT, "syscall");
		trc_tasks_libc_text(text);
	}
	return pc >= text[0] && pc < text[1] && (pc < call || pc >= call + SYSCALL_BYTES_MAX);
}

static bool is_fragile(const struct call *call, const uint64_t arg[6], uint64_t pc,
		       uint32_t recorded)
{
	switch ((enum how)call->how) {
	case RESTARTED:
		return false;
	case FAILS:
		return !is_libcs(pc) || call->number == SYS_io_getevents;
	case TIMED:
		return arg[3] && !is_libcs(pc);
	case RECEIVES:
		return wants_all(call, arg) ||
		       ((recorded != call->reason || !is_libcs(pc) || call->number == SYS_read) &&
			has_limit((int)arg[0], SO_RCVTIMEO));
	case CONNECTS:
		return has_limit((int)arg[0], SO_SNDTIMEO);
	case WRITES:
		return !task_is_file((int)arg[0]);
	case PARTS:
		return true;
	}
	return true;
}

/* Takes the next hexadecimal number of a line. */
static uint64_t take_hex(const char **at)
{
	uint64_t n = 0;

	while (**at == ' ')
		++*at;
	if ((*at)[0] == '0' && (*at)[1] == 'x')
		*at += 2;
	for (;; ++*at) {
		int digit = trc_hex_digit(**at);

		if (digit < 0)
			return n;
		n = n << 4 | (uint64_t)digit;
	}
}

/* "NUMBER 0xARG0 ... 0xARG5 0xSP 0xPC" */
static void parse_call(const char *text, uint32_t recorded, struct trc_task_look *look)
{
	uint32_t number = trc_task_number(text);
	uint64_t word[8];

	text += strcspn(text, " ");
	for (unsigned int i = 0; i < 8; i++)
		word[i] = take_hex(&text);
	look->is = TRC_TASK_BLOCKED;
	look->sp = word[6];
	look->pc = word[7];
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].number != (int)number)
			continue;
		look->reason = calls[i].reason;
		look->fragile = is_fragile(&calls[i], word, look->pc, recorded);
		return;
	}
}

/* "-1 0xSP 0xPC": in no call, as in a page fault; of a thread that has ended both are 0. */
static void parse_no_call(const char *text, struct trc_task_look *look)
{
	text += 2;
	look->is = TRC_TASK_RUNNING;
	if (!take_hex(&text)) /* SP */
		look->is = take_hex(&text) ? TRC_TASK_RUNNING : TRC_TASK_GONE;
}

/* No such file: the thread may have ended, or the kernel has no file of that name. */
static bool task_is_gone(uint32_t tid)
{
	return trc_raw3(SYS_tgkill, trc_raw1(SYS_getpid, 0), tid, 0) == -ESRCH;
}

void trc_task_look(int dir, uint32_t tid, uint32_t recorded, struct trc_task_look *look)
{
	char text[256];
	long n = read_of(dir, tid, "syscall", text, sizeof(text));

	*look = (struct trc_task_look){.is = TRC_TASK_UNKNOWN};
	if (n == -ESRCH || (n == -ENOENT && task_is_gone(tid)))
		look->is = TRC_TASK_GONE;
	else if (!strncmp(text, "running", 7))
		look->is = TRC_TASK_RUNNING;
	else if (!strncmp(text, "-1", 2))
		parse_no_call(text, look);
	else if (text[0] >= '0' && text[0] <= '9')
		parse_call(text, recorded, look);
}

/* schedstat: time on procs, time in their queues, how often it has been put on one.  All three are 0 of a
 * kernel that does not count: no thread has never run. */
static bool read_ran(long fd, char ran[64])
{
	long n = trc_raw4(SYS_pread64, fd, ran, 63, 0);

	ran[n > 0 ? n : 0] = '\0';
	return n > 0 && strcmp(ran, "0 0 0\n") != 0;
}

bool trc_task_still_begin(int dir, uint32_t tid, struct trc_task_still *still)
{
	still->fd = open_of(dir, tid, "schedstat");
	if (still->fd < 0)
		return false;
	if (read_ran(still->fd, still->ran))
		return true;
	trc_raw1(SYS_close, still->fd);
	return false;
}

bool trc_task_still_end(const struct trc_task_still *still)
{
	char ran[64];
	bool is_same = read_ran(still->fd, ran) && !strcmp(ran, still->ran);

	trc_raw1(SYS_close, still->fd);
	return is_same;
}

bool trc_task_blocks(int dir, uint32_t tid, int signal_number)
{
	static const char begin[] = "\nSigBlk:\t";
	char text[4096];
	const char *at;

	if (read_of(dir, tid, "status", text, sizeof(text)) <= 0)
		return true;
	at = strstr(text, begin);
	if (!at)
		return true;
	at += sizeof(begin) - 1;
	return take_hex(&at) >> (signal_number - 1) & 1;
}
