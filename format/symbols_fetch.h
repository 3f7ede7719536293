/*
 * symbols_fetch.h - debug files from debuginfod servers, by elfutils' client library.
 *
 * Only if the environment names servers (DEBUGINFOD_URLS, as for gdb and perf), and only where the
 * caller allows it: servers then learn which build ids somebody looks at.  The library is loaded at
 * the first question.  It keeps what it has fetched below ~/.cache/debuginfod_client.
 *
 *   symbols_fetch:T1  once a server does not answer, nothing more is asked
 */
#ifndef TRC_FORMAT_SYMBOLS_FETCH_H
#define TRC_FORMAT_SYMBOLS_FETCH_H

#include <stddef.h>
#include <stdint.h>

struct trc_symbols_fetch;

enum trc_fetched { TRC_FETCHED_DEBUG_FILE, TRC_FETCHED_PROGRAM };

/* NULL = the environment names no servers, or there is no memory. */
struct trc_symbols_fetch *trc_symbols_fetch_open(void);
void trc_symbols_fetch_close(struct trc_symbols_fetch *f);

/* The path of the file with this build id, to be free()d.  NULL = there is none, or not now: why is
 * static text. */
char *trc_symbols_fetch(struct trc_symbols_fetch *f, enum trc_fetched what, const uint8_t *build_id,
			size_t build_id_bytes, const char **why);

#endif
