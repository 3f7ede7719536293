/*
 * otel_service_test.c - the name of a process's service: of this process, and in bytes of all kinds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

static void check_process(void)
{
	struct {
		char signature[8];
		uint32_t version, payload_bytes;
		uint64_t published_ns;
		const void *payload;
	} * h;
	int fd = memfd_create("OTEL_CTX", 0);
	uint32_t pid = (uint32_t)getpid();
	char name[64], shorter[4];

	if (fd < 0 || ftruncate(fd, 4096))
		return;
	CHECK(!trc_otel_service(pid, name, sizeof(name)));
	h = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	h->version = 2;
	h->payload = cases[0].bytes;
	h->payload_bytes = (uint32_t)cases[0].n;
	h->published_ns = 1;
	CHECK(!trc_otel_service(pid, name, sizeof(name))); /* not signed yet */
	memcpy(h->signature, "OTEL_CTX", 8);
	CHECK(trc_otel_service(pid, name, sizeof(name)) && !strcmp(name, "ng"));
	CHECK(trc_otel_service(pid, shorter, 2) && !strcmp(shorter, "n"));
	h->published_ns = 0; /* being changed */
	CHECK(!trc_otel_service(pid, name, sizeof(name)));
	h->published_ns = 2;
	h->version = 3;
	CHECK(!trc_otel_service(pid, name, sizeof(name)));
	h->version = 2;
	h->payload_bytes = UINT32_MAX;
	CHECK(!trc_otel_service(pid, name, sizeof(name)));
	h->payload_bytes = 64;
	h->payload = (void *)16;
	CHECK(!trc_otel_service(pid, name, sizeof(name)));
	CHECK(!trc_otel_service(0x7fffffff, name, sizeof(name)));
	munmap(h, 4096);
	close(fd);
}

int main(void)
{
	check_cases();
	check_random();
	check_process();
	return failed;
}
