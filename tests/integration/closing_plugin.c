/* closing_plugin.c - a plugin that calls a function when it is closed. */
#include <stddef.h>

extern void (*on_close)(void);

__attribute__((visibility("default"))) void (*on_close)(void);

__attribute__((destructor)) static void closed(void)
{
	if (on_close)
		on_close();
}
