/*
 * http_threads.c - what every thread of the recorded process does, seen from outside: no thread is
 * asked.  A waiting thread's slot says what the thread waits for, and has the stack, or the
 * registers by which the stack is found.  For other threads the kernel says whether they run, and
 * the stack is the stack of the last wait or sample.
 *
 *   http_threads:Z1  a stack that was read from the thread's memory counts only if the slot did not
 *       change during the reading.  For a wait that is in no slot, the stack counts only if the
 *       thread did not run meanwhile
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "recorder/drain/remote_stack.h"
#include "http.h"

/* Of a row, until all is put together. */
struct found {
	uint32_t creator;	   /* serial */
	uint64_t holder;	   /* likewise */
	struct trc_registers from; /* to read its stack from; pc 0 = there is nothing to read */
	uint32_t seq;		   /* of its slot then */
	/* Where it was seen before. */
	bool last_is_sample;
	uint32_t last_epoch, n_last_frames;
	const uint64_t *last_frame;
	uint64_t last_ns; /* so long ago */
};

struct taking {
	struct trc_thread_profile *p; /* its rows are calloc'ed; what they refer to is malloc'ed */
	uint32_t max_rows;
	uint32_t n_known;    /* the first rows: of threads that have a slot */
	uint32_t n_open;     /* among them, whose stack is to be read */
	struct found *found; /* [max_rows] */
	uint64_t ticks, ticks_per_second;
	struct trc_module_list *modules;
	struct trc_remote *remote; /* NULL = not yet, or the kernel does not let us */
	uint32_t image;
	int pid;
	int err;
};

/* ---- rows -------------------------------------------------------------------------------- */

static bool taken_array_grow(void *array, size_t element_bytes, uint32_t n)
{
	void **at = array;
	void *grown = reallocarray(*at, n, element_bytes);

	if (grown)
		*at = grown;
	return grown != NULL;
}

/* A new row, all zero; NULL = no memory. */
static struct trc_thread_row *thread_row_add(struct taking *t, uint32_t tid)
{
	struct trc_thread_profile *p = t->p;

	if (p->n_rows == t->max_rows) {
		uint32_t max = 2 * t->max_rows + 64;

		if (!taken_array_grow(&p->row, sizeof(*p->row), max) ||
		    !taken_array_grow(&t->found, sizeof(*t->found), max)) {
			t->err = -ENOMEM;
			return NULL;
		}
		t->max_rows = max;
	}
	t->found[p->n_rows] = (struct found){0};
	p->row[p->n_rows] = (struct trc_thread_row){.tid = tid};
	return &p->row[p->n_rows++];
}

/* A copy, which the row has from now on; NULL = no memory. */
static void *row_keep(struct taking *t, const void *bytes, size_t n_bytes)
{
	void *copy = malloc(n_bytes + 1);

	if (copy)
		memcpy(copy, bytes, n_bytes);
	else
		t->err = -ENOMEM;
	return copy;
}

/* How many frames there are. */
static uint32_t keep_stack(struct taking *t, const struct trc_writer *w, uint32_t id,
			   uint32_t *epoch, const uint64_t **frame)
{
	const uint64_t *its;
	uint32_t n = id ? trc_writer_stack_of(w, id, epoch, &its) : 0;

	*frame = n ? row_keep(t, its, n * sizeof(*its)) : NULL;
	return *frame ? n : 0;
}

/* Labels, and behind them the bytes that they refer to. */
static void row_put_labels(struct taking *t, struct trc_thread_row *row, const struct trc_writer *w,
			   uint32_t id)
{
	struct trc_label label[TRC_LABELS_MAX], *copy;
	uint32_t n = id ? trc_writer_label_set_of(w, id, label) : 0;
	size_t n_bytes = 0;
	char *at;

	for (uint32_t i = 0; i < n; i++)
		n_bytes += label[i].key_bytes + label[i].value_bytes;
	copy = n ? malloc(n * sizeof(*copy) + n_bytes) : NULL;
	if (!copy)
		return;
	at = (char *)(copy + n);
	for (uint32_t i = 0; i < n; i++) {
		copy[i] = label[i];
		copy[i].key = memcpy(at, label[i].key, label[i].key_bytes);
		at += label[i].key_bytes;
		copy[i].value = label[i].value_bytes
					? memcpy(at, label[i].value, label[i].value_bytes)
					: "";
		at += label[i].value_bytes;
	}
	row->label = copy;
	row->n_labels = n;
}

