/*
 * run.c - sums up one trace, in slices of its time.
 *
 * Rows may be millions.  A first pass finds the items and their sums.  Only the
 * largest items of each kind get slices, and a second pass fills them in.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "run.h"
#include "analyzer/model/waits.h"
#include "format/check.h"
#include "format/module_owner.h"
#include "format/symbols.h"
#include "format/waits.h"

/* ---- items ---- */

/* Where a name stands in by_name, with a seed for each that was taken by another name. */
static uint32_t find_name(const struct trc_diff_sums *sums, unsigned int kind, const char *name,
			  uint64_t *hash)
{
	for (uint64_t seed = kind;; seed += TRC_DIFF_KINDS) {
		uint32_t at;
		const struct trc_diff_item *item;

		*hash = trc_check64(name, strlen(name), seed);
		at = trc_index_get(&sums->by_name, *hash);
		if (at == TRC_INDEX_NONE)
			return at;
		item = trc_diff_item(sums, at);
		if (item->kind == kind && !strcmp(item->name, name))
			return at;
	}
}

const struct trc_diff_item *trc_diff_find(const struct trc_diff_sums *sums, unsigned int kind,
					  const char *name)
{
	uint64_t hash;
	uint32_t at = find_name(sums, kind, name, &hash);

	return at == TRC_INDEX_NONE ? NULL : trc_diff_item(sums, at);
}

/* The item of this name, added if need be, as index + 1; 0 without memory.  Takes the name,
 * which may be NULL. */
static uint32_t item_of(struct trc_diff_sums *sums, unsigned int kind, char *name)
{
	uint64_t hash;
	uint32_t at = name ? find_name(sums, kind, name, &hash) : TRC_INDEX_NONE;
	struct trc_diff_item *item;

	if (name && at == TRC_INDEX_NONE) {
		item = trc_array_add(&sums->items);
		if (item && !trc_index_put(&sums->by_name, hash, (uint32_t)(sums->items.n - 1))) {
			item->name = name;
			item->kind = (uint8_t)kind;
			return (uint32_t)sums->items.n;
		}
		sums->items.n -= item != NULL;
	}
	free(name);
	return at == TRC_INDEX_NONE ? 0 : at + 1;
}

size_t trc_diff_slice_at(const struct trc_diff_sums *sums, int64_t ts_ns)
{
	double at = (double)(ts_ns - sums->start_ns) * TRC_DIFF_SLICES /
		    (double)(sums->end_ns - sums->start_ns);

	return at < 0 ? 0 : at < TRC_DIFF_SLICES ? (size_t)at : TRC_DIFF_SLICES - 1;
}

/* A part of the value for each slice that it reaches into. */
static void spread(const struct trc_diff_sums *sums, double slice[TRC_DIFF_SLICES],
		   const struct trc_diff_amount *a)
{
	size_t first = trc_diff_slice_at(sums, a->start_ns),
	       last = trc_diff_slice_at(sums, a->end_ns);
	double length_ns = (double)(sums->end_ns - sums->start_ns) / TRC_DIFF_SLICES;
	double lasted_ns = (double)(a->end_ns - a->start_ns);

	for (size_t i = first; i <= last; i++) {
		double from_ns =
			fmax((double)a->start_ns, (double)sums->start_ns + (double)i * length_ns);
		double to_ns = fmin((double)a->end_ns,
				    (double)sums->start_ns + (double)(i + 1) * length_ns);

		slice[i] +=
			first == last ? a->value : a->value * fmax(to_ns - from_ns, 0) / lasted_ns;
	}
}

void trc_diff_item_add(struct trc_diff_summing *s, uint32_t id, const struct trc_diff_amount *a)
{
	struct trc_diff_item *item = trc_diff_item(s->sums, id - 1);
	size_t slice = trc_diff_slice_at(s->sums, a->start_ns);

	if (!s->slices) {
		item->n++;
		item->total += a->value;
		return;
	}
	if (!item->amount)
		return;
	spread(s->sums, item->amount, a);
	item->events[slice] += a->events > 0 ? a->events : 1;
	if (item->span && a->span_ns >= 0)
		item->span[item->n_spans++] = (struct trc_diff_span){a->span_ns, (uint32_t)slice};
}

