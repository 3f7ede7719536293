/*
 * heap_plugin.h - what a plugin allocates each time that it is loaded, and unloaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRC_TESTS_HEAP_PLUGIN_H
#define TRC_TESTS_HEAP_PLUGIN_H

/* In its constructor: one is given back at once, one is the program's to give back, one its
 * destructor's, the others leak. */
enum { PLUGIN_LOAD_BYTES = 1801, PLUGIN_LOAD_OBJECTS = 5, PLUGIN_LOAD_LEFT = 2 };
/* In its destructor: one is given back, the other leaks. */
enum { PLUGIN_UNLOAD_BYTES = 1907, PLUGIN_UNLOAD_OBJECTS = 2, PLUGIN_UNLOAD_LEFT = 1 };

#endif
