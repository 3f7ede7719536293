/* test_ring_file.c - ring files: whose they are, who lives, and what is refused, by a clear line.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "recorder/shared/clock.h"
#include "recorder/drain/ring_file.h"
#include "fake_ring.h"
#include "tests/suite.h"

static struct fake f;
static char dir[] = "/tmp/test-ring-file-XXXXXX";
static char path[128];
static char error[200];

static void read_hex(const char *text, uint8_t *bytes, size_t n_bytes)
{
	for (size_t n = 0; *text && n < n_bytes; text++)
		if (*text != '-' && sscanf(text, "%2hhx", &bytes[n]) == 1) {
			n++;
			text++;
		}
}

/* What the process that runs this test would have written into its header. */
static void fill_identity(struct trc_shared *h)
{
	struct stat st;
	char text[1024];
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	fclose(file);
	read_hex(text, h->boot_id, sizeof(h->boot_id));
	h->pid = (uint32_t)getpid();
	ck_assert_int_eq(stat("/proc/self/ns/pid", &st), 0);
	h->pid_namespace = st.st_ino;
	file = fopen("/proc/self/stat", "r");
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	fclose(file);
	ck_assert_int_eq(sscanf(strrchr(text, ')'),
				") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
				"%*s %*s %*s %lu",
				&h->process_start),
			 1);
}

static void put_some(void)
{
	uint64_t frame[3] = {0x1000, 0x2000, 0x3000};
	uint64_t park[4] = {TRC_REASON_MUTEX, 6, 0, fake_stack(&f, 3, 0, frame, 3)};
	uint64_t counter[2] = {fake_string(&f, 4, "queue"), 17};

	fake_slot(&f, 0, 1, 4711, "main");
	fake_module(&f, 0, 0x1000, 0x4000, "/bin/program");
	for (uint64_t n = 0; n < 3000; n++) {
		fake_put(&f, n & 1, 10 + 2 * n, TRC_KIND_COUNTER, 0, 1, counter, 2);
		fake_put(&f, n & 1, 11 + 2 * n, TRC_KIND_PARK, 0, 2, park, 4);
		if (n % 10 == 0)
			fake_cell_put(&f, 11 + 2 * n, 9, n, 3 * n);
	}
}

/* The mapping as it is now, as a file. */
static void write_ring(const char *to, size_t n_bytes)
{
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, f.shared, n_bytes), (ssize_t)n_bytes);
	close(fd);
}

static void remove_dir(const char *at)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'", at);
	ck_assert_int_eq(system(command), 0);
}

static void set_up(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("TRC_RING_DIR", dir, 1);
	fake_init_alone(&f, 32768);
	f.overwrite = true;
	fill_identity(f.shared);
	put_some();
	snprintf(path, sizeof(path), "%s/trc-%u-%u.0.ring", dir, (unsigned int)getuid(),
		 f.shared->pid);
	write_ring(path, f.mapped_bytes);
}

static void tear_down(void)
{
	fake_free(&f);
	remove_dir(dir);
}

/* 0, or the error of opening, or else of making a trace of it. */
static int make_trace(const char *of)
{
	static const struct trc_snapshot_options all = {.window_ns = UINT64_MAX, .all = true};
	struct trc_ring_file ring;
	int err;

	error[0] = '\0';
	f.file_bytes = 0;
	err = trc_ring_file_open(&ring, of, error, sizeof(error));
	if (err)
		return err;
	err = trc_ring_file_to_trace(&ring, &all, fake_sink, &f, error, sizeof(error));
	trc_ring_file_close(&ring);
	return err;
}

/* What was written can be read in full, and nothing in it refers to what is not there. */
static void expect_sound(void)
{
	struct fake_file file;

	fake_read_back(&f, &file);
	ck_assert_ptr_null(trc_reader_warning(file.r));
	ck_assert(trc_reader_info(file.r)->complete);
	ck_assert_uint_eq(trc_reader_info(file.r)->dangling_ids, 0);
	fake_file_free(&file);
}

/* ---- the living and the dead ----------------------------------------------------------- */