static int compare_items(const void *a, const void *b)
{
	const struct trc_diff_item *x = *(struct trc_diff_item *const *)a;
	const struct trc_diff_item *y = *(struct trc_diff_item *const *)b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->total < y->total || x->total > y->total)
		return x->total > y->total ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int item_slices(struct trc_diff_item *item)
{
	enum { SERIES = 2 };
	bool spans = item->kind == TRC_DIFF_TASKS || item->kind == TRC_DIFF_SECTIONS;
	double *slices = calloc((size_t)SERIES * TRC_DIFF_SLICES, sizeof(*slices));

	if (!slices)
		return -ENOMEM;
	item->amount = slices;
	item->events = slices + TRC_DIFF_SLICES;
	if (spans)
		item->span = calloc(item->n + 1, sizeof(*item->span));
	return spans && !item->span ? -ENOMEM : 0;
}

/* The largest of each kind get slices. */
static int choose_items(struct trc_diff_sums *sums)
{
	size_t n = sums->items.n, of_kind[TRC_DIFF_KINDS] = {0};
	struct trc_diff_item **order = calloc(n + 1, sizeof(*order));
	int err = order ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		order[i] = trc_diff_item(sums, i);
		sums->total[order[i]->kind] += order[i]->total;
	}
	if (!err && n)
		qsort(order, n, sizeof(struct trc_diff_item *), compare_items);
	for (size_t i = 0; i < n && !err; i++)
		if (of_kind[order[i]->kind]++ < TRC_DIFF_ITEMS_MAX)
			err = item_slices(order[i]);
	free(order);
	return err;
}

/* ---- events ---- */

uint32_t trc_diff_seen(struct trc_diff_summing *s, const uint64_t key[3], uint64_t *hash)
{
	uint32_t id;

	*hash = trc_check64(key, 3 * sizeof(*key), 0);
	id = trc_index_get(&s->seen, *hash);
	return id == TRC_INDEX_NONE ? 0 : id;
}

uint32_t trc_diff_now_seen(struct trc_diff_summing *s, uint64_t hash, unsigned int kind, char *name)
{
	uint32_t id = item_of(s->sums, kind, name);

	return id && !trc_index_put(&s->seen, hash, id) ? id : 0;
}

static int add_parks(struct trc_diff_summing *s)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(s->names.m, &n);

	for (size_t i = 0; i < n; i++) {
		bool is_lock = trc_wait_class(park[i].reason) == TRC_WAIT_LOCKS;
		unsigned int kind = is_lock ? TRC_DIFF_LOCKS : TRC_DIFF_WAITS;
		const uint64_t key[3] = {kind, (uint64_t)park[i].reason << 32 | park[i].stack,
					 park[i].object};
		struct trc_diff_amount a = {trc_park_start_ns(s->names.m, &park[i]),
					    trc_park_end_ns(s->names.m, &park[i]), 0, -1, 0};
		uint64_t hash;
		uint32_t id = trc_diff_seen(s, key, &hash);

		if (!id)
			id = trc_diff_now_seen(s, hash, kind,
					       trc_diff_wait_name(&s->names, &park[i]));
		if (!id)
			return -ENOMEM;
		a.end_ns = a.end_ns < a.start_ns ? a.start_ns : a.end_ns;
		a.value = (double)(a.end_ns - a.start_ns);
		trc_diff_item_add(s, id, &a);
	}
	return 0;
}

static int add_unlocks(struct trc_diff_summing *s)
{
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(s->names.m, &n);

	for (size_t i = 0; i < n; i++) {
		const struct trc_unlock *u = &unlock[i];
		const uint64_t key[3] = {TRC_DIFF_SECTIONS, (uint64_t)u->reason << 32 | u->stack,
					 u->object};
		bool known = u->taken_ns != TRC_NEVER && u->taken_ns <= u->ts_ns;
		const struct trc_diff_amount a = {u->ts_ns, u->ts_ns, (double)u->caused_ns,
						  known ? u->ts_ns - u->taken_ns : -1, 0};
		uint64_t hash;
		uint32_t id;

		if (!u->caused_waits)
			continue;
		id = trc_diff_seen(s, key, &hash);
		if (!id)
			id = trc_diff_now_seen(s, hash, TRC_DIFF_SECTIONS,
					       trc_diff_section_name(&s->names, u));
		if (!id)
			return -ENOMEM;
		trc_diff_item_add(s, id, &a);
	}
	return 0;
}

