/*
 * model_labels_test.c - which labels a thread had when, what a label set consists of, and which
 * sets a filter takes.
 *
 * Each row is a trace and the spans that must come of it, as text.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/label_filter.h"
#include "model_fixture.h"
#include "tests/suite.h"

#define SETS                                                                                       \
	"thread 1 tid=101 name=\"main\"\nthread 2 tid=102 creator=1\n"                             \
	"labels a tenant=\"acme\"\n"                                                               \
	"labels b phase=\"parse\" tenant=\"acme\"\n"                                               \
	"labels c size=512:bytes tries=3\n"

/* A file has the sets that its events name. */
#define NAMED                                                                                      \
	SETS "@1 thread=1 labels labels=a\n@2 thread=1 labels labels=b before=a\n"                 \
	     "@3 thread=1 labels labels=c before=b\n"

static const struct row {
	const char *what, *text, *expected;
} rows[] = {
	{"from one event to the next; before the first what that one found",
	 SETS "@100 thread=1 labels labels=b before=a\n@200 thread=1 labels before=b\n"
	      "@300 thread=1 labels labels=c\n",
	 "1 - 100 1\n1 100 200 2\n1 200 300 0\n1 300 - 3\n"},

	{"by thread, whatever the order of the events",
	 SETS "@100 thread=2 labels labels=b\n@150 proc=1 thread=1 labels labels=a\n"
	      "@200 thread=2 labels before=b\n",
	 "1 - 150 0\n1 150 - 1\n2 - 100 0\n2 100 200 2\n2 200 - 0\n"},

	{"a thread that set none while it was recorded has those of the file's table",
	 SETS "@100 thread=1 log\nthread_labels thread=1\nthread_labels thread=2 labels=c\n",
	 "2 - - 3\n"},

	{"of one that set some, the table says nothing new",
	 SETS "@100 thread=1 labels labels=b before=a\nthread_labels thread=1 labels=b\n",
	 "1 - 100 1\n1 100 - 2\n"},

	{"the same again is the same",
	 SETS "@100 thread=1 labels labels=a before=a\n@200 thread=1 labels labels=a before=a\n",
	 "1 - - 1\n"},

	{"two at one time: the last one counts",
	 SETS "@100 thread=1 labels labels=a\n@100 thread=1 labels labels=b before=a\n",
	 "1 - 100 0\n1 100 - 2\n"},

	{"no labels are no rows", SETS "@100 thread=1 labels\n@200 thread=1 labels\n", ""},

	{"an event is missing: while it may have been lost the labels are not known",
	 SETS "@100 thread=1 labels labels=a\n"
	      "@400 proc=1 gap lost_events=3 since=300 cause=ring_full\n"
	      "@500 thread=1 labels labels=c before=b\n",
	 "1 - 100 0\n1 100 300 1\n1 300 400 0\n1 400 500 2\n1 500 - 3\n"},

	{"a gap that is found only later, on a proc that nothing was recorded on meanwhile",
	 SETS "@100 thread=1 labels labels=a\n@500 thread=1 labels labels=c before=b\n"
	      "@900 proc=1 gap lost_events=3 since=300 cause=ring_full\n",
	 "1 - 100 0\n1 100 300 1\n1 300 500 0\n1 500 - 3\n"},

	{"from the first gap in between to the last",
	 SETS "@50 proc=1 gap lost_events=3 since=20 cause=ring_full\n"
	      "@100 thread=1 labels labels=a\n"
	      "@250 proc=1 gap lost_events=3 since=200 cause=ring_full\n"
	      "@350 proc=1 gap lost_events=3 since=300 cause=ring_full\n"
	      "@500 thread=1 labels labels=c before=b\n"
	      "@700 proc=1 gap lost_events=3 since=600 cause=ring_full\n",
	 "1 - 100 0\n1 100 200 1\n1 200 350 0\n1 350 500 2\n1 500 - 3\n"},

	{"a gap in which no such event was lost changes nothing",
	 SETS "@100 thread=1 labels labels=a\n"
	      "@400 proc=1 gap lost_events=3 since=300 cause=ring_full\n"
	      "@500 thread=1 labels labels=c before=a\n",
	 "1 - 100 0\n1 100 500 1\n1 500 - 3\n"},

	{"the kernel loses no labels",
	 SETS "@100 thread=1 labels labels=a\n"
	      "@400 source=kernel gap lost_events=3 since=300 cause=kernel\n"
	      "@500 thread=1 labels labels=c before=b\n",
	 "1 - 100 0\n1 100 500 1\n1 500 - 3\n"},

	{"lost at the end: the table has what came last",
	 SETS "@100 thread=1 labels labels=a\n"
	      "@400 proc=1 gap lost_events=3 since=300 cause=ring_full\n"
	      "thread_labels thread=1 labels=c\n",
	 "1 - 100 0\n1 100 300 1\n1 300 400 0\n1 400 - 3\n"},

	{"before the window anything may be missing",
	 SETS "@100 thread=1 labels labels=a\n@2000 thread=1 labels labels=c before=b\n"
	      "coverage proc=0 held=50 from=1000 to=9000\ncoverage proc=1 from=1000 to=9000\n",
	 "1 - 1000 0\n1 1000 2000 2\n1 2000 - 3\n"},

	{"a snapshot in which a thread set none",
	 SETS "@2000 thread=1 log\nthread_labels thread=1 labels=b\n"
	      "coverage proc=0 from=1000 to=9000\n",
	 "1 - - 2\n"},
};

