/* samples.c - profiles of CPU time and of counters; see profile.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/margin.h"
#include "parts.h"
#include "format/sampled.h"

/* Which of the sampled events are in a profile. */
struct chosen {
	const struct trc_sample_event *event;
	size_t n;
	bool *in;  /* by row of event */
	bool heap; /* allocations were sampled, too */
};

/* While an event had samples of a thread. */
struct stay {
	uint32_t thread, row; /* of event */
	int64_t first_ns, last_ns;
	bool dropped; /* profile:L6 */
};

/* "cycles" is "cycles:u", too. */
static bool is_base_name(const char *name, const char *event_name)
{
	size_t n = strlen(name);

	return !strncmp(name, event_name, n) && event_name[n] == ':';
}

/* ---- choosing ---- */

static void list_profiles(const struct chosen *c, char *text, size_t n_bytes)
{
	const char *heap = c->heap ? ", heap, allocs" : "";
	bool clock = false;
	int n = 0;

	for (size_t i = 0; i < c->n; i++)
		clock |= trc_sample_event_is_clock(&c->event[i]);
	n = snprintf(text, n_bytes, "block, mutex, blame, offcpu%s%s", heap,
		     clock ? ", cpu, wall" : "");
	for (size_t i = 0; i < c->n && (size_t)n < n_bytes; i++)
		if (*c->event[i].name)
			n += snprintf(text + n, n_bytes - (size_t)n, ", %s", c->event[i].name);
}

