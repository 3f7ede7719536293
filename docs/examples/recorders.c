/*
 * recorders.c - a program that takes profiles of itself.
 *
 * Four workers take jobs from a queue and note them in an index, which one of fifty of them
 * rebuilds while the others wait.  Over that window the program records, in one file for each,
 *
 *   cpu.pb.gz	where it used the CPU
 *   block.pb.gz	where threads waited, and for how long
 *   mutex.pb.gz	which unlocks ended that waiting
 *   allocs.pb.gz	what was allocated, and by its end not freed
 *
 * and in the middle of it prints which jobs are in work, by a profile of its own, and what every
 * thread does.
 *
 *   recorders [DIRECTORY]
 *   go tool pprof -top block.pb.gz
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE 1 /* nanosleep() and others, with -std=c17 too */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trc/recorder.h>
#include <unistd.h>

enum { WORKERS = 4, JOBS = 200, REBUILD_EVERY = 50, REBUILD_MS = 20, RESULT_BYTES = 32768 };

struct job {
	unsigned int number;
	char *result; /* malloc'ed; NULL = not done yet */
};

static struct {
	pthread_mutex_t lock; /* guards all of this */
	struct job job[JOBS];
	unsigned int n_taken;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
	pthread_mutex_t lock; /* guards all of this */
	pthread_cond_t half;
	unsigned int n_done;
} index_of_results = {.lock = PTHREAD_MUTEX_INITIALIZER, .half = PTHREAD_COND_INITIALIZER};

static struct trace_custom_profile *in_work; /* jobs, by the stack that began them */

/* ---- what the program is for --------------------------------------------------------------- */

static struct job *job_take(void)
{
	struct job *job = NULL;

	pthread_mutex_lock(&queue.lock);
	if (queue.n_taken < JOBS) {
		job = &queue.job[queue.n_taken];
		job->number = queue.n_taken++;
	}
	pthread_mutex_unlock(&queue.lock);
	return job;
}

static void job_do(struct job *job)
{
	uint32_t x = job->number + 1;

	job->result = malloc(RESULT_BYTES);
	if (!job->result)
		abort();
	for (unsigned int i = 0; i < 50 * RESULT_BYTES; i++) {
		x = x * 1664525 + 1013904223;
		job->result[i % RESULT_BYTES] = (char)(x >> 24);
	}
}

/* With the lock held: what everybody else waits for. */
static void index_rebuild(void)
{
	const struct timespec t = {0, REBUILD_MS * 1000000L};

	nanosleep(&t, NULL);
}

static void index_add(void)
{
	pthread_mutex_lock(&index_of_results.lock);
	if (++index_of_results.n_done % REBUILD_EVERY == 0)
		index_rebuild();
	if (index_of_results.n_done == JOBS / 2)
		pthread_cond_signal(&index_of_results.half);
	pthread_mutex_unlock(&index_of_results.lock);
}

static void *work(void *unused)
{
	struct job *job;

	while ((job = job_take())) {
		trace_custom_profile_add(in_work, job, 0);
		job_do(job);
		index_add();
		trace_custom_profile_remove(in_work, job);
	}
	return unused;
}

/* ---- what it tells of itself --------------------------------------------------------------- */

static int say(const char *what)
{
	fprintf(stderr, "recorders: %s: %s\n", what, trace_last_error());
	return -1;
}

/* One that records all four, to a writer for each; NULL if it cannot. */
static struct trace_recorder *start_recorders(void)
{
	static const char *const path[] = {"cpu.pb.gz", "block.pb.gz", "mutex.pb.gz",
					   "allocs.pb.gz"};
	struct trace_alloc_options finely = TRACE_ALLOC_OPTIONS_INIT;
	struct trace_multi_options each = TRACE_MULTI_OPTIONS_INIT;
	struct trace_recorder *part[4] = {NULL}, *all = NULL;
	struct trace_writer file[4];
	int err;

	finely.sample_bytes = 4096;
	each.one_each = true;
	err = trace_recorder_create_cpu(&part[0], NULL);
	err = err ? err : trace_recorder_create_block(&part[1], NULL);
	err = err ? err : trace_recorder_create_mutex(&part[2], NULL);
	err = err ? err : trace_recorder_create_alloc(&part[3], &finely);
	err = err ? err : trace_recorder_create_multi(&all, part, 4, &each);
	for (int i = 0; !err && i < 4; i++)
		err = trace_writer_to_path(&file[i], path[i]);
	if (!err)
		err = trace_recorder_start(all, file);
	if (!err)
		return all;
	say("not recording");
	if (all)
		trace_recorder_destroy(all); /* its parts too */
	for (int i = 0; !all && i < 4; i++)
		trace_recorder_destroy(part[i]);
	return NULL;
}

static int print(struct trace_recorder *r, int err)
{
	struct trace_writer_memory text = {NULL, 0, 0};
	const struct trace_writer to = trace_writer_to_memory(&text);

	err = err ? err : trace_recorder_snapshot(r, &to);
	if (err)
		say("no snapshot");
	else
		fwrite(text.bytes, 1, text.n_bytes, stdout);
	free(text.bytes);
	trace_recorder_destroy(r);
	return err;
}

static int print_now(void)
{
	struct trace_custom_options as_text = TRACE_CUSTOM_OPTIONS_INIT;
	struct trace_thread_options blocks = TRACE_THREAD_OPTIONS_INIT;
	struct trace_recorder *jobs = NULL, *threads = NULL;
	int err;

	as_text.format = TRACE_PROFILE_FORMAT_TEXT;
	blocks.format = TRACE_PROFILE_FORMAT_TEXT;
	blocks.details = TRACE_THREAD_DETAILS_PARAGRAPHS;
	err = trace_recorder_create_custom(&jobs, in_work, &as_text);
	err = print(jobs, err);
	if (err)
		return err;
	err = trace_recorder_create_thread(&threads, &blocks);
	return print(threads, err);
}

/* With the lock held, so that no worker ends meanwhile: they wait, and that is what is shown. */
static int print_at_half(void)
{
	int err;

	pthread_mutex_lock(&index_of_results.lock);
	while (index_of_results.n_done < JOBS / 2)
		pthread_cond_wait(&index_of_results.half, &index_of_results.lock);
	err = print_now();
	pthread_mutex_unlock(&index_of_results.lock);
	return err;
}

int main(int argc, char **argv)
{
	pthread_t worker[WORKERS];
	struct trace_recorder *all;
	int err;

	if (argc > 1 && chdir(argv[1])) {
		perror(argv[1]);
		return 1;
	}
	if (trace_custom_profile_register(&in_work, "jobs"))
		return !!say("no profile of jobs");
	all = start_recorders();
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&worker[i], NULL, work, NULL))
			return 1;
	err = print_at_half();
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i], NULL);
	if (all && trace_recorder_stop(all))
		err = say("not all was written");
	trace_recorder_destroy(all);
	for (int i = 0; i < JOBS; i++)
		free(queue.job[i].result);
	printf("%u jobs done, %zu in work\n", index_of_results.n_done,
	       trace_custom_profile_count(in_work));
	return err || !all;
}
