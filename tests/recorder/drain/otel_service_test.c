/*
 * otel_service_test.c - the name of a process's service: of this process, in bytes of all kinds, and of
 * processes that would rather not be read.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "recorder/drain/otel_service.h"

static int failed;

#define CHECK(holds)                                                                               \
	do {                                                                                       \
		if (!(holds)) {                                                                    \
			printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, #holds);                    \
			failed = 1;                                                                \
		}                                                                                  \
	} while (0)

#define KEY "\x0a\x0cservice.name"

static const struct {
	const char *what, *bytes;
	size_t n;
	const char *name; /* NULL = none */
} cases[] = {
#define BYTES(text) text, sizeof(text) - 1
	{"one attribute", BYTES("\x0a\x14" KEY "\x12\x04\x0a\x02ng"), "ng"},
	{"behind another attribute, and a number",
	 BYTES("\x10\x05\x0a\x05\x0a\x01k\x12\x00\x0a\x14" KEY "\x12\x04\x0a\x02ng"), "ng"},
	{"within a message", BYTES("\x0a\x16\x0a\x14" KEY "\x12\x04\x0a\x02ng"), "ng"},
	{"too deep", BYTES("\x0a\x18\x0a\x16\x0a\x14" KEY "\x12\x04\x0a\x02ng"), NULL},
	{"another key", BYTES("\x0a\x14\x0a\x0cservice.nam_\x12\x04\x0a\x02ng"), NULL},
	{"a number as its value", BYTES("\x0a\x12" KEY "\x12\x02\x18\x07"), NULL},
	{"an empty name", BYTES("\x0a\x12" KEY "\x12\x02\x0a\x00"), NULL},
	{"a name with a zero in it", BYTES("\x0a\x14" KEY "\x12\x04\x0a\x02n\0"), NULL},
	{"ends in the name", BYTES("\x0a\x14" KEY "\x12\x04\x0a\x02n"), NULL},
	{"a length without end", BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), NULL},
	{"a length beyond the end", BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), NULL},
	{"a group", BYTES("\x0b\x0a\x14" KEY "\x12\x04\x0a\x02ng"), NULL},
	{"nothing", BYTES(""), NULL},
};

static void check_cases(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char name[64] = "";
		/* At the end of its memory, for what looks behind it. */
		uint8_t *bytes = malloc(cases[i].n ? cases[i].n : 1);
		bool found;

		memcpy(bytes, cases[i].bytes, cases[i].n);
		found = trc_otel_service_in(bytes, cases[i].n, name, sizeof(name));
		free(bytes);
		if (found != (cases[i].name != NULL) ||
		    (found && strcmp(name, cases[i].name) != 0)) {
			printf("FAIL %s: \"%s\"\n", cases[i].what, name);
			failed = 1;
		}
	}
}

/* Any bytes: an answer, and no byte read beyond them. */
static void check_random(void)
{
	uint32_t seed = 1;

	for (int round = 0; round < 200000; round++) {
		static const uint8_t likely[] = {0x0a, 0x12, 0x02, 0x03, 0x01, 0x0c, 0x08, 0x10, 0x00};
		size_t n = (size_t)round % 48;
		uint8_t *bytes = malloc(n ? n : 1);
		char name[8];

		for (size_t i = 0; i < n; i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (uint8_t)(seed >> 28 < sizeof(likely) ? likely[seed >> 28] : seed >> 20);
		}
		if (trc_otel_service_in(bytes, n, name, sizeof(name)) && !memchr(name, 0, 8))
			CHECK(false);
		free(bytes);
	}
}

struct header {
	char signature[8];
	uint32_t version, payload_bytes;
	uint64_t published_ns;
	const void *payload;
};

/* A header in this mapping, or in one of memfd's: of cases[0], which lies at `payload`. */
static struct header *publish(void *mapping, void *payload)
{
	int fd = mapping ? -1 : memfd_create("OTEL_CTX", 0);
	struct header *h = mapping;

	if (fd >= 0 && !ftruncate(fd, 4096))
		h = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (!h || h == MAP_FAILED)
		exit(77);
	h->version = 2;
	h->payload = payload;
	h->payload_bytes = (uint32_t)cases[0].n;
	h->published_ns = 1;
	memcpy(h->signature, "OTEL_CTX", 8);
	return h;
}

static void *memory(void)
{
	void *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memcpy(at, cases[0].bytes, cases[0].n);
}

