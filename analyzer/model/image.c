/* image.c - see image.h. */
#include "image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts.h"
#include "format/check.h"

enum {
	ALIGNED_BYTES = 64,
	PAGE_BYTES = 4096,
	CHUNK_BYTES = 1 << 20, /* of the checksum, and of what is written at once */
	AREA_BYTES = 1 << 21,
	ROWS_AT_ONCE = 1 << 14, /* between pauses, of those whose texts are noted */
};

static const char magic[16] = "trc image 1";

struct head {
	char magic[sizeof(magic)];
	uint64_t base;	  /* the address that pointers are right for (G1) */
	uint64_t n_bytes; /* of the file */
	uint64_t lists_off;
	uint64_t check; /* of what follows the head, then of the head, in which it is 0 */
	char key[TRC_IMAGE_KEY_BYTES];
};

/* Before the rows of a list. */
struct list_head {
	uint64_t n, row_bytes;
};

/* Texts that lie together in memory, and where in the file they lie. */
struct stretch {
	const char *from;
	size_t n_bytes;
	uint64_t off;
};

enum phase { MEASURED, WRITTEN, READ };

struct trc_image {
	enum phase phase;
	int err;
	uint64_t base, off; /* off: how far it is */

	/* While it is measured or written. */
	int fd;
	const struct trc_image_writing *writing;
	struct trc_array stretches; /* struct stretch: those of the model's pool, by address */
	struct trc_array others;    /* struct stretch: a text each */
	struct trc_index other_row; /* by address */
	size_t last;		    /* the stretch that was asked for last */
	uint64_t texts_end;
	uint8_t *chunk;
	size_t n_chunk;
	uint64_t check;

	/* While it is read, and afterwards. */
	uint8_t *map;
	size_t n_bytes;
};

static void image_fail(struct trc_image *i, int err)
{
	i->err = i->err ? i->err : err;
}

bool trc_image_is_read(const struct trc_image *i)
{
	return i->phase == READ;
}

int trc_image_error(const struct trc_image *i)
{
	return i->err;
}

bool trc_image_pauses(const struct trc_image_pause *pause)
{
	return pause->call && pause->call(pause->context);
}

static void image_ask(struct trc_image *i)
{
	if (!i->err && trc_image_pauses(&i->writing->pause))
		image_fail(i, -ECANCELED);
}

/* ---- bytes out --------------------------------------------------------------------------- */

static void flush(struct trc_image *i)
{
	size_t done = 0;

	if (i->n_chunk)
		i->check = trc_check64(i->chunk, i->n_chunk, i->check);
	while (!i->err && done < i->n_chunk) {
		ssize_t n = write(i->fd, i->chunk + done, i->n_chunk - done);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EINTR)
			image_fail(i, -errno);
		else if (!n)
			image_fail(i, -EIO);
	}
	i->n_chunk = 0;
	image_ask(i);
}

/* NULL: zeroes. */
static void image_put(struct trc_image *i, const void *bytes, uint64_t n_bytes)
{
	const uint8_t *from = bytes;

	i->off += n_bytes;
	while (i->phase == WRITTEN && !i->err && n_bytes) {
		size_t n = CHUNK_BYTES - i->n_chunk;

		n = n_bytes < n ? (size_t)n_bytes : n;
		if (from) {
			memcpy(i->chunk + i->n_chunk, from, n);
			from += n;
		} else {
			memset(i->chunk + i->n_chunk, 0, n);
		}
		i->n_chunk += n;
		n_bytes -= n;
		if (i->n_chunk == CHUNK_BYTES)
			flush(i);
	}
}

static uint64_t aligned(uint64_t off)
{
	return (off + ALIGNED_BYTES - 1) / ALIGNED_BYTES * ALIGNED_BYTES;
}

static void put_to(struct trc_image *i, uint64_t off)
{
	image_put(i, NULL, off - i->off);
}

/* ---- texts ------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* What the model's pool has now: later texts are in no row that is written. */
static int list_pool(struct trc_image *i, const struct trc_pool *pool)
{
	const struct trc_pool_chunk *chunk = NULL;
	const char *bytes;
	size_t n_bytes;

	while ((chunk = trc_pool_next(pool, chunk, &bytes, &n_bytes))) {
		struct stretch *s = trc_array_add(&i->stretches);

		if (!s)
			return -ENOMEM;
		*s = (struct stretch){.from = bytes, .n_bytes = n_bytes};
	}
	if (i->stretches.n)
		qsort(i->stretches.row, i->stretches.n, sizeof(struct stretch), by_address);
	return 0;
}

