/*
 * fake_model.c - see fake_model.h.
 */
#include "analyzer/model/descriptors.h"
#include "fake_model.h"
#include "analyzer/model/preempted.h"
#include "analyzer/model/lock_sums.h"

#include <stdio.h>

#include <errno.h>
#include <stdlib.h>

#include "analyzer/model/selection_rows.h"
#include "analyzer/model/timeline.h"
#include "analyzer/model/waits.h"
#include "analyzer/findings/findings.h"
#include "analyzer/report/report.h"
#include "analyzer/profile/profile.h"
#include "analyzer/text/line.h"

/* The only reader there is belongs to the model that was asked last. */
static const struct trc_model *current;

int trc_model_need(struct trc_model *m, unsigned int parts, struct trc_error *error)
{
	if (m->need_result)
		snprintf(error->text, sizeof(error->text), "block 3: checksum mismatch");
	return m->need_result;
}

const struct trc_reader *trc_model_reader(const struct trc_model *m)
{
	current = m;
	return NULL;
}

int64_t trc_model_switches_from_ns(const struct trc_model *m)
{
	return trc_model_start_ns(m);
}

/* Everything is shown: nothing below is asked for then. */
const struct trc_selection *trc_model_selection(const struct trc_model *m)
{
	(void)m;
	return NULL;
}

void trc_selected_rows_begin(struct trc_selected_rows *rows, const struct trc_model *m)
{
	*rows = (struct trc_selected_rows){.m = m};
}

int trc_selected_rows_need_caused(struct trc_selected_rows *rows)
{
	(void)rows;
	return 0;
}

bool trc_selected_rows_has(const struct trc_selected_rows *rows, enum trc_selected_table table,
			   size_t i, struct trc_selected_row *row)
{
	(void)rows;
	(void)table;
	*row = (struct trc_selected_row){i + 1, TRC_NEVER, 1};
	return true;
}

size_t trc_selected_rows_next(const struct trc_selected_rows *rows, enum trc_selected_table table,
			      size_t i, size_t n)
{
	(void)rows;
	(void)table;
	return i < n ? i : n;
}

void trc_selected_rows_free(struct trc_selected_rows *rows)
{
	(void)rows;
}

void trc_selection_tell(struct trc_line *line, const struct trc_selection *s)
{
	(void)line;
	(void)s;
}

void trc_selection_options(struct trc_line *line, const struct trc_selection *s)
{
	(void)line;
	(void)s;
}

void trc_line_begin(struct trc_line *line, int limit, bool colour)
{
	*line = (struct trc_line){.limit = limit, .colour = colour};
}

const char *trc_line_text(struct trc_line *line)
{
	return line->text;
}

bool trc_selection_touches(const struct trc_selection *s, uint32_t thread, int64_t from_ns,
			   int64_t to_ns)
{
	(void)s;
	(void)thread;
	(void)from_ns;
	(void)to_ns;
	return true;
}

bool trc_selection_at(const struct trc_selection *s, uint32_t thread, int64_t ts_ns,
		      int64_t *until_ns)
{
	(void)s;
	(void)thread;
	(void)ts_ns;
	*until_ns = INT64_MAX;
	return true;
}

bool trc_selection_passes(const struct trc_selection *s, const struct trc_model *m, uint32_t labels)
{
	(void)s;
	(void)m;
	(void)labels;
	return true;
}

const struct trc_thread_span *trc_model_label_spans_of(const struct trc_model *m, uint32_t thread,
						       size_t *n)
{
	(void)m;
	(void)thread;
	*n = 0;
	return NULL;
}

/* Those that its thread had when the wait began. */
uint32_t trc_park_labels(const struct trc_model *m, const struct trc_park *park)
{
	const struct trc_thread_span *span = m->label_spans;

	for (size_t i = 0; i < m->n_label_spans; i++)
		if (span[i].thread == park->thread && span[i].start_ns <= park->start_ns &&
		    (span[i].end_ns == TRC_NEVER || park->start_ns < span[i].end_ns))
			return span[i].value;
	return 0;
}

int64_t trc_model_start_ns(const struct trc_model *m)
{
	return m->start_ns;
}

int64_t trc_model_end_ns(const struct trc_model *m)
{
	return m->end_ns;
}

int64_t trc_model_window_ns(const struct trc_model *m)
{
	return m->window_ns ? m->window_ns : TRC_NEVER;
}

uint64_t trc_model_lost_events(const struct trc_model *m)
{
	return m->lost_events;
}

