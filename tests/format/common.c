/* common.c - see common.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "format/section.h"
#include "assemble.h"
#include "common.h"

const char sample_trace[] =
	"header procs=3 creation_realtime_ns=1700000000000000000\n"
	"sync ticks=1000 raw=1000 monotonic=5000 realtime=1700000000000000000 uncertainty=30\n"
	"info command \"server --threads 2\"\n"
	"info empty \"\"\n"
	"module bin path=\"/usr/bin/server\" start=0x400000 limit=0x500000 build_id=c0ffee\n"
	"module so path=\"/usr/lib/x.so\" start=0x700000 limit=0x800000 first_epoch=1\n"
	"thread 1 tid=101 name=\"main\"\n"
	"thread 2 tid=102 creator=1 start=1100 name=\"worker\"\n"
	"stack lock epoch=1 0x401010 0x402020 0x403030\n"
	"stack unlock epoch=1 0x401999 0x402020 0x403030\n"
	"@1000 thread=1 thread_start tid=101\n"
	"@1100 thread=2 proc=1 thread_start tid=102 creator=1 stack=lock\n"
	"@1200 thread=2 proc=1 thread_name named=2 name=\"worker\"\n"
	"@1300 thread=1 park reason=mutex object=0x7ffd0010 holder=2 stack=lock\n"
	"@1400 thread=2 proc=1 unlock reason=mutex object=0x7ffd0010 waiters=1 stack=unlock\n"
	"@1500 thread=1 proc=2 resume reason=mutex object=0x7ffd0010\n"
	"@1600 thread=1 proc=2 wait reason=read object=7 since=1550 stack=lock\n"
	"@1650 thread=1 proc=2 task_begin task=9 parent=3 type=\"request\"\n"
	"@1660 thread=1 proc=2 region_begin task=9 type=\"parse\"\n"
	"@1670 thread=1 proc=2 log task=9 category=\"net\" message=\"got 12 bytes\"\n"
	"@1680 thread=1 proc=2 log task=9 category=\"net\" message=\"\"\n"
	"@1690 thread=1 proc=2 region_end\n"
	"labels small size=-5 tenant=\"acme\"\n"
	"labels large size=70000:bytes tenant=\"acme\" user=\"\"\n"
	"@1692 thread=1 proc=2 labels labels=small\n"
	"@1693 thread=1 proc=2 labels labels=large before=small\n"
	"@1694 thread=1 proc=2 sample event=1 value=1000000 period=1000000 stack=lock labels=large\n"
	"@1695 thread=1 proc=2 samples_lost event=1 lost_samples=3 cause=busy\n"
	"@1700 thread=1 proc=2 task_end task=9\n"
	"@1702 thread=1 proc=2 alloc sample=4294967297 address=0x7f0000001000 bytes=96 period=524288"
	" stack=lock labels=large\n"
	"@1704 thread=2 proc=2 free sample=4294967297 address=0x7f0000001000 bytes=96 period=524288\n"
	"@1710 thread=1 proc=1 source=overflow counter name=\"depth\" value=-5\n"
	"@1720 thread=2 proc=0 source=overflow counter name=\"depth\" value=17\n"
	"@1500 thread=1 proc=2 source=kernel proc_start\n"
	"@1730 thread=1 proc=2 source=kernel proc_stop preempted=1\n"
	"generation\n"
	"sync ticks=2000 raw=2000 monotonic=6000 realtime=1700000000000001000\n"
	"thread 2 tid=102 creator=1 start=1100 end=2300 name=\"worker\"\n"
	"module_end so last_epoch=2\n"
	"@2100 thread=2 proc=1 park reason=cond object=0x7ffd0050 stack=lock\n"
	"@2200 thread=1 proc=0 gap lost_events=12 since=2150 cause=ring_full\n"
	"@2300 thread=2 proc=1 thread_exit\n"
	"status thread=1 reason=epoll object=5 since=2250 stack=unlock\n"
	"status thread=2\n"
	"open_region thread=1 depth=0 task=9 type=\"parse\" since=2050\n"
	"open_region thread=1 depth=1 since=2060\n"
	"coverage proc=0 held=900 from=950 to=2400\n"
	"coverage source=overflow from=950 to=2400\n"
	"coverage source=kernel proc=2 held=950 from=950 to=2400\n"
	"sample_event 1 how=signal period=1000000 missing=2 note=\"timer instead\"\n"
	"sample_event 2 name=\"cycles:u\" how=kernel frequency=997 unit=\"count\"\n"
	"thread_labels thread=1 labels=large\n"
	"thread_labels thread=2\n"
	"thread_fiber thread=1 fiber=8589934592 name=\"session\"\n"
	"thread_fiber thread=2\n";

int bytes_sink(void *context, const void *bytes, size_t n_bytes)
{
	struct bytes *b = context;

	b->calls++;
	if (b->fail_from && b->calls >= b->fail_from)
		return -ENOSPC;
	bytes_add(b, bytes, n_bytes);
	return 0;
}

void bytes_add(struct bytes *b, const void *bytes, size_t n_bytes)
{
	if (b->n + n_bytes > b->room) {
		b->room = 2 * (b->n + n_bytes);
		b->at = realloc(b->at, b->room);
		expect(b->at);
	}
	if (n_bytes)
		memcpy(b->at + b->n, bytes, n_bytes);
	b->n += n_bytes;
}

void bytes_free(struct bytes *b)
{
	free(b->at);
	memset(b, 0, sizeof(*b));
}

struct bytes assembled(const char *text)
{
	struct bytes b = {0};
	char error[256];

	ck_assert_msg(trc_assemble(text, &b.at, &b.n, error) == 0, "%s", error);
	b.room = b.n;
	return b;
}

uint64_t random_next(void)
{
	static uint64_t state = UINT64_C(0x2545f4914f6cdd1d);

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

uint64_t random_wide(void)
{
	uint64_t value = random_next();

	return value >> random_next() % 64;
}

void section_add(struct bytes *b, uint16_t type, uint16_t flags, const void *payload,
		 size_t n_bytes, size_t checked)
{
	uint8_t *section = calloc(1, n_bytes + TRC_SECTION_HEADER_BYTES + 8);

	ck_assert_ptr_nonnull(section);
	if (n_bytes)
		memcpy(section + TRC_SECTION_HEADER_BYTES, payload, n_bytes);
	bytes_add(b, section,
		  trc_section_seal(section, (enum trc_section_type)type, flags, n_bytes, checked));
	free(section);
}

size_t section_bytes(const struct bytes *b, size_t off)
{
	return TRC_SECTION_HEADER_BYTES + ((trc_get32(b->at + off + 4) + (size_t)7) & ~(size_t)7);
}

size_t section_find(const struct bytes *b, uint16_t type)
{
	for (size_t off = TRC_HEADER_BYTES; off < b->n; off += section_bytes(b, off))
		if (trc_get16(b->at + off) == type)
			return off;
	ck_abort_msg("no section of type %u", type);
	return 0;
}

/* --- dumps --- */