/* Where the texts lie, once all are known. */
static void place_texts(struct trc_image *i)
{
	struct stretch *s = i->stretches.row;
	uint64_t off = PAGE_BYTES;

	for (size_t k = 0; k < i->stretches.n; k++) {
		s[k].off = off;
		off += s[k].n_bytes;
	}
	s = i->others.row;
	for (size_t k = 0; k < i->others.n; k++) {
		s[k].off = off;
		off += s[k].n_bytes;
	}
	i->texts_end = off;
}

static void put_texts(struct trc_image *i)
{
	const struct stretch *s = i->stretches.row;

	for (size_t k = 0; k < i->stretches.n; k++)
		image_put(i, s[k].from, s[k].n_bytes);
	s = i->others.row;
	for (size_t k = 0; k < i->others.n; k++)
		image_put(i, s[k].from, s[k].n_bytes);
}

static bool lies_in(const struct stretch *s, const char *text)
{
	return text >= s->from && (size_t)(text - s->from) < s->n_bytes;
}

/* The pool's stretch that has the text, or NULL. */
static const struct stretch *pool_stretch(struct trc_image *i, const char *text)
{
	const struct stretch *s = i->stretches.row;
	size_t low = 0, high = i->stretches.n;

	if (i->last < i->stretches.n && lies_in(&s[i->last], text))
		return &s[i->last];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s[middle].from <= text)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !lies_in(&s[low - 1], text))
		return NULL;
	i->last = low - 1;
	return &s[low - 1];
}

/* A literal, or what somebody else's memory has; NULL without memory. */
static const struct stretch *other_text(struct trc_image *i, const char *text)
{
	uint64_t key = (uint64_t)(uintptr_t)text;
	uint32_t row = trc_index_get(&i->other_row, key);
	struct stretch *s;

	if (row != TRC_INDEX_NONE)
		return (struct stretch *)i->others.row + row;
	if (i->phase == WRITTEN) /* rows have changed meanwhile */
		return NULL;
	s = trc_array_add(&i->others);
	if (!s || trc_index_put(&i->other_row, key, (uint32_t)(i->others.n - 1)))
		return NULL;
	*s = (struct stretch){.from = text, .n_bytes = strlen(text) + 1};
	return s;
}

/* Its address in the file that is mapped at its base; while lists are measured only notes it. */
static uint64_t image_address(struct trc_image *i, const char *text)
{
	const struct stretch *s = text ? pool_stretch(i, text) : NULL;

	if (!text)
		return 0;
	if (!s)
		s = other_text(i, text);
	if (!s) {
		image_fail(i, -ENOMEM);
		return 0;
	}
	return i->base + s->off + (uint64_t)(text - s->from);
}

/* ---- lists out --------------------------------------------------------------------------- */

static void texts_note(struct trc_image *i, const char *rows, size_t n, size_t row_bytes,
		       const size_t *texts)
{
	for (size_t k = 0; k < n && !i->err; k++) {
		for (const size_t *at = texts; *at != TRC_IMAGE_NO_TEXT; at++) {
			const char *text;

			memcpy(&text, rows + k * row_bytes + *at, sizeof(text));
			image_address(i, text);
		}
		if (k % ROWS_AT_ONCE == ROWS_AT_ONCE - 1)
			image_ask(i);
	}
}

static void put_with_texts(struct trc_image *i, const char *rows, size_t n, size_t row_bytes,
			   const size_t *texts)
{
	char *row = malloc(row_bytes);

	if (!row)
		image_fail(i, -ENOMEM);
	for (size_t k = 0; k < n && !i->err; k++) {
		memcpy(row, rows + k * row_bytes, row_bytes);
		for (const size_t *at = texts; *at != TRC_IMAGE_NO_TEXT; at++) {
			uintptr_t address;
			const char *text;

			memcpy(&text, row + *at, sizeof(text));
			address = (uintptr_t)image_address(i, text);
			memcpy(row + *at, &address, sizeof(address));
		}
		image_put(i, row, row_bytes);
	}
	free(row);
}

static void list_out(struct trc_image *i, const void *rows, size_t n, size_t row_bytes,
		     const size_t *texts)
{
	const struct list_head head = {n, row_bytes};

	put_to(i, aligned(i->off));
	image_put(i, &head, sizeof(head));
	put_to(i, aligned(i->off));
	if (!texts) {
		image_put(i, rows, (uint64_t)n * row_bytes);
	} else if (i->phase == WRITTEN) {
		put_with_texts(i, rows, n, row_bytes, texts);
	} else {
		texts_note(i, rows, n, row_bytes, texts);
		i->off += (uint64_t)n * row_bytes;
	}
}