uint32_t trc_diff_threads_item(struct trc_diff_summing *s, unsigned int kind, uint32_t thread)
{
	const uint64_t key[3] = {kind, thread, 0};
	uint64_t hash;
	uint32_t id = trc_diff_seen(s, key, &hash);

	return id ? id : trc_diff_now_seen(s, hash, kind, trc_diff_threads_name(&s->names, thread));
}

static int summing_add_samples(struct trc_diff_summing *s)
{
	size_t n, n_events;
	const struct trc_sample *sample = trc_model_samples(s->names.m, &n);
	const struct trc_sample_event *event = trc_model_sample_events(s->names.m, &n_events);

	for (size_t i = 0; i < n && s->sums->sampled; i++) {
		uint32_t threads =
			sample[i].event == event[s->event].event
				? trc_diff_threads_item(s, TRC_DIFF_SAMPLED, sample[i].thread)
				: 0;
		const uint64_t key[3] = {TRC_DIFF_CPU, sample[i].stack, threads};
		const struct trc_diff_amount a = {sample[i].ts_ns, sample[i].ts_ns,
						  (double)sample[i].scaled, -1, 0};
		uint64_t hash;
		uint32_t id;

		if (sample[i].event != event[s->event].event)
			continue;
		id = trc_diff_seen(s, key, &hash);
		if (!id && threads)
			id = trc_diff_now_seen(
				s, hash, TRC_DIFF_CPU,
				trc_diff_cpu_name(&s->names, sample[i].stack,
						  trc_diff_item(s->sums, threads - 1)->name));
		if (!id)
			return -ENOMEM;
		trc_diff_item(s->sums, id - 1)->threads = threads - 1;
		trc_diff_item_add(s, id, &a);
		trc_diff_item_add(s, threads, &a);
		s->sums->n_samples += s->slices;
	}
	return 0;
}

/* Those that have ended, at their end. */
static int summing_add_tasks(struct trc_diff_summing *s)
{
	size_t n;
	const struct trc_task *task = trc_model_tasks(s->names.m, &n);

	for (size_t i = 0; i < n; i++) {
		const uint64_t key[3] = {TRC_DIFF_TASKS, (uintptr_t)task[i].type, 0};
		struct trc_diff_amount a = {task[i].end_ns, task[i].end_ns, 0, -1, 0};
		uint64_t hash;
		uint32_t id;

		if (task[i].start_ns == TRC_NEVER || task[i].end_ns == TRC_NEVER ||
		    task[i].end_ns < task[i].start_ns)
			continue;
		a.span_ns = task[i].end_ns - task[i].start_ns;
		a.value = (double)a.span_ns;
		id = trc_diff_seen(s, key, &hash);
		if (!id)
			id = trc_diff_now_seen(s, hash, TRC_DIFF_TASKS,
					       strndup(task[i].type ? task[i].type : "", 300));
		if (!id)
			return -ENOMEM;
		trc_diff_item_add(s, id, &a);
	}
	return 0;
}