#define NS_INITIAL UINT64_C(0xeffffffc)

struct life {
	const char *says;
	bool mapped;
	int start_off, namespace_off, boot_off, pid_off;
	enum trc_ring_owner owner;
};
static const struct life lives[] = {
	{"a process that has it mapped is alive", true, 0, 0, 0, 0, TRC_OWNER_ALIVE},
	{"one that does not executed another program", false, 0, 0, 0, 0, TRC_OWNER_DEAD},
	{"one that started at another time is another", true, 1, 0, 0, 0, TRC_OWNER_DEAD},
	{"of a pid namespace that is not inside ours it cannot be told", true, 0, 1, 0, 0,
	 TRC_OWNER_UNKNOWN},
	{"of another boot nobody is left", true, 0, 1, 1, 0, TRC_OWNER_DEAD},
	{"there is no such process", true, 0, 0, 0, 1 << 22, TRC_OWNER_DEAD},
};

START_TEST(the_owner_is_told_by_more_than_its_pid)
{
	const struct life *l = &lives[_i];
	struct trc_ring_file ring;
	void *map = NULL;
	int fd;

	f.shared->process_start += (uint64_t)l->start_off;
	f.shared->pid_namespace += (uint64_t)l->namespace_off;
	f.shared->boot_id[3] ^= (uint8_t)l->boot_off;
	f.shared->pid += (uint32_t)l->pid_off;
	write_ring(path, f.mapped_bytes);
	if (l->mapped) {
		fd = open(path, O_RDONLY);
		map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
	}
	ck_assert_int_eq(trc_ring_file_open(&ring, path, error, sizeof(error)), 0);
	if (trc_namespace_here() == NS_INITIAL && l->owner == TRC_OWNER_UNKNOWN)
		ck_assert_msg(ring.owner == TRC_OWNER_DEAD, "all namespaces are inside the first");
	else
		ck_assert_msg(ring.owner == l->owner, "%s", l->says);
	ck_assert_uint_eq(ring.pid, ring.header.pid);
	ck_assert(!ring.closed);
	if (map)
		munmap(map, 4096);
	trc_ring_file_close(&ring);
}
END_TEST

START_TEST(a_zombie_is_dead)
{
	struct trc_ring_file ring;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child)
		_exit(0);
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	f.shared->pid = (uint32_t)child;
	f.shared->process_start = 0; /* not known */
	write_ring(path, f.mapped_bytes);
	ck_assert_int_eq(trc_ring_file_open(&ring, path, error, sizeof(error)), 0);
	ck_assert_int_eq(ring.owner, TRC_OWNER_DEAD);
	trc_ring_file_close(&ring);
	waitpid(child, NULL, 0);
}
END_TEST

/* ---- finding --------------------------------------------------------------------------- */

static int count_ours(void *context, const char *found)
{
	*(int *)context += !strncmp(found, dir, strlen(dir));
	return 0;
}

START_TEST(rings_are_found_by_their_names)
{
	static const struct {
		const char *name;
		int found;
	} names[] = {
		{"trc-0-12.3.ring", 1},
		{"trc-abcdef/12.3.ring", 1},
		{"12.3.ring", 0},
		{"trc-abcdef/trc-0-12.3.ring", 0},
		{"trc-abcdefg/12.3.ring", 0},
		{"trc-0-012.3.ring", 0},
		{"trc-0-12.3.ringx", 0},
		{"trc-0-12.ring", 0},
		{".trc-0-12.tmp", 0},
		{"trc-0-99999999999.0.ring", 0},
		{"trc-x-12.0.ring", 0},
		{"trc-abcdef/12.-3.ring", 0},
	};
	char at[256], sub[256];

	snprintf(sub, sizeof(sub), "%s/trc-abcdef", dir);
	mkdir(sub, 0700);
	snprintf(sub, sizeof(sub), "%s/trc-abcdefg", dir);
	mkdir(sub, 0700);
	unlink(path);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int found = 0;

		snprintf(at, sizeof(at), "%s/%s", dir, names[i].name);
		close(open(at, O_WRONLY | O_CREAT, 0600));
		ck_assert_int_eq(trc_ring_files_each(count_ours, &found), 0);
		ck_assert_msg(found == names[i].found, "%s", names[i].name);
		unlink(at);
	}
}
END_TEST

