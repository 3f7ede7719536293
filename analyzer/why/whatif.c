/* whatif.c - see whatif.h. */
#include "whatif.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include "analyzer/text/json.h"
#include "analyzer/text/line.h"
#include "analyzer/whatif/whatif.h"

enum {
	TYPES_SHOWN = 20,
	NAME_COLUMNS = 30,
	PERCENT_TRUSTED = 10,
	NUMBER_COLUMNS = 12,
	SET_IN = 2,
	WRAP_WIDTH = 100 /* sentences read badly in longer lines */
};

struct what_if {
	struct trc_whatif result;
	FILE *out;
	const struct trc_report_options *options;
};

static void what_if_line_begin(const struct what_if *w, struct trc_line *line)
{
	trc_line_begin(line, w->options->width ? w->options->width : 100, w->options->colour);
}

static void end(const struct what_if *w, struct trc_line *line)
{
	trc_line_print(line, w->out);
}

/* ---- what is wrong with it ---- */

/* An alarm, or a plain note that is set in; in as many lines as a terminal needs. */
static void say(const struct what_if *w, enum trc_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(const struct what_if *w, enum trc_style style, const char *format, ...)
{
	char text[512], part[512];
	int indent = style == TRC_STYLE_PLAIN ? SET_IN : 0, next_indent = indent + SET_IN;
	struct trc_line line;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (const char *at = text; *at; at += strspn(at, " ")) {
		size_t n;

		what_if_line_begin(w, &line);
		n = trc_text_fitting(at,
				     (line.limit < WRAP_WIDTH ? line.limit : WRAP_WIDTH) - indent);
		snprintf(part, sizeof(part), "%.*s", (int)n, at);
		trc_line_style(&line, style);
		trc_line_to(&line, indent);
		trc_line_data(&line, part, TRC_WIDTH_MAX);
		trc_line_style(&line, TRC_STYLE_PLAIN);
		end(w, &line);
		at += n;
		indent = next_indent;
	}
}

static void print_doubts(const struct what_if *w, const struct trc_model *m)
{
	const struct trc_whatif *r = &w->result;
	const char *damage = trc_reader_warning(trc_model_reader(m));
	char number[TRC_NUMBER_BYTES];

	if (r->error * 100 > PERCENT_TRUSTED)
		say(w, TRC_STYLE_ALARM,
		    "Rough: without any change the replay is up to %.0f%% off the recording",
		    r->error * 100);
	if (r->n_fibers)
		say(w, TRC_STYLE_ALARM,
		    "Rough: the program has %s fiber%s, and each thread is replayed with those that "
		    "it ran, in that order",
		    trc_text_count(number, r->n_fibers), r->n_fibers == 1 ? "" : "s");
	if (r->lost_events)
		say(w, TRC_STYLE_ALARM,
		    "Incomplete: %s events were lost, and what they told is not replayed",
		    trc_text_count(number, r->lost_events));
	if (damage)
		say(w, TRC_STYLE_ALARM, "Incomplete: the trace is %s", damage);
}

/* ---- figures ---- */

static void add_number(struct trc_line *line, int64_t ns)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_right(line, NUMBER_COLUMNS, trc_text_duration(number, ns));
}

static void print_figure(const struct what_if *w, const char *name,
			 const struct trc_whatif_figure *f)
{
	int64_t before_ns = f->from_replay ? f->replayed_ns : f->recorded_ns;
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	what_if_line_begin(w, &line);
	trc_line_add(&line, "    %s", name);
	trc_line_to(&line, 14);
	add_number(&line, f->recorded_ns);
	add_number(&line, f->replayed_ns);
	add_number(&line, f->predicted_ns);
	trc_line_add(&line, f->at_least ? " ≥±" : "  ±");
	trc_line_right(&line, 8, trc_text_duration(number, f->uncertain_ns));
	if (before_ns > 0) {
		snprintf(number, sizeof(number), "%+.1f%%",
			 100 * ((double)f->predicted_ns / (double)before_ns - 1));
		trc_line_right(&line, 10, number);
	}
	end(w, &line);
}

static void print_head(const struct what_if *w, const char *change)
{
	struct trc_line line;

	what_if_line_begin(w, &line);
	trc_line_style(&line, TRC_STYLE_BOLD);
	trc_line_add(&line, "What if ");
	trc_line_data(&line, change, 200);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	end(w, &line);
	what_if_line_begin(w, &line);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_to(&line, 14);
	trc_line_right(&line, NUMBER_COLUMNS, "recorded");
	trc_line_right(&line, NUMBER_COLUMNS, "replayed");
	trc_line_right(&line, NUMBER_COLUMNS, "what if");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	end(w, &line);
}