static void check_process(void)
{
	uint32_t pid = (uint32_t)getpid();
	char name[TRC_OTEL_SERVICE_BYTES], shorter[4];
	struct header *h;

	CHECK(trc_otel_service(pid, name) == -ENOENT);
	h = publish(NULL, memory());
	memset(h->signature, 0, 8);
	CHECK(trc_otel_service(pid, name) == -ENOENT); /* not signed yet */
	memcpy(h->signature, "OTEL_CTX", 8);
	CHECK(!trc_otel_service(pid, name) && !strcmp(name, "ng"));
	CHECK(trc_otel_service_read(pid, shorter, 2) && !strcmp(shorter, "n"));
	h->published_ns = 0; /* being changed */
	CHECK(trc_otel_service(pid, name) == -ENOENT);
	h->published_ns = 2;
	h->version = 3;
	CHECK(trc_otel_service(pid, name) == -ENOENT);
	h->version = 2;
	h->payload_bytes = UINT32_MAX;
	CHECK(trc_otel_service(pid, name) == -ENOENT);
	h->payload_bytes = 64;
	h->payload = (void *)16;
	CHECK(trc_otel_service(pid, name) == -ENOENT);
	h->payload = (void *)(UINTPTR_MAX - 8);
	CHECK(trc_otel_service(pid, name) == -ENOENT);
	CHECK(trc_otel_service(0x7fffffff, name) == -ENOENT);
	munmap(h, 4096);
}

/* ---- other processes ------------------------------------------------------------------- */

static void *file_mapping(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	void *at;

	if (fd < 0 || ftruncate(fd, 8192))
		exit(77);
	at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return memcpy(at, cases[0].bytes, cases[0].n);
}

static void in_memory(void)
{
	publish(NULL, memory());
}

static void in_two_mappings(void)
{
	char *at = memory();

	/* Another mapping from the second page on, as memory all the same. */
	mmap(at + 4096, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memmove(at + 4090, at, cases[0].n);
	publish(NULL, at + 4090);
}

static void in_a_file(void)
{
	publish(NULL, file_mapping("payload"));
}

static void from_memory_into_a_file(void)
{
	char *at = memory();
	int fd = open("payload", O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || ftruncate(fd, 4096))
		exit(77);
	mmap(at + 4096, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	memmove(at + 4090, at, cases[0].n);
	publish(NULL, at + 4090);
}

static void by_a_file_of_that_name(void)
{
	void *payload = memory();

	mkdir("a ", 0700);
	publish(file_mapping("a /memfd:OTEL_CTX"), payload);
}

/* The kernel waits for this process to provide the page, which it never does. */
static void where_reading_waits(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register where;
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, 0);

	where = (struct uffdio_register){.range = {(uintptr_t)at, 4096},
					 .mode = UFFDIO_REGISTER_MODE_MISSING};
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &where))
		exit(77);
	publish(NULL, at);
}

static const struct {
	const char *what;
	void (*do_it)(void);
	int result;
} others[] = {
	{"a payload in memory", in_memory, 0},
	{"a payload in two mappings of memory", in_two_mappings, 0},
	{"a payload in a file", in_a_file, -ENOENT},
	{"a payload that ends in a file", from_memory_into_a_file, -ENOENT},
	{"a header in a file with the name of memory", by_a_file_of_that_name, -ENOENT},
	{"a payload that nobody can read", where_reading_waits, -ETIMEDOUT},
};

static void check_other(size_t i)
{
	char name[TRC_OTEL_SERVICE_BYTES] = "", byte;
	int ready[2], result;
	pid_t child;

	if (pipe(ready))
		exit(1);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		others[i].do_it();
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1) {
		result = trc_otel_service((uint32_t)child, name);
		if (result != others[i].result || (!result && strcmp(name, "ng") != 0)) {
			printf("FAIL %s: %d \"%s\"\n", others[i].what, result, name);
			failed = 1;
		}
	} else {
		printf("not tried: %s\n", others[i].what);
	}
	close(ready[0]);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void check_others(void)
{
	char dir[] = "/tmp/trc-otel-XXXXXX";

	if (!mkdtemp(dir) || chdir(dir))
		exit(1);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		check_other(i);
	unlink("payload");
	unlink("a /memfd:OTEL_CTX");
	rmdir("a ");
	CHECK(!chdir("/") && !rmdir(dir));
}

int main(void)
{
	check_cases();
	check_random();
	check_process();
	check_others();
	return failed;
}
