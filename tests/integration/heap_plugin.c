/*
 * heap_plugin.c - allocates in its constructor and its destructor (heap_plugin.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include "heap_plugin.h"

static void *volatile kept[PLUGIN_LOAD_OBJECTS];

static __attribute__((noinline)) void *site_plugin_load(void)
{
	void *volatile object = malloc(PLUGIN_LOAD_BYTES);

	return object;
}

static __attribute__((noinline)) void *site_plugin_unload(void)
{
	void *volatile object = malloc(PLUGIN_UNLOAD_BYTES);

	return object;
}

__attribute__((constructor)) static void load(void)
{
	for (int i = 0; i < PLUGIN_LOAD_OBJECTS; i++)
		kept[i] = site_plugin_load();
	free(kept[0]);
}

__attribute__((destructor)) static void unload(void)
{
	void *volatile leak = site_plugin_unload();

	(void)leak;
	free(site_plugin_unload());
	free(kept[1]);
}

/* The caller's. */
void *plugin_gives(void);
__attribute__((visibility("default"))) void *plugin_gives(void)
{
	return kept[2];
}
