/*
 * fold_random_test.c - programs made up at random: a fold has the waits and sums that the analyzer
 * has.
 *
 * Threads take locks in turn, wait for each other and within waits, give up, change their labels,
 * and are moved from proc to proc; unlocks are recorded some time after they were done.  They run
 * fibers, which wait as well, have labels of their own, and go from thread to thread.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "tests/analyzer/model/model_fixture.h"
#include "fold_replay.h"

enum { SEEDS = 150, THREADS = 6, LOCKS = 3, FIBERS = 5, STEPS = 400, LATE_MAX = 30 };

static uint64_t state;

static unsigned int draw(unsigned int limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)((state >> 33) % limit);
}

/* What a thread is in the middle of. */
enum doing { RUNS, WAITS_FOR_LOCK, HOLDS, WAITS_FOR_OTHERS };

static struct thread {
	enum doing doing;
	unsigned int lock, labels, reason;
	bool in_user;		  /* a wait that the program announced, made of others */
	unsigned int busy_until;  /* an unlock of its is not recorded yet */
	unsigned int fiber;	  /* index; 0 = its root fiber */
	unsigned int root_labels; /* while that does not run */
} thread[THREADS];

static struct fiber {
	unsigned int number, labels; /* while it does not run */
	bool runs;
} fiber[1 + FIBERS];	      /* [0] is nobody's */
static unsigned int n_fibers; /* so far */

static unsigned int holder[LOCKS]; /* thread + 1 */
static unsigned int taken[LOCKS];  /* when */
static unsigned int now;
static FILE *text;

static const char *const lock_reasons[LOCKS] = {"mutex", "rwlock_write", "spin"};
static const char *const leave_reasons[] = {"0", "user", "sleep", "poll", "mutex"};
static const char *const other_reasons[] = {"cond", "sem", "barrier", "sleep", "read"};

/* Events of a proc come in order: the times of one step are not before those of the last one. */
static void event(unsigned int time, unsigned int t)
{
	fprintf(text, "@%u proc=%u source=%s thread=%u ", time, draw(3),
		draw(9) ? "ring" : "overflow", t + 1);
}

struct late {
	unsigned int time, at, held, thread, lock, stack;
};
static struct late late[STEPS];
static unsigned int n_late;

/* Unlocks whose time has come to be recorded. */
static void record_late(unsigned int until)
{
	for (;;) {
		struct late *first = NULL;

		for (unsigned int i = 0; i < n_late; i++)
			if (late[i].time <= until && (!first || late[i].time < first->time))
				first = &late[i];
		if (!first)
			return;
		event(first->time, first->thread);
		fprintf(text, "unlock reason=%s object=%u stack=%u at=%u held=%u\n",
			lock_reasons[first->lock], first->lock + 1, first->stack, first->at,
			first->held);
		*first = late[--n_late];
	}
}

static void unlock(unsigned int t)
{
	unsigned int lock = thread[t].lock, after = 1 + draw(LATE_MAX);

	late[n_late++] = (struct late){
		now + after, now, draw(3) ? now - taken[lock] : 0, t, lock, 1 + draw(4)};
	holder[lock] = 0;
	thread[t].doing = RUNS;
	thread[t].busy_until = now + after;
}

static void begin_lock(unsigned int t)
{
	unsigned int lock = draw(LOCKS);

	thread[t].lock = lock;
	if (!holder[lock]) {
		holder[lock] = t + 1;
		taken[lock] = now;
		thread[t].doing = HOLDS;
		return;
	}
	event(now, t);
	fprintf(text, "park reason=%s object=%u holder=%u stack=%u\n", lock_reasons[lock], lock + 1,
		draw(4) ? holder[lock] : 0, 1 + draw(4));
	thread[t].doing = WAITS_FOR_LOCK;
}

static void go_on_with_lock(unsigned int t)
{
	unsigned int lock = thread[t].lock;
	bool gives_up = !draw(5);

	if (holder[lock] && !gives_up)
		return;
	event(now, t);
	fprintf(text, "resume reason=%s object=%u result=%u\n", lock_reasons[lock], lock + 1,
		holder[lock] ? 110 : 0);
	thread[t].doing = RUNS;
	if (holder[lock])
		return;
	holder[lock] = t + 1;
	taken[lock] = now;
	thread[t].doing = HOLDS;
}

static unsigned int *labels_of(unsigned int t, unsigned int index)
{
	return index ? &fiber[index].labels : &thread[t].root_labels;
}

/* False: that one runs somewhere. */
static bool run_fiber(unsigned int t)
{
	unsigned int to = draw(1 + FIBERS), left = thread[t].fiber, before = thread[t].labels;

	if (to == left || fiber[to].runs)
		return false;
	event(now, t);
	fprintf(text, "fiber_switch fiber=%u left=%u reason=%s stack=%u\n", fiber[to].number,
		fiber[left].number, leave_reasons[draw(5)], 1 + draw(4));
	*labels_of(t, left) = before;
	thread[t].labels = *labels_of(t, to);
	thread[t].fiber = to;
	fiber[left].runs = false;
	fiber[to].runs = to > 0;
	if (thread[t].labels == before)
		return true;
	event(now + 1, t);
	fprintf(text, "labels labels=%u before=%u\n", thread[t].labels, before);
	return true;
}

