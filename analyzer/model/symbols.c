/*
 * symbols.c - frames and stack_frames: TRC_PART_SYMBOLS.
 *
 * Each address is looked up once per module that it lies in.  What a stack holds are return
 * addresses: the call is at the byte before.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "parts.h"
#include "process.h"
#include "format/symbols.h"
#include "format/symbols_jit.h"

/* What is known of an address in a module: its frames, innermost first. */
struct place {
	uint64_t address;
	uint32_t module;
	uint32_t first_frame, n_frames; /* index in m->frame */
	uint32_t next;			/* another place of this address, TRC_INDEX_NONE = none */
};

struct symbolize {
	struct trc_model *m;
	struct trc_index place_row; /* by address; places of one address are chained */
	struct trc_array places;
	struct trc_index tails_row; /* by return address */
	struct trc_array tails;
	uint32_t last_module;
};

/* What a call has entered and left by jumps. */
struct tails {
	uint32_t module;
	uint32_t n;
	uint64_t address[TRC_SYMBOL_TAIL_MAX];
};

static bool module_covers(const struct trc_module_entry *module, uint64_t address, uint32_t epoch)
{
	return module && address >= module->start && address < module->limit &&
	       epoch >= module->first_epoch && epoch <= module->last_epoch;
}

/* The module that lay at this address in this epoch; 0 = none. */
static uint32_t module_of(struct symbolize *s, uint64_t address, uint32_t epoch)
{
	size_t n = trc_reader_modules(s->m->reader);

	if (s->last_module &&
	    module_covers(trc_reader_module(s->m->reader, s->last_module), address, epoch))
		return s->last_module;
	for (uint32_t i = 1; i < n; i++) {
		if (module_covers(trc_reader_module(s->m->reader, i), address, epoch)) {
			s->last_module = i;
			return i;
		}
	}
	return 0;
}

static int frame_add(struct symbolize *s, const struct place *place,
		     const struct trc_symbol *symbol)
{
	struct trc_frame *frame = trc_array_add(&s->m->frame);
	struct trc_frame_origin *origin = trc_array_add(&s->m->frame_origin);

	if (!frame || !origin)
		return -ENOMEM;
	frame->address = place->address;
	frame->module = place->module;
	if (symbol) {
		frame->function = symbol->function;
		frame->file = symbol->file;
		frame->line = symbol->line;
		frame->inlined = symbol->inlined;
		origin->linkage = symbol->linkage;
		origin->directory = symbol->directory;
		origin->start_line = symbol->start_line;
	}
	if (place->module && !frame->function)
		origin->start = trc_symbols_start(s->m->symbols,
						  trc_reader_module(s->m->reader, place->module),
						  place->address);
	return 0;
}

static int place_resolve(struct symbolize *s, struct place *place)
{
	struct trc_symbol symbol[TRC_SYMBOL_INLINE_MAX];
	size_t n = 0;
	int err = 0;

	if (place->module)
		n = trc_symbols_find(s->m->symbols, trc_reader_module(s->m->reader, place->module),
				     place->address, symbol);
	else if (place->address == TRC_FRAMES_ELIDED - 1)
		symbol[n++] = (struct trc_symbol){.function = TRC_FRAMES_ELIDED_NAME};
	else if (trc_jit_find(s->m->jit, place->address))
		symbol[n++] =
			(struct trc_symbol){.function = trc_jit_find(s->m->jit, place->address)};
	place->first_frame = (uint32_t)s->m->frame.n;
	place->n_frames = n ? (uint32_t)n : 1;
	for (uint32_t i = 0; i < place->n_frames && !err; i++)
		err = frame_add(s, place, n ? &symbol[i] : NULL);
	return err;
}