const struct trc_thread *trc_model_thread(const struct trc_model *m, uint32_t serial)
{
	size_t low = 0, high = m->n_threads;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (m->threads[middle].serial < serial)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->n_threads && m->threads[low].serial == serial ? &m->threads[low] : NULL;
}

#define ROWS(type, field)                                                                          \
	const struct trc_##type *trc_model_##field(const struct trc_model *m, size_t *n)           \
	{                                                                                          \
		*n = m->n_##field;                                                                 \
		return m->field;                                                                   \
	}
ROWS(thread, threads)
ROWS(park, parks)
ROWS(unlock, unlocks)
ROWS(task, tasks)
ROWS(region, regions)
ROWS(log, logs)
ROWS(counter, counters)
ROWS(on_cpu, on_cpu)
ROWS(gap, gaps)
ROWS(set_label, labels)
ROWS(thread_span, label_spans)
ROWS(fiber, fibers)
ROWS(fiber_run, fiber_runs)
ROWS(fiber_wait, fiber_waits)
ROWS(sample, samples)
ROWS(sample_event, sample_events)
ROWS(alloc, allocs)
ROWS(free, frees)
ROWS(signal, signals)
ROWS(trigger, triggers)
ROWS(coverage, coverage)
ROWS(thread_now, threads_now)
ROWS(lock_held, locks_held)
ROWS(deadlock, deadlocks)

/* Nor is anybody without one. */
const struct trc_preempted *trc_model_preempted(const struct trc_model *m)
{
	(void)m;
	return NULL;
}

int64_t trc_preempted_ns(const struct trc_preempted *p, uint32_t thread, int64_t from_ns,
			 int64_t to_ns)
{
	(void)p;
	(void)thread;
	(void)from_ns;
	(void)to_ns;
	return 0;
}

enum trc_thread_counts trc_model_thread_counts(const struct trc_model *m, size_t row)
{
	(void)m;
	(void)row;
	return TRC_THREAD_COUNTS;
}

int trc_report_idle_threads(struct trc_model *m, uint8_t *idle, uint8_t *waits,
			    struct trc_error *error)
{
	(void)waits;
	(void)error;
	for (size_t i = 0; m->idle && i < m->n_threads; i++)
		idle[i] = m->idle[i];
	return 0;
}

/* Nobody waits for a proc, and labels are not summed. */
int trc_report_times(struct trc_model *m, struct trc_array *latencies, struct trc_array *labels,
		     struct trc_error *error)
{
	(void)m;
	(void)error;
	*latencies = (struct trc_array){.row_bytes = sizeof(struct trc_latency_group)};
	*labels = (struct trc_array){.row_bytes = sizeof(struct trc_label_time)};
	return 0;
}

int trc_findings(struct trc_model *m, struct trc_array *out, struct trc_error *error)
{
	*out = (struct trc_array){.row_bytes = sizeof(struct trc_finding)};
	for (size_t i = 0; i < m->n_findings; i++) {
		struct trc_finding *added = trc_array_add(out);

		if (!added) {
			snprintf(error->text, sizeof(error->text), "out of memory");
			return -ENOMEM;
		}
		*added = m->findings[i];
	}
	return 0;
}

int trc_blame_sum(const struct trc_model *m, const struct trc_blame_target *target)
{
	int err = 0;

	for (size_t i = 0; i < m->n_blame && !err; i++) {
		struct trc_blame blame = m->blame[i];

		if (target->wanted(target->context, &m->parks[blame.labels - 1], &blame.labels))
			err = target->charge(target->context, &blame);
	}
	return err;
}

struct trc_causes {
	const struct trc_model *m;
	size_t rows_max;
};

int trc_causes_open(struct trc_causes **out, const struct trc_model *m)
{
	struct trc_causes *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->m = m;
	*out = c;
	return 0;
}

void trc_causes_limit(struct trc_causes *c, size_t rows_max)
{
	c->rows_max = rows_max;
}

void trc_causes_close(struct trc_causes *c)
{
	free(c);
}

/* Those that lie in this time. */
int trc_causes_of_thread(struct trc_causes *c, uint32_t thread, int64_t from_ns, int64_t to_ns,
			 const struct trc_cause **rows, size_t *n)
{
	size_t first = 0;

	(void)thread;
	while (first < c->m->n_causes && c->m->causes[first].from_ns < from_ns)
		first++;
	*rows = c->m->causes + first;
	*n = 0;
	while (first + *n < c->m->n_causes && c->m->causes[first + *n].to_ns <= to_ns)
		++*n;
	return *n > c->rows_max ? -E2BIG : 0;
}