START_TEST(of_several_the_living_and_then_the_latest_is_found)
{
	struct trc_ring_file ring;
	uint64_t began = f.shared->start.realtime_ns;
	char at[3][256];

	for (unsigned int i = 0; i < 3; i++) {
		snprintf(at[i], sizeof(at[i]), "%s/trc-0-%u.%u.ring", dir, f.shared->pid, i + 1);
		f.shared->image = i + 1;
		f.shared->start.realtime_ns = began + (i == 1 ? 1000 : i);
		write_ring(at[i], f.mapped_bytes);
	}
	ck_assert_int_eq(trc_ring_file_find(&ring, f.shared->pid, error, sizeof(error)), 0);
	ck_assert_str_eq(ring.path, at[1]);
	trc_ring_file_close(&ring);
	close(f.fd); /* the third is the one that is mapped */
	f.fd = open(at[2], O_RDWR);
	ck_assert_ptr_eq(mmap(f.shared, f.mapped_bytes, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_FIXED, f.fd, 0),
			 f.shared);
	ck_assert_int_eq(trc_ring_file_find(&ring, f.shared->pid, error, sizeof(error)), 0);
	ck_assert_str_eq(ring.path, at[2]);
	trc_ring_file_close(&ring);
	ck_assert_int_eq(trc_ring_file_find(&ring, 1 << 30, error, sizeof(error)), -ESRCH);
	ck_assert_str_eq(error, "process 1073741824 is not recorded, and left no ring");
}
END_TEST

/* ---- a ring as a trace ----------------------------------------------------------------- */

START_TEST(a_dead_ring_becomes_a_whole_trace)
{
	struct fake_file file;

	atomic_store(&f.shared->crash.signal, 6);
	atomic_store(&f.shared->crash.state, TRC_CRASH_COMPLETE);
	write_ring(path, f.mapped_bytes);
	ck_assert_int_eq(make_trace(path), 0);
	expect_sound();
	fake_read_back(&f, &file);
	ck_assert_uint_gt(fake_count(&file, TRC_KIND_PARK), 500);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), f.shared->n_cells); /* of 300 */
	ck_assert_str_eq(trc_reader_info_get(file.r, "snapshot"), "recovered");
	ck_assert_str_eq(trc_reader_info_get(file.r, "ended"), "killed by signal 6 (SIGABRT)");
	fake_file_free(&file);
}
END_TEST

/* How long it was dead nobody knows: no longer than until it was looked at. */
START_TEST(when_it_was_found_dead_is_told)
{
	struct fake_file file;
	struct trc_sync_point before, after;
	uint64_t recovered_ns, start_ns = f.shared->start.monotonic_raw_ns;

	trc_clock_sync(&before);
	ck_assert_int_eq(make_trace(path), 0);
	trc_clock_sync(&after);
	fake_read_back(&f, &file);
	ck_assert_ptr_nonnull(trc_reader_info_get(file.r, "recovered_ns"));
	recovered_ns = strtoull(trc_reader_info_get(file.r, "recovered_ns"), NULL, 10);
	ck_assert_uint_ge(recovered_ns, before.monotonic_raw_ns - start_ns);
	ck_assert_uint_le(recovered_ns, after.monotonic_raw_ns - start_ns);
	fake_file_free(&file);
	f.shared->boot_id[3] ^= 1; /* another boot's clocks cannot be compared */
	write_ring(path, f.mapped_bytes);
	ck_assert_int_eq(make_trace(path), 0);
	fake_read_back(&f, &file);
	ck_assert_str_eq(trc_reader_info_get(file.r, "snapshot"), "recovered");
	ck_assert_ptr_null(trc_reader_info_get(file.r, "recovered_ns"));
	fake_file_free(&file);
}
END_TEST

