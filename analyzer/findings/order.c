/* order.c - locks that are taken in a circle: a deadlock that could happen, and did not. */
#include "parts.h"
#include "print.h"

enum { RISKS_MAX = 2, EDGES_TOLD = 2 };

/* Of a join, `life` is the serial of the thread that is waited for. */
static void add_lock(struct trc_report *r, struct trc_line *line, unsigned int reason,
		     uint64_t object, uint32_t life, uint32_t stack)
{
	if (reason == TRC_REASON_JOIN) {
		trc_line_add(line, "the end of ");
		trc_report_thread(r, line, life, 30);
		return;
	}
	if (reason == TRC_REASON_BARRIER) {
		trc_line_add(line, "barrier");
		trc_report_object(r, line, reason, object, stack);
		return;
	}
	trc_line_add(line, "%s", trc_wait_kind_name(trc_wait_kind(reason)));
	trc_report_object(r, line, reason, object, stack);
}

static bool is_meeting(unsigned int reason)
{
	return reason == TRC_REASON_JOIN || reason == TRC_REASON_BARRIER;
}

static void add_place(struct trc_report *r, struct trc_line *line, const char *before,
		      uint32_t stack)
{
	if (!stack)
		return;
	trc_line_add(line, "%s", before);
	trc_report_place(r, line, stack);
}

/* "worker 1 (12) takes mutex b at f x.c:10 while it holds mutex a, taken at g x.c:9"; or without the places. */
static void add_edge(struct trc_report *r, struct trc_line *line, const struct trc_lock_edge *edge,
		     bool places)
{
	bool several = edge->several_threads;

	trc_report_thread(r, line, edge->thread, 30);
	if (is_meeting(edge->taken_reason))
		trc_line_add(line, several ? " and others wait for " : " waits for ");
	else
		trc_line_add(line, several ? " and others take " : " takes ");
	add_lock(r, line, edge->taken_reason, edge->taken, edge->taken_life, edge->taken_stack);
	add_place(r, line, " at ", places ? edge->taken_stack : 0);
	if (edge->held_reason == TRC_REASON_JOIN) {
		trc_line_add(line, ", and ends then");
		return;
	}
	if (edge->held_reason == TRC_REASON_BARRIER)
		trc_line_add(line, several ? " before they come to " : " before it comes to ");
	else
		trc_line_add(line, several ? " while they hold " : " while it holds ");
	add_lock(r, line, edge->held_reason, edge->held, edge->held_life, edge->held_stack);
	add_place(r, line, ", taken at ", places ? edge->held_stack : 0);
}

/* Where the second lock is taken, each time. */
static void add_places(struct trc_report *r, struct trc_line *line, const struct trc_lock_edge *one,
		       const struct trc_lock_edge *other)
{
	if (!one->taken_stack || !other->taken_stack)
		return;
	trc_line_add(line, ", at ");
	trc_report_place(r, line, one->taken_stack);
	trc_line_add(line, " and at ");
	trc_report_place(r, line, other->taken_stack);
}

static void add_sentence(struct trc_report *r, struct trc_line *line,
			 const struct trc_lock_edge *const edge[], uint32_t n, uint32_t n_more)
{
	bool meeting = false;

	for (uint32_t i = 0; i < n; i++)
		meeting |= is_meeting(edge[i]->held_reason);
	add_lock(r, line, edge[0]->held_reason, edge[0]->held, edge[0]->held_life,
		 edge[0]->held_stack);
	trc_line_add(line, " and ");
	add_lock(r, line, edge[0]->taken_reason, edge[0]->taken, edge[0]->taken_life,
		 edge[0]->taken_stack);
	if (meeting) {
		trc_line_add(line, " may wait for each other%s", n > 2 ? ", through others" : "");
	} else if (n == 2) {
		trc_line_add(line, " are taken in both orders");
		add_places(r, line, edge[0], edge[1]);
	} else {
		trc_line_add(line, " are two of %u locks that are taken in a circle", n);
	}
	trc_line_add(line, ": no deadlock happened, but one could");
	if (n_more)
		trc_line_add(line, "; %u more circle%s in the table lock_order", n_more,
			     n_more == 1 ? " is" : "s are");
}

