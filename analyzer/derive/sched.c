/*
 * sched.c - when each thread was on a proc: TRC_PART_SCHED.
 *
 * The kernel's records have a clock of their own, aligned through sync points.  So they
 * may be off by a little against what the thread itself recorded.  A thread that records
 * an event is on a proc:
 *
 *   sched:H1  events soon after a stop (TRC_KERNEL_SKEW_NS) move the stop to them; later ones,
 *       before the next start, move that start back to the first of them
 *   sched:H2  a stretch lies within the life of its thread: one whose start was not recorded
 *       begins with the thread, or, if the thread had stopped before, is not counted
 *   sched:H3  records of a process from after it became another program belong to that program
 *       (exec.c)
 *   sched:H4  a proc runs one thread: a stretch whose stop was not recorded ends when another
 *       thread is put on its proc, or with the thread. A thread that dies leaves its proc after
 *       its last stop, which says when the kernel took its counters away (perf_buffer:V8); older
 *       recorders have none
 */
#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/order.h"
#include "analyzer/model/parts.h"

struct sched_thread {
	size_t on_cpu;	      /* index + 1 of its latest stretch; 0 = none yet */
	bool running;	      /* that stretch has not ended */
	int64_t first_off_ns; /* its first event since it stopped, beyond H1's; or TRC_NEVER */
};

struct sched {
	struct trc_derive derive; /* first: the two share an address */
	struct trc_model *m;
	struct trc_index thread_row;
	struct trc_array threads; /* struct sched_thread */
	struct trc_index on_proc; /* the row in threads of who was last put on a proc */
	struct trc_array ousted;  /* uint32_t: stretches that ended by H4 */
};

static struct sched_thread *sched_thread_of(struct sched *s, uint32_t serial)
{
	uint32_t row = trc_index_get(&s->thread_row, serial);
	struct sched_thread *thread;

	if (row != TRC_INDEX_NONE)
		return (struct sched_thread *)s->threads.row + row;
	thread = trc_array_add(&s->threads);
	if (!thread || trc_index_put(&s->thread_row, serial, (uint32_t)(s->threads.n - 1)))
		return NULL;
	thread->first_off_ns = TRC_NEVER;
	return thread;
}

static struct trc_on_cpu *latest(struct sched *s, const struct sched_thread *t)
{
	return t->on_cpu ? (struct trc_on_cpu *)s->m->on_cpu.row + t->on_cpu - 1 : NULL;
}

static struct trc_on_cpu *stretch_add(struct sched *s, struct sched_thread *t, uint32_t thread,
				      uint32_t proc)
{
	struct trc_on_cpu *stretch = trc_array_add(&s->m->on_cpu);

	if (stretch) {
		*stretch = (struct trc_on_cpu){TRC_NEVER, TRC_NEVER, thread, proc, false};
		t->on_cpu = s->m->on_cpu.n;
	}
	return stretch;
}

/* H4: whoever was on the proc has left it. */
static int proc_take(struct sched *s, const struct trc_columns *c, uint32_t row,
		     const struct sched_thread *taker)
{
	uint32_t before = trc_index_get(&s->on_proc, c->proc[row]), *ousted;
	struct sched_thread *other;

	if (before != TRC_INDEX_NONE) {
		other = (struct sched_thread *)s->threads.row + before;
		if (other != taker && other->running && latest(s, other)->proc == c->proc[row]) {
			ousted = trc_array_add(&s->ousted);
			if (!ousted)
				return -ENOMEM;
			*ousted = (uint32_t)(other->on_cpu - 1);
			latest(s, other)->end_ns = c->time_ns[row];
			other->running = false;
		}
	}
	return trc_index_put(&s->on_proc, c->proc[row],
			     (uint32_t)(taker - (struct sched_thread *)s->threads.row));
}