START_TEST(a_sink_that_fails_is_an_error)
{
	f.sink_error = -ENOSPC;
	ck_assert_int_eq(make_trace(path), -ENOSPC);
	ck_assert_str_eq(error, "No space left on device");
}
END_TEST

/* ---- what is refused ------------------------------------------------------------------- */

static void no_magic(void)
{
	f.shared->magic[0] = 'X';
}
static void other_version(void)
{
	f.shared->layout_version++;
}
static void other_schema(void)
{
	f.shared->schema_hash++;
}
static void creating(void)
{
	atomic_store(&f.shared->state, TRC_SHARED_CREATING);
}
static void no_state(void)
{
	atomic_store(&f.shared->state, 77);
}
static void moved_area(void)
{
	f.shared->stacks_off += 4096;
}
static void no_procs(void)
{
	f.shared->n_procs = 0;
}
static void huge(void)
{
	f.shared->ring_words *= 1 << 10;
}
static void no_rate(void)
{
	f.shared->ticks_per_second = 0;
}
static void no_clock(void)
{
	f.shared->clock = 9;
}

static const struct refusal {
	void (*damage)(void);
	const char *says;
} refusals[] = {
	{no_magic, "not a trc ring"},
	{other_version, "made by another version of trc"},
	{other_schema, "made by a version of trc with other events"},
	{creating, "it is only half made"},
	{no_state, "it is only half made"},
	{moved_area, "its header is damaged"},
	{no_procs, "its header is damaged"},
	{huge, "its header is damaged"},
	{no_rate, "its header is damaged"},
	{no_clock, "its header is damaged"},
};

START_TEST(a_header_that_is_not_right_is_refused_by_name)
{
	refusals[_i].damage();
	write_ring(path, f.mapped_bytes);
	ck_assert_int_eq(make_trace(path), -EBADMSG);
	ck_assert_str_eq(error, refusals[_i].says);
}
END_TEST

START_TEST(a_file_cut_short_anywhere_is_refused)
{
	const struct trc_shared *h = f.shared;
	uint64_t cut[] = {4,
			  8,
			  100,
			  sizeof(*h) - 1,
			  sizeof(*h),
			  h->procs_off,
			  h->procs_off + 1,
			  h->overflow_off,
			  h->threads_off,
			  h->stacks_off,
			  h->strings_off,
			  h->labels_off,
			  h->modules_off,
			  h->epochs_off,
			  h->heap_off,
			  h->cells_off,
			  h->data_off,
			  h->data_off + 8,
			  h->total_bytes - 1};

	for (size_t i = 0; i < sizeof(cut) / sizeof(*cut); i++) {
		write_ring(path, cut[i]);
		ck_assert_int_eq(make_trace(path), -EBADMSG);
		ck_assert_str_eq(error, cut[i] < 8 ? "not a trc ring" : "it is cut short");
	}
}
END_TEST

START_TEST(an_empty_file_was_left_by_a_program_that_executed_another)
{
	write_ring(path, 0);
	ck_assert_int_eq(make_trace(path), -ENODATA);
	ck_assert_str_eq(error, "empty: its process went on to another program");
}
END_TEST

START_TEST(a_file_that_shrinks_meanwhile_is_an_error)
{
	struct trc_ring_file ring;

	ck_assert_int_eq(trc_ring_file_open(&ring, path, error, sizeof(error)), 0);
	ck_assert_int_eq(trc_ring_file_look(&ring), 0);
	ck_assert_int_eq(truncate(path, 5000), 0);
	ck_assert_int_eq(trc_ring_file_look(&ring), -EBADMSG);
	ck_assert_int_eq(trc_ring_file_to_trace(&ring, NULL, fake_sink, &f, error, sizeof(error)),
			 -EBADMSG);
	ck_assert_str_eq(error, "it is cut short");
	trc_ring_file_close(&ring);
}
END_TEST

