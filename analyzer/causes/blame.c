/* blame.c - see blame.h. */
#include "blame.h"

#include <errno.h>
#include <stdlib.h>
#include "steps.h"
#include "analyzer/model/order.h"
#include "analyzer/model/waits.h"

/* Those that wait for a node, by what will end their waiting for it and by their labels. */
struct entry {
	int64_t since_ns; /* of a root: charged up to then, or up to its own_since_ns if that is later */
	uint32_t stack, labels;
	uint32_t n;
};

/* A thread or a lock. */
struct node {
	uint32_t parent; /* index + 1 of the node that it waits for; 0 = it is a root */
	uint32_t wanted; /* the same, of a node that would wait for itself by that: now a root */
	uint32_t stack;	 /* of a root what it is charged with, 0 = the entry's; else its entry's */
	uint32_t
		sample; /* of a root that is charged with where it was sampled: row + 1; 0 = none */
	uint32_t own_labels;
	/* Of a root in a cycle with a thread that has not begun: its index + 1, and the stack of what would have ended the
	 * waiting for it. */
	uint32_t unborn, unborn_stack;
	uint8_t kind, reason; /* of a root */
	bool wanted_wait;     /* it is in a wait that is wanted */
	bool counts;	      /* and at a time that is */
	bool waits;	      /* of a root: it is charged with where it waits */
	int64_t own_since_ns;
	struct trc_array entries;

	/* Where it is in time. */
	int64_t next_ns;
	union {
		struct trc_step_cursor cursor; /* of a thread */
		uint32_t next_unlock;	       /* of a lock */
	};
	struct trc_step_wait wait; /* of a thread; wait.park 0 = in none */
};

/* What a node becomes. */
struct state {
	uint32_t parent, stack, sample, labels;
	uint8_t kind, reason;
	bool wanted_wait, counts, waits;
};

struct blame {
	struct trc_steps steps;
	const struct trc_blame_target *target;
	struct node *node; /* threads by row, then locks */
	size_t n_nodes;
	uint32_t *heap; /* nodes, the one with the earliest next_ns on top */
	size_t n_heap;
	struct trc_array cycles; /* uint32_t: nodes with `wanted` */
	int64_t now_ns;
	int err;
};

/* ---- charges ---- */

/* A node's own stack, that of the event which ends the waiting for it, or of a lock that of who waits. */
static uint8_t charged_stack(const struct node *root, uint32_t stack, bool own, bool is_lock)
{
	if (!stack)
		return TRC_CAUSE_STACK_NONE;
	if (root->unborn)
		return TRC_CAUSE_STACK_END;
	if (is_lock || root->waits)
		return TRC_CAUSE_STACK_WAIT;
	return own ? TRC_CAUSE_STACK_SAMPLE : TRC_CAUSE_STACK_END;
}

static void blame_charge(struct blame *b, const struct node *root, uint32_t stack, bool own,
			 uint32_t labels, uint64_t n, int64_t since_ns)
{
	const size_t row = (size_t)(root - b->node);
	/* U2: in a cycle with a thread that has not begun that thread is charged. */
	const size_t charged = root->unborn ? root->unborn - 1 : row;
	const bool is_lock = row >= b->steps.n_threads;
	const uint32_t ended_at = root->unborn ? root->unborn_stack : stack;
	const __int128 ns = (__int128)n * ((__int128)b->now_ns - since_ns);
	const uint8_t of = charged_stack(root, ended_at, own, is_lock);
	const struct trc_blame blame = {
		.ns = ns < INT64_MAX ? (int64_t)ns : INT64_MAX,
		.from_ns = since_ns,
		.to_ns = b->now_ns,
		.stack = ended_at,
		.labels = labels,
		.thread = charged < b->steps.n_threads ? b->steps.thread[charged].serial : 0,
		.kind = root->unborn ? TRC_CAUSE_STARTING : root->kind,
		.reason = root->unborn ? 0 : root->reason,
		.stack_of = of,
		.sample = of == TRC_CAUSE_STACK_SAMPLE ? root->sample : 0,
	};

	if (ns > 0 && !b->err)
		b->err = b->target->charge(b->target->context, &blame);
}

static void charge_entry(struct blame *b, const struct node *root, struct entry *entry)
{
	bool own = root->stack || root->waits;

	blame_charge(b, root, own ? root->stack : entry->stack, own, entry->labels, entry->n,
		     entry->since_ns > root->own_since_ns ? entry->since_ns : root->own_since_ns);
	entry->since_ns = b->now_ns;
}

