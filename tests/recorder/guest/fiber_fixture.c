/* fiber_fixture.c - see fiber_fixture.h. */
#include <stdlib.h>
#include "recorder/guest/session.h"
#include "recorder/ring/rec.h"
#include "fiber_fixture.h"

struct ring_reader reader;

void open_session_of(size_t capacity)
{
	struct trc_session_options o;
	char error[256] = "";

	ck_assert_int_eq(trc_session_options_init(&o, error, sizeof(error)), 0);
	o.ring_bytes = 1 << 20;
	ck_assert_msg(trc_session_open(&o, error, sizeof(error)) == 0, "%s", error);
	ring_reader_init(&reader, trc_session_shared(), capacity);
	trc_session_record(true);
}

void open_session(void)
{
	open_session_of(100000);
}

void close_session(void)
{
	trc_session_record(false);
	ring_reader_pass(&reader, trc_session_shared());
	ring_reader_finish(&reader, trc_session_shared());
	ck_assert_uint_eq(reader.damaged, 0);
	ring_reader_free(&reader);
	trc_session_close();
}

static int by_time(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

void take(void)
{
	if (ring_reader_pass(&reader, trc_session_shared()))
		qsort(reader.seen, reader.n_seen, sizeof(*reader.seen), by_time);
}

const struct seen *event(enum trc_kind kind, unsigned int n)
{
	take();
	for (size_t i = 0; i < reader.n_seen; i++)
		if (reader.seen[i].kind == kind && !n--)
			return &reader.seen[i];
	return NULL;
}

size_t count(enum trc_kind kind)
{
	size_t n = 0;

	take();
	for (size_t i = 0; i < reader.n_seen; i++)
		n += reader.seen[i].kind == kind;
	return n;
}

const char *string(uint64_t id)
{
	static char bytes[257];

	bytes[trc_string_copy(trc_session_shared(), id, bytes)] = '\0';
	return bytes;
}

const struct trace_labels *with(const char *key, const char *value)
{
	const struct trace_label label = {.key = key, .value = value};
	const struct trace_labels *labels;
	size_t bad;

	ck_assert_int_eq(trc_labels_with(&labels, NULL, &label, 1, &bad), 0);
	return labels;
}

void put_in_force(const struct trace_labels *labels)
{
	trc_labels_unref(trc_labels_set(trc_labels_ref(labels)));
}

uint32_t references(const struct trace_labels *labels)
{
	return atomic_load(&labels->references);
}
