/* write.c - what recorders have counted, as a profile for a writer. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "format/sampled.h"
#include "kind.h"

enum { COMMENTS_MAX = 64, COMMENT_BYTES = TRC_SAMPLED_TEXT_BYTES + 32 };

struct writing {
	const struct trc_encode_module *module;
	struct trc_encoder *encoder;
	struct trc_encode_info info;
	uint32_t first_type; /* of the recorder whose samples come */
	int64_t value[TRC_ENCODE_TYPES_MAX];
	bool skip;	  /* ... */
	char text[16384]; /* a row's labels, terminated */
	const char *comment[COMMENTS_MAX];
	char comments[COMMENTS_MAX][COMMENT_BYTES];
};

void trc_taken_free(struct trc_taken *taken)
{
	for (unsigned int i = 0; i < taken->n_folded; i++)
		trc_folded_free(taken->folded[i]);
	free(taken->rows);
	free(taken->rows_before);
	free(taken->modules.module);
	*taken = (struct trc_taken){.n_folded = 0};
}

/* ---- the header ------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static void comment(struct writing *w, const char *format,
							  ...)
{
	char *text = w->comments[w->info.n_comments];
	va_list args;

	if (w->info.n_comments == COMMENTS_MAX)
		return;
	va_start(args, format);
	vsnprintf(text, COMMENT_BYTES, format, args);
	va_end(args);
	w->comment[w->info.n_comments++] = text;
}

static const char *verb_was(uint64_t n)
{
	return n == 1 ? " was" : "s were";
}

static void comment_lost_samples(struct writing *w, const char *name,
				 const struct trc_folded_head *sum)
{
	for (unsigned int cause = 0; cause < TRC_SAMPLE_LOSS_COUNT; cause++)
		if (sum->lost_by_cause[cause])
			comment(w, "%s: %" PRIu64 " sample%s lost: %s", name,
				sum->lost_by_cause[cause], verb_was(sum->lost_by_cause[cause]),
				trc_sample_loss_name(cause));
}

/* What is missing, in every profile of that time. */
static void write_comment_lost(struct writing *w, const char *name, const struct trc_taken *taken)
{
	struct trc_folded_head sum = {.lost_events = 0}, head;

	for (unsigned int i = 0; i < taken->n_folded; i++) {
		trc_folded_head(taken->folded[i], &head);
		if (head.lost_events > sum.lost_events) /* of one time for all views */
			sum.lost_events = head.lost_events;
		for (int cause = 0; cause < TRC_SAMPLE_LOSS_COUNT; cause++)
			sum.lost_by_cause[cause] += head.lost_by_cause[cause];
		sum.left_out += head.left_out;
		sum.without_stack += head.without_stack;
	}
	/* How many were overwritten nobody has counted. */
	if (sum.lost_events && !taken->overwritten_percent)
		comment(w, "%s: %" PRIu64 " event%s lost while this was recorded", name,
			sum.lost_events, verb_was(sum.lost_events));
	if (taken->overwritten_percent)
		comment(w, "%s: about %u%% of what was recorded was overwritten before it was read",
			name, taken->overwritten_percent);
	comment_lost_samples(w, name, &sum);
	if (taken->missing_threads)
		comment(w, "%s: %" PRIu64 " thread%s not sampled", name, taken->missing_threads,
			verb_was(taken->missing_threads));
	if (sum.left_out)
		comment(w,
			"%s: %" PRIu64 " %s left out, as there was no room, or events that "
			"might concern them were lost",
			name, sum.left_out, sum.left_out == 1 ? "is" : "are");
	if (sum.without_stack)
		comment(w, "%s: %" PRIu64 " %s no stack or labels, as there was no room", name,
			sum.without_stack, sum.without_stack == 1 ? "has" : "have");
}

/* ---- samples that were lost ------------------------------------------------------------- */

/* With one part in so many, or more, not sampled nothing is made up for: as the analyzer does. */
enum { UNSEEN_PART = 10 };

/* CPU: other samples stand for those that were lost, all alike: whose they were is not kept. */
struct made_up {
	double factor;	/* of values */
	int64_t unseen; /* what no sample stands for */
	double sampled;
};

static struct made_up made_up_of(const struct trc_taken *taken)
{
	struct made_up up = {.factor = 1};
	double lost = 0, alone = 0;
	struct trc_folded_head head = {.lost_events = 0};
	struct trc_folded_row row;

