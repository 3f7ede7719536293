/* names.c - stacks, threads and objects as a person would call them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/process.h"
#include "analyzer/profile/profile.h"
#include "stack_text.h"
#include "words.h"
#include "format/path.h"
#include "format/symbols.h"
#include "format/check.h"
#include "format/waits.h"

enum {
	ALIKE_FRAMES = 6, /* stacks that differ further out are one place */
	FUNCTION_WIDTH = 40,
	FILE_WIDTH = 32,
	OBJECT_WIDTH = 32,
	USUAL_WIDTH = 100
};

/* ---- stacks ---- */

/* Wider lines have room for longer names. */
static int room_for(const struct trc_report *r, int usual)
{
	if (r->full)
		return r->width;
	return r->width > USUAL_WIDTH ? r->width * usual / USUAL_WIDTH : usual;
}

/* The frames of the program's own. */
static const uint32_t *own_frames(const struct trc_report *r, uint32_t stack, size_t *n)
{
	size_t end, first = trc_profile_own(r->stacks, r->m, stack, &end);

	*n = end - first;
	return *n ? r->stacks->stack_frame + r->stacks->stack_first[stack] + first : NULL;
}

/* What is said of a frame: the function and the line, or else the address. */
static uint64_t frame_hash(const struct trc_frame *frame)
{
	uint64_t place[] = {frame->module, frame->function ? frame->line : frame->address};
	uint64_t hash = trc_check64(place, sizeof(place), 0);

	if (frame->function)
		hash = trc_check64(frame->function, strlen(frame->function), hash);
	if (frame->function && frame->file)
		hash = trc_check64(frame->file, strlen(frame->file), hash);
	return hash;
}

/* By id of a frame: the first one of which the same is said.  To be freed; NULL without memory. */
static uint32_t *frames_alike(const struct trc_report *r)
{
	struct trc_index first = {0};
	uint32_t *alike = calloc(r->stacks->n_frames + 1, sizeof(*alike));
	int err = alike ? 0 : -ENOMEM;

	for (uint32_t id = 1; id <= r->stacks->n_frames && !err; id++) {
		uint64_t hash = frame_hash(&r->stacks->frame[id - 1]);
		uint32_t found = trc_index_get(&first, hash);

		alike[id] = found == TRC_INDEX_NONE ? id : found;
		if (found == TRC_INDEX_NONE)
			err = trc_index_put(&first, hash, id);
	}
	trc_index_free(&first);
	if (!err)
		return alike;
	free(alike);
	return NULL;
}

static uint64_t chain_hash(const uint32_t *alike, const uint32_t *frame, size_t n)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < n; i++)
		hash = trc_check64(&alike[frame[i]], sizeof(*alike), hash);
	return hash;
}

static bool chains_alike(const uint32_t *alike, const uint32_t *a, const uint32_t *b, size_t n)
{
	while (n && alike[a[n - 1]] == alike[b[n - 1]])
		n--;
	return !n;
}

static bool is_trc(const struct trc_report *r, const uint32_t *frame)
{
	return trc_profile_is_trc(r->stacks, r->m, (uint32_t)(frame - r->stacks->stack_frame));
}

/* How many of these frames have to be alike. */
static size_t n_compared(const struct trc_report *r, const uint32_t *frame, size_t n)
{
	size_t told = 0;

	for (size_t i = 0; i < n && !r->full; i++) {
		told += !i || !is_trc(r, &frame[i]);
		if (told == ALIKE_FRAMES)
			return i + 1;
	}
	return n;
}

/* This stack is one with those of `place` that were told before: the callers in which they differ are nobody's. */
static void share_callers(const struct trc_report *r, uint32_t place, uint32_t stack)
{
	struct trc_report_callers *callers = &r->callers[place];
	size_t n, n_of, shared = 0;
	const uint32_t *frame = own_frames(r, stack, &n), *of, *alike = r->frames_alike;

	if (!callers->stack) {
		callers->stack = stack;
		callers->n_frames = (uint32_t)n;
		return;
	}
	of = own_frames(r, callers->stack, &n_of);
	while (shared < n && shared < callers->n_frames &&
	       alike[frame[shared]] == alike[of[shared]])
		shared++;
	callers->several |= shared < n || shared < n_of;
	callers->n_frames = (uint32_t)shared;
}