/* A lock that is handed over is free for no time at all, and has all its waiters then: they need not be looked at. */
static void charge_root(struct blame *b, struct node *root)
{
	struct entry *entry = root->entries.row;

	if (root->own_since_ns == b->now_ns)
		return;
	for (size_t i = 0; i < root->entries.n; i++)
		charge_entry(b, root, &entry[i]);
	if (root->counts)
		blame_charge(b, root, root->stack, true, root->own_labels, 1, root->own_since_ns);
	root->own_since_ns = b->now_ns;
}

/* ---- who waits for whom ---- */

static struct entry *entry_of(struct node *node, uint32_t stack, uint32_t labels)
{
	struct entry *entry = node->entries.row;

	for (size_t i = 0; i < node->entries.n; i++)
		if (entry[i].stack == stack && entry[i].labels == labels)
			return &entry[i];
	return NULL;
}

/* So many more wait for the node itself, or fewer. */
static void entry_add(struct blame *b, struct node *node, uint32_t stack, uint32_t labels,
		      int64_t n)
{
	struct entry *entry = entry_of(node, stack, labels);

	if (!entry) {
		node->entries.row_bytes = sizeof(struct entry);
		entry = trc_array_add(&node->entries);
		if (!entry) {
			b->err = -ENOMEM;
			return;
		}
		*entry = (struct entry){b->now_ns, stack, labels, 0};
	}
	if (!node->parent)
		charge_entry(b, node, entry);
	entry->n = (uint32_t)((int64_t)entry->n + n);
	if (!entry->n)
		*entry = ((struct entry *)node->entries.row)[--node->entries.n];
}

/* So many more, or fewer, wait for what `node` waits for. */
static void above_add(struct blame *b, const struct node *node, uint32_t labels, int64_t n)
{
	while (node->parent && !b->err) {
		struct node *above = &b->node[node->parent - 1];

		entry_add(b, above, node->stack, labels, n);
		node = above;
	}
}

/* All that wait for the node, and itself, begin (1) or cease (-1) to wait for what it waits for.  Those that have the same labels, as in
 * most programs all have, are passed on together. */
static void above_add_all(struct blame *b, const struct node *node, int64_t sign)
{
	const struct entry *entry = node->entries.row;
	int64_t n = 0;

	for (size_t i = 0; i < node->entries.n && node->parent; i++) {
		n += entry[i].n;
		if (i + 1 < node->entries.n && entry[i + 1].labels == entry[i].labels)
			continue;
		above_add(b, node, entry[i].labels, sign * n);
		n = 0;
	}
	if (node->counts)
		above_add(b, node, node->own_labels, sign);
}

/* *unborn: the index + 1 of a thread in the cycle that has not begun, and waits for its creator; 0 = there is none.
 * *stack: of what would end the waiting for it. */
static bool would_wait_for_itself(const struct blame *b, const struct node *node, uint32_t parent,
				  uint32_t *unborn, uint32_t *stack)
{
	const uint32_t own = (uint32_t)(node - b->node) + 1;
	const struct node *below = node;

	*unborn = node->kind == TRC_CAUSE_STARTING ? own : 0;
	*stack = 0;
	while (parent) {
		const struct node *above = &b->node[parent - 1];

		if (above->kind == TRC_CAUSE_STARTING && (above != node || *unborn == own)) {
			*unborn = parent;
			*stack = below->stack;
		}
		if (above == node)
			return true;
		below = above;
		parent = above->parent;
	}
	return false;
}

static void set_state(struct blame *b, struct node *node, const struct state *state)
{
	uint32_t *row, unborn, stack;

	if (node->parent)
		above_add_all(b, node, -1);
	else
		charge_root(b, node);
	node->parent = state->parent;
	node->wanted = 0;
	node->unborn = 0;
	node->stack = state->stack;
	node->sample = state->sample;
	node->own_labels = state->labels;
	node->kind = state->kind;
	node->reason = state->reason;
	node->wanted_wait = state->wanted_wait;
	node->counts = state->counts;
	node->waits = state->waits;
	if (would_wait_for_itself(b, node, state->parent, &unborn, &stack)) {
		node->parent = 0;
		node->unborn = unborn;
		node->unborn_stack = stack;
		node->wanted = state->parent;
		row = trc_array_add(&b->cycles);
		if (row)
			*row = (uint32_t)(node - b->node);
		else
			b->err = -ENOMEM;
	}
	if (node->parent)
		above_add_all(b, node, 1);
	else
		node->own_since_ns = b->now_ns;
}

