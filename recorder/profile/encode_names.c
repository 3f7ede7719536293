/*
 * encode_names.c - from return addresses to modules and functions.
 *
 * Each address is looked up once for each module around it, and the answer is remembered.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "encode_private.h"
#include "format/module_owner.h"
#include "format/row_index.h"

struct place_key {
	uint64_t address;
	const struct trc_module_entry *module;
};

/* What is known of an address in a module. */
struct place {
	struct place_key key;
	struct trc_symbol *symbol; /* [n_symbols], innermost first */
	size_t n_symbols;
};

struct trc_names {
	const struct trc_module_entry *module; /* the caller's */
	size_t n_modules;
	const struct trc_module_entry *last_module;
	struct trc_symbols *symbols;
	struct trc_keyed_rows places;		/* struct place */
	const struct trc_encode_wanted *wanted; /* NULL = to the end */
	bool given_up;
};

/* ---- modules --------------------------------------------------------------------------- */

static bool entry_covers(const struct trc_module_entry *m, uint64_t address, uint32_t epoch)
{
	return address >= m->start && address < m->limit &&
	       (!epoch || (epoch >= m->first_epoch && epoch <= m->last_epoch));
}

static const struct trc_module_entry *names_module(struct trc_names *names, uint64_t address,
						   uint32_t epoch)
{
	if (names->last_module && entry_covers(names->last_module, address, epoch))
		return names->last_module;
	for (size_t i = 0; i < names->n_modules; i++)
		if (entry_covers(&names->module[i], address, epoch))
			return names->last_module = &names->module[i];
	return NULL;
}

const struct trc_module_entry *trc_names_program(const struct trc_names *names)
{
	return names->n_modules ? &names->module[0] : NULL;
}

size_t trc_names_modules(const struct trc_names *names)
{
	return names->n_modules;
}

size_t trc_names_index(const struct trc_names *names, const struct trc_module_entry *module)
{
	return (size_t)(module - names->module);
}

/* Since when there is in this place what there is in `epoch`, be it nothing. */
static uint32_t module_since(struct trc_names *names, uint64_t address, uint32_t epoch)
{
	const struct trc_module_entry *m = names_module(names, address, epoch);
	uint32_t first = 0;

	if (m)
		return m->first_epoch;
	for (size_t i = 0; i < names->n_modules; i++) {
		m = &names->module[i];
		if (address >= m->start && address < m->limit && m->last_epoch < epoch &&
		    m->last_epoch >= first)
			first = m->last_epoch + 1;
	}
	return first;
}

uint32_t trc_names_since(struct trc_names *names, const struct trc_encode_sample *sample,
			 uint32_t skip)
{
	uint32_t first = 0;

	for (uint32_t i = skip; sample->epoch && i < sample->n_frames; i++) {
		uint64_t frame = sample->frame[i];
		uint32_t one = frame ? module_since(names, frame - 1, sample->epoch) : 0;

		if (one > first)
			first = one;
	}
	return first;
}

/* As the analyzer leaves them out of the same profiles. */
uint32_t trc_encode_skip(const struct trc_encode_info *info, const struct trc_encode_sample *sample)
{
	struct trc_names *names = info->names;
	uint32_t n_trc = 0;
	bool only_trc = true;

	if (!info->skip && !sample->skip)
		return 0;
	for (uint32_t i = 0; i < sample->n_frames; i++) {
		const struct trc_module_entry *m =
			sample->frame[i] ? names_module(names, sample->frame[i] - 1, sample->epoch)
					 : NULL;
		enum trc_module_owner owner = trc_module_owner(m ? m->path : NULL);

		if (owner == TRC_OWNER_PROGRAM)
			return i;
		only_trc = only_trc && owner == TRC_OWNER_TRC;
		if (only_trc)
			n_trc = i + 1;
	}
	return n_trc < sample->n_frames ? n_trc : 0;
}

/* ---- places ---------------------------------------------------------------------------- */

static bool are_wanted(struct trc_names *names)
{
	if (names->wanted && !names->given_up)
		names->given_up = !names->wanted->is(names->wanted->context);
	return !names->given_up;
}

static void names_place_resolve(struct trc_names *names, struct place *place)
{
	struct trc_symbol symbol[TRC_SYMBOL_INLINE_MAX];
	size_t n = are_wanted(names) ? trc_symbols_find(names->symbols, place->key.module,
							place->key.address, symbol)
				     : 0;

	place->symbol = n ? malloc(n * sizeof(*symbol)) : NULL;
	if (!place->symbol)
		return;
	memcpy(place->symbol, symbol, n * sizeof(*symbol));
	place->n_symbols = n;
}

/* NULL: the address lies in no module, or there is no memory. */
static const struct place *names_place(struct trc_names *names, uint32_t epoch,
				       uint64_t return_address)
{
	uint64_t address = return_address ? return_address - 1 : 0;
	const struct trc_module_entry *module =
		address ? names_module(names, address, epoch) : NULL;
	const struct place_key key = {address, module};
	struct place *place;
	bool added;

	if (!module)
		return NULL;
	place = trc_keyed_rows_find(&names->places, &key, &added);
	if (place && added)
		names_place_resolve(names, place);
	return place;
}

size_t trc_names_find(struct trc_names *names, uint32_t epoch, uint64_t return_address,
		      struct trc_symbol out[TRC_SYMBOL_INLINE_MAX],
		      const struct trc_module_entry **module)
{
	const struct place *place = names_place(names, epoch, return_address);

	if (module)
		*module = place ? place->key.module : NULL;
	if (return_address == TRC_FRAMES_ELIDED) {
		*out = (struct trc_symbol){.function = TRC_FRAMES_ELIDED_NAME};
		return 1;
	}
	if (!place || !place->n_symbols)
		return 0;
	memcpy(out, place->symbol, place->n_symbols * sizeof(*out));
	return place->n_symbols;
}

int64_t trc_names_offset(struct trc_names *names, uint32_t epoch, uint64_t return_address)
{
	const struct place *place = names_place(names, epoch, return_address);
	uint64_t start =
		place && !names->given_up
			? trc_symbols_start(names->symbols, place->key.module, place->key.address)
			: 0;

	return start && start <= place->key.address ? (int64_t)(return_address - start) : -1;
}

void trc_names_while(struct trc_names *names, const struct trc_encode_wanted *wanted)
{
	names->wanted = wanted;
}

int trc_names_error(const struct trc_names *names)
{
	return names->given_up ? -ECANCELED : 0;
}

/* ---- open and close -------------------------------------------------------------------- */

int trc_names_open(struct trc_names **out, const struct trc_module_entry *module, size_t n_modules)
{
	struct trc_names *names = calloc(1, sizeof(*names));
	int err = names ? trc_symbols_open(&names->symbols, TRC_SYMBOLS_READ) : -ENOMEM;

	if (err) {
		free(names);
		return err;
	}
	names->places.row_bytes = sizeof(struct place);
	names->places.key_bytes = sizeof(struct place_key);
	names->module = module;
	names->n_modules = n_modules;
	*out = names;
	return 0;
}

void trc_names_close(struct trc_names *names)
{
	struct place *place;

	if (!names)
		return;
	place = names->places.row;
	for (size_t i = 0; i < names->places.n; i++)
		free(place[i].symbol);
	trc_keyed_rows_free(&names->places);
	trc_symbols_close(names->symbols);
	free(names);
}