static int proc_start(struct sched *s, const struct trc_columns *c, uint32_t row)
{
	struct sched_thread *t = sched_thread_of(s, c->thread[row]);
	struct trc_on_cpu *stretch;

	if (!t || proc_take(s, c, row, t))
		return -ENOMEM;
	/* Its stop was lost. */
	if (t->running)
		latest(s, t)->end_ns = c->time_ns[row];
	stretch = stretch_add(s, t, c->thread[row], c->proc[row]);
	if (!stretch)
		return -ENOMEM;
	stretch->start_ns = t->first_off_ns != TRC_NEVER ? t->first_off_ns : c->time_ns[row];
	t->first_off_ns = TRC_NEVER;
	t->running = true;
	return 0;
}

static int proc_stop(struct sched *s, const struct trc_columns *c, uint32_t row)
{
	struct sched_thread *t = sched_thread_of(s, c->thread[row]);
	bool first = t && !t->on_cpu;
	struct trc_on_cpu *stretch;

	if (!t)
		return -ENOMEM;
	/* Without a start: it was on the proc when the records began, or the start was lost. */
	stretch = t->running ? latest(s, t) : stretch_add(s, t, c->thread[row], c->proc[row]);
	if (!stretch)
		return -ENOMEM;
	if (!t->running && t->first_off_ns != TRC_NEVER)
		stretch->start_ns = t->first_off_ns;
	else if (!t->running && !first)
		stretch->start_ns = c->time_ns[row];
	stretch->end_ns = c->time_ns[row];
	stretch->preempted = TRC_ROW_ARG(c, row, proc_stop, preempted) != 0;
	t->first_off_ns = TRC_NEVER;
	t->running = false;
	return 0;
}

/* An event of the thread's own while it is off every proc, as the kernel has it (H1). */
static void own_event(struct sched *s, const struct trc_columns *c, uint32_t row)
{
	uint32_t at = trc_index_get(&s->thread_row, c->thread[row]);
	struct sched_thread *t;
	struct trc_on_cpu *stretch;

	if (at == TRC_INDEX_NONE)
		return;
	t = (struct sched_thread *)s->threads.row + at;
	stretch = latest(s, t);
	if (t->running || !stretch || t->first_off_ns != TRC_NEVER)
		return;
	if (c->time_ns[row] - stretch->end_ns <= TRC_KERNEL_SKEW_NS)
		stretch->end_ns = c->time_ns[row];
	else
		t->first_off_ns = c->time_ns[row];
}

static int sched_span(struct trc_derive *derive, const struct trc_span *span)
{
	struct sched *s = (struct sched *)derive;
	const struct trc_columns *c = span->columns;
	int err = 0;

	for (uint32_t row = span->first; row < span->last && !err; row++) {
		if (c->kind[row] == TRC_KIND_PROC_START)
			err = proc_start(s, c, row);
		else if (c->kind[row] == TRC_KIND_PROC_STOP)
			err = proc_stop(s, c, row);
		else if (s->threads.n && c->kind[row] != TRC_KIND_GAP &&
			 c->kind[row] != TRC_KIND_SAMPLES_LOST)
			own_event(s, c, row);
	}
	return err;
}

/* Before H3: the proc was taken when another program ran already, whose records have the stop. */
static void ousted_by_exec(struct sched *s)
{
	const uint32_t *ousted = s->ousted.row;

	for (size_t i = 0; i < s->ousted.n; i++) {
		struct trc_on_cpu *stretch = (struct trc_on_cpu *)s->m->on_cpu.row + ousted[i];
		int64_t exec_ns = trc_exec_after_ns(s->m, stretch->thread);

		if (exec_ns != TRC_NEVER && stretch->end_ns > exec_ns)
			stretch->end_ns = TRC_NEVER;
	}
}