/* Those that waited for themselves, and do no longer. */
static void retry_cycles(struct blame *b)
{
	uint32_t *row = b->cycles.row;
	size_t left = 0;
	uint32_t unborn, stack;

	for (size_t i = 0; i < b->cycles.n; i++) {
		struct node *node = &b->node[row[i]];

		if (!node->wanted)
			continue;
		if (would_wait_for_itself(b, node, node->wanted, &unborn, &stack)) {
			if (unborn != node->unborn || stack != node->unborn_stack)
				charge_root(b, node);
			node->unborn = unborn;
			node->unborn_stack = stack;
			row[left++] = row[i];
			continue;
		}
		charge_root(b, node);
		node->parent = node->wanted;
		node->wanted = 0;
		node->unborn = 0;
		above_add_all(b, node, 1);
	}
	b->cycles.n = left;
}

/* ---- what nodes become ---- */

/* Index + 1 of a thread's node; 0 = it is not known. */
static uint32_t node_of_thread(const struct blame *b, uint32_t serial)
{
	const struct trc_thread *t = serial ? trc_model_thread(b->steps.m, serial) : NULL;

	return t ? (uint32_t)(t - b->steps.thread) + 1 : 0;
}

static uint32_t node_of_lock(const struct blame *b, const struct trc_steps_lock *lock)
{
	const struct trc_steps_lock *first = b->steps.locks.row;

	return (uint32_t)(b->steps.n_threads + (size_t)(lock - first)) + 1;
}

/* If nobody is there, it is not known. */
static void depend_on(struct state *state, uint32_t parent, uint32_t stack)
{
	state->parent = parent;
	state->stack = stack;
	if (!parent)
		state->kind = TRC_CAUSE_UNKNOWN;
}

/* In the wait step->park; narrows step->until_ns. */
static void state_of_wait(struct blame *b, struct node *node, struct trc_step *step,
			  struct state *state)
{
	const struct trc_park *p = &b->steps.park[step->park - 1];
	struct trc_step of_wait;
	int64_t inside_until_ns;

	if (node->wait.park == step->park) {
		state->wanted_wait = node->wanted_wait;
		state->labels = node->own_labels;
	} else {
		state->wanted_wait = b->target->wanted(b->target->context, p, &state->labels);
		trc_step_wait_begin(&b->steps, &node->wait, step->park, b->now_ns);
	}
	state->counts = state->wanted_wait;
	if (state->counts && b->target->inside) {
		state->counts = b->target->inside(b->target->context, p->thread, b->now_ns,
						  &inside_until_ns);
		step->until_ns = trc_earlier_ns(step->until_ns, inside_until_ns);
	}
	if (node->wait.lock && b->now_ns < node->wait.lock_until_ns) {
		step->until_ns = trc_earlier_ns(step->until_ns, node->wait.lock_until_ns);
		state->kind = trc_step_kind_of_cycle(&b->steps, p);
		state->reason = p->reason;
		state->waits = true;
		depend_on(state, node_of_lock(b, node->wait.lock), p->stack);
		return;
	}
	trc_step_of_wait(&b->steps, &node->wait, b->now_ns, &of_wait);
	step->until_ns = trc_earlier_ns(step->until_ns, of_wait.until_ns);
	state->reason = p->reason;
	state->kind = of_wait.kind;
	state->stack = p->stack;
	state->waits = true;
	if (of_wait.kind != TRC_CAUSE_WAITING)
		return;
	state->kind = trc_step_kind_of_cycle(&b->steps, p);
	depend_on(state, node_of_thread(b, of_wait.on), of_wait.stack);
}

static void step_thread(struct blame *b, struct node *node, struct state *state)
{
	struct trc_step step;

	trc_step_of_thread(&b->steps, &node->cursor, b->now_ns, &step);
	state->kind = step.kind;
	if (step.park) {
		bool preempted = step.kind == TRC_CAUSE_PREEMPTED; /* timeline:P1 */

		state_of_wait(b, node, &step, state);
		if (preempted)
			state->kind = TRC_CAUSE_PREEMPTED;
	} else {
		node->wait.park = 0;
		state->stack = step.stack;
		state->sample = step.sample;
		if (step.kind == TRC_CAUSE_STARTING && !step.born && !step.created)
			depend_on(state, node_of_thread(b, step.on), step.stack);
	}
	if (state->kind == TRC_CAUSE_UNKNOWN && trc_steps_lost(&b->steps, b->now_ns, step.until_ns))
		state->kind = TRC_CAUSE_LOST;
	node->next_ns = step.until_ns;
}