/* Stacks that read alike are one: those that differ further out than ALIKE_FRAMES, and calls from several places of a function
 * of which no lines are known. */
int trc_report_canonical_init(struct trc_report *r)
{
	struct trc_index first = {0};
	int err = 0;

	r->n_canonical = r->stacks->n_stacks;
	r->canonical = calloc(r->n_canonical + 1, sizeof(*r->canonical));
	r->callers = calloc(r->n_canonical + 1, sizeof(*r->callers));
	r->frames_alike = frames_alike(r);
	if (!r->canonical || !r->callers || !r->frames_alike)
		err = -ENOMEM;
	for (uint32_t i = 1; i < r->n_canonical && !err; i++) {
		size_t n, n_same;
		const uint32_t *frame = own_frames(r, i, &n), *same;
		uint64_t hash = n ? chain_hash(r->frames_alike, frame, n_compared(r, frame, n)) : 0;
		uint32_t found = n ? trc_index_get(&first, hash) : 0;

		r->canonical[i] = n ? i : 0;
		if (n && found == TRC_INDEX_NONE) {
			err = trc_index_put(&first, hash, i);
		} else if (n) {
			size_t n_alike = n_compared(r, frame, n);

			same = own_frames(r, found, &n_same);
			if (n_alike == n_compared(r, same, n_same) &&
			    chains_alike(r->frames_alike, frame, same, n_alike))
				r->canonical[i] = found;
		}
		if (n && !r->selection)
			share_callers(r, r->canonical[i], i);
	}
	trc_index_free(&first);
	return err;
}

int trc_report_same_place_init(struct trc_report *r)
{
	struct trc_index first = {0};
	int err = 0;

	r->same_place = calloc(r->n_canonical + 1, sizeof(*r->same_place));
	if (!r->same_place)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->n_canonical && !err; i++) {
		size_t n;
		const uint32_t *frame = own_frames(r, i, &n);
		uint64_t hash = n ? frame_hash(&r->stacks->frame[*frame - 1]) : 0;
		uint32_t found = n ? trc_index_get(&first, hash) : 0;

		r->same_place[i] = found == TRC_INDEX_NONE ? i : found;
		if (found == TRC_INDEX_NONE)
			err = trc_index_put(&first, hash, i);
	}
	trc_index_free(&first);
	return err;
}

uint32_t trc_report_same_place(const struct trc_report *r, uint32_t stack)
{
	return stack < r->n_canonical ? r->same_place[stack] : 0;
}

uint32_t trc_report_canonical(const struct trc_report *r, uint32_t stack)
{
	uint32_t place = stack < r->n_canonical ? r->canonical[stack] : 0;

	/* Of a selection those count that are asked for: others may be of what is not selected. */
	if (place && r->selection && !r->callers[stack].is_told) {
		r->callers[stack].is_told = true;
		share_callers(r, place, stack);
	}
	return place;
}

const struct trc_frame *trc_report_own_frame(const struct trc_report *r, uint32_t stack, size_t i)
{
	size_t n;
	const uint32_t *frame = own_frames(r, stack, &n);

	return i < n ? &r->stacks->frame[frame[i] - 1] : NULL;
}

size_t trc_report_shared_calls(const struct trc_report *r, uint32_t a, uint32_t b)
{
	size_t n_a, n_b, shared = 0;
	const uint32_t *frame_a = own_frames(r, a, &n_a), *frame_b = own_frames(r, b, &n_b);

	while (shared < n_a && shared < n_b &&
	       frame_a[n_a - shared - 1] == frame_b[n_b - shared - 1])
		shared++;
	return shared;
}

