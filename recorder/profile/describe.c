/* describe.c - how the profile of each kind describes itself (kind.h). */
#include "kind.h"

void trc_describe_waits(struct trc_encode_info *info, bool mutex, int64_t period)
{
	info->style = mutex ? TRC_STYLE_MUTEX : TRC_STYLE_CONTENTION;
	info->skip = true;
	info->type[0] = (struct trc_encode_type){"contentions", "count"};
	info->type[1] = (struct trc_encode_type){"delay", "nanoseconds"};
	info->n_types = 2;
	info->period_type = info->type[0];
	info->period = period;
}

void trc_describe_offcpu(struct trc_encode_info *info)
{
	info->style = TRC_STYLE_VALUES;
	info->type[0] = (struct trc_encode_type){"events", "count"};
	info->type[1] = (struct trc_encode_type){"delay", "nanoseconds"};
	info->n_types = 2;
	info->period_type = info->type[1];
	info->period = 1;
}

/* How many of something, by stack. */
static void describe_counts(struct trc_encode_info *info, const char *type)
{
	info->style = TRC_STYLE_COUNTS;
	info->type[0] = (struct trc_encode_type){type, "count"};
	info->n_types = 1;
	info->period_type = info->type[0];
	info->period = 1;
}

void trc_describe_threadcreate(struct trc_encode_info *info)
{
	describe_counts(info, "threadcreate");
	info->skip = true;
}

void trc_describe_threads(struct trc_encode_info *info)
{
	describe_counts(info, "threads");
}

void trc_describe_cpu(struct trc_encode_info *info, const struct trc_cpu_event *event)
{
	bool is_clock = !event || event->is_clock;

	info->name = "cpu";
	info->style = TRC_STYLE_VALUES;
	info->type[0] = (struct trc_encode_type){"samples", "count"};
	info->type[1] = (struct trc_encode_type){is_clock ? "cpu" : event->name,
						 is_clock ? "nanoseconds" : "count"};
	info->n_types = 2;
	info->period_type = info->type[1];
}

void trc_remark_cpu(char text[static TRC_SAMPLED_TEXT_BYTES], const struct trc_cpu_event *e)
{
	const struct trc_sampled sampled = {e->name,	 e->period, e->frequency_hz,
					    e->is_clock, e->how,    e->note};

	trc_sampled_text(text, &sampled);
}

void trc_describe_heap(struct trc_encode_info *info, bool allocs, int64_t sample_bytes)
{
	info->style = TRC_STYLE_HEAP;
	info->type[0] = (struct trc_encode_type){"alloc_objects", "count"};
	info->type[1] = (struct trc_encode_type){"alloc_space", "bytes"};
	info->type[2] = (struct trc_encode_type){"inuse_objects", "count"};
	info->type[3] = (struct trc_encode_type){"inuse_space", "bytes"};
	info->n_types = 4;
	info->period_type = (struct trc_encode_type){"space", "bytes"};
	info->period = sample_bytes;
	if (allocs)
		info->default_type = "alloc_space";
}