/* Of a lock whose owner, a node, waits for it in turn. */
static uint8_t cycle_of_lock(const struct blame *b, uint32_t owner)
{
	uint32_t park = owner ? b->node[owner - 1].wait.park : 0;

	if (park && trc_step_kind_of_cycle(&b->steps, &b->steps.park[park - 1]) == TRC_CAUSE_LOST)
		return TRC_CAUSE_LOST;
	return TRC_CAUSE_CYCLE;
}

static void step_lock(struct blame *b, struct node *node, size_t lock, struct state *state)
{
	const struct trc_steps_lock *first = b->steps.locks.row;
	struct trc_step step;
	uint32_t owner;

	trc_step_of_lock(&b->steps, first + lock, &node->next_unlock, b->now_ns, &step);
	state->kind = step.kind;
	if (step.kind == TRC_CAUSE_WAITING) {
		owner = node_of_thread(b, step.on);
		state->kind = cycle_of_lock(b, owner);
		depend_on(state, owner, step.stack);
	}
	node->next_ns = step.until_ns;
}

static void step_node(struct blame *b, size_t i)
{
	struct node *node = &b->node[i];
	struct state state = {0};

	if (i < b->steps.n_threads)
		step_thread(b, node, &state);
	else
		step_lock(b, node, i - b->steps.n_threads, &state);
	set_state(b, node, &state);
}

/* ---- time ---- */

static bool is_earlier(const struct blame *b, uint32_t i, uint32_t j)
{
	return b->node[i].next_ns < b->node[j].next_ns;
}

/* Puts what is at the top of the heap, or at `i`, in its place. */
static void blame_heap_sink(struct blame *b, size_t i)
{
	uint32_t moved = b->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= b->n_heap)
			break;
		if (child + 1 < b->n_heap && is_earlier(b, b->heap[child + 1], b->heap[child]))
			child++;
		if (!is_earlier(b, b->heap[child], moved))
			break;
		b->heap[i] = b->heap[child];
		i = child;
	}
	b->heap[i] = moved;
}

static void blame_sweep(struct blame *b, int64_t end_ns)
{
	for (size_t i = 0; i < b->n_nodes && !b->err; i++) {
		step_node(b, i);
		b->heap[i] = (uint32_t)i;
	}
	retry_cycles(b);
	b->n_heap = b->n_nodes;
	for (size_t i = b->n_heap / 2; i > 0; i--)
		blame_heap_sink(b, i - 1);
	while (b->n_heap && !b->err && b->node[b->heap[0]].next_ns < end_ns) {
		b->now_ns = b->node[b->heap[0]].next_ns;
		while (b->node[b->heap[0]].next_ns <= b->now_ns && !b->err) {
			step_node(b, b->heap[0]);
			blame_heap_sink(b, 0);
		}
		retry_cycles(b);
	}
	b->now_ns = end_ns;
	for (size_t i = 0; i < b->n_nodes && !b->err; i++)
		if (!b->node[i].parent)
			charge_root(b, &b->node[i]);
}

static int nodes_make(struct blame *b, int64_t start_ns)
{
	int err = 0;

	b->cycles.row_bytes = sizeof(uint32_t);
	b->n_nodes = b->steps.n_threads + b->steps.locks.n;
	b->node = calloc(b->n_nodes + 1, sizeof(*b->node));
	b->heap = calloc(b->n_nodes + 1, sizeof(*b->heap));
	if (!b->node || !b->heap)
		return -ENOMEM;
	for (size_t i = 0; i < b->steps.n_threads && !err; i++)
		err = trc_step_seek(&b->steps, &b->node[i].cursor, i, start_ns);
	for (size_t i = 0; i < b->steps.locks.n && !err; i++)
		b->node[b->steps.n_threads + i].next_unlock = trc_step_lock_seek(
			&b->steps, (const struct trc_steps_lock *)b->steps.locks.row + i, start_ns);
	return err;
}

int trc_blame_sum(const struct trc_model *m, const struct trc_blame_target *target)
{
	bool is_part = target->from_ns || target->to_ns;
	int64_t end_ns = is_part ? target->to_ns : trc_model_end_ns(m);
	struct blame b = {.target = target,
			  .now_ns = is_part ? target->from_ns : trc_model_start_ns(m)};
	int err = trc_steps_open(&b.steps, m);

	if (!err)
		err = nodes_make(&b, b.now_ns);
	if (!err) {
		blame_sweep(&b, end_ns);
		err = b.err;
	}
	for (size_t i = 0; b.node && i < b.n_nodes; i++)
		trc_array_free(&b.node[i].entries);
	free(b.node);
	free(b.heap);
	trc_array_free(&b.cycles);
	trc_steps_close(&b.steps);
	return err;
}
