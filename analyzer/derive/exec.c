/*
 * exec.c - a process that executes one program after another.  Each program is an image, with threads
 * of its own, though the first thread keeps its id of the kernel.
 *
 *   exec:E1  an image begins when its recording does, and the images before it end then: so do
 *       their threads and their waits
 *   exec:E2  serials grow from image to image; the first of an image is its first thread
 *   exec:E3  the kernel's records come with a thread's id: until the new image is known they go to
 *       the old one's thread, and belong to the first thread of the image that was there then
 */
#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/parts.h"

struct image {
	int64_t rest_ns; /* where a stretch of the image before goes on in it; TRC_NEVER = none */
	uint32_t rest_proc;
	int64_t next_ns; /* when its first thread came on a proc after that; TRC_NEVER = not again */
	bool began; /* its first thread was on a proc already, as records of the image before say */
};

int trc_exec_add(struct trc_model *m, int64_t ts_ns, uint32_t highest_serial)
{
	struct trc_exec *exec = trc_array_add(&m->execs);

	if (!exec)
		return -ENOMEM;
	*exec = (struct trc_exec){ts_ns, highest_serial};
	return 0;
}

/* The first threads of images have the kernel's id of the first of all, and no creator.  If there
 * is one an image, they tell E2 of images that recorded nothing, too. */
static void serials_from_threads(struct trc_model *m)
{
	struct trc_exec *exec = m->execs.row;
	const struct trc_thread *thread = m->threads.row;
	size_t n_firsts = 0;

	for (int writing = 0; writing < 2; writing++) {
		n_firsts = 0;
		for (size_t i = 0; i < m->threads.n; i++) {
			if (thread[i].creator || thread[i].tid != thread[0].tid)
				continue;
			if (writing && n_firsts)
				exec[n_firsts - 1].before = thread[i].serial - 1;
			n_firsts++;
		}
		if (n_firsts != m->execs.n + 1)
			return;
	}
}