START_TEST(spans)
{
	const struct row *row = &rows[_i];
	struct trc_model *m = model_of(row->text, TRC_PART_LABELS);
	struct text t = {.n = 0};
	size_t n;
	const struct trc_thread_span *s = trc_model_label_spans(m, &n);

	for (size_t i = 0; i < n; i++, s++) {
		add(&t, "%u", s->thread);
		add_time(&t, s->start_ns);
		add_time(&t, s->end_ns);
		add(&t, " %u\n", s->value);
	}
	ck_assert_msg(!strcmp(t.at, row->expected), "%s:\n%s", row->what, t.at);
	model_close(m);
}
END_TEST

/* What trc_model_labels_at() says is what the spans say, of any time and thread. */
START_TEST(at_any_time)
{
	struct trc_model *m = model_of(rows[_i].text, TRC_PART_LABELS);
	size_t n;
	const struct trc_thread_span *s = trc_model_label_spans(m, &n);

	for (uint32_t thread = 0; thread < 4; thread++) {
		for (int64_t ts_ns = -10; ts_ns < 3000; ts_ns += 5) {
			uint32_t expected = 0;

			for (size_t i = 0; i < n; i++)
				if (s[i].thread == thread && s[i].start_ns <= ts_ns &&
				    (s[i].end_ns == TRC_NEVER || s[i].end_ns > ts_ns))
					expected = s[i].value;
			ck_assert_uint_eq(
				trc_model_labels_at(m, thread, ts_ns, TRC_PLACE_LAST), expected);
		}
	}
	model_close(m);
}
END_TEST

START_TEST(before_the_part_is_needed_there_are_none)
{
	struct trc_model *m = model_of(SETS "@100 thread=1 labels labels=b before=a\n", 0);
	size_t n;

	ck_assert_uint_eq(trc_model_labels_at(m, 1, 200, TRC_PLACE_LAST), 0);
	ck_assert_ptr_null(trc_model_label_set(m, 2, &n));
	ck_assert_uint_eq(n, 0);
	model_close(m);
}
END_TEST

