/*
 * spins.c - threads that ask again and again in calls that return at once: poll() with no time to wait, sched_yield(),
 * waitpid() with WNOHANG.
 * Such calls are no waits, and only samples of CPU time show them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "analyzer/model/process.h"
#include "analyzer/model/margin.h"
#include "analyzer/model/selection.h"

enum { OTHERS_SHOWN = 15 };

/* What the samples of a thread say. */
struct spinner {
	uint64_t n, all, asking; /* samples; their CPU time in ns; that of calls that ask */
	struct trc_margin_part part, whole; /* of the thread: those that ask, and all */
	struct trc_margin sum, all_sum;	    /* of the threads that spin at the same place */
	uint32_t stack; /* of most samples that ask, if it is most; and by how many */
	uint32_t lead;
	int64_t from_ns, to_ns;			/* of those that ask */
	uint32_t n_others, other[OTHERS_SHOWN]; /* threads that spin at the same place */
};

enum {
	SAMPLES_LEAST = 20,
	ASKING_PERCENT = 60,
	WAITING_PERCENT = 10,
	DEPTH = 4 /* the call is among so many frames: below it are the C library's own, and the recorder's */
};

struct spins {
	struct trc_report *r;
	struct spinner *of;	/* by row of threads */
	uint8_t *asks;		/* by frame id - 1: 0 = not looked at yet, 1 no, 2 yes */
	struct trc_index first; /* by stack: the row of the first thread that spins there */
};

/* Without what the C library's own names begin with. */
static const char *bare_name(const char *function)
{
	static const char *const PREFIXES[] = {"__GI_", "__", "libc_"};

	for (size_t i = 0; i < sizeof(PREFIXES) / sizeof(*PREFIXES); i++) {
		size_t n = strlen(PREFIXES[i]);

		if (!strncmp(function, PREFIXES[i], n))
			function += n;
	}
	return function;
}

/* A function of this name that is the program's own may do anything; code that was made while the program ran has no module. */
static bool is_asking(const struct trc_report *r, const struct trc_frame *frame)
{
	static const char *const CALLS[] = {"poll",	   "ppoll",	 "select",
					    "pselect",	   "epoll_wait", "epoll_pwait",
					    "sched_yield", "wait4",	 "waitid"};
	const struct trc_module_entry *module = trc_reader_module(r->reader, frame->module);
	char name[TRC_PROGRAM_NAME_BYTES];

	if (!frame->function || !module ||
	    strncmp(trc_module_name(name, r->reader, module), "libc.", 5) != 0)
		return false;
	for (size_t i = 0; i < sizeof(CALLS) / sizeof(*CALLS); i++)
		if (!strcmp(bare_name(frame->function), CALLS[i]))
			return true;
	return false;
}

static bool stack_asks(struct spins *s, uint32_t stack)
{
	const struct trc_stacks *stacks = s->r->stacks;
	uint32_t first, end;

	if (!stack || stack >= stacks->n_stacks)
		return false;
	first = stacks->stack_first[stack];
	end = stacks->stack_first[stack + 1];
	for (uint32_t i = first; i < end && i < first + DEPTH; i++) {
		uint32_t frame = stacks->stack_frame[i];

		if (!frame)
			continue;
		if (!s->asks[frame - 1])
			s->asks[frame - 1] = is_asking(s->r, &stacks->frame[frame - 1]) ? 2 : 1;
		if (s->asks[frame - 1] == 2)
			return true;
	}
	return false;
}

static void spin_add_sample(struct spins *s, const struct trc_sample *sample)
{
	const struct trc_thread *thread = trc_model_thread(s->r->m, sample->thread);
	struct spinner *spinner;
	uint32_t stack;

	if (!thread || !trc_model_is_clock_sample(s->r->m, sample) ||
	    !trc_selection_has_time(s->r->selection, sample->thread, sample->ts_ns))
		return;
	spinner = &s->of[thread - s->r->thread];
	spinner->n++;
	spinner->all += sample->scaled;
	trc_margin_part_add(&spinner->whole, sample->scaled);
	if (!stack_asks(s, sample->stack))
		return;
	if (!spinner->asking)
		spinner->from_ns = sample->ts_ns;
	spinner->to_ns = sample->ts_ns;
	spinner->asking += sample->scaled;
	trc_margin_part_add(&spinner->part, sample->scaled);
	stack = trc_report_canonical(s->r, sample->stack);
	if (!spinner->lead)
		spinner->stack = stack;
	if (spinner->stack == stack)
		spinner->lead++;
	else
		spinner->lead--;
}

