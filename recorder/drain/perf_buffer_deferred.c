/*
 * perf_buffer_deferred.c - user frames that the kernel takes when the thread goes back to user mode
 * (Linux 6.19).  The kernel can then fetch pages that are not in memory, and all samples of one
 * system call share the frames.
 *
 * Such a sample has a cookie in the place of its user frames.  A later record of the same thread
 * with the same cookie has the frames.  If the thread has moved to another proc meanwhile, the
 * record is in another buffer.
 *
 *   perf_deferred:D1  before a pass hands out anything, the pass searches all buffers for such
 *       records.  The records stay in the buffers until the pass is over
 *   perf_deferred:D2  a sample is handed out when it is old enough (perf_buffer:V2), with or
 *       without its frames.  If the thread stays in the kernel for longer, only the sample's
 *       address is known
 *   perf_deferred:D3  such a record is passed over at its own time: every sample that needs the
 *       record is older.  In a half-full buffer the record is passed over earlier, and a sample in
 *       another buffer may then lose its frames
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include "format/pages.h"
#include "format/raw.h"
#include "perf_buffer_private.h"
#include "recorder/shared/power_of_two.h"

enum {
	RECORD_BYTES_MIN = 40, /* of such a record; no more of them fit a buffer */
	FLAGS_OFF = offsetof(struct perf_event_attr, read_format) + sizeof(uint64_t),
	/* Bits of the flags that older headers do not name. */
	DEFER_CALLCHAIN_BIT = 38,
	DEFER_OUTPUT_BIT = 39,
	BEFORE_FRAMES = sizeof(struct perf_event_header) + 2 * sizeof(uint64_t),
};

/* ---- asking for them ------------------------------------------------------------------- */

void trc_perf_defer(struct perf_event_attr *attr, bool samples)
{
	uint64_t flags;

	memcpy(&flags, (char *)attr + FLAGS_OFF, sizeof(flags));
	flags |= UINT64_C(1) << (samples ? DEFER_CALLCHAIN_BIT : DEFER_OUTPUT_BIT);
	memcpy((char *)attr + FLAGS_OFF, &flags, sizeof(flags));
}

/* The kernel refuses bits that it does not know. */
static bool is_accepted(struct perf_event_attr attr, bool samples)
{
	long fd;

	attr.disabled = 1;
	attr.enable_on_exec = 0;
	trc_perf_defer(&attr, samples);
	fd = trc_raw5(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		trc_raw1(SYS_close, (int)fd);
	return fd >= 0;
}

bool trc_perf_may_defer(const struct perf_event_attr *switches,
			const struct perf_event_attr *samples)
{
	const char *wanted = secure_getenv("TRC_DEFERRED");

	return (!wanted || strcmp(wanted, "off") != 0) && is_accepted(*switches, false) &&
	       is_accepted(*samples, true);
}

int trc_perf_chains_open(struct trc_perf_chains *chains, uint32_t n_procs, uint64_t data_bytes)
{
	uint64_t n = trc_power_of_two(n_procs * data_bytes / RECORD_BYTES_MIN);

	if (n > UINT32_MAX / 2)
		return -E2BIG;
	chains->chain = trc_pages_map(n * sizeof(*chains->chain));
	if (!chains->chain)
		return -ENOMEM;
	chains->mask = (uint32_t)n - 1;
	chains->pass = 1; /* 0 is what no pass has: all places are free */
	return 0;
}

void trc_perf_chains_close(struct trc_perf_chains *chains)
{
	if (chains->chain)
		trc_pages_unmap(chains->chain, ((size_t)chains->mask + 1) * sizeof(*chains->chain));
	chains->chain = NULL;
}

/* ---- the table ------------------------------------------------------------------------- */

/* The place of this one, or a free one for it; NULL: the table is full. */
static struct trc_perf_chain *chain_place(const struct trc_perf_chains *chains, uint32_t tid,
					  uint64_t cookie)
{
	uint64_t hash = (cookie ^ (uint64_t)tid << 32) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(hash >> 32) & chains->mask;

	for (uint32_t tries = 0; tries <= chains->mask; tries++) {
		struct trc_perf_chain *c = &chains->chain[i];

		if (c->pass != chains->pass || (c->tid == tid && c->cookie == cookie))
			return c;
		i = (i + 1) & chains->mask;
	}
	return NULL;
}

void trc_perf_chains_begin(struct trc_perf_chains *chains)
{
	if (++chains->pass)
		return;
	/* Once round. */
	memset(chains->chain, 0, ((size_t)chains->mask + 1) * sizeof(*chains->chain));
	chains->pass = 1;
}

static bool is_chain(const struct trc_perf *p, const char *bytes, size_t n_bytes)
{
	struct perf_event_header header;

	memcpy(&header, bytes, sizeof(header));
	return header.type == TRC_PERF_RECORD_CHAIN && header.size == n_bytes &&
	       n_bytes >= BEFORE_FRAMES + p->id_bytes;
}

static void deferred_id(const struct trc_perf *p, const char *bytes, size_t n_bytes,
			struct trc_perf_id *id)
{
	memcpy(id, bytes + n_bytes - p->id_bytes, sizeof(*id));
}

uint64_t trc_perf_chain_ns(const struct trc_perf *p, const char *bytes, size_t n_bytes)
{
	struct trc_perf_id id;

	if (!is_chain(p, bytes, n_bytes))
		return 0;
	deferred_id(p, bytes, n_bytes, &id);
	return id.raw_ns;
}

void trc_perf_chains_note(struct trc_perf *p, uint32_t proc, uint64_t at, const char *bytes,
			  size_t n_bytes)
{
	struct trc_perf_chain *c;
	struct trc_perf_id id;
	uint64_t cookie;

	if (!is_chain(p, bytes, n_bytes))
		return;
	memcpy(&cookie, bytes + sizeof(struct perf_event_header), sizeof(cookie));
	deferred_id(p, bytes, n_bytes, &id);
	c = chain_place(&p->chains, id.tid, cookie);
	if (c)
		*c = (struct trc_perf_chain){.cookie = cookie,
					     .at = at,
					     .tid = id.tid,
					     .proc = proc,
					     .pass = p->chains.pass,
					     .n_bytes = (uint32_t)n_bytes};
}

const char *trc_perf_chain_find(struct trc_perf *p, uint32_t tid, uint64_t cookie, uint64_t *n,
				uint64_t *room)
{
	const struct trc_perf_chain *c =
		p->chains.chain ? chain_place(&p->chains, tid, cookie) : NULL;
	const struct trc_perf_buffer *b;
	size_t n_bytes;

	if (!c || c->pass != p->chains.pass)
		return NULL;
	b = &p->buffer[c->proc];
	n_bytes = c->n_bytes - p->id_bytes;
	if (n_bytes > sizeof(p->chain_record))
		n_bytes = sizeof(p->chain_record);
	if (p->flight)
		memcpy(p->chain_record, b->copy + c->at, n_bytes);
	else
		trc_perf_copy_out((const char *)b->page + p->page_bytes, p->data_bytes, c->at,
				  p->chain_record, n_bytes);
	memcpy(n, p->chain_record + BEFORE_FRAMES - sizeof(*n), sizeof(*n));
	*room = (n_bytes - BEFORE_FRAMES) / sizeof(uint64_t);
	return p->chain_record + BEFORE_FRAMES;
}
