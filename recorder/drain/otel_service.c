/* otel_service.c - see otel_service.h. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include "format/hex.h"
#include "format/pages.h"
#include "format/path.h"
#include "format/raw.h"
#include "otel_service.h"

enum {
	VERSION_MIN = 1, /* 1 is for development */
	VERSION_MAX = 2,
	PAYLOAD_BYTES_MAX = 65536,
	MAPS_BYTES_MAX = 64 << 20,
	TRIES_MAX = 16, /* mappings of that name: a program may have made any number */
	READS_MAX = 3,	/* while the process publishes another */
	LINE_BYTES = 256,
};

/* ---- protobuf -------------------------------------------------------------------------- */

struct cursor {
	const uint8_t *at, *end;
};

enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

static bool varint_take(struct cursor *c, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; shift < 64; shift += 7) {
		if (c->at == c->end)
			return false;
		*value |= (uint64_t)(*c->at & 0x7f) << shift;
		if (!(*c->at++ & 0x80))
			return true;
	}
	return false;
}

static bool bytes_skip(struct cursor *c, uint64_t n_bytes)
{
	if (n_bytes > (uint64_t)(c->end - c->at))
		return false;
	c->at += n_bytes;
	return true;
}

/* The next field with this number whose value is bytes; false at the end, and where this is no
 * protobuf. */
static bool field_find(struct cursor *c, uint64_t number, struct cursor *value)
{
	uint64_t tag, n;

	while (varint_take(c, &tag)) {
		bool ok = false;

		if ((tag & 7) == WIRE_VARINT)
			ok = varint_take(c, &n);
		else if ((tag & 7) == WIRE_64 || (tag & 7) == WIRE_32)
			ok = bytes_skip(c, (tag & 7) == WIRE_64 ? 8 : 4);
		else if ((tag & 7) == WIRE_BYTES && varint_take(c, &n)) {
			value->at = c->at;
			ok = bytes_skip(c, n);
			value->end = c->at;
			if (ok && tag >> 3 == number)
				return true;
		}
		if (!ok)
			return false;
	}
	return false;
}

/* A KeyValue: key = 1, value = 2; of an AnyValue string_value = 1. */
static bool is_service(struct cursor key_value, struct cursor *text)
{
	static const char service[] = "service.name";
	struct cursor again = key_value, key, value;

	return field_find(&key_value, 1, &key) &&
	       (size_t)(key.end - key.at) == sizeof(service) - 1 &&
	       !memcmp(key.at, service, sizeof(service) - 1) && field_find(&again, 2, &value) &&
	       field_find(&value, 1, text);
}

/* attributes = 1 of a Resource.  Later drafts have the Resource as field 1 of a message of their
 * own. */
static bool service_find(struct cursor message, int depth, struct cursor *text)
{
	struct cursor field;

	while (field_find(&message, 1, &field))
		if (is_service(field, text) || (depth && service_find(field, depth - 1, text)))
			return true;
	return false;
}

bool trc_otel_service_in(const uint8_t *resource, size_t resource_bytes, char *name, size_t n_bytes)
{
	struct cursor text;
	size_t n;

	if (!service_find((struct cursor){resource, resource + resource_bytes}, 1, &text))
		return false;
	n = (size_t)(text.end - text.at);
	if (!n || memchr(text.at, '\0', n))
		return false;
	if (n >= n_bytes)
		n = n_bytes - 1;
	memcpy(name, text.at, n);
	name[n] = '\0';
	return true;
}

/* ---- /proc/PID/maps -------------------------------------------------------------------- */

/* Read by and by. */
struct lines {
	int fd;
	size_t n, at;
	uint64_t read_bytes;
	char buffer[1024];
};

