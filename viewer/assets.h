/*
 * assets.h - the page's program, style and markup; assets.c is made of assets/ by embed.sh.
 */
#ifndef TRC_VIEWER_ASSETS_H
#define TRC_VIEWER_ASSETS_H

#include <stddef.h>

extern const unsigned char trc_asset_css[], trc_asset_js[], trc_asset_body[];
extern const size_t trc_asset_css_bytes, trc_asset_js_bytes, trc_asset_body_bytes;
/* The part of the program that decodes the page, as a worker's. */
extern const unsigned char trc_asset_decoder[];
extern const size_t trc_asset_decoder_bytes;
/* SQLite and the worker that runs it; gzip, in base64. */
extern const unsigned char trc_asset_sql_wasm[], trc_asset_sql_worker[];
extern const size_t trc_asset_sql_wasm_bytes, trc_asset_sql_worker_bytes;
/* As a content security policy names them: "sha256-..." */
extern const char trc_asset_css_hash[], trc_asset_js_hash[];

#endif