START_TEST(a_file_of_holes_is_not_believed)
{
	/* Consistent, and a petabyte: if there were anything in it. */
	struct trc_layout_options options = {.ring_bytes = UINT64_C(1) << 34, .n_procs = 256};
	struct trc_shared h;

	memcpy(&h, f.shared, sizeof(h));
	ck_assert_int_eq(trc_layout_plan(&h, &options), 0);
	memcpy(f.shared, &h, sizeof(h));
	write_ring(path, sizeof(h));
	if (truncate(path, (off_t)h.total_bytes)) /* a file system that has no such sizes */
		return;
	ck_assert_int_eq(make_trace(path), -EBADMSG);
	ck_assert_str_eq(error, "it claims to be larger than what it holds");
}
END_TEST

START_TEST(only_a_plain_file_of_our_own_is_read)
{
	char other[256];

	snprintf(other, sizeof(other), "%s/other", dir);
	ck_assert_int_eq(make_trace(dir), -EBADMSG);
	ck_assert_str_eq(error, "not a trc ring");
	ck_assert_int_eq(mkfifo(other, 0600), 0);
	ck_assert_int_eq(make_trace(other), -EBADMSG);
	ck_assert_str_eq(error, "not a trc ring");
	unlink(other);
	ck_assert_int_eq(make_trace(other), -ENOENT);
	ck_assert_str_eq(error, "No such file or directory");
	ck_assert_int_eq(symlink(path, other), 0);
	ck_assert_int_eq(make_trace(other), -EPERM);
	ck_assert_str_eq(error, "it is a symbolic link");
	unlink(other);
	ck_assert_int_eq(link(path, other), 0);
	ck_assert_int_eq(make_trace(path), -EPERM);
	ck_assert_str_eq(error, "it has other names (hard links)");
	unlink(other);
	ck_assert_int_eq(chmod(path, 0660), 0);
	ck_assert_int_eq(make_trace(path), -EPERM);
	ck_assert_str_eq(error, "others than its owner may write to it");
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_int_eq(make_trace(path), 0);
}
END_TEST