static bool byte_take(struct lines *l, char *byte)
{
	long n;

	if (l->at == l->n) {
		if (l->read_bytes >= MAPS_BYTES_MAX)
			return false;
		n = trc_raw3(SYS_read, l->fd, l->buffer, sizeof(l->buffer));
		if (n <= 0)
			return false;
		l->n = (size_t)n;
		l->at = 0;
		l->read_bytes += l->n;
	}
	*byte = l->buffer[l->at++];
	return true;
}

static bool line_take(struct lines *l, char *line, size_t n_bytes)
{
	size_t n = 0;
	char byte;

	while (byte_take(l, &byte)) {
		if (byte == '\n') {
			line[n] = '\0';
			return true;
		}
		if (n + 1 < n_bytes)
			line[n++] = byte;
	}
	return false;
}

/* A line of the file: from-to permissions offset major:minor inode name. */
struct mapping {
	uint64_t from, to, major, minor, inode;
	const char *name; /* with what is in front of it */
};

static bool number_take(const char **at, unsigned int base, char end, uint64_t *value)
{
	*value = 0;
	for (; **at && **at != end; ++*at) {
		int digit = trc_hex_digit(**at);

		if (digit < 0 || (unsigned int)digit >= base)
			return false;
		*value = *value * base + (unsigned int)digit;
	}
	return *(*at) && *(*at)++ == end;
}

static bool field_pass(const char **at)
{
	const char *space = strchr(*at, ' ');

	if (space)
		*at = space + 1;
	return space != NULL;
}

static bool service_mapping_parse(const char *line, struct mapping *m)
{
	if (!number_take(&line, 16, '-', &m->from) || !number_take(&line, 16, ' ', &m->to) ||
	    !field_pass(&line) || !field_pass(&line) || !number_take(&line, 16, ':', &m->major) ||
	    !number_take(&line, 16, ' ', &m->minor) || !number_take(&line, 10, ' ', &m->inode))
		return false;
	m->name = line - 1;
	return true;
}

/* otel_service:Q1 */
static bool is_memory(const struct mapping *m, uint64_t shm_device)
{
	bool anonymous = !m->major && !m->minor && !m->inode;

	return anonymous ||
	       (shm_device && m->major == major(shm_device) && m->minor == minor(shm_device));
}

static bool is_context(const struct mapping *m)
{
	static const char *const names[] = {"/memfd:OTEL_CTX", "[anon_shmem:OTEL_CTX]",
					    "[anon:OTEL_CTX]"};
	const char *name = m->name + strspn(m->name, " ");
	size_t n = trc_path_bytes(name, strlen(name));

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == n && !memcmp(name, names[i], n))
			return true;
	return false;
}

/* The device of memory that has descriptors, memfd's; 0 = not known. */
static uint64_t shm_device_of_memfd(void)
{
	int fd = (int)trc_raw2(SYS_memfd_create, "trc", MFD_CLOEXEC);
	struct stat st;
	uint64_t device = 0;

	if (fd >= 0 && !fstat(fd, &st))
		device = st.st_dev;
	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	return device;
}

static void maps_path(char path[32], uint32_t pid)
{
	static const char proc[] = "/proc/", maps[] = "/maps";
	char digits[12], *at = digits + sizeof(digits);
	size_t n;

	do
		*--at = (char)('0' + pid % 10);
	while (pid /= 10);
	n = (size_t)(digits + sizeof(digits) - at);
	memcpy(path, proc, sizeof(proc) - 1);
	memcpy(path + sizeof(proc) - 1, at, n);
	memcpy(path + sizeof(proc) - 1 + n, maps, sizeof(maps));
}

static bool lines_open(struct lines *l, uint32_t pid)
{
	char path[32];

	maps_path(path, pid);
	l->n = l->at = 0;
	l->read_bytes = 0;
	l->fd = (int)trc_raw4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	return l->fd >= 0;
}

static bool service_mapping_take(struct lines *l, char *line, size_t n_bytes, struct mapping *m)
{
	while (line_take(l, line, n_bytes))
		if (service_mapping_parse(line, m))
			return true;
	return false;
}