static uint64_t hash_function(const struct trc_frame *frame, uint64_t seed)
{
	return frame->function ? trc_check64(frame->function, strlen(frame->function), seed)
			       : trc_check64(&frame->address, sizeof(frame->address), seed);
}

static uint64_t outermost_of(const struct trc_report *r, const uint32_t *frame, size_t n)
{
	const struct trc_frame *outermost = &r->stacks->frame[frame[n - 1] - 1];
	const struct trc_frame_origin *origin = &r->stacks->origin[frame[n - 1] - 1];

	if (!outermost->function && !origin->start)
		return 0;
	return (outermost->function ? hash_function(outermost, 0)
				    : trc_check64(&origin->start, sizeof(origin->start), 0)) |
	       2;
}

static uint64_t functions_of(const struct trc_report *r, const uint32_t *frame, size_t n)
{
	enum { FUNCTIONS = 2 };
	uint64_t hash = 0;

	for (size_t i = 0; i < n && i < FUNCTIONS; i++)
		hash = hash_function(&r->stacks->frame[frame[i] - 1], hash);
	return hash | 1;
}

int trc_report_ends_init(struct trc_report *r)
{
	r->ends = calloc(r->n_canonical + 1, sizeof(*r->ends));
	if (!r->ends)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->n_canonical; i++) {
		size_t n;
		const uint32_t *frame = own_frames(r, i, &n);

		if (frame)
			r->ends[i] = (struct trc_report_ends){functions_of(r, frame, n),
							      outermost_of(r, frame, n)};
	}
	return 0;
}

uint64_t trc_report_outermost(const struct trc_report *r, uint32_t stack)
{
	return r->ends[stack < r->n_canonical ? stack : 0].outermost;
}

uint64_t trc_report_functions(const struct trc_report *r, uint32_t stack)
{
	return r->ends[stack < r->n_canonical ? stack : 0].functions;
}

static void add_unknown(struct trc_report *r, struct trc_line *line, const struct trc_frame *frame)
{
	const struct trc_module_entry *module = trc_reader_module(r->reader, frame->module);
	char name[TRC_PROGRAM_NAME_BYTES];

	if (!module || !frame->module) {
		trc_line_add(line, "0x%" PRIx64, frame->address);
		return;
	}
	trc_line_data(line, trc_module_name(name, r->reader, module), room_for(r, FILE_WIDTH));
	trc_line_add(line, "+0x%" PRIx64, frame->address - module->load_bias);
}

void trc_report_function(struct trc_report *r, struct trc_line *line, const struct trc_frame *frame)
{
	const struct trc_module_entry *module = trc_reader_module(r->reader, frame->module);
	char name[TRC_PROGRAM_NAME_BYTES];

	if (!frame->function) {
		add_unknown(r, line, frame);
		return;
	}
	trc_line_data(line, frame->function, room_for(r, FUNCTION_WIDTH));
	if (frame->file || (module && frame->module)) {
		trc_line_add(line, " ");
		trc_line_data(line,
			      frame->file ? trc_path_name(frame->file)
					  : trc_module_name(name, r->reader, module),
			      room_for(r, FILE_WIDTH));
	}
}

/* *file is that of the frame before: not said again. */
static void add_frame(struct trc_report *r, struct trc_line *line, const struct trc_frame *frame,
		      const char **file)
{
	if (frame->function)
		trc_line_data(line, frame->function, room_for(r, FUNCTION_WIDTH));
	else
		add_unknown(r, line, frame);
	if (frame->file && frame->line) {
		const char *name = trc_path_name(frame->file);

		trc_line_add(line, " ");
		if (!*file || strcmp(*file, frame->file) != 0)
			trc_line_data(line, name, room_for(r, FILE_WIDTH));
		trc_line_add(line, ":%u", frame->line);
		*file = frame->file;
	} else if (r->module_shown && frame->module < trc_reader_modules(r->reader)) {
		r->module_shown[frame->module] = true;
	}
}