static int task_compare_spans(const void *a, const void *b)
{
	const struct trc_diff_span *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static int summing_add_all(struct trc_diff_summing *s)
{
	static int (*const ADD[])(struct trc_diff_summing *) = {
		summing_add_tasks,    add_parks,	  add_unlocks, summing_add_samples,
		trc_diff_add_threads, trc_diff_add_memory};
	int err = 0;

	for (size_t i = 0; i < sizeof(ADD) / sizeof(*ADD) && !err; i++)
		err = ADD[i](s);
	return err;
}

static int sum_events(struct trc_diff_summing *s)
{
	int err = summing_add_all(s);

	if (!err)
		err = choose_items(s->sums);
	s->slices = true;
	if (!err)
		err = summing_add_all(s);
	for (size_t i = 0; i < s->sums->items.n && !err; i++) {
		struct trc_diff_item *item = trc_diff_item(s->sums, i);

		if (item->n_spans)
			qsort(item->span, item->n_spans, sizeof(*item->span), task_compare_spans);
	}
	return err;
}

/* ---- the trace as a whole ---- */

/* Of the clocks the event with most samples, else of all events. */
static int choose_event(struct trc_diff_summing *s)
{
	size_t n;
	const struct trc_sample_event *event = trc_model_sample_events(s->names.m, &n);
	const struct trc_sample_event *best = NULL;

	for (size_t i = 0; i < n; i++) {
		bool clock = trc_sample_event_is_clock(&event[i]);
		bool best_clock = best && trc_sample_event_is_clock(best);

		if (event[i].n_samples &&
		    (!best || (clock && !best_clock) ||
		     (clock == best_clock && event[i].n_samples > best->n_samples)))
			best = &event[i];
	}
	if (!best)
		return 0;
	s->event = (uint32_t)(best - event);
	s->sums->sampled = strndup(best->name, 100);
	s->sums->sampled_clock = trc_sample_event_is_clock(best);
	s->sums->period = best->period;
	s->sums->frequency_hz = best->frequency_hz;
	s->sums->lost_samples =
		trc_samples_tell_all(best->scaled, best->unseen) ? 0 : best->lost_samples;
	return s->sums->sampled ? 0 : -ENOMEM;
}

/* The program file; NULL = not known. */
static const struct trc_module_entry *program_of(const struct trc_reader *reader)
{
	const char *exe = trc_reader_info_get(reader, "exe");
	const struct trc_module_entry *program = NULL;

	for (uint32_t i = 1; i < trc_reader_modules(reader); i++) {
		const struct trc_module_entry *module = trc_reader_module(reader, i);

		if (!module || trc_module_owner(module->path) != TRC_OWNER_PROGRAM)
			continue;
		if (exe && !strcmp(exe, module->path))
			return module;
		if (!program)
			program = module;
	}
	return program;
}

static void build_text(const struct trc_model *m, char text[2 * TRC_BUILD_ID_BYTES_MAX + 1])
{
	const struct trc_module_entry *program = program_of(trc_model_reader(m));

	text[0] = '\0';
	for (size_t i = 0; program && i < program->build_id_bytes && i < TRC_BUILD_ID_BYTES_MAX;
	     i++)
		snprintf(text + 2 * i, 3, "%02x", program->build_id[i]);
}

bool trc_diff_same_build(const struct trc_model *a, const struct trc_model *b)
{
	char build_a[2 * TRC_BUILD_ID_BYTES_MAX + 1], build_b[2 * TRC_BUILD_ID_BYTES_MAX + 1];

	build_text(a, build_a);
	build_text(b, build_b);
	return *build_a && !strcmp(build_a, build_b);
}

/* The usual reason is that the program was built again since it was recorded. */
static int find_nameless(struct trc_diff_sums *sums, const struct trc_model *m)
{
	const struct trc_module_entry *program = program_of(trc_model_reader(m));
	const struct trc_stacks *stacks = trc_model_stacks(m);
	const char *trouble = program ? trc_symbols_trouble(trc_model_symbols(m), program) : NULL;
	bool any = false;

	for (size_t i = 0; i < stacks->n_frames; i++) {
		const struct trc_frame *frame = &stacks->frame[i];

		if (!program || !frame->module ||
		    trc_reader_module(trc_model_reader(m), frame->module) != program)
			continue;
		if (frame->function)
			return 0;
		any = true;
	}
	if (any)
		sums->nameless = strndup(trouble ? trouble : "it has none", 100);
	return any && !sums->nameless ? -ENOMEM : 0;
}

static int copy_info(char **out, const struct trc_reader *reader, const char *key)
{
	const char *value = trc_reader_info_get(reader, key);

	*out = value ? strndup(value, 100) : NULL;
	return !value || *out ? 0 : -ENOMEM;
}

static int describe_recording(struct trc_diff_sums *sums, const struct trc_reader *reader)
{
	int err = copy_info(&sums->locks, reader, "locks");

	if (!err)
		err = copy_info(&sums->procs, reader, "procs");
	if (!err)
		err = copy_info(&sums->machine, reader, "hostname");
	return err ? err : copy_info(&sums->processor, reader, "cpu");
}

static int sums_describe(struct trc_diff_sums *sums, const struct trc_model *m, const char *path)
{
	const struct trc_reader *reader = trc_model_reader(m);
	const struct trc_file_info *file = trc_reader_info(reader);
	const char *command = trc_reader_info_get(reader, "command");
	const char *ended = trc_reader_info_get(reader, "ended");
	size_t n, n_allocs, n_frees, n_waits;

	sums->path = strdup(path);
	sums->command = command ? strndup(command, 300) : NULL;
	build_text(m, sums->build);
	sums->start_ns = trc_model_start_ns(m);
	sums->end_ns = trc_model_end_ns(m);
	if (sums->end_ns <= sums->start_ns)
		sums->end_ns = sums->start_ns + 1;
	sums->lost_events = trc_model_lost_events(m);
	sums->table_full = file->table_full;
	sums->ends = file->complete;
	trc_model_parks(m, &n_waits);
	sums->n_waits = n_waits;
	/* "exit 0"; but "exit status not known" may be an end by a signal. */
	sums->exited = ended && !strncmp(ended, "exit ", 5) && ended[5] >= '0' && ended[5] <= '9' &&
		       !sums->lost_events && !trc_reader_info_get(reader, "snapshot");
	trc_model_on_cpu(m, &n);
	sums->switches = n > 0;
	trc_model_allocs(m, &n_allocs);
	trc_model_frees(m, &n_frees);
	sums->heap = n_allocs || n_frees;
	sums->window = trc_model_window_ns(m) != TRC_NEVER;
	return sums->path && (!command || sums->command) && !describe_recording(sums, reader)
		       ? find_nameless(sums, m)
		       : -ENOMEM;
}

/* A thread that was taken off its proc, and could have gone on, had none until it was put on one
 * again. */
static int find_without_proc(struct trc_diff_sums *sums, const struct trc_model *m)
{
	size_t n, n_threads;
	const struct trc_on_cpu *row = trc_model_on_cpu(m, &n);
	const struct trc_thread *thread = trc_model_threads(m, &n_threads);
	int64_t *since_ns = calloc(n_threads + 1, sizeof(*since_ns));
	double ran_ns = 0, without_ns = 0;
	int err;

	for (size_t i = 0; since_ns && i < n; i++) {
		const struct trc_thread *of = trc_model_thread(m, row[i].thread);
		int64_t *since = of ? &since_ns[of - thread] : NULL;
		/* It began before the trace. */
		int64_t start_ns = row[i].start_ns == TRC_NEVER ? sums->start_ns : row[i].start_ns;

		if (!of || row[i].end_ns == TRC_NEVER || row[i].end_ns < start_ns)
			continue;
		if (*since && start_ns > *since)
			without_ns += (double)(start_ns - *since);
		*since = row[i].preempted ? row[i].end_ns : 0;
		ran_ns += (double)(row[i].end_ns - start_ns);
	}
	if (ran_ns > 0)
		sums->without_proc = without_ns / (ran_ns + without_ns);
	err = since_ns ? 0 : -ENOMEM;
	free(since_ns);
	return err;
}

int trc_diff_sum(struct trc_diff_sums **out, struct trc_model *m, const char *path, bool by_place,
		 struct trc_error *error)
{
	struct trc_diff_summing s = {.sums = calloc(1, sizeof(*s.sums)),
				     .names = {.m = m, .by_place = by_place}};
	int err = trc_model_need(m,
				 TRC_PART_WAITS | TRC_PART_USER | TRC_PART_SCHED |
					 TRC_PART_SAMPLES | TRC_PART_HEAP | TRC_PART_SYMBOLS,
				 error);

	if (err) {
		free(s.sums);
		return err;
	}
	s.names.stacks = trc_model_stacks(m);
	err = s.sums ? sums_describe(s.sums, m, path) : -ENOMEM;
	if (!err) {
		s.sums->items.row_bytes = sizeof(struct trc_diff_item);
		err = choose_event(&s);
	}
	if (!err)
		err = find_without_proc(s.sums, m);
	if (!err)
		err = sum_events(&s);
	trc_index_free(&s.seen);
	if (err) {
		snprintf(error->text, sizeof(error->text), "diff: out of memory");
		trc_diff_sums_free(s.sums);
		return err;
	}
	*out = s.sums;
	return 0;
}

void trc_diff_sums_free(struct trc_diff_sums *sums)
{
	for (size_t i = 0; sums && i < sums->items.n; i++) {
		struct trc_diff_item *item = trc_diff_item(sums, i);

		free(item->name);
		free(item->amount);
		free(item->span);
	}
	if (!sums)
		return;
	trc_array_free(&sums->items);
	trc_index_free(&sums->by_name);
	free(sums->path);
	free(sums->command);
	free(sums->nameless);
	free(sums->sampled);
	free(sums->locks);
	free(sums->procs);
	free(sums->machine);
	free(sums->processor);
	free(sums);
}
