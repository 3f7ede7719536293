/*
 * affinity.c - sched_setaffinity() and pthread_setaffinity_np(): how many procs the process may
 * use.  Context: traced thread, signal handlers.
 *
 * Linux keeps an affinity for each thread.  The recorder takes the affinity of the process's first
 * thread, as taskset(1) and /proc/PID/status do.
 */
#include "format/raw.h"
#include "affinity.h"
#include "span.h"
#include "versions.h"
#include "recorder/unwind/poison.h"

enum { SET_WORDS = 1024 / 8 }; /* 8192 processors */

static pthread_t first_thread;
static bool first_known;

void trc_affinity_forked(void)
{
	first_thread = pthread_self();
	first_known = true;
}

static bool is_first(void)
{
	return trc_raw1(SYS_gettid, 0) == trc_raw1(SYS_getpid, 0);
}

__attribute__((constructor)) static void find_first(void)
{
	if (is_first())
		trc_affinity_forked();
}

/* What the kernel made of it: there may be fewer procs than the program asked for. */
static void affinity_tell(void)
{
	unsigned long set[SET_WORDS];
	long n_bytes = trc_raw3(SYS_sched_getaffinity, trc_raw1(SYS_getpid, 0), sizeof(set), set);
	uint32_t n_procs = 0;

	for (long i = 0; i < n_bytes / (long)sizeof(set[0]); i++)
		n_procs += (uint32_t)__builtin_popcountl(set[i]);
	if (n_procs)
		trc_procs_changed(n_procs);
}

int TRC_VERSIONED(sched_setaffinity)(pid_t pid, size_t n_bytes, const cpu_set_t *set);
TRC_EXPORT int TRC_VERSIONED(sched_setaffinity)(pid_t pid, size_t n_bytes, const cpu_set_t *set)
{
	int result = REAL(sched_setaffinity)(pid, n_bytes, set);

	if (!result && trc_recording() && (pid ? pid == getpid() : is_first()))
		affinity_tell();
	return result;
}
TRC_CURRENT_VERSION(sched_setaffinity, "GLIBC_2.3.4");

/* Returns the error. */
int TRC_VERSIONED(pthread_setaffinity_np)(pthread_t thread, size_t n_bytes, const cpu_set_t *set);
TRC_EXPORT int TRC_VERSIONED(pthread_setaffinity_np)(pthread_t thread, size_t n_bytes,
						     const cpu_set_t *set)
{
	int result = REAL(pthread_setaffinity_np)(thread, n_bytes, set);

	if (!result && trc_recording() && first_known && pthread_equal(thread, first_thread))
		affinity_tell();
	return result;
}
#ifdef __x86_64__
/* The same function in glibc's two homes for it. */
TRC_EXPORT extern __typeof__(pthread_setaffinity_np) TRC_VERSIONED(new_setaffinity_np)
	__attribute__((alias("trc_versioned_pthread_setaffinity_np")));
TRC_CURRENT_ALIAS(new_setaffinity_np, pthread_setaffinity_np, "GLIBC_2.34");
TRC_OLD_VERSION(pthread_setaffinity_np, pthread_setaffinity_np, "GLIBC_2.3.4");
#endif