static void line(struct bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line(struct bytes *b, const char *format, ...)
{
	char text[8192];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	bytes_add(b, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static void dump_stack(struct bytes *b, const struct trc_reader *r, uint32_t id)
{
	struct trc_stack_view view;

	if (trc_reader_stack(r, id, &view) < 0) {
		line(b, "none");
		return;
	}
	line(b, "(epoch %u", view.epoch);
	for (uint32_t i = 0; i < view.n_frames; i++)
		line(b, " %#" PRIx64, view.frame[i]);
	line(b, ")");
}

static void dump_labels(struct bytes *b, const struct trc_reader *r, uint32_t id)
{
	const struct trc_label *l;
	uint32_t n;

	if (trc_reader_label_set(r, id, &l, &n) < 0) {
		line(b, "none");
		return;
	}
	line(b, "{");
	for (; n--; l++) {
		line(b, "%.*s=", (int)l->key_bytes, l->key);
		if (l->is_number)
			line(b, "%" PRId64 ":%.*s", l->number, (int)l->value_bytes, l->value);
		else
			line(b, "\"%.*s\"", (int)l->value_bytes, l->value);
		line(b, n ? " " : "}");
	}
}

static void dump_arg(struct bytes *b, const struct trc_reader *r, enum trc_arg_type type,
		     uint64_t value)
{
	uint32_t n_bytes = 0;
	const char *string;

	if (type == TRC_ARG_STACK) {
		dump_stack(b, r, (uint32_t)value);
	} else if (type == TRC_ARG_STRING) {
		string = trc_reader_string(r, (uint32_t)value, &n_bytes);
		line(b, "\"%.*s\"", (int)n_bytes, string ? string : "");
	} else if (type == TRC_ARG_LABELS) {
		dump_labels(b, r, (uint32_t)value);
	} else if (type == TRC_ARG_TICKS || type == TRC_ARG_I64) {
		line(b, "%" PRId64, (int64_t)value);
	} else {
		line(b, "%" PRIu64, value);
	}
}

static void dump_event(struct bytes *b, const struct trc_reader *r, const struct trc_columns *c,
		       uint32_t i)
{
	const struct trc_kind_info *info = trc_reader_kind(r, c->kind[i]);
	uint32_t rank = c->rank[i];

	line(b, "@%" PRId64 " proc=%u thread=%u %s", c->time_ns[i], c->proc[i], c->thread[i],
	     info->name ? info->name : "?");
	for (unsigned int a = 0; a < info->n_args; a++) {
		line(b, " %s=", info->arg[a].name);
		if (info->arg[a].type == TRC_ARG_TEXT && c->text[c->kind[i]])
			line(b, "\"%.*s\"",
			     (int)(c->text_off[c->kind[i]][rank + 1] -
				   c->text_off[c->kind[i]][rank]),
			     c->text[c->kind[i]] + c->text_off[c->kind[i]][rank]);
		else if (c->arg[c->kind[i]][a])
			dump_arg(b, r, info->arg[a].type, c->arg[c->kind[i]][a][rank]);
		else
			line(b, "absent");
	}
	line(b, "\n");
}

char *dump_events(const struct trc_reader *r, struct trc_error *error)
{
	struct bytes b = {0};

	for (size_t i = 0; i < trc_reader_blocks(r); i++) {
		struct trc_columns *c;

		if (trc_reader_load(r, i, TRC_WANT_ALL, NULL, &c, error) < 0) {
			free(b.at);
			return NULL;
		}
		for (uint32_t e = 0; e < c->n_events; e++)
			dump_event(&b, r, c, e);
		trc_columns_free(c);
	}
	bytes_add(&b, "", 1);
	return (char *)b.at;
}

static void dump_modules(struct bytes *b, const struct trc_reader *r)
{
	for (uint32_t id = 1; id < trc_reader_modules(r); id++) {
		const struct trc_module_entry *m = trc_reader_module(r, id);

		if (!m)
			continue;
		line(b,
		     "module %u %#" PRIx64 "..%#" PRIx64 " at %#" PRIx64 " bias %#" PRIx64
		     " epochs %u..%u %s build",
		     id, m->start, m->limit, m->file_offset, m->load_bias, m->first_epoch,
		     m->last_epoch, m->path);
		for (unsigned int i = 0; i < m->build_id_bytes; i++)
			line(b, " %02x", m->build_id[i]);
		line(b, "\n");
	}
}

static void dump_ends(struct bytes *b, const struct trc_reader *r)
{
	const struct trc_open_region_entry *open;
	const struct trc_coverage_entry *c;
	size_t n_open = trc_reader_open_regions(r, &open), n_coverage = trc_reader_coverage(r, &c);

	for (size_t i = 0; i < n_open; i++) {
		uint32_t n_bytes = 0;
		const char *type = trc_reader_string(r, open[i].type, &n_bytes);

		line(b, "open_region %u depth %u task %" PRIu64 " \"%.*s\" since %" PRIu64 "\n",
		     open[i].thread, open[i].depth, open[i].task, (int)n_bytes, type ? type : "",
		     open[i].since);
	}
	for (size_t i = 0; i < n_coverage; i++)
		line(b,
		     "coverage source %u proc %" PRId32 " held %" PRIu64 " %" PRIu64 "..%" PRIu64
		     "\n",
		     c[i].source, (int32_t)c[i].proc, c[i].held, c[i].from, c[i].to);
}

static void dump_samples_and_labels(struct bytes *b, const struct trc_reader *r)
{
	const struct trc_sample_event_entry *e;
	const struct trc_thread_labels_entry *l;
	size_t n = trc_reader_sample_events(r, &e);

	for (size_t i = 0; i < n; i++)
		line(b,
		     "sample_event %u %s period %" PRIu64 " frequency %" PRIu64 " missing %" PRIu64
		     " \"%s\" \"%s\" \"%s\"\n",
		     e[i].event, trc_sample_how_name(e[i].how), e[i].period, e[i].frequency_hz,
		     e[i].missing_threads, e[i].name, e[i].unit, e[i].note);
	n = trc_reader_thread_labels(r, &l);
	for (size_t i = 0; i < n; i++) {
		line(b, "thread_labels %u ", l[i].thread);
		dump_labels(b, r, l[i].labels);
		line(b, "\n");
	}
}

static void dump_fibers(struct bytes *b, const struct trc_reader *r)
{
	const struct trc_thread_fiber_entry *f;
	size_t n = trc_reader_thread_fibers(r, &f);

	for (size_t i = 0; i < n; i++) {
		uint32_t n_bytes = 0;
		const char *name = trc_reader_string(r, f[i].name, &n_bytes);

		line(b, "thread_fiber %u %" PRIu64 " \"%.*s\"\n", f[i].thread, f[i].fiber,
		     (int)n_bytes, name ? name : "");
	}
}

char *dump_tables(const struct trc_reader *r)
{
	const struct trc_status_entry *status;
	size_t n_status = trc_reader_status(r, &status);
	struct bytes b = {0};

	for (size_t i = 0; i < trc_reader_info_count(r); i++) {
		const char *key, *value;

		trc_reader_info_at(r, i, &key, &value);
		line(&b, "info %s=%s\n", key, value);
	}
	for (size_t i = 0; i < trc_reader_threads(r); i++) {
		const struct trc_thread_entry *t = trc_reader_thread(r, i);

		line(&b, "thread %u tid %u creator %u %" PRIu64 "..%" PRIu64 " \"%.*s\"\n",
		     t->serial, t->tid, t->creator, t->start, t->end, (int)t->name_bytes, t->name);
	}
	dump_modules(&b, r);
	for (size_t i = 0; i < n_status; i++) {
		line(&b, "status %u %s holder %u object %#" PRIx64 " since %" PRIu64 " ",
		     status[i].thread, trc_reason_name(status[i].reason), status[i].holder,
		     status[i].object, status[i].since);
		dump_stack(&b, r, status[i].stack);
		line(&b, "\n");
	}
	dump_ends(&b, r);
	dump_samples_and_labels(&b, r);
	dump_fibers(&b, r);
	bytes_add(&b, "", 1);
	return (char *)b.at;
}