/* The first of its frames: max of them at most. */
static void add_frames(struct trc_report *r, struct trc_line *line, uint32_t stack, size_t max)
{
	size_t n;
	const uint32_t *frame = own_frames(r, stack, &n);
	const char *file = NULL;

	if (!n)
		trc_line_add(line, "(no stack)");
	for (size_t i = 0; i < n && i < max; i++) {
		if (i && is_trc(r, &frame[i]))
			continue;
		trc_line_add(line, i ? " < " : "");
		add_frame(r, line, &r->stacks->frame[frame[i] - 1], &file);
	}
}

/* The first caller with a name, of those that all stacks of the place have; NULL = it has a name itself, or none has one. */
static const struct trc_frame *first_named(const struct trc_report *r, uint32_t stack)
{
	uint32_t place = stack < r->n_canonical ? r->canonical[stack] : 0;
	const struct trc_report_callers *callers = &r->callers[place];
	const uint32_t *frame;
	size_t n;

	frame = own_frames(r, callers->stack ? callers->stack : stack, &n);
	if (callers->stack && callers->n_frames < n)
		n = callers->n_frames;
	if (!n || r->stacks->frame[frame[0] - 1].function)
		return NULL;
	for (size_t i = 1; i < n; i++)
		if (!is_trc(r, &frame[i]) && r->stacks->frame[frame[i] - 1].function)
			return &r->stacks->frame[frame[i] - 1];
	return NULL;
}

bool trc_report_reads_alike(const struct trc_report *r, uint32_t a, uint32_t b)
{
	return trc_report_same_place(r, a) == trc_report_same_place(r, b) &&
	       first_named(r, a) == first_named(r, b);
}

void trc_report_place(struct trc_report *r, struct trc_line *line, uint32_t stack)
{
	const struct trc_frame *named = first_named(r, stack);

	add_frames(r, line, stack, 1);
	if (!named)
		return;
	trc_line_add(line, " (below ");
	trc_line_data(line, named->function, room_for(r, FUNCTION_WIDTH));
	trc_line_add(line, ")");
}

void trc_report_chain(struct trc_report *r, struct trc_line *line, uint32_t stack)
{
	const struct trc_report_callers *callers = &r->callers[stack < r->n_canonical ? stack : 0];

	if (callers->stack)
		add_frames(r, line, callers->stack, callers->n_frames);
	else
		add_frames(r, line, stack, SIZE_MAX);
	if (callers->several)
		trc_line_add(line, " < (several callers)");
}

void trc_report_whole_stack(struct trc_report *r, struct trc_line *line, uint32_t stack)
{
	size_t n = 0, i = 0;
	const uint32_t *frame = r->stacks->stack_frame;
	int column = line->width;

	if (stack && stack < r->stacks->n_stacks) {
		frame += r->stacks->stack_first[stack];
		n = trc_profile_limit(r->stacks, r->m, stack);
		i = trc_profile_skip_trc(r->stacks, r->m, stack);
	}
	if (i >= n)
		trc_line_add(line, "(no stack)");
	do {
		const char *file = NULL;

		if (i < n)
			add_frame(r, line, &r->stacks->frame[frame[i] - 1], &file);
		trc_report_line(r, line);
		trc_line_begin(line, r->width, r->colour);
		trc_line_to(line, column);
	} while (++i < n);
}

void trc_report_stack(struct trc_report *r, struct trc_line *line, uint32_t stack)
{
	if (r->full) {
		trc_report_whole_stack(r, line, stack);
		return;
	}
	trc_report_chain(r, line, stack);
	trc_report_line(r, line);
}

void trc_report_one_stack(struct trc_report *r, struct trc_line *line, uint32_t stack)
{
	if (r->full) {
		trc_report_whole_stack(r, line, stack);
		return;
	}
	add_frames(r, line, stack, SIZE_MAX);
	trc_report_line(r, line);
}

