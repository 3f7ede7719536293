/*
 * assets.h - the frame's program, style and markup; assets.c is made of frame.* and follow.js by ../embed.sh.
 */
#ifndef TRC_VIEWER_SERVE_ASSETS_H
#define TRC_VIEWER_SERVE_ASSETS_H

#include <stddef.h>

extern const unsigned char trc_asset_frame_css[], trc_asset_frame_js[], trc_asset_frame_body[];
extern const size_t trc_asset_frame_css_bytes, trc_asset_frame_js_bytes, trc_asset_frame_body_bytes;
/* As a content security policy names them: "sha256-..." */
extern const char trc_asset_frame_css_hash[], trc_asset_frame_js_hash[];

#endif
