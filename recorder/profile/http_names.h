/* http_names.h - names of functions for a source (http.h), with any function that lists the
 * source's modules. */
#ifndef TRC_RECORDER_PROFILE_HTTP_NAMES_H
#define TRC_RECORDER_PROFILE_HTTP_NAMES_H

#include "encode.h"
#include "recorder/http/http.h"

/* Lists the modules that are loaded now.  0, or a negative errno; *list is then unchanged. */
typedef int trc_http_list_fn(struct trc_module_list *list);

/* As the functions of struct trc_http_source.  Context: threads of the server. */
struct trc_http_names *trc_http_names_open(trc_http_list_fn *list_modules);
void trc_http_names_close(struct trc_http_names *names);
const char *trc_http_name(struct trc_http_names *names, uint64_t address);

#endif