	for (unsigned int v = 0; v < taken->n_folded; v++) {
		trc_folded_head(taken->folded[v], &head);
		if (head.options.kind != TRC_VIEW_CPU)
			return up;
		lost += (double)head.lost_value;
		alone += (double)head.alone_value;
		for (uint32_t i = 0; i < trc_folded_rows(taken->folded[v]); i++) {
			trc_folded_row(taken->folded[v], i, &row);
			up.sampled += (double)row.value[1];
		}
	}
	if (up.sampled / (UNSEEN_PART - 1) > lost)
		up.factor = (up.sampled + lost - alone) / up.sampled;
	else
		alone = lost;
	up.unseen = alone < 0x1p63 ? (int64_t)alone : INT64_MAX;
	return up;
}

static int64_t value_scaled(int64_t value, double factor)
{
	double product = (double)value * factor + 0.5;

	return factor <= 1 ? value : product < 0x1p63 ? (int64_t)product : INT64_MAX;
}

static void comment_made_up(struct writing *w, const char *name, const struct made_up *up)
{
	if (up->factor > 1)
		comment(w, "%s: values have %.1f %% added for samples that were lost", name,
			100 * (up->factor - 1));
	if (up->unseen)
		comment(w, "%s: %.1f %% was not sampled: it is in (not sampled)", name,
			100 * (double)up->unseen / ((double)up->unseen + up->factor * up->sampled));
}

static bool has_type(const struct trc_encode_info *info, uint32_t n, const char *type)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(info->type[i].type, type))
			return true;
	return false;
}

/* Of several recorders that would call theirs the same, each later one has its kind before it. */
static int add_types(struct writing *w, const struct trc_encode_info *one, const char *kind,
		     char (*names)[64])
{
	struct trc_encode_info *info = &w->info;

	for (uint32_t i = 0; i < one->n_types; i++) {
		uint32_t at = info->n_types;

		if (at == TRC_ENCODE_TYPES_MAX)
			return -E2BIG;
		info->type[at] = one->type[i];
		for (int number = 1; has_type(info, at, info->type[at].type); number++) {
			char count[16] = "";

			if (number > 1)
				snprintf(count, sizeof(count), "%d", number);
			snprintf(names[at], sizeof(names[at]), "%.24s%s_%.24s", kind, count,
				 one->type[i].type);
			info->type[at].type = names[at];
		}
		info->n_types++;
	}
	return 0;
}

static int writing_describe(struct writing *w, struct trace_recorder *const *r, size_t n,
			    const struct trc_taken *taken, char (*names)[64])
{
	char text[TRC_SAMPLED_TEXT_BYTES];
	struct made_up up;
	int err = 0;

	w->info.text = r[0]->text;
	w->info.begin_realtime_ns = taken->begin_realtime_ns;
	w->info.duration_ns = taken->duration_ns;
	for (size_t i = 0; i < n && !err; i++) {
		struct trc_encode_info one = {.name = r[i]->kind->name};

		r[i]->kind->describe(r[i], &one);
		if (!i) {
			w->info.name = one.name;
			w->info.style = n == 1 ? one.style : TRC_STYLE_VALUES;
			w->info.default_type = one.default_type;
			w->info.period_type = one.period_type;
			w->info.period = one.period;
		}
		err = add_types(w, &one, one.name, names);
		if (r[i]->kind->remark) {
			r[i]->kind->remark(r[i], text);
			comment(w, "%s: %s", one.name, text);
		}
		write_comment_lost(w, one.name, &taken[i]);
		up = made_up_of(&taken[i]);
		comment_made_up(w, one.name, &up);
	}
	w->info.comment = w->comment;
	return err;
}

/* ---- samples --------------------------------------------------------------------------- */

/* Among the values of all recorders those of one. */
static void sample_emit(void *context, const struct trc_encode_sample *sample)
{
	struct writing *w = context;
	struct trc_encode_sample wide = *sample;

	wide.value = w->value;
	wide.skip = w->skip;
	w->module->sample(w->encoder, &wide);
}