/* 0 = that was never, or is yet to come. */
static uint64_t ns_since(const struct taking *t, uint64_t ticks)
{
	if (!ticks || t->ticks <= ticks)
		return 0;
	return (uint64_t)((unsigned __int128)(t->ticks - ticks) * 1000000000 / t->ticks_per_second);
}

static void row_put_wait(const struct taking *t, struct trc_thread_row *row,
			 const struct trc_status_entry *wait)
{
	row->is = TRC_THREAD_IS_WAITING;
	row->reason = wait->reason;
	row->object = wait->object;
	row->has_wait_ns = wait->since != 0;
	row->wait_ns = ns_since(t, wait->since);
}

/* What it does at this moment. */
static void put_now(struct taking *t, struct trc_thread_row *row, struct found *found,
		    const struct trc_writer *w, const struct trc_drain_thread *one)
{
	found->holder = one->status.holder;
	found->from = one->from;
	found->seq = one->seq;
	row->is = TRC_THREAD_IS_RUNNING;
	if (one->status.reason)
		row_put_wait(t, row, &one->status);
	row->n_frames = keep_stack(t, w, one->status.stack, &row->epoch, &row->frame);
}

static void put_last(struct taking *t, struct found *found, const struct trc_writer *w,
		     const struct trc_drain_thread *one)
{
	found->last_is_sample = one->last_is_sample;
	found->last_ns = ns_since(t, one->last_ticks);
	found->n_last_frames = keep_stack(t, w, one->last, &found->last_epoch, &found->last_frame);
}

static void add_known(void *context, const struct trc_writer *w, const struct trc_drain_thread *one)
{
	struct taking *t = context;
	struct trc_thread_row *row = thread_row_add(t, one->tid);
	struct found *found;

	if (!row)
		return;
	found = &t->found[t->p->n_rows - 1];
	found->creator = one->creator;
	row->serial = one->status.thread;
	if (one->name_bytes < sizeof(row->name))
		memcpy(row->name, one->name, one->name_bytes);
	put_now(t, row, found, w, one);
	put_last(t, found, w, one);
	row->n_creation_frames =
		keep_stack(t, w, one->creation, &row->creation_epoch, &row->creation_frame);
	row_put_labels(t, row, w, one->labels);
}

/* ---- what the kernel knows --------------------------------------------------------------- */