/* It hardly ever waits, and most of what it runs is asking. */
static bool spins(const struct trc_report *r, const struct spinner *spinner, size_t row)
{
	int64_t waited_ns = 0;

	for (int class = 0; class < TRC_WAIT_CLASSES; class ++)
		trc_report_add(&waited_ns, r->class_ns[row][class]);
	return spinner->n >= SAMPLES_LEAST &&
	       spinner->asking >= spinner->all / 100 * ASKING_PERCENT &&
	       waited_ns <= trc_report_lifetime_ns(r, &r->thread[row]) / 100 * WAITING_PERCENT &&
	       spinner->asking <= INT64_MAX &&
	       (int64_t)spinner->asking >= r->length_ns / 100; /* G3 */
}

static void add_margins(struct spinner *first, const struct spinner *one)
{
	trc_margin_add(&first->sum, &one->part, &one->whole);
	trc_margin_add(&first->all_sum, &one->whole, &one->whole);
}

/* Adds one that spins at the same place. */
static void join(struct spins *s, struct spinner *first, size_t row)
{
	const struct spinner *other = &s->of[row];

	add_margins(first, other);
	first->asking += other->asking;
	first->all += other->all;
	if (other->from_ns < first->from_ns)
		first->from_ns = other->from_ns;
	if (other->to_ns > first->to_ns)
		first->to_ns = other->to_ns;
	if (first->n_others < OTHERS_SHOWN)
		first->other[first->n_others] = s->r->thread[row].serial;
	first->n_others++;
}

static int at_its_place(struct spins *s, size_t row)
{
	uint32_t first = trc_index_get(&s->first, s->of[row].stack);

	if (first == TRC_INDEX_NONE) {
		add_margins(&s->of[row], &s->of[row]);
		return trc_index_put(&s->first, s->of[row].stack, (uint32_t)row);
	}
	join(s, &s->of[first], row);
	return 0;
}

static int spin_tell(struct spins *s, struct trc_array *out, size_t row)
{
	const struct spinner *spinner = &s->of[row];
	const struct trc_finding_at at = {.start_ns = spinner->from_ns,
					  .end_ns = spinner->to_ns,
					  .cost_ns = (int64_t)spinner->asking,
					  .thread = s->r->thread[row].serial};
	struct trc_finding f = trc_finding_of(TRC_FINDING_POLL_LOOP, &at);
	char number[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES], margin[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_text_margin(margin, trc_margin_share(&spinner->sum, &spinner->all_sum),
			(int64_t)spinner->all);
	trc_finding_sql_add(&f,
			    "SELECT thread, ts_ns, value, place(stack) AS at FROM samples WHERE "
			    "thread IN (%u",
			    at.thread);
	for (uint32_t i = 0; i < spinner->n_others && i < OTHERS_SHOWN; i++)
		trc_finding_sql_add(&f, ", %u", spinner->other[i]);
	trc_finding_sql_add(&f, ") ORDER BY ts_ns");
	trc_finding_line(&line);
	if (spinner->n_others)
		trc_finding_threads(&line, spinner->n_others + 1);
	else
		trc_report_thread(s->r, &line, at.thread, 40);
	trc_line_add(&line,
		     " asked again and again, without waiting, for %s, %s%s%s of %s CPU time, at ",
		     trc_text_duration(number, at.cost_ns),
		     trc_text_share(share, at.cost_ns, (int64_t)spinner->all), *margin ? " " : "",
		     margin, spinner->n_others ? "their" : "its");
	trc_report_place(s->r, &line, spinner->stack);
	return trc_finding_add(out, &f, &line);
}

int trc_find_spinners(struct trc_report *r, struct trc_array *out)
{
	size_t n;
	const struct trc_sample *sample = trc_model_samples(r->m, &n);
	struct spins s = {.r = r};
	int err = 0;

	if (!n)
		return 0;
	s.of = calloc(r->n_threads + 1, sizeof(*s.of));
	s.asks = calloc(r->stacks->n_frames + 1, sizeof(*s.asks));
	if (!s.of || !s.asks)
		err = -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		spin_add_sample(&s, &sample[i]);
	for (size_t row = 0; row < r->n_threads && !err; row++)
		if (spins(r, &s.of[row], row))
			err = at_its_place(&s, row);
	for (size_t row = 0; row < r->n_threads && !err; row++)
		if (trc_index_get(&s.first, s.of[row].stack) == row && s.of[row].asking)
			err = spin_tell(&s, out, row);
	trc_index_free(&s.first);
	free(s.of);
	free(s.asks);
	return err;
}
