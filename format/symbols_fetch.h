/*
 * symbols_fetch.h - debug files from debuginfod servers, by elfutils' client library.
 *
 * Files are fetched only if the environment names servers (DEBUGINFOD_URLS, as for gdb and perf)
 * and if the caller allows fetching: servers learn which build ids somebody looks at.  The library
 * is loaded at the first request.  The library keeps fetched files below
 * ~/.cache/debuginfod_client.
 *
 *   symbols_fetch:T1  once a server has failed to answer, no server is asked again
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

/* The path of the file with this build id, to be free()d.  NULL = there is no such file, or the
 * file cannot be had now; the reason is static text. */
char *trc_symbols_fetch(struct trc_symbols_fetch *f, enum trc_fetched what, const uint8_t *build_id,
			size_t build_id_bytes, const char **why);

#endif
