/* runtime.c - see runtime.h. */
#include "recorder/ring/rec.h"
#include "recorder/ring/annotate.h"
#include "recorder/sampling/cpu_profile.h"
#include "fiber.h"
#include "labels.h"
#include "runtime.h"
#include "recorder/shared/trigger.h"
#include "recorder/unwind/poison.h"

static bool enabled(void)
{
	return trc_recording();
}

static void runtime_thread_name(const char *name)
{
	trc_thread_named((uint64_t)pthread_self(), 0, name);
}

static const struct trc_shared *ring(void)
{
	return trc_recording() ? trc_rec.shared : NULL;
}

const struct trc_runtime trc_own_runtime = {
	.version = TRC_RUNTIME_VERSION,
	.struct_bytes = sizeof(struct trc_runtime),
	.enabled = enabled,
	.task_begin = trc_annotate_task_begin,
	.task_end = trc_annotate_task_end,
	.region_begin = trc_annotate_region_begin,
	.region_end = trc_annotate_region_end,
	.log = trc_annotate_log,
	.counter = trc_annotate_counter,
	.thread_name = runtime_thread_name,
	.trigger = trc_trigger_fire,
	.ring = ring,
	.labels_set = trc_labels_set,
	.labels_now = trc_labels_now,
	.cpu_profile_start = trc_cpu_profile_start,
	.cpu_profile_stop = trc_cpu_profile_stop,
	.fiber_create = trc_fiber_create,
	.fiber_switch = trc_fiber_switch,
	.fiber_ready = trc_fiber_ready,
	.fiber_destroy = trc_fiber_destroy,
	.fiber_give_up = trc_fiber_give_up,
	.fiber_take_over = trc_fiber_take_over,
};