/* The place of an address in a module, resolved; NULL without memory. */
static const struct place *symbolize_place(struct symbolize *s, uint64_t address, uint32_t module)
{
	uint32_t first = trc_index_get(&s->place_row, address);
	struct place *place;

	for (uint32_t i = first; i != TRC_INDEX_NONE;) {
		place = (struct place *)s->places.row + i;
		if (place->module == module)
			return place;
		i = place->next;
	}
	place = trc_array_add(&s->places);
	if (!place || trc_index_put(&s->place_row, address, (uint32_t)(s->places.n - 1)))
		return NULL;
	place->address = address;
	place->module = module;
	place->next = first;
	return place_resolve(s, place) ? NULL : place;
}

static int symbolize_add_place(struct symbolize *s, uint64_t address, uint32_t module)
{
	const struct place *place = symbolize_place(s, address, module);

	if (!place)
		return -ENOMEM;
	for (uint32_t f = 0; f < place->n_frames; f++) {
		uint32_t *id = trc_array_add(&s->m->stack_frame);

		if (!id)
			return -ENOMEM;
		*id = place->first_frame + f + 1;
	}
	return 0;
}

/* NULL without memory. */
static const struct tails *tails_of(struct symbolize *s, uint64_t return_address, uint32_t module)
{
	uint32_t row = trc_index_get(&s->tails_row, return_address);
	struct tails *tails = row == TRC_INDEX_NONE ? trc_array_add(&s->tails)
						    : (struct tails *)s->tails.row + row;

	if (!tails || (row != TRC_INDEX_NONE && tails->module == module))
		return tails;
	if (row == TRC_INDEX_NONE &&
	    trc_index_put(&s->tails_row, return_address, (uint32_t)(s->tails.n - 1)))
		return NULL;
	tails->module = module; /* the latest that lay there */
	tails->n = (uint32_t)trc_symbols_tail_calls(s->m->symbols,
						    trc_reader_module(s->m->reader, module),
						    return_address, tails->address);
	return tails;
}

/* The innermost frame is the caller of what was recorded, or of a function whose last act that was: it
 * jumped there, and has no frame.  An interrupted instruction is behind no call. */
static int add_tail_calls(struct symbolize *s, uint64_t return_address, uint32_t module)
{
	const struct tails *tails;
	int err = 0;

	if (!module)
		return 0;
	tails = tails_of(s, return_address, module);
	if (!tails)
		return -ENOMEM;
	for (size_t i = 0; i < tails->n && !err; i++)
		err = symbolize_add_place(s, tails->address[i], module);
	return err;
}

static int stack_symbolize(struct symbolize *s, const struct trc_stack_view *view)
{
	int err = 0;

	for (uint32_t i = 0; i < view->n_frames && !err; i++) {
		uint64_t address = view->frame[i] ? view->frame[i] - 1 : 0;
		uint32_t module = module_of(s, address, view->epoch);

		if (!i)
			err = add_tail_calls(s, view->frame[i], module);
		if (!err)
			err = symbolize_add_place(s, address, module);
	}
	return err;
}

static int stacks_symbolize(struct symbolize *s)
{
	struct trc_model *m = s->m;
	size_t n = trc_reader_stacks(m->reader);
	int err = 0;

	m->stack_first = calloc(n + 1, sizeof(*m->stack_first));
	if (!m->stack_first)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		struct trc_stack_view view;

		m->stack_first[i] = (uint32_t)m->stack_frame.n;
		if (!trc_reader_stack(m->reader, (uint32_t)i, &view))
			err = stack_symbolize(s, &view);
		if (i % 1024 == 1023)
			trc_model_report_progress(m, "looking up symbols", (double)i / (double)n);
	}
	m->stack_first[n] = (uint32_t)m->stack_frame.n;
	m->stacks = (struct trc_stacks){.n_stacks = n,
					.stack_first = m->stack_first,
					.stack_frame = m->stack_frame.row,
					.n_frames = m->frame.n,
					.frame = m->frame.row,
					.origin = m->frame_origin.row};
	return err;
}

void trc_model_share_symbols(struct trc_model *m, struct trc_symbols **symbols)
{
	m->shared_symbols = symbols;
}

