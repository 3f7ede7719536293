/* sample_fixture.c - threads that use CPU time, and what is in a trace of their samples. */
#include "sample_fixture.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

char dir[64], path[128];
const struct trace_sampling_event timer = {sizeof(timer), "timer", 5000000, 0, TRACE_SAMPLING_BY_AUTO};

void set_up(void)
{
	strcpy(dir, "/tmp/trc-sample-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/t.trc", dir);
}

void tear_down(void)
{
	unlink(path);
	ck_assert_msg(rmdir(dir) == 0, "something was left in %s", dir);
}

void start_trace(void)
{
	ck_assert_msg(trace_start(path, NULL) == 0, "%s", trace_last_error());
}

void stop_trace(void)
{
	ck_assert_msg(trace_stop() == 0, "%s", trace_last_error());
}

/* ---- CPU time -------------------------------------------------------------------------- */

uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void burn(unsigned int ms)
{
	uint64_t until = cpu_ns() + ms * UINT64_C(1000000);
	volatile unsigned int n = 0;

	while (cpu_ns() < until)
		for (unsigned int i = 0; i < 10000; i++)
			n = n + i;
}

static _Atomic uint64_t ended_ns; /* used by burners that have ended */

void *burner(void *ms)
{
	burn((unsigned int)(uintptr_t)ms);
	ended_ns += cpu_ns();
	return NULL;
}

uint64_t used_ns(void)
{
	return cpu_ns() + ended_ns;
}

uint64_t used_so_far_ns(pthread_t thread)
{
	clockid_t clock;
	struct timespec t;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void burn_in_threads(unsigned int n, unsigned int ms)
{
	pthread_t thread[100];

	for (unsigned int i = 0; i < n; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, burner, (void *)(uintptr_t)ms),
				 0);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

/* ---- what there is of ours in the process ---------------------------------------------- */

unsigned int timers(void)
{
	FILE *file = fopen("/proc/self/timers", "r");
	unsigned int n = 0;
	char line[128];

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file))
		n += !strncmp(line, "ID:", 3);
	fclose(file);
	return n;
}

void expect_nothing_left(void)
{
	ck_assert_uint_eq(timers(), 0);
	ck_assert_uint_eq(counters(NULL), 0);
}

/* ---- the trace ------------------------------------------------------------------------- */

static void add_block(struct sampled *s, const struct trc_columns *c)
{
	for (uint32_t i = 0; i < c->n_events; i++) {
		uint64_t event = c->arg[c->kind[i]][0] ? c->arg[c->kind[i]][0][c->rank[i]] : 0;

		s->logs += c->kind[i] == TRC_KIND_LOG;
		if (c->kind[i] == TRC_KIND_SAMPLE && event < 20) {
			s->samples[event]++;
			s->value[event] += c->arg[TRC_KIND_SAMPLE][1][c->rank[i]];
		} else if (c->kind[i] == TRC_KIND_SAMPLES_LOST) {
			s->lost += c->arg[TRC_KIND_SAMPLES_LOST][1][c->rank[i]];
		}
	}
}

struct sampled look(void)
{
	const struct trc_sample_event_entry *entry;
	struct sampled s = {.n_events = 0};
	struct trc_reader *r;
	struct trc_error error;

	ck_assert_msg(trc_reader_open(&r, path, &error) == 0, "%s", error.text);
	ck_assert(trc_reader_info(r)->complete);
	for (size_t b = 0; b < trc_reader_blocks(r); b++) {
		struct trc_columns *c;

		ck_assert_int_eq(trc_reader_load(r, b, TRC_WANT_ALL, NULL, &c, &error), 0);
		add_block(&s, c);
		trc_columns_free(c);
	}
	s.n_events = trc_reader_sample_events(r, &entry);
	for (size_t i = 0; i < s.n_events && i < 4; i++) {
		s.event[i] = entry[i];
		snprintf(s.name[i], sizeof(s.name[i]), "%s", entry[i].name);
	}
	trc_reader_close(r);
	return s;
}