/* Names of the trace's may be anything, and this goes to a terminal. */
static int refused(struct trc_error *error)
{
	for (char *at = error->text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return -ENOENT;
}

static int samples_refuse(const struct chosen *c, const char *name, struct trc_error *error)
{
	char list[160];

	list_profiles(c, list, sizeof(list));
	if (!name)
		snprintf(error->text, sizeof(error->text),
			 "no CPU time was sampled: trace-record -e auto does; it has %s", list);
	else if (!*name)
		snprintf(error->text, sizeof(error->text), "no profile is named; it has %s", list);
	else
		snprintf(error->text, sizeof(error->text), "it has no samples of %.60s; it has %s",
			 name, list);
	return refused(error);
}

/* The events of exactly this name, else those that only differ in their suffix. */
static int choose_by_name(struct chosen *c, const char *name, struct trc_error *error)
{
	const char *found = NULL;

	for (size_t i = 0; i < c->n && !found; i++)
		if (!strcmp(c->event[i].name, name))
			found = c->event[i].name;
	for (size_t i = 0; i < c->n && (!found || strcmp(found, name)); i++) {
		if (!is_base_name(name, c->event[i].name))
			continue;
		if (found && strcmp(found, c->event[i].name) != 0) {
			snprintf(error->text, sizeof(error->text),
				 "%.60s is both %.60s and %.60s here", name, found,
				 c->event[i].name);
			return refused(error);
		}
		found = c->event[i].name;
	}
	for (size_t i = 0; found && i < c->n; i++)
		c->in[i] = !strcmp(c->event[i].name, found);
	return found ? 0 : samples_refuse(c, name, error);
}

static int choose_clocks(struct chosen *c, struct trc_error *error)
{
	bool any = false;

	for (size_t i = 0; i < c->n; i++)
		any |= c->in[i] = trc_sample_event_is_clock(&c->event[i]);
	return any ? 0 : samples_refuse(c, NULL, error);
}

/* The row of this event: every event of a sample has one. */
static size_t chosen_row_of(const struct chosen *c, uint32_t event)
{
	return trc_sample_event_row(c->event, c->n, event);
}

/* ---- profile:L6 ---- */

struct stays {
	struct trc_array rows; /* struct stay */
	struct trc_index row;  /* by thread and event's row */
};

static struct stay *stay_of(struct stays *s, uint32_t thread, size_t event_row)
{
	uint32_t at = trc_index_get(&s->row, (uint64_t)event_row << 32 | thread);

	return at == TRC_INDEX_NONE ? NULL : (struct stay *)s->rows.row + at;
}

static int stay_note(struct stays *s, const struct trc_sample *sample, size_t event_row)
{
	struct stay *stay = stay_of(s, sample->thread, event_row);

	if (!stay) {
		stay = trc_array_add(&s->rows);
		if (!stay || trc_index_put(&s->row, (uint64_t)event_row << 32 | sample->thread,
					   (uint32_t)(s->rows.n - 1)))
			return -ENOMEM;
		*stay = (struct stay){.thread = sample->thread,
				      .row = (uint32_t)event_row,
				      .first_ns = sample->ts_ns};
	}
	stay->last_ns = sample->ts_ns;
	return 0;
}

/* No recorder has as many; a made-up file must not cost the square. */
enum { CLOCKS_MAX = 64 };

static void stays_drop(struct stays *s)
{
	struct stay *stay = s->rows.row;

	for (size_t i = 0; i < s->rows.n; i++) {
		uint32_t end = stay[i].row < CLOCKS_MAX ? stay[i].row : CLOCKS_MAX;

		for (uint32_t row = 0; row < end && !stay[i].dropped; row++) {
			const struct stay *other = stay_of(s, stay[i].thread, row);

			stay[i].dropped = other && other->first_ns <= stay[i].last_ns &&
					  stay[i].first_ns <= other->last_ns;
		}
	}
}

/* Leaves out events of which no sample is left, but those whose samples were all lost. */
static void choose_kept(struct chosen *c, const struct stays *s)
{
	const struct stay *stay = s->rows.row;
	bool *kept = calloc(c->n + 1, sizeof(*kept));

	for (size_t i = 0; kept && i < s->rows.n; i++)
		kept[stay[i].row] |= !stay[i].dropped;
	for (size_t i = 0; kept && s->rows.n && i < c->n; i++)
		c->in[i] &= kept[i] || (!c->event[i].n_samples && c->event[i].lost_samples);
	free(kept);
}

/* ---- summing up ---- */

static int64_t as_int64(uint64_t value)
{
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static int add_samples(struct trc_profile_sums *sums, const struct chosen *c, struct stays *stays,
		       struct trc_margin_part *whole)
{
	size_t n;
	const struct trc_sample *sample = trc_model_samples(sums->m, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		struct trc_profile_sample one = {.stack = sample[i].stack,
						 .labels = sample[i].labels,
						 .value = {1, as_int64(sample[i].scaled)}};
		size_t row = chosen_row_of(c, sample[i].event);

		if (!c->in[row] || stay_of(stays, sample[i].thread, row)->dropped ||
		    !trc_profile_passes(sums, sample[i].labels) ||
		    !trc_selection_has_time(sums->selection, sample[i].thread, sample[i].ts_ns))
			continue;
		err = trc_profile_add(sums, &one);
		if (!trc_sample_event_is_counted(&c->event[row]))
			trc_margin_part_add(whole, sample[i].scaled);
	}
	return err;
}

static double percent(uint64_t part, uint64_t of)
{
	return 100 * (double)part / (double)of;
}

/* How far such a share of all may be off, in percent of all: as if one thread had used all. */
static double margin_percent(const struct trc_margin_part *whole, double share)
{
	const struct trc_margin_part part = {share * whole->value, share * whole->squares,
					     whole->n};
	struct trc_margin group = {0};
	double percents;

	trc_margin_add_known(&group, &part, whole);
	percents = 100 * trc_margin_value(&group) / whole->value;
	return percents < 100 ? percents : 100;
}

static void comment_margin(struct trc_profile *p, const struct trc_margin_part *whole)
{
	if (whole->value > 0)
		trc_profile_comment(
			p,
			"values of samples are estimates: what is half of their sum is known to "
			"±%.1f %% of the sum, a twentieth to ±%.1f %% (95 %% intervals)",
			margin_percent(whole, 0.5), margin_percent(whole, 0.05));
}

static int stays_find(struct stays *stays, const struct trc_model *m, const struct chosen *c)
{
	size_t n;
	const struct trc_sample *sample = trc_model_samples(m, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		size_t row = chosen_row_of(c, sample[i].event);

		if (c->in[row])
			err = stay_note(stays, &sample[i], row);
	}
	return err;
}

/* ---- what is worth knowing ---- */

static void comment_event(struct trc_profile *p, const struct trc_sample_event *event)
{
	const struct trc_sampled sampled = {event->name,	 event->period,
					    event->frequency_hz, trc_sample_event_is_clock(event),
					    event->how,		 event->note};
	char text[TRC_SAMPLED_TEXT_BYTES];

	trc_sampled_text(text, &sampled);
	trc_profile_comment(p, "%s", text);
	if (event->missing_threads)
		trc_profile_comment(p, "%" PRIu64 " thread%s not sampled", event->missing_threads,
				    event->missing_threads == 1 ? " was" : "s were");
}

static bool is_lost_here(const struct trc_samples_lost *lost, const struct chosen *c,
			 struct stays *stays)
{
	size_t row = lost->event ? chosen_row_of(c, lost->event) : c->n;
	const struct stay *stay = lost->event ? stay_of(stays, lost->thread, row) : NULL;

	return !lost->event || (c->in[row] && !(stay && stay->dropped));
}

static void comment_lost(const struct trc_model *m, struct trc_profile *p, const struct chosen *c,
			 struct stays *stays)
{
	size_t n;
	const struct trc_samples_lost *lost = trc_model_samples_lost(m, &n);
	uint64_t by_cause[UINT8_MAX + 1] = {0};

	for (size_t i = 0; i < n; i++)
		if (is_lost_here(&lost[i], c, stays))
			by_cause[lost[i].cause] += lost[i].lost_samples;
	for (unsigned int cause = 0; cause <= UINT8_MAX; cause++)
		if (by_cause[cause])
			trc_profile_comment(p, "%" PRIu64 " sample%s lost%s: %s", by_cause[cause],
					    by_cause[cause] == 1 ? " was" : "s were",
					    trc_model_selection(m) ? " in the whole trace" : "",
					    trc_sample_loss_name(cause));
}

/* ---- what is missing (profile:L9) ---- */

static uint64_t saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Of what is left of profile:L6: what was sampled, what samples stand for, and what none does. */
struct amounts {
	uint64_t sampled, scaled, unseen;
};

static uint64_t unseen_of(const struct trc_samples_lost *lost, const struct chosen *c)
{
	uint64_t sum = 0, value;

	for (size_t i = 0; i < c->n; i++) {
		if (!c->in[i] || (lost->event && lost->event != c->event[i].event))
			continue;
		if (__builtin_mul_overflow(lost->lost_samples,
					   trc_sample_event_period(&c->event[i]), &value))
			value = UINT64_MAX;
		sum = saturated(sum, value);
	}
	return sum;
}

static struct amounts amounts_of(const struct trc_model *m, const struct chosen *c,
				 struct stays *stays)
{
	struct amounts a = {0};
	size_t n, n_lost;
	const struct trc_sample *sample = trc_model_samples(m, &n);
	const struct trc_samples_lost *lost = trc_model_samples_lost(m, &n_lost);

	for (size_t i = 0; i < n; i++) {
		size_t row = chosen_row_of(c, sample[i].event);

		if (!c->in[row] || stay_of(stays, sample[i].thread, row)->dropped)
			continue;
		a.sampled = saturated(a.sampled, sample[i].value);
		a.scaled = saturated(a.scaled, sample[i].scaled);
	}
	for (size_t i = 0; i < n_lost; i++)
		if (!lost[i].made_up && is_lost_here(&lost[i], c, stays))
			a.unseen = saturated(a.unseen, unseen_of(&lost[i], c));
	return a;
}

static int sums_add_unseen(struct trc_profile_sums *sums, struct trc_profile *p,
			   const struct amounts *a)
{
	const struct trc_profile_sample unseen = {.stack_kind = TRC_STACK_UNSEEN,
						  .value = {0, as_int64(a->unseen)}};

	if (a->scaled > a->sampled)
		trc_profile_comment(p, "values have %.1f %% added for samples that were lost%s",
				    percent(a->scaled - a->sampled, a->sampled),
				    sums->selection ? ", in the whole trace" : "");
	if (!a->unseen)
		return 0;
	trc_profile_comment(p, "%.1f %%%s was not sampled: %s",
			    percent(a->unseen, saturated(a->scaled, a->unseen)),
			    sums->selection ? " of the whole trace" : "",
			    sums->selection ? "it is left out, as nobody knows whose it was"
					    : "it is in (not sampled)");
	return sums->selection ? 0 : trc_profile_add(sums, &unseen);
}

static void samples_describe(const struct trc_model *m, struct trc_profile *p,
			     const struct chosen *c, struct stays *stays)
{
	const struct trc_sample_event *first = NULL;

	for (size_t i = c->n; i-- > 0;)
		if (c->in[i])
			first = &c->event[i];
	p->type[0] = (struct trc_profile_type){"samples", "count"};
	p->type[1] = (struct trc_profile_type){
		trc_sample_event_is_clock(first) ? "cpu" : first->name, first->unit};
	p->n_types = 2;
	p->main_type = 1;
	p->period_type = p->type[1];
	p->period = as_int64(trc_sample_event_period(first));
	for (size_t i = 0; i < c->n; i++)
		if (c->in[i])
			comment_event(p, &c->event[i]);
	comment_lost(m, p, c, stays);
}

int trc_profile_samples(struct trc_profile_sums *sums, struct trc_profile *p, const char *name,
			struct trc_error *error)
{
	struct chosen c = {.heap = trc_profile_has_heap(sums->m)};
	struct stays stays = {.rows = {.row_bytes = sizeof(struct stay)}};
	struct trc_margin_part whole = {0};
	struct amounts amounts;
	int err;

	c.event = trc_model_sample_events(sums->m, &c.n);
	c.in = calloc(c.n + 1, sizeof(*c.in));
	if (!c.in)
		return -ENOMEM;
	err = name ? choose_by_name(&c, name, error) : choose_clocks(&c, error);
	if (!err)
		err = stays_find(&stays, sums->m, &c);
	if (!err && !name) {
		stays_drop(&stays);
		choose_kept(&c, &stays);
	}
	if (!err) {
		samples_describe(sums->m, p, &c, &stays);
		amounts = amounts_of(sums->m, &c, &stays);
		err = sums_add_unseen(sums, p, &amounts);
	}
	if (!err)
		err = add_samples(sums, &c, &stays, &whole);
	if (!err)
		comment_margin(p, &whole);
	trc_array_free(&stays.rows);
	trc_index_free(&stays.row);
	free(c.in);
	return err;
}