/* Of one that does not run: it may go on, or ends where it is, and another is made. */
static void tell_of_fiber(unsigned int t)
{
	struct fiber *of = &fiber[1 + draw(FIBERS)];

	if (of->runs)
		return;
	event(now, t);
	if (draw(3)) {
		fprintf(text, "fiber_ready fiber=%u stack=%u\n", of->number, 1 + draw(4));
		return;
	}
	fprintf(text, "fiber_end fiber=%u\n", of->number);
	*of = (struct fiber){++n_fibers, thread[t].labels, false};
	event(now + 1, t);
	fprintf(text, "fiber_create fiber=%u stack=5\n", of->number);
}

static void begin_other(unsigned int t)
{
	unsigned int stack = 1 + draw(4);

	thread[t].reason = draw(5);
	event(now, t);
	fprintf(text, "park reason=%s object=%u stack=%u\n", other_reasons[thread[t].reason],
		50 + t, stack);
	if (!draw(3)) { /* it gives up a mutex; but for a condition: elsewhere, it has gone on */
		event(now + 1, t);
		fprintf(text, "unlock reason=mutex object=90 stack=%u at=%u\n", stack, now);
	}
	thread[t].doing = WAITS_FOR_OTHERS;
}

/* Or leaves the wait behind, and runs something else. */
static void go_on_with_other(unsigned int t)
{
	if (!draw(6) && run_fiber(t)) {
		thread[t].doing = RUNS;
		return;
	}
	event(now, t);
	fprintf(text, "resume reason=%s object=%u\n", other_reasons[thread[t].reason], 50 + t);
	thread[t].doing = RUNS;
}

static void toggle_user(unsigned int t)
{
	event(now, t);
	if (thread[t].in_user)
		fprintf(text, "resume reason=user object=99\n");
	else
		fprintf(text, "park reason=user object=99 stack=5\n");
	thread[t].in_user = !thread[t].in_user;
}

static void change_labels(unsigned int t)
{
	unsigned int before = thread[t].labels;

	thread[t].labels = draw(3);
	event(now, t);
	fprintf(text, "labels labels=%u before=%u\n", thread[t].labels, before);
}

static void whole_wait(unsigned int t)
{
	event(now, t);
	fprintf(text, "wait reason=%s object=7 since=%u stack=3\n", draw(2) ? "flock" : "write",
		now - draw(3));
}

static void run(unsigned int t)
{
	switch (draw(11)) {
	case 0:
	case 1:
	case 2:
		begin_lock(t);
		break;
	case 3:
	case 4:
		begin_other(t);
		break;
	case 5:
		toggle_user(t);
		break;
	case 6:
		change_labels(t);
		break;
	case 7:
	case 8:
		run_fiber(t);
		break;
	case 9:
		tell_of_fiber(t);
		break;
	default:
		whole_wait(t);
		break;
	}
}

static void step(void)
{
	unsigned int t = draw(THREADS);

	record_late(now);
	if (now <= thread[t].busy_until) /* in the middle of unlocking */
		return;
	switch (thread[t].doing) {
	case RUNS:
		run(t);
		break;
	case WAITS_FOR_LOCK:
		go_on_with_lock(t);
		break;
	case HOLDS:
		if (draw(4) || !run_fiber(t))
			unlock(t);
		break;
	case WAITS_FOR_OTHERS:
		go_on_with_other(t);
		break;
	}
}

static char *random_program(void)
{
	size_t n_bytes;
	char *bytes;

	text = open_memstream(&bytes, &n_bytes);
	fprintf(text, "stack a 0x11 0x1 0x2\nstack b 0x12 0x1 0x2\nstack c 0x13 0x1 0x2\n"
		      "stack d 0x14 0x2\nstack e 0x2\n"
		      "labels x tenant=\"a\"\nlabels y tenant=\"b\"\n");
	memset(thread, 0, sizeof(thread));
	memset(holder, 0, sizeof(holder));
	n_late = 0;
	memset(fiber, 0, sizeof(fiber));
	for (n_fibers = 0; n_fibers < FIBERS; n_fibers++)
		fiber[1 + n_fibers].number = 1 + n_fibers;
	now = 100;
	for (unsigned int i = 0; i < STEPS; i++) {
		now += 4 + draw(8);
		step();
	}
	record_late(UINT32_MAX);
	fclose(text);
	return bytes;
}

START_TEST(a_fold_and_the_analyzer_agree)
{
	char *program, *said = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&said, &n_bytes);
	struct trc_model *m;
	long rows;

	state = 0x9e3779b97f4a7c15u * (uint64_t)(_i + 1);
	program = random_program();
	m = model_of(program, TRC_PART_WAITS);
	/* Passes that are long, or shorter than unlocks are late. */
	rows = fold_replay_compare(m, _i % 2 ? 500 : 7, 2 * LATE_MAX, out);
	fclose(out);
	ck_assert_msg(rows >= 10, "%ld rows\n%s%s", rows, said, getenv("FOLD_SHOW") ? program : "");
	model_close(m);
	free(program);
	free(said);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fold, random");
	TCase *t = tcase_create("random");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(t, a_fold_and_the_analyzer_agree, 0, SEEDS);
	tcase_set_timeout(t, 60);
	suite_add_tcase(suite, t);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