START_TEST(another_users_ring_is_for_root_only)
{
	if (geteuid() != 0)
		return; /* cannot be set up */
	ck_assert_int_eq(chown(path, 1234, 1234), 0);
	ck_assert_int_eq(make_trace(path), 0);
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(seteuid(4321), 0);
	ck_assert_int_eq(make_trace(path), -EPERM);
	ck_assert_str_eq(error, "it is another user's");
	ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

/* ---- content that lies ----------------------------------------------------------------- */

enum { FUZZ_SECONDS = 2 };

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t odd_value(void)
{
	static const uint64_t odd[] = {0,
				       1,
				       2,
				       7,
				       8,
				       UINT32_MAX,
				       UINT64_MAX,
				       UINT64_C(1) << 63,
				       UINT64_C(1) << 62,
				       UINT64_C(1) << 32,
				       1023,
				       1024,
				       1025};
	uint64_t n = next_random();

	switch (n % 4) {
	case 0:
		return odd[n / 4 % (sizeof(odd) / sizeof(*odd))];
	case 1:
		return fake_time(&f, n / 4 % 10000);
	case 2:
		return n / 4 % 10000;
	default:
		return next_random();
	}
}

/* Words of the area at `off` are overwritten; small areas are hit as often as large ones. */
static void spoil(void)
{
	const struct trc_shared *h = f.shared;
	uint64_t area[][2] = {
		{offsetof(struct trc_shared, next_serial), sizeof(*h)},
		{h->procs_off, h->procs_off + h->n_procs * sizeof(struct trc_ring)},
		{h->overflow_off, h->overflow_off + sizeof(struct trc_overflow)},
		{h->threads_off, h->stacks_off},
		{h->stacks_off, h->strings_off},
		{h->strings_off, h->labels_off},
		{h->labels_off, h->modules_off},
		{h->modules_off, h->epochs_off},
		{h->epochs_off, h->heap_off},
		{h->heap_off, h->cells_off},
		{h->cells_off, h->data_off},
		{h->data_off, h->total_bytes},
	};
	uint64_t n = 1 + next_random() % 30;

	while (n--) {
		uint64_t *a = area[next_random() % (sizeof(area) / sizeof(*area))];
		uint64_t words = (a[1] - a[0]) / 8;
		/* Mostly near the beginning, where there is something. */
		uint64_t at = next_random() % (next_random() % 2 && words > 200 ? 200 : words);

		((volatile uint64_t *)((char *)f.shared + a[0]))[at] = odd_value();
	}
}

static void try_spoilt(const char *before, uint64_t seed)
{
	struct trc_snapshot_options options;
	struct fake_file file;

	random_state = 0x9e3779b97f4a7c15 ^ seed;
	for (int i = 0; i < 4; i++)
		next_random();
	memcpy(f.shared, before, f.mapped_bytes);
	spoil();
	options = (struct trc_snapshot_options){
		.window_ns = seed % 3 ? UINT64_MAX : 1000, .all = seed & 1, .dead = seed & 2};
	f.from_file = seed & 4;
	fake_snapshot(&f, &options, &file); /* sound, whatever it holds */
	fake_file_free(&file);
}

START_TEST(no_content_of_a_ring_makes_a_bad_trace)
{
	time_t end = time(NULL) + FUZZ_SECONDS;
	char *before = malloc(f.mapped_bytes);
	uint64_t seed = (uint64_t)_i << 32;

	memcpy(before, f.shared, f.mapped_bytes);
	for (; time(NULL) <= end; seed++)
		try_spoilt(before, seed);
	free(before);
}
END_TEST

/* Every word of the header, one by one. */
START_TEST(no_header_is_trusted)
{
	size_t n_words = offsetof(struct trc_shared, trigger) / 8;
	struct trc_shared *before = malloc(sizeof(*before));
	int fd = open(path, O_WRONLY);

	memcpy(before, f.shared, sizeof(*before));
	for (size_t i = 0; i < n_words; i++) {
		static const uint64_t values[] = {0,
						  1,
						  UINT64_MAX,
						  UINT64_C(1) << 63,
						  0x4141414141414141,
						  UINT32_MAX,
						  UINT64_C(1) << 32};

		for (size_t k = 0; k < sizeof(values) / sizeof(*values); k++) {
			int err;

			((uint64_t *)f.shared)[i] = values[k];
			ck_assert_int_eq(pwrite(fd, f.shared, sizeof(*f.shared), 0),
					 sizeof(*f.shared));
			err = make_trace(path);
			ck_assert_msg(err == 0 || error[0], "word %zu: no reason given", i);
			if (!err)
				expect_sound();
			memcpy(f.shared, before, sizeof(*f.shared));
		}
	}
	close(fd);
	free(before);
}
END_TEST

static Suite *ring_file_suite(void)
{
	Suite *suite = suite_create("ring files");
	TCase *t = tcase_create("ring files");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, the_owner_is_told_by_more_than_its_pid, 0,
			    sizeof(lives) / sizeof(*lives));
	tcase_add_test(t, a_zombie_is_dead);
	tcase_add_test(t, rings_are_found_by_their_names);
	tcase_add_test(t, of_several_the_living_and_then_the_latest_is_found);
	tcase_add_test(t, a_dead_ring_becomes_a_whole_trace);
	tcase_add_test(t, when_it_was_found_dead_is_told);
	tcase_add_test(t, a_sink_that_fails_is_an_error);
	tcase_add_loop_test(t, a_header_that_is_not_right_is_refused_by_name, 0,
			    sizeof(refusals) / sizeof(*refusals));
	tcase_add_test(t, a_file_cut_short_anywhere_is_refused);
	tcase_add_test(t, an_empty_file_was_left_by_a_program_that_executed_another);
	tcase_add_test(t, a_file_that_shrinks_meanwhile_is_an_error);
	tcase_add_test(t, a_file_of_holes_is_not_believed);
	tcase_add_test(t, only_a_plain_file_of_our_own_is_read);
	tcase_add_test(t, another_users_ring_is_for_root_only);
	tcase_add_loop_test(t, no_content_of_a_ring_makes_a_bad_trace, 0, 2);
	tcase_add_test(t, no_header_is_trusted);
	suite_add_tcase(suite, t);
	return suite;
}

int main(void)
{
	return suite_run(ring_file_suite());
}