static void print_types(const struct what_if *w)
{
	const struct trc_whatif_type *type = w->result.types.row;
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	for (size_t i = 0; i < w->result.types.n && i < TYPES_SHOWN; i++) {
		what_if_line_begin(w, &line);
		trc_line_add(&line, "  ");
		trc_line_data(&line, *type[i].name ? type[i].name : "(no type)", NAME_COLUMNS);
		trc_line_add(&line, ", %s task%s", trc_text_count(number, type[i].n),
			     type[i].n == 1 ? "" : "s");
		end(w, &line);
		print_figure(w, "mean", &type[i].mean);
		print_figure(w, "p50", &type[i].p50);
		print_figure(w, "p99", &type[i].p99);
	}
	if (w->result.types.n > TYPES_SHOWN) {
		what_if_line_begin(w, &line);
		trc_line_add(&line, "  and %s more types",
			     trc_text_count(number, w->result.types.n - TYPES_SHOWN));
		end(w, &line);
	}
}

/* ---- what it rests on ---- */

static void print_sections(const struct what_if *w)
{
	const struct trc_whatif *r = &w->result;
	char all[TRC_NUMBER_BYTES], some[TRC_NUMBER_BYTES];

	if (r->all_locks || !r->n_sections)
		return;
	say(w, TRC_STYLE_PLAIN,
	    "of %s critical sections %s have a begin or end that is assumed, and those for which "
	    "nobody waited are not in the trace: trace-record --locks=all has all",
	    trc_text_count(all, r->n_sections), trc_text_count(some, r->n_assumed));
}

static void print_saturated(const struct what_if *w, const struct trc_model *m)
{
	const struct trc_whatif *r = &w->result;
	static const enum trc_reason KINDS[] = {TRC_REASON_MUTEX, TRC_REASON_RWLOCK_WRITE,
						TRC_REASON_SPIN, TRC_REASON_FUTEX_LOCK,
						TRC_REASON_SEM_LOCK};
	const struct trc_object *lock = NULL;
	char address[24];

	if (!r->saturated)
		return;
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(*KINDS) && !lock; i++)
		lock = trc_model_object(m, KINDS[i], r->saturated);
	snprintf(address, sizeof(address), "0x%" PRIx64, r->saturated);
	say(w, TRC_STYLE_PLAIN,
	    "the lock %s is held for %.0f%% of the run: who gets it next decides p50 and p99 of tasks that wait for "
	    "it, which are those of the replay; the mean and the run's length hardly depend on it",
	    lock ? lock->name : address, r->saturated_share * 100);
}

/* whatif:W4 */
static void print_unbounded(const struct what_if *w)
{
	const struct trc_whatif_type *type = w->result.types.row;
	bool any = false;

	for (size_t i = 0; i < w->result.types.n && i < TYPES_SHOWN; i++)
		any |= type[i].mean.at_least || type[i].p50.at_least || type[i].p99.at_least;
	if (any)
		say(w, TRC_STYLE_PLAIN,
		    "≥±: so few tasks lie beyond that nothing says how far off it may be; record more");
}

static void print_basis(const struct what_if *w, const struct trc_model *m)
{
	const struct trc_whatif *r = &w->result;
	char number[TRC_NUMBER_BYTES], count[TRC_NUMBER_BYTES];

	fputc('\n', w->out);
	if (r->changed_ns)
		say(w, TRC_STYLE_PLAIN, "the change is to %s of the threads' time, summed",
		    trc_text_duration(number, r->changed_ns));
	print_unbounded(w);
	print_sections(w);
	if (r->no_samples)
		say(w, TRC_STYLE_PLAIN,
		    "no samples: the function's time on processors is a guess from where threads "
		    "waited (trace-record -F 1000)");
	if (r->n_sampled)
		say(w, TRC_STYLE_PLAIN,
		    "the functions have %s samples: their time is known to ±%.0f%%, which is in the ±",
		    trc_text_count(number, r->n_sampled), r->sampling_margin * 100);
	print_saturated(w, m);
	if (r->n_kept)
		say(w, TRC_STYLE_PLAIN,
		    r->n_kept == 1
			    ? "%s wait for a lock or a thread, %s, keeps its length: what ended it is not "
			      "known"
			    : "%s waits for locks and threads, %s, keep their length: what ended them is not "
			      "known",
		    trc_text_count(count, r->n_kept), trc_text_duration(number, r->kept_ns));
	if (r->n_forced)
		say(w, TRC_STYLE_PLAIN,
		    r->n_forced == 1 ? "%s wait was ended that the replay would not have ended"
				     : "%s waits were ended that the replay would not have ended",
		    trc_text_count(count, r->n_forced));
	if (r->n_left_out)
		say(w, TRC_STYLE_PLAIN,
		    r->n_left_out == 1
			    ? "%s task that did not end in the trace or in the replay is left out"
			    : "%s tasks that did not end in the trace or in the replay are left out",
		    trc_text_count(count, r->n_left_out));
	say(w, TRC_STYLE_PLAIN,
	    "sleeps, files and clients outside take as long as recorded, and each thread does what it did");
	say(w, TRC_STYLE_PLAIN,
	    "\xc2\xb1 holds in 19 of 20 runs where other programs take as much of the machine as then: of "
	    "busier or calmer times it knows nothing");
}