/* How many images came before that of a thread. */
static size_t image_of(const struct trc_model *m, uint32_t serial)
{
	const struct trc_exec *exec = m->execs.row;
	size_t low = 0, high = m->execs.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (exec[middle].before < serial)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int64_t trc_exec_after_ns(const struct trc_model *m, uint32_t serial)
{
	const struct trc_exec *exec = m->execs.row;
	size_t image = image_of(m, serial);

	return image < m->execs.n ? exec[image].ts_ns : TRC_NEVER;
}

uint32_t trc_model_former_serial(const struct trc_model *m)
{
	const struct trc_exec *exec = m->execs.row;

	return m->execs.n ? exec[m->execs.n - 1].before : 0;
}

/* The first thread of each program goes on in the next, also where no event says that one was executed. */
enum trc_thread_counts trc_model_thread_counts(const struct trc_model *m, size_t row)
{
	const struct trc_reader *reader = trc_model_reader(m);
	const char *pid = reader ? trc_reader_info_get(reader, "pid") : NULL;
	const struct trc_thread *thread = m->threads.row;
	uint32_t first_tid = pid ? (uint32_t)strtoul(pid, NULL, 10) : 0;
	bool is_of_last = thread[row].serial > trc_model_former_serial(m);

	if (!first_tid)
		return is_of_last ? TRC_THREAD_COUNTS : TRC_THREAD_GOES_ON;
	if (thread[row].tid != first_tid)
		return is_of_last ? TRC_THREAD_COUNTS : TRC_THREAD_FORMER;
	for (size_t i = row + 1; i < m->threads.n; i++)
		if (thread[i].tid == first_tid)
			return TRC_THREAD_GOES_ON;
	return TRC_THREAD_COUNTS;
}

/* E1.  Threads are sorted. */
void trc_exec_lives(struct trc_model *m)
{
	struct trc_thread *thread = m->threads.row;
	struct trc_park *park = m->parks.row;
	const struct trc_exec *exec = m->execs.row;

	if (!m->execs.n)
		return;
	serials_from_threads(m);
	for (size_t i = 0; i < m->threads.n; i++) {
		size_t image = image_of(m, thread[i].serial);

		if (image && thread[i].start_ns < exec[image - 1].ts_ns) /* TRC_NEVER is less */
			thread[i].start_ns = exec[image - 1].ts_ns;
		if (image < m->execs.n &&
		    (thread[i].end_ns == TRC_NEVER || thread[i].end_ns > exec[image].ts_ns))
			thread[i].end_ns = exec[image].ts_ns;
	}
	for (size_t i = 0; i < m->parks.n; i++) {
		size_t image = image_of(m, park[i].thread);

		if (image == m->execs.n || park[i].end_ns != TRC_NEVER)
			continue;
		park[i].end_ns =
			exec[image].ts_ns > park[i].start_ns ? exec[image].ts_ns : park[i].start_ns;
		park[i].flags |= TRC_PARK_ABANDONED;
	}
}

/* The first thread of an image, if it has the same id as this one; NULL = there is none. */
static const struct trc_thread *first_thread(const struct trc_model *m, size_t image,
					     const struct trc_thread *of)
{
	const struct trc_exec *exec = m->execs.row;
	const struct trc_thread *thread = trc_model_thread(m, exec[image - 1].before + 1);

	return thread && of && thread->tid == of->tid ? thread : NULL;
}

/* E3, of one stretch.  What lies in later images is cut off. */
static int stretch_share(struct trc_model *m, size_t row, struct image *images)
{
	struct trc_on_cpu *stretch = (struct trc_on_cpu *)m->on_cpu.row + row;
	const struct trc_exec *exec = m->execs.row;
	size_t image = image_of(m, stretch->thread);
	const struct trc_thread *next;

	while (image < m->execs.n) {
		int64_t cut_ns = exec[image].ts_ns;
		struct trc_on_cpu rest = *stretch;

		if (stretch->end_ns != TRC_NEVER && stretch->end_ns <= cut_ns)
			return 0;
		next = first_thread(m, image + 1, trc_model_thread(m, stretch->thread));
		if (!next)
			return 0;
		image++;
		if (stretch->start_ns != TRC_NEVER && stretch->start_ns >= cut_ns) {
			stretch->thread = next->serial;
		} else {
			stretch->end_ns = cut_ns;
			stretch->preempted = false;
			rest.start_ns = cut_ns;
			rest.thread = next->serial;
			if (rest.end_ns != TRC_NEVER) {
				stretch = trc_array_add(&m->on_cpu);
				if (!stretch)
					return -ENOMEM;
				*stretch = rest;
			}
		}
		images[image].began = true;
		if (rest.end_ns == TRC_NEVER) { /* the new thread's records have the end */
			images[image].rest_ns = rest.start_ns;
			images[image].rest_proc = rest.proc;
			if (stretch->thread == next->serial)
				stretch->end_ns = stretch->start_ns;
			return 0;
		}
	}
	return 0;
}

/* A stretch whose start went to the image before. */
static void stretch_begin(struct trc_model *m, struct trc_on_cpu *stretch, struct image *images)
{
	size_t image = image_of(m, stretch->thread);

	if (stretch->start_ns != TRC_NEVER || !image || stretch->end_ns == TRC_NEVER)
		return;
	if (images[image].rest_ns != TRC_NEVER && images[image].rest_ns <= stretch->end_ns)
		stretch->start_ns = images[image].rest_ns;
	else if (images[image].began)
		stretch->start_ns =
			stretch->end_ns; /* it had stopped since: not known when it went on */
	images[image].rest_ns = TRC_NEVER;
}

/* When what goes on from the image before has ended at the latest. */
static void rests_bound(const struct trc_model *m, struct image *images)
{
	const struct trc_on_cpu *stretch = m->on_cpu.row;
	const struct trc_exec *exec = m->execs.row;

	for (size_t i = 0; i < m->on_cpu.n; i++) {
		size_t image = image_of(m, stretch[i].thread);
		struct image *of = &images[image];

		if (!image || stretch[i].thread != exec[image - 1].before + 1 ||
		    of->rest_ns == TRC_NEVER || stretch[i].start_ns <= of->rest_ns)
			continue;
		if (of->next_ns == TRC_NEVER || stretch[i].start_ns < of->next_ns)
			of->next_ns = stretch[i].start_ns;
	}
}

/* What began in one image and has no end in the next: still on its proc at the end, or its stop was
 * lost, and it came on a proc again. */
static int rests_add(struct trc_model *m, const struct image *images)
{
	const struct trc_exec *exec = m->execs.row;

	for (size_t i = 1; i <= m->execs.n; i++) {
		struct trc_on_cpu *stretch;

		if (images[i].rest_ns == TRC_NEVER)
			continue;
		stretch = trc_array_add(&m->on_cpu);
		if (!stretch)
			return -ENOMEM;
		*stretch = (struct trc_on_cpu){
			.start_ns = images[i].rest_ns,
			.end_ns = images[i].next_ns != TRC_NEVER ? images[i].next_ns
				  : i < m->execs.n		 ? exec[i].ts_ns
								 : TRC_NEVER,
			.thread = exec[i - 1].before + 1,
			.proc = images[i].rest_proc,
		};
	}
	return 0;
}

int trc_exec_share_on_cpu(struct trc_model *m)
{
	size_t n = m->on_cpu.n;
	struct image *images;
	int err = 0;

	if (!m->execs.n)
		return 0;
	images = calloc(m->execs.n + 1, sizeof(*images));
	if (!images)
		return -ENOMEM;
	for (size_t i = 0; i <= m->execs.n; i++)
		images[i].rest_ns = images[i].next_ns = TRC_NEVER;
	for (size_t i = 0; i < n && !err; i++)
		err = stretch_share(m, i, images);
	for (size_t i = 0; i < n; i++)
		stretch_begin(m, (struct trc_on_cpu *)m->on_cpu.row + i, images);
	rests_bound(m, images);
	if (!err)
		err = rests_add(m, images);
	free(images);
	return err;
}