size_t trc_recorder_labels(const struct trc_label *from, uint32_t n, struct trc_pprof_label *to,
			   char *text, size_t n_bytes)
{
	size_t n_labels = 0, used = 0;

	for (; n_labels < n; n_labels++) {
		const struct trc_label *l = &from[n_labels];
		char *key = text + used, *value = key + l->key_bytes + 1;

		if (used + l->key_bytes + l->value_bytes + 2 > n_bytes)
			break;
		used += l->key_bytes + l->value_bytes + 2;
		memcpy(key, l->key, l->key_bytes);
		memcpy(value, l->value, l->value_bytes);
		key[l->key_bytes] = value[l->value_bytes] = '\0';
		to[n_labels] = (struct trc_pprof_label){
			.key = key,
			.text = l->is_number ? NULL : value,
			.number = l->number,
			.unit = l->is_number && *value ? value : NULL,
		};
	}
	return n_labels;
}

static void emit_row(struct writing *w, const struct trc_folded *folded, uint32_t i,
		     uint32_t n_types, double factor)
{
	struct trc_pprof_label label[TRC_LABELS_MAX];
	struct trc_label from[TRC_LABELS_MAX];
	struct trc_encode_sample sample = {.label = label};
	struct trc_folded_row row;

	trc_folded_row(folded, i, &row);
	sample.n_labels = trc_recorder_labels(from, trc_folded_labels(folded, &row, from), label,
					      w->text, sizeof(w->text));
	sample.frame = row.frame;
	sample.n_frames = row.n_frames;
	sample.epoch = row.epoch;
	row.value[1] = value_scaled(row.value[1], factor); /* of kinds with two values or more */
	memcpy(&w->value[w->first_type], row.value, n_types * sizeof(*row.value));
	sample_emit(w, &sample);
}

static void emit_unseen(struct writing *w, int64_t unseen)
{
	const struct trc_encode_sample sample = {.words = "(not sampled)"};

	w->value[w->first_type] = 0;
	w->value[w->first_type + 1] = unseen;
	sample_emit(w, &sample);
}

/* Kinds without views have one type. */
static void emit_own(void *context, const struct trc_encode_sample *sample)
{
	struct writing *w = context;

	w->value[w->first_type] = sample->value[0];
	sample_emit(w, sample);
}

static void emit_all(struct writing *w, struct trace_recorder *const *r, size_t n,
		     const struct trc_taken *taken)
{
	for (size_t i = 0; i < n; i++) {
		struct trc_encode_info one = {.name = r[i]->kind->name};
		struct made_up up;

		r[i]->kind->describe(r[i], &one);
		w->skip = one.skip;
		memset(w->value, 0, sizeof(w->value));
		up = made_up_of(&taken[i]);
		if (up.unseen)
			emit_unseen(w, up.unseen);
		for (unsigned int v = 0; v < taken[i].n_folded; v++)
			for (uint32_t row = 0; row < trc_folded_rows(taken[i].folded[v]); row++)
				emit_row(w, taken[i].folded[v], row, one.n_types, up.factor);
		if (r[i]->kind->emit)
			r[i]->kind->emit(r[i], &taken[i], emit_own, w);
		w->first_type += one.n_types;
	}
}

/* ---- all of it ------------------------------------------------------------------------- */

static int writing_encode(struct writing *w, struct trace_recorder *const *r, size_t n,
			  const struct trc_taken *taken, const struct trace_writer *writer)
{
	char(*names)[64] = calloc(TRC_ENCODE_TYPES_MAX, sizeof(*names));
	int err = names ? writing_describe(w, r, n, taken, names) : -ENOMEM;

	if (!err)
		err = w->module->open(&w->encoder, &w->info);
	if (!err) {
		emit_all(w, r, n, taken);
		err = w->module->write(w->encoder, writer->write, writer->context);
		w->module->close(w->encoder);
	}
	free(names);
	return err;
}

int trc_recorders_write(struct trace_recorder *const *r, size_t n, const struct trc_taken *taken,
			const struct trace_writer *writer, char why[static TRC_RECORDER_WHY_BYTES])
{
	const struct trc_encode_module *module = trc_encode_load(why, TRC_RECORDER_WHY_BYTES);
	struct writing *w = module ? calloc(1, sizeof(*w)) : NULL;
	int err = !module ? -ENOENT : w ? 0 : -ENOMEM;

	if (!err)
		err = module->names_open(&w->info.names, taken->modules.module,
					 taken->modules.n_modules);
	if (!err) {
		w->module = module;
		module->names_while(w->info.names, r[0]->wanted);
		err = writing_encode(w, r, n, taken, writer);
		module->names_close(w->info.names);
	}
	free(w);
	return err;
}