static int row_by_tid(const void *a, const void *b)
{
	const struct trc_thread_row *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Its first line; "" = it is gone. */
static void status_line_read(const struct taking *t, const char *tid, const char *file, char *line,
			     size_t n_bytes)
{
	char path[64];
	ssize_t n;
	int fd;

	line[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/task/%.12s/%s", t->pid, tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, line, n_bytes - 1);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

/* The state's letter stands behind the name, in which anything may be. */
static bool row_is_blocked(const struct taking *t, const char *tid)
{
	char line[256];
	const char *behind;

	status_line_read(t, tid, "stat", line, sizeof(line));
	behind = strrchr(line, ')');
	return behind && (behind[1] == ' ') && behind[2] && behind[2] != 'R';
}

static void forget_stack(struct trc_thread_row *row)
{
	free((void *)(uintptr_t)row->frame);
	row->frame = NULL;
	row->n_frames = 0;
}

static void read_stack(struct taking *t, struct trc_thread_row *row,
		       const struct trc_registers *from, bool skip_module)
{
	uint64_t frame[TRC_STACK_DEPTH_MAX];
	uint32_t n;

	if (!t->remote && trc_remote_open(&t->remote, t->pid))
		return;
	n = trc_remote_stack(t->remote, from, skip_module, frame);
	row->frame = n ? row_keep(t, frame, n * sizeof(*frame)) : NULL;
	row->n_frames = row->frame ? n : 0;
	row->epoch = UINT32_MAX; /* what is loaded now */
}

/* The last two numbers of the line are the stack pointer and where it goes on. */
static bool place_parse(char *line, struct trc_registers *at)
{
	char *pc = strrchr(line, ' '), *sp;

	if (!pc)
		return false;
	*pc++ = '\0';
	sp = strrchr(line, ' ');
	if (!sp)
		return false;
	*at = (struct trc_registers){.pc = strtoull(pc, NULL, 16),
				     .sp = strtoull(sp + 1, NULL, 16)};
	return at->pc != 0;
}

/*
 * Of a thread that waits where the recorder does not look: where the kernel says that it is, and up
 * to the first frame that needs its frame pointer, which nobody knows.  It holds if the thread has
 * not run meanwhile: how often it has run is the last number in schedstat.
 */
static void put_place(struct taking *t, struct trc_thread_row *row, const char *tid)
{
	char ran[96], again[96], line[256];
	struct trc_thread_row found = {0};
	struct trc_registers at;

	status_line_read(t, tid, "schedstat", ran, sizeof(ran));
	status_line_read(t, tid, "syscall", line, sizeof(line));
	if (!ran[0] || !strcmp(ran, "0 0 0") || !place_parse(line, &at))
		return;
	read_stack(t, &found, &at, false);
	status_line_read(t, tid, "schedstat", again, sizeof(again));
	if (!found.n_frames || strcmp(ran, again)) {
		forget_stack(&found);
		return;
	}
	forget_stack(row);
	row->frame = found.frame;
	row->n_frames = found.n_frames;
	row->epoch = found.epoch;
	row->last = TRC_THREAD_LAST_NONE;
}

static void tasks_add(struct taking *t, const char *tid)
{
	const struct trc_thread_row key = {.tid = (uint32_t)strtoul(tid, NULL, 10)};
	struct trc_thread_row *row =
		t->n_known ? bsearch(&key, t->p->row, t->n_known, sizeof(key), row_by_tid) : NULL;

	if (!row)
		row = thread_row_add(t, key.tid);
	if (!row)
		return;
	row->asked = true; /* for now: it is there */
	if (!row->name[0])
		status_line_read(t, tid, "comm", row->name, sizeof(row->name));
	if (row->is != TRC_THREAD_IS_RUNNING || !row_is_blocked(t, tid))
		return;
	row->is = TRC_THREAD_IS_WAITING; /* where the recorder does not look */
	put_place(t, row, tid);
}

/* Slots are found as they lie: rows are sorted with what belongs to them. */
struct whole_row {
	struct trc_thread_row row;
	struct found found;
};

static int sort_rows(struct taking *t)
{
	uint32_t n = t->p->n_rows;
	struct whole_row *whole = calloc(n + 1, sizeof(*whole));

	if (!whole)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		whole[i] = (struct whole_row){t->p->row[i], t->found[i]};
	qsort(whole, n, sizeof(*whole), row_by_tid); /* the row comes first */
	for (uint32_t i = 0; i < n; i++) {
		t->p->row[i] = whole[i].row;
		t->found[i] = whole[i].found;
	}
	free(whole);
	return 0;
}

static int look_at_tasks(struct taking *t)
{
	char path[32];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", t->pid);
	dir = opendir(path);
	if (!dir) /* or it has just been reaped */
		return errno == ENOENT || errno == ESRCH ? -ECANCELED : -errno;
	while (!t->err && (e = readdir(dir)))
		if (*e->d_name >= '0' && *e->d_name <= '9')
			tasks_add(t, e->d_name);
	closedir(dir);
	return t->err;
}

/* ---- what their memory tells ------------------------------------------------------------- */

static void read_stacks(struct taking *t)
{
	for (uint32_t i = 0; i < t->n_known; i++)
		if (t->found[i].from.pc)
			read_stack(t, &t->p->row[i], &t->found[i].from, true);
}

/* Z1: what holds needs no other look. */
static void check_known(void *context, const struct trc_writer *w,
			const struct trc_drain_thread *one)
{
	struct taking *t = context;
	const struct trc_thread_row key = {.tid = one->tid};
	struct trc_thread_row *row = bsearch(&key, t->p->row, t->n_known, sizeof(key), row_by_tid);
	struct found *found = row ? &t->found[row - t->p->row] : NULL;

	if (!row || row->serial != one->status.thread || !found->from.pc)
		return;
	if (found->seq == one->seq) {
		found->from.pc = 0;
		return;
	}
	forget_stack(row);
	put_now(t, row, found, w, one);
	t->n_open += found->from.pc != 0;
}

/* Context: main thread. */
static int row_look_again(void *context, const struct trc_http_now *now)
{
	struct taking *t = context;

	if (!now->p->drain || now->image != t->image)
		return -ECANCELED;
	t->n_open = 0;
	t->ticks = now->ticks;
	if (t->n_known)
		trc_drain_each_thread(now->p->drain, check_known, t);
	return t->err;
}

/* Threads that go on while they are looked at are looked at again. */
static int look_at_memory(struct taking *t)
{
	enum { LOOKS = 5 };
	int err = 0;

	for (int i = 0; i < LOOKS && t->n_open && !err; i++) {
		read_stacks(t);
		err = trc_http_call(row_look_again, t);
	}
	for (uint32_t i = 0; i < t->n_known; i++)
		if (t->found[i].from.pc)
			forget_stack(&t->p->row[i]);
	return err;
}

/* Who has no stack now was at that one before. */
static void use_last(struct taking *t)
{
	for (uint32_t i = 0; i < t->n_known; i++) {
		struct trc_thread_row *row = &t->p->row[i];
		struct found *found = &t->found[i];

		if (row->n_frames || !found->n_last_frames)
			continue;
		row->frame = found->last_frame;
		row->n_frames = found->n_last_frames;
		row->epoch = found->last_epoch;
		row->last = found->last_is_sample ? TRC_THREAD_LAST_SAMPLE : TRC_THREAD_LAST_WAIT;
		row->last_ns = found->last_ns;
		found->last_frame = NULL;
	}
}

/* ---- the profile ------------------------------------------------------------------------- */

static void row_free(struct trc_thread_row *row)
{
	free((void *)(uintptr_t)row->frame);
	free((void *)(uintptr_t)row->creation_frame);
	free((void *)(uintptr_t)row->label);
}

/* Without those that have ended since their slots were read. */
static void rows_settle(struct taking *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->p->n_rows; i++) {
		bool is_there = t->p->row[i].asked;

		t->p->row[i].asked = false;
		if (is_there)
			t->p->row[n++] = t->p->row[i];
		else
			row_free(&t->p->row[i]);
	}
	t->p->n_rows = n;
}

void trc_http_threads_free(struct trc_thread_profile *p)
{
	for (uint32_t i = 0; p && i < p->n_rows; i++)
		row_free(&p->row[i]);
	if (p)
		free(p->row);
	free(p);
}

/* Context: main thread. */
static int request_look_at_slots(void *context, const struct trc_http_now *now)
{
	struct taking *t = context;

	if (!now->p->drain)
		return -EBUSY;
	t->pid = now->p->pid;
	t->image = now->image;
	t->ticks = now->ticks;
	t->ticks_per_second = now->p->shared->ticks_per_second;
	t->ticks_per_second += !t->ticks_per_second; /* it may be anything */
	trc_drain_each_thread(now->p->drain, add_known, t);
	t->n_known = t->p->n_rows;
	return t->err ? t->err : trc_http_modules(now, t->modules);
}

/* A pid is somebody else's soon after the process has ended. */
static int is_there_still(void *context, const struct trc_http_now *now)
{
	return 0;
}

static int rows_resolve(struct taking *t)
{
	uint32_t n = t->p->n_rows;
	uint32_t *creator = calloc(n + 1, sizeof(*creator));
	uint64_t *holder = calloc(n + 1, sizeof(*holder));
	int err = -ENOMEM;

	for (uint32_t i = 0; creator && holder && i < n; i++) {
		creator[i] = t->found[i].creator;
		holder[i] = t->found[i].holder;
	}
	if (creator && holder)
		err = trc_thread_profile_resolve(t->p, creator, holder);
	free(creator);
	free(holder);
	return err;
}

/* What slots say, and their threads' memory meanwhile. */
static int look_at_known(struct taking *t)
{
	int err = trc_http_call(request_look_at_slots, t);

	if (!err)
		err = sort_rows(t);
	if (err)
		return err;
	for (uint32_t i = 0; i < t->n_known; i++)
		t->n_open += t->found[i].from.pc != 0;
	err = t->n_open ? look_at_memory(t) : 0;
	use_last(t);
	return err ? err : t->err;
}

static int rows_take(struct taking *t)
{
	uint32_t image;
	int err = trc_http_follow(&image);

	if (!err) {
		err = look_at_known(t);
		trc_http_unfollow(image);
	}
	if (!err)
		err = look_at_tasks(t);
	if (!err)
		err = rows_resolve(t);
	if (!err)
		rows_settle(t);
	return err ? err : trc_http_call(is_there_still, NULL);
}

int trc_http_threads(struct trc_thread_profile **out, struct trc_module_list *modules)
{
	struct taking t = {.p = calloc(1, sizeof(*t.p)), .modules = modules};
	int err = t.p ? rows_take(&t) : -ENOMEM;

	for (uint32_t i = 0; i < t.n_known; i++)
		free((void *)(uintptr_t)t.found[i].last_frame);
	free(t.found);
	trc_remote_close(t.remote);
	if (err)
		trc_http_threads_free(t.p);
	else
		*out = t.p;
	return err;
}
