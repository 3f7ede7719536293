/* user_times.c - see user_times.h. */
#include "user_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_SHOWN = 6, SHARE_SHOWN = 200 };

/* ---- sums ---- */

struct summer {
	struct trc_report *r;
	const struct trc_user_types *types;
	struct trc_user_times *times;
	struct trc_index row_of;     /* of a task by its id: its first row */
	struct trc_index by_pointer; /* the number of a type by its name, above all 0: not told */
};

static int index_tasks(struct summer *s)
{
	size_t n;
	const struct trc_task *task = trc_model_tasks(s->r->m, &n);

	for (uint32_t i = 0; i < n; i++)
		if (trc_index_get(&s->row_of, task[i].task) == TRC_INDEX_NONE &&
		    trc_index_put(&s->row_of, task[i].task, i))
			return -ENOMEM;
	return 0;
}

/* 1 + the place of a type among those that are told; 0 = it is not. */
static uint32_t type_of(struct summer *s, const char *name)
{
	uint64_t key = (uint64_t)(uintptr_t)name;
	uint32_t number = trc_index_get(&s->by_pointer, key);
	const struct trc_user_type *type = s->types->types.row;

	if (number != TRC_INDEX_NONE)
		return number;
	number = 0;
	for (uint32_t i = 0; i < s->times->n_types && !number; i++)
		if (!strcmp(type[i].name, name))
			number = i + 1;
	/* Without memory it is looked for again. */
	(void)trc_index_put(&s->by_pointer, key, number);
	return number;
}

static void user_time_add(struct summer *s, const struct trc_task_time *time,
			  trc_user_span_fn *span_at, size_t row)
{
	struct trc_user_span span = span_at(s->r, row);
	uint32_t type;

	if (!span.wanted || span.start_ns == TRC_NEVER || span.end_ns == TRC_NEVER)
		return;
	type = type_of(s, span.type ? span.type : "");
	if (type)
		trc_report_add(&s->times->ns[type - 1][time->state][time->reason], time->ns);
}

static void sum(struct summer *s, const struct trc_array *rows, bool regions)
{
	const struct trc_task_time *time = rows->row;
	uint32_t row = TRC_INDEX_NONE;

	for (size_t i = 0; i < rows->n; i++) {
		/* The rows of one follow each other. */
		if (!i || time[i].task != time[i - 1].task)
			row = regions ? (uint32_t)time[i].task - 1
				      : trc_index_get(&s->row_of, time[i].task);
		if (row != TRC_INDEX_NONE)
			user_time_add(s, &time[i],
				      regions ? trc_user_region_span : trc_user_task_span, row);
	}
}

int trc_user_times_make(struct trc_user_times *times, struct trc_report *r,
			const struct trc_user_types *t, bool regions)
{
	struct summer s = {.r = r, .types = t, .times = times};
	struct trc_array rows = {0};
	struct trc_error error;
	int err;

	times->n_types = t->types.n < r->top ? t->types.n : r->top;
	times->ns = calloc(times->n_types + 1, sizeof(*times->ns));
	err = times->ns && (regions || !index_tasks(&s)) ? 0 : -ENOMEM;
	if (!err)
		err = regions ? trc_region_times_list(r->m, &rows, &error)
			      : trc_task_times_list(r->m, &rows, &error);
	if (!err)
		sum(&s, &rows, regions);
	trc_array_free(&rows);
	trc_index_free(&s.row_of);
	trc_index_free(&s.by_pointer);
	return err == -EOVERFLOW ? 0 : err; /* task_times.h: nobody can tell */
}

void trc_user_times_free(struct trc_user_times *times)
{
	free(times->ns);
}

/* ---- the line ---- */

struct part {
	unsigned int state, reason;
	int64_t ns;
};

static int largest_type_first(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return (x->reason > y->reason) - (x->reason < y->reason);
}

/* A wait lasts until the thread runs again: woken is a part of it. */
static size_t list_parts(int64_t ns[TRC_TASK_STATES][TRC_REASON_COUNT],
			 struct part part[TRC_TASK_STATES + TRC_REASON_COUNT], int64_t *all_ns)
{
	size_t n = 0;

	for (unsigned int state = 0; state < TRC_TASK_STATES; state++)
		if (state != TRC_TASK_WAITING && state != TRC_TASK_WOKEN)
			part[n++] = (struct part){state, 0, ns[state][0]};
	for (unsigned int reason = 0; reason < TRC_REASON_COUNT; reason++) {
		part[n] = (struct part){TRC_TASK_WAITING, reason, ns[TRC_TASK_WAITING][reason]};
		trc_report_add(&part[n++].ns, ns[TRC_TASK_WOKEN][reason]);
	}
	for (size_t i = 0; i < n; i++)
		trc_report_add(all_ns, part[i].ns);
	qsort(part, n, sizeof(*part), largest_type_first);
	return n;
}

static void add_words(struct trc_line *line, const struct part *part)
{
	static const char *const WORDS[TRC_TASK_STATES] = {
		[TRC_TASK_RUNNING] = "ran",
		[TRC_TASK_RUNNABLE] = "had no processor",
		[TRC_TASK_ACTIVE] = "did not wait",
		[TRC_TASK_OFF] = "off the processor, in no recorded wait",
		[TRC_TASK_ABSENT] = "their thread was not there",
		[TRC_TASK_UNWORKED] = "no thread worked for them",
	};

	if (part->state != TRC_TASK_WAITING)
		trc_line_add(line, "%s", WORDS[part->state]);
	else if (part->reason == TRC_REASON_SLEEP)
		trc_line_add(line, "slept");
	else
		trc_line_add(line, "waited for %s", trc_reason_name(part->reason));
}

void trc_user_times_print(const struct trc_user_times *times, struct trc_report *r, size_t type)
{
	struct part part[TRC_TASK_STATES + TRC_REASON_COUNT];
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;
	int64_t all_ns = 0;
	size_t n;

	if (!times->ns || type >= times->n_types)
		return;
	n = list_parts(times->ns[type], part, &all_ns);
	if (all_ns <= 0)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	for (size_t i = 0; i < n && i < PARTS_SHOWN && part[i].ns; i++) {
		if (i && part[i].ns < all_ns / SHARE_SHOWN)
			break;
		trc_line_add(&line, "%s%s ", i ? ", " : "",
			     trc_text_share(number, part[i].ns, all_ns));
		add_words(&line, &part[i]);
	}
	trc_report_line(r, &line);
}