/* H2, H4.  Whose stop was not recorded has left its proc when it ended, at the latest. */
static void ousted_complete(struct sched *s)
{
	const uint32_t *ousted = s->ousted.row;

	for (size_t i = 0; i < s->ousted.n; i++) {
		struct trc_on_cpu *stretch = (struct trc_on_cpu *)s->m->on_cpu.row + ousted[i];
		const struct trc_thread *thread = trc_model_thread(s->m, stretch->thread);

		if (!thread || thread->end_ns == TRC_NEVER || stretch->end_ns == TRC_NEVER)
			continue;
		stretch->end_ns = thread->end_ns > stretch->start_ns
					  ? trc_earlier_ns(stretch->end_ns, thread->end_ns)
					  : stretch->start_ns;
	}
}

/* H2.  The start of a thread's first stretch may be from before the tables know the thread; the
 * end of its last may be lost, or counted for the program that it became by exec. */
static void stretches_complete(struct trc_model *m)
{
	struct trc_on_cpu *stretch = m->on_cpu.row;

	for (size_t i = 0; i < m->on_cpu.n; i++) {
		const struct trc_thread *thread = trc_model_thread(m, stretch[i].thread);

		if (!thread)
			continue;
		/* One that is older than the window was on the proc before that began. */
		if (stretch[i].start_ns == TRC_NEVER && thread->start_ns != TRC_NEVER &&
		    (m->window_ns == TRC_NEVER || thread->start_ns >= m->start_ns))
			stretch[i].start_ns = trc_earlier_ns(thread->start_ns, stretch[i].end_ns);
		if (stretch[i].end_ns == TRC_NEVER && thread->end_ns != TRC_NEVER)
			stretch[i].end_ns = thread->end_ns > stretch[i].start_ns
						    ? thread->end_ns
						    : stretch[i].start_ns;
	}
}

static void threads_sum(struct trc_model *m)
{
	const struct trc_on_cpu *stretch = m->on_cpu.row;

	for (size_t i = 0; i < m->on_cpu.n; i++) {
		uint32_t row = trc_index_get(&m->thread_row, stretch[i].thread);
		struct trc_thread *thread = (struct trc_thread *)m->threads.row + row;
		int64_t start_ns = stretch[i].start_ns, end_ns = stretch[i].end_ns;

		if (row == TRC_INDEX_NONE)
			continue;
		start_ns = start_ns == TRC_NEVER ? trc_model_kernel_from_ns(m, stretch[i].proc)
						 : start_ns;
		end_ns = end_ns == TRC_NEVER ? m->end_ns : end_ns;
		if (thread->on_cpu_ns == TRC_NEVER)
			thread->on_cpu_ns = 0;
		trc_add_ns(&thread->on_cpu_ns, start_ns, end_ns);
	}
}

static int sched_end(struct trc_derive *derive)
{
	struct sched *s = (struct sched *)derive;
	struct trc_model *m = s->m;
	int err;

	ousted_by_exec(s);
	err = trc_exec_share_on_cpu(m); /* H3 */
	ousted_complete(s);
	stretches_complete(m);
	if (!err)
		err = trc_array_sort(&m->on_cpu, offsetof(struct trc_on_cpu, start_ns),
				     offsetof(struct trc_on_cpu, thread));
	if (!err)
		threads_sum(m);
	return err;
}

static void sched_free(struct trc_derive *derive)
{
	struct sched *s = (struct sched *)derive;

	trc_array_free(&s->threads);
	trc_index_free(&s->thread_row);
	trc_index_free(&s->on_proc);
	trc_array_free(&s->ousted);
	free(s);
}

int trc_derive_sched(struct trc_derive **out, struct trc_model *m)
{
	struct sched *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->m = m;
	s->threads.row_bytes = sizeof(struct sched_thread);
	s->ousted.row_bytes = sizeof(uint32_t);
	s->derive = (struct trc_derive){
		.part = TRC_PART_SCHED, .span = sched_span, .end = sched_end, .free = sched_free};
	trc_kind_mask_add(&s->derive.kinds, TRC_KIND_PROC_START);
	trc_kind_mask_add(&s->derive.kinds, TRC_KIND_PROC_STOP);
	*out = &s->derive;
	return 0;
}
