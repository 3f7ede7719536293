/*
 * otel_plugin.c - an object to be opened: with a thread-local variable for OpenTelemetry contexts,
 * or (WITHOUT_VARIABLE) with another variable in its place.
 */
#ifdef WITHOUT_VARIABLE
#define otel_thread_ctx_v1 something_else
#endif

#define EXPORTED __attribute__((visibility("default")))

EXPORTED __thread void *volatile otel_thread_ctx_v1;
EXPORTED void plugin_set(void *record);

void plugin_set(void *record)
{
	otel_thread_ctx_v1 = record;
}