START_TEST(sets_by_key)
{
	struct trc_model *m = model_of(NAMED, TRC_PART_LABELS);
	struct text t = {.n = 0};
	size_t n;
	const struct trc_set_label *l = trc_model_labels(m, &n);

	for (size_t i = 0; i < n; i++, l++)
		add(&t, "%u %s=%s %d %" PRId64 " %s\n", l->labels, l->key, l->value, l->is_number,
		    l->number, l->unit);
	ck_assert_str_eq(t.at, "1 tenant=acme 0 0 \n2 phase=parse 0 0 \n2 tenant=acme 0 0 \n"
			       "3 size=512bytes 1 512 bytes\n3 tries=3 1 3 \n");
	l = trc_model_label_set(m, 2, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(l[1].key, "tenant");
	trc_model_label_set(m, 0, &n);
	ck_assert_uint_eq(n, 0);
	trc_model_label_set(m, 4, &n);
	ck_assert_uint_eq(n, 0);
	model_close(m);
}
END_TEST

/* Filters and the sets, by number, that they take; 0 is none at all. */
static const struct filter_row {
	const char *filter, *more, *expected;
} filter_rows[] = {
	{"tenant=acme", NULL, "1 2"},
	{"tenant=acm", NULL, ""},
	{"tenant", NULL, "1 2"},
	{"phase=parse,tenant=acme", NULL, "2"},
	{"tenant=acme", "phase", "2"},
	{"tenant=acme,tenant=other", NULL, ""},
	{"size=512bytes", NULL, "3"},
	{"size=512", NULL, "3"},
	{"size=51", NULL, ""},
	{"tries=3", NULL, "3"},
	{"tries=03", NULL, ""},
	{"a\\,b=d\\,e=f", NULL, "4"},
	{"empty=", NULL, "4"},
	{"empty=x", NULL, ""},
	{"none", NULL, ""},
};

START_TEST(filters)
{
	const struct filter_row *row = &filter_rows[_i];
	struct trc_model *m = model_of(NAMED "labels d a,b=\"d,e=f\" empty=\"\"\n"
					     "@4 thread=1 labels labels=d before=c\n",
				       TRC_PART_LABELS);
	struct trc_label_filter *filter = NULL;
	struct trc_error error = {""};
	struct text t = {.n = 0};

	ck_assert_msg(!trc_label_filter_add(&filter, row->filter, &error), "%s", error.text);
	if (row->more)
		ck_assert(!trc_label_filter_add(&filter, row->more, &error));
	for (uint32_t set = 0; set < 6; set++)
		if (trc_label_filter_match(filter, m, set))
			add(&t, "%s%u", t.n ? " " : "", set);
	ck_assert_msg(!strcmp(t.at, row->expected), "%s: %s", row->filter, t.at);
	trc_label_filter_free(filter);
	model_close(m);
}
END_TEST

START_TEST(no_filter_takes_everything)
{
	struct trc_model *m = model_of(NAMED, TRC_PART_LABELS);

	ck_assert(trc_label_filter_match(NULL, m, 0));
	ck_assert(trc_label_filter_match(NULL, m, 1));
	model_close(m);
}
END_TEST

static const char *const refused[] = {"", "=acme", ",", "tenant=a,", "tenant=a,,phase"};

START_TEST(filters_refused)
{
	struct trc_label_filter *filter = NULL;
	struct trc_error error = {""};

	ck_assert_int_lt(trc_label_filter_add(&filter, refused[_i], &error), 0);
	ck_assert_ptr_null(filter);
	ck_assert(strstr(error.text, "key=value") != NULL);
	/* And one that has conditions keeps them, and no others. */
	ck_assert(!trc_label_filter_add(&filter, "tenant=acme", &error));
	ck_assert_int_lt(trc_label_filter_add(&filter, refused[_i], &error), 0);
	ck_assert_str_eq(trc_label_filter_text(filter), "tenant=acme");
	trc_label_filter_free(filter);
}
END_TEST

#define N(rows) ((int)(sizeof(rows) / sizeof(rows[0])))

/* contexts:V1 */
START_TEST(contexts_have_a_bound)
{
	enum { LABELS = 64, CONTEXTS = 70000 }; /* more than 4 Mi labels of both */
	struct trc_model *m;
	char *text = NULL;
	size_t n_bytes, n_some, n_last;
	FILE *out = open_memstream(&text, &n_bytes);

	fputs("labels many", out);
	for (int i = 0; i < LABELS; i++)
		fprintf(out, " k%02d=\"v\"", i);
	fputs("\nthread 1 tid=1\n@0 thread=1 labels labels=many\n", out);
	for (int i = 1; i <= CONTEXTS; i++)
		fprintf(out, "@%d thread=1 otel_context trace_low=%d span=%d before=%d\n", 10 * i, i, i,
			i - 1);
	fclose(out);
	m = model_of(text, TRC_PART_LABELS);
	ck_assert(trc_model_contexts_are_cut(m));
	trc_model_label_set(m, trc_model_labels_in_context(m, 1, 1, 15, TRC_PLACE_LAST), &n_some);
	trc_model_label_set(m, trc_model_labels_in_context(m, 1, 1, 10 * CONTEXTS + 5, TRC_PLACE_LAST),
			    &n_last);
	ck_assert_uint_eq(n_some, LABELS + 2);
	ck_assert_uint_eq(n_last, LABELS);
	model_close(m);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("labels");
	TCase *tc = tcase_create("labels");

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, contexts_have_a_bound);
	tcase_add_loop_test(tc, spans, 0, N(rows));
	tcase_add_loop_test(tc, at_any_time, 0, N(rows));
	tcase_add_test(tc, before_the_part_is_needed_there_are_none);
	tcase_add_test(tc, sets_by_key);
	tcase_add_loop_test(tc, filters, 0, N(filter_rows));
	tcase_add_test(tc, no_filter_takes_everything);
	tcase_add_loop_test(tc, filters_refused, 0, N(refused));
	return suite_run(suite);
}
