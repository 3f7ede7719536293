/* schema.c - the tables of schema.h, generated from it. */
#include <stddef.h>
#include "check.h"
#include "schema.h"
#include "schema_wire.h"
#include "varint.h"

/* clang-format off */
static const struct trc_kind_info kinds[TRC_KIND_MAX + 1] = {
#define TRC_EVENT(kind, minor_, NAME, name_, doc_) \
	[kind].name = #name_, [kind].doc = doc_, [kind].minor = minor_, [kind].arg = {
#define TRC_ARG(TYPE, name_, doc_) { TRC_ARG_##TYPE, #name_, doc_ },
#define TRC_END },
	TRC_SCHEMA(TRC_EVENT, TRC_ARG, TRC_END)
#undef TRC_EVENT
#undef TRC_ARG
#undef TRC_END
#define TRC_EVENT(kind, minor, NAME, name, doc) [kind].n_args = 0
#define TRC_ARG(TYPE, name, doc) + 1
#define TRC_END ,
	TRC_SCHEMA(TRC_EVENT, TRC_ARG, TRC_END)
#undef TRC_EVENT
#undef TRC_ARG
#undef TRC_END
};
/* clang-format on */

static const char *const arg_type_names[TRC_ARG_TYPE_COUNT] = {
#define TRC_T(NAME, name) [TRC_ARG_##NAME] = #name,
	TRC_ARG_TYPES(TRC_T) TRC_ARG_OWN_TYPES(TRC_T)
#undef TRC_T
};

static const struct {
	const char *name, *doc;
} reasons[TRC_REASON_COUNT] = {
#define TRC_R(number, NAME, name_, doc_) [number] = {#name_, doc_},
	TRC_REASONS(TRC_R) TRC_DERIVED_REASONS(TRC_R)
#undef TRC_R
};

static const char *const gap_causes[TRC_GAP_CAUSE_COUNT] = {
#define TRC_C(number, NAME, name, doc) [number] = #name,
	TRC_GAP_CAUSES(TRC_C)
#undef TRC_C
};

static const char *const sample_losses[TRC_SAMPLE_LOSS_COUNT] = {
#define TRC_C(number, NAME, name, doc) [number] = #name,
	TRC_SAMPLE_LOSSES(TRC_C)
#undef TRC_C
};

static const char *const process_whats[TRC_PROCESS_WHAT_COUNT] = {
#define TRC_W(number, NAME, name, doc) [number] = #name,
	TRC_PROCESS_WHATS(TRC_W)
#undef TRC_W
};

static const char *const sample_hows[TRC_SAMPLE_HOW_COUNT] = {
#define TRC_H(number, NAME, name, doc) [number] = #name,
	TRC_SAMPLE_HOWS(TRC_H)
#undef TRC_H
};

const struct trc_kind_info *trc_kind_info(unsigned int kind)
{
	return &kinds[kind <= TRC_KIND_MAX ? kind : 0];
}

const char *trc_arg_type_name(unsigned int type)
{
	return type < TRC_ARG_TYPE_COUNT && arg_type_names[type] ? arg_type_names[type] : "?";
}

enum trc_arg_type trc_arg_file_type(enum trc_arg_type type)
{
	return type < TRC_ARG_FILE_TYPE_COUNT ? type : TRC_ARG_U64;
}

/* A type whose numbers have names; none: not an enum. */
static const struct {
	const char *const *name;
	unsigned int n;
} enums[TRC_ARG_TYPE_COUNT] = {
	[TRC_ARG_GAP_CAUSE] = {gap_causes, TRC_GAP_CAUSE_COUNT},
	[TRC_ARG_PROCESS_WHAT] = {process_whats, TRC_PROCESS_WHAT_COUNT},
	[TRC_ARG_SAMPLE_LOSS] = {sample_losses, TRC_SAMPLE_LOSS_COUNT},
};

bool trc_arg_type_is_enum(enum trc_arg_type type)
{
	return enums[type].name != NULL;
}

const char *trc_arg_value_name(enum trc_arg_type type, uint64_t value)
{
	if (!enums[type].name)
		return NULL;
	return value < enums[type].n && enums[type].name[value] ? enums[type].name[value] : "?";
}

const char *trc_reason_name(unsigned int reason)
{
	return reason < TRC_REASON_COUNT && reasons[reason].name ? reasons[reason].name : "?";
}

const char *trc_reason_doc(unsigned int reason)
{
	return reason < TRC_REASON_COUNT && reasons[reason].doc ? reasons[reason].doc : "";
}

const char *trc_gap_cause_name(unsigned int cause)
{
	return cause < TRC_GAP_CAUSE_COUNT && gap_causes[cause] ? gap_causes[cause] : "?";
}

const char *trc_sample_loss_name(unsigned int cause)
{
	return cause < TRC_SAMPLE_LOSS_COUNT && sample_losses[cause] ? sample_losses[cause] : "?";
}

const char *trc_sample_how_name(unsigned int how)
{
	return how < TRC_SAMPLE_HOW_COUNT && sample_hows[how] ? sample_hows[how] : "?";
}

bool trc_reason_is_lock(unsigned int reason)
{
	switch (reason) {
	case TRC_REASON_MUTEX:
	case TRC_REASON_RWLOCK_READ:
	case TRC_REASON_RWLOCK_WRITE:
	case TRC_REASON_SPIN:
	case TRC_REASON_COND_MUTEX:
	case TRC_REASON_FUTEX_LOCK:
	case TRC_REASON_SEM_LOCK:
		return true;
	default:
		return false;
	}
}

static uint8_t *name_put(uint8_t *p, const char *name)
{
	size_t n_bytes = strlen(name);

	p = trc_varint_put(p, n_bytes);
	memcpy(p, name, n_bytes);
	return p + n_bytes;
}

static uint8_t *put_kind(uint8_t *p, unsigned int kind)
{
	const struct trc_kind_info *info = &kinds[kind];

	p = trc_varint_put(p, kind);
	p = name_put(p, info->name);
	p = trc_varint_put(p, info->n_args);
	for (unsigned int a = 0; a < info->n_args; a++) {
		p = trc_varint_put(p, (unsigned int)trc_arg_file_type(info->arg[a].type));
		p = name_put(p, info->arg[a].name);
	}
	return p;
}

size_t trc_schema_put(uint8_t *out)
{
	uint8_t *p = out;
	unsigned int n_kinds = 0, n_reasons = 0;

	for (unsigned int k = 1; k <= TRC_KIND_MAX; k++)
		n_kinds += kinds[k].name != NULL;
	p = trc_varint_put(p, n_kinds);
	for (unsigned int k = 1; k <= TRC_KIND_MAX; k++)
		if (kinds[k].name)
			p = put_kind(p, k);
	for (unsigned int r = 1; r < TRC_REASON_RECORDED; r++)
		n_reasons += reasons[r].name != NULL;
	p = trc_varint_put(p, n_reasons);
	for (unsigned int r = 1; r < TRC_REASON_RECORDED; r++) {
		if (!reasons[r].name)
			continue;
		p = trc_varint_put(p, r);
		p = name_put(p, reasons[r].name);
	}
	return (size_t)(p - out);
}

uint64_t trc_schema_hash(void)
{
	uint8_t bytes[TRC_SCHEMA_BYTES_MAX];

	return trc_check64(bytes, trc_schema_put(bytes), 0);
}
