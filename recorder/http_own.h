/* http_own.h - what this process has to serve; see http.h. */
#ifndef TRC_RECORDER_HTTP_OWN_H
#define TRC_RECORDER_HTTP_OWN_H

#include "http.h"

extern __attribute__((visibility("hidden"))) const struct trc_http_source trc_http_own;
extern __attribute__((visibility("hidden"))) const struct trc_http_host trc_http_own_host;

#endif
