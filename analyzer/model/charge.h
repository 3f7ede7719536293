/*
 * charge.h - rows of the model in the terms of format/waits/charges.h.
 */
#ifndef TRC_ANALYZER_MODEL_CHARGE_H
#define TRC_ANALYZER_MODEL_CHARGE_H

#include "model.h"
#include "format/waits/charges.h"

/* An unsigned time with the same order and the same differences; TRC_NEVER is 0. */
static inline uint64_t trc_charge_time(int64_t ns)
{
	return (uint64_t)ns ^ (uint64_t)1 << 63;
}

static inline int64_t trc_charge_ns(uint64_t time)
{
	return (int64_t)(time ^ (uint64_t)1 << 63);
}

static inline struct trc_charge_unlock trc_charge_unlock_of(const struct trc_unlock *unlock)
{
	return (struct trc_charge_unlock){trc_charge_time(unlock->ts_ns),
					  trc_charge_time(unlock->taken_ns), unlock->thread};
}

/* The locks that the unlock may be of, as keys: how many. */
static inline unsigned int trc_unlock_keys(const struct trc_unlock *unlock, uint64_t key[2])
{
	return trc_charge_keys(unlock->object, unlock->reason, key);
}

#endif