/* ---- lists in ---------------------------------------------------------------------------- */

/* G1 */
static void texts_move(struct trc_image *i, char *rows, size_t n, size_t row_bytes,
		       const size_t *texts)
{
	uintptr_t by = (uintptr_t)i->map - (uintptr_t)i->base;

	if (!by)
		return;
	for (size_t k = 0; k < n; k++)
		for (const size_t *at = texts; *at != TRC_IMAGE_NO_TEXT; at++) {
			uintptr_t address;

			memcpy(&address, rows + k * row_bytes + *at, sizeof(address));
			if (address)
				address += by;
			memcpy(rows + k * row_bytes + *at, &address, sizeof(address));
		}
}

static void *list_in(struct trc_image *i, size_t *n, size_t row_bytes, const size_t *texts)
{
	struct list_head head;
	char *rows;

	*n = 0;
	i->off = aligned(i->off);
	if (i->off + ALIGNED_BYTES > i->n_bytes) {
		image_fail(i, -EBADMSG);
		return NULL;
	}
	memcpy(&head, i->map + i->off, sizeof(head));
	i->off += ALIGNED_BYTES;
	if (head.row_bytes != row_bytes || head.n > (i->n_bytes - i->off) / row_bytes) {
		image_fail(i, -EBADMSG);
		return NULL;
	}
	rows = (char *)i->map + i->off;
	i->off += head.n * row_bytes;
	*n = (size_t)head.n;
	if (texts)
		texts_move(i, rows, *n, row_bytes, texts);
	return *n ? rows : NULL;
}

void *trc_image_rows(struct trc_image *i, const void *rows, size_t *n, size_t row_bytes,
		     const size_t *texts)
{
	void *own;

	if (i->phase == READ) {
		if (!i->err)
			return list_in(i, n, row_bytes, texts);
		*n = 0;
		return NULL;
	}
	if (!i->err)
		list_out(i, rows, *n, row_bytes, texts);
	memcpy(&own, &rows, sizeof(own)); /* also if that failed: they are in use */
	return own;
}

void trc_image_array(struct trc_image *i, struct trc_array *rows, const size_t *texts)
{
	size_t n = rows->n;
	void *row = trc_image_rows(i, rows->row, &n, rows->row_bytes, texts);

	if (i->phase == READ)
		*rows = (struct trc_array){row, row ? n : 0, 0, rows->row_bytes};
}

/* ---- writing ----------------------------------------------------------------------------- */