static int whatif_make(struct trc_whatif *w, struct trc_model *m, const char *change,
		       struct trc_error *error)
{
	int err;

	*w = (struct trc_whatif){.types = {.row_bytes = sizeof(struct trc_whatif_type)}};
	err = trc_model_need(m, TRC_PART_ALL | TRC_PART_OBJECTS, error);
	return err ? err : trc_whatif_make(w, m, change, error);
}

int trc_report_what_if(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		       const char *change, struct trc_error *error)
{
	struct what_if w = {.out = out, .options = options};
	struct trc_line line;
	int err = whatif_make(&w.result, m, change, error);

	if (!err) {
		print_doubts(&w, m);
		print_head(&w, change);
		what_if_line_begin(&w, &line);
		trc_line_add(&line, "  the run");
		end(&w, &line);
		print_figure(&w, "length", &w.result.length);
		print_types(&w);
		print_basis(&w, m);
	}
	trc_whatif_free(&w.result);
	return err;
}

/* ---- for programs ---- */

static void json_figure(FILE *out, const char *name, const struct trc_whatif_figure *f)
{
	fprintf(out,
		"\"%s\":{\"recorded_ns\":%" PRId64 ",\"replayed_ns\":%" PRId64
		",\"predicted_ns\":%" PRId64 ",\"uncertain_ns\":%" PRId64 ",\"at_least\":%s}",
		name, f->recorded_ns, f->replayed_ns, f->predicted_ns, f->uncertain_ns,
		f->at_least ? "true" : "false");
}

static void json_types(FILE *out, const struct trc_whatif *w)
{
	const struct trc_whatif_type *type = w->types.row;

	for (size_t i = 0; i < w->types.n; i++) {
		fprintf(out, "%s\n{\"type\":", i ? "," : "");
		trc_json_text(out, type[i].name);
		fprintf(out, ",\"tasks\":%zu,", type[i].n);
		json_figure(out, "mean", &type[i].mean);
		fputc(',', out);
		json_figure(out, "p50", &type[i].p50);
		fputc(',', out);
		json_figure(out, "p99", &type[i].p99);
		fputc('}', out);
	}
}

int trc_report_what_if_json(struct trc_model *m, FILE *out, const char *change,
			    struct trc_error *error)
{
	struct trc_whatif w;
	int err = whatif_make(&w, m, change, error);

	if (!err) {
		fprintf(out, "{\"change\":");
		trc_json_text(out, change);
		fprintf(out,
			",\"replay_error\":%.4f,\"changed_ns\":%" PRId64 ",\"sections\":%" PRIu64
			",\"assumed_sections\":%" PRIu64 ",\"all_locks\":%s,\"kept_waits\":%" PRIu64
			",\"samples\":%" PRIu64 ",\"sampling_margin\":%.4f,\"saturated_share\":%.4f"
			",\"forced_waits\":%" PRIu64 ",\"lost_events\":%" PRIu64
			",\"tasks_left_out\":%zu,\"fibers\":%zu,\n",
			w.error, w.changed_ns, w.n_sections, w.n_assumed,
			w.all_locks ? "true" : "false", w.n_kept, w.n_sampled, w.sampling_margin,
			w.saturated_share, w.n_forced, w.lost_events, w.n_left_out, w.n_fibers);
		json_figure(out, "length", &w.length);
		fprintf(out, ",\n\"types\":[");
		json_types(out, &w);
		fprintf(out, "]}\n");
	}
	trc_whatif_free(&w);
	return err;
}