char *trc_stack_text(struct trc_model *m, uint32_t stack, size_t max)
{
	struct trc_report r = {.m = m,
			       .reader = trc_model_reader(m),
			       .stacks = trc_model_stacks(m),
			       .width = TRC_WIDTH_MAX};
	struct trc_line line;
	size_t n;

	if (!own_frames(&r, stack, &n))
		return strdup("");
	trc_line_begin(&line, TRC_WIDTH_MAX, false);
	add_frames(&r, &line, stack, max);
	return strdup(trc_line_text(&line));
}

void trc_report_frames(struct trc_report *r, uint32_t stack, size_t max)
{
	const uint32_t *frame = r->stacks->stack_frame;
	struct trc_line line;
	size_t n = 0;

	if (stack && stack < r->stacks->n_stacks) {
		frame += r->stacks->stack_first[stack];
		n = trc_profile_limit(r->stacks, r->m, stack);
	}
	for (size_t i = 0; i < n && i < max; i++) {
		const char *file = NULL;

		trc_line_begin(&line, r->width, r->colour);
		trc_line_to(&line, 12);
		add_frame(r, &line, &r->stacks->frame[frame[i] - 1], &file);
		trc_report_line(r, &line);
	}
	if (n > max) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_to(&line, 12);
		trc_line_add(&line, "and %zu more", n - max);
		trc_report_line(r, &line);
	}
}

/* ---- threads ---- */

void trc_report_thread(struct trc_report *r, struct trc_line *line, uint32_t serial, int max_width)
{
	const struct trc_thread *thread = trc_model_thread(r->m, serial);
	char number[TRC_NUMBER_BYTES];
	int left;

	if (!thread) {
		trc_line_add(line, "thread #%u", serial);
		return;
	}
	if (!*thread->name) {
		trc_line_add(line, "thread %u", thread->tid);
		return;
	}
	snprintf(number, sizeof(number), " (%u)", thread->tid);
	left = max_width - trc_line_width(number);
	trc_line_data(line, thread->name, left > 8 ? left : 8);
	trc_line_add(line, "%s", number);
}

int64_t trc_report_lifetime_ns(const struct trc_report *r, const struct trc_thread *thread)
{
	int64_t start_ns = thread->start_ns, end_ns = thread->end_ns;

	if (r->selected)
		return r->selected[thread - r->thread].ns;
	if (start_ns == TRC_NEVER || start_ns < r->start_ns)
		start_ns = r->start_ns;
	if (end_ns == TRC_NEVER || end_ns > r->end_ns)
		end_ns = r->end_ns;
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* ---- objects ---- */

bool trc_report_is_nameless(const struct trc_report *r, unsigned int reason, uint64_t object,
			    uint32_t stack)
{
	uint64_t offset;

	return object && trc_wait_kind(reason) && !trc_model_variable(r->m, object, stack, &offset);
}

void trc_report_object(struct trc_report *r, struct trc_line *line, unsigned int reason,
		       uint64_t object, uint32_t stack)
{
	char text[TRC_WAIT_OBJECT_BYTES], data[TRC_DATA_NAME_BYTES];
	const char *name;
	uint64_t offset;

	if (trc_wait_object(text, reason, object)) {
		trc_line_add(line, "%s", text);
		return;
	}
	if (!object)
		return;
	name = trc_model_variable(r->m, object, stack, &offset);
	if (!name && trc_model_data_name(data, r->m, object, stack)) {
		trc_line_add(line, " ");
		trc_line_data(line, data, room_for(r, 2 * OBJECT_WIDTH));
		return;
	}
	if (!name) {
		trc_line_add(line, " 0x%" PRIx64, object);
		return;
	}
	trc_line_add(line, " ");
	trc_line_data(line, name, room_for(r, OBJECT_WIDTH));
	trc_line_data(line, trc_model_member(r->m, object, stack, &offset),
		      room_for(r, OBJECT_WIDTH));
	if (offset)
		trc_line_add(line, "+%" PRIu64, offset);
}