/* Far from where anything else is put: between the program and what is mapped. */
static uint64_t free_base(uint64_t n_bytes)
{
	void *at = mmap(NULL, (size_t)n_bytes, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return 0;
	munmap(at, (size_t)n_bytes);
	return (uint64_t)(uintptr_t)at / 2 / AREA_BYTES * AREA_BYTES;
}

/* How large it gets; all texts are known then. */
static int measure(struct trc_image *i, struct trc_model *m, trc_image_walk *walk)
{
	int err = list_pool(i, &m->text);

	if (!err)
		err = walk(i, m);
	err = err ? err : i->err;
	if (err)
		return err;
	place_texts(i);
	i->n_bytes = (size_t)(i->off + aligned(i->texts_end));
	i->base = free_base(i->n_bytes);
	if (!i->base)
		return -ENOMEM;
	return i->n_bytes > i->writing->most_bytes ? -EFBIG : 0;
}

static int image_put_all(struct trc_image *i, struct trc_model *m, trc_image_walk *walk)
{
	int err;

	i->phase = WRITTEN;
	i->off = PAGE_BYTES;
	put_texts(i);
	err = walk(i, m);
	if (!err)
		flush(i);
	return err ? err : i->err;
}

static uint64_t check_of_head(const struct head *head, uint64_t check_of_rest)
{
	struct head unchecked = *head;

	unchecked.check = 0;
	return trc_check64(&unchecked, sizeof(unchecked), check_of_rest);
}

static int image_put_head(const struct trc_image *i)
{
	struct head head = {.base = i->base, .n_bytes = i->off, .lists_off = i->texts_end};

	memcpy(head.magic, magic, sizeof(magic));
	strncpy(head.key, i->writing->key, sizeof(head.key) - 1);
	head.check = check_of_head(&head, i->check);
	return pwrite(i->fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) ? 0 : -EIO;
}

int trc_image_write(struct trc_model *m, trc_image_walk *walk, int fd,
		    const struct trc_image_writing *writing)
{
	struct trc_image i = {
		.fd = fd,
		.writing = writing,
		.stretches = {.row_bytes = sizeof(struct stretch)},
		.others = {.row_bytes = sizeof(struct stretch)},
		.chunk = malloc(CHUNK_BYTES),
	};
	int err = i.chunk ? measure(&i, m, walk) : -ENOMEM;

	if (!err && lseek(fd, PAGE_BYTES, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		err = image_put_all(&i, m, walk);
	if (!err)
		err = image_put_head(&i);
	trc_array_free(&i.stretches);
	trc_array_free(&i.others);
	trc_index_free(&i.other_row);
	free(i.chunk);
	return err;
}

/* ---- mapping ----------------------------------------------------------------------------- */

/* By reading: what only this looks at takes no memory of this process. */
static bool check_is_right(int fd, const struct head *head, const struct trc_image_pause *pause)
{
	uint8_t *chunk = malloc(CHUNK_BYTES);
	uint64_t off = PAGE_BYTES, check = 0;

	while (chunk && off < head->n_bytes && !trc_image_pauses(pause)) {
		size_t wanted = head->n_bytes - off < CHUNK_BYTES ? (size_t)(head->n_bytes - off)
								  : CHUNK_BYTES;
		size_t got = 0;

		while (got < wanted) {
			ssize_t n = pread(fd, chunk + got, wanted - got, (off_t)(off + got));

			if (n <= 0 && !(n < 0 && errno == EINTR))
				break;
			got += n > 0 ? (size_t)n : 0;
		}
		if (got < wanted)
			break;
		check = trc_check64(chunk, wanted, check);
		off += wanted;
	}
	free(chunk);
	return chunk && off == head->n_bytes && check_of_head(head, check) == head->check;
}

static bool head_read(int fd, struct head *head)
{
	return pread(fd, head, sizeof(*head), 0) == (ssize_t)sizeof(*head) &&
	       !memcmp(head->magic, magic, sizeof(magic)) && !head->key[sizeof(head->key) - 1];
}

void trc_image_key(int fd, char key[TRC_IMAGE_KEY_BYTES])
{
	struct head head;

	strcpy(key, head_read(fd, &head) ? head.key : "");
}

/* G2 */
static bool head_is_right(int fd, struct head *head, const char *key)
{
	struct stat st;

	return head_read(fd, head) && !fstat(fd, &st) && (uint64_t)st.st_size == head->n_bytes &&
	       head->n_bytes > PAGE_BYTES && !strcmp(head->key, key);
}

/* At its base if that is free.  Elsewhere pages are copied as pointers in them are moved. */
static uint8_t *image_map(int fd, const struct head *head)
{
	size_t n_bytes = (size_t)head->n_bytes;
	void *base, *at;
	uintptr_t address = (uintptr_t)head->base;

	memcpy(&base, &address, sizeof(base));
	at = mmap(base, n_bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
	if (at != MAP_FAILED && at != base) { /* a kernel older than 4.17 */
		munmap(at, n_bytes);
		at = MAP_FAILED;
	}
	if (at == MAP_FAILED)
		at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

int trc_image_map(struct trc_model *m, trc_image_walk *walk, int fd, const char *key,
		  const struct trc_image_pause *pause)
{
	struct head head;
	struct trc_image *i;
	int err;

	if (!head_is_right(fd, &head, key) || (pause && !check_is_right(fd, &head, pause)))
		return -ENOENT;
	i = calloc(1, sizeof(*i));
	if (!i)
		return -ENOENT;
	*i = (struct trc_image){.phase = READ, .base = head.base, .n_bytes = (size_t)head.n_bytes};
	i->map = image_map(fd, &head);
	if (!i->map) {
		free(i);
		return -ENOENT;
	}
	m->image = i;
	i->off = head.lists_off;
	err = walk(i, m);
	if (!err)
		err = i->err;
	mprotect(i->map, i->n_bytes, PROT_READ); /* G3 */
	return err;
}

void trc_image_close(struct trc_image *i)
{
	if (!i)
		return;
	munmap(i->map, i->n_bytes);
	free(i);
}

bool trc_image_has(const struct trc_model *m, const void *rows)
{
	const struct trc_image *i = m->image;
	const uint8_t *at = rows;

	return i && at >= i->map && at < i->map + i->n_bytes;
}