static int add_risk(struct trc_report *r, struct trc_array *out,
		    const struct trc_lock_edge *const edge[], uint32_t n, uint32_t n_more)
{
	struct trc_finding f = {
		.kind = TRC_FINDING_LOCK_ORDER,
		.severity = TRC_SEVERITY_RISK,
		.start_ns = edge[0]->first_ns,
		.end_ns = edge[0]->first_ns,
		.thread = edge[0]->thread,
	};
	struct trc_line line;

	trc_finding_line(&line);
	for (uint32_t i = 0; i < n && i < EDGES_TOLD; i++) {
		if (i)
			trc_line_add(&line, "; ");
		add_edge(r, &line, edge[i], true);
	}
	trc_finding_set_why(&f, &line);
	for (uint32_t i = 1; i < n; i++)
		f.end_ns = edge[i]->first_ns > f.end_ns ? edge[i]->first_ns : f.end_ns;
	trc_finding_sql_add(&f, "SELECT * FROM lock_order WHERE deadlock = %u", edge[0]->deadlock);
	trc_finding_line(&line);
	add_sentence(r, &line, edge, n, n_more);
	return trc_finding_add(out, &f, &line);
}

/* The first edge of the circle that is not told yet; each edge takes the lock that the next one holds. */
static uint32_t circle_of(const struct trc_lock_edge *edge, size_t n_edges, uint32_t deadlock,
			  const struct trc_lock_edge *circle[], uint32_t max)
{
	uint32_t n = 0;

	for (size_t i = 0; i < n_edges && n < max; i++)
		if (edge[i].deadlock == deadlock)
			circle[n++] = &edge[i];
	for (uint32_t i = 0; i + 1 < n; i++)
		for (uint32_t j = i + 1; j < n; j++)
			if (circle[j]->held == circle[i]->taken) {
				const struct trc_lock_edge *next = circle[j];

				circle[j] = circle[i + 1];
				circle[i + 1] = next;
				break;
			}
	return n;
}

enum { CIRCLE_MAX = 16 };

static uint32_t count_circles(const struct trc_lock_edge *edge, size_t n_edges)
{
	uint32_t n_circles = 0;

	for (size_t i = 0; i < n_edges; i++)
		n_circles = edge[i].deadlock > n_circles ? edge[i].deadlock : n_circles;
	return n_circles;
}

int trc_find_lock_order(struct trc_report *r, struct trc_array *out)
{
	size_t n_edges;
	const struct trc_lock_edge *edge = trc_model_lock_edges(r->m, &n_edges);
	const struct trc_lock_edge *circle[CIRCLE_MAX];
	uint32_t n_circles = count_circles(edge, n_edges);
	int err = 0;

	for (uint32_t deadlock = 1; deadlock <= RISKS_MAX && !err; deadlock++) {
		uint32_t n = circle_of(edge, n_edges, deadlock, circle, CIRCLE_MAX);

		if (n >= 2)
			err = add_risk(r, out, circle, n,
				       deadlock == RISKS_MAX ? n_circles - RISKS_MAX : 0);
	}
	return err;
}

/* ---- with --full: all circles, with the whole stacks ---- */

static void print_stack(struct trc_report *r, const char *what, uint32_t stack)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 4);
	trc_line_add(&line, "%s", what);
	trc_line_to(&line, 12);
	trc_report_whole_stack(r, &line, stack);
}

static void print_edge(struct trc_report *r, const struct trc_lock_edge *edge)
{
	char times[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  ");
	add_edge(r, &line, edge, false);
	trc_line_add(&line, ", %s time%s", trc_text_count(times, edge->count),
		     edge->count == 1 ? "" : "s");
	trc_report_line(r, &line);
	print_stack(r, "held:", edge->held_stack);
	print_stack(r, "taken:", edge->taken_stack);
}

int trc_report_lock_order(struct trc_report *r)
{
	size_t n_edges;
	const struct trc_lock_edge *edge = trc_model_lock_edges(r->m, &n_edges);
	const struct trc_lock_edge *circle[CIRCLE_MAX];
	uint32_t n_circles = count_circles(edge, n_edges);

	for (uint32_t deadlock = 1; deadlock <= n_circles && r->full && !r->selection; deadlock++) {
		uint32_t n = circle_of(edge, n_edges, deadlock, circle, CIRCLE_MAX);
		char heading[60];

		snprintf(heading, sizeof(heading), "Locks in a circle, %u of %u", deadlock,
			 n_circles);
		trc_report_heading(r, heading, "held while another is taken, the first time");
		for (uint32_t i = 0; i < n; i++)
			print_edge(r, circle[i]);
	}
	return 0;
}