/* Those that say that they are its. */
int trc_causes_of_wait(struct trc_causes *c, uint32_t park, const struct trc_cause **rows,
		       size_t *n)
{
	size_t first = 0;

	while (first < c->m->n_causes && c->m->causes[first].wait != park)
		first++;
	*rows = c->m->causes + first;
	*n = 0;
	while (first + *n < c->m->n_causes && c->m->causes[first + *n].wait == park)
		++*n;
	return *n > c->rows_max ? -E2BIG : 0;
}

const struct trc_stacks *trc_model_stacks(const struct trc_model *m)
{
	return &m->stacks;
}

/* The first frame of stacks deeper than one is the waiting function itself. */
size_t trc_profile_own(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack,
		       size_t *end)
{
	*end = 0; /* the page does not ask */
	return stacks->stack_first[stack + 1] - stacks->stack_first[stack] > 1;
}

size_t trc_reader_info_count(const struct trc_reader *r)
{
	return current->n_info;
}

void trc_reader_info_at(const struct trc_reader *r, size_t i, const char **key, const char **value)
{
	*key = current->info[i][0];
	*value = current->info[i][1];
}

const char *trc_reader_warning(const struct trc_reader *r)
{
	return current->warning;
}

const struct trc_file_info *trc_reader_info(const struct trc_reader *r)
{
	static const struct trc_file_info info = {
		.start_realtime_ns = 1700000000000000000, .n_events = 12345, .complete = true};

	return &info;
}

/* Its clock was never set. */
size_t trc_reader_syncs(const struct trc_reader *r)
{
	return 0;
}

int64_t trc_reader_sync_ns(const struct trc_reader *r, size_t i, uint64_t *realtime_ns)
{
	*realtime_ns = 0;
	return 0;
}

size_t trc_reader_modules(const struct trc_reader *r)
{
	return 3;
}

const struct trc_module_entry *trc_reader_module(const struct trc_reader *r, uint32_t id)
{
	static const struct trc_module_entry module = {.path = "/usr/lib/libdemo.so.1",
						       .load_bias = 0xffffffff81000000};
	static const struct trc_module_entry trc = {.path = "/usr/lib/libtrc-preload.so"};

	return id == 2 ? &trc : &module;
}

const char *trc_model_member(const struct trc_model *m, uint64_t address, uint32_t stack,
			     uint64_t *offset)
{
	(void)m;
	(void)address;
	(void)stack;
	*offset = 0;
	return "";
}

const struct trc_descriptor_name *trc_model_descriptor(const struct trc_model *m, uint32_t number)
{
	static const struct trc_descriptor_name peer = {
		.text = "tcp 127.0.0.1:80 127.0.0.1:4711", .kind = "tcp", .name = "127.0.0.1:4711"};

	(void)m;
	return number ? &peer : NULL;
}

/* What has no name lies in no module's data. */
bool trc_model_data_name(char out[TRC_DATA_NAME_BYTES], const struct trc_model *m, uint64_t address,
			 uint32_t stack)
{
	(void)m, (void)address, (void)stack;
	out[0] = '\0';
	return false;
}

const char *trc_model_variable(const struct trc_model *m, uint64_t address, uint32_t stack,
			       uint64_t *offset)
{
	(void)m;
	(void)address;
	(void)stack;
	*offset = 0;
	return NULL;
}

const struct trc_object *trc_model_object(const struct trc_model *m, unsigned int reason,
					  uint64_t address)
{
	(void)m;
	(void)reason;
	(void)address;
	return NULL;
}

const struct trc_lock_edge *trc_model_lock_edges(const struct trc_model *m, size_t *n)
{
	(void)m;
	*n = 0;
	return NULL;
}

const struct trc_latency *trc_model_latencies(const struct trc_model *m, size_t *n)
{
	(void)m;
	*n = 0;
	return NULL;
}

int trc_lock_sums_make(struct trc_lock_sums *sums, struct trc_model *m, bool count_threads,
		       struct trc_error *error)
{
	(void)m;
	(void)count_threads;
	(void)error;
	*sums = (struct trc_lock_sums){.rows = {.row_bytes = sizeof(struct trc_lock_sum)}};
	return 0;
}

void trc_lock_sums_free(struct trc_lock_sums *sums)
{
	trc_array_free(&sums->rows);
}

int trc_reader_stack(const struct trc_reader *r, uint32_t id, struct trc_stack_view *view)
{
	(void)r;
	(void)id;
	*view = (struct trc_stack_view){0};
	return 0;
}
