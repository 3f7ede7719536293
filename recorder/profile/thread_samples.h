/* thread_samples.h - what every thread is doing, as a sample for each. */
#ifndef TRC_RECORDER_PROFILE_THREAD_SAMPLES_H
#define TRC_RECORDER_PROFILE_THREAD_SAMPLES_H

#include "kind.h"
#include "thread_profile.h"

/* Each sample counts `value` times.  With own_labels each sample has labels about its thread, such
 * as trc::thread_id.  Context: any thread that records nothing meanwhile. */
void trc_thread_samples(const struct trc_thread_profile *p, int64_t value, bool own_labels,
			trc_emit_fn *fn, void *context);

#endif