static int open_symbols(struct trc_model *m)
{
	struct trc_symbols **symbols = m->shared_symbols ? m->shared_symbols : &m->symbols;
	int err = *symbols ? 0 : trc_symbols_open(symbols, TRC_SYMBOLS_FETCHED);

	m->symbols = *symbols;
	return err;
}

int trc_derive_symbols(struct trc_model *m, struct trc_error *error)
{
	struct symbolize s = {.m = m,
			      .places = {.row_bytes = sizeof(struct place)},
			      .tails = {.row_bytes = sizeof(struct tails)}};
	int err = open_symbols(m);

	if (!err) {
		m->jit = trc_jit_open(m->reader);
		err = stacks_symbolize(&s);
	}
	trc_index_free(&s.place_row);
	trc_array_free(&s.places);
	trc_index_free(&s.tails_row);
	trc_array_free(&s.tails);
	if (err) {
		snprintf(error->text, sizeof(error->text), "symbols: out of memory");
		trc_derive_symbols_free(m);
	}
	return err;
}

struct trc_symbols *trc_model_symbols(const struct trc_model *m)
{
	return m->symbols;
}

/* When it was used: by a stack's epoch, or else at the end. */
static bool was_loaded(const struct trc_model *m, const struct trc_module_entry *module,
		       uint32_t stack)
{
	struct trc_stack_view view;

	if (!stack || trc_reader_stack(m->reader, stack, &view))
		return module->last_epoch == UINT32_MAX;
	return view.epoch >= module->first_epoch && view.epoch <= module->last_epoch;
}

/* The module whose data could lie there: the last that begins at or below the address. */
static const struct trc_module_entry *module_below(const struct trc_model *m, uint64_t address,
						   uint32_t stack)
{
	enum { REACH_BYTES = 1 << 30 };
	const struct trc_module_entry *best = NULL;

	for (uint32_t i = 1; i < trc_reader_modules(m->reader); i++) {
		const struct trc_module_entry *module = trc_reader_module(m->reader, i);

		if (module && module->start <= address && address - module->start < REACH_BYTES &&
		    (!best || module->start > best->start) && was_loaded(m, module, stack))
			best = module;
	}
	return best;
}

const char *trc_model_variable(const struct trc_model *m, uint64_t address, uint32_t stack,
			       uint64_t *offset)
{
	const struct trc_module_entry *module = module_below(m, address, stack);

	*offset = 0;
	return m->symbols && module ? trc_symbols_variable(m->symbols, module, address, offset)
				    : NULL;
}

bool trc_model_data_name(char out[TRC_DATA_NAME_BYTES], const struct trc_model *m, uint64_t address,
			 uint32_t stack)
{
	const struct trc_module_entry *module = module_below(m, address, stack);
	char name[TRC_PROGRAM_NAME_BYTES];
	const char *section;
	uint64_t offset;

	section = m->symbols && module ? trc_symbols_section(m->symbols, module, address, &offset)
				       : NULL;
	if (!section)
		return false;
	snprintf(out, TRC_DATA_NAME_BYTES, "%s %s+0x%" PRIx64,
		 trc_module_name(name, m->reader, module), section, offset);
	return true;
}

const char *trc_model_member(const struct trc_model *m, uint64_t address, uint32_t stack,
			     uint64_t *offset)
{
	const struct trc_module_entry *module = module_below(m, address, stack);

	*offset = 0;
	return m->symbols && module ? trc_symbols_member(m->symbols, module, address, offset) : "";
}

void trc_derive_symbols_free(struct trc_model *m)
{
	free(m->stack_first);
	m->stack_first = NULL;
	trc_array_free(&m->stack_frame);
	trc_array_free(&m->frame);
	trc_array_free(&m->frame_origin);
	m->stacks = (struct trc_stacks){0};
	trc_jit_close(m->jit);
	m->jit = NULL;
	if (m->symbols && !m->shared_symbols)
		trc_symbols_close(m->symbols);
	m->symbols = NULL;
}