/* otel_service:Q1: all of these bytes lie in memory. */
static bool bytes_are_memory(uint32_t pid, uint64_t from, uint64_t n_bytes, uint64_t shm_device)
{
	struct lines lines;
	char line[LINE_BYTES];
	struct mapping m;
	bool whole = false;

	if (from + n_bytes < from || !lines_open(&lines, pid))
		return false;
	while (!whole && service_mapping_take(&lines, line, sizeof(line), &m) && m.from <= from) {
		if (m.to <= from)
			continue;
		if (!is_memory(&m, shm_device))
			break;
		n_bytes = n_bytes > m.to - from ? n_bytes - (m.to - from) : 0;
		from = m.to;
		whole = !n_bytes;
	}
	trc_raw1(SYS_close, lines.fd);
	return whole;
}

/* ---- the mapping ----------------------------------------------------------------------- */

struct header {
	char signature[8];
	uint32_t version, payload_bytes;
	uint64_t published_ns, payload;
};

static bool remote_copy(uint32_t pid, void *to, uint64_t from, size_t n_bytes)
{
	struct iovec local = {to, n_bytes}, remote = {(void *)(uintptr_t)from, n_bytes};

	return trc_raw6(SYS_process_vm_readv, pid, (long)(uintptr_t)&local, 1,
			(long)(uintptr_t)&remote, 1, 0) == (long)n_bytes;
}

static bool header_read(uint32_t pid, uint64_t at, struct header *h)
{
	return remote_copy(pid, h, at, sizeof(*h)) && !memcmp(h->signature, "OTEL_CTX", 8) &&
	       h->version >= VERSION_MIN && h->version <= VERSION_MAX && h->payload_bytes &&
	       h->payload_bytes <= PAYLOAD_BYTES_MAX;
}

/* Whole: it was published before it was copied, and nothing else since. */
static bool payload_read(uint32_t pid, uint64_t at, uint64_t shm_device, uint8_t *payload,
			 struct header *h)
{
	struct header after;

	for (int i = 0; i < READS_MAX; i++) {
		if (!header_read(pid, at, h))
			return false;
		if (h->published_ns &&
		    bytes_are_memory(pid, h->payload, h->payload_bytes, shm_device) &&
		    remote_copy(pid, payload, h->payload, h->payload_bytes) &&
		    header_read(pid, at, &after) && !memcmp(h, &after, sizeof(after)))
			return true;
	}
	return false;
}

static bool mapping_read(uint32_t pid, uint64_t at, uint64_t shm_device, char *name, size_t n_bytes)
{
	uint8_t *payload = trc_pages_map(PAYLOAD_BYTES_MAX);
	struct header h;
	bool found = payload && payload_read(pid, at, shm_device, payload, &h) &&
		     trc_otel_service_in(payload, h.payload_bytes, name, n_bytes);

	trc_pages_unmap(payload, PAYLOAD_BYTES_MAX);
	return found;
}

bool trc_otel_service_read(uint32_t pid, char *name, size_t n_bytes)
{
	uint64_t shm_device = 0;
	unsigned int n_tried = 0;
	struct lines lines;
	char line[LINE_BYTES];
	struct mapping m;
	bool found = false, asked = false;

	if (!lines_open(&lines, pid))
		return false;
	while (!found && n_tried < TRIES_MAX &&
	       service_mapping_take(&lines, line, sizeof(line), &m)) {
		if (!is_context(&m))
			continue;
		/* Only now: in a program with a filter of system calls, memfd_create() may be one
		 * that ends it, if it publishes nothing. */
		if (!asked)
			shm_device = shm_device_of_memfd();
		asked = true;
		if (is_memory(&m, shm_device) && ++n_tried)
			found = mapping_read(pid, m.from, shm_device, name, n_bytes);
	}
	trc_raw1(SYS_close, lines.fd);
	return found;
}
